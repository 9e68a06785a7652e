#!/usr/bin/env bash
# pagewalk reproduce: runs are done once, kept whatever happens, shared between processes, and always come out the same.
source "$(dirname "$0")/tap.sh"

# A figure of thirteen small runs: nothing asks for 2m, and alone-runs are shared.
cat >figure.yaml <<'YAML'
title: A test
machine: mask
variants:
  4k: {design: gpu-mmu}
  2m: {design: gpu-mmu-2m}
  ideal: {design: ideal-tlb}
workloads:
  one: {list: "gather:table=64MB:iterations=1 gather:table=96MB:iterations=1 vecadd:n=100k"}
  two: {list: "gather:table=64MB:iterations=1,vecadd:n=100k vecadd:n=100k,vecadd:n=90k"}
measures:
  speed: ipc
  together: weighted_speedup
table:
  4 KB pages: speed@4k / speed@ideal
  weighted speedup: together@4k
claims:
  mosaic-fig03-4k-loss: 100 * (1 - mean(speed@4k[one] / speed@ideal[one]))
YAML

# Everything that was computed, without what the terminal adds.
numbers() { "$pagewalk" reproduce ./figure.yaml --db "$1" --json - ; }

run reproduce ./figure.yaml --db undisturbed.db
check 'a figure comes with its claims and a sum' eval \
  '[ "$code" = 0 ] && grep -q "^  mosaic-fig03-4k-loss " .stdout && grep -q "^1 claim: 0 hold, 0 are weak, 1 differs, 0 not run. Results: undisturbed.db$" .stdout &&
  [ "$(tail -n 1 .stdout)" = "Why results differ: pagewalk claims --why --db undisturbed.db" ]'
check 'the estimate comes first, and counts of one are singular' eval \
  'head -n 1 .stdout | grep -qE "^1 figure, 13 runs, 0 of them in the store; the rest takes about [0-9]+ s on [0-9]+ core" &&
   grep -qE "^./figure.yaml +13 runs +0 of 1 claim holds$" .stdout'
check 'a variant that nothing asks for is named' grep -qx '  Not run, since no column and no claim names it: 2m' .stdout
check 'nothing is left beside the store' only_files . figure.yaml undisturbed.db
numbers undisturbed.db >undisturbed.json
check 'the numbers are JSON' is_json undisturbed.json
check 'runs are shared: fewer than variants times workloads and their alone-runs' python3 - "$pagewalk" <<'PYTHON'
import re, subprocess, sys
said = subprocess.check_output([sys.argv[1], "reproduce", "./figure.yaml", "--plan", "--db", "undisturbed.db"], text=True)
runs, there = map(int, re.search(r"(\d+) runs, (\d+) of them in the store", said).groups())
# 4k and ideal on 5 workloads, and alone on 15 SMs: gather, vecadd of 100k, vecadd of 90k
assert (runs, there) == (13, 13), said
PYTHON
run reproduce --full --plan -j 1 --db plan.db
check 'before hours of runs, a faster build is recommended' eval \
  '[ "$code" = 0 ] && [ "$(wc -l <.stdout)" = 3 ] && tail -n 1 .stdout | grep -q "^scripts/build-fast builds "'
run reproduce mosaic/fig03 --full --plan -j 1 --db plan.db
check 'before minutes of them it is not' eval '[ "$code" = 0 ] && [ "$(wc -l <.stdout)" = 1 ]'
before=$(stat -c %Y.%s undisturbed.db)
run reproduce ./figure.yaml --db undisturbed.db
check 'a second time nothing is run' eval '[ "$code" = 0 ] && [ "$(stat -c %Y.%s undisturbed.db)" = "$before" ]'

# Two at once, one of them killed in the middle; a third completes.
"$pagewalk" reproduce ./figure.yaml --db shared.db -j 1 >/dev/null 2>&1 &
first=$!
"$pagewalk" reproduce ./figure.yaml --db shared.db -j 1 >/dev/null 2>&1 &
second=$!
for _ in $(seq 200); do
  done_runs=$("$pagewalk" reproduce ./figure.yaml --db shared.db --plan 2>/dev/null | sed -nE 's/.* runs, ([0-9]+) of them.*/\1/p')
  [ "${done_runs:-0}" -ge 2 ] && break
  sleep 0.02
