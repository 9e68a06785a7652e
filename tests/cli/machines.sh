#!/usr/bin/env bash
# Machines and designs of one's own: from a base, joined with '+', shown, and what is said of their guesses.
source "$(dirname "$0")/tap.sh"

# option FILE NAME: its value in a result.
option() {
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["options"][sys.argv[2]])' "$1" "$2"
}

printf 'l2_tlb:\n  base_entries: 1024\n' >mine.yaml
printf 'base: volta\nl2_tlb:\n  base_entries: 1024\n' >based.yaml
printf 'base: gpu-mmu\npage:\n  size: 64KB\n' >my.yaml

for machine in volta+mine.yaml based.yaml ./based.yaml volta+based.yaml; do
  run run -m $machine -w $small --json out.json -q
  check "$machine is volta with one change" eval \
    'succeeds && [ "$(option out.json l2_tlb.base_entries) $(option out.json sm.count)" = "1024 80" ]'
done
for design in gpu-mmu+./my.yaml my.yaml+gpu-mmu my.yaml; do
  run run -d $design -w $small --json out.json -q
  check "$design has 64 KB pages and the rest of gpu-mmu" eval \
    'succeeds && [ "$(option out.json page.size) $(option out.json page.frames)" = "64KB first-free" ]'
done
echo 'base: nowhere.yaml' >none.yaml
fails 'a base that is not there' 2 'none.yaml:1: base: nowhere.yaml: cannot be opened' run -m none.yaml -w $small
echo 'base: vlta' >near.yaml
fails 'a base that is misspelt' 2 "near.yaml:1: base: unknown machine 'vlta'; did you mean 'volta'" run -m near.yaml -w $small
echo 'base: loop.yaml' >loop.yaml
fails 'a base of its own' 2 "loop.yaml:1: base: 'loop.yaml' is based on itself" show machine loop.yaml
fails 'a misspelt machine after a plus' 2 "unknown machine 'kepple'; did you mean 'kepler'" run -m volta+kepple -w $small

run show machine volta
check 'show machine prints the file' eval 'succeeds && cmp .stdout "$source_root/configs/machines/volta.yaml"'
run show design gpu-mmu
cp .stdout gpu-mmu.yaml
check 'a design with a base is shown merged, and can be given back' eval 'succeeds && grep -qE "^  size: 4KB +# configs/designs/4k-pages.yaml:3$" .stdout &&
  "$pagewalk" run -q -w $small -d ./gpu-mmu.yaml --json a.json && "$pagewalk" run -q -w $small -d gpu-mmu --json b.json &&
  "$pagewalk" diff a.json b.json | grep -q "^1 different"' # its name
run show design baseline
check 'show design takes an alias' eval 'succeeds && diff <(tail -n +2 gpu-mmu.yaml) <(tail -n +2 .stdout)'
run show machine mine.yaml
check 'show machine prints a file of the user' eval 'succeeds && cmp .stdout mine.yaml'
run show machine volta+mine.yaml
check 'what is merged says where each value comes from' eval \
  'succeeds && grep -qE "^  base_entries: 1024 +# mine.yaml:2$" .stdout && grep -qE "^  count: 80 +# configs/machines/volta.yaml:[0-9]+$" .stdout'
# What it prints is a machine again, with the same options.
for machine in volta+mine.yaml pascal+mine.yaml mosaic+h200 based.yaml; do
  run show machine $machine
  cp .stdout again.yaml
  run show options -m $machine --json -
  cp .stdout expected.json
  run show options -m again.yaml --json -
  check "show machine $machine can be given back" python3 - expected.json .stdout <<'PYTHON'
import json, sys
a, b = ({o["name"]: o["value"] for o in json.load(open(path))} for path in sys.argv[1:])
assert a and a == b, {k: (a[k], b[k]) for k in a if a[k] != b[k]}
PYTHON
done
run show design my.yaml+uvm-nvidia
check 'designs are merged too' eval \
  'succeeds && grep -qE "^  size: 64KB +# my.yaml:3$" .stdout && grep -qE "^  prefetch: nvidia +# configs/designs/uvm-nvidia.yaml" .stdout'

