#!/usr/bin/env bash
# Kernels by the time they take: the table, the named rows of the JSON, the names in the CSV, and what diff says of them.
source "$(dirname "$0")/tap.sh"
recorded=trace:$source_root/examples/traces/transformer.pwt

run run -m h200 -d gpu-mmu-2m -w "$recorded" --by-kernel --json all.json --csv all.csv
check 'the rows are those of the launches, the longest kernel first, and add up to the run' python3 - all.json <<'PYTHON'
import json, re, sys
result = json.load(open(sys.argv[1]))
lines = open(".stdout", encoding="utf-8").read().split("Kernels by time\n")[1].splitlines()
assert lines[0].split()[:5] == ["kernel", "launches", "cycles", "us", "time"], lines[0]
rows = {re.split(r"  +", line.strip())[0]: [int(n.replace(",", "")) for n in re.findall(r" ([\d,]+)(?= )", line)] for line in lines[1:]}
sums = {}
for k in result["kernels"]:
    assert k["cycles"] == k["outer_cycle"] - k["first_cycle"] and k["app"] == 0
    row = sums.setdefault(k["kernel"], [0, 0, 0, 0])
    for i, n in enumerate([1, k["cycles"], k["metrics"]["l1_tlb.misses"], k["metrics"]["l2_tlb.misses"]]):
        row[i] += n
assert [k["launch"] for k in result["kernels"]] == list(range(1, len(result["kernels"]) + 1))
shown = {name: row for name, row in rows.items() if name not in ("run", "between launches")}
assert sorted(row[:4] for row in shown.values()) == sorted(sums.values()), (shown, sums)
assert [row[1] for row in shown.values()] == sorted((row[1] for row in sums.values()), reverse=True)
assert rows["run"][1] == result["cycles"] == sum(row[1] for row in sums.values()) + rows.get("between launches", [0])[0]
assert len({k["short"] for k in result["kernels"]}) < len(sums)  # linear<0>, linear<1> and linear<2>
assert {"linear<…> #1", "linear<…> #2", "linear<…> #3"} < rows.keys(), rows.keys()
PYTHON
check 'rows of the CSV have the names of their kernels' python3 - all.csv all.json <<'PYTHON'
import csv, json, sys
names = {f"kernel{k['launch']}": k["short"] for k in json.load(open(sys.argv[2]))["kernels"]}
seen = {r["component"].split(".")[0]: r["kernel"] for r in csv.DictReader(open(sys.argv[1])) if r["kernel"]}
assert seen == names, (seen, names)
PYTHON
run run -m h200 -d gpu-mmu-2m -w "$recorded" --by-kernel 2 --long
check 'N rows and one for the others, with full names' eval \
  'succeeds && [ "$(sed -n "/^Kernels/,\$p" .stdout | wc -l)" = 6 ] && grep -qE "^  6 others +[0-9]" .stdout &&
  grep -qE "^  void linear<[0-2]>\(float const\*, " .stdout'
COLUMNS=80 run run -m h200 -d gpu-mmu-2m -w "$recorded" --by-kernel
check 'on 80 columns' eval 'succeeds && ! sed -n "/^Kernels/,\$p" .stdout | sed "s/…/./g" | grep -qE ".{81}"'
run run -w $small --json plain.json
check 'nobody gets the table who does not ask' eval 'succeeds && ! grep -q "^Kernels" .stdout'
run run -w $small --by-kernel --json asked.json
check 'and asking changes no result' eval 'diff <(sed "/\"host\"/,\$d" plain.json) <(sed "/\"host\"/,\$d" asked.json)'
run run --by-kernel -w $small,$small
check 'before another flag it needs no number, and applications are told apart' eval \
  'succeeds && grep -qE "^  vecadd +app0 +1 " .stdout && grep -qE "^  vecadd +app1 +1 " .stdout'
fails 'no rows at all' 2 '--by-kernel: "0" is no whole number' run -w $small --by-kernel 0
fails 'what is no number is no value of the flag' 2 'takes no "many"' run -w $small --by-kernel many
fails 'asked twice' 2 '--by-kernel is given twice' run -w $small --by-kernel --by-kernel 3
run run -w $small --long -q
check 'full names of nothing have no effect' grep -qx 'pagewalk: --long has no effect without --by-kernel' .stderr

"$pagewalk" run -m h200 -d gpu-mmu-2m -w "$recorded" --set l2.latency=400 -q --json slower.json
run diff all.json slower.json
check 'diff names the kernels that differ' eval \
  '[ "$code" = 1 ] && grep -qE "^  kernel softmax, [0-9]+ of 2 launches: cycles +[0-9,]+ +[0-9,]+ +[-+][0-9.]+%" .stdout'
finish
