#!/usr/bin/env bash
# The recorder from end to end, with the test's GPU (tests/support/test_gpu) in the place of one: what a program does
# and what the trace says, options, several streams, programs that end badly, and functions of the API that fail.
# Arguments behind the program: the recorder's command and library, the API's library, a program that uses the GPU.
capture=$(realpath "$2") injected=$(realpath "$3") api=$(realpath "$4") program=$(realpath "$5")
source "$(dirname "$0")/tap.sh"
mkdir recorder
cp "$capture" recorder/pagewalk-capture
cp "$injected" recorder/libpagewalk-capture.so
touch recorder/pagewalk-capture.fatbin
PAGEWALK_SANITIZER=$(dirname "$api")
export PAGEWALK_SANITIZER GPU_LOG=$work/log
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # programs leave their GPU's memory as it is
unset CUDA_INJECTION64_PATH GPU_FAILS

# record CODE OPTIONS... -- WORDS...: runs the program under the recorder, with an exit code that is expected.
record() {
  local expected=$1 options=()
  shift
  while [ "$1" != -- ]; do options+=("$1") && shift; done
  shift
  rm -f log t.pwt
  timeout 60 recorder/pagewalk-capture -o t.pwt "${options[@]}" -- "$program" "$@" >.out 2>.stderr
  code=$?
  [ $code = "$expected" ] || { echo "exit code $code, expected $expected"; return 1; }
  [ ! -e t.pwt.claim ] && ! compgen -G 't.pwt.*.tmp' || { echo 'files are left'; return 1; }
}

# says TEXT: the recorder's only line, and no trace.
says() {
  [ "$(wc -l <.stderr)" = 1 ] || { echo 'not one line'; return 1; }
  grep -qE -- "^pagewalk-capture: .*$1" .stderr || { echo "no line with '$1'"; return 1; }
  [ ! -e t.pwt ] || { echo 'there is a trace'; return 1; }
}

# matches [LAUNCH...]: the trace has these launches of the program, by number (none given: all), whole and in order.
cat >matches.py <<'PYTHON'
import os, re, subprocess, sys

SHARED = range(0x600000000000, 0x600001000000)
pagewalk, rate, chosen = sys.argv[1], int(os.environ.get("RATE", "1")), [int(word) for word in sys.argv[2:]]


def emitted(steps):
    """What a warp's log becomes in a trace: instructions between operations counted."""
    operations, last, count = [], None, 0
    for line in steps:
        number, kind, *rest = line.split()
        number = int(number)
        count += number if last is None else number - last - 1 if number > last else 1
        last = number
        if kind in ("load", "store", "atomic"):
            lanes = {int(l): int(a, 16) for l, a in (word.split(":") for word in rest[1:])}
            lanes = {l: a for l, a in lanes.items() if a and a not in SHARED}
            if lanes:
                operations += [("compute", count), (kind, int(rest[0]), lanes)]
                count = 0
                continue
        elif kind == "barrier" or (kind == "exit" and line is steps[-1]):
            operations += [("compute", count), (kind,)]
            count = 0
            continue
        count += 1
    return [o for o in operations if o != ("compute", 0)]


def parse_log():
    launches, warp = {}, None
    for line in open("log"):
        if line.startswith("launch "):
            _, number, *rest = line.split()
            launches[int(number)] = (rest, warps := {})
        elif line.startswith("cta "):
            _, cta, _, number = line.split()
            warp = warps.setdefault((int(cta), int(number)), [])
        else:
            warp.append(line)
    return launches


