#!/usr/bin/env bash
# A run is known by what it depends on: what a change to the sources does to the digests of scripts/core-version, and what
# another digest does to the runs of a store.
source "$(dirname "$0")/tap.sh"

cp -r "$source_root/src" "$source_root/include" . || exit 1
cat >mutate.py <<'PYTHON'
# changes(PATH, OLD, NEW): the parts whose digests are others when the last OLD of a file of the copy is NEW.
import functools, importlib.machinery, importlib.util, pathlib, sys
sys.path.insert(0, sys.argv[1] + "/scripts")
loader = importlib.machinery.SourceFileLoader("core_version", sys.argv[1] + "/scripts/core-version")
core_version = importlib.util.module_from_spec(importlib.util.spec_from_loader("core_version", loader))
sys.dont_write_bytecode = True
loader.exec_module(core_version)
root = pathlib.Path(".")
read_once = functools.cache(lambda path, folder, text: Source(path, folder))
Source = core_version.Source
core_version.Source = lambda path, folder: read_once(path, folder, path.read_text())
MECHANISMS = {("mechanisms",)}

def digests():
    parts = core_version.find_parts(core_version.read_sources(root))
    return {part: core_version.digest(tokens) for part, (_, tokens) in parts.items()}

before = digests()

def changes(path, old, new):
    file = root / path
    text = file.read_text()
    assert old in text, (path, old)
    file.write_text(new.join(text.rsplit(old, 1)))
    try:
        now = digests()
    finally:
        file.write_text(text)
    return {part for part in before.keys() | now.keys() if before.get(part) != now.get(part)}

def expect(found, wanted):
    assert found == wanted, (sorted(found), sorted(wanted))

def programs(*names):
    return {("program", name) for name in names}
