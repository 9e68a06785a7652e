#!/usr/bin/env bash
# scripts/bench: what it measures and prints, comparisons with other programs, where instructions are counted.
source "$(dirname "$0")/tap.sh"

bench() {
  "$source_root/scripts/bench" --program "$pagewalk" "$@" >.stdout 2>.stderr
  code=$?
}
# refused NAME REGEX ARGUMENTS...
refused() {
  local name=$1 regex=$2
  shift 2
  bench "$@"
  check "$name" eval '[ "$code" = 2 ] && [ ! -s .stdout ] && grep -qE -- "$regex" .stderr'
}
# cell ROW COLUMN: one of the last table, counted from 1.
cell() { sed -n "s/^| //p" .stdout | sed -n "$(($1 + 1))p" | awk -F' *[|] *' -v c="$2" '{ print $c }'; }

bench --help
check 'the help names every flag' eval '[ "$code" = 0 ] &&
  for flag in rows runs program fast against beside callgrind update page; do grep -q "^  --$flag " .stdout || exit 1; done'
refused 'unknown flag' 'unrecognized arguments: --pgae' --pgae
refused 'rows that do not exist' 'no run matches "xyzzy"; there are: vecadd ideal-tlb; ' --rows xyzzy
refused 'kernels that do not exist' 'no kernel matches "xyzzy"; there are: stream-4; ' --beside true --rows xyzzy
refused 'counts recorded without being counted' '--update goes with --callgrind alone' --update
refused 'a page of some rows' '--page shows all rows' --page --rows alu
refused 'no runs' 'at least 1' --runs 0
refused 'another program that is not there' 'nowhere/pagewalk: no such program' --against nowhere/pagewalk --rows '^alu' --runs 1
refused 'a pattern that is none' '--rows \[: ' --rows '['
refused 'a program that is no pagewalk' 'a run has left no result of pagewalk' --against /bin/true --rows '^alu' --runs 1
refused 'a simulator that fails' 'exit code 3 from: ' --beside 'echo no licence; exit 3;' --rows stream-4 --runs 1
check 'what it said is shown' grep -qx 'no licence' .stderr

bench --rows '^alu' --runs 2
check 'a run has a row with its time, speed and memory' eval '[ "$code" = 0 ] && [ "$(cell 1 1)" = "alu ideal-tlb" ] &&
  for c in 2 3 4 5 7; do awk "BEGIN { exit !($(cell 1 $c) > 0) }" || exit 1; done && [ "$(cell 1 6)" = - ]'
check 'the median is not below the best' awk "BEGIN { exit !($(cell 1 3) >= $(cell 1 2)) }"

printf '#!/bin/sh\nexec "%s" "$@"\n' "$pagewalk" >same
printf '#!/bin/sh\nfor i in 1 2 3; do "%s" "$@" >/dev/null; done; exec "%s" "$@" --set sm.dependency_latency=20\n' \
  "$pagewalk" "$pagewalk" >other
chmod +x same other
bench --against ./same --rows '^alu' --runs 1
check 'another pagewalk with the same results is said to have them' eval '[ "$code" = 0 ] && [ "$(cell 1 8)" = same ]'
bench --against ./other --rows '^alu' --runs 1
check 'one with other results too, and a program that runs four times takes longer' eval '[ "$code" = 0 ] &&
  [ "$(cell 1 8)" = differ ] && awk "BEGIN { exit !($(cell 1 4) > 1.2) }"'
check 'the extremes are named' grep -qE '^From [0-9.]+ \(alu ideal-tlb\) to [0-9.]+ \(alu ideal-tlb\) times as fast\.$' .stdout
printf '#!/bin/sh\ncase "$*" in *"-w alu:"*) echo "alu is not known" >&2; exit 2 ;; esac\nexec "%s" "$@"\n' "$pagewalk" >older
chmod +x older
bench --against ./older --rows '^(alu|vecadd ideal-tlb, 20 )' --runs 1
check 'a row that the other program cannot run is left out, and named' eval '[ "$code" = 0 ] &&
  grep -q "^alu ideal-tlb is left out: .*/older says: alu is not known$" .stderr && [ "$(cell 1 1)" = "vecadd ideal-tlb, 20 SMs" ]'