done
kill -9 $first
wait $first 2>/dev/null
check 'the killed one was in the middle' [ "${done_runs:-0}" -ge 2 ]
wait $second
check 'the other one completes' [ $? = 0 ]
run reproduce ./figure.yaml --db shared.db
check 'a third has nothing left to do' [ "$code" = 0 ]
numbers shared.db >shared.json
check 'two at once, one killed: the same numbers' diff undisturbed.json shared.json
check 'two at once: no run is there twice' python3 - <<'PYTHON'
import sqlite3
for name in "undisturbed.db", "shared.db":
    assert sqlite3.connect(name).execute("SELECT count(*) FROM run").fetchone()[0] == 13, name
PYTHON

# Killed alone, at a random moment, again and again, until it is through.
for pause in 0.05 0.1 0.2 0.3; do
  "$pagewalk" reproduce ./figure.yaml --db killed.db -j 2 >/dev/null 2>&1 &
  sleep $pause
  kill -9 $! 2>/dev/null
  wait $! 2>/dev/null
done
run reproduce ./figure.yaml --db killed.db
numbers killed.db >killed.json
check 'killed many times: the same numbers' diff undisturbed.json killed.json
check 'workers die with their parent' eval '! pgrep -f "reproduce ./figure.yaml --db killed.db"'

"$pagewalk" reproduce ./figure.yaml --db interrupted.db -j 1 >.stdout 2>.stderr &
sleep 0.3
kill -INT $!
wait $!
code=$?
check 'an interrupt ends it with 130 and one line' eval \
  '[ $code = 0 ] || { [ $code = 130 ] && grep -q "^pagewalk: interrupted" .stderr; }'
numbers interrupted.db >interrupted.json
check 'after an interrupt: the same numbers' diff undisturbed.json interrupted.json

cp "$source_root/configs/designs/gpu-mmu.yaml" nothing.yaml
run reproduce ./figure.yaml --db undisturbed.db --replace ideal-tlb=./nothing.yaml
check 'a design that does nothing gains nothing' grep -qE 'mosaic-fig03-4k-loss +48.1 +0.* differs$' .stdout
check 'and is the baseline under another name: no further runs' eval \
  '[ "$(python3 -c "import sqlite3; print(sqlite3.connect(\"undisturbed.db\").execute(\"SELECT count(*) FROM run\").fetchone()[0])")" = 13 ]'

# Null designs: Mosaic's claims with the baseline in its place.
cat >null.yaml <<'YAML'
title: Null designs
machine: mosaic
set: paging.mode=demand
variants:
  mosaic: {design: mosaic}
  ideal: {design: ideal-tlb}
workloads:
  one: {list: "gather:table=2MB:iterations=8:ctas=4"}
measures:
  speed: ipc
  large: page.coalesced
  moved: page.migrated
claims:
  mosaic-fig10-friendly-near-ideal: mean(speed@mosaic / speed@ideal)
  mosaic-fig13-mosaic-coalesces: 100 * mean(large@mosaic)
  mosaic-fig03-2m-within: sum(moved@mosaic)
YAML
run reproduce ./null.yaml --db null.db
check 'a baseline takes the place of the design in one more run' grep -qx '1 of the runs put a baseline in a design.s place, to find claims that hold without the design' .stdout
check 'a claim that holds with the baseline too is weak, with its value' eval \
  'grep -qE "^  mosaic-fig10-friendly-near-ideal +~1 +[0-9.]+ +[0-9.]+ +x +weak$" .stdout &&
   grep -qE "^  mosaic-fig10-friendly-near-ideal: holds with gpu-mmu in its place too: [0-9.]+$" .stdout'
check 'one that does not holds; a metric that the baseline lacks is 0' grep -qE '^  mosaic-fig13-mosaic-coalesces +>50 +100.00 +0.000 +% +holds$' .stdout
check 'one about another design has no null' grep -qE '^  mosaic-fig03-2m-within +<2 +0.000 +% +holds$' .stdout
check 'the sum says how many are weak' grep -q '^3 claims: 2 hold, 1 is weak, 0 differ, 0 not run' .stdout
check 'and what weak is' eval '[ "$(tail -n 1 .stdout)" = "weak: holds with a design that does nothing, too." ]'
run reproduce ./null.yaml --db null.db --replace mosaic=gpu-mmu
check 'the baseline in the place of the design holds nothing that is about the design' eval \
  'succeeds && grep -qE "near-ideal .* weak$" .stdout && grep -qE "mosaic-coalesces +>50 +0.000 +0.000 +% +differs$" .stdout'
