#!/usr/bin/env bash
# The library in a program whose locale has a decimal comma: what it reads and what it writes has a point all the same. The
# second argument is a copy of pagewalk that calls setlocale(LC_ALL, "") as it starts.
localized=$(realpath "$2")
source "$(dirname "$0")/tap.sh"

# Compiled from its source, so that the test needs no locale to be installed. (localedef warns of what no C program asks.)
localedef -c -i de_DE -f UTF-8 "$work/de_DE.UTF-8" >.localedef 2>&1
check 'a locale with a decimal comma is made (Debian package locales)' test -e de_DE.UTF-8/LC_NUMERIC

# The same command in both; SECONDS and memory of the host are left out.
in_point() { LC_ALL=C PW_TEST_DECIMAL=. "$localized" "$@"; }
in_comma() { LC_ALL=de_DE.UTF-8 LOCPATH=$work PW_TEST_DECIMAL=, "$localized" "$@"; }
timeless() { sed -E -e '/^  "host": \{/,$d' -e 's/ simulated in .*//' -e '/,host,/d'; }

# same NAME CODE ARGUMENTS...: the exit code is CODE and the output the same; @ becomes "in-point" or "in-comma".
same() {
  local name=$1 expected=$2 which
  shift 2
  for which in point comma; do
    in_$which "${@//@/in-$which}" >$which.raw 2>&1
    echo "exit code $?" | tee .code >>$which.raw
    timeless <$which.raw | sed "s/in-$which/@/g" >$which.out
    check "$name, decimal $which: exit code $expected" grep -qx "exit code $expected" .code
  done
  check "$name" diff point.out comma.out
}

check 'the test program refuses another locale than it is told' eval '! LC_ALL=C PW_TEST_DECIMAL=, "$localized" list machines'
same 'a table' 0 run -w $small --breakdown --set uvm.oversubscription=110.5
check 'which has a decimal point' grep -qE '[0-9]\.[0-9]' comma.out
same 'a result as JSON' 0 run -q -w $small --json - --interval 500 --verify
same 'a result as CSV' 0 run -q -w $small,$small --alone --csv -
same 'demand paging, advice, and a link described by points' 0 run -m pascal -d uvm-nvidia -w nw:size=uvm:scale=0.5 \
  --set uvm.oversubscription=112.5 --set link.h2d_rate=7.95 --json -
printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 0.5\n3 2 1.25\n' >weights.mtx
same 'a graph with real weights' 0 run -w bfs:graph=weights.mtx --verify --json -
same 'a workload' 0 workload HS:scale=0.3
same 'a workload as JSON' 0 workload HS:scale=0.3 --json -
same 'options with their defaults' 0 list options
same 'a mistake with a number in it' 2 run -m pascal -d uvm-nvidia -w $small --set uvm.oversubscription=99999.5
check 'which keeps its point' grep -q 'uvm.oversubscription = 99999.5 ' comma.out
same 'an option that is no number' 2 run -w $small --set link.h2d_rate=7,95
same 'advice for a share of memory' 0 advise -q -w $small -d uvm-nvidia --memory 62.5% --db advise-@.db
same 'page touches' 0 touch "$source_root/examples/touches/tree.touch" --memory 4.5MB

for name in point comma; do
  in_$name run -q -w $small --json in-$name-a.json
  in_$name run -q -w $small --set l2_tlb.base_entries=64 --json in-$name-b.json
done
same 'a difference of results' 1 diff @-a.json @-b.json

cat >figure.yaml <<'YAML'
title: A test
machine: mask
variants:
  4k: {design: gpu-mmu}
  ideal: {design: ideal-tlb, set: link.h2d_rate=7.5}
workloads:
  one: {list: "gather:table=4MB:iterations=1:ctas=8"}
measures:
  speed: ipc
  rate: option.link.h2d_rate
table:
  4 KB pages: 1.5 * speed@4k / speed@ideal
  rate: rate@ideal
claims:
  mosaic-fig03-4k-loss: 100.5 * (1 - mean(speed@4k[one] / speed@ideal[one]))
YAML
same 'a figure' 0 reproduce ./figure.yaml -j 1 --db figure-@.db
same 'a figure as JSON' 0 reproduce ./figure.yaml -j 1 --db figure-@.db --json -
same 'claims' 0 claims --db figure-@.db mosaic
same 'a store as CSV' 0 export --db figure-@.db

# Every conversion of floating point has to go through src/sim/c_locale.c.
check 'nothing in the library reads or prints floating point by itself' eval \
  '! grep -rnE --include="*.[ch]" --exclude="c_locale.*" \
    -e "\b(strto(d|f|ld)|atof|v?sscanf|fscanf|vs?n?printf|vfprintf|vasprintf) ?\(" \
    -e "(^|[^_])\b(snprintf|fprintf|asprintf|dprintf)\(.*\"[^\"]*%[-+ #0-9.*]*[aefgAEFG]" "$source_root/src"'
finish
