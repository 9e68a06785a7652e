#!/usr/bin/env bash
# The recordings of a real H200 (examples/traces/h200): what their README lists, what is in them, that each runs on the machine
# that it was recorded on, and what capture/README.md shows of one.
source "$(dirname "$0")/tap.sh"
traces=$source_root/examples/traces/h200

check 'the README has a row for each recording, and each is small' python3 - "$traces" <<'PYTHON'
import pathlib, re, sys
folder = pathlib.Path(sys.argv[1])
sizes = {file.stem: file.stat().st_size for file in folder.glob("*.pwt")}
listed = re.findall(r"^\| `([\w-]+)` \|", (folder / "README.md").read_text(), re.M)
assert sorted(listed) == sorted(sizes), (listed, sizes)
assert all(size < 2_000_000 for size in sizes.values()), sizes
PYTHON

# recorded NAME: of the H200, by the sample that the README says, and with no path of the machine in it.
recorded() {
  python3 - "$traces/README.md" "$1" <<'PYTHON'
import json, re, sys
readme, name = open(sys.argv[1]).read(), sys.argv[2]
text = open(".stdout").read()
info = json.loads(text)
program = re.search(rf"^\| `{name}` \| `(.*?)` \|", readme, re.M)[1]
assert info["program"] == f"python3 capture/samples/{program}" and info["device"] == "NVIDIA H200", info
assert info["cta_sample"] == (4 if name == "warm-up" else 1), info["cta_sample"]
assert ("without tensor copies of 4 launches" in info["recorder"]) == (name == "kv-cache"), info["recorder"]
assert not re.search(r'[" ]/|-packages|/tmp', text), "a path"
PYTHON
}

# replayed: the last run, on the recording's machine, with each of its instructions.
replayed() {
  succeeds && grep -q '^machine h200, design gpu-mmu-2m, seed 1, ' .stdout && python3 - <<'PYTHON'
import json
result, info = json.load(open("result.json")), json.load(open("info.json"))
assert result["apps"][0]["warp_instructions"] == info["warp_instructions"], result["apps"]
assert result["identities"] and all(i["holds"] for i in result["identities"])
PYTHON
}

for file in "$traces"/*.pwt; do
  trace=$(basename "$file" .pwt)
  run trace info "$file" --json - --check
  cp .stdout info.json
  check "$trace is what the README says, to the last byte as it was written" eval 'succeeds && recorded "$trace"'
  run run -w "trace:$file" --json result.json
  check "$trace runs on h200" replayed
done

check 'capture/README.md shows what the program prints' python3 - "$source_root" "$pagewalk" <<'PYTHON'
import os, pathlib, re, shlex, subprocess, sys
root = pathlib.Path(sys.argv[1])
blocks = re.findall(r"^```console\n\$ pagewalk (.*?)\n(.*?)^```$", (root / "capture/README.md").read_text(), re.M | re.S)
assert len(blocks) == 1, blocks
for command, expected in blocks:
    printed = subprocess.check_output([sys.argv[2], *shlex.split(command)], text=True, cwd=root, env={**os.environ, "COLUMNS": "100"})
    assert "\n" + expected in printed and printed.endswith(expected), printed
PYTHON
finish
