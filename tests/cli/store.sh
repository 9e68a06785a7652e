#!/usr/bin/env bash
# pagewalk export, what it says about files that are no result store, and the queries of docs/store.md. The second
# argument is the program that makes a store.
make_store=$(realpath "$2")
source "$(dirname "$0")/tap.sh"

fails 'no store' 2 'pagewalk.db: does not exist; `pagewalk reproduce` makes one' export
check 'a store is not made by asking for it' only_files .
"$make_store" pagewalk.db 3 || exit 1
cp pagewalk.db good
unchanged() { cmp "$1" "$2"; }

run export
check 'CSV on standard output unless told otherwise' eval \
  'succeeds && [ "$(head -n 1 .stdout)" = run,app,component,metric,unit,value,machine,design,workload,seed ]'
check 'CSV has one run per seed' eval '[ "$(cut -d, -f1 .stdout | sort -u | grep -c "^mosaic/gpu-mmu/HS:side=64/[123]#[123]$")" = 3 ]'
cp .stdout expected.csv
run export --csv a.csv --json a.json
check 'files, and nothing on standard output' eval 'succeeds && [ ! -s .stdout ] && cmp a.csv expected.csv && is_json a.json'
run export --db good --json - -d gpu-mmu -m mosaic -w HS:side=64
check 'JSON on standard output' eval 'succeeds && cmp .stdout a.json'
check 'an object of the array is a result that diff takes' eval \
  'python3 -c "import json; print(json.dumps(json.load(open(\"a.json\"))[0]))" >one.json && "$pagewalk" diff one.json one.json'
run export --json - --design other
check 'nothing matches: an empty array' eval 'succeeds && [ "$(cat .stdout)" = "[]" ]'
check 'the store is as before' unchanged pagewalk.db good

fails 'two outputs on standard output' 2 'cannot both' export --csv - --json -
fails 'two outputs in one file' 2 'same file' export --csv x --json x
fails 'the store as output' 2 'pagewalk.db: is the result store itself' export --csv pagewalk.db
ln pagewalk.db link.db
fails 'the store as output under another name' 2 'link.db: is the result store itself' export --json link.db
rm link.db
fails 'a word too many' 2 'export takes no "pagewalk.db"' export pagewalk.db
fails 'output in a missing folder' 2 'missing/a.csv: cannot be created' export --csv missing/a.csv
"$pagewalk" export >/dev/full 2>.stderr
code=$? && : >.stdout
check 'a full disk fails' is_error 1 'standard output cannot be written'
check 'the store is still as before' unchanged pagewalk.db good

mkdir folder
fails 'a folder' 2 '^pagewalk: folder: is a folder' export --db folder
echo text >text.db
fails 'a text' 2 '^pagewalk: text.db: is no result store' export --db text.db
: >empty.db
fails 'an empty file' 2 '^pagewalk: empty.db: is empty' export --db empty.db
python3 -c 'import sqlite3; c = sqlite3.connect("foreign.db"); c.execute("CREATE TABLE t(a)"); c.commit()'
cp foreign.db foreign
fails 'a database of another program' 2 '^pagewalk: foreign.db: is a database of another program' export --db foreign.db
check 'it is left alone' unchanged foreign.db foreign
head -c 9000 good >cut.db
echo before >kept.csv
fails 'a store that was cut off' 2 '^pagewalk: cut.db: is damaged' export --db cut.db --csv kept.csv
check 'the output that was there is kept' eval '[ "$(cat kept.csv)" = before ]'

check 'the queries of docs/store.md run, and the tables it shows are those of a store' python3 - "$source_root" <<'PYTHON'
import pathlib, re, sqlite3, sys
page = (pathlib.Path(sys.argv[1]) / "docs/store.md").read_text()
store = sqlite3.connect("file:pagewalk.db?mode=ro", uri=True)
queries = [q for block in re.findall(r"```sql\n(.*?)```", page, re.S) for q in block.split(";") if q.strip()]
assert len(queries) >= 5, len(queries)
for query in queries:
    store.execute(query).fetchall()
listed = {}
for name, columns in re.findall(r"^\| `(\w+)` \| ((?:`\w+`(?:, )?)+) \|", page, re.M):
    listed[name] = re.findall(r"`(\w+)`", columns)
names = [n for n, in store.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")]
assert sorted(listed) == sorted(names), set(listed) ^ set(names)
for name in names:
    columns = [row[1] for row in store.execute(f"PRAGMA table_info({name})")]
    assert listed[name] == columns, (name, columns)
PYTHON
finish