def parse_trace():
    out = subprocess.run([pagewalk, "trace", "cat", "t.pwt"], capture_output=True, text=True, check=True).stdout
    launches, warps, operations = [], None, None
    for line in out.splitlines():
        words = line.split()
        if line.startswith("launch "):
            launches.append((words[2:], warps := {}))
        elif line.startswith("cta "):
            operations = warps.setdefault((int(words[1]), int(words[3])), [])
        elif line.startswith("  "):
            words = re.sub(r" all but \d+", "", line).split()
            if words[0] == "compute":
                before = operations.pop()[1] if operations and operations[-1][0] == "compute" else 0
                operations.append(("compute", before + int(words[1])))
            elif words[0] in ("barrier", "exit"):
                operations.append((words[0],))
            else:
                mask, lanes = int(words[3], 16), {}
                places = [lane for lane in range(32) if mask >> lane & 1]
                if words[-1][0] in "+-":
                    lanes = {lane: int(words[4], 16) + lane * int(words[5]) for lane in places}
                else:
                    lanes = dict(zip(places, (int(a, 16) for a in words[4:]), strict=True))
                operations.append((words[0], int(words[1]), lanes))
    return launches


log, trace = parse_log(), parse_trace()
if any(rest[0] == "mix" and rest[-1] != "0" for rest, _ in log.values()):  # of several streams, in whatever order
    log = dict(enumerate(sorted(log.values(), key=lambda l: (l[0][-1], l[0][2])), 1))
    trace.sort(key=lambda l: (l[0][l[0].index("shared") + 1], l[0][2]))
