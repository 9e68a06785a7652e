#!/usr/bin/env bash
# pagewalk claims, and the scripts that build the claims and the tests' names in.
source "$(dirname "$0")/tap.sh"
# A row that tests decide, and an id that no row has. Written so that this file does not name them.
tested=mosaic-tab1''-cores
wrong=mosaic-fig08''-agv

run claims --db none.db
check 'without a store and a log nothing was run' eval \
  'succeeds && awk "\$1 == \"all\" { exit !(\$3 == 0 && \$4 == 0 && \$5 == 0 && \$6 + \$7 == 1199 && \$7 > 0 && \$8 == 48 && \$9 == 1247) }" .stdout && [ "$(grep -c " headline " .stdout)" = 5 ]'
check 'nothing is written' only_files .
run claims mosaic uvm --db none.db
check 'papers can be chosen' eval 'succeeds && grep -qE "^all +all .* 469$" .stdout && ! grep -qE "mask|compression|gmmu" .stdout'
run claims --list mask --kind headline --db none.db
check 'a line has the place and the value' eval \
  'succeeds && [ "$(wc -l <.stdout)" = 5 ] && grep -qE "^mask-fig11-avg +Fig. 11; Sec. 7.1; Abstract +57.8 % +not run +" .stdout'
run claims --list --verdict out-of-scope
check 'a verdict can be chosen' eval 'succeeds && [ "$(wc -l <.stdout)" = 49 ] && [ "$(grep -c "out of scope  context$" .stdout)" = 48 ]'
run claims --list --verdict holds --db none.db
check 'nothing holds that was not run' eval 'succeeds && [ "$(wc -l <.stdout)" = 1 ]'

run claims --tests
check '--tests shows every mechanism and config row once or with its tests' eval 'succeeds && python3 - .stdout <<PYTHON
import re, sys
text = open(sys.argv[1]).read()
named, all_rows = map(int, re.match(r"(\d+) of (\d+) mechanism and config rows are named by tests:", text).groups())
without = int(re.search(r"^(\d+) are not:$", text, re.M)[1])
above, below = re.split(r"^\d+ are not:$", text, flags=re.M)
ids = lambda part: {l.split()[0] for l in part.splitlines()[1:] if l}
below, gone = re.split(r"^\d+ are not modelled:$", below, flags=re.M)
assert all_rows + len(ids(gone)) == 683 and named + without == all_rows, (named, without, all_rows)
assert len(ids(above)) == named and len(ids(below)) == without and not ids(above) & ids(below)
assert ids(gone) and not ids(gone) & (ids(above) | ids(below))
PYTHON'
check '--tests names the case beside the row' eval \
  'grep -qE "^$tested +golden/machines +mosaic_is_the_machine_of_its_table_1$" .stdout'
run claims --json - --db none.db
check '--json has every row' eval 'succeeds && python3 - .stdout <<PYTHON
import json, sys
rows = json.load(open(sys.argv[1]))
assert len(rows) == 1247 and len({r["id"] for r in rows}) == 1247
assert {r["verdict"] for r in rows} == {"not run", "not modelled", "out of scope"}
assert all((r["verdict"] == "not modelled") == ("reason" in r) for r in rows)
assert all(r["ours"] == [] and r["claim"] and r["judge"] for r in rows)
PYTHON'
run claims --json - uvm --kind headline
check '--json takes the same choices' eval 'succeeds && [ "$(grep -c "\"id\"" .stdout)" = 2 ]'

# What the project has measured is shown as such where nobody has run anything.
run claims
check 'without runs the results of the project are shown, with the versions that measured them' eval \
  'succeeds && python3 - "$source_root" "$("$pagewalk" --version)" .stdout <<PYTHON
import json, pathlib, re, sys
results = {p.stem: json.loads(p.read_text()) for p in sorted((pathlib.Path(sys.argv[1]) / "data/results").glob("*.json"))}
text = open(sys.argv[3]).read()
rows = {tuple(line.split()[:2]): line.split()[2:] for line in text.splitlines() if line}
for paper, scopes in results.items():
    decided = {c["id"]: c["verdict"] for scope in ("quick", "full") for f in scopes.get(scope, []) for c in f["claims"]
               if c["verdict"] != "not run"}
    shown = sum(map(int, rows[paper, "all"][:3]))
    assert shown == len(decided), (paper, shown, len(decided))
    assert int(rows[paper, "headline"][0]) <= len(decided) and "\n%s: %s of %d hold" % (paper, rows[paper, "all"][0], shown) in text
