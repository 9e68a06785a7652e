#!/usr/bin/env bash
# Nobody changes how a claim is measured or judged without a row in the ledger, data/readings.csv.
source "$(dirname "$0")/tap.sh"

check 'figures measure every claim as the ledger says (scripts/readings --record keeps a change)' \
  "$source_root/scripts/readings" --check
check 'docs/claims.md lists the changed readings (scripts/readings rewrites it)' eval \
  '"$source_root/scripts/readings" --print >claims.md && diff claims.md "$source_root/docs/claims.md"'
check 'every claim of a figure has its sentence and its place' python3 - "$source_root" <<'PYTHON'
import csv, pathlib, sys
data = pathlib.Path(sys.argv[1]) / "data"
sentences = {row["id"]: row for file in (data / "claims").glob("*.csv")
             for row in csv.DictReader(open(file, newline="")) if "claim" in row}
with open(data / "readings.csv", newline="") as file:
    for row in csv.DictReader(file):
        assert sentences[row["id"]]["claim"] and sentences[row["id"]]["where"], row["id"]
PYTHON

# A copy of what the script reads, in which one thing is changed at a time.
fresh() {
  rm -rf tree
  mkdir -p tree/scripts tree/docs
  cp "$source_root"/scripts/{readings,reproduced.py,script.py} tree/scripts/
  cp "$source_root/docs/claims.md" tree/docs/
  cp -r "$source_root/experiments" "$source_root/data" tree/
}

# differs REGEX: the copy's check fails and says which claim it is.
differs() {
  tree/scripts/readings --check >said 2>&1 && { echo 'the check passes'; return 1; }
  grep -qE -- "$1" said || { cat said; return 1; }
}

read_otherwise() {
  sed -i '/^  mosaic-fig03-4k-loss: /s|mean|max|' tree/experiments/mosaic/fig03.yaml
}

fresh
read_otherwise
check 'another expression is found' differs '^mosaic-fig03-4k-loss \(mosaic/fig03\) is measured as'
fresh
sed -i 's|^  warps: .*|  warps: walk.warps_stalled_max|' tree/experiments/mosaic/fig03.yaml
check 'another measure in the same expression is found' differs '^mosaic-fig03-warps-stalled \(.*\) is measured as'
check '... and only where it is used' eval '! grep -q "^mosaic-fig03-4k-loss" said'
fresh
sed -i '/^uvm-fig10-corr,/s/>=0.8/>0/' tree/data/claims/uvm.csv
check 'another rule is found' differs "^uvm-fig10-corr \(.*\) is judged by 'bound >0 correlation', not by 'bound >=0.8 "
fresh
sed -i '/^  mosaic-fig08-avg: /d' tree/experiments/mosaic/fig08.yaml
check 'a claim that a figure no longer decides is found' differs '^mosaic-fig08-avg \(mosaic/fig08\) is measured as$'
fresh
sed -i 's|^  mosaic-fig08-avg: |  mosaic-sec1-enmasse: min(ws@4k)\n&|' tree/experiments/mosaic/fig08.yaml
check 'a claim without a row is found' differs '^mosaic-sec1-enmasse \(mosaic/fig08\) is not in the ledger'
fresh
sed -i '/^mosaic-fig03-missrate-drop,.*9abf3df/s/,2026-11-15,/,2025-11-15,/' tree/data/readings.csv
check 'rows are in the order of their dates' differs 'mosaic-fig03-missrate-drop: is older than the row before it'

fresh
read_otherwise
tree/scripts/readings --record 'To see it.' >/dev/null
check 'a change that is recorded passes' tree/scripts/readings --check
check '... and the page names it' eval 'tree/scripts/readings --print |
  grep -qE "^\| .mosaic-fig03-4k-loss. \| 20[0-9-]+ \| not run \| not run \| To see it\. \|$"'
check '... and the row before it stays' eval '[ "$(grep -c "^mosaic-fig03-4k-loss," tree/data/readings.csv)" = 2 ]'
finish