# Its work is done by a child: two tenths of a second of CPU time, and half a second of nothing.
cat >simulator <<'SH'
#!/bin/sh
echo "$1" >>asked
python3 -c 'import time
while time.process_time() < 0.2: pass'
sleep 0.5
echo "gpu_tot_sim_cycle = 7"
echo "gpu_tot_sim_cycle = 1000"
SH
chmod +x simulator
bench --beside "cd $work && ./simulator" --rows 'stream-4' --runs 2
check 'another simulator is asked for the kernel by name, as often as wanted' eval '[ "$code" = 0 ] && [ "$(cat asked)" = "stream-4
stream-4" ]'
check 'its time is CPU time, that of its children included' awk "BEGIN { exit !($(cell 1 2) >= 0.2 && $(cell 1 2) < 0.5) }"
check 'the ratio of times, without translation and with it' python3 - .stdout <<'PYTHON'
import re, sys
rows = [[c.strip() for c in line.strip("|\n").split("|")] for line in open(sys.argv[1]) if line.startswith("| stream-4")]
assert [r[0] for r in rows] == ["stream-4 ideal-tlb", "stream-4 gpu-mmu"], rows
for row, goal in zip(rows, (1000, 400)):
    theirs, ours, ratio = float(row[1]), float(row[3]), float(row[5].rstrip("x"))
    assert abs(theirs / ours - ratio) <= 0.05 * ratio + 1, row
    assert abs(ratio / goal - float(row[7])) < 0.01, row
assert rows[0][10] == "1000" and rows[1][10] == "-", rows
assert abs(int(rows[0][11]) / 1000 - float(rows[0][12])) < 0.001, rows
PYTHON

# stream-4 as in bench/beside.py, and as it is traced for Accel-Sim.
for pair in stream-4=vecadd:iterations=4:values=off gather-2=gather:iterations=2:table=4MB alu-30=alu:iterations=30; do
  kernel=${pair%%=*} workload=${pair#*=}
  "$source_root/bench/accel-sim-trace" "$kernel" "$kernel"
  run run -m volta -d ideal-tlb -w "$workload:ctas=256:warps=8" --csv run.csv -q
  check "the trace of $kernel has the warp instructions of $workload" eval 'grep -qx kernel-1.traceg $kernel/kernelslist.g &&
    [ "$(awk "/^insts = / { n += \$3 } END { print n }" $kernel/kernel-1.traceg)" = \
      "$(awk -F, "\$3 == \"gpu0.sm\" && \$4 == \"issued\" { print \$6 }" run.csv)" ]'
done
check 'the table of gather-2 has 4 MB' python3 - <<'PYTHON'
import re
lines = [l.split() for l in open("gather-2/kernel-1.traceg") if " LDG.E.SYS 1 R4 " in l]
assert len(lines) == 256 * 8 * 2
addresses = []
for words in lines:
    at = words.index("R4") + 1
    assert words[at:at + 2] == ["4", "2"] and len(words) == at + 35, words
    addresses.append(int(words[at + 2], 16))
    for step in words[at + 3:at + 34]:
        addresses.append(addresses[-1] + int(step))
assert 0.99 * 2**22 < max(addresses) - min(addresses) < 2**22 and not any(a % 4 for a in addresses)
PYTHON

# DRAM has 100 instructions of its own, 20 of shared code and 10 of the event queue's inlined; tags have 40, for the L2 and
# the L1, 3 to 1; the event loop has called DRAM 5 times, the L1 twice and the C library once. Two functions have one name.
cat >callgrind.out <<'PROFILE'
version: 1
positions: line
events: Ir
fl=(1) ../src/mem/dram.c
fn=(1) issue
1 70
fi=(2) ../src/sim/divisor.h
+3 20
fe=(1)
* 30
fi=(3) ../src/sim/event.h
+1 10

fl=(4) ../src/mem/cache.c
fn=(2) find
5 40
fl=(5) ../src/mem/l2.c
fn=(3) look_up
7 11
cfi=(4)
cfn=(2)
calls=3 5
8 30
fl=(6) ../src/gpu/l1.c
fn=(4) issue
9 12
cfi=(4)
cfn=(2)
calls=1 5
+1 10
fl=(7) ../src/sim/event.c
fn=(5) run
20 13
cfi=(1)
cfn=(1)
calls=5 1
+1 130
cfi=(6)
cfn=(4)
calls=2 9
* 22
cfi=(8) malloc.c
cfn=(6) malloc
calls=1 1
* 8
fl=(8)
fn=(6)
1 8
totals: 214
PROFILE
check 'instructions and events are counted where they belong' python3 - "$source_root" <<'PYTHON'
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1] + "/bench")
import units
profile = units.Profile("callgrind.out")
found = {unit: round(n) for unit, n in profile.instructions().items()}
assert found == {"DRAM": 120, "event queue": 31, "L2 and crossbar": 41, "L1 and load-store unit": 22}, found
assert dict(profile.events()) == {"DRAM": 5, "L1 and load-store unit": 2}, profile.events()
PYTHON
check 'every source file belongs to a unit' python3 - "$source_root" <<'PYTHON'
import pathlib, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1] + "/bench")
import units
root = pathlib.Path(sys.argv[1])
found = {units.unit_of_file(str(path)) for path in (root / "src").rglob("*.[ch]")}
assert found == {*units.UNITS, units.SHARED}, found
assert units.unit_of_file("./malloc/malloc.c") is units.SHARED
PYTHON
finish