versions = {f["version"]["mechanisms"] for s in results.values() for fs in s.values() for f in fs}
said = " ".join(text.split())
assert "Measured by the project, not by you" in said and "earlier version" in said
assert set(re.search(r"earlier version of the simulator \((.*?)\)", said)[1].split(", ")) == versions
PYTHON'
check 'nothing is written' only_files .
run claims --list --kind headline
check 'a line of the project names the version' eval \
  'succeeds && [ "$(grep -cE " (holds|weak|differs) .* full( \(20% of its workloads\))?, the project.s with [0-9a-f]{12}" .stdout)" = 18 ] && [ "$(grep -c "20% of its" .stdout)" = 8 ]'
run claims --json - mask --kind headline
check '--json too' eval 'succeeds && [ "$(grep -cE "\"measured_with\": \"[0-9a-f]{12}\"" .stdout)" = 4 ]'
run claims --why
check '--why has a reason and a page for every paper' eval 'succeeds && python3 - "$source_root" .stdout <<PYTHON
import pathlib, re, sys
root, text = pathlib.Path(sys.argv[1]), open(sys.argv[2]).read()
assert max(map(len, text.splitlines())) <= 80
lines = " ".join(text.split())
found = re.findall(r"(\S+): (\d+) of (\d+) hold.*? differ\. (.*?) See (docs/\S+\.md)\.", lines)
assert [f[0] for f in found] == ["mosaic", "mask", "compression", "uvm", "gmmu-bypass"], found
assert all((root / page).is_file() and len(why) > 60 for *_, why, page in found)
PYTHON'

# A store that decides something is shown instead, first pagewalk.db, then that of scripts/quickstart.
quickly=compression/sec54 claim=comp-sec54-2m-harm
mkdir -p results/quickstart
"$pagewalk" reproduce $quickly --db results/quickstart/pagewalk.db >/dev/null 2>&1
run claims
check 'the store of the quickstart is found' eval \
  'succeeds && grep -q "^From the runs in results/quickstart/pagewalk.db; .*--project" .stdout && ! grep -q "by the project" .stdout'
run claims --list compression
check 'its rows name no version of the project' eval \
  'grep -q "^$claim .* $quickly quick$" .stdout && ! grep -q "the project" .stdout'
seconds=$( { TIMEFORMAT=%U; time "$pagewalk" claims >/dev/null; } 2>&1)
check "claims takes no seconds over a store ($seconds s of CPU time)" awk -v s="$seconds" 'BEGIN { exit !(s < 2.5) }'
run claims --project
check '--project shows what the project has measured' eval 'succeeds && grep -q "^Measured by the project" .stdout'
"$pagewalk" reproduce uvm/table1 --db pagewalk.db >/dev/null 2>&1
run claims
check 'pagewalk.db goes before it' eval 'succeeds && grep -q "^From the runs in pagewalk.db;" .stdout'
fails 'two sources at once' 2 'one of --db and --project' claims --project --db pagewalk.db
rm -r results pagewalk.db

printf 'test,case,outcome\ngolden/machines,mosaic_is_the_machine_of_its_table_1,pass\n' >log.csv
run claims mosaic --list --verdict holds --tests-log log.csv
check 'a case that passed decides the rows that it alone names' eval \
  'succeeds && grep -qE "^$tested .* 30 [a-zA-Z]+ +1 of 1 passed +holds +golden/machines: mosaic_is_the_machine" .stdout'
sed -i 's/pass$/fail/' log.csv
run claims mosaic --list --verdict differs --tests-log log.csv
check 'a case that failed, too' eval 'succeeds && grep -qE "^$tested .* differs " .stdout'
mkdir build-test && mv log.csv build-test/outcomes.csv
run claims mosaic --list --verdict differs
check 'the log of scripts/test is found' eval 'succeeds && grep -q "^$tested " .stdout'
rm -r build-test

