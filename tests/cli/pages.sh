#!/usr/bin/env bash
# pagewalk run --pages: the accesses are those of the program, batches and allocations add up to the metrics, and the file is
# whole or not there.
source "$(dirname "$0")/tap.sh"

cat >demand.yaml <<'YAML'
summary: Demand paging for these tests
paging: {mode: demand}
uvm: {prefetch: tbn, evict: lru4k, service: serial}
YAML
cat >batch.yaml <<'YAML'
summary: Demand paging in batches, for these tests
paging: {mode: demand}
uvm: {prefetch: nvidia, evict: nvidia, service: batch}
YAML

for workload in vecadd:n=200000:ctas=8 gather:ctas=8:iterations=2:table=4MB HS:side=256:iterations=3 bfs:nodes=4096; do
  run run -w $workload --pages pages.csv --json with.json -q
  check "$workload: --pages writes a file and nothing else" eval 'succeeds && [ ! -s .stdout ]'
  run run -w $workload --json without.json -q
  check "$workload: the log changes nothing in the result" cmp <(without_host with.json) <(without_host without.json)
  "$pagewalk" workload $workload --json - >profile.json 2>/dev/null
  check "$workload: the pages in the log are exactly those of the profile" python3 - <<'PYTHON'
import csv, json
rows = list(csv.DictReader(open("pages.csv")))
profile = json.load(open("profile.json"))
pages = {}
for r in rows:
    if r["record"] == "access":
        pages.setdefault(int(r["allocation"]), set()).add(int(r["page"]))
