#!/usr/bin/env bash
# pagewalk touch: what a real GPU did, the examples of its page, output, and mistakes.
source "$(dirname "$0")/tap.sh"
examples=$source_root/examples/touches

check 'every case of data/hw/h200-touches.csv and data/hw/h200-allocations.csv comes out as on the GPU' \
  python3 - "$source_root" "$pagewalk" <<'PYTHON'
import csv, itertools, pathlib, subprocess, sys
hw = pathlib.Path(sys.argv[1]) / "data/hw"
cases = []
for name, rows in itertools.groupby(csv.DictReader(open(hw / "h200-touches.csv")), lambda r: r["case"]):
    rows = list(rows)
    lines = [f"alloc a {rows[0]['bytes']}"] + [f"{('read', 'write')[int(r['write'])]} a {r['page']}" for r in rows]
    cases.append((name, lines, [r["fault"] for r in rows]))
for name, rows in itertools.groupby(csv.DictReader(open(hw / "h200-allocations.csv")), lambda r: r["case"]):
    rows = list(rows)
    cases.append((name, [f"{r['op']} {r['name']} {r['value']}" for r in rows], [r["fault"] for r in rows if r["fault"]]))
touches = 0
for name, lines, faults in cases:
    out = subprocess.run([sys.argv[2], "touch", "-", "-d", "uvm-nvidia"], input="\n".join(lines) + "\n", text=True,
                         capture_output=True, check=True).stdout
    got = [str(int(row["result"] == "fault")) for row in csv.DictReader(out.splitlines())]
    assert got == faults, (name, [i for i, (a, b) in enumerate(zip(got, faults)) if a != b])
    touches += len(faults)
assert len(cases) == 18 + 78 and touches > 6000, (len(cases), touches)
PYTHON
check 'the tree of the paper does not come out as the GPU everywhere' python3 - "$source_root" "$pagewalk" <<'PYTHON'
import csv, subprocess, sys
rows = [r for r in csv.DictReader(open(sys.argv[1] + "/data/hw/h200-touches.csv")) if r["case"] == "rand_4M192K"]
text = f"alloc a {rows[0]['bytes']}\n" + "".join(f"read a {r['page']}\n" for r in rows)
out = subprocess.run([sys.argv[2], "touch", "-", "-d", "uvm-tbn-lru4k"], input=text, text=True, capture_output=True,
                     check=True).stdout
got = [str(int(row["result"] == "fault")) for row in csv.DictReader(out.splitlines())]
assert 0 < sum(a != r["fault"] for a, r in zip(got, rows)) < len(rows) / 5
PYTHON
check 'the examples of docs/touch.md are what the program prints' python3 - "$source_root" "$pagewalk" <<'PYTHON'
import os, re, subprocess, sys
os.chdir(sys.argv[1])
examples = re.findall(r"```\n\$ pagewalk (touch .*)\n((?:.*\n)+?)```", open("docs/touch.md").read())
assert len(examples) >= 3, examples
for command, expected in examples:
    out = subprocess.run([sys.argv[2], *command.split()], capture_output=True, text=True, check=True).stdout
    assert out == expected, (command, out)
PYTHON

run touch "$examples/tree.touch"
cp .stdout tree.csv
check 'h200 and uvm-nvidia are meant unless others are named' eval 'succeeds && [ -s tree.csv ]'
run touch "$examples/tree.touch" -m h200 -d uvm-nvidia --memory 1GB --seed 7
check 'memory that is never full and the seed change nothing' cmp tree.csv .stdout
run touch - <"$examples/tree.touch"
check 'standard input does as well' cmp tree.csv .stdout
"$pagewalk" touch <(cat "$examples/tree.touch") >.stdout 2>.stderr
check 'a pipe does as well' cmp tree.csv .stdout
run touch "$examples/tree.touch" --csv out.csv
check '--csv writes the rows to a file' eval 'succeeds && [ ! -s .stdout ] && cmp tree.csv out.csv'
run touch "$examples/oversubscribed.touch" --memory 4M
cp .stdout memory.csv
run touch "$examples/oversubscribed.touch" --set uvm.memory=4MB
check '--memory is uvm.memory' eval 'succeeds && cmp memory.csv .stdout && grep -q ,512$ memory.csv'
for design in uvm-none-lru4k uvm-sl-sl uvm-tbn-tbn uvm-random-random uvm-tbn-lru2m; do
  run touch "$examples/oversubscribed.touch" -d $design --memory 64KB
  check "$design touches each page once per line" eval 'succeeds && [ "$(wc -l <.stdout)" = 16 ]'
