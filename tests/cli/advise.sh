#!/usr/bin/env bash
# pagewalk advise: the numbers are those of runs, runs are done once, and what is said follows from the numbers.
source "$(dirname "$0")/tap.sh"

policy() { # NAME PREFETCH EVICT
  printf 'summary: Demand paging for these tests\npaging: {mode: demand}\nuvm: {prefetch: %s, evict: %s}\n' "$2" "$3" >"$1"
}
policy first.yaml tbn lru4k
policy second.yaml none lru4k
printf 'summary: Data is there before it is used\npaging: {mode: preload}\n' >preload.yaml
workload=HS:side=256:iterations=3
few="-m mosaic -d ./first.yaml -d ./second.yaml --no-calls"
# The words are arguments.
# shellcheck disable=SC2086
run advise -w $workload $few --json advice.json
check 'advice has the curve, the paging, the allocations and a recommendation' eval \
  'succeeds && grep -q "^Time, as a multiple" .stdout && grep -q "^Demand paging under ./first.yaml" .stdout &&
   grep -q "^Allocations under ./first.yaml" .stdout && grep -q "^Recommendation: " .stdout && [ -e pagewalk.db ]'
cp .stdout first.txt
check 'the numbers are JSON, and a policy at a size is the run that it names' eval 'is_json advice.json && python3 - "$pagewalk"' <<'PYTHON'
import json, subprocess, sys
advice = json.load(open("advice.json"))
points = advice["points"]
assert len(points) == 2 * 9 and all("cycles" in p for p in points), len(points)
assert [round(100 * p["share"]) for p in points[2::2]] == [150, 125, 110, 100, 90, 80, 70, 50]
base = min(p["cycles"] for p in points[:2])
assert all(abs(p["slowdown"] - p["cycles"] / base) < 1e-9 for p in points)
names = """far_faults pages_in pages_prefetched pages_evicted pages_thrashed""".split()
for p in points:
    sets = ["--set", f"uvm.memory={p['memory_bytes']}B"] if p["memory_bytes"] else []
    r = json.loads(subprocess.check_output([sys.argv[1], "run", "-m", "mosaic", "-d", p["design"], "-w",
                                            advice["workload"], "--json", "-", *sets]))
    assert r["cycles"] == p["cycles"], (p["design"], p["memory_bytes"], r["cycles"], p["cycles"])
    for name in names:
        assert r["metrics"]["gpu0.uvm." + name] == p[name], name
    waste = r["metrics"]["gpu0.uvm.prefetched_evicted"] + r["metrics"]["gpu0.uvm.prefetched_resident"]
    assert waste == p["prefetched_never_used"]
    assert r["allocations"] == p["allocations"], p["design"]
    assert r["metrics"]["gpu0.mem.allocated_bytes"] == advice["allocated_bytes"]
    assert r["metrics"]["gpu0.mem.touched_bytes"] == advice["touched_bytes"]
for design, need in advice["full_speed_bytes"].items():
    mine = [p for p in points if p["design"] == design and p["memory_bytes"]]
    reference = next(p for p in points if p["design"] == design)["cycles"]
    assert all(p["cycles"] <= 1.05 * reference for p in mine if p["memory_bytes"] >= need), design
    smaller = [p for p in mine if p["memory_bytes"] < need]
    assert not smaller or smaller[0]["cycles"] > 1.05 * reference, design
