#!/usr/bin/env bash
# MASK's oracle: the lists of pairs have the splits of the SMs that scripts/partition finds best in what was measured, and
# what it measures are the runs that they name.
source "$(dirname "$0")/tap.sh"
partition=$source_root/scripts/partition
kept=$source_root/data/results/partition.csv

check 'every pair has the best split that was measured, and none where nothing was' eval \
  '"$partition" --check >said && grep -q "^0 of 35 pairs have another split" said'
check 'the splits that were measured are those of the figure' python3 - "$source_root" "$kept" <<'PYTHON'
import csv, pathlib, re, sys
figure = (pathlib.Path(sys.argv[1]) / "experiments/mask-studies/partition.yaml").read_text()
sizes = (pathlib.Path(sys.argv[1]) / "experiments/sizes.yaml").read_text()
lists = {name: [re.sub("@.*", "", p) for p in items.split()]
         for name, items in re.findall(r"^  (mask-[\w-]+): (.*\n(?:    .*\n)*)", sizes, re.M)}
wanted = {}
for name, splits in re.findall(r"each: ([\w-]+), sms: ([\d+ ]+)", figure):
    for pair in lists[name]:
        wanted.setdefault(pair, set()).update(splits.split())
counts = [len(splits) for splits in wanted.values()]
assert len(counts) == 35 and counts.count(9) == 10 and counts.count(5) == 25, counts
assert all(sum(map(int, split.split("+"))) == 30 for splits in wanted.values() for split in splits)
if pathlib.Path(sys.argv[2]).exists():
    with open(sys.argv[2], newline="") as file:
        rows = [(row["pair"], row["sms"]) for row in csv.DictReader(file)]
    # A sample at least, each with all of its splits; one of the ten may be in it as one of all pairs.
    measured = {pair: {s for p, s in rows if p == pair} for pair, _ in rows}
    five = min(wanted.values(), key=len)
    assert len(rows) == len(set(rows)) and all(s in (wanted[p], five) for p, s in measured.items()), measured
PYTHON

# The rule, on numbers that are made up.
cat >data.csv <<'CSV'
pair,sms,weighted_speedup,unfairness,ipc,mechanisms
"A,B",3+27,1.25,1,1,0
"A,B",15+15,1.5,9,1,0
"A,B",27+3,1.4999999,1,9,0
"C,D",3+27,1.75,1,1,0
"C,D",9+21,1.75,1,1,0
"C,D",21+9,1.75,1,1,0
"C,D",15+15,1.5,1,1,0
"E,F",3+27,10.5,1,1,0
"E,F",15+15,9.5,1,1,0
CSV
cat >lists.yaml <<'YAML'
quick:
  default: scale=0.1
lists:
  # A comment stays.
  mask-one: A,B@3+27 C,D G,H
    E,F
  mosaic-ten: A,B C,D
  mask-two: C,D@15+15 I,J@1+29
YAML
check 'pairs with another split are listed' eval \
  '! "$partition" --check --data data.csv --lists lists.yaml >said &&
   grep -qx "A,B: the list says 3+27, what was measured 15+15" said &&
   grep -qx "E,F: the list says nothing, what was measured 3+27" said &&
   grep -qx "I,J: the list says 1+29, what was measured nothing" said &&
   grep -qx "C,D: the list says 15+15, what was measured 21+9" said &&
   grep -qx "4 of 5 pairs have another split; 3 are measured" said'
# mask-sec6-oracle-cores
check 'the split with the best weighted speedup is chosen, of equal ones the nearest to even' eval \
  '"$partition" --choose --data data.csv --lists lists.yaml >said && diff - lists.yaml <<YAML
quick:
  default: scale=0.1
lists:
  # A comment stays.
  mask-one: A,B@15+15 C,D@21+9 G,H E,F@3+27
  mosaic-ten: A,B C,D
  mask-two: C,D@21+9 I,J@1+29
YAML'
check 'nothing is chosen from nothing' eval \
  '! "$partition" --choose --data none.csv --lists lists.yaml 2>said && grep -q "none.csv: there are no measurements" said'

# The search itself, on pairs that take a moment.
cat >search.yaml <<'YAML'
title: Splits
machine: mask
variants: {shared: {design: gpu-mmu}}
workloads:
  one: {list: "vecadd:ctas=40:iterations=2,gather:table=4MB:ctas=40:iterations=1", sms: 2+28 15+15 28+2}
  two: {list: "gather:table=4MB:ctas=40:iterations=1,vecadd:ctas=40:iterations=2", sms: 28+2 10+20}
