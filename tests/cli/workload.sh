#!/usr/bin/env bash
# pagewalk workload and pagewalk list workloads: what they print, and mistakes.
source "$(dirname "$0")/tap.sh"

fails 'no workload named' 2 'workload takes one NAME' workload
fails 'two workloads named' 2 'workload takes one NAME' workload HS MM
fails 'unknown workload' 2 'vecad.*did you mean .?vecadd' workload vecad
fails 'workload that resembles none' 2 'xyzzy.*pagewalk list workloads' workload xyzzy
fails 'empty name' 2 '.' workload ''
fails 'unknown parameter' 2 'iteration.*did you mean .?iterations' workload vecadd:iteration=3
fails 'parameter out of range' 2 'warps.*33' workload vecadd:warps=33
fails 'unknown size' 2 'no size' workload vecadd:size=huge
fails 'unknown flag' 2 'unknown flag "--jsno"; did you mean "--json"' workload $small --jsno
fails 'seed that is no number' 2 '--seed: .* is no whole number' workload $small --seed x
fails 'JSON for nobody' 2 '--json needs a value: FILE|-' workload $small --json
fails 'JSON that cannot be written' 2 'no/such/file: cannot be created' workload $small --json no/such/file
check 'a mistake leaves no file' only_files .

run workload $small
check 'the text names allocations, launches, instructions, reuse and time' eval 'succeeds &&
  for word in Parameters Allocations Launches Instructions Reuse "Pages over time"; do grep -q "^$word" .stdout || exit 1; done'
check 'no line of the text ends in blanks' eval '! grep -q " $" .stdout'
run workload $small --json -
check 'the JSON is one' eval 'succeeds && is_json .stdout'
cp .stdout once.json
run workload $small --json named.json
check 'the JSON goes to the file that is named, and the text to standard output' eval \
  'succeeds && grep -q "^Launches" .stdout && cmp once.json named.json && rm named.json'
run workload $small --json -
check 'the JSON is the same bytes the second time' cmp once.json .stdout
check 'the counts of the JSON agree with one another' python3 - once.json <<'PYTHON'
import json, sys
p = json.load(open(sys.argv[1]))
assert p["schema"] == 1 and p["name"] == "vecadd" and p["workload"] == "vecadd:ctas=4:iterations=1"
assert p["memory_instructions"] == p["loads"] + p["stores"] + p["atomics"]
assert p["pages"] == p["distinct_pages"] + sum(b["touches"] for b in p["reuse_distance"])
assert p["distinct_pages"] == sum(s["new_pages"] for s in p["slices"])
assert p["distinct_pages"] == sum(a["pages_touched"] for a in p["allocations"])
assert p["allocated_bytes"] == sum(a["bytes"] for a in p["allocations"])
assert p["kernel_launches"] == sum(l["count"] for l in p["launches"])
assert {"ctas": "4", "iterations": "1"}.items() <= {q["name"]: q["value"] for q in p["parameters"]}.items()
PYTHON
run workload alu --json -
check 'a workload without memory has a JSON too' eval 'succeeds && is_json .stdout'
run workload gather:ctas=2:iterations=2 --json - --seed 1
cp .stdout seed1.json
run workload gather:ctas=2:iterations=2 --json - --seed 2
check 'another seed gives another profile' eval 'succeeds && ! cmp -s <(grep -v seed seed1.json) <(grep -v seed .stdout)'
if [ -e /dev/full ]; then
  "$pagewalk" workload $small >/dev/full 2>.stderr
  code=$? && : >.stdout
  check 'a full disk is a failure' is_error 1 'standard output'
fi

"$pagewalk" workload vecadd:iterations=100000:values=off >.stdout 2>.stderr &
job=$!
sleep 0.5
kill -s TERM $job
wait $job
code=$?
check 'an interrupt ends it with 130 and nothing on standard output' is_error 130 interrupted

run list workloads --json -
cp .stdout workloads.json
check 'the list has suite, papers, sizes and parameters' python3 - workloads.json <<'PYTHON'
import json, sys
entries = {e["name"]: e for e in json.load(open(sys.argv[1]))}
for e in entries.values():
    assert e["suite"] and e["summary"] and isinstance(e["papers"], list) and isinstance(e["sizes"], dict), e
    common = {"file"} if e["suite"] == "recorded" else {"values", "scale"}
    assert common <= {p["name"] for p in e["parameters"]}, e["name"]
warps = next(p for p in entries["vecadd"]["parameters"] if p["name"] == "warps")
assert warps["default"] == warps["value"] == "8" and warps["range"] == "1 to 32" and warps["unit"] == "warps"
PYTHON
check 'every size of every workload is accepted' python3 - workloads.json "$pagewalk" <<'PYTHON'
import json, subprocess, sys
for e in json.load(open(sys.argv[1])):
    for size, parameters in e["sizes"].items():
        given = f"{e['name']}:size={size}:scale=1e-9"
        out = subprocess.run([sys.argv[2], "workload", given], capture_output=True, text=True)
        assert out.returncode == 2 and "scale" in out.stderr and "1e-06" in out.stderr, (given, out.stderr)
        assert "=" in parameters, given
PYTHON
finish