python3 - <<'PYTHON'
import sqlite3
store = sqlite3.connect("null.db")
store.execute("DELETE FROM run WHERE design = 'gpu-mmu'")
store.commit()
PYTHON
run reproduce ./null.yaml --db null.db --plan
check 'the run of the baseline alone is missing' grep -q '3 runs, 2 of them in the store' .stdout
run reproduce ./null.yaml --db seeds.db --seeds 2 --json seeds.json
check '--seeds: the values of both seeds are written' eval '[ "$code" = 0 ] && python3 - seeds.json' <<'PYTHON'
import json, sys
figure, = json.load(open(sys.argv[1]))
assert figure["runs"] == 6 and figure["missing"] == 0, figure
for claim in figure["claims"]:
    assert len(claim["by_seed"]) == 2 and claim["by_seed"][0] == claim["ours"], claim
    assert ("null" in claim) == (claim["id"] != "mosaic-fig03-2m-within"), claim
PYTHON
fails 'no seeds' 2 '"0" is no whole number from 1' reproduce ./null.yaml --seeds 0
fails 'an empty sample' 2 '"0" is no whole number from 1' reproduce ./null.yaml --sample 0
fails 'more than all' 2 'sample: at most 100 percent' reproduce ./null.yaml --sample 101
fails 'too many seeds' 2 'seeds: at most 16' reproduce ./null.yaml --seeds 17
cat >options.yaml <<'YAML'
title: Options for one design
machine: mosaic
variants:
  a: {design: gpu-mmu, set: coalesce.policy=in-place}
workloads:
  one: {list: "vecadd:n=10k"}
measures: {speed: ipc}
table: {x: speed@a}
YAML
run reproduce ./options.yaml --db null.db --replace gpu-mmu=gpu-mmu-2m
check 'a design that does not take the options of another is left out, and the figure says why' eval \
  'succeeds && grep -q "Not run: ./options.yaml: variant .a.: coalesce.policy makes large pages" .stdout'

check 'without names, figures that decide claims are taken; the others when they are named' python3 - "$pagewalk" "$source_root" <<'PYTHON'
import json, pathlib, re, subprocess, sys
def planned(*names):
    said = subprocess.check_output([sys.argv[1], "reproduce", *names, "--full", "--plan", "--db", "plan.db"], text=True)
    return int(re.match(r"(\d+) figures?,", said)[1])
names = [f["name"] for f in json.loads(subprocess.check_output([sys.argv[1], "list", "figures", "--json", "-"]))]
decides = {name: "\nclaims:" in pathlib.Path(sys.argv[2], "experiments", name + ".yaml").read_text() for name in names}
studies = [name for name in names if name.startswith("calibration/")]
assert studies and not any(decides[name] for name in studies), studies
assert planned() == sum(decides.values()), (planned(), decides)
assert planned("calibration") == len(studies)
assert planned(studies[0]) == 1
PYTHON

fails 'an unknown paper' 2 'no paper or figure "mosiac"; did you mean mosaic' reproduce mosiac
fails 'an unknown figure' 2 'no paper or figure "mosaic/fig99"' reproduce mosaic/fig99
fails 'a figure of real sizes at small ones' 2 'mosaic/sec32 makes no sense at small sizes; add --full' reproduce mosaic/sec32
sed 's/one: {list: /one: {full: 99999999999999999999, list: /' figure.yaml >scope.yaml
fails 'a mistake in what only --full reads' 2 "scope.yaml:[0-9]+: .*99999999999999999999' is not a whole number" reproduce ./scope.yaml --quick
fails 'a missing file' 2 'nowhere.yaml' reproduce ./nowhere.yaml
fails 'both scopes' 2 'exclude each other' reproduce --quick --full
fails 'a replacement without a design' 2 'DESIGN=OTHER' reproduce ./figure.yaml --replace mosaic
fails 'a replacement of nothing' 2 'no.* design "mask"' reproduce ./figure.yaml --replace mask=gpu-mmu
fails 'an unknown design in the place of another' 2 'no-such-design' reproduce ./figure.yaml --replace ideal-tlb=no-such-design
echo 'not a database' >foreign.db
fails 'a foreign database' 2 'foreign.db' reproduce ./figure.yaml --db foreign.db
check 'which is left alone' eval '[ "$(cat foreign.db)" = "not a database" ]'
sed 's/vecadd:n=100k"/vecadd:n=100k nonsense"/' figure.yaml >broken.yaml
fails 'a workload that is none' 2 'nonsense' reproduce ./broken.yaml --db broken.db
sed 's/iterations=1 /iterations=1:lanes=99 /' figure.yaml >failing.yaml
fails 'a parameter that is none' 2 'lanes' reproduce ./failing.yaml --db failing.db