done
python3 - >large.touch <<'PYTHON'
print("alloc a 64GB")
for i in range(300000):
    print("read a", i * 7919 % (1 << 24))
PYTHON
run touch large.touch --memory 16GB
check 'a footprint of 64 GB with 16 GB of memory' eval 'succeeds && [ "$(wc -l <.stdout)" = 300001 ] && grep -q ",[1-9][0-9]*$" .stdout'
rm large.touch
printf 'alloc a,"b 4K\nread a,"b 0\n' >quoted.touch
run touch quoted.touch
check 'names are quoted where CSV needs it' grep -q '^0,"a,""b",0,read,fault,1,0$' .stdout
: >empty.touch
run touch empty.touch
check 'an empty file gives the header alone' eval 'succeeds && [ "$(cat .stdout)" = step,name,page,op,result,pages_in,pages_out ]'

mistake() {
  local name=$1 regex=$2
  printf "$3" >bad.touch
  fails "$name" 2 "$regex" touch bad.touch --csv never.csv
}
mistake 'unknown name' 'bad.touch:2: "b" is not allocated' 'alloc a 1\nread b 0\n'
mistake 'freed name' 'bad.touch:3: "a" was freed by line 2' 'alloc a 1\nfree a\nread a 0\n'
mistake 'page outside' 'bad.touch:2: page 1 is outside "a"' 'alloc a 4096\nread a 1\n'
mistake 'no bytes' 'bad.touch:1: allocation "a" has no bytes' 'alloc a 0\n'
mistake 'name twice' 'bad.touch:2: "a" is allocated already, by line 1' 'alloc a 1\nalloc a 1\n'
mistake 'unknown line' 'bad.touch:1: "touch" is unknown: a line is' 'touch a 1\n'
check 'a mistake leaves no file' only_files . bad.touch empty.touch memory.csv out.csv quoted.touch tree.csv
{ echo alloc a 4K; yes read a 0 | head -n 100000; echo read a 1; } >late.touch
fails 'a mistake at the end: nothing is printed before' 2 'late.touch:100002: page 1 is outside' touch late.touch
fails 'no file named' 2 'touch takes one FILE' touch
fails 'two files named' 2 'touch takes one FILE' touch a b
fails 'missing file' 2 'none.touch: cannot be read' touch none.touch
fails 'a folder' 2 'is a folder' touch .
fails 'a design without demand paging' 2 'gpu-mmu does not page on demand; use -d uvm-nvidia' touch empty.touch -d gpu-mmu
fails 'unknown design' 2 'did you mean .*uvm-nvidia' touch empty.touch -d uvm-nvida
fails 'memory that is no size' 2 '--memory: .*is not a size' touch empty.touch --memory much
fails 'memory below a page' 2 'must hold a page; set --memory to 4 KB' touch empty.touch --memory 4095
fails 'oversubscription without a workload' 2 'give device memory as --memory' touch empty.touch --set uvm.oversubscription=110
fails 'output into a folder that is not there' 2 'cannot be created' touch empty.touch --csv none/out.csv
if [ -e /dev/full ]; then
  "$pagewalk" touch "$examples/tree.touch" >/dev/full 2>.stderr
  code=$? && : >.stdout
  check 'a full disk is a failure' is_error 1 'standard output cannot be written'
fi
finish
