#!/usr/bin/env bash
# The same seed gives the same bytes whatever compiled the program: GCC and Clang, -O0 and -O3.
#   determinism.sh FOLDER    builds into FOLDER/{gcc,clang}-O{0,3}, which are kept for the next time
set -u
export LC_ALL=C
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mkdir -p "$1"
builds=$(cd "$1" && pwd)
variants='gcc-O3 gcc-O0 clang-O3 clang-O0'
runs='
-m mosaic -d gpu-mmu -w vecadd:ctas=32:iterations=4
-m mosaic -d gpu-mmu -w gather:ctas=16:iterations=2:table=16MB
-m volta -d gpu-mmu-2m -w gather:ctas=16:iterations=2:table=16MB --seed 5
-m kepler -d gpu-mmu -w pointer_chase:hops=500:bytes=4MB
-m mosaic -d pwcache -w HS:side=128 --interval 5000
-m mosaic -d ideal-tlb -w MM:m=128:n=128:k=64
-m h200 -d gpu-mmu -w BFS2:scale=0.01
-m mask -d static -w HS:side=96,gather:ctas=8:iterations=2:table=4MB,MM:m=128:n=64:k=32 --alone
'
tests=0
failures=0
result() {
  tests=$((tests + 1))
  [ "$1" = ok ] || failures=$((failures + 1))
  echo "$1 $tests - $2"
}

for variant in $variants; do
  compiler=${variant%-*} level=${variant#*-O} folder=$builds/$variant
  [ -e "$folder/build.ninja" ] ||
    CC=$compiler meson setup "$folder" "$root" -Dtests=false -Dwerror=true -Ddebug=false \
      -Doptimization="$level" >"$builds/$variant.log" 2>&1
  if ninja -C "$folder" -j 2 pagewalk >>"$builds/$variant.log" 2>&1; then
    result ok "builds with $variant"
  else
    result 'not ok' "builds with $variant"
    tail -n 20 "$builds/$variant.log" | sed 's/^/# /'
  fi
done
while read -r arguments; do
  [ -n "$arguments" ] || continue
  sums=''
  for variant in $variants; do
    # The words are arguments.
    # shellcheck disable=SC2086
    if ! "$builds/$variant/pagewalk" run $arguments --json "$builds/out.json" -q 2>"$builds/out.log"; then
      sed 's/^/# /' "$builds/out.log"
      sums="$sums$variant: failed"$'\n'
      continue
    fi
    sums="$sums$(sed '/^  "host": {/,$d' "$builds/out.json" | sha256sum)"$'\n'
  done
  if [ "$(printf %s "$sums" | sort -u | grep -vc failed)" = 1 ] && ! grep -q failed <<<"$sums"; then
    result ok "same bytes from every compiler: $arguments"
  else
    result 'not ok' "same bytes from every compiler: $arguments"
    printf %s "$sums" | sed 's/^/# /'
  fi
done <<<"$runs"
echo "1..$tests"
[ "$failures" = 0 ]
