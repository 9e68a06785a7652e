#!/usr/bin/env bash
# The reference pages are what the program itself lists, and what documents mention exists.
source "$(dirname "$0")/tap.sh"

for page in options metrics designs; do
  check "docs/$page.md is what the program says (scripts/docs rewrites it)" \
    eval '"$source_root/scripts/docs" --print $page "$pagewalk" >$page.md && diff $page.md "$source_root/docs/$page.md"'
done
check 'docs/workloads.md has every workload (scripts/workloads-doc rewrites it)' python3 - "$source_root" "$pagewalk" <<'PYTHON'
import json, pathlib, re, subprocess, sys
page = (pathlib.Path(sys.argv[1]) / "docs/workloads.md").read_text()
counts = page.split("## Passes over the data")[0]
listed = re.findall(r"^\| `([^`]+)` \|", counts, re.M)
listing = json.loads(subprocess.check_output([sys.argv[2], "list", "workloads", "--json", "-"]))
names = [e["name"] for e in listing if e["suite"] != "recorded"]
assert listed == names, (set(names) ^ set(listed), "are in one of the two only, or the order differs")
PYTHON
check 'docs/workloads.md is what was measured (scripts/workloads-doc rewrites it)' \
  eval '"$source_root/scripts/workloads-doc" --print >workloads.md && diff workloads.md "$source_root/docs/workloads.md"'
check 'the verdicts of docs/workloads.md follow from its rates, and their number from them' python3 - "$source_root" <<'PYTHON'
import pathlib, re, sys
page = (pathlib.Path(sys.argv[1]) / "docs/workloads.md").read_text().split("## TLB classes")[1]
same = different = 0
for line in page.splitlines():
    cells = [c.strip() for c in line.split("|")]
    if not line.startswith("| `"):
        continue
    for expected, rate, verdict in (cells[3:6], cells[6:9]):
        if rate:
            agrees, rate = verdict == "=", float(rate.rstrip("%"))
            assert verdict in ("=", "**≠**"), line
            assert abs(rate - 20) < 0.06 or agrees == ((rate >= 20) == (expected == "high")), line  # rounded
            same, different = same + agrees, different + (not agrees)
assert re.search(rf"^{same} of 54 entries come out as in the paper .*, {different} differ", page, re.M), (same, different)
PYTHON
check 'docs/calibration.md is what was measured (scripts/calibration rewrites it)' eval \
  '"$source_root/scripts/calibration" --print >calibration.md && diff calibration.md "$source_root/docs/calibration.md"'
check 'docs/calibration.svg shows what was measured (scripts/calibration rewrites it)' eval \
  '"$source_root/scripts/calibration" --print-chart >calibration.svg && diff calibration.svg "$source_root/docs/calibration.svg"'
