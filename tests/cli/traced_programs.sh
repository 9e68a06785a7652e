#!/usr/bin/env bash
# The sample traces: their size, what is said of them, and that they are recorded anew as they were. That each runs under
# every design is shown by sample_trace.sh.
source "$(dirname "$0")/tap.sh"

check 'docs/traced-programs.md is what was measured (scripts/traced-programs rewrites it)' eval \
  '"$source_root/scripts/traced-programs" --print >page.md && diff page.md "$source_root/docs/traced-programs.md"'
check 'docs/traced-programs.md is about the traces that there are' python3 - "$source_root" <<'PYTHON'
import json, pathlib, sys
root = pathlib.Path(sys.argv[1])
kept = json.loads((root / "data/traced-programs.json").read_text())["traces"]
files = {path.stem: path.stat().st_size for path in (root / "examples/traces").glob("*.pwt")}
assert files and {name: entry["file_bytes"] for name, entry in kept.items()} == files, files
assert all(size < 2_000_000 for size in files.values()), files
PYTHON
check 'every sample trace is tested' python3 - "$source_root" <<'PYTHON'
import pathlib, re, sys
root = pathlib.Path(sys.argv[1])
tested = re.search(r"foreach trace : \[(.*?)\]", (root / "tests/cli/meson.build").read_text(), re.S)[1]
assert set(re.findall(r"'(.*?)'", tested)) == {path.stem for path in (root / "examples/traces").glob("*.pwt")}, tested
PYTHON

samples=$source_root/scripts/sample-traces
check 'scripts/sample-traces names the samples when there is no such one' eval \
  '! "$samples" --only nosuch 2>err && grep -q "no sample nosuch; there are: vecadd .*paged-attention" err'
export BUILD=$work/build
nvcc=${CUDA:-/usr/local/cuda}/bin/nvcc
if [ ! -x "$nvcc" ]; then
  echo "ok $((tests += 1)) - samples are recorded anew # SKIP there is no nvcc"
  finish
fi
check 'samples are recorded' "$samples" --into first --only vecadd,paged-attention
check 'a second time as the same bytes' eval '"$samples" --into second --only vecadd,paged-attention && diff -r first second'
# Other versions of nvcc may compile the programs to other code.
if "$nvcc" --version | grep -q 'release 13\.0,'; then
  same_as_kept() {
    for file in first/*; do
      cmp "$file" "$source_root/examples/traces/${file#first/}" || return 1
    done
  }
  check 'those of examples/traces are the same' same_as_kept
fi
finish
