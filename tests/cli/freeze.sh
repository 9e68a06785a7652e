#!/usr/bin/env bash
# Machines, programs and their sizes are what docs/calibration.md has frozen, and the check that says so can fail.
source "$(dirname "$0")/tap.sh"
freeze=$source_root/scripts/freeze

check 'machines, programs and sizes are as frozen (a change needs a section in docs/calibration.md)' \
  "$freeze" --check "$pagewalk"

# A small repository to change things in: two machines, frozen as they are now.
mkdir -p root/configs/machines root/experiments root/data root/docs
cp -r "$source_root/configs/designs" root/configs
cp "$source_root"/configs/machines/{kepler,pascal}.yaml root/configs/machines
cp "$source_root/experiments/sizes.yaml" root/experiments
"$freeze" --root root "$pagewalk" >frozen.txt || exit 1
cp -r root/configs/machines root/experiments root/data/frozen.csv .

digest() {
  sha256sum <root/data/frozen.csv | cut -d' ' -f1
}

name_digest() {
  printf '## Frozen\n\nFreeze 1: %s\n' "$(digest)" >root/docs/calibration.md
}

# was MACHINE,OPTION: its value.
was() {
  sed -n "s/^$1,//p" frozen.csv
}

# Undoes all changes.
as_frozen() {
  rm -r root/configs/machines root/experiments
  cp -r machines root/configs
  cp -r experiments root
  cp frozen.csv root/data
  name_digest
}

# ask [FLAGS...]: the check's exit code is in $code, what it says in said.txt.
ask() {
  "$freeze" --check --root root "$@" "$pagewalk" >said.txt 2>&1
  code=$?
}

# answered CODE LINES
answered() {
  [ "$code $(wc -l <said.txt)" = "$1 $2" ] && return
  echo "exit code $code, expected $1; expected $2 lines:"
  cat said.txt
  return 1
}

says() {
  grep -qE -- "$1" said.txt || { echo "not said: $1"; cat said.txt; return 1; }
}

check 'a freeze prints the digest that the page has to name' grep -qF "$(digest)" frozen.txt
name_digest
mv root/docs/calibration.md other.md
ask --page other.md
check 'nothing has changed right after a freeze, by whichever page names it' answered 0 0
ask
check 'a missing page fails' eval 'answered 1 1 && says "^calibration.md is missing"'

as_frozen
sed -i '/^walk:/,/^$/s/latency: 500/latency: 400/' root/configs/machines/kepler.yaml
sed -i '/^  enabled: off/d' root/configs/machines/pascal.yaml
sed -i '0,/^  default:.*/s//  default: scale=0.7/; 0,/^  GUP:/{/^  GUP:/d}' root/experiments/sizes.yaml
sed -i 's/^workload,HS.side,.*/workload,HS.side,64/' root/data/frozen.csv
echo 'kepler,walk.no_such,7' >>root/data/frozen.csv
name_digest
ask
check 'a changed value of a machine fails' \
  says '^machine kepler: walk.latency is 400, was frozen as 500; see docs/calibration.md#frozen$'
check 'a choice of a machine that designs can override is frozen too' \
  says '^machine pascal: l2_tlb.enabled is on, was frozen as off;'
check 'a changed size of programs without one of their own fails' \
  says "^sizes: quick.HS is scale=0.7, was frozen as $(was sizes,quick.HS);"
check 'a size that is gone fails' says "^sizes: quick.GUP is scale=0.7, was frozen as $(was sizes,quick.GUP);"
check 'a changed default of a program fails' says '^workload: HS.side is [0-9]+, was frozen as 64;'
check 'an option that is gone fails' says '^machine kepler: walk.no_such is gone, was frozen as 7;'
check 'every difference has its line, and nothing else has one' \
  answered 1 $((4 + $(grep -cE "^sizes,quick\..*,($(was sizes,quick.default)|$(was sizes,quick.GUP))$" frozen.csv)))

as_frozen
rm root/configs/machines/pascal.yaml
ask
check 'every row of a machine that is gone fails' eval \
  'answered 1 "$(grep -c ^pascal, frozen.csv)" && says "^machine pascal: sm.count is gone, was frozen as 28;"'

as_frozen
sed -i '/,sm.serial,/d; /^workload,alu\./d; /^sizes,.*\.alu,/d' root/data/frozen.csv
name_digest
ask
check 'what is new since the freeze is allowed, and said' eval \
  'answered 0 2 && says "^new since the freeze: workload alu$" && says "^new since the freeze: option sm.serial$"'
sed -i 's/^sm:$/&\n  serial: on/' root/configs/machines/kepler.yaml
ask
check 'a frozen machine that sets a new option fails' eval \
  'answered 1 3 && says "^machine kepler: sm.serial is on, set in its file since the freeze;"'

as_frozen
sed -i '/,sm.serial,/d' root/data/frozen.csv
ask
check 'a row that is removed without a word fails, and the digest to name is said' eval \
  'answered 1 2 && says "needs a section in docs/calibration.md that says why, with this digest: $(digest)$"'
as_frozen
sed -i '$s/.$/x/' root/docs/calibration.md
ask
check 'a page with another digest fails' eval \
  'answered 1 1 && says "^no section of calibration.md names the SHA-256 of data/frozen.csv: "'
finish
