#!/usr/bin/env bash
# pagewalk trace and runs of traces: what is recorded, converted, shown and replayed, and what is refused.
source "$(dirname "$0")/tap.sh"
make_trace=$source_root/bench/accel-sim-trace

# metrics WORKLOAD FILE: what a run results in, without the workload's name and what depends on the host.
metrics() {
  "$pagewalk" run -m volta -d gpu-mmu -w "$1" --quiet --json .run.json || return
  python3 - .run.json >"$2" <<'PYTHON'
import json, sys
result = json.load(open(sys.argv[1]))
result.pop("host", None)
for key in ("workload", "command", "made"):
    result.pop(key, None)
for app in result.get("apps", []):
    app.pop("name", None)
print(json.dumps(result, indent=1, sort_keys=True))
PYTHON
}

# A built-in workload.
run trace record -w HS:side=100:iterations=3 -o hs.pwt -q
check 'a workload is recorded' eval 'succeeds && [ ! -s .stdout ] && [ -s hs.pwt ]'
metrics HS:side=100:iterations=3 original.json
metrics trace:hs.pwt replay.json
check 'its replay has the same metrics' eval '[ -s original.json ] && cmp original.json replay.json'
metrics trace:file=hs.pwt named.json
check 'the file may be named as a parameter' cmp original.json named.json
run trace record -w HS:side=100:iterations=3 -o again.pwt -q
check 'a workload is recorded to the same bytes every time' cmp hs.pwt again.pwt
run trace record -w trace:hs.pwt -o copy.pwt -q
metrics trace:copy.pwt copy.json
check 'a trace of a trace replays as the trace does' cmp original.json copy.json
run trace info hs.pwt --check
check 'info shows program, allocations and launches' \
  eval 'succeeds && grep -q "HS:side=100:iterations=3" .stdout && grep -q "^Allocations: " .stdout && grep -q "^Launches: " .stdout'
run trace info hs.pwt --json -
cp .stdout info.json
check 'info --json is JSON' eval 'succeeds && is_json info.json'
check 'info counts instructions as the profile of the workload does' python3 - "$pagewalk" <<'PYTHON'
import json, subprocess, sys
info = json.load(open("info.json"))
profile = json.loads(subprocess.run([sys.argv[1], "workload", "HS:side=100:iterations=3", "--json", "-"], capture_output=True, check=True).stdout)
launches = [l for l in profile["launches"] for _ in range(l["count"])]
assert len(info["launches"]) == len(launches) > 0
assert info["warp_instructions"] == sum(l["warp_instructions"] for l in profile["launches"])
assert info["memory_instructions"] == sum(l["memory_instructions"] for l in profile["launches"]) > 0
assert [a["bytes"] for a in info["allocations"]] == [a["bytes"] for a in profile["allocations"]]
PYTHON
run trace cat hs.pwt --launch 1 --cta 0 --warp 1
cp .stdout cat.txt
check 'cat shows the operations of one warp' \
  eval 'succeeds && [ "$(grep -c "^cta " cat.txt)" = 1 ] && grep -q "^cta 0 warp 1$" cat.txt && grep -q "^  load 4 mask " cat.txt && grep -q "^  barrier" cat.txt'
check 'cat of everything has the operations that info counts' python3 - "$pagewalk" <<'PYTHON'
import json, subprocess, sys
out = subprocess.run([sys.argv[1], "trace", "cat", "hs.pwt"], capture_output=True, check=True, text=True).stdout
ops = [line.split() for line in out.splitlines() if line.startswith("  ")]
assert sum(int(op[1]) if op[0] == "compute" else 1 for op in ops) == json.load(open("info.json"))["warp_instructions"]
PYTHON
"$pagewalk" trace cat hs.pwt 2>.stderr | head -n 1 >/dev/null
check 'cat stops in silence when nobody reads' eval '[ ! -s .stderr ]'

# Accel-Sim's text.
"$make_trace" gather-2 auto --ctas 12
"$make_trace" gather-2 list --ctas 12 --list
"$make_trace" stream-4 stream
metrics trace:auto/kernelslist.g auto.json
metrics trace:list/kernelslist.g list.json
run trace convert auto/kernelslist.g -o auto.pwt -q
check 'a list of kernels is converted' eval 'succeeds && [ -s auto.pwt ]'
metrics trace:auto.pwt converted.json
check 'compressed addresses and lists of them give the same metrics' eval '[ -s auto.json ] && cmp auto.json list.json'
check 'so does the converted trace' cmp auto.json converted.json
check 'a run has CTAs x warps x (6 + 10 x iterations) warp instructions' \
  python3 -c 'import json; r = json.load(open("auto.json")); assert r["apps"][0]["warp_instructions"] == 12 * 8 * (6 + 10 * 2), r["apps"]'
