#!/usr/bin/env bash
# The machine of a recording: run, compare and advise take that of the device it was made on, and say where they do not.
# The second argument writes traces (make_pools).
make_pools=$(realpath "$2")
source "$(dirname "$0")/tap.sh"
for name in h200:'NVIDIA H200' other:'NVIDIA A10' none:''; do
  mkdir "${name%%:*}"
  "$make_pools" "${name%%:*}" "${name#*:}" || exit 1
done

# made FILE: machine and design of a result.
made() {
  python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["machine"], r["design"])' "$1"
}

# notes REGEX: exit code 0, and one line on standard error.
notes() {
  [ "$code" = 0 ] && [ "$(wc -l <.stderr)" = 1 ] && grep -qE -- "^pagewalk: $1\$" .stderr || { cat .stderr; return 1; }
}

run run -w trace:h200/layer.pwt -q --json out.json
check 'a recording of an H200 runs on h200 with pages of 2 MB' eval 'succeeds && [ "$(made out.json)" = "h200 gpu-mmu-2m" ]'
run run -w trace:none/layer.pwt -q --json out.json
check 'one without a device runs as other programs do' eval 'succeeds && [ "$(made out.json)" = "mosaic gpu-mmu" ]'
run run -w "trace:$source_root/examples/traces/vecadd.pwt" -q --json out.json
check 'so does one of the emulator' eval 'succeeds && [ "$(made out.json)" = "mosaic gpu-mmu" ]'
run run -w trace:h200/layer.pwt -d uvm-nvidia -q --json out.json
check 'a design that is asked for has the machine of the recording' eval 'succeeds && [ "$(made out.json)" = "h200 uvm-nvidia" ]'
run run -w trace:h200/layer.pwt -m volta -d gpu-mmu -q --json out.json --strict
check 'another machine that is asked for is not refused' eval '[ "$(made out.json)" = "volta gpu-mmu" ] &&
  notes "h200/layer.pwt was recorded on NVIDIA H200, which is machine h200; it runs on volta"'
run run -w trace:other/layer.pwt -q --json out.json
check 'a device of which there is no machine runs on the nearest' eval '[ "$(made out.json)" = "rtx4090 gpu-mmu-2m" ] &&
  notes "other/layer.pwt was recorded on NVIDIA A10, which no machine models; it runs on rtx4090, the nearest"'
run run -w trace:h200/layer.pwt,trace:other/layer.pwt -q --json out.json
check 'of two recordings the first decides' eval '[ "$(made out.json)" = "h200 gpu-mmu-2m" ] &&
  notes "other/layer.pwt was recorded on NVIDIA A10; all run on h200, the machine of h200/layer.pwt"'

run compare -w trace:h200/layer.pwt --against none --json out.json -q
check 'compare takes it too' eval 'succeeds && python3 - <<<"
import json
rows = json.load(open(\"out.json\"))[\"rows\"]
assert {(row[\"machine\"], row[\"design\"]) for row in rows} == {(\"h200\", \"gpu-mmu-2m\")}, rows"'
run compare -w trace:h200/layer.pwt -m mosaic -m h200 --against none -q --json out.json
check 'with the machine among others there is nothing to say' succeeds
run advise -w trace:h200/layer.pwt -d uvm-nvidia --memory 80% --no-calls --json -
check 'advise takes the machine, and its own designs' eval 'succeeds && grep -q "\"machine\": \"h200\"" .stdout'

# Peak bandwidth of DRAM, as the data sheets have it.
peak() { # MACHINE GB/s
  "$pagewalk" show options -m "$1" --json - | python3 -c '
import json, sys
o = {option["name"]: option["value"] for option in json.load(sys.stdin)}
peak = int(o["dram.channels"]) * int(o["dram.bytes_per_clock"]) * int(o["dram.clock_mhz"]) / 1000
assert abs(peak / float(sys.argv[1]) - 1) < 0.002, peak' "$2"
}
for machine in a100:1555 h100:3352 h200:4800 rtx4090:1008; do
  check "${machine%:*} has the bandwidth of its data sheet" peak ${machine/:/ }
done
finish
