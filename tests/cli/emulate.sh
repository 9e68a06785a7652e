#!/usr/bin/env bash
# CUDA programs by their machine code (capture/emulate): what it counts is what must be there, and the trace replays as
# that. The programs check their results themselves. Where there is no nvcc, the mistakes alone are tested.
source "$(dirname "$0")/tap.sh"
emulate=$source_root/capture/emulate
export BUILD=$work/build

# says TEXT ARGUMENTS...: exit code 2, one line.
says() {
  local text=$1
  shift
  "$emulate" "$@" >.stdout 2>.stderr
  [ $? = 2 ] && [ ! -s .stdout ] && [ "$(wc -l <.stderr)" = 1 ] && grep -qF -- "$text" .stderr
}

check '--help says what it does' eval '"$emulate" --help | grep -q -- "-o FILE.pwt"'
check 'a program has to be named' says 'no program to run' --counts x
check 'a program that is not there is named' says 'no program nosuch in' nosuch
check 'a file that is not there is named' says 'nosuch.cu: no such file' nosuch.cu
check 'an unknown option is named' says 'no option --frob' --frob vecadd
check 'options of the recorder need a file' says '--ctas is for recording' --ctas 1/4 vecadd
if [ ! -x "${CUDA:-/usr/local/cuda}/bin/nvcc" ]; then
  echo "ok $((tests += 1)) - programs run by their machine code # SKIP there is no nvcc"
  finish
fi

# column NAME: of the first launch.
column() {
  awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } NR == 2 { print $at }' counts.csv
}

# 3 arrays of 4 bytes a lane; how many instructions a turn of the loop has is the compiler's to say, but as many in all warps.
vecadd() {
  "$emulate" --counts counts.csv vecadd ctas=24 warps=2 iterations=4 launches=1 >out 2>err || { cat err; return 1; }
  before=$(column warp_instructions)
  "$emulate" --counts counts.csv -o v.pwt vecadd ctas=24 warps=2 iterations=5 launches=1 >out 2>err || { cat err; return 1; }
  counted=$(column warp_instructions)
  [ $(((counted - before) % 48)) = 0 ] && [ $(((counted - before) / 48)) -ge 6 ] && [ $((counted % 48)) = 0 ] &&
    [ "$(column load_sectors)" = $((48 * 5 * 8)) ] && [ "$(column store_sectors)" = $((48 * 5 * 4)) ] &&
    grep -q '1 of 1 launches, 24 CTAs' err
}
check 'vecadd is counted' vecadd
replays() {
  run run -m h200 -d gpu-mmu -w trace:v.pwt -q --json r.json
  succeeds && python3 -c "import json; r = json.load(open('r.json')); assert r['apps'][0]['warp_instructions'] == $counted, r"
}
check 'its trace has as many instructions' replays
same() {
  cp v.pwt first.pwt && "$emulate" -o v.pwt vecadd ctas=24 warps=2 iterations=5 launches=1 >out 2>err && cmp v.pwt first.pwt
}
check 'the same run is the same trace' same
sampled() {
  "$emulate" -o s.pwt --ctas 1/8 vecadd ctas=24 warps=2 iterations=5 launches=2 >out 2>err && grep -q '2 of 2 launches, 6 CTAs' err
}
check 'one CTA in eight' sampled
# Barriers, shared memory and lanes that part: half-full warps of 16 lanes.
nw() {
  "$emulate" --counts counts.csv -o nw.pwt --count 1 nw length=64 >out 2>err && [ "$(column warp_instructions)" -gt 600 ]
}
check 'lanes that part come to the right result' nw
parted() {
  run trace info --json - nw.pwt
  succeeds && python3 -c "import json; r = json.load(open('.stdout')); assert r['warp_instructions'] == $(column warp_instructions), r"
}
check 'a trace counts their instructions too' parted
# Those of capture/layers hand values from lane to lane, in warps of which some have nothing to do.
for layer in 'embedding tables=2 bags=37 per_bag=5 rows=3000' 'transformer width=128 context=70 capacity=80 steps=3' \
  'graph_convolution nodes=1001 degree=6' 'sparse_product rows=777 columns=900 entries=5000' \
  'paged_attention sequences=3 heads=2 tokens=100 blocks=25'; do
  # shellcheck disable=SC2086 # a word per argument
  check "$layer comes to the right result" eval '"$emulate" $layer >out 2>err || { cat err; false; }'
