#!/usr/bin/env bash
# The recorder's command where nothing can be recorded: what it says, and its exit codes. Its second argument is the command.
capture=$(realpath "$2")
source "$(dirname "$0")/tap.sh"

# says CODE TEXT ARGUMENTS...: one line on standard error with TEXT, nothing on standard output, no file written.
says() {
  local expected=$1 text=$2
  shift 2
  "$capture" "$@" >.stdout 2>.stderr
  code=$?
  [ $code = "$expected" ] && [ ! -s .stdout ] && [ "$(wc -l <.stderr)" = 1 ] && grep -qF -- "$text" .stderr &&
    grep -q '^pagewalk-capture: ' .stderr && [ ! -e t.pwt ] && [ ! -e t.pwt.claim ]
}

check '--help lists every option' eval '"$capture" --help >help && for option in -o --kernels --skip --count --ctas \
  --paused --limit --ring --no-shared --compare; do grep -q -- "^  $option " help || exit 1; done'
check 'without a file nothing is done' says 2 'no file to write' -- true
check 'without a program nothing is done' says 2 'no program to record' -o t.pwt
check 'a rate is 1/N' says 2 "'3' is not 1/N" -o t.pwt --ctas 3 -- true
check 'an unknown option is named' says 2 'unknown option --kernel' -o t.pwt --kernel x -- true
check 'the library has to lie beside the command' says 1 'is not beside this program' -o t.pwt -- true
mkdir beside
cp "$capture" beside/
touch beside/libpagewalk-capture.so beside/pagewalk-capture.fatbin
capture=$work/beside/$(basename "$capture")
export PAGEWALK_SANITIZER=/nowhere
check 'the toolkit has to have the API' says 1 'no libsanitizer-public.so in /nowhere' -o t.pwt -- true
check 'the file has to be one that can be written' says 1 'nowhere/t.pwt.claim: cannot be created: No such file' -o nowhere/t.pwt -- true
check 'a program that fails is not recorded, with --compare' says 1 'fails without being recorded' -o t.pwt --compare -- false
packs() {
  mkdir -p packed/capture tools && cp "$source_root/capture/pack" packed/capture/
  for tool in bash dirname mkdir rm cp du grep gcc; do ln -sf "$(command -v $tool)" tools/; done
  PATH=$work/tools packed/capture/pack 2>.stderr
  [ $? = 1 ] && [ "$(cat .stderr)" = 'capture/pack: no make here' ] && [ -s packed/build-capture-pack/libzstd.so.1 ] &&
    [ -s packed/build-capture-pack/zstd.h ]
}
check 'pack says what is missing and packs the rest' packs
check 'measure and the samples are Python' python3 - "$source_root/capture" <<'PYTHON'
import ast, pathlib, sys
root = pathlib.Path(sys.argv[1])
files = [root / "measure", *(root / "samples").glob("*.py")]
assert len(files) > 5
for file in files:
    ast.parse(file.read_text())
samples = (root / "measure").read_text()
wrong = [f.name for f in files[1:] if f.name != "recording.py" and f'"{f.name}"' not in samples]
assert not wrong, wrong
programs = {f.stem for f in (root / "programs").glob("*.cu")}
asked = set(samples.split("PROGRAMS = [")[1].split("]")[0].replace('"', " ").replace(",", " ").split())
assert asked == programs, asked ^ programs
PYTHON
finish