PYTHON
mutation() { python3 -c "from mutate import *
$1" "$source_root"; }

check 'a comment, or a line broken elsewhere, changes nothing' mutation '
expect(changes("src/workload/micro/vecadd.c", "/*", "/* Another essay. */\n/*"), set())
expect(changes("src/workload/micro/vecadd.c", ";\n", "\n  ; // done\n\n"), set())
expect(changes("src/vm/mmu.c", " = ", "\n=\n"), set())
expect(changes("src/policy/tlb/tlb.def", "/*", "/* Organisations. */ /*"), set())'
check 'white space counts where it means something' mutation '
line = "/* A test of the test. */\n"
for one, other in (("int a = b + +c;", "int a = b ++ c;"), ("#define F(x) 1\n", "#define F (x) 1\n"),
                   ("char *s = \"a b\";", "char *s = \"a  b\";"), ("#define G 1\nint g;\n", "#define G 1 int g;\n"),
                   ("double d = 1.5;", "double d = 1 .5;"), ("int q = 1 / *p;", "int q = 1 /2;"), ("int n = 1;", "int n = 2;")):
    tokens = []
    for text in (one, other):
        path = pathlib.Path("probe.c")
        path.write_text(line + text)
        tokens.append(core_version.Source(path, root).tokens)
    assert tokens[0] != tokens[1], (one, tokens[0])'
check 'a program that is changed is changed alone' mutation '
expect(changes("src/workload/micro/vecadd.c", " = ", " += "), programs("vecadd"))
expect(changes("src/workload/rodinia/hs.c", " = ", " += "), programs("HS", "hotspot"))'
check 'what programs share belongs to those that use it' mutation '
expect(changes("src/workload/shoc/shoc_sum.h", "return", "return 1 +"), programs("RED", "SCAN"))
expect(changes("src/workload/rodinia/srad_kernels.c", " = ", " += "), programs("SRAD"))
expect(changes("src/workload/mummer/suffix_tree.c", " = ", " += "), programs("MUM"))
for file in ("graph.c", "graph.h", "graph_read.c", "graph_read.h", "graph_scan.c", "graph_snap.c", "graph_metis.c"):
    expect(changes("src/workload/graph/" + file, "struct", "volatile struct"),
           programs("BFS2", "bfs", "bc", "color", "fw", "mis", "mst", "page_rank"))'
check 'a policy that is changed is changed with those made of it and no others, and so are its headers' mutation '
for file in ("plain.c", "narrow.h", "wide.h"):
    expect(changes("src/policy/tlb/" + file, "static", "static volatile"),
           {("policy", "tlb", name) for name in ("plain", "compressed", "range")})
for file in ("compressed.c", "compressed_layout.h", "compressed_cost.c", "base_search.h"):
    expect(changes("src/policy/tlb/" + file, "static", "static volatile"), {("policy", "tlb", "compressed")})
expect(changes("src/policy/evict/tbn.c", "true", "false"), {("policy", "evict", "tbn")})'
check 'mechanisms belong to every run, and so do the headers of families and what programs run on' mutation '
for file in ("vm/mmu.c", "policy/tlb/tlb_policy.h", "policy/families.c", "workload/runtime/kernel.h", "sim/event.c",
             "workload/runtime/coroutine.c", "system/run.c", "page/page_mask.h"):
    expect(changes("src/" + file, "struct", "volatile struct"), MECHANISMS)
expect(changes("include/pagewalk/pagewalk.h", "uint64_t seed;", "uint32_t seed;"), MECHANISMS)'
check 'experiments belong to none' mutation '
expect(changes("src/exp/figure/plan.c", "return", "return 1 +"), set())'
check 'a new policy or program changes no other, wherever its line is' mutation '
new = root / "src/policy/prefetch/mine.c"
text = (root / "src/policy/prefetch/sl.c").read_text()
new.write_text(text.replace("policy_sl", "policy_mine").replace("\"sl\"", "\"mine\"", 1))
lines = (root / "src/policy/prefetch/prefetch.def").read_text()
line = next(line for line in lines.splitlines() if "(sl" in line)
for at in (line + "\n", line.replace("sl", "mine") + "\n" + line + "\n"):
    other = at if at != line + "\n" else at + line.replace("sl", "mine") + "\n"
    expect(changes("src/policy/prefetch/prefetch.def", line + "\n", other), {("policy", "prefetch", "mine")})
new.unlink()
new = root / "src/workload/micro/mine.c"
text = (root / "src/workload/micro/vecadd.c").read_text()
new.write_text(text.replace("pw_workload_vecadd", "pw_workload_mine").replace("\"vecadd\"", "\"mine\""))
expect(changes("src/workload/workloads.def", "PW_WORKLOAD(vecadd)", "PW_WORKLOAD(mine)\nPW_WORKLOAD(vecadd)"), programs("mine"))
new.unlink()'
check 'what a list says beside its lines belongs to the mechanisms' mutation '
expect(changes("src/workload/workloads.def", "PW_WORKLOAD(vecadd)", "int stray;\nPW_WORKLOAD(vecadd)"), MECHANISMS)'
check 'a file that nobody is seen to need belongs to the mechanisms' mutation '
pathlib.Path("src/workload/micro/stray.h").write_text("/* A stray. */\nint stray;\n")
expect(changes("src/workload/micro/vecadd.c", "/*", "/* */ /*"), MECHANISMS)
pathlib.Path("src/workload/micro/stray.h").unlink()'
check 'a list that names what no file defines is refused with a line that says so' eval \
  'sed -i "\$a PW_WORKLOAD(absent)" src/workload/workloads.def;
   ! "$source_root/scripts/core-version" . --list >/dev/null 2>message; code=$?; cp "$source_root/src/workload/workloads.def" src/workload;
   [ $code = 0 ] && [ "$(wc -l <message)" = 1 ] && grep -q "pw_workload_absent" message'
check 'every source but experiments is in a digest' mutation '
parts = core_version.find_parts(core_version.read_sources(root))
known = set().union(*(files for files, _ in parts.values()))
there = {str(p.relative_to(root / "src")) for p in (root / "src").rglob("*") if p.suffix in (".c", ".h", ".def", ".S")}
there = {name for name in there if not name.startswith("exp/")}
assert len(there) > 200 and there <= known, there - known
assert "pagewalk/pagewalk.h" in known'
check 'every policy and program that the program lists has a digest' python3 - "$source_root" "$pagewalk" <<'PYTHON'
import json, subprocess, sys
said = subprocess.check_output([sys.argv[1] + "/scripts/core-version", sys.argv[1], "--list"], text=True)
parts = {tuple(line.split()[:-1]) for line in said.splitlines()}
listed = {("program", e["name"]) for e in json.loads(subprocess.check_output([sys.argv[2], "list", "workloads", "--json", "-"]))}
assert listed == {p for p in parts if p[0] == "program"}, listed ^ parts
PYTHON

# What the linker knows: an object that a policy or program needs is in its digest or in the mechanisms'.
objects=$(dirname "$pagewalk")/src/libpagewalk.a.p
if [ -d "$objects" ] && command -v nm >/dev/null; then
  check 'no object that a run needs is outside of its digests' python3 - "$source_root" "$objects" <<'PYTHON'
import pathlib, subprocess, sys
said = subprocess.check_output([sys.argv[1] + "/scripts/core-version", sys.argv[1], "--files"], text=True)
parts = {}
for line in said.splitlines():
    *part, path = line.split()
    parts.setdefault(tuple(part), set()).add(path.replace("/", "_") + ".o")
common = parts.pop(("mechanisms",))
needed, defined = {}, {}
for path in pathlib.Path(sys.argv[2]).glob("*.c.o"):
    for line in subprocess.check_output(["nm", "-g", path], text=True).splitlines():
        *_, kind, symbol = line.split()
        if kind == "U":
            needed.setdefault(path.name, set()).add(symbol)
        else:
            defined[symbol] = path.name
assert len(parts) > 50 and len(defined) > 500
lists = {"policy_families.c.o", "workload_workloads.c.o"}
for part, objects in [(("mechanisms",), common), *parts.items()]:
    for one in objects & needed.keys() - lists:
        for symbol in needed[one] & defined.keys():
            there = defined[symbol]
            assert there in objects | common or there.startswith(("exp_", "meson-generated")), (part, one, symbol, there)
PYTHON
fi

# The runs of a store.
cat >figure.yaml <<'YAML'
title: A test
machine: mask
variants:
  4k: {design: gpu-mmu}
  ideal: {design: ideal-tlb}
workloads:
  one: {list: "gather:table=64MB:iterations=1 vecadd:n=100k"}
measures: {speed: ipc}
table: {4 KB pages: speed@4k / speed@ideal}
YAML
there() { "$pagewalk" reproduce ./figure.yaml --db "$1" --plan | grep -q ", 4 runs, $2 of them in the store"; }
sql() { python3 -c 'import sqlite3, sys
store = sqlite3.connect(sys.argv[1])
print(*(" ".join(map(str, row)) for row in store.execute(sys.argv[2])), sep="\n")
store.commit()' "$@"; }
"$pagewalk" reproduce ./figure.yaml --db a.db >/dev/null 2>&1
check 'runs with these versions are there' there a.db 4
check 'all have the mechanisms in common, and each design and program its own parts' eval \
  '[ "$(sql a.db "SELECT count(DISTINCT core), count(DISTINCT parts) FROM runs")" = "1 4" ] &&
   [ "$(sql a.db "SELECT DISTINCT length(core), length(parts) FROM runs")" = "12 16" ]'
sql a.db "UPDATE run SET core = substr(core, 1, 13) || '0123456789abcdef' WHERE workload LIKE 'vecadd%'" >/dev/null
check 'those of another version of a program are not taken' there a.db 2
"$pagewalk" reproduce ./figure.yaml --db a.db >/dev/null 2>&1
check 'they are made anew, and those of the other version stay' eval \
  'there a.db 4 && [ "$(sql a.db "SELECT workload, count(*) FROM run GROUP BY 1 ORDER BY 1" | cut -d" " -f2 | xargs)" = "2 4" ]'
sql a.db "UPDATE run SET core = 'fedcba987654' || substr(core, 13)" >/dev/null
check 'with other mechanisms none is' there a.db 0

# The same store as an older pagewalk would have left it.
python3 - <<'PYTHON'
import re, sqlite3
store = sqlite3.connect("a.db")
view, = store.execute("SELECT sql FROM sqlite_schema WHERE name = 'runs'").fetchone()
old = re.sub(r"substr\(.*AS core,\n.*AS parts", "r.core", view)
old = re.sub(r"IN \('gpus\.[^']*', ('gpu0\.[^']*')\) ORDER BY m\.name DESC LIMIT 1", r"= \1", old)
assert old != view
store.execute("DROP VIEW runs")
store.execute(old)
store.execute("UPDATE run SET core = '0.1.0+0123456789ab' || id")
store.execute("DROP TABLE stopped")
store.execute("PRAGMA user_version = 2")
store.commit()
PYTHON
line='^pagewalk: a.db: the 6 runs there were made by an older pagewalk, whose runs this one cannot use; `pagewalk export` still writes them$'
says_so() { [ "$code" = 0 ] && [ "$(wc -l <.stderr)" = 1 ] && grep -qE "$line" .stderr; }
run export --db a.db
check 'an old store can be exported' eval 'succeeds && [ "$(cut -d, -f1 .stdout | sort -u | wc -l)" = 7 ]'
run claims --db a.db
check 'claims says in a line that the runs of an old store are none of ours' says_so
run reproduce ./figure.yaml --db a.db --plan
check 'so does reproduce' eval 'says_so && grep -q ", 4 runs, 0 of them in the store" .stdout'
run reproduce ./figure.yaml --db a.db --plan
check 'but only once' succeeds
check 'and the old runs are still there' eval '[ "$(sql a.db "SELECT count(*) FROM runs WHERE core LIKE \"0.1.0+%\" AND parts = \"\"")" = 6 ]'

plan() { "$pagewalk" reproduce "$1" --db b.db --plan --json -; }
check 'a plan as JSON says what would be run, and its version' eval 'plan ./figure.yaml >plan.json && python3 - "$("$source_root/scripts/core-version" "$source_root" --list | sed -n "s/^mechanisms //p")" <<PYTHON
import json, sys
figure, = json.load(open("plan.json"))
assert (figure["runs"], figure["missing"], figure["figure"]) == (0, 4, "./figure.yaml"), figure
assert figure["version"]["mechanisms"] == sys.argv[1], figure
PYTHON'
check 'another option, workload or design is another version of a figure; another title is not' eval '
  version() { plan ./other.yaml | python3 -c "import json, sys; print(json.load(sys.stdin)[0][\"version\"])"; }
  cp figure.yaml other.yaml && same=$(version) &&
  sed "s/title: A test/title: Another/" figure.yaml >other.yaml && [ "$(version)" = "$same" ] &&
  sed "s/n=100k/n=90k/" figure.yaml >other.yaml && [ "$(version)" != "$same" ] &&
  sed "s/design: ideal-tlb/design: mosaic/" figure.yaml >other.yaml && [ "$(version)" != "$same" ]'
finish
