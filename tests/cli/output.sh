#!/usr/bin/env bash
# What a run writes: valid, whole, the same bytes for the same inputs, and where it cannot be written, a failure.
source "$(dirname "$0")/tap.sh"

run --version
check 'the version' eval 'succeeds && grep -qE "^pagewalk [0-9]+\.[0-9]+\.[0-9]+\+[0-9a-f]{12}$" .stdout'
for help in 'help' '--help' '-h' 'help run' 'run --help' 'run -h' 'list --help' 'diff --help' 'help help'; do
  # The words are arguments.
  # shellcheck disable=SC2086
  run $help
  check "help: $help" eval 'succeeds && grep -q "^Usage: pagewalk" .stdout'
done
run run --help
check 'help names every flag of run' eval \
  'for f in machine design workload set seed json csv timeline timeline-limit pages pages-interval pages-limit quiet verify alone breakdown all by-kernel long interval warmup kernels; do grep -q -- "--$f" .stdout || exit 1; done'

for kind in machines designs workloads policies options metrics; do
  run list $kind --long
  check "list $kind" eval 'succeeds && [ "$(wc -l <.stdout)" -gt 1 ] && ! grep -q " $" .stdout'
  rows=$(($(wc -l <.stdout) - 1))
  run list $kind --json -
  check "list $kind --json has the same entries" eval \
    'succeeds && [ "$(python3 -c "import json,sys; print(len(json.load(open(sys.argv[1]))))" .stdout)" = "$rows" ]'
done
"$pagewalk" trace record -q -w $small -o small.pwt
for command in 'workload vecadd' 'trace info small.pwt' 'list designs' 'list designs --cost' 'show options' \
  'claims mask --kind headline'; do
  # The words are arguments.
  # shellcheck disable=SC2086
  run $command --json -
  cp .stdout expected.json
  # shellcheck disable=SC2086
  run $command
  cp .stdout expected.txt
  # shellcheck disable=SC2086
  run $command --json named.json
  check "$command --json FILE writes what --json - prints, and prints its table" eval \
    'succeeds && is_json expected.json && cmp expected.json named.json && cmp expected.txt .stdout'
  # shellcheck disable=SC2086
  fails "$command --json FILE that cannot be written" 2 'nowhere/x: cannot be created' $command --json nowhere/x
  # shellcheck disable=SC2086
  run $command --help
  check "$command --help says so" grep -q -- '--json FILE|-' .stdout
done
rm -f small.pwt expected.json expected.txt named.json

run run -m mosaic -d gpu-mmu -w $small --json -
check '--json - prints nothing but JSON' eval 'succeeds && is_json .stdout'
cp .stdout first.json
check 'the result has the members of schema 2' python3 - first.json <<'PYTHON'
import json, sys
r = json.load(open(sys.argv[1]))
assert r["schema"] == 2, r["schema"]
for member in "version seed machine design options cycles nanoseconds apps metrics identities host".split():
    assert member in r, member
assert (r["seed"], r["machine"], r["design"]) == (1, "mosaic", "gpu-mmu")
for member in "name warp_instructions cycles ipc".split():
    assert member in r["apps"][0], member
assert abs(r["apps"][0]["ipc"] * r["apps"][0]["cycles"] - r["apps"][0]["warp_instructions"]) < 1e-6 * r["apps"][0]["warp_instructions"]
for member in "wall_seconds peak_rss_bytes".split():
    assert r["host"][member] > 0, member
assert r["cycles"] > 0 and r["nanoseconds"] > 0
assert r["identities"] and all(i["holds"] for i in r["identities"])
PYTHON
check 'the metrics have the names of the design document' python3 - first.json <<'PYTHON'
import json, sys
metrics = json.load(open(sys.argv[1]))["metrics"]
names = """sm.issued sm.stall_cycles l1_tlb.lookups l1_tlb.hits l2_tlb.lookups l2_tlb.hits l2_tlb.mshr_merges
walk.count walk.latency_mean walk.concurrent_mean walk.warps_stalled_mean pwc.lookups pwc.hits
l1d.accesses l1d.hits l2.accesses l2.hits dram.reads dram.writes dram.row_hits dram.bytes
dram.translation.latency_mean dram.data.latency_mean dram.translation.bytes dram.data.bytes
mem.allocated_bytes mem.touched_bytes""".split()
names += [f"l2.ptw_level{n}.{what}" for n in (1, 2, 3, 4) for what in ("accesses", "hits")]
missing = [f"{scope}.{n}" for scope in ("gpu0", "app0") for n in names if f"{scope}.{n}" not in metrics]
assert not missing, missing
PYTHON
check 'every metric of a result is listed' eval \
  '"$pagewalk" list metrics --json - >metrics.json && python3 - first.json metrics.json' <<'PYTHON'