run reproduce ./figure.yaml --db undisturbed.db --csv figure.csv --json both.json
check '--csv has a row per value of the table, per mean and per claim, with the numbers of the JSON' eval \
  '[ "$code" = 0 ] && python3 - figure.csv both.json' <<'PYTHON'
import csv, json, math, sys
rows = list(csv.DictReader(open(sys.argv[1])))
figure, = json.load(open(sys.argv[2]))
assert list(rows[0]) == "figure scope kind group workload app column value paper unit verdict".split(), rows[0]
shown = [(r["group"], r["workload"], r["app"], r["column"], float(r["value"])) for r in rows if r["kind"] == "value"]
assert shown == [(i["group"], i["workload"], "" if i["app"] < 0 else str(i["app"]), c["heading"], i["value"])
                 for c in figure["columns"] for i in c["items"]], shown
means = {(r["group"], r["column"]): float(r["value"]) for r in rows if r["kind"] == "mean"}
assert len(means) == 4
for (group, column), mean in means.items():
    items = [v for g, w, a, c, v in shown if (g, c) == (group, column)]
    assert math.isclose(mean, sum(items) / len(items)), (group, column)
claim, = [r for r in rows if r["kind"] == "claim"]
assert (claim["column"], claim["paper"], claim["unit"], claim["verdict"]) == ("mosaic-fig03-4k-loss", "48.1", "%", "differs")
assert float(claim["value"]) == figure["claims"][0]["ours"][0]
assert {r["figure"] for r in rows} == {"./figure.yaml"} and {r["scope"] for r in rows} == {"quick"}
PYTHON
run reproduce ./figure.yaml --db undisturbed.db --csv -
check '--csv - prints nothing but rows' eval '[ "$code" = 0 ] && cmp .stdout figure.csv'
fails 'JSON and CSV in one place' 2 '--json and --csv both go to "-"' reproduce ./figure.yaml --json - --csv -
run reproduce ./figure.yaml --db undisturbed.db --each
check 'rows that differ in their parameters can be told apart' eval \
  'grep -q "^  gather:table=64MB:iterations=1  " .stdout && grep -q "^  gather:table=96MB:iterations=1  " .stdout &&
   grep -q "^  vecadd  " .stdout && grep -q "^  vecadd:n=100k,vecadd:n=90k  " .stdout'
check 'values of a column have as many decimals' python3 - <<'PYTHON'
import re
rows = [line.split() for line in open(".stdout") if re.match(r"  (gather|vecadd|one|two|all)", line)]
for column in -2, -1:
    assert len({len(row[column].split(".")[1]) for row in rows}) == 1, rows
PYTHON
printf 'title: S\nmachine: mosaic\nvariants: {a: {design: gpu-mmu}, i: {design: ideal-tlb}}\nworkloads:\n  x: {list: "MUM:scale=0.01 vecadd:n=10k"}\n' >scatter.yaml
printf 'measures: {c: cycles}\ntable: {slower: c@a / c@i}\nclaims: {mosaic-fig03-4k-loss: 100 * (1 - mean(c@i / c@a))}\n' >>scatter.yaml
run reproduce ./scatter.yaml --db scatter.db --seeds 3 --each --csv scatter.csv --json scatter.json
check 'with --seeds every number has its interval' eval 'succeeds && python3 - "$pagewalk"' <<'PYTHON'
import csv, json, math, statistics, subprocess, sys
rows = list(csv.DictReader(open("scatter.csv", newline="")))
figure, = json.load(open("scatter.json"))
def slower(workload, seed):
    cycles = [json.loads(subprocess.check_output([sys.argv[1], "run", "-w", workload, "-d", d, "--seed", str(seed), "--json", "-"]))["cycles"]
              for d in ("gpu-mmu", "ideal-tlb")]
    return cycles[0] / cycles[1]
values = {w: [slower(w, s) for s in (1, 2, 3)] for w in ("MUM:scale=0.01", "vecadd:n=10k")}
both = [statistics.mean(v) for v in zip(*values.values())]
loss = [100 * (1 - statistics.mean(1 / v for v in pair)) for pair in zip(*values.values())]
near = lambda a, b: math.isclose(a, b, rel_tol=1e-9)
def matches(row, of):
    mean, half = statistics.mean(of), 4.302652729911275 * statistics.stdev(of) / math.sqrt(3)
    return int(row["n"]) == 3 and all(near(float(row[k]), v) for k, v in (("mean", mean), ("low", mean - half), ("high", mean + half)))