listed = [r for r in rows if r["record"] == "allocation"]
assert [(r["name"], int(r["bytes"])) for r in listed] == [(a["name"], a["bytes"]) for a in profile["allocations"]]
assert not any(r["far_faults"] for r in listed) and not any(r["record"] == "batch" for r in rows)
for number, a in enumerate(profile["allocations"]):
    assert len(pages.get(number, ())) == a["pages_touched"], (a["name"], len(pages.get(number, ())), a["pages_touched"])
    assert max(pages.get(number, {0})) < -(-a["bytes"] // 4096)
launches = [r for r in rows if r["record"] == "launch"]
assert len(launches) == sum(l["count"] for l in profile["launches"])
spans = {int(r["launch"]): (int(r["cycle"]), int(r["done"])) for r in launches}
cycle = 0
for r in rows:
    if r["record"] == "access":
        first, outer = spans[int(r["launch"])]
        assert first <= int(r["cycle"]) < outer and int(r["cycle"]) >= cycle, r
        cycle = int(r["cycle"])
PYTHON
done

for design in ./demand.yaml ./batch.yaml; do
  run run -m mosaic -d $design -w HS:side=512:iterations=3 --set uvm.memory=2MB --pages pages.csv --json r.json --csv r.csv --all
  check "$design: a run with demand paging shows its allocations" eval \
    'succeeds && grep -q "^Allocations" .stdout && grep -q "never used" .stdout'
  check "$design: allocations and batches add up to the metrics" python3 - <<'PYTHON'
import csv, json
rows, result = list(csv.DictReader(open("pages.csv"))), json.load(open("r.json"))
names = """far_faults pages_in pages_prefetched prefetched_used prefetched_evicted prefetched_resident pages_evicted
pages_written pages_thrashed""".split()
log = [r for r in rows if r["record"] == "allocation"]
long = [r for r in csv.DictReader(open("r.csv")) if r["component"].startswith("allocation.")]
for name in names:
    metric = result["metrics"]["app0.uvm." + name]
    assert metric == sum(a[name] for a in result["allocations"]), (name, metric)
    assert metric == sum(int(r[name]) for r in log), name
    assert metric == sum(int(r["value"]) for r in long if r["metric"] == name), name
    assert metric > 0 or name == "prefetched_resident", name
batches = [r for r in rows if r["record"] == "batch"]
assert len(batches) == result["metrics"]["gpu0.uvm.batches"] > 0
assert sum(int(r["pages_in"]) for r in batches) == result["metrics"]["gpu0.uvm.pages_in"]
assert sum(int(r["pages_out"]) for r in batches) == result["metrics"]["gpu0.uvm.pages_evicted"]
assert all(int(r["cycle"]) <= int(r["done"]) and int(r["faults"]) and int(r["blocks"]) for r in batches)
PYTHON
  run diff r.json r.json
  check "$design: a result is the same as itself" succeeds
done
check 'results that differ in an allocation differ' eval \
  'sed "s/\"pages_thrashed\": [0-9]*}/\"pages_thrashed\": 7777777}/" r.json >other.json; run diff r.json other.json; [ $code = 1 ] && grep -q "allocation0.pages_thrashed" .stdout'

run run -d ./demand.yaml -w vecadd:n=100000:ctas=4,vecadd:n=3000:ctas=2 --set uvm.memory=1MB --set apps.restart=fresh --pages pair.csv --json pair.json -q
check 'of an application that starts over the first run is logged; allocations add up all the same' python3 - <<'PYTHON'
import csv, json
rows, result = list(csv.DictReader(open("pair.csv"))), json.load(open("pair.json"))
for app in 0, 1:
    launches = [r for r in rows if r["record"] == "launch" and r["app"] == str(app)]
    used = {r["launch"] for r in rows if r["record"] == "access" and r["app"] == str(app)}
    assert used == {r["launch"] for r in launches}, (used, launches)
    assert len([r for r in rows if r["record"] == "allocation" and r["app"] == str(app)]) == 3
    mine = [a for a in result["allocations"] if a["app"] == app]
    assert len(mine) == 3
    assert sum(a["pages_in"] for a in mine) == result["metrics"][f"app{app}.uvm.pages_in"]
assert max(a["count"] for a in result["allocations"]) > 1
PYTHON

run run -d ./demand.yaml -w vecadd:n=100000:ctas=4,vecadd:n=3000:ctas=2 --set uvm.memory=128KB --pages kept.csv --json kept.json -q
check 'of allocations that are kept, the log has the first run and the result all of them' python3 - <<'PYTHON'
import csv, json
rows, result = list(csv.DictReader(open("kept.csv"))), json.load(open("kept.json"))
logged = sum(int(r["pages_in"]) for r in rows if r["record"] == "allocation" and r["app"] == "1")
mine = [a for a in result["allocations"] if a["app"] == 1]
assert [a["count"] for a in mine] == [1, 1, 1]
all_runs = sum(a["pages_in"] for a in mine)
assert all_runs == result["metrics"]["app1.uvm.pages_in"]
assert 9 <= logged < all_runs, (logged, all_runs)
PYTHON

# uvm-fig12-iters
run run -m pascal -d uvm-tbn-tbn -w nw:size=uvm --pages nw.csv -q
check 'launches 60 and 70 of nw can be drawn without eviction, and access pages far apart again and again' python3 - <<'PYTHON'
import csv
rows = list(csv.DictReader(open("nw.csv")))
assert sum(r["record"] == "launch" for r in rows) == 127
assert all(int(r["pages_evicted"]) == 0 for r in rows if r["record"] == "allocation")
for launch in "60", "70":
    mine = [r for r in rows if r["record"] == "access" and r["launch"] == launch and r["name"] == "matrix"]
    pages = sorted({int(r["page"]) for r in mine})
    assert pages[-1] - pages[0] > 900, pages                            # from one end of 1,027 pages to the other
    assert len(mine) > len(pages)                                       # some in more than one interval or operation
PYTHON

run run -w $small --pages a.csv -q && cp a.csv b.csv
run run -w $small --pages a.csv -q
check 'the same inputs give the same log' cmp a.csv b.csv
run run -w vecadd:n=200000:ctas=8 --pages short.csv --pages-interval 100 -q
run run -w vecadd:n=200000:ctas=8 --pages long.csv --pages-interval 1000000 -q
check '--pages-interval: shorter intervals have more accesses to the same pages' python3 - <<'PYTHON'
import csv
short, long = ([r for r in csv.DictReader(open(f)) if r["record"] == "access"] for f in ("short.csv", "long.csv"))
key = lambda r: (r["launch"], r["allocation"], r["page"], r["op"])
assert len(short) > len(long) == len(set(map(key, long)))
assert set(map(key, short)) == set(map(key, long))
PYTHON
run run -w vecadd:n=200000:ctas=8 --pages cut.csv --pages-limit 5 -q
check '--pages-limit keeps so many accesses and says how many it has left out' eval \
  'succeeds && [ "$(grep -c "^access," cut.csv)" = 5 ] && grep -qE "^truncated,,[0-9]+,,,,access,.*,[0-9]+$" cut.csv && grep -q "^allocation," cut.csv'

fails 'a log to standard output' 2 '--pages cannot go to standard output' run -w $small --pages -
fails 'a log and a result in one file' 2 '--json and --pages name the same file' run -w $small --json a --pages a
fails 'a log and a timeline in one file' 2 'same file' run -w $small --timeline a --pages a
fails 'a log in a folder that is not there' 2 'no/such/a: cannot be created' run -w $small --pages no/such/a
fails 'a log that is a folder' 2 'is a folder' run -w $small --pages .
fails 'an interval of nothing' 2 'no whole number' run -w $small --pages a --pages-interval 0
fails 'a limit of nothing' 2 'no whole number' run -w $small --pages a --pages-limit 0
mkdir small
(ulimit -f 1 && "$pagewalk" run -w vecadd:n=200000:ctas=8 -q --pages small/a.csv >.stdout 2>.stderr)
code=$?
check 'a log that cannot be finished leaves nothing behind' eval 'is_error 1 "small/a.csv: cannot be written" && only_files small ""'
"$pagewalk" run -w pointer_chase:bytes=1MB:hops=4000000000 --pages small/long.csv >.stdout 2>.stderr &
job=$!
sleep 0.5
kill -s INT $job
wait $job
code=$?
check 'an interrupted run leaves no log' eval 'is_error 130 "interrupted" && only_files small ""'
finish