metrics trace:stream/kernelslist.g stream.json
metrics vecadd:iterations=4 vecadd.json
unnamed() { sed -E 's/"(name|kernel|short)": .*//' "$1"; }
check 'the machine code of c = a + b, first uses of loads told from registers, runs as the built-in kernel does' \
  eval '[ -s vecadd.json ] && cmp <(unnamed vecadd.json) <(unnamed stream.json)'
run trace info auto/kernelslist.g
check 'info of text names the text, and says what the size is of' \
  eval 'succeeds && grep -q "^trace  *auto/kernelslist.g$" .stdout && grep -q "^size as .pwt " .stdout'
fails 'so does a mistake behind the import' 2 'pagewalk: auto/kernelslist.g: ' trace cat auto/kernelslist.g --cta 99999
metrics trace:auto/kernel-1.traceg single.json
check 'a kernel alone can be replayed' [ -s single.json ]
mkdir packed
xz -k -c auto/kernel-1.traceg >packed/kernel-1.traceg.xz
sed 's/traceg$/traceg.xz/' auto/kernelslist.g >packed/kernelslist.g
metrics trace:packed/kernelslist.g packed.json
check 'compressed kernels give the same metrics' cmp auto.json packed.json
# The same kernel as tracer 6 writes it, as text and as .tracez (here with chunks that zstd has not made smaller).
mkdir six
python3 - <<'PYTHON'
import re, struct
text = open("auto/kernel-1.traceg").read().replace("tracer version = 5", "tracer version = 6")
text = re.sub(r"(?m)^([0-9a-f]{4} [0-9a-f]{8} .*?) *$", r"\1 0 NoVal", text)
text = re.sub(r"(?m)^thread block = (\d+),0,0$", r"thread block = \1,0,0\ncluster id = 0,0,0\ncluster cta = 0,0,0\ncluster rank = 0", text)
open("six/kernel-1.traceg", "w").write(text)

def frame(data):  # one frame with one raw block, whose size is in the head
    return b"\x28\xb5\x2f\xfd" + struct.pack("<BI", 0xa0, len(data)) + struct.pack("<I", len(data) << 3 | 1)[:3] + data

head, blocks = text.split("#BEGIN_TB", 1)
out = head.encode() + b"\0" + struct.pack("<II", 0, 5)
index = b""
blocks = blocks.split("#BEGIN_TB")
for block in blocks:
    place = list(map(int, re.search(r"thread block = (\d+),(\d+),(\d+)", block).groups()))
    warps = re.findall(r"warp = \d+\ninsts = \d+\n((?:[0-9a-f]{4} .*\n)+)", block)
    index += struct.pack("<11I", *place, *[0] * 7, len(warps))
    for lines in warps:
        lines = lines.splitlines()
        chunks = [lines[i:i + 5] for i in range(0, len(lines), 5)]
        numbers = struct.pack("<II", len(lines), len(chunks))
        index += numbers + struct.pack("<Q", len(out)) + b"".join(struct.pack("<I", len(c)) for c in chunks)
        out += numbers
        for chunk in chunks:
            packed = frame("\n".join(chunk).encode())
            out += struct.pack("<I", len(packed)) + packed
open("six/kernel-1.tracez", "wb").write(out + struct.pack("<I", len(blocks)) + index + struct.pack("<Q", len(out)))
PYTHON
metrics trace:six/kernel-1.traceg six.json
printf 'kernel-1.tracez\n' >six/kernelslist.g
metrics trace:six/kernelslist.g tracez.json
check 'version 6 gives the same metrics as version 5' eval '[ -s six.json ] && cmp single.json six.json'
check 'so does .tracez' eval '[ -s tracez.json ] && cmp single.json tracez.json'
head -c -9 six/kernel-1.tracez >six/cut.tracez
fails 'a .tracez that was cut' 2 'six/cut.tracez: is a damaged .tracez: its index' trace info six/cut.tracez

