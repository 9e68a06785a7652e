#!/usr/bin/env bash
# TLB compression's figures: which programs they run and in which classes, and what their columns are.
source "$(dirname "$0")/tap.sh"

cat >table2.py <<'PYTHON'
"""Table 2 as data/compression-table2.csv has it, and the lists of experiments/sizes.yaml without their parameters."""
import csv, pathlib, re, sys
root = pathlib.Path(sys.argv[1])
lines = (root / "data/compression-table2.csv").read_text().splitlines()
table = {row["program"]: row for row in csv.DictReader(line for line in lines if not line.startswith("#"))}
text = (root / "experiments/sizes.yaml").read_text()
lists = {name: [re.sub(r"^compression-|:.*", "", word) for word in words.split()]
         for name, words in re.findall(r"^  compression-([\w]+): ((?:.*\n)(?:    .*\n)*)", text, re.M)}


def those(**wanted):
    return {name for name, row in table.items() if all(row[key] == value for key, value in wanted.items())}
PYTHON

# comp-sec31-count comp-sec31-suites comp-tab2-spmv comp-tab2-mst comp-tab2-heartwall comp-tab2-bh comp-tab2-page-rank
# comp-tab2-srad comp-tab2-fw comp-tab2-mis comp-tab2-color comp-tab2-hotspot comp-tab2-dwt comp-tab2-kmeans
# comp-tab2-bfs comp-tab2-2dconv comp-tab2-stencil comp-tab2-backprop comp-tab2-pathfinder comp-tab2-mvt comp-tab2-nw
# comp-tab2-bicg comp-tab2-atax comp-tab2-bc
check 'data/compression-table2.csv has the programs of the paper, and their classes' python3 - "$source_root" <<'PYTHON'
import sys
exec(open("table2.py").read())
assert those(suite="Parboil") == set("spmv stencil".split())
assert those(suite="Lonestar") == set("mst bh".split())
assert those(suite="Pannotia") == set("page_rank fw mis color bc".split())
assert those(suite="Poly") == set("2dconv mvt bicg atax".split())
assert those(suite="Rodinia") == set("heartwall srad hotspot dwt kmeans bfs backprop pathfinder nw".split())
assert those(intensity="memory") == set("mst bh fw color kmeans bfs pathfinder nw atax".split())
assert those(regularity="regular") == set("heartwall srad hotspot 2dconv stencil backprop pathfinder".split())
assert those(l1="high", l2="high") == set("spmv mst heartwall".split())
assert those(l1="low", l2="high") == set("bh page_rank srad fw mis color".split())
assert those(l1="high", l2="low") == set("kmeans 2dconv backprop".split())
assert those(l1="low", l2="low") == set("hotspot dwt bfs stencil pathfinder mvt nw bicg atax bc".split())
assert len(table) == len(lists["22"]) == 22 and set(lists["22"]) == set(table)
PYTHON
# comp-tab2-memirr-count comp-tab2-cr-count
check 'the lists of the figures are the classes of the table' python3 - "$source_root" <<'PYTHON'
import sys
exec(open("table2.py").read())
assert set(lists["regular"]) == those(intensity="compute", regularity="regular") and len(lists["regular"]) == 6
assert set(lists["16"]) == set(table) - set(lists["regular"]) and len(lists["16"]) == 16
assert set(lists["irregular"]) == those(regularity="irregular") and len(lists["irregular"]) == 15
assert set(lists["compute"]) == those(intensity="compute") and len(lists["compute"]) == 13
assert set(lists["memory"]) == those(intensity="memory") and len(lists["memory"]) == 9
PYTHON
# comp-fig4-set
check 'reuse distances are those of one irregular, one compute-intensive and one memory-intensive program' eval \
  'sed -n "/^workloads:/,/^measures:/p" "$source_root/experiments/compression/fig04.yaml" | grep -o "^  [a-z]*" | xargs |
   diff - <(echo bfs heartwall nw)'

# small FIGURE GROUP...: the figure with small programs in the place of its own, each in a group of these names.
small() {
  local figure=$1
  shift
  { sed '/^workloads:/,$d' "$source_root/experiments/compression/$figure.yaml"
    echo workloads:
    local table=2048
    for group in "$@"; do
      echo "  $group: {list: \"gather:table=${table}KB:iterations=10:ctas=16\"}"
      table=$((table * 2))
    done
    sed -n '/^measures:/,$p' "$source_root/experiments/compression/$figure.yaml"; } >"$figure.yaml"
  "$pagewalk" reproduce "./$figure.yaml" -q --db small.db --json "$figure.json" >/dev/null
}