for page in "$source_root"/data/results/*.json; do
  paper=$(basename "$page" .json)
  check "docs/$paper.md is what was measured (scripts/results $paper rewrites it)" eval \
    '"$source_root/scripts/results" $paper --print >page.md && diff page.md "$source_root/docs/$paper.md"'
done
check 'what docs/calibration.md calls chosen is what the machines have (if not, scripts/calibration has to measure again)' \
  python3 - "$source_root" "$pagewalk" <<'PYTHON'
import json, pathlib, subprocess, sys
chart = json.loads((pathlib.Path(sys.argv[1]) / "data/calibration.json").read_text())["chart"]
for machine, chosen in chart["chosen"].items():
    run = [sys.argv[2], "run", "-m", machine, "-w", "vecadd:n=1k", "--quiet", "--json", "-"]
    options = json.loads(subprocess.check_output(run))["options"]
    other = {key: (value, options[key]) for key, value in chosen.items() if options[key] != value}
    assert not other, (machine, other)
PYTHON
# mask-tab2-group-low-low mask-tab2-group-low-high mask-tab2-group-high-low mask-tab2-group-high-high
check 'data/mask-table2.csv has the four groups of the paper' python3 - "$source_root" <<'PYTHON'
import csv, pathlib, sys
groups = {}
lines = (pathlib.Path(sys.argv[1]) / "data/mask-table2.csv").read_text().splitlines()
for row in csv.DictReader(line for line in lines if not line.startswith("#")):
    groups.setdefault((row["l1"], row["l2"]), set()).add(row["program"])
assert groups == {
    ("low", "low"): set("LUD NN".split()),
    ("low", "high"): set("BFS2 FFT HISTO NW QTC RAY SAD SCP".split()),
    ("high", "low"): set("BP GUP HS LPS".split()),
    ("high", "high"): set("3DS BLK CFD CONS FWT LUH MM MUM RED SC SCAN SRAD TRD".split()),
}, groups
PYTHON
check 'data/passes.csv has the programs of Mosaic, and passes as the workloads have by default' \
  python3 - "$source_root" "$pagewalk" <<'PYTHON'
import csv, json, math, pathlib, subprocess, sys
lines = (pathlib.Path(sys.argv[1]) / "data/passes.csv").read_text().splitlines()
originals = {row["program"]: row for row in csv.DictReader(line for line in lines if not line.startswith("#"))}
workloads = json.loads(subprocess.check_output([sys.argv[2], "list", "workloads", "--json", "-"]))
assert set(originals) == {w["name"] for w in workloads if "mosaic" in w["papers"]}
kept = json.loads((pathlib.Path(sys.argv[1]) / "data/workloads.json").read_text())["profiles"]
for w in workloads:
    if w["name"] not in originals:
        continue
    original, defaults = originals[w["name"]]["original"], {p["name"]: p["default"] for p in w["parameters"]}
    run = [sys.argv[2], "workload", f"{w['name']}:scale=0.001", "--json", "-"]
    parameter = json.loads(subprocess.check_output(run))["passes_parameter"]
    assert kept[w["name"]]["passes_parameter"] == parameter, w["name"]
    assert ("instructions" in defaults) == bool(parameter), w["name"]
    if not parameter:
        assert original in ("1", "algorithm"), w["name"]
        continue
    passes = int(defaults[parameter])
    if w["name"] == "HS":
        passes = math.ceil(passes / int(defaults["pyramid"]))
    assert passes == (0 if original == "algorithm" else int(original)), (w["name"], passes, original)
    assert kept[w["name"]]["limit"] == 1_000_000 * int(defaults["instructions"].removesuffix("M")), w["name"]
PYTHON
check 'files that the documents link to exist' python3 - "$source_root" <<'PYTHON'
import pathlib, re, sys
root = pathlib.Path(sys.argv[1])
missing = [f"{page.relative_to(root)}: {link}"
           for page in [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))]
           for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
           if not (page.parent / link).exists()]
assert not missing, missing
PYTHON
check 'README shows what the program prints' python3 - "$source_root" "$pagewalk" <<'PYTHON'
import pathlib, re, shlex, subprocess, sys
text = (pathlib.Path(sys.argv[1]) / "README.md").read_text()
blocks = re.findall(r"^```console\n\$ pagewalk (.*?)\n(.*?)^```$", text, re.M | re.S)
assert blocks
for command, expected in blocks:
    output = subprocess.check_output([sys.argv[2], *shlex.split(command)], text=True, stderr=subprocess.DEVNULL)
    assert output == expected, (command, output)
PYTHON
check 'and its numbers are those of the pages that they link' python3 - "$source_root" "$pagewalk" <<'PYTHON'
import json, pathlib, re, subprocess, sys
root = pathlib.Path(sys.argv[1])
readme = " ".join((root / "README.md").read_text().split())
silicon, speed = ((root / "docs" / page).read_text() for page in ("silicon.md", "speed.md"))
mean, worst = re.search(r"Mean absolute error of time: \*\*(.*?%)\*\*.*The worst launch is \S+ \d+: −(.*?%)\.", silicon).groups()
assert f"{mean} off on average over six programs" in readme and f"the worst launch is {worst} too short" in readme, (mean, worst)
beside = speed.split("## Beside Accel-Sim")[1].split("\n## ")[0]
ratios = [int(line.split("|")[7].strip().rstrip("x")) for line in beside.splitlines() if re.match(r"\| \w+-\d+ ", line)]
assert f"{min(ratios):,} to {max(ratios):,} times Accel-Sim's on five kernels" in readme, (min(ratios), max(ratios))
rows = json.loads(subprocess.check_output([sys.argv[2], "claims", "--project", "--json", "-"]))
decided = [row for row in rows if row["verdict"] in ("holds", "weak", "differs") and "figure" in row]
new = [row for row in decided if "null" in row]
holds = lambda rows: sum(row["verdict"] == "holds" for row in rows)
said = (f"{holds(decided)} of the {len(decided)} statements that figures decide hold; of the {len(new)} about a new design, "
        f"{holds(new)}.")
assert said in readme, said
PYTHON
check 'the glossary is in order and has the words that tables print' python3 - "$source_root" <<'PYTHON'
import pathlib, re, sys
words = re.findall(r"^\| (.+?) \|", (pathlib.Path(sys.argv[1]) / "docs/glossary.md").read_text(), re.M)[1:]
words = [word for word in words if word.strip("-")]
plain = [word.strip("`").lower() for word in words]
assert plain == sorted(plain), [a for a, b in zip(plain, sorted(plain)) if a != b]
printed = ("identities|primary|merged|null design|weak|far fault|lsu|unanswered|re-basing|0-hmr, 1-hmr, 2-hmr|mshr|"
           "conventional-coalescing|sharedtlb|page walk cache|oversubscription|thrash|slot|walker|shootdown").split("|")
assert not set(printed) - set(plain), set(printed) - set(plain)
PYTHON
check 'README and docs/README link every page' python3 - "$source_root" <<'PYTHON'
import pathlib, re, sys
root = pathlib.Path(sys.argv[1])
pages = {page.resolve() for page in (root / "docs").glob("*.md")}
for index in (root / "README.md", root / "docs/README.md"):
    links = {(index.parent / link).resolve() for link in re.findall(r"\]\(([^)#:]+)", index.read_text())}
    missing = sorted(page.name for page in pages - links - {index.resolve()})
    assert not missing, (index.name, missing)
PYTHON
check 'the commands and flags that documents show exist' python3 - "$source_root" "$pagewalk" <<'PYTHON'
import functools, pathlib, re, subprocess, sys
root, program = pathlib.Path(sys.argv[1]), sys.argv[2]

@functools.cache
def flags_of(command):
    run = subprocess.run([program, "help", command], capture_output=True, text=True)
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", run.stdout)) if run.returncode == 0 else None

wrong = []
for page in [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))]:
    blocks = re.findall(r"^```.*?^```", page.read_text(), re.M | re.S) + re.findall(r"`pagewalk [^`]*`", page.read_text())
    for command, rest in re.findall(r"(?:^|`|\$ )pagewalk ([a-z]+)([^`\n|#>;]*)", "\n".join(blocks), re.M):
        known = flags_of(command)
        if known is None:
            wrong.append(f"{page.name}: no command {command}")
            continue
        for flag in re.findall(r"(?<=\s)(--?[a-z][a-z-]*)", rest):
            if flag not in known:
                wrong.append(f"{page.name}: {command} has no {flag}")
assert not wrong, wrong
PYTHON
finish
