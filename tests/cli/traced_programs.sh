#!/usr/bin/env bash
# The sample traces: their size, and that each runs under the designs of every paper.
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

runs_on() { # TRACE MACHINE DESIGN
  run run -q -m "$2" -d "$3" -w "trace:$1" --json result.json
  succeeds && python3 - result.json "$info" <<'PYTHON'
import json, sys
result, info = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
assert result["apps"][0]["warp_instructions"] == info["warp_instructions"], result["apps"]
assert result["identities"] and all(i["holds"] for i in result["identities"])
PYTHON
}
info=info.json
for trace in "$source_root"/examples/traces/*.pwt; do
  name=$(basename "$trace" .pwt)
  run trace info "$trace" --json --check
  cp .stdout info.json
  check "$name: every byte is as it was written" succeeds
  for design in gpu-mmu gpu-mmu-2m ideal-tlb mosaic mask compress range-tlb static; do
    check "$name runs under $design" runs_on "$trace" mosaic $design
  done
  check "$name runs under uvm-nvidia" runs_on "$trace" pascal uvm-nvidia
  for design in distributed centralized bypass; do
    check "$name runs under $design" runs_on "$trace" mgpu4 $design
  done
done
finish