# cycles DESIGN: of the largest program of small().
cycles() {
  "$pagewalk" run -m kepler -d "$1" -w gather:table=4096KB:iterations=10:ctas=16 --set page.frames=chunks --quiet \
    --json - | python3 -c 'import json, sys; print(json.load(sys.stdin)["cycles"])'
}

# normalised FIGURE HEADING DESIGN: the column is the baseline's time over that of the design.
normalised() {
  python3 - "$1.json" "$2" "$(cycles gpu-mmu)" "$(cycles "$3")" <<'PYTHON'
import json, sys
figure, heading, base, design = sys.argv[1:]
columns = {c["heading"]: c for c in json.load(open(figure))[0]["columns"]}
item = [i for i in columns[heading]["items"] if "table=4096KB" in i["workload"]][0]
assert int(base) != int(design) and abs(item["value"] - int(base) / int(design)) < 1e-9, (item, base, design)
PYTHON
}

small fig18 irregular pathfinder
small fig20 irregular pathfinder
# comp-sec31-speedup-def comp-fig18-norm
check 'compression is shown as the time of the baseline over its own' normalised fig18 compression compress
# comp-sec31-speedup-def comp-fig18-norm
check 'the range TLB is shown as the time of the baseline over its own' normalised fig18 'range TLB' range-tlb
# comp-fig20-norm
check '2 MB pages are shown as the time of the baseline with 4 KB pages over their own' normalised fig20 '2 MB' gpu-mmu-2m
# comp-fig20-norm
check 'compression of 2 MB pages is shown over the baseline with 4 KB pages' \
  normalised fig20 '2 MB, compression' gpu-mmu-2m+compress

groups=$(sed -n '/^workloads:/,/^measures:/p' "$source_root/experiments/compression/table2.yaml" |
  sed -n 's/^  \([a-z0-9_]*\):.*/\1/p')
# Sizes repeat after nine programs, so that groups have hit rates on both sides of the boundary.
{ sed '/^workloads:/,$d' "$source_root/experiments/compression/table2.yaml"
  echo workloads:
  i=0
  for group in $groups; do
    echo "  $group: {list: \"gather:table=$((32 << i % 9))KB:iterations=$((5 + i)):ctas=16\"}"
    i=$((i + 1))
  done
  sed -n '/^measures:/,$p' "$source_root/experiments/compression/table2.yaml"; } >table2.yaml
"$pagewalk" reproduce ./table2.yaml -q --db small.db --json table2.json >/dev/null
# comp-fig3-threshold
check 'a hit rate is high above 75%, at both levels' python3 - <<'PYTHON'
import json
figure = json.load(open("table2.json"))[0]
columns = {c["heading"]: [i["value"] for i in c["items"]] for c in figure["columns"]}
l1, l2 = columns["L1 hits (%)"], columns["L2 hits (%)"]
ours = {c["id"].rpartition("-")[2]: c["ours"] for c in figure["claims"] if "-class-" in c["id"]}
assert any(x > 75 for x in l1) and any(x < 75 for x in l1) and any(x > 75 for x in l2) and any(x < 75 for x in l2)
for name, high1, high2 in (("hh", 1, 1), ("lh", 0, 1), ("hl", 1, 0), ("ll", 0, 0)):
    expected = sum((a > 75) == high1 and (b > 75) == high2 for a, b in zip(l1, l2))
    assert ours[name] == [expected], (name, ours[name], expected)
PYTHON
# Sixteen CTAs, one on each SM, read the same three pages: each SM misses for itself, and there is a walk for each page.
"$pagewalk" run -m kepler -w gather:table=4KB:ctas=16:warps=1:n=512 --quiet --json pages.json
# comp-tab3-l1tlb-private comp-tab3-l2tlb-shared
check 'each of 16 SMs has an L1 TLB of its own, and all share one L2 TLB' python3 - <<'PYTHON'
import json
metrics = json.load(open("pages.json"))["metrics"]
assert metrics["gpu0.l1_tlb.primary_misses"] == 16 * 3 and metrics["gpu0.walk.count"] == 3
PYTHON
# comp-sec22-l1-same
check 'L1 TLBs are organised and searched as the L2 TLB is' eval \
  '"$pagewalk" list options | sed -n "s/^\(l[12]\)_tlb\.\([a-z_.]*organisation[a-z_.]*\) .*/\1 \2/p" >organisations &&
   diff <(sed -n "s/^l1 //p" organisations) <(sed -n "s/^l2 //p" organisations) && [ "$(wc -l <organisations)" -gt 20 ]'
finish