done
unknown() {
  cat >odd.cu <<'CUDA'
#include "common.h"
__global__ void odd(int *out) { out[threadIdx.x] = __reduce_add_sync(~0U, threadIdx.x); }
int main()
{
    array<int> out(32);
    launch("odd", odd, 1, 32, 0, out.device);
    return finish("odd", 0);
}
CUDA
  "$emulate" odd.cu >out 2>err
  [ $? = 3 ] && [ "$(grep -c 'emulator: .*odd.*is not known' err)" = 1 ]
}
check 'an instruction that is not known ends the run' unknown
# Loads, then stores, that reach global memory with every second lane and shared memory with the others: ncu counts 448 instructions for
# each launch of the former.
generic() {
  cat >stores.cu <<'CUDA'
#include "common.h"
__global__ void stores(int *result)
{
    __shared__ int own[64];
    int t = threadIdx.x, *at = t % 2 ? own + t : result + t;
    *at = t;
    __syncthreads();
    if (t % 2)
        result[t] = own[t];
}
int main()
{
    array<int> result(64);
    launch("stores", stores, 1, 64, 0, result.device);
    result.down();
    int wrong = 0;
    for (int i = 0; i < 64; i++)
        wrong += result[i] != i;
    return finish("stores", wrong);
}
CUDA
  "$emulate" --counts counts.csv -o g.pwt "$source_root/capture/samples/generic.cu" >out 2>err || { cat err; return 1; }
  [ "$(cut -d, -f6 counts.csv | tr '\n' ' ')" = 'warp_instructions 448 448 448 ' ] && ! grep -q guessed err || { cat counts.csv; return 1; }
  "$pagewalk" trace info g.pwt --json - | grep -q '"warp_instructions": 1344' || return 1
  "$emulate" --counts counts.csv -o g.pwt stores.cu >out 2>err || { cat err; return 1; }
  "$pagewalk" trace cat g.pwt | grep -c 'store 4 mask 55555555' | grep -qx 2 && ! grep -q guessed err
}
check 'generic accesses of both memories are one instruction' generic
# A user's file, with a header beside it, in a folder whose name make and a shell would read otherwise.
odd_folder() {
  mkdir -p "$1" && printf '#include "common.h"\n#include "size.h"\n__global__ void fill(int *a) { a[threadIdx.x] = 1; }\n%s\n' \
    'int main() { array<int> a(CTAS * 32); launch("fill", fill, CTAS, 32, 0, a.device); return finish("fill", 0); }' \
    >"$1/mine.cu" && echo '#define CTAS 3' >"$1/size.h" || return 1
  "$emulate" --counts counts.csv "$1/mine.cu" >out 2>err || { cat err; return 1; }
  [ "$(column warp_instructions)" -gt 3 ] && [ ! -e ran ] && [ ! -e "$source_root/capture/ran" ]
}
check 'a folder whose name has blanks, and is a command for make or a shell, is none' \
  odd_folder 'a b$(shell touch ran)$$(touch ran)`touch ran`;touch ran;#%:'
mistaken() {
  mkdir -p 'c d' && echo 'nonsense' >'c d/wrong.cu'
  "$emulate" 'c d/wrong.cu' >out 2>err
  [ $? = 2 ] && grep -q '^c d/wrong.cu(' err && grep -q 'c d/wrong.cu cannot be built' err
}
check "a mistake in it is shown at the file's own place" mistaken
finish