fails 'unknown paper' 2 'unknown paper "mosiac"; did you mean "mosaic"' claims mosiac
fails 'unknown kind' 2 'unknown kind of claim "trends"; did you mean "trend"' claims --kind trends
fails 'unknown verdict' 2 'unknown verdict "hold"; did you mean "holds"' claims --list --verdict hold
fails 'two forms at once' 2 'one of --why, --list, --tests and --json' claims --list --json -
fails 'missing log' 2 'nowhere.csv: cannot be read' claims --tests-log nowhere.csv
printf 'test,case,outcome\nunit/x,y\n' >cut.csv
fails 'log that was cut off' 2 'cut.csv:2: is no test,case,outcome' claims --tests-log cut.csv
echo 'this is no database, however long it may be' >foreign.db
fails 'foreign database' 2 'foreign.db' claims --db foreign.db
check 'a foreign database stays as it was' grep -q '^this is no database' foreign.db

check 'docs/claims.md shows what the program prints' python3 - "$source_root" "$pagewalk" <<'PYTHON'
import pathlib, re, shlex, subprocess, sys
page = (pathlib.Path(sys.argv[1]) / "docs/claims.md").read_text()
blocks = re.findall(r"^```console\n\$ pagewalk (.*?)\n(.*?)^```$", page, re.M | re.S)
assert len(blocks) >= 2
for command, expected in blocks:
    output = subprocess.check_output([sys.argv[2], *shlex.split(command)], text=True)
    assert output == expected, (command, output)
PYTHON

# A row with one field changed, through the script that compiles it in: embed ID FIELD VALUE.
embed() {
  python3 - "$source_root/data/claims/mosaic.csv" "$@" >mosaic.csv <<'PYTHON'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
out = csv.DictWriter(sys.stdout, rows[0].keys(), lineterminator="\n")
out.writeheader()
for row in rows:
    if row["id"] == sys.argv[2]:
        row[sys.argv[3]] = sys.argv[4]
    out.writerow(row)
PYTHON
  "$source_root/scripts/embed-claims" out.c mosaic.csv 2>embed.txt
}
refused() { # REGEX ID FIELD VALUE
  local regex=$1
  shift
  if embed "$@"; then echo 'accepted'; return 1; fi
  grep -qE "^mosaic.csv:[0-9]+: $regex" embed.txt || { cat embed.txt; return 1; }
}
check 'the rows as they are go in' embed mosaic-fig08-avg value 55.5
check 'an unknown kind is refused' refused 'unknown kind "numbr"' mosaic-fig08-avg kind numbr
check 'an unknown judge is refused' refused 'unknown judge "gains"' mosaic-fig08-avg judge gains
check 'a number decided by tests is refused' refused 'a row of kind headline cannot' mosaic-fig08-avg judge test
check 'an id given twice is refused' refused 'the id "mosaic-fig09-avg" is also at' mosaic-fig08-avg id mosaic-fig09-avg
check 'a gain of 0 is refused' refused 'a gain of 0 says that nothing changes' mosaic-fig08-avg value 0
check 'a bound for a gain is refused' refused 'the value ">55.5" does not suit' mosaic-fig08-avg value '>55.5'
check 'a bare sign is refused' refused 'the value ">" does not suit' mosaic-fig08-both-levels value '>'
check 'a chain that turns round is refused' refused 'the value "1<3>2" does not suit' mosaic-tab2-monotone value '1<3>2'
check 'another spelling of a place is refused' refused '"Fig 8" is no place' mosaic-fig08-avg where 'Fig 8'
check 'a gain in another unit is refused' refused 'a gain is in %' mosaic-fig08-avg unit MB

# Rows that could not but hold.
weak() { # REGEX LINE…
  local regex=$1
  shift
  printf '%s\n' "$@" >weak.csv
  if embed mosaic-fig08-avg value 55.5; then echo 'accepted'; rm weak.csv; return 1; fi
  rm weak.csv
  grep -qE "^weak.csv:[0-9]+: $regex" embed.txt || { cat embed.txt; return 1; }
}
check 'a weak row is compiled in with its reason' eval \
  'printf "id,reason\nmosaic-fig08-avg,why not\n" >weak.csv && embed mosaic-fig08-avg value 55.5 && rm weak.csv && grep -q "\"why not\"" out.c'