import json, sys
listed = {m["name"] for m in json.load(open(sys.argv[2]))}
used = {n.split(".", 1)[1] for n in json.load(open(sys.argv[1]))["metrics"]}
assert used <= listed, used - listed
PYTHON
"$pagewalk" run -q -m mgpu4 -d bypass -w $small --set place.remote=migrate --json several.json
check 'so is every metric of several GPUs, and none twice' python3 - several.json metrics.json <<'PYTHON'
import json, sys
listed = [m["name"] for m in json.load(open(sys.argv[2]))]
used = {n.split(".", 1)[1] for n in json.load(open(sys.argv[1]))["metrics"]}
assert {"route.local", "route.epochs_off", "iommu.walks", "fabric.bytes", "peer.reads", "move.pages"} <= used
assert used <= set(listed) and len(listed) == len(set(listed)), used - set(listed)
PYTHON
run list designs --cost -m mask
check 'list designs --cost has a line for each design, and then one for each structure' eval \
  'succeeds && grep -qE "^mask-cache .* 80 of 2097152 \(0.00381%\) +3 +80$" .stdout &&
   grep -qE "^mask-cache +cost.l2.walks.counters +640 bits " .stdout && ! grep -q " $" .stdout'
"$pagewalk" run -q -m mosaic -d mask-cache -w $small --json cost.json
run list designs --cost --json -
check 'the costs that list designs --cost --json has are metrics of a run' python3 - cost.json .stdout <<'PYTHON'
import json, sys
metrics = json.load(open(sys.argv[1]))["metrics"]
of_run = {name[5:]: value for name, value in metrics.items() if name.startswith("gpu0.cost.")}
listed = {row["metric"]: row["value"] for row in json.load(open(sys.argv[2])) if row["design"] == "mask-cache"}
assert listed == of_run and listed["cost.added"] == 80, (listed, of_run)
PYTHON
check 'every option of a result is listed' eval \
  '"$pagewalk" list options --json - >options.json && python3 - first.json options.json' <<'PYTHON'
import json, sys
listed = {o["name"] for o in json.load(open(sys.argv[2]))}
used = set(json.load(open(sys.argv[1]))["options"])
assert used <= listed, used - listed
PYTHON

run run -w $small --json second.json -q
check 'the defaults are machine mosaic, design gpu-mmu, seed 1; the same inputs give the same bytes' eval \
  'succeeds && [ ! -s .stdout ] && cmp <(without_host first.json) <(without_host second.json)'
for workload in gather:ctas=4:iterations=1:table=1MB pointer_chase:hops=50:bytes=1MB HS:side=64; do
  run run -w $workload --seed 7 --json seven.json -q
  run run -w $workload --seed 7 --json again.json -q
  check "the same seed gives the same bytes: $workload" eval \
    'succeeds && cmp <(without_host seven.json) <(without_host again.json)'
done
run run -w gather:ctas=4:iterations=1:table=1MB --seed 8 --json eight.json -q
run run -w gather:ctas=4:iterations=1:table=1MB --seed 7 --json seven.json -q
check 'another seed gives another result' eval '! cmp -s <(sed "/\"seed\"/d" seven.json | without_host /dev/stdin) <(sed "/\"seed\"/d" eight.json | without_host /dev/stdin)'

run run -w $small
check 'a run shows a table' eval 'succeeds && grep -q "^Cost of translation" .stdout && grep -q "^  L1 TLB hit rate" .stdout'
check 'a run to a file shows no progress bar' eval '! grep -q "\[#" .stderr'
run run -w $small --quiet
check '--quiet prints nothing' eval 'succeeds && [ ! -s .stdout ]'
run run -w $small --csv -
check '--csv - prints nothing but rows of seven fields' eval \
  'succeeds && python3 -c "import csv; rows = list(csv.reader(open(\".stdout\"))); assert rows[0] == \"run app component metric unit value kernel\".split(); assert len(rows) > 20 and all(len(r) == 7 for r in rows)"'
run run -w $small --json both.json --csv both.csv
check 'JSON, CSV and the table in one run' eval 'succeeds && is_json both.json && [ -s both.csv ] && [ -s .stdout ]'
run run -w $small --csv=equals.csv -q -mmosaic -dgpu-mmu
check 'flags with = and without a blank' eval 'succeeds && [ -s equals.csv ]'
run run -w $small --set l1_tlb.base_entries=16 --set l1_tlb.base_entries=32 --json set.json -q
check '--set may be repeated; the last one counts' eval 'succeeds && grep -q "\"l1_tlb.base_entries\": \"32\"" set.json'
run run -w $small --interval 1000 --json interval.json -q
check '--interval adds rows' eval 'succeeds && is_json interval.json && grep -q "\"intervals\": \[" interval.json'
run run -w $small --verify --json verify.json -q
check '--verify checks the result' eval 'succeeds && grep -qE "\"checks\": [1-9]" verify.json'