measures: {ws: weighted_speedup, unfair: unfairness, total: ipc}
table: {weighted speedup: ws@shared, unfairness: unfair@shared, IPC throughput: total@shared}
YAML
printf 'lists:\n  mask-pairs: vecadd,gather gather,vecadd\n' >lists.yaml
search() { "$partition" "$pagewalk" --quick --figure ./search.yaml --db search.db --data search.csv --lists lists.yaml; }
runs() { python3 -c 'import sqlite3; print(sqlite3.connect("search.db").execute("SELECT count(*) FROM run").fetchone()[0])'; }
search >found 2>said
# mask-sec6-oracle-cores, mask-sec6-alone-def
check 'what is measured are runs of the pair and of its applications alone on as many SMs' python3 - "$pagewalk" <<'PYTHON'
import csv, json, subprocess, sys
programs = {"vecadd": "vecadd:ctas=40:iterations=2", "gather": "gather:table=4MB:ctas=40:iterations=1"}
ipcs = lambda *arguments: [a["ipc"] for a in json.loads(subprocess.check_output(
    [sys.argv[1], "run", "-m", "mask", *arguments, "--json", "-"]))["apps"]]
best = {}
rows = list(csv.DictReader(open("search.csv", newline="")))
assert [(r["pair"], r["sms"]) for r in rows] == [("gather,vecadd", "10+20"), ("gather,vecadd", "28+2"), (
    "vecadd,gather", "2+28"), ("vecadd,gather", "15+15"), ("vecadd,gather", "28+2")]
for row in rows:
    pair = [programs[name] for name in row["pair"].split(",")]
    together = ipcs("-w", ",".join(pair), "--set", "apps.sms=" + row["sms"])
    alone = [ipcs("-w", p, "--set", "sm.count=" + n)[0] for p, n in zip(pair, row["sms"].split("+"))]
    speedups = [x / y for x, y in zip(together, alone)]
    assert abs(float(row["weighted_speedup"]) - sum(speedups)) < 1e-9, row
    assert abs(float(row["unfairness"]) - 1 / min(speedups)) < 1e-9 and abs(float(row["ipc"]) - sum(together)) < 1e-9
    best[row["pair"]] = max(best.get(row["pair"], (0, "")), (sum(speedups), row["sms"]))
expected = "lists:\n  mask-pairs: " + " ".join(f"{p}@{best[p][1]}" for p in ("vecadd,gather", "gather,vecadd")) + "\n"
assert open("lists.yaml").read() == expected, open("lists.yaml").read()
assert open("found").read() == "".join(f"{p}@{best[p][1]}\n" for p in sorted(best))
PYTHON
before=$(runs)
cp search.csv first.csv
cp lists.yaml first.yaml
check 'the same search finds its runs in the store and says the same' eval \
  'search >again && [ "$(runs)" = "$before" ] && cmp search.csv first.csv && cmp lists.yaml first.yaml && cmp found again'
check 'the lists are then what was measured' "$partition" --check --data search.csv --lists lists.yaml
python3 - <<'PYTHON'
import sqlite3
store = sqlite3.connect("search.db")
for run in [r[0] for r in store.execute("SELECT id FROM run ORDER BY id DESC LIMIT 2")]:
    for table in ("value", "app", "allocation"):
        store.execute(f"DELETE FROM {table} WHERE run = ?", (run,))
    store.execute("DELETE FROM run WHERE id = ?", (run,))
store.commit()
PYTHON
check 'a search that was stopped goes on where it was' eval \
  '[ "$(runs)" = "$((before - 2))" ] && search >again && [ "$(runs)" = "$before" ] && cmp search.csv first.csv'
sed 's/^measures:.*/measures: {own: app.sms}/; s/^table:.*/table: {SMs: own@shared}/' search.yaml >apps.yaml
"$pagewalk" reproduce ./apps.yaml --each -q --db search.db >apps.txt
check 'rows of a table say the SMs of the workload, and rows of applications are theirs' eval \
  'grep -qE "^ +gather,vecadd@28[+]2: vecadd +2.000$" apps.txt && grep -qE "^ +gather,vecadd@10[+]20: gather +10.000$" apps.txt'
# mask-sec7-static-def: the SMs of the list, and half of the channels for each.
check 'Static runs with the split of the list' python3 - "$pagewalk" <<'PYTHON'
import json, subprocess, sys
split = open("found").read().split()[1].partition("@")[2]
result = json.loads(subprocess.check_output(
    [sys.argv[1], "run", "-m", "mask", "-d", "static", "-w", f"vecadd:ctas=40,gather:ctas=40@{split}", "--json", "-"]))
assert [a["sms"] for a in result["apps"]] == [int(n) for n in split.split("+")]
assert result["options"]["l2.partition"] == "by-app" and result["options"]["apps.sms"] == split
PYTHON
finish
