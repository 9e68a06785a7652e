#!/usr/bin/env bash
# docs/silicon.md is what its script makes of what is recorded, and the four programs with counters still run as recorded.
source "$(dirname "$0")/tap.sh"

check 'the page is what the script writes, and the programs do what is recorded' \
  "$source_root/scripts/silicon" --check "$pagewalk"
check 'times and traffic are as near to the GPU as docs/silicon.md says' python3 - "$source_root" <<'PYTHON'
import csv, sys
def rows(path): return list(csv.DictReader(open(f"{sys.argv[1]}/data/{path}")))
ours = {(r["program"], r["launch"]): r for r in rows("silicon.csv")}
sums, errors = {}, {}
for real in rows("hw/h200-programs.csv"):
    mine = ours[real["program"], real["launch"]]
    errors.setdefault(real["program"], []).append(abs(int(mine["ns"]) / int(real["ns"]) - 1))
    for side, row in (("real", real), ("mine", mine)):
        for name in ("l1_load_sectors", "l1_load_hits", "l2_read_sectors", "l2_read_hits", "dram_read_bytes",
                     "dram_write_bytes"):
            key = real["program"], side, name
            sums[key] = sums.get(key, 0) + int(row[name])
for program, of_launches in errors.items():
    assert max(of_launches) < 0.25 and sum(of_launches) / len(of_launches) < 0.12, (program, of_launches)
    for hits, sectors, points in (("l1_load_hits", "l1_load_sectors", 1), ("l2_read_hits", "l2_read_sectors", 8)):
        real, mine = (100 * sums[program, side, hits] / sums[program, side, sectors] for side in ("real", "mine"))
        assert abs(real - mine) < points, (program, hits, real, mine)
real, mine = (sum(sums["pathfinder", side, f"dram_{what}_bytes"] for what in ("read", "write")) for side in ("real", "mine"))
assert abs(mine / real - 1) < 0.1, (real, mine)
PYTHON
cp "$source_root/data/silicon.csv" was.csv
check 'another machine is not recorded' eval \
  '! "$source_root/scripts/silicon" --record --set l2.halves=off "$pagewalk" 2>said.txt && grep -q "not kept" said.txt &&
   cmp was.csv "$source_root/data/silicon.csv"'

# refused TEXT LINES...: scripts/blind-check on a file of these lines ends with one that has the text.
refused() {
  local text=$1
  shift
  printf '%s\n' "$@" >counted.csv
  "$source_root/scripts/blind-check" counted.csv "$pagewalk" >out.txt 2>said.txt && return 1
  [ ! -s out.txt ] && [ "$(wc -l <said.txt)" = 1 ] && grep -qF -- "$text" said.txt || { cat out.txt said.txt; return 1; }
}
check 'blind-check names a missing column' refused 'no columns program, launch and ns' program,launch vecadd,0
check 'blind-check names a program that is not there' refused 'no CUDA program nosuch' program,launch,ns nosuch,0,5
check 'blind-check names what is no number' refused 'vecadd: launch = zero is no count' program,launch,ns vecadd,zero,5
check 'blind-check names a file without rows' refused 'has no such program' program,launch,ns
finish