pair=$small,pointer_chase:hops=50:bytes=1MB
run run -w $pair --set apps.sms=20+10 --json pair.json --csv pair.csv
check 'several applications have a column each and their SMs' eval \
  'succeeds && grep -qE "app0 +app1" .stdout && grep -qE "vecadd:ctas=4:iterations=1 +20 " .stdout && ! grep -q "weighted" .stdout'
run run -m mask -d static -w $pair --alone --json alone.json
check '--alone shows weighted speedup and unfairness' eval 'succeeds && grep -q "weighted speedup" .stdout && grep -q "IPC alone" .stdout'
run run -m mask -d mask -w $pair --set fill.epoch=5000 --set fill.initial=50 --alone -q --json own.json
check 'alone, the baseline leaves out options of policies that it lacks' eval \
  'succeeds && grep -qF "\"fill.epoch\": \"5000\"" own.json && grep -qF "\"ipc_alone\": 0." own.json'
check 'the result has what several applications get and lose' python3 - pair.json alone.json <<'PYTHON'
import json, sys
pair, alone = (json.load(open(f)) for f in sys.argv[1:])
assert [a["sms"] for a in pair["apps"]] == [20, 10]
assert "weighted_speedup" not in pair and "unfairness" not in pair and "ipc_alone" not in pair["apps"][0]
assert abs(pair["ipc_throughput"] - sum(a["ipc"] for a in pair["apps"])) < 1e-9
shares = [a["ipc"] / a["ipc_alone"] for a in alone["apps"]]
assert abs(alone["weighted_speedup"] - sum(shares)) < 1e-9
assert abs(alone["unfairness"] - max(1 / s for s in shares)) < 1e-9
assert pair["cycles"] == max(a["cycles"] for a in pair["apps"])
assert "app1.l1_tlb.lookups" in pair["metrics"] and "app2.l1_tlb.lookups" not in pair["metrics"]
PYTHON

run run -w $pair --timeline a.trace --json with.json -q
check '--timeline writes a trace and nothing else' eval 'succeeds && [ ! -s .stdout ] && is_json a.trace'
run run -w $pair --json without.json -q
check 'a timeline changes nothing in the result' cmp <(without_host with.json) <(without_host without.json)
cp a.trace b.trace
run run -w $pair --timeline a.trace -q
check 'the same inputs give the same timeline' cmp a.trace b.trace
check 'tracks of a timeline have names' python3 - a.trace <<'PYTHON'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
named = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
groups = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
shown = [e for e in events if e["ph"] == "X"]
assert shown and all((e["pid"], e["tid"]) in named and e["pid"] in groups for e in shown)
assert {"Applications", "Page walker", "SM 0"} <= set(groups.values()), groups
assert {"vecadd:ctas=4:iterations=1", "walker 1", "L1 TLB miss 1"} <= set(named.values())
PYTHON
run run -w $pair --timeline a.trace --timeline-limit 5 -q
check '--timeline-limit keeps so many events and says so' eval \
  'succeeds && [ "$(grep -c "\"ph\": \"X\"" a.trace)" = 5 ] && grep -q "limit of 5 events" a.trace && is_json a.trace'
mkdir small
(ulimit -f 1 && "$pagewalk" run -w $pair -q --timeline small/a.trace >.stdout 2>.stderr)
code=$?
check 'a timeline that cannot be finished leaves nothing behind' eval 'is_error 1 "small/a.trace: cannot be written" && only_files small ""'

run run -w $pair --breakdown --json breakdown.json --csv breakdown.csv
check '--breakdown shows where the time of warps goes' eval \
  'succeeds && grep -q "Where the time of warps goes" .stdout && grep -qE "resident +100.00% .* 100.00%" .stdout && grep -q ",app1,breakdown,data,%," breakdown.csv'
check 'a breakdown adds up, and the rest of the result is the same' python3 - breakdown.json without.json <<'PYTHON'
import json, sys
shown, without = (json.load(open(f)) for f in sys.argv[1:])
for app in range(2):
    rows = [r for r in shown["breakdown"] if r["app"] == app]
    assert sum(r["cycles"] for r in rows) == shown["metrics"][f"app{app}.warp.resident"] > 0
    assert abs(sum(r["percent"] for r in rows) - 100) < 1e-9
    assert all(shown["metrics"][f"app{app}.warp.{r['state']}"] == r["cycles"] for r in rows)
