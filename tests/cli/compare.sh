#!/usr/bin/env bash
# pagewalk compare: rows are the runs they name, runs are done once, files have what the table shows, and what
# docs/compare.md shows is what the program prints.
source "$(dirname "$0")/tap.sh"

runs() { python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT count(*) FROM run").fetchone()[0])' "${1:-pagewalk.db}"; }
gather=gather:table=16MB:ctas=8:iterations=1
grid="-w $gather -w $small,$gather -m mosaic -m kepler -d gpu-mmu -d gpu-mmu-64k --set l2_tlb.base_entries=128,1024"

# The words are arguments.
# shellcheck disable=SC2086
run compare $grid --set walk.walkers=8 --against ideal-tlb,gpu-mmu --json grid.json --csv grid.csv -j 2
check 'a comparison has a table, JSON and CSV' eval \
  'succeeds && is_json grid.json && grep -q "^machine" grid.csv && grep -q "^geometric mean of 2 workloads" .stdout'
cp .stdout first.txt
check 'every combination is a row, which is the run that it names' python3 - "$pagewalk" <<'PYTHON'
import csv, json, math, subprocess, sys
table = json.load(open("grid.json"))
rows = table["rows"]
assert len(rows) == 2 * 2 * 3 * 2, len(rows)
key = lambda r: (r["workload"], r["machine"], r["design"], r["settings"]["l2_tlb.base_entries"])
cycles = {key(r): r["cycles"] for r in rows}
assert len(cycles) == len(rows) and all(r["settings"]["walk.walkers"] == "8" for r in rows)
for r in rows:
    command = [sys.argv[1], "run", "-m", r["machine"], "-d", r["design"], "-w", r["workload"], "--breakdown", "--json", "-"]
    for name, value in r["settings"].items():
        command += ["--set", f"{name}={value}"]
    result = json.loads(subprocess.check_output(command))
    m = {k[5:]: v for k, v in result["metrics"].items() if k.startswith("gpu0.")}
    assert result["cycles"] == r["cycles"], (key(r), result["cycles"], r["cycles"])
    for reference, slowdown in r["slowdown"].items():
        other = cycles[(r["workload"], r["machine"], reference, r["settings"]["l2_tlb.base_entries"])]
        assert slowdown == r["cycles"] / other
    near = lambda a, b: math.isclose(a, b, rel_tol=1e-12)
    assert near(r["l1_tlb_hit_rate"], m["l1_tlb.hits"] / m["l1_tlb.lookups"])
    if m["l2_tlb.lookups"]:
        assert near(r["l2_tlb_hit_rate"], m["l2_tlb.hits"] / m["l2_tlb.lookups"])
    else:
        assert r["l2_tlb_hit_rate"] is None
    assert near(r["walks_per_1000_instructions"], 1000 * m["walk.count"] / m["sm.issued"])
    share = r["share"]
    assert near(share["walk"], m["warp.walk_memory"] / m["warp.resident"])
    assert near(share["lsu"], (m["warp.lsu"] + m["warp.lsu_full"]) / m["warp.resident"])
    assert near(share["lsu_tlb"], (m["warp.lsu_tlb"] + m["warp.lsu_full_tlb"]) / m["warp.resident"])
    assert near(r["due_to_translation"], 1 - 1 / r["slowdown"]["ideal-tlb"])
    assert near(sum(share.values()), 1)
for mean in table["means"]:
    mine = [r for r in rows if all(r[k] == mean[k] for k in ("machine", "design", "settings", "seed"))]
    assert len(mine) == 2
    for reference, value in mean["slowdown"].items():
        assert math.isclose(value, math.sqrt(math.prod(r["slowdown"][reference] for r in mine)), rel_tol=1e-12)
assert len(table["means"]) == len(rows) / 2
lines = list(csv.DictReader(open("grid.csv", newline="")))
assert len(lines) == len(rows)
for line, r in zip(lines, rows):
    assert all(line[k] == str(r[k]) for k in ("machine", "design", "workload", "seed", "cycles"))
    assert all(line[k] == v for k, v in r["settings"].items())
    for name in ("due_to_translation", "l1_tlb_hit_rate", "l2_tlb_hit_rate", "walks_per_1000_instructions"):
        assert (float(line[name]) if line[name] else None) == r[name], name
    assert all(float(line["slowdown." + k]) == v for k, v in r["slowdown"].items())
    assert all(float(line["share." + k]) == v for k, v in r["share"].items())
PYTHON
before=$(runs)
start=$(date +%s%N)
# shellcheck disable=SC2086
run compare $grid --set walk.walkers=8 --against ideal-tlb,gpu-mmu
took=$((($(date +%s%N) - start) / 1000000))
check 'asked again, it answers from the store' eval 'succeeds && cmp .stdout first.txt && [ "$(runs)" = "$before" ] && [ $took -lt 2000 ]'
run compare -w $gather --set l2_tlb.base_entries=128,1024,2048 --set walk.walkers=8
check 'one value more is only its runs more' eval 'succeeds && [ "$(runs)" = $((before + 2)) ]'
check 'a reference that no value changes is one row' eval \
  '[ "$(grep -c "^  ideal-tlb *any" .stdout)" = "$(grep -c "^  design" .stdout)" ]'
# shellcheck disable=SC2086
run compare -w $gather --set l2_tlb.base_entries=128,1024 --set walk.walkers=8,16
check 'lines fit 80 columns' eval 'succeeds && ! grep -nE "^.{81}" .stdout'
run compare -w $gather -w $small --db one.db
check 'gpu-mmu on mosaic against ideal-tlb is the default' eval \
  'succeeds && grep -q "^machine mosaic, seed 1$" .stdout && [ "$(grep -cE "^  (gpu-mmu|ideal-tlb) " .stdout)" = 9 ] && [ "$(runs one.db)" = 4 ]'
check 'what is due to translation is the first number' eval \
  'grep -qE "^ +% due to " .stdout && grep -qE "^  ideal-tlb +0[.]0 " .stdout'
run compare -w $small --against none --db none.db --csv -
check 'without a reference, nothing else is run; CSV alone on standard output' eval \
  'succeeds && [ "$(wc -l <.stdout)" = 2 ] && ! grep -q slowdown .stdout && [ "$(runs none.db)" = 1 ]'
run compare -w $small --seed 1,2,3 --db seeds.db --quiet --json seeds.json
check 'seeds are rows' eval 'succeeds && [ ! -s .stdout ] && [ "$(grep -c "\"seed\": [123]," seeds.json)" = 6 ]'
run compare -w MUM:scale=0.01 -w $small -d gpu-mmu -d sharedtlb --seed 1,2,3 --db seeds.db --json seeds.json --csv seeds.csv
cp .stdout seeds.txt
"$pagewalk" compare -w MUM:scale=0.01 -w $small -d gpu-mmu -d sharedtlb --seed 1,2,3 --each-seed --db seeds.db --csv each.csv >each.txt 2>&1
check 'of several seeds the means and intervals are shown, or each' python3 - <<'PYTHON'
import csv, json, math, statistics
table = json.load(open("seeds.json"))
each = list(csv.DictReader(open("each.csv", newline="")))
lines = list(csv.DictReader(open("seeds.csv", newline="")))
assert len(table["rows"]) == len(each) == 2 * 3 * 3 and len(lines) == len(table["intervals"]) == 2 * 3
def interval(values):
    mean, half = statistics.mean(values), 4.302652729911275 * statistics.stdev(values) / math.sqrt(3)
    return mean, mean - half, mean + half
near = lambda a, b: math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
for line, j in zip(lines, table["intervals"]):
    mine = [r for r in each if r["workload"] == line["workload"] and r["design"] == line["design"]]
    assert len(mine) == 3 and line["n"] == "3" and (j["workload"], j["design"]) == (line["workload"], line["design"])
    for name in mine[0]:
        if name in ("machine", "design", "workload", "seed") or not mine[0][name]:
            continue
        mean, low, high = interval([float(r[name]) for r in mine])
        assert all(near(float(line[f"{name}.{k}"]), v) for k, v in (("mean", mean), ("low", low), ("high", high))), name
        head, _, tail = name.partition(".")
        shown = j[head][tail] if tail else j[name]
        assert (shown["n"], near(shown["mean"], mean), near(shown["low"], low), near(shown["high"], high)) == (3, True, True, True)
    within = line["slowdown.ideal-tlb.within"]
    if line["design"] == "ideal-tlb":
        assert within == "" and "within" not in j["slowdown"]["ideal-tlb"] and "previous" not in j
    else:
        low, high = (float(line["slowdown.ideal-tlb." + k]) for k in ("low", "high"))
        assert within == ("true" if low <= 1 <= high else "false") == str(j["slowdown"]["ideal-tlb"]["within"]).lower()
        assert j["previous"]["design"] == line["previous"] == ("ideal-tlb" if line["design"] == "gpu-mmu" else "gpu-mmu")
        assert line["previous.within"] == str(j["previous"]["within"]).lower()
    if line["design"] == "sharedtlb": # the same run as gpu-mmu
        assert line["previous.within"] == "true" and float(line["previous.mean"]) == 1
PYTHON
check 'in the table too' eval 'grep -qE "^  gpu-mmu .* [0-9,]+ ±[0-9,]+ " seeds.txt && grep -q "^  sharedtlb .* =" seeds.txt &&
  grep -q "^$small  (the same for all seeds)" seeds.txt && grep -q "^= the difference from the design before it" seeds.txt &&
  grep -qE "^  gpu-mmu +3 " each.txt && ! grep -q ± each.txt'

# What is in the store without a breakdown is run again with it, and is still one run.
printf 'title: T\nmachine: mosaic\nvariants: {a: {design: gpu-mmu}}\nworkloads: {w: {list: "%s"}}\nmeasures: {c: cycles}\ntable: {x: c@a}\n' $small >figure.yaml
"$pagewalk" reproduce ./figure.yaml --db shared.db >reproduced.txt 2>&1
plain=$(runs shared.db)
run compare -w $small --against none --db shared.db
check 'a run that is there without a breakdown gets it' eval 'succeeds && [ "$plain" = 1 ] && [ "$(runs shared.db)" = 1 ] && ! grep -q " - " .stdout && grep -q compute .stdout'

run compare -w $gather --set page.size=4KB,2MB --db pages.db
check 'page.size=2MB says which TLB entries it uses' eval \
  'succeeds && grep -q "^Note: page.size=2MB uses .* 16 instead of 128 in$" .stdout && grep -q "gpu-mmu-2m" .stdout'
run compare -w $gather --set l1_tlb.organisation=plain --db same.db
check 'a reference that --set has made the same run is said' eval 'succeeds && grep -q "^Note: .*gpu-mmu.* have the same options" .stdout'
run compare -w gather:table=64MB -w $small --set dram.bytes=32MB --db failed.db --json failed.json
check 'a run that fails is said and does not stop the others' eval \
  '[ $code = 1 ] && grep -q "failed; the first: .*gather:table=64MB: .*does not fit" .stderr && grep -q "^  gpu-mmu *- *failed" .stdout &&
   is_json failed.json && grep -q "\"failure\": \".*does not fit" failed.json && [ "$(runs failed.db)" = 2 ]'

pair=vecadd:ctas=20:iterations=1,$gather
run compare -w $pair@20+10 -w $pair@2+10 --against none --db sms.db --json sms.json
check 'workloads that give SMs are rows of their own' python3 - "$pagewalk" $pair <<'PYTHON'
import json, subprocess, sys
rows = json.load(open("sms.json"))["rows"]
assert [r["workload"] for r in rows] == [sys.argv[2] + "@20+10", sys.argv[2] + "@2+10"]
assert rows[0]["cycles"] != rows[1]["cycles"]
for r, sms in zip(rows, ("20+10", "2+10")):
    command = [sys.argv[1], "run", "-w", sys.argv[2], "--set", f"apps.sms={sms}", "--json", "-"]
    assert json.loads(subprocess.check_output(command))["cycles"] == r["cycles"]
PYTHON
run compare -w $pair --set apps.sms=20+10 --against none --db sms.db
check 'the same SMs by the option are the same run' eval 'succeeds && [ "$(runs sms.db)" = 2 ]'
count() { python3 -c 'import json; print(len(json.load(open(".stdout"))))'; }
run export --db sms.db --json - -w $pair@2+10
check 'runs on some SMs are found in the store' eval 'succeeds && [ "$(count)" = 1 ] && grep -q "\"apps.sms\": \"2+10\"" .stdout'
run export --db sms.db --json - -w $pair
check 'and runs on any SMs' eval 'succeeds && [ "$(count)" = 2 ]'
fails 'SMs for too few in a filter' 2 'one number of SMs for each of 2' export --db sms.db --json - -w $pair@20

"$pagewalk" compare -w HS:side=1024:iterations=40 --db stopped.db -j 2 >.stdout 2>.stderr &
job=$!
sleep 1
kill -s INT $job
wait $job
code=$?
check 'interrupted, it exits 130 and keeps a good store' eval 'is_error 130 interrupted && runs stopped.db'

chase=pointer_chase:bytes=1MB:stride=4096:hops=100
run compare -w $chase -d gpu-mmu -d compress --set l2_tlb.organisation.ratio=2,4 --strict --db own.db --csv own.csv
check 'a design without a swept option runs once' eval 'succeeds && [ "$(runs own.db)" = 4 ] &&
  [ "$(grep -cE "^  (gpu-mmu|ideal-tlb) +any " .stdout)" = "$(grep -cE "^  compress +[24] " .stdout)" ] &&
  [ "$(cut -d, -f2,5 own.csv | tr "\n" " ")" = "design,l2_tlb.organisation.ratio ideal-tlb,any gpu-mmu,any compress,2 compress,4 " ]'
run compare -w $chase -d gpu-mmu -d mask --set fill.epoch=1000,2000 --set walk.latency=10,20 --db own.db -q
check 'of a design without it nothing is said, but of one with it' eval '[ $code = 0 ] &&
  [ "$(cat .stderr)" = "pagewalk: --set walk.latency=20 has no effect because walk.model is memory" ]'
fails 'an option that no design has' 2 '-d gpu-mmu --set fill.epoch=1000: .*fill.epoch is an option of fill.policy=tokens' \
  compare -w $chase -d gpu-mmu -d compress --set fill.epoch=1000,2000
fails 'an option that nothing has' 2 "did you mean 'fill.epoch'" compare -w $chase --set fill.epohc=1,2
run compare -m mask -w $pair@20+10 -w $small -d gpu-mmu -d mask --set walk.walkers=8,64 --alone --db alone.db --json alone.json --csv alone.csv
check 'with --alone rows have what run --alone says' python3 - "$pagewalk" <<'PYTHON'
import csv, json, math, subprocess, sys
table = json.load(open("alone.json"))
lines = list(csv.DictReader(open("alone.csv", newline="")))
assert len(table["rows"]) == len(lines) == 2 * 3 * 2
for r, line in zip(table["rows"], lines):
    assert all(float(line[k]) == r[k] for k in ("weighted_speedup", "unfairness"))
    if r["design"] == "ideal-tlb" and "," not in r["workload"]:
        continue
    command = [sys.argv[1], "run", "-m", "mask", "-d", r["design"], "-w", r["workload"], "--alone", "--json", "-",
               "--set", "walk.walkers=" + r["settings"]["walk.walkers"]]
    result = json.loads(subprocess.check_output(command))
    for k in ("weighted_speedup", "unfairness"):
        assert math.isclose(result[k], r[k], rel_tol=1e-12), (r, result[k])
for mean in table["means"]:
    mine = [r for r in table["rows"] if all(r[k] == mean[k] for k in ("design", "settings"))]
    for k in ("weighted_speedup", "unfairness"):
        assert math.isclose(mean[k], math.sqrt(math.prod(r[k] for r in mine)), rel_tol=1e-12)
PYTHON
check 'a table too, and the runs alone once each' eval 'grep -qE "^ .* weighted" .stdout && [ "$(runs alone.db)" = $((3 * 2 * 2 + 2 * 2)) ]'
fails 'no workload' 2 'no workload given' compare
fails 'an operand' 2 'compare takes no "HS"' compare HS
fails 'an unknown workload after a good one' 2 'did you mean HS' compare -w $small -w HSS
fails 'an unknown machine after a good one' 2 'nothing' compare -w $small -m mosaic -m nothing
fails 'an unknown design after a good one' 2 'nothing' compare -w $small -d gpu-mmu -d nothing
fails 'an unknown reference' 2 "did you mean 'ideal-tlb'" compare -w $small --against idael-tlb
fails 'a reference is missing' 2 'a design is missing beside a comma' compare -w $small --against ideal-tlb,
fails 'a bad value after good ones' 2 'banana' compare -w $small --set l2_tlb.base_entries=256,512,banana
fails 'a value is missing' 2 'a value is missing beside a comma' compare -w $small --set l2_tlb.base_entries=256,
fails 'an option twice' 2 'l2_tlb.base_entries=256,512' compare -w $small --set l2_tlb.base_entries=256 --set l2_tlb.base_entries=512
fails 'a design twice' 2 'design gpu-mmu is given twice' compare -w $small -d gpu-mmu -d gpu-mmu
fails 'values that do not go with a design' 2 '-d mosaic --set page.size=2MB: coalesce.policy' compare -w $small -d mosaic --set page.size=4KB,2MB
fails 'values that do not go with a workload' 2 '-w .*,.* --set apps.sms=20: .*one number of SMs' compare -w $small -w $small,$small --set apps.sms=20
fails 'more SMs of a workload than a machine has' 2 "-m fermi .*-w $small,$small@10[+]6: workload .*more than the 15 SMs" compare -w $small,$small@10+6 -m mosaic -m fermi
fails 'a seed that is none' 2 '--seed: "x" is no whole number' compare -w $small --seed 1,x
paged='nw:length=256'
run compare -m pascal -w $paged -d uvm-nvidia -d gpu-mmu --against none --set uvm.oversubscription=50,200 --db paged.db --csv paged.csv
check 'with demand paging it says how much memory there was, and where that limited nothing' eval 'succeeds &&
  grep -q "^Demand paging" .stdout && grep -q "in 1 of 2 runs with limited memory no page had to leave the GPU" .stdout &&
  ! grep -nE "^.{81}" .stdout'
check 'and so does the CSV' python3 - <<'PYTHON'
import csv
rows = {(r["design"], r["uvm.oversubscription"]): r for r in csv.DictReader(open("paged.csv", newline=""))}
small, large = rows["uvm-nvidia", "200"], rows["uvm-nvidia", "50"]
touched = int(small["touched_bytes"])
assert int(small["device_memory_bytes"]) == touched // 8192 * 4096 and int(small["pages_evicted"]) > 0, small
assert int(large["device_memory_bytes"]) == 2 * touched and large["pages_evicted"] == "0", large
assert all(r["device_memory_bytes"] == r["pages_evicted"] == "" for r in rows.values() if r["design"] == "gpu-mmu")
PYTHON

fails 'both formats on standard output' 2 'cannot both go to standard output' compare -w $small --json - --csv -
fails 'both formats in one file' 2 'name the same file' compare -w $small --json a --csv a
fails 'a file that cannot be written' 2 'cannot be created' compare -w $small --csv missing/a.csv
fails 'several values in a run' 2 'use `pagewalk compare` for several values' run -w $small --set l2_tlb.base_entries=256,512

# Blocks of docs/compare.md that begin with "$ pagewalk …".
check 'what docs/compare.md shows is what the program prints' python3 - "$source_root" "$pagewalk" <<'PYTHON'
import pathlib, re, shlex, subprocess, sys
page = (pathlib.Path(sys.argv[1]) / "docs/compare.md").read_text()
shown = re.findall(r"^```\n\$ pagewalk (.*?[^\\])\n(.*?)^```", page, re.M | re.S)
assert len(shown) >= 2, len(shown)
for command, expected in shown:
    arguments = shlex.split(command.replace("\\\n", " "))
    printed = subprocess.run([sys.argv[2], *arguments, "--db", "page.db"], capture_output=True, text=True).stdout
    assert printed == expected, f"pagewalk {command}\n{printed}"
PYTHON
run compare -w vecadd:n=4k --set walk.latency=10,20 --set l2_tlb.base_entries=256,512 --db effects.db -q
check 'a setting that does nothing in any run is said' eval '[ $code = 0 ] &&
  [ "$(cat .stderr)" = "pagewalk: --set walk.latency=20 has no effect because walk.model is memory" ]'
run compare -w vecadd:n=4k --set walk.latency=10,20 --strict --db strict.db
check 'with --strict nothing is run then' eval \
  '[ $code = 2 ] && [ ! -e strict.db ] && tail -n 1 .stderr | grep -q "nothing was run because of --strict"'
run compare -w vecadd:n=4k -d gpu-mmu -d uvm-nvidia --set uvm.service=serial,batch --strict --db effects.db -q
check 'a setting that does something in some of the runs is none' succeeds

finish
