#!/usr/bin/env bash
# docs/silicon.md is what its script makes of what is recorded, and the four programs with counters still run as recorded.
source "$(dirname "$0")/tap.sh"

check 'the page is what the script writes, and the programs do what is recorded' \
  "$source_root/scripts/silicon" --check "$pagewalk"
check 'no time is further off than 20%, and no hit rate of a program than 5 points' python3 - "$source_root" <<'PYTHON'
import csv, sys
def rows(path): return list(csv.DictReader(open(f"{sys.argv[1]}/data/{path}")))
ours = {(r["program"], r["launch"]): r for r in rows("silicon.csv")}
sums, errors = {}, []
for real in rows("hw/h200-programs.csv"):
    mine = ours[real["program"], real["launch"]]
    errors.append(abs(int(mine["ns"]) / int(real["ns"]) - 1))
    for side, row in (("real", real), ("mine", mine)):
        for name in ("l1_load_sectors", "l1_load_hits", "l2_read_sectors", "l2_read_hits"):
            key = real["program"], side, name
            sums[key] = sums.get(key, 0) + int(row[name])
assert max(errors) < 0.2 and sum(errors) / len(errors) < 0.12, (max(errors), sum(errors) / len(errors))
for program in {key[0] for key in sums}:
    for hits, sectors in (("l1_load_hits", "l1_load_sectors"), ("l2_read_hits", "l2_read_sectors")):
        real, mine = (100 * sums[program, side, hits] / sums[program, side, sectors] for side in ("real", "mine"))
        assert abs(real - mine) < 5, (program, hits, real, mine)
PYTHON
cp "$source_root/data/silicon.csv" was.csv
check 'another machine is not recorded' eval \
  '! "$source_root/scripts/silicon" --record --set l2.halves=off "$pagewalk" 2>said.txt && grep -q "not kept" said.txt &&
   cmp was.csv "$source_root/data/silicon.csv"'
finish