assert "breakdown" not in without
assert {k: v for k, v in shown["metrics"].items() if ".warp." not in k} == without["metrics"]
assert shown["cycles"] == without["cycles"]
PYTHON

run run -w $small >/dev/null
"$pagewalk" run -w $small >/dev/full 2>.stderr
code=$? && : >.stdout
check 'a full disk behind standard output fails the run' is_error 1 'standard output cannot be written'
"$pagewalk" list metrics >/dev/full 2>.stderr
code=$?
check 'a full disk behind a list fails it' is_error 1 'standard output cannot be written'
"$pagewalk" run -w $small --json - >&- 2>.stderr
code=$?
check 'a closed standard output fails the run' is_error 1 'standard output cannot be written'
# A pipe of the test's own, not a device: a program that is wrong and runs as root would replace the system's.
mkfifo pipe
exec 3<>pipe
timeout 20 head -n 1 <pipe >pipe.line &
reader=$!
run run -w $small -q --csv pipe
wait $reader
exec 3>&-
check 'a named pipe is written, not replaced' eval 'succeeds && [ -p pipe ] && grep -q "^run,app,component" pipe.line'
rm -f pipe
{ "$pagewalk" list options --json -; echo $? >.code; } 2>.stderr | :
code=$(cat .code)
check 'a closed pipe ends it silently, or everything was written before' eval \
  '[ "$code" = 0 ] || { [ "$code" = 141 ] && [ ! -s .stderr ]; }'
# A limit on the size of files is a signal, which must not end it half way.
mkdir limited
limited_to() {
  local kilobytes=$1
  shift
  (ulimit -f "$kilobytes" && "$pagewalk" "$@" >.stdout 2>.stderr)
  code=$?
}
{ echo 'alloc a 4MB'; yes 'read a 0' | head -n 500; } >repeated.touch
while read -r kilobytes arguments; do
  # The words are arguments.
  # shellcheck disable=SC2086
  limited_to $kilobytes $arguments
  check "a file that cannot be finished leaves nothing behind: $arguments" eval \
    'is_error 1 "limited/a:? cannot be written" && only_files limited ""'
done <<CASES
1 run -w $small -q --json limited/a
1 run -w $small -q --csv limited/a
1 run -w $small -q --timeline limited/a
1 run -w vecadd:n=200000:ctas=8 -q --pages limited/a
4 trace record -w gather:ctas=8:iterations=4:table=1MB -o limited/a
1 touch repeated.touch --csv limited/a
CASES
limited_to 1 list options --json -
check 'so does a limit on the size of standard output' eval \
  '[ "$code" = 1 ] && [ "$(cat .stderr)" = "pagewalk: standard output cannot be written: File too large" ]'

# In a pipe, progress is a line now and then.
long=pointer_chase:bytes=1MB:hops=4000000000
PAGEWALK_PROGRESS=0.1 timeout -s INT 1 "$pagewalk" run -w $long >.stdout 2>.stderr
check 'a long run says in a pipe how far it is' eval \
  '[ "$(grep -cE "^progress: .* instr/s" .stderr)" -ge 2 ] && ! grep -q "\[#" .stderr && [ "$(tail -n 1 .stderr | cut -c1-22)" = "pagewalk: interrupted " ]'
for silent in "0.1 -q" "0" "nonsense"; do
  # The words are a distance and perhaps a flag.
  # shellcheck disable=SC2086
  set -- $silent
  PAGEWALK_PROGRESS=$1 timeout -s INT 0.5 "$pagewalk" run -w $long ${2-} >.stdout 2>.stderr
  code=$?
  check "PAGEWALK_PROGRESS=$silent: no line" eval '[ "$(wc -l <.stderr)" = 1 ] && grep -q "^pagewalk: interrupted" .stderr'
done
PAGEWALK_PROGRESS=0.1 timeout -s INT 1 "$pagewalk" compare -w $long -j 2 --db progress.db >.stdout 2>.stderr
check 'so does a comparison' grep -qE '^progress: 0 of [0-9]+ runs  [0-9]+ running' .stderr

# Long enough for the signal to find it running.
for signal in INT TERM; do
  "$pagewalk" run -w pointer_chase:bytes=1MB:hops=4000000000 --json long.json --timeline long.trace >.stdout 2>.stderr &
  job=$!
  sleep 0.5
  kill -s $signal $job
  wait $job
  code=$?
  check "a run that is interrupted (SIG$signal) exits 130 and writes nothing" eval 'is_error 130 "interrupted" && [ -z "$(ls | grep "^long")" ]'
done
finish
