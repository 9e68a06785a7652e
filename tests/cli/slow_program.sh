#!/usr/bin/env bash
# docs/slow-program.md: each block shows what its command prints, and the factors of its table are those of the blocks.
source "$(dirname "$0")/tap.sh"

ln -s "$source_root/examples" examples
mkdir bin && ln -s "$pagewalk" bin/pagewalk
check 'each block is what its command prints' eval 'PATH=$PWD/bin:$PATH python3 - "$source_root/docs/slow-program.md"' <<'PYTHON'
import json, re, subprocess, sys
page = open(sys.argv[1]).read()
blocks = re.findall(r"^```console\n\$ (.*)\n((?:.*\n)*?)```$", page, re.M)
assert len(blocks) > 15, len(blocks)
sections = {}
for section in page.split("\n## ")[1:]:
    sections[section.split("\n")[0]] = [int(c) for c in re.findall(r"^cycles,(\d+)$", section, re.M)]
json.dump(sections, open("cycles.json", "w"))
for command, shown in blocks:
    run = subprocess.run(["bash", "-c", "set -o pipefail; " + command], capture_output=True, text=True)
    assert run.returncode == 0 and run.stdout == shown, f"{command}\n{run.stdout}instead of\n{shown}{run.stderr}"
PYTHON
check 'its table has a section for each row, and says how much the remedies gain' python3 - "$source_root/docs/slow-program.md" <<'PYTHON'
import json, re, sys
page = open(sys.argv[1]).read()
cycles = json.load(open("cycles.json"))
rows = [line.split("|") for line in page.splitlines() if line.startswith("| ") and "](#" in line]
named = {heading.lower().replace(" ", "-"): heading for heading in cycles}
assert {re.search(r"\(#([^)]*)\)", row[2])[1] for row in rows} == set(named), (rows, named)
for row in rows:
    section = named[re.search(r"\(#([^)]*)\)", row[2])[1]]
    said = [float(n) for n in re.findall(r"[\d.]+", row[4])] if "times as fast" in row[4] else []
    found = sorted(cycles[section][0] / c for c in cycles[section][1:]) if said else []
    for number in said:
        assert any(abs(number - f) <= (0.05 if number < 10 else 0.5) * 1.01 for f in found), (section, number, found)
PYTHON
finish
