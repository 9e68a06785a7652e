#!/usr/bin/env bash
# The table of a run: a summary on one screen, under --all every metric.
source "$(dirname "$0")/tap.sh"
unset COLUMNS

# A heading and its rows, no line wider than 80 columns, no row of nothing but zeros, none twice, none without a number.
readable() { # MOST-LINES
  python3 - "$1" <<'PYTHON'
import re, sys
lines = open(".stdout", encoding="utf-8").read().splitlines()
assert len(lines) <= int(sys.argv[1]), (len(lines), lines)
assert all(len(line) <= 80 and line == line.rstrip() for line in lines), [line for line in lines if len(line) > 80]
assert not any(a == b == "" for a, b in zip(lines, lines[1:])), "two empty lines"
text = "\n".join(lines)
assert "identities" not in text and "cost." not in text and "command:" not in text
rows = [re.split(r"  +", line.strip()) for line in text[text.index("Cost of translation"):].splitlines() if line.startswith("  ")]
labels = [row[0] for row in rows]
assert len(rows) >= 4 and len(set(labels)) == len(labels), labels
for row in rows:
    numbers = [float(n.split()[0].replace(",", "")) for n in row[1:] if re.match(r"-?[\d,.]+", n)]
    assert numbers and any(numbers), row
    assert not any(re.match(r"[\w]+\.[\w.]+$", cell) for cell in row[:1]), ("a name of a metric", row)
PYTHON
}
# brief LINES ARGUMENTS...: the run's table has at most so many lines.
brief() {
  local most=$1
  shift
  COLUMNS=80 run run "$@"
  check "at most $most lines: $*" eval "succeeds && readable $most"
}
# has LABEL...: rows of the last table
has() {
  for label in "$@"; do grep -qE "^  $label +[0-9]" .stdout || { echo "no row: $label"; return 1; }; done
}

brief 40 -m mosaic -d gpu-mmu -w HS
check 'the first run says what translation did' has 'L1 TLB hit rate' 'L2 TLB hit rate' 'page walks' 'time of a page walk' \
  'DRAM traffic' 'memory touched'
brief 40 -m mask -d mask -w HS:scale=0.1,MM:scale=0.1 --alone
check 'applications have a column each, and a bypass cache its row' eval \
  'has "L2 TLB hits in the bypass cache" && grep -qE "^ +all +app0 +app1$" .stdout && grep -q "weighted speedup" .stdout'
brief 40 -m pascal -d uvm-tbn-tbn -w nw:length=512 --set uvm.oversubscription=110
check 'demand paging says what moved' has 'far faults' 'time of a far fault' 'pages moved to the GPU' 'of which prefetched' \
  'pages evicted' 'evicted pages that came back' 'from the host over the link' 'to the host over the link'
check 'a machine without an L2 TLB has no row for it' eval '! grep -q "L2 TLB" .stdout'
brief 40 -m mgpu4 -d bypass -w stencil2d:scale=0.1
check 'several GPUs are their sum' eval \
  'has "lines read from another GPU.s memory" "sent between GPUs, and to the host" && grep -qE "^ +all GPUs$" .stdout'
brief 40 -m kepler -d compress -w page_rank:scale=0.1
check 'a compressed TLB says how much it compressed' has 'L2 TLB fills that were compressed' 'storage that the design adds'
brief 40 -d mosaic -w MUM:scale=0.1
check 'large pages are counted' has 'large pages made of small ones'
brief 40 -d gpu-mmu -w $small
check 'a table names the flags that show more' grep -qx 'Every metric: --all. Kernels: --by-kernel. Where warps wait: --breakdown.' .stdout
run run -w $small --by-kernel --breakdown
check 'those that it was made with are left out' grep -qx 'Every metric: --all.' .stdout
run run -m pascal -d uvm-tbn-tbn -w $small,$small --set uvm.oversubscription=150 --json parts.json
check 'bytes over the link are those of each application' python3 - parts.json <<'PYTHON'
import json, re, sys
value = json.load(open(sys.argv[1]))["metrics"]
for label, name in (("from the host", "h2d"), ("to the host", "d2h")):
    row = re.search(rf"^  {label} over the link +(\S+) KiB +(\S+) KiB +(\S+) KiB$", open(".stdout").read(), re.M)
    parts = [value[f"app{app}.uvm.bytes_{name}"] / 1024 for app in (0, 1)]
    assert parts[0] > 0 and parts[1] > 0, parts
    assert [float(number) for number in row.groups()] == [sum(parts), *parts], (row.groups(), parts)
PYTHON
run run -m pascal -d uvm-tbn-tbn -w $small --set uvm.oversubscription=150 --kernels 1
check 'of a part of a run it does not say what was allocated' eval 'grep -q "^device memory: " .stdout && ! grep -q "allocated)" .stdout'
brief 40 -m h200 -d uvm-nvidia -w nw:length=512 --set uvm.oversubscription=150
COLUMNS=80 run run -m mask -d gpu-mmu -w HS:scale=0.05,MM:scale=0.05,HISTO:scale=0.05 --alone
check 'three applications, whose labels are wrapped' eval 'succeeds && [ "$(wc -l <.stdout)" -le 40 ]'
brief 40 -d ideal-tlb -w $small

run run -m mgpu4 -d bypass -w stencil2d:scale=0.1 --json several.json
check 'numbers are those of the JSON' python3 - several.json <<'PYTHON'
import json, re, sys
result = json.load(open(sys.argv[1]))
value = lambda name: result["metrics"]["gpus." + name]
rows = {m[1]: float(m[2].replace(",", "")) for m in re.finditer(r"^  (\S.*?)  +([\d,.]+)", open(".stdout").read(), re.M)}
near = lambda label, number: abs(rows[label] - number) <= 0.005 * max(1, abs(number)) or sys.exit(f"{label}: {rows[label]}, not {number}")
near("L1 TLB hit rate", 100 * value("l1_tlb.hits") / value("l1_tlb.lookups"))
near("L2 TLB misses per 1,000 instructions", 1000 * value("l2_tlb.misses") / value("sm.issued"))
near("page walks", value("walk.count"))
near("translations of pages of another GPU", 100 - value("route.local_share"))
near("cycles in which no warp could issue", 100 * value("sm.stall_cycles") / value("sm.resident_cycles"))
near("sent between GPUs, and to the host", value("fabric.bytes") / 2**20)
PYTHON
run run -m pascal -d uvm-tbn-tbn -w nw:length=512 --set uvm.oversubscription=110 --all --json all.json
check '--all has every metric of the units that did something, and the arrays' python3 - all.json <<'PYTHON'
import json, sys
text = open(".stdout", encoding="utf-8").read()
names = {name.split(".", 1)[1] for name in json.load(open(sys.argv[1]))["metrics"] if name.startswith("gpu0.")}
left_out = {name for name in names if f"\n  {name} " not in text}
assert {name.split(".")[0] for name in left_out} <= {"warp", "l2_tlb", "pwc", "page"}, left_out
assert "identities hold" in text and "command: pagewalk run" in text and "\nAllocations" in text and len(names) > 100
PYTHON
run run -w $small --verify
check 'a check of the result is said without --all' grep -qE '^[0-9]+ checks? of the workload.s result holds?$' .stdout
finish