PYTHON
runs() { python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT count(*) FROM run").fetchone()[0])' "$1"; }
before=$(runs pagewalk.db)
start=$(date +%s%N)
# shellcheck disable=SC2086
run advise -w $workload $few
took=$((($(date +%s%N) - start) / 1000000))
check 'asking again runs nothing and says the same' eval '[ $code = 0 ] && cmp .stdout first.txt && [ "$(runs pagewalk.db)" = "$before" ] && [ $took -lt 2000 ]'
# shellcheck disable=SC2086
run advise -w $workload $few -q
check '--quiet says the sentences' eval 'succeeds && grep -q "^Recommendation" .stdout && ! grep -q "^Time" .stdout'
# shellcheck disable=SC2086
run advise -w $workload $few --memory 1TB --memory 256KB --json -
check 'sizes that were asked for; one that holds everything takes no run' eval 'succeeds && is_json .stdout && [ "$(runs pagewalk.db)" = $((before + 2)) ]'
run advise -w $workload -m mosaic -d ./first.yaml --memory 4KB --no-calls --db tiny.db
check 'a size at which a policy cannot run is said and does not fail the rest' eval \
  'grep -qE "^ +4.00 KiB .*(fails|[0-9])" .stdout && [ "$code" = 0 ]'
run advise -w HS:side=64,vecadd:n=2000 -m mosaic -d ./first.yaml --memory 50% --no-calls --db pair.db
check 'applications that share the GPU have advice together' eval 'succeeds && grep -q "app1 " .stdout'

# A small Needleman-Wunsch with a policy that brings 64 KB at a time, at 70%: both matrices thrash.
policy small.yaml sl lru4k
nw=nw:length=256
run advise -w $nw -d ./small.yaml --memory 70% --db calls.db --json calls.json
check 'calls that help are printed with their gain, and are no others than runs with uvm.advice show' eval 'succeeds && python3 - "$pagewalk"' <<'PYTHON'
import json, re, subprocess, sys
advice = json.load(open("calls.json"))
text = " ".join(open(".stdout").read().split())
trial, = advice["trials"]
def cycles(advice):
    return json.loads(subprocess.check_output([sys.argv[1], "run", "-m", "pascal", "-d", "./small.yaml", "-w", "nw:length=256", "--json", "-",
        "--set", f"uvm.memory={trial['memory_bytes']}B", "--set", f"uvm.advice={advice}"]))["cycles"]
without, tries = trial["cycles_without_calls"], {t["advice"]: t["cycles"] for t in trial["tries"] if "cycles" in t}
stopped = {t["advice"]: t["cycles_more_than"] for t in trial["tries"] if "cycles_more_than" in t}
assert without == cycles(""), "the run without calls"
assert trial["runs"] == len(tries) + len(stopped) and not trial["cut"]
assert stopped and all(cycles(advice) > limit >= trial["cycles"] for advice, limit in list(stopped.items())[:3])
assert trial["cycles"] == tries[trial["advice"]] == cycles(trial["advice"])
assert trial["cycles"] <= 1.02 * min(tries.values()), "something faster was tried"
single = {*tries, *stopped}
assert all(f"{name}:{kind}" in single for name in ("reference", "matrix") for kind in ("accessed-by", "host", "prefetch"))
assert "reference:read-mostly" in single and not any("matrix:read-mostly" in advice for advice in single)
used = {u["name"]: u for u in advice["allocations"]}
assert used["matrix"]["written"] and not used["reference"]["written"], "what a kernel writes is not read-mostly"
assert used["matrix"]["memory"] == "managed" and used["matrix"]["launches"] == used["matrix"]["last_launch"] == 31
assert [k["name"] for k in used["matrix"]["kernels"]] == ["needle_cuda_shared_1", "needle_cuda_shared_2"]
assert trial["calls"], "no call helps"
for call in trial["calls"]:
    assert f", {used[call['allocation']]['bytes']} /* " in call["call"], call
    line = text.split(call["call"])[1]
    gain = without / call["cycles_alone"]
    assert abs(call["speedup_alone"] - gain) < 1e-9
    alone, instead = re.search(r"(\S+) times as \S+ \((\S+) instead of", line).groups()
    assert int(instead.replace(",", "")) == call["cycles_alone"] and abs(float(alone) - max(gain, 1 / gain)) < 0.051 * gain, line
    if len(trial["calls"]) > 1:
        worth = call.get("cycles_without", call.get("cycles_without_more_than", 0)) / trial["cycles"]
        assert worth > 1.019, (call, "gains nothing")
PYTHON
stopped_runs() { python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT count(*), sum(cycles) FROM stopped").fetchone())' "$1"; }
known="$(runs calls.db) $(stopped_runs calls.db)"
mv .stdout first-calls.txt
run advise -w $nw -d ./small.yaml --memory 70% --db calls.db
check 'tries that were stopped are not done again' eval \
  '[ $code = 0 ] && [ "$(runs calls.db) $(stopped_runs calls.db)" = "$known" ] && cmp .stdout first-calls.txt && mv first-calls.txt .stdout'
check 'a call that costs time is not recommended but warned of' python3 - <<'PYTHON'
import json
trial, = json.load(open("calls.json"))["trials"]
single = {t["advice"]: t.get("cycles", t.get("cycles_more_than", 0) + 1) for t in trial["tries"] if "+" not in t["advice"]}
harmful = {a for a, c in single.items() if c > 1.02 * trial["cycles_without_calls"]}
assert harmful, single
assert not harmful & set(trial["advice"].split("+")), trial["advice"]
line = " ".join(open(".stdout").read().split()).split("Slower: ")[1].split(". ")[0]
assert all(" on ".join(reversed(advice.split(":"))) in line for advice in harmful), (harmful, line)
assert line.endswith(" (stopped at 1.02 times as long)"), line
PYTHON
run advise -w $nw -d ./small.yaml --memory 70% --db calls.db --tries 5 --json -
check '--tries bounds the search' eval 'succeeds && python3 -c "
import json, sys
trial, = json.load(open(\".stdout\"))[\"trials\"]
assert 5 <= len(trial[\"tries\"]) <= 5 + 2 * len(trial[\"calls\"]) and trial[\"cut\"]
assert all(\"cycles_alone\" in c or \"cycles_alone_more_than\" in c for c in trial[\"calls\"])"'
run advise -w $nw -d ./small.yaml --memory 200% --db calls.db -q
check 'with all memory a prefetch of what is cold helps' eval \
  'succeeds && grep -q "^With all the memory it needs, these calls help:" .stdout && grep -q "^    cudaMemPrefetchAsync(matrix, 264196 /\* 258.00 KiB \*/, device, stream);" .stdout'
run advise -w $nw -d ./small.yaml --memory 70% --set uvm.advice=matrix:accessed-by --db calls.db --json -
check 'advice that is given stays' eval 'succeeds && python3 -c "
import json
trial, = json.load(open(\".stdout\"))[\"trials\"]
known = next(t for t in json.load(open(\"calls.json\"))[\"trials\"][0][\"tries\"] if t[\"advice\"] == \"matrix:accessed-by\")
assert trial[\"cycles_without_calls\"] == known.get(\"cycles\", trial[\"cycles_without_calls\"])
assert not any(w in t[\"advice\"] for t in trial[\"tries\"] for w in (\"matrix:read\", \"matrix:host\", \"matrix:acc\"))"'
run advise -w $nw,$nw -d ./small.yaml --memory 70% --db calls.db --tries 3
check 'allocations of the same name in two applications are advised together' eval \
  'succeeds && tr -s " \n" " " <.stdout | grep -q "on 2 of 2 allocations by name; .*--tries 3 ended the search"'

# Of a recording: memory that does not page and has no names.
run advise -w "trace:$source_root/examples/traces/vecadd.pwt" -m h200 --memory 100% -d uvm-nvidia --tries 4 --db trace.db --json trace.json
check 'device memory is said to need a change first, and goes by its kind and place' eval \
  'succeeds && grep -q "^First: all of its allocations, 12.00 MiB, are device memory from cudaMalloc,$" .stdout && ! grep -q 0x .stdout &&
   grep -q "^  device_3: the 3rd cudaMalloc, 4.00 MiB, written by launch 1 (vecadd)$" .stdout'
check 'JSON has the kind, the name of the replay beside that of the advice, and what each call gains alone' python3 - <<'PYTHON'
import json
advice = json.load(open("trace.json"))
used = {u["name"]: u for u in advice["allocations"]}
assert [u["called"] for u in used.values()] == ["device_1", "device_2", "device_3"]
assert all(u["memory"] == "device" and u["bytes"] == 4 << 20 and u["launches"] == 1 for u in used.values())
assert [u["written"] for u in used.values()] == [False, False, True]
calls = [c for t in advice["trials"] for c in t["calls"]]
assert calls and all(used[c["allocation"]]["called"] in c["call"] for c in calls)
assert all("cycles_alone" in c or "cycles_alone_more_than" in c for c in calls), calls
PYTHON
run advise -w HS:side=64:iterations=2 -m h200 --memory 50% --no-calls --db h200.db --json h200.json
check 'the policy in use is the real driver'"'"'s on every machine, with its pages of 4 KB' eval 'succeeds && python3 - "$pagewalk"' <<'PYTHON'
import json, subprocess, sys
point = next(p for p in json.load(open("h200.json"))["points"] if p["memory_bytes"])
assert point["design"] == "uvm-nvidia"
r = json.loads(subprocess.check_output([sys.argv[1], "run", "-m", "h200", "-d", "uvm-nvidia", "-w", "HS:side=64:iterations=2", "--json", "-",
    "--set", f"uvm.memory={point['memory_bytes']}B"]))
assert r["cycles"] == point["cycles"] and r["options"]["page.size"] == "4KB"
PYTHON
"$pagewalk" advise -w hotspot:size=uvm -j 1 --db outlook.db >.stdout 2>.stderr &
job=$!
for _ in $(seq 300); do
  grep -q 'to come' .stderr && break
  sleep 0.1
done
kill -s INT $job
wait $job
check 'what is to come is said before the search' eval \
  'grep -qE "^pagewalk: about [0-9]+ runs of [0-9.]+ s or less are to come, [0-9]+ (s|min) with -j 1; those in outlook.db are not repeated$" .stderr'

"$pagewalk" advise -w HS:side=1024:iterations=40 -m mosaic -d ./first.yaml -d ./second.yaml --db stopped.db >.stdout 2>.stderr &
job=$!
sleep 1
kill -s INT $job
wait $job
code=$?
check 'an interrupted advice exits 130 and keeps a good store' eval 'is_error 130 interrupted && [ -e stopped.db ] && runs stopped.db'

# While calls are tried: two runs tell what less memory costs, the others are tries.
"$pagewalk" advise -w nw:size=uvm -d uvm-nvidia --memory 80% -j 1 --db tries.db >.stdout 2>.stderr &
job=$!
for _ in $(seq 600); do
  [ -s tries.db ] && [ "$(runs tries.db 2>.tmp)" -ge 4 ] 2>.tmp && break
  sleep 0.1
done
kill -s INT $job
wait $job
code=$?
rm -f .tmp
check 'an interrupted search says what it knows, and that it was interrupted' eval \
  '[ $code = 130 ] && grep -q "^Recommendation: " .stdout && tr -s " \n" " " <.stdout | grep -qE " [2-9] combinations tried, [^.]*; interrupted\. " &&
   grep -q "^Interrupted: this rests on" .stdout && grep -q "^pagewalk: interrupted" .stderr && [ "$(runs tries.db)" -ge 4 ]'

run advise -w nw:size=uvm --memory 80% -d uvm-nvidia --db tries.db
check 'the same command goes on and finds accessed-by on reference, 17.7 times as fast' eval \
  '[ $code = 0 ] && grep -A 2 "^    cudaMemAdvise(reference, 4202500 /\* 4.01 MiB \*/, cudaMemAdviseSetAccessedBy,$" .stdout |
   grep -q "^ *17\.7 times as fast (2,729,804 instead of 48,290,445 cycles)"'
check 'docs/advise.md shows what is printed' python3 - "$source_root/docs/advise.md" <<'PYTHON'
import sys
page = open(sys.argv[1]).read()
shown = page.split("<!-- pagewalk advise -w nw:size=uvm --memory 80% -d uvm-nvidia -->\n```\n")[1].split("```\n")[0]
assert shown == open(".stdout").read()
PYTHON

check 'docs/advise.md sets what is simulated beside what was measured' python3 - "$source_root" "$pagewalk" <<'PYTHON'
import csv, re, subprocess, sys
root, pagewalk = sys.argv[1:]
page = open(root + "/docs/advise.md").read().split("## Beside a real H200")[1]
measured = [r for r in csv.DictReader(open(root + "/data/hw/h200-managed.csv")) if r["pattern"] == "vecadd"]
rows = [[c.strip() for c in line.split("|")[1:-1]] for line in page.splitlines() if re.match(r"\| [a-z-]+ \| [\d.]+, ", line)]
assert [r[0] for r in rows] == ["none", "accessed-by", "prefetch", "read-mostly"], rows
for row in rows:
    for size, cell in (("4", row[1]), ("32", row[3])):
        mine = [r for r in measured if r["megabytes_per_array"] == size and r["advice"] == row[0].replace("-", "")]
        column = "wall_us" if row[0] == "prefetch" else "cold_us"
        assert [f"{float(r[column]) / 1000:.3g}" for r in mine] == [f"{float(v):.3g}" for v in cell.split(", ")], (row, mine)
    sets = [] if row[0] == "none" else ["--set", "uvm.advice=all:" + row[0]]
    out = subprocess.check_output([pagewalk, "run", "-m", "h200", "-d", "uvm-nvidia", "-w", "vecadd:n=1048576", *sets, "--csv", "-"], text=True)
    milliseconds = float(re.search(r",,run,nanoseconds,ns,([0-9.]+)", out)[1]) / 1e6
    assert f"{milliseconds:.3g}" == row[2], (row, milliseconds)
PYTHON
fails 'no workload' 2 'no workload given' advise
fails 'an operand' 2 'advise takes no "HS"' advise HS
fails 'an unknown workload' 2 'did you mean HS' advise -w HSS
fails 'an unknown machine' 2 'nothing' advise -w HS -m nothing
fails 'an unknown design' 2 'nothing' advise -w HS -d nothing
fails 'a design without demand paging' 2 'gpu-mmu does not page on demand' advise -w HS -d gpu-mmu
fails 'a design that preloads' 2 'does not page on demand' advise -w HS -d ./preload.yaml
fails 'a size that is none' 2 '"much" is no size such as 8GB' advise -w HS --memory much
fails 'a size of nothing' 2 'is no size' advise -w HS --memory 0
fails 'a negative share' 2 'is no share from 1% to 10000%' advise -w HS --memory -5%
fails 'an unknown option' 2 'uvm.memori' advise -w HS --set uvm.memori=1
fails 'a store that is none' 2 'is no result store' advise -w HS --db first.yaml
fails 'an output that cannot be written' 2 'cannot be created' advise -w HS --json no/such/file
fails 'too many at a time' 2 'at most 1024' advise -w HS -j 5000
check 'mistakes make no store' only_files . advice.json calls.db calls.json first.txt first.yaml h200.db h200.json outlook.db pagewalk.db pair.db preload.yaml second.yaml \
  small.yaml stopped.db tiny.db trace.db trace.json tries.db
finish