expected = [log[number] for number in chosen or sorted(log)]
assert len(trace) == len(expected) > 0, (len(trace), len(expected))
for (recorded, warps), (launched, wanted) in zip(trace, expected):
    kernel, _, grid, _, block, _, shared = launched
    assert [kernel, block, shared] == [recorded[0], recorded[4], recorded[6]], (recorded, launched)
    assert rate > 1 or grid == recorded[2], (recorded, launched)
    wanted = {(cta // rate, warp): emitted(steps) for (cta, warp), steps in wanted.items() if cta % rate == 0}
    assert warps.keys() == wanted.keys(), (kernel, warps.keys(), wanted.keys())
    for place, operations in wanted.items():
        assert warps[place] == operations, (kernel, place, warps[place], operations)
PYTHON
matches() { python3 matches.py "$pagewalk" "$@" && "$pagewalk" trace info --check t.pwt >/dev/null; }
recorded() { record "$@" && matches; }

check 'a program is recorded as it ran' recorded 0 -- memory launch:add:5,2:96:512 launch:mix:3,2:100
summary='t.pwt: 2 of 2 launches, 16 CTAs, 282 accesses of warps (66 with an address per lane), '
check 'it is reported' eval 'grep -qF "$summary" .stderr && [ "$(wc -l <.stderr)" = 2 ]'
check 'the trace is a workload' eval '"$pagewalk" run -m h200 -d gpu-mmu-2m -w trace:t.pwt >/dev/null'
check 'memory is recorded' recorded 0 -- memory launch:add
check 'its events are allocations, copies, advice and prefetches to the GPU' python3 - "$pagewalk" <<'PYTHON'
import re, subprocess, sys
out = subprocess.run([sys.argv[1], "trace", "cat", "t.pwt"], capture_output=True, text=True, check=True).stdout
events = [re.sub(r" 0x[0-9a-f]+", "", line).strip() for line in out.splitlines() if not line.startswith(("cta", " "))]
events = [e.split(" grid ")[0] for e in events]
assert events == ["alloc 0 device 1048576", "alloc 1 device 4096", "alloc 2 managed 8192", "alloc 3 host 100",
                  "alloc 4 device 5000", "copy to-device 100", "copy from-device 64", "copy on-device 1636",
                  "copy on-device 4096", "advise 2 2", "prefetch 2 8192", "free 4", "free 3", "free 2", "free 1",
                  "launch 1 add"], events
PYTHON
named=(range:0:outer alloc:4096 range:4:x alloc:5000 range:1:w alloc:6000 leave:1 leave:4 range:3:in-domain alloc:7000 leave:3
  range:2:attributes alloc:8000 begin:mix:20,1:64 alloc:9000 launch:mix leave:2 leave:0 own:mine alloc:100 own_end alloc:200
  launch:add)
# names: of all allocations, without what tells the compiler's code.
names() { "$pagewalk" trace cat t.pwt | sed -n 's/^alloc [0-9]* device 0x[0-9a-f]* //p' | sed 's/+0x[0-9a-f]*/+/'; }
are_named() {
  record 0 --names -- "${named[@]}" && names >.names && diff .names - <<'NAMES'
1048576 gpu_program!main+ #1
4096 outer #1
5000 outer #2
6000 outer #3
7000 in-domain #1
8000 attributes #1
9000 attributes #2
100 mine #1
200 gpu_program!with_argument+ #1
NAMES
}
check 'allocations are named by ranges of NVTX and of the recorder, and by functions' are_named
check 'by the same names the next time' eval '"$pagewalk" trace cat t.pwt | sed "s/ 0x[0-9a-f]*//g" | grep "alloc.*device" >once &&
  record 0 --names -- "${named[@]}" && "$pagewalk" trace cat t.pwt | sed "s/ 0x[0-9a-f]*//g" | grep "alloc.*device" | diff once -'
check 'without --names they have none' eval 'record 0 -- "${named[@]}" && [ "$(names | grep -c "^[0-9]* 0x[0-9a-f]*$")" = 9 ]'
check 'kernels that copy tensors are named, and counted in the trace' \
  eval 'record 0 -- launch:tensors launch:add launch:tensors && [ "$(wc -l <.stderr)" = 3 ] &&
    grep -q "incomplete: 2 launches .* their kernels: tensors$" .stderr &&
    "$pagewalk" trace info t.pwt | grep -q "^recorded by .*, without tensor copies of 2 launches$"'
check 'nothing is lost when the ring is full' recorded 0 --ring 64K -- launch:many:8,4:128 launch:mix:20,1:64
check 'warps that are not followed through shared memory have the same instructions' \
  recorded 0 --no-shared -- launch:mix:4,1:64
check 'kernels are chosen by name, the first left out, and then some' \
  eval 'record 0 --kernels "^m(ix|any)$" --skip 1 --count 2 -- launch:mix launch:add launch:many launch:mix \
    launch:mix && matches 3 4'
check 'every third CTA' eval 'record 0 --ctas 1/3 -- launch:mix:5,3:96 && RATE=3 matches'
check 'nothing is recorded while paused' \
  eval 'record 0 --paused -- launch:add resume launch:mix pause launch:add start launch:many stop launch:add &&
    matches 2 4'
check 'a limit leaves out later launches' \
  eval 'record 0 --limit 1K -- launch:many launch:add && matches 1 && grep -q -e --limit .stderr'
check 'launches of several streams and threads, one at a time' recorded 0 --ring 64K -- threads:4:6
check 'several launches on one stream without waiting' recorded 0 -- begin:mix:4,1:64 begin:add begin:mix
check "the program's exit code" recorded 3 -- launch:add exit:3
check 'a trace is where the program was started' recorded 0 -- chdir:/ launch:add
check 'with the time that the program takes without being recorded' recorded 0 --compare -- launch:add
check 'it is said' grep -qE 'took [0-9.]+ s, recorded [0-9.]+ s' .stderr
check 'modules that are loaded anew' recorded 0 -- launch:mix unload launch:mix
check 'a context that is destroyed, and the next one' recorded 0 -- launch:mix reset launch:add launch:mix
exits_early() { GPU_SLOW_LAUNCH=50000 recorded 0 -- late:slow:40,1:64; }
check 'a launch while the program exits' exits_early
check 'a launch when the recording has ended' eval 'record 0 -- launch:mix behind && matches 1'
check 'a child that exits leaves the recording alone' recorded 0 -- launch:add fork launch:mix
check 'a second context goes unrecorded, and graphs, which is said' \
  eval 'record 0 -- launch:add other graph && matches 1 &&
    grep -q "1 in other contexts, 1 launches of CUDA graphs" .stderr'
begins() {
  SECONDS=0
  record 0 -- refused:add launch:mix && [ $SECONDS -lt 8 ] && grep -q 'end of 2 CTAs was not seen' .stderr
}
check 'a launch that the driver refuses holds nobody up' begins
check 'the trace with it is a workload' eval '"$pagewalk" run -m h200 -d gpu-mmu-2m -w trace:t.pwt >/dev/null'
of_two_processes() {
  rm -f log t.pwt
  timeout 60 recorder/pagewalk-capture -o t.pwt -- bash -c "$program launch:add; GPU_LOG= $program launch:mix; exit 4" \
    2>.stderr
  [ $? = 4 ] && matches
}
check 'of several processes the first records' of_two_processes

# fruitless TEXT OPTIONS... -- WORDS...: nothing is recorded, which is said in one line.
fruitless() {
  local text=$1
  shift
  record 1 "$@" && says "$text"
}
check 'a program that is killed while a kernel runs' fruitless 'without its exit handlers' -- launch:add launch:dies
check 'a program that leaves by _exit' fruitless 'without its exit handlers' -- launch:add _exit:0
check 'a kernel that fails' fruitless 'did not run to its end: end of a kernel: .*999' -- launch:add launch:faults
check 'a program that launches nothing that is wanted' fruitless 'look at --kernels' --kernels nothing -- launch:add
check 'a program that does not use CUDA' \
  eval 'rm -f t.pwt; recorder/pagewalk-capture -o t.pwt -- true 2>.stderr; [ $? = 1 ] && says "did not use CUDA"'

# failing FUNCTION TEXT: the same for a function of the API that fails.
failing() { GPU_FAILS=$1 fruitless "$2" -- launch:add launch:mix; }
no_address="cannot be given the ring's address"
check 'no API' failing sanitizerSubscribe 'does not start.*: sanitizerSubscribe: it was told to fail \(999\)'
check 'no callbacks' failing sanitizerEnableDomain 'does not start.*: callbacks for memory'
check 'no memory on the GPU' failing sanitizerAlloc 'try a smaller --ring: device memory: '
check 'no memory on the host' failing sanitizerAllocHost 'try a smaller --ring: pinned host memory: '
check 'no copies' failing sanitizerMemcpyHostToDeviceAsync "$no_address: copy to the GPU: "
check 'no data for patches' failing sanitizerSetLaunchCallbackData "$no_address: data of patches: "
check 'no waiting' failing sanitizerStreamSynchronize 'did not run to its end: end of a kernel: '
check 'no words for what fails' failing 'sanitizerAlloc sanitizerGetResultString' 'device memory: unknown error \(999\)'
# unpatched FUNCTION TEXT: nothing is patched, which is said of every module, of the launches, and in the end.
unpatched() {
  GPU_FAILS=$1 record 1 -- launch:add launch:mix && [ ! -e t.pwt ] &&
    [ "$(grep -c "module cannot be patched: $2: .*999" .stderr)" = 2 ] &&
    grep -q ' 2 of kernels in the 2 modules that could not be patched' .stderr && [ "$(wc -l <.stderr)" = 4 ]
}
check 'no patches' unpatched sanitizerAddPatchesFromFile '.*pagewalk-capture.fatbin'
check 'no patch of instructions' unpatched sanitizerPatchInstructions PwGlobal
check 'no patch of a module' unpatched sanitizerPatchModule 'its instructions'
check 'without calls of the driver dynamic shared memory is missing, which is said' \
  eval 'GPU_FAILS=sanitizerEnableCallback record 0 -- launch:add:1,1:32:0 && matches &&
    grep -q "dynamic shared memory.*not recorded" .stderr'
check 'without the place of the code instructions are guessed, which is said' \
  eval 'GPU_FAILS=sanitizerGetFunctionPcAndSize record 0 -- launch:add && grep -q "are guessed" .stderr'

# What is built on a machine with a GPU, by capture/Makefile and with a compiler that pretends.
make_toolkit() {
  mkdir -p cuda/bin cuda/compute-sanitizer
  cp -r "$source_root/tests/support/test_gpu/include" cuda/compute-sanitizer/
  cp "$api" cuda/compute-sanitizer/libsanitizer-public.so
  printf '#!/bin/sh\necho launch,event_us\necho 0,1.5\nexec "%s" launch:many:4,1:64\n' "$program" >compiled
  chmod +x compiled
  cat >cuda/bin/nvcc <<NVCC
#!/bin/sh
while [ \$# -gt 1 ]; do [ "\$1" = -o ] && out=\$2; shift; done
case "\$out" in
  *.fatbin) : >"\$out" ;;
  */nw) exit 1 ;;
  *) cp "$work/compiled" "\$out" ;;
esac
NVCC
  chmod +x cuda/bin/nvcc
}
measures() {
  PATH=$work/cuda/bin:$PATH timeout 200 python3 "$source_root/capture/measure" --out out --build built \
    --seconds "$@" >.out
}
logged() { grep -q -- "$1" out/log.txt || { cat out/log.txt; return 1; }; }
everything_is_recorded() {
  measures 150 --only times,samples,programs,overhead && logged 'recorder built: True' &&
    logged 'programs built: 23 of 24' && logged 'first recording: exit code 0' &&
    logged 'programs.tar: 23 of 24 traces' && logged ' done$' &&
    [ "$(echo out/*)" = "$(echo out/{log.txt,overhead.csv,programs.tar,samples.tar,times.csv})" ] &&
    [ "$(tar -tf out/programs.tar | wc -l)" = 23 ] && [ "$(wc -l <out/times.csv)" = 24 ] &&
    [ "$(wc -l <out/overhead.csv)" = 4 ] && tar -xf out/programs.tar program-bfs.pwt &&
    "$pagewalk" trace info --check program-bfs.pwt | grep -q many
}
it_is_said_what_fails() {
  GPU_FAILS=sanitizerPatchModule measures 60 --only samples && logged 'first recording: exit code 1' &&
    logged 'a module cannot be patched: its instructions' && logged 'left out: samples' &&
    logged 'libsanitizer-public.so' && logged 'with PwMatrix alone: exit code 1' && [ ! -e out/samples.tar ]
}
compiled_for() {
  printf '#!/bin/sh\n%s\n' "$1" >smi && chmod +x smi && rm -rf built &&
    make -n -C "$source_root/capture" BUILD="$work/built" CUDA="$work/cuda" NVIDIA_SMI="$work/smi" "${@:3}" \
      "$work/built/pagewalk-capture.fatbin" >made 2>&1 && grep -qF -- "$2" made
}
without_the_api() {
  rm -r cuda/compute-sanitizer built
  measures 60 --only samples && logged 'no Compute Sanitizer API' && logged 'left out: samples'
}
if command -v make >/dev/null; then
  unset PAGEWALK_SANITIZER
  make_toolkit
  check 'patches are compiled for the GPUs at hand' \
    compiled_for 'echo 9.0; echo 8.6; echo 9.0' 'arch=compute_86,code=sm_86 -gencode arch=compute_90,code=sm_90'
  check 'or for those that are asked for' compiled_for 'echo 9.0' 'arch=compute_75,code=sm_75 -fatbin' ARCH=75
  check 'without a GPU for 9.0, which is said' \
    eval "compiled_for 'echo no devices were found; exit 9' 'built for 9.0; set ARCH' && grep -q code=sm_90 made"
  check 'capture/measure builds and records what can be' everything_is_recorded
  check 'it says what it can find out when nothing can be recorded' it_is_said_what_fails
  compgen -G '/usr/local/cuda*/compute-sanitizer' || check 'it goes on without the API' without_the_api
else
  echo '# capture/measure and capture/Makefile are not tested: there is no make here'
fi
finish