# Export, and what comes back.
exported() { # FILE FOLDER FLAGS...: the trace and its export give the same metrics
  run trace export "$1" -o "$2" -q "${@:3}"
  succeeds && [ ! -s .stdout ] && metrics "trace:$1" exported-from.json && metrics "trace:$2/kernelslist.g" exported-to.json &&
    [ -s exported-to.json ] && cmp exported-from.json exported-to.json
}
check 'an exported workload has the same metrics, to the last one' exported hs.pwt hs-exported
check 'so has one whose kernels are compressed' eval 'exported hs.pwt hs-packed --xz && [ -s hs-packed/kernel-2.traceg.xz ]'
check 'so has a recorded program, with pace, waits and its allocations' \
  exported "$source_root/examples/traces/vecadd.pwt" vecadd-exported
check "so has an imported trace of Accel-Sim's" exported auto/kernelslist.g auto-exported
run trace export hs.pwt -o one -q --launch 2
check 'one launch can be exported' eval 'succeeds && [ "$(ls one)" = "$(printf "kernel-2.traceg\nkernelslist.g")" ]'
fails 'export into a folder that is not empty' 2 'auto: is there already' trace export hs.pwt -o auto
fails 'export onto a file' 2 'hs.pwt: cannot be written' trace export hs.pwt -o hs.pwt
fails 'export without a folder' 2 'use -o FOLDER' trace export hs.pwt
fails 'export of a launch that is not there' 2 'no launch 9' trace export hs.pwt -o nine --launch 9
fails 'export of what is no trace' 2 'is no trace' trace export "$here/tap.sh" -o nine
check 'none of them has written anything' eval '[ ! -e nine ] && ! ls -d *.tmp 2>/dev/null | grep .'

metrics trace:auto/kernelslist.g,trace:hs.pwt both.json
check 'traces share a GPU' eval '[ "$(grep -c "\"warp_instructions\"" both.json)" -ge 2 ]'
printf 'MEMTRACE: CTX 0x1 - grid_launch_id 0 - CTA 0,0,0 - warp 0 - LDG.E - %s\n' \
  "$(for i in $(seq 0 31); do printf '0x7f00000%05x ' $((i * 4)); done)" >mem.txt
metrics trace:mem.txt nvbit.json
check "NVBit's mem_trace can be replayed" [ -s nvbit.json ]

# What a stored run depends on: every file of a list.
stored() { # counts the runs that comparing the trace leaves in the store
  "$pagewalk" compare -m volta -d gpu-mmu -w trace:auto/kernelslist.g --against none --db runs.db --quiet >.stdout 2>.stderr &&
    "$pagewalk" export --db runs.db --json - | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))'
}
first=$(stored)
again=$(stored)
sed -i '0,/FADD/s//FMUL/' auto/kernel-1.traceg
changed=$(stored)
check 'a run of a trace is kept, and made anew when a kernel of its list has changed' \
  [ "$first $again $changed" = '1 1 2' ]

# Mistakes.
fails 'a file that is not there' 2 'absent.pwt' run -m volta -w trace:absent.pwt
fails 'no file' 2 'trace:FILE' run -m volta -w trace
fails 'a file that is no trace' 2 'tap.sh' run -m volta -w "trace:$here/tap.sh"
fails 'a folder' 2 '' run -m volta -w trace:.
fails 'a device' 2 '' run -m volta -w trace:/dev/zero
fails 'a parameter that traces do not have' 2 'scale' run -m volta -w trace:hs.pwt:scale=0.5
fails 'more launches left out than there are' 2 'skip' run -m volta -w trace:hs.pwt:skip=1000
fails 'an unknown subcommand' 2 'did you mean "record"' trace recrod
fails 'no subcommand' 2 'record, convert, export, info or cat' trace
fails 'record without a workload' 2 'no workload' trace record -o x.pwt
fails 'record without a file' 2 'FILE.pwt' trace record -w HS
fails 'record of two programs' 2 'one program' trace record -w HS,MM -o x.pwt
fails 'record into a folder that is not there' 2 'absent' trace record -w "$small" -o absent/x.pwt
fails 'record to standard output' 2 'standard output' trace record -w "$small" -o -
fails 'convert of what is converted' 2 'already' trace convert hs.pwt -o x.pwt
fails 'cat of a launch that is not there' 2 'launch' trace cat hs.pwt --launch 1000
fails 'cat of a CTA that no launch has' 2 'no CTA 99999' trace cat hs.pwt --cta 99999
fails 'cat of a warp that no launch has' 2 'no warp 8' trace cat hs.pwt --launch 1 --warp 8
fails 'cat of no number' 2 'no whole number' trace cat hs.pwt --cta x
cp -r auto kept
fails 'convert of a kernel onto itself' 2 'auto/kernel-1.traceg: is read' trace convert auto/kernel-1.traceg -o auto/kernel-1.traceg
fails 'convert of a list onto a kernel of it' 2 'auto/kernel-1.traceg: is read' \
  trace convert auto/kernelslist.g -o auto/../auto/kernel-1.traceg
