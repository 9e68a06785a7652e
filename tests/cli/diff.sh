#!/usr/bin/env bash
# pagewalk diff: 0 the same, 1 different, 2 no result.
source "$(dirname "$0")/tap.sh"

run run -w $small -d gpu-mmu --json a.json -q
run run -w $small -d gpu-mmu --json same.json -q
run run -w $small -d ideal-tlb --json ideal.json -q
run run -w $small -d gpu-mmu --set l1_tlb.base_entries=1 --json option.json -q

run diff a.json same.json
check 'equal results' eval 'succeeds && grep -q "^0 different" .stdout'
run diff a.json option.json
check 'an option that differs is shown' eval '[ "$code" = 1 ] && [ ! -s .stderr ] && grep -qE "^ *l1_tlb.base_entries +[0-9]+ +1$" .stdout'
run diff a.json ideal.json
check 'metrics that differ are shown with their change' eval \
  '[ "$code" = 1 ] && grep -qE "^ *design +gpu-mmu +ideal-tlb$" .stdout && grep -qE "^ *cycles .*%$" .stdout'
run diff --quiet a.json ideal.json
check '--quiet only sets the exit code' eval '[ "$code" = 1 ] && [ ! -s .stdout ]'
"$pagewalk" diff a.json ideal.json >/dev/full 2>.stderr
code=$? && : >.stdout
check 'a full disk fails' is_error 1 'standard output cannot be written'

run run -w $small -d gpu-mmu --warmup 100 --json warm.json -q
run diff a.json warm.json
check 'a warm-up that differs is shown' eval '[ "$code" = 1 ] && grep -qE "^ *warmup +0 +100$" .stdout'
run diff a.json same.json option.json ideal.json
check 'any number of files, a column each' eval \
  '[ "$code" = 1 ] && grep -qE "^ *A +B +change +C +change +D +change$" .stdout && grep -qE "^ *cycles +[0-9,]+ +[0-9,]+ += +[0-9,]+ +[^ ]+ +[0-9,]+ +-[0-9.]+%$" .stdout'
check 'numbers are short and grouped' eval '! grep -qE "[0-9]{5}|\.[0-9]{4}" <(grep -vE "^[A-D] |^ *core_version" .stdout)'
check 'the command of each file is shown' grep -qF 'D  ideal.json: pagewalk run -w vecadd:ctas=4:iterations=1 -d ideal-tlb --json ideal.json -q' .stdout
sed '/^  "made": {/,/^  },/d' a.json >old.json
run diff old.json same.json
check 'a result without "made" is read' eval '[ "$code" = 0 ] && grep -q "^0 different" .stdout'

fails 'one file' 2 'diff takes two or more result files, not 1' diff a.json
fails 'missing file' 2 'missing.json: cannot be read' diff a.json missing.json
mkdir folder
fails 'folder' 2 'folder: cannot be read' diff folder a.json
echo 'garbage' >garbage.json
fails 'no JSON' 2 'garbage.json:1: is not JSON' diff a.json garbage.json
: >empty.json
fails 'empty file' 2 'empty.json:1: is not JSON' diff empty.json a.json
head -c 700 a.json >cut.json
fails 'file that was cut off' 2 'cut.json:[0-9]+: is not JSON' diff a.json cut.json
echo '{"schema": 1}' >little.json
fails 'JSON that is no result' 2 'little.json: is no result' diff a.json little.json
sed 's/"schema": 2/"schema": 3/' a.json >newer.json
fails 'another schema' 2 'newer.json: has schema 3; this version reads schemas 1 and 2' diff newer.json a.json
sed 's/"metrics": {/"metrics": {"gpu0.x": "text",/' a.json >text.json
fails 'text for a metric' 2 'text.json: a member of "metrics" is no number' diff a.json text.json
head -c 1000000 /dev/zero | tr '\0' '[' >deep.json
fails 'deep nesting' 2 'deep.json:1: is not JSON' diff a.json deep.json
finish