run show options -m volta+mine.yaml -d ideal-tlb --set sm.count=3
check 'show options says who set each' eval 'succeeds &&
  grep -qE "^l2_tlb.base_entries +1024 +entries +mine.yaml:2$" .stdout && grep -qE "^sm.count +3 +SMs +--set$" .stdout &&
  grep -qE "^page.size .*configs/designs/4k-pages.yaml:[0-9]+$" .stdout && grep -qE "^sm.serial .*default$" .stdout'
run show options --json -
check 'show options --json' eval 'succeeds && is_json .stdout'
fails 'show without a kind' 2 'show takes machine NAME, design NAME or options' show
fails 'show of a misspelt kind' 2 'unknown kind "machnie"; did you mean "machine"' show machnie volta
fails 'show of a misspelt machine' 2 "unknown machine 'vlta'; did you mean 'volta'" show machine vlta
fails 'show of a misspelt design' 2 "unknown design 'gpu-mmo'; did you mean 'gpu-mmu'" show design gpu-mmo
fails 'show machine without a name' 2 'show machine takes one name, not 0' show machine
fails 'show options with a name' 2 'show options takes no "volta"; a machine is given with -m' show options volta
fails 'show machine with a flag' 2 'they belong to `show options`' show machine volta --json -
fails 'show options with a mistake' 2 "unknown option 'sm.cuont'" show options --set sm.cuont=1

run list machines --long
check 'list machines says that the TLBs of volta are not a real card'"'"'s' grep -qE "^volta .*TLBs and page walkers .*not a real V100's" .stdout
COLUMNS=400 run run -m volta+mine.yaml -w $small
check 'so does the head of a result' grep -qE "^note: TLBs and page walkers .*not a real V100's" .stdout
run run -m mosaic -w $small
check 'a machine as its paper has it needs no note' eval '! grep -q "^note:" .stdout'
run run -m mine.yaml -w $small
check 'a machine without a base says that the rest are defaults' grep -qE '^note: mine.yaml has no base' .stdout

COLUMNS=400 run run -w $small --warmup 100 --set l2_tlb.mshrs=64 --all --json out.json
check 'the head of a result says how it was made' eval 'succeeds &&
  grep -qE "^machine mosaic, design gpu-mmu, seed 1, pagewalk [0-9.]+\+[0-9a-f]{12}$" .stdout &&
  grep -qxF "command: pagewalk run -w $small --warmup 100 --set l2_tlb.mshrs=64 --all --json out.json" .stdout &&
  grep -qxF "metrics leave out the first 100 cycles (--warmup)" .stdout'
check 'so does the JSON' python3 - out.json "$pagewalk" <<'PYTHON'
import json, subprocess, sys
result = json.load(open(sys.argv[1]))
version = subprocess.check_output([sys.argv[2], "--version"], text=True).split()[1]
assert result["made"] == {"core_version": version, "warmup": 100, "kernels": "all", "interval": 0, "alone": False, "breakdown": False}
assert result["host"]["command"].startswith("pagewalk run -w vecadd"), result["host"]
PYTHON
for entries in 64 128; do
  run run -w $small --set l2_tlb.base_entries=$entries --csv -
  cat .stdout >>sweep.csv
done
check 'rows of a loop over --set can be told apart' python3 - sweep.csv <<'PYTHON'
import csv, sys
runs = {row["run"] for row in csv.DictReader(open(sys.argv[1])) if row["run"] != "run"}
assert runs == {f"mosaic/gpu-mmu/vecadd:ctas=4:iterations=1/1/l2_tlb.base_entries={n}" for n in (64, 128)}, runs
PYTHON
finish
