#!/usr/bin/env bash
# One of the sample traces, the second argument, under every design that there is: the run ends, has as many
# instructions as the trace, and its identities hold. Designs for demand paging run with more data than device memory,
# those for several GPUs on four.
source "$(dirname "$0")/tap.sh"
trace=$source_root/examples/traces/$2.pwt

run trace info "$trace" --json - --check
cp .stdout info.json
check "$2: every byte is as it was written" succeeds

runs_under() { # DESIGN
  local machine=(-m mosaic)
  case $1 in
  uvm-*) machine=(-m pascal --set uvm.oversubscription=125) ;;
  bypass | centralized | distributed | route-ideal) machine=(-m mgpu4) ;;
  esac
  run run -q "${machine[@]}" -d "$1" -w "trace:$trace" --json result.json
  succeeds && python3 - <<'PYTHON'
import json
result, info = json.load(open("result.json")), json.load(open("info.json"))
assert result["apps"][0]["warp_instructions"] == info["warp_instructions"], result["apps"]
assert result["identities"] and all(i["holds"] for i in result["identities"])
PYTHON
}
run list designs --json -
python3 -c 'import json; print(*(design["name"] for design in json.load(open(".stdout"))), sep="\n")' >designs
check 'there are designs' grep -qx uvm-tbn-tbn designs
while read -r design; do
  check "$2 runs under $design" runs_under "$design" </dev/null
done <designs
finish
