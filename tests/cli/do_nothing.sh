#!/usr/bin/env bash
# All of Mosaic's figures at quick size, without what Mosaic does: no claim about it may hold. Takes minutes, so
# scripts/test --full runs it; tests/golden/do_nothing.c does the same with one small program.
#   do_nothing.sh PROGRAM
source "$(dirname "$0")/tap.sh"

family='mosaic mosaic-no-cac mosaic-cac-bc mosaic-ideal-cac'
for design in $family; do
  printf 'base: %s\ncoalesce:\n  policy: none\n' "$design" >"no-$design.yaml" # its frames, and no large page of them
done

# reproduced NAME REPLACEMENT…: NAME.json from all figures.
reproduced() {
  local name=$1
  shift
  "$pagewalk" reproduce mosaic --quick --quiet --db figures.db --json "$name.json" "$@" >/dev/null
}
# How many claims about Mosaic (yes) or others (no) have the verdict.
claims() { # NAME yes|no VERDICT
  python3 - "$1.json" "$2" "$3" "$source_root/data/claims/mosaic.csv" <<'PYTHON'
import csv, json, sys
about = {row["id"]: "mosaic" in row["design"] for row in csv.DictReader(open(sys.argv[4], newline=""))}
found = [c["id"] for f in json.load(open(sys.argv[1])) for c in f["claims"]
         if about[c["id"]] == (sys.argv[2] == "yes") and c["verdict"] == sys.argv[3]]
print(len(found), *found)
PYTHON
}
none_holds() { claims "$1" yes holds | tee /dev/stderr | grep -q '^0'; }

check 'the figures as they are' reproduced mosaic
check 'some claims about Mosaic hold' eval '! none_holds mosaic'
baseline=$(for design in $family; do printf -- '--replace %s=gpu-mmu ' "$design"; done)
# shellcheck disable=SC2086
check 'the figures with the baseline in its place' reproduced baseline $baseline
check 'no claim about Mosaic holds with the baseline in its place' none_holds baseline
check 'and those about other designs are as they were' eval '[ "$(claims mosaic no holds)" = "$(claims baseline no holds)" ]'
mutants=$(for design in $family; do printf -- '--replace %s=./no-%s.yaml ' "$design" "$design"; done)
# shellcheck disable=SC2086
check 'the figures with nothing coalesced' reproduced mutant $mutants
check 'no claim about Mosaic holds where it coalesces nothing' none_holds mutant
check 'and those about other designs are as they were then too' eval '[ "$(claims mosaic no holds)" = "$(claims mutant no holds)" ]'
finish