items, groups = figure["columns"][0]["items"], figure["columns"][0]["groups"]
assert [r["kind"] for r in rows] == ["value", "value", "mean", "claim"], rows
for row, item in zip(rows, items):
    assert matches(row, values[row["workload"]]) and matches(item, values[item["workload"]]), (row, item)
    assert near(float(row["value"]), values[row["workload"]][0]) and near(item["value"], float(row["value"]))
assert matches(rows[2], both) and matches(groups[0], both) and near(float(rows[2]["value"]), both[0])
assert matches(rows[3], loss) and near(float(rows[3]["value"]), loss[0])
PYTHON
check 'in the table too, where it depends on the seed' eval \
  'grep -qE "^  MUM +[0-9.]+ ±[0-9.]+$" .stdout && grep -qE "^  vecadd +[0-9.]+$" .stdout && grep -q "3 seeds)$" .stdout &&
   grep -q "^  ±: 95% confidence interval" .stdout'
sed 's/MUM:scale=0.01 //' scatter.yaml >same.yaml
run reproduce ./same.yaml --db scatter.db --seeds 2
check 'what is the same for all seeds is said once' eval 'succeeds && [ "$(grep -c "the same for all seeds" .stdout)" = 1 ] && ! grep -q ± .stdout'

check 'docs/experiments.md has the members of the JSON and the fields of the CSV' python3 - "$source_root" <<'PYTHON'
import csv, json, pathlib, re, sys
page = (pathlib.Path(sys.argv[1]) / "docs/experiments.md").read_text().split("## Numbers as JSON and CSV")[1]
def names(value, prefix=""):
    if isinstance(value, list):
        return {name for v in value for name in names(v, prefix)}
    if isinstance(value, dict):
        return {prefix + key for key in value} | {n for k, v in value.items() for n in names(v, prefix + k + ".")}
    return set()
printed = set().union(*(names(json.load(open(f + ".json"))) for f in ("both", "seeds", "scatter")))
told = set(re.findall(r"^\| `([a-z_.]+)` \|", page.split("### CSV")[0], re.M))
assert told == printed, told ^ printed
fields = next(csv.reader(open("scatter.csv")))
assert fields[:-4] == next(csv.reader(open("figure.csv")))
assert re.findall(r"^\| `([a-z.]+)` \|", page.split("### CSV")[1], re.M) == fields
PYTHON
sed 's/2m: {design: gpu-mmu-2m}/2m: {design: gpu-mmu-2n}/' figure.yaml >unused.yaml
fails 'a variant that nothing uses is checked too' 2 "variant '2m': unknown design 'gpu-mmu-2n'" reproduce ./unused.yaml --db unused.db
sed -e 's/2m: .*/w: {design: gpu-mmu, sweep: l1_tlb.base_entries 8 16}/' -e 's/^  4 KB pages: .*/  Entries *: speed@w-* \/ speed@ideal/' figure.yaml >swept.yaml
run reproduce ./swept.yaml --db undisturbed.db
check 'a line of the table covers a sweep' eval \
  '[ "$code" = 0 ] && grep -qE "^  mean +Entries 8 +Entries 16 +weighted speedup$" .stdout'

# What a program reads from a file belongs to its run: another content is another run.
cat >graph.yaml <<'YAML'
title: A graph from a file
machine: mask
variants:
  4k: {design: gpu-mmu}
workloads:
  one: {list: "bfs:graph=graph.txt"}
measures:
  speed: ipc
table:
  speed: speed@4k
YAML
cp "$source_root/examples/graphs/house.rodinia.txt" graph.txt
run reproduce ./graph.yaml --db graph.db
check 'a graph from a file' [ "$code" = 0 ]
check 'a figure without claims ends with where its results are' eval \
  '[ "$(tail -n 1 .stdout)" = "Results: graph.db" ] && ! grep -q claim .stdout'
run reproduce ./graph.yaml --db graph.db --plan
check 'is not searched again' grep -qx '1 figure, 1 run, 1 of them in the store' .stdout
printf '3\n0 1\n1 1\n2 0\n\n0\n\n2\n1 1\n2 1\n' >graph.txt
run reproduce ./graph.yaml --db graph.db --plan
check 'unless the file has changed' grep -q '^1 figure, 1 run, 0 of them in the store;' .stdout
finish