check 'a weak row that is none is refused' weak "no claim has the id \"$wrong\"" id,reason "$wrong,why"
check 'a weak row that tests decide is refused' weak "$tested is not a row that figures decide" id,reason "$tested,why"
check 'a weak row given twice is refused' weak '.* is listed twice' id,reason mosaic-fig08-avg,a mosaic-fig08-avg,b
check 'a weak row without a reason is refused' weak 'is no id,reason' id,reason mosaic-fig08-avg,

# Which case an id belongs to, by where it stands.
mkdir -p fake/unit fake/cli
cat >fake/unit/sample.c <<'C'
/* What it is about: mosaic-fig09-avg, among others. */
#include <cmocka.h>

static const char *const table[] = {
    "mask-fig11-avg",
};

static int helper(void)
{
    return table[0][0];
}

/* mosaic-fig09-avg is this one's. */
static void first(void **state)
{
    (void)state;
}

static void second(void **state)
{
    (void)state;
    helper(); /* mosaic-fig09-ideal-gap */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(first), cmocka_unit_test(second)};
}
C
cat >fake/cli/sample.sh <<'SHELL'
check 'before' true
# mosaic-fig08-ideal-gap
check 'the case' true
SHELL
find_tests() {
  "$source_root/scripts/claim-tests" fake out.c out.d "$source_root"/data/claims/{mosaic,mask}.csv 2>find.txt
}
check 'ids belong to the function or table that they stand in' eval 'find_tests && diff - <(grep "^    {\"" out.c) <<TABLE
    {"mask-fig11-avg", "unit/sample", "second"},
    {"mosaic-fig08-ideal-gap", "cli/sample", "the case"},
    {"mosaic-fig09-avg", "unit/sample", "first"},
    {"mosaic-fig09-ideal-gap", "unit/sample", "second"},
TABLE'
unowned() { # FILE LINE REGEX: a line more at the top of a file fails the build.
  cp "$1" kept && { echo "$2"; cat kept; } >"$1"
  find_tests
  local code=$?
  mv kept "$1"
  [ $code != 0 ] && grep -qE "^$1:1: $3" find.txt
}
check 'an id that stands only in the essay of a file fails the build' unowned \
  fake/unit/sample.c '/* Decides mosaic-fig08-avg. */' 'mosaic-fig08-avg belongs to no case'
check 'so does one that no check of a script follows' eval \
  'echo "# mosaic-fig08-avg" >>fake/cli/sample.sh; ! find_tests && grep -q "sample.sh:4: mosaic-fig08-avg belongs to no case" find.txt'
sed -i '$d' fake/cli/sample.sh
unmodelled=$(sed -n 2p "$source_root/data/claims/not-modelled.csv" | cut -d, -f1)
check 'and one of a row that is not modelled' unowned \
  fake/unit/sample.c "/* $unmodelled */" "$unmodelled is not modelled"
check 'without these it builds again' find_tests

# Reasons beside the rows: embed again with such a file.
reasoned() { # LINES REGEX
  printf 'id,reason\n%b' "$1" >not-modelled.csv
  embed mosaic-fig08-avg value 55.5
  local code=$?
  rm not-modelled.csv
  [ $code != 0 ] && grep -qE "^not-modelled.csv:[0-9]+: $2" embed.txt
}
check 'a reason for a row that does not exist is refused' reasoned "$wrong,why\n" "no claim has the id \"$wrong\""
check 'a headline cannot be left out of the model' reasoned 'mosaic-fig08-avg,why\n' 'mosaic-fig08-avg is a headline or context'
check 'a number that nothing measures can' eval '! reasoned "mosaic-fig03-4k-loss,why\n" "" && [ ! -s embed.txt ]'
check 'a row is left out of the model for a reason' reasoned "$tested,\n" 'is no id,reason'
check 'and once' reasoned "$tested,why\n$tested,why\n" "$tested is a headline or context, or is listed twice"

echo "/* $wrong */" >>fake/unit/sample.c
check 'an id that no row has fails the build with its line' eval \
  '! find_tests && grep -qE "fake/unit/sample.c:[0-9]+: no claim has the id \"$wrong\"" find.txt'
finish