fails 'record onto the trace that is replayed' 2 'hs.pwt: is read' trace record -w trace:hs.pwt:count=1 -o hs.pwt
check 'what was read is as it was' eval 'diff -r auto kept && cmp hs.pwt again.pwt'
check 'none of them has written anything' eval '! ls ./- x.pwt* absent 2>/dev/null | grep .'

# Broken files: each is refused with one line, by every command that reads it, and nothing is written.
mkdir broken
broken_text() { # NAME SED-EXPRESSION
  mkdir -p "broken/$1"
  cp auto/kernelslist.g "broken/$1"
  sed "$2" auto/kernel-1.traceg >"broken/$1/kernel-1.traceg"
  fails "text: $1" 2 "broken/$1/kernel" run -m volta -w "trace:broken/$1/kernelslist.g"
  fails "text, converted: $1" 2 "broken/$1/kernel" trace convert "broken/$1/kernelslist.g" -o broken/out.pwt
}
broken_text version 's/tracer version = 5/tracer version = 7/'
broken_text grid 's/grid dim = (12,1,1)/grid dim = (4294967295,4294967295,2)/'
broken_text block 's/block dim = (256,1,1)/block dim = (0,1,1)/'
broken_text missing-end '/#END_TB/,$d'
broken_text outside-the-grid 's/thread block = 3,0,0/thread block = 99,0,0/'
broken_text twice 's/thread block = 3,0,0/thread block = 2,0,0/'
broken_text count '0,/insts = 26/s//insts = 27/'
broken_text mask '0,/0060 ffffffff/s//0060 fffffffg/'
broken_text addresses '0,/LDG.E.SYS 1 R2 4 1 0x[0-9a-f]* 4/s//LDG.E.SYS 1 R2 4 1/'
rm auto/kernelslist.g && printf 'kernel-2.traceg\n' >auto/kernelslist.g
fails 'a kernel that is not there' 2 'kernel-2.traceg' run -m volta -w trace:auto/kernelslist.g
head -c 200 packed/kernel-1.traceg.xz >broken/kernel-1.traceg.xz
printf 'kernel-1.traceg.xz\n' >broken/kernelslist.g
fails 'compressed text that ends in the middle' 2 'kernel-1.traceg.xz' run -m volta -w trace:broken/kernelslist.g
check 'none of them has written anything' [ ! -e broken/out.pwt ]

check 'every flipped byte and every truncation of a trace is refused with one line' python3 - "$pagewalk" <<'PYTHON'
import pathlib, subprocess, sys
subprocess.run([sys.argv[1], "trace", "record", "-w", "vecadd:n=100:ctas=1:warps=2", "-o", "tiny.pwt", "-q"], check=True)
good = pathlib.Path("tiny.pwt").read_bytes()
def refused(data, what):
    pathlib.Path("bad.pwt").write_bytes(data)
    done = subprocess.run([sys.argv[1], "trace", "info", "--check", "bad.pwt"], capture_output=True, text=True)
    assert done.returncode == 2 and not done.stdout and done.stderr.count("\n") == 1, (what, done)
    assert done.stderr.startswith("pagewalk: "), (what, done)
for at in range(len(good)):
    refused(good[:at] + bytes([good[at] ^ 1 << at % 8]) + good[at + 1:], at)
for length in range(0, len(good), 7):
    refused(good[:length], length)
refused(good + b"x", "longer")
PYTHON
check 'a damaged block stops a run with one line and no result' python3 - "$pagewalk" <<'PYTHON'
import pathlib, subprocess, sys
good = pathlib.Path("hs.pwt").read_bytes()
seen = 0
for at in range(64, len(good) - 64, len(good) // 40):
    pathlib.Path("bad.pwt").write_bytes(good[:at] + bytes([good[at] ^ 16]) + good[at + 1:])
    done = subprocess.run([sys.argv[1], "run", "-m", "volta", "-w", "trace:bad.pwt", "--json", "bad.json"],
                          capture_output=True, text=True)
    assert done.returncode == 2 and not done.stdout and done.stderr.count("\n") == 1, (at, done)
    assert "bad.pwt" in done.stderr and not pathlib.Path("bad.json").exists(), (at, done)
    seen += 1
assert seen > 20
PYTHON
finish
