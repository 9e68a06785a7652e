#!/usr/bin/env bash
# Programs that reserve more than they touch: the tables of docs/traces.md, what a run says of its memory, and shares of
# what is touched in advice. The second argument writes the programs.
make_pools=$(realpath "$2")
source "$(dirname "$0")/tap.sh"
mkdir traces
"$make_pools" traces || exit 1

check 'docs/traces.md is what is measured (scripts/pools rewrites it)' \
  "$source_root/scripts/pools" --check --quick "$pagewalk" "$make_pools"

# says LINE: the last run's table has it, however it is wrapped.
says() {
  tr '\n' ' ' <.stdout | tr -s ' ' | grep -qF -- "$1" || { head -n 12 .stdout; return 1; }
}

paging=(-m pascal -d uvm-nvidia -w trace:traces/training.pwt)
run run "${paging[@]}" --set uvm.oversubscription=200
check 'a run says how much memory it had, and for how much data' eval 'succeeds &&
  says "device memory: 15.05 MiB for 30.10 MiB touched, 200% of it (140.00 MiB allocated)" &&
  ! says "no page had to leave"'
run run "${paging[@]}" --set uvm.oversubscription=200 --set uvm.oversubscription_of=allocated
check 'a limit that is none is said to be none' eval 'succeeds &&
  says "70.00 MiB for 30.10 MiB touched, 43% of it (140.00 MiB allocated) memory was limited, but no page had to leave the GPU"'
run run "${paging[@]}"
check 'without a limit there is nothing to say about it' eval 'succeeds && ! says "no page had to leave" && says "for 30.10 MiB touched (140.00"'
run run -w trace:traces/training.pwt
check 'without demand paging there is no such memory' eval 'succeeds && ! says "device memory"'

run run "${paging[@]}" --set uvm.oversubscription=200 --json out.json --csv out.csv -q
check 'both numbers are in JSON and CSV' python3 - <<'PYTHON'
import csv, json
metrics = json.load(open("out.json"))["metrics"]
wanted = {"uvm.memory_bytes": 15781888, "uvm.data_bytes": 31563776, "mem.allocated_bytes": 140 << 20}
assert {name: metrics["gpu0." + name] for name in wanted} == wanted, metrics
rows = {(r["component"] + "." + r["metric"]).removeprefix("."): r["value"] for r in csv.DictReader(open("out.csv"))}
found = {name: [value for key, value in rows.items() if key.endswith(name)] for name in wanted}
assert all(str(wanted[name]) in values for name, values in found.items()), found
PYTHON

run advise -m pascal -w trace:traces/training.pwt -d uvm-nvidia --memory 80% --no-calls --json -
check 'advice on 80% of memory is on 80% of what is touched' python3 - <<'PYTHON'
import json
advice = json.load(open(".stdout"))
assert advice["working_set_bytes"] == 31563776 and advice["allocated_bytes"] == 140 << 20, advice
point = advice["points"][1]
assert point["memory_bytes"] == 31563776 // 4096 * 8 // 10 * 4096 and point["pages_evicted"] > 0, point
PYTHON

run run "${paging[@]}" --set uvm.oversubscription_of=allocated
check 'without oversubscription the choice has no effect, which is said' \
  grep -q 'uvm.oversubscription_of=allocated has no effect because uvm.oversubscription is 0' .stderr
finish
