#!/usr/bin/env bash
# What was measured says with which version, and scripts/results --check lists what this program would make from other runs.
# That something is stale is no failure; it is listed below for who reads the log.
source "$(dirname "$0")/tap.sh"
results=$source_root/scripts/results

check 'every figure that is kept has its version' python3 - "$source_root" <<'PYTHON'
import json, pathlib, re, sys
files = sorted((pathlib.Path(sys.argv[1]) / "data/results").glob("*.json"))
assert files
for file in files:
    for scope, figures in json.loads(file.read_text()).items():
        for figure in figures:
            version = figure["version"]
            good = version == "before versions were kept" or (
                version.keys() == {"mechanisms", "runs"} and re.fullmatch("[0-9a-f]{12}", version["mechanisms"])
                and re.fullmatch("[0-9a-f]{16}", version["runs"]))
            assert good, (file.name, scope, figure["figure"], version)
PYTHON
stale=()
for file in "$source_root"/data/results/*.json; do
  paper=$(basename "$file" .json)
  check "what is stale of $paper can be listed" eval \
    '"$results" '"$paper"' "$pagewalk" --check >'"$paper"'.stale && tail -n 1 '"$paper"'.stale | grep -qE "^[0-9]+ of [0-9]+ figures are stale$"'
  sed 's/^/# /' "$paper.stale"
  stale+=("$paper.stale")
done

# Figures of which it is known what they are.
"$pagewalk" reproduce mosaic --quick --plan --json plan.json --db plan.db >/dev/null
python3 - "$source_root" <<'PYTHON'
import copy, json, pathlib, sys
plan = {f["figure"]: f["version"] for f in json.load(open("plan.json"))}
kept = json.loads((pathlib.Path(sys.argv[1]) / "data/results/mosaic.json").read_text())["quick"]
figures = [copy.deepcopy(f) for f in kept if f["figure"] in plan][:4] + [copy.deepcopy(kept[0])]
assert len(figures) == 5
names = [f["figure"] for f in figures]
fresh = plan[names[0]]
figures[0]["version"] = fresh
figures[1]["version"] = dict(plan[names[1]], mechanisms="0123456789ab")
figures[2]["version"] = dict(plan[names[2]], runs="0123456789abcdef")
figures[3]["version"] = "before versions were kept"
figures[4].update(figure="mosaic/fig999", version=fresh)
json.dump({"quick": figures}, open("kept.json", "w"))
again = "scripts/results mosaic --only "
with open("expected", "w") as out:
    print(f"{names[1]}, quick: was measured with other mechanisms (0123456789ab, now {fresh['mechanisms']}); {again}{names[1]}", file=out)
    print(f"{names[2]}, quick: was measured with other policies, programs, options or workloads; {again}{names[2]}", file=out)
    print(f"{names[3]}, quick: was measured before versions were kept; {again}{names[3]}", file=out)
    print("mosaic/fig999, quick: there is no such figure any more", file=out)
    print("4 of 5 figures are stale", file=out)
for figure in figures:
    figure["version"] = fresh
json.dump({"quick": figures[:1]}, open("fresh.json", "w"))
PYTHON
check 'what is stale is listed with the reason, and what is not is not' eval \
  '"$results" mosaic "$pagewalk" --check --kept kept.json >listed && diff expected listed'
check 'nothing is listed of what is as it would be' eval \
  '[ "$("$results" mosaic "$pagewalk" --check --kept fresh.json)" = "0 of 1 figures are stale" ]'
check 'a figure of a sample is compared with the plan of that sample' eval '"$pagewalk" reproduce mosaic/fig03 --sample 40 --plan --json sample.json --db plan.db >/dev/null &&
python3 - && [ "$("$results" mosaic "$pagewalk" --check --kept sample.json)" = "0 of 1 figures are stale" ] &&
"$results" mosaic --print --kept sample.json | grep -qxF "\`pagewalk reproduce mosaic/fig03 --sample 40\`, 4 workloads."' <<'PYTHON'
import json
figure, = json.load(open("sample.json"))
assert figure["sample"] == 40 and figure["workloads"] == 4, figure
figure.update(means={}, claims=[])
json.dump({"quick": [figure]}, open("sample.json", "w"))
PYTHON
check 'the page says with which versions it was measured' eval \
  '"$results" mosaic --print --kept kept.json | grep -qE "^- quick, 5 figures: .*; measured with .0123456789ab. and .[0-9a-f]{12}., some before versions were kept$|^- quick, 5 figures: .*; measured with .[0-9a-f]{12}. and .0123456789ab., some before versions were kept$"'
check 'what is measured says its version' eval 'cat >figure.yaml <<YAML
title: A test
machine: mask
variants: {4k: {design: gpu-mmu}}
workloads: {one: {list: "vecadd:n=100k"}}
measures: {speed: ipc}
table: {speed: speed@4k}
YAML
"$pagewalk" reproduce ./figure.yaml --db a.db --plan --json planned.json >/dev/null &&
"$pagewalk" reproduce ./figure.yaml --db a.db --json measured.json >/dev/null 2>&1 &&
python3 -c "import json; a, b = (json.load(open(f))[0] for f in (\"planned.json\", \"measured.json\")); assert a[\"version\"] == b[\"version\"], (a, b)"'
check '--check measures nothing' only_files . a.db expected figure.yaml fresh.json kept.json listed measured.json plan.db plan.json planned.json sample.json "${stale[@]}"
finish
