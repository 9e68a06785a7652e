#!/usr/bin/env bash
# The source keeps to what docs/source-tour.md and CONTRIBUTING.md promise.
source "$(dirname "$0")/tap.sh"

check 'a folder includes only those below it in docs/source-tour.md' python3 - "$source_root" <<'PYTHON'
import pathlib, re, sys
root = pathlib.Path(sys.argv[1])
tour = re.findall(r"^\| `(?:src/)?([a-z]+)/(?:FAMILY/|pagewalk/)?` \|", (root / "docs/source-tour.md").read_text(), re.M)
rank = {folder: i for i, folder in enumerate(tour)}
folders = {p.name for p in (root / "src").iterdir() if p.is_dir()}
assert folders <= rank.keys(), ("not in the tour", folders - rank.keys())
# An ideal TLB is the page table itself, and ranges are found there.
known = {("src/policy/tlb/ideal.c", "vm/page_table.h"), ("src/policy/tlb/range.c", "vm/page_table.h")}
wrong = []
for path in sorted((root / "src").rglob("*.[ch]")):
    name, own = str(path.relative_to(root)), path.relative_to(root / "src").parts[0]
    for header in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
        other = header.split("/")[0]
        if rank.get(other, len(rank)) < rank[own] and (name, header) not in known:
            wrong.append(f"{name} includes {header}")
assert not wrong, wrong
PYTHON
check 'every file opens with a comment that says what it is' python3 - "$source_root" <<'PYTHON'
import pathlib, sys
root = pathlib.Path(sys.argv[1])
files = [p for folder in ("src", "cli", "tests", "include") for p in sorted((root / folder).rglob("*.[ch]"))]
wrong = [str(p.relative_to(root)) for p in files if not p.read_text().startswith("/*")]
assert files and not wrong, wrong
PYTHON
check 'no source file has more than 500 lines' python3 - "$source_root" <<'PYTHON'
import pathlib, sys
root = pathlib.Path(sys.argv[1])
files = [p for folder in ("src", "cli") for p in sorted((root / folder).rglob("*.[ch]"))]
wrong = [str(p.relative_to(root)) for p in files if p.read_text().count("\n") > 500]
assert files and not wrong, wrong
PYTHON

# No function below DIR, a copy of the source tree or it, has more than 60 lines, from its first to its closing brace. A
# function's braces are the only ones that stand alone at the beginning of a line (.clang-format).
functions_are_short() {
  python3 - "$1" <<'PYTHON'
import pathlib, sys
root, seen, wrong = pathlib.Path(sys.argv[1]), 0, []
for path in [p for folder in ("src", "cli") for p in sorted((root / folder).rglob("*.[ch]"))]:
    begin = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line == "{":
            begin = number
        elif line == "}" and begin:
            seen += 1
            if number - begin + 1 > 60:
                wrong.append(f"{path.relative_to(root)}:{begin}: {number - begin + 1} lines")
            begin = None
assert seen and not wrong, (seen, wrong)
PYTHON
}
function_with() { # LINES: one function in a tree of its own
  mkdir -p "$work/tree/src" "$work/tree/cli"
  { printf 'void f(void)\n{\n'; yes '    g();' | head -n $(($1 - 2)); printf '}\n'; } >"$work/tree/src/f.c"
  functions_are_short "$work/tree"
}
check 'no function has more than 60 lines' functions_are_short "$source_root"
check 'a function of 60 lines passes that test' function_with 60
not() { ! "$@"; }
check 'a function of 61 lines fails it' not function_with 61

ways() { python3 "$here/ways.py" "$1" "$source_root/docs/source-tour.md" "$source_root"; }
check 'the drawings of docs/source-tour.md go the way of the code' ways check
check 'a step that the code does not take fails that test, wherever it is' ways break

check 'every family of policies has a contract test' python3 - "$source_root" <<'PYTHON'
import pathlib, sys
root = pathlib.Path(sys.argv[1])
families = [p.name for p in (root / "src/policy").iterdir() if p.is_dir()]
wrong = [f for f in families if not (root / f"tests/contract/{f}_policy.c").exists()]
built = (root / "tests/contract/meson.build").read_text()
wrong += [f for f in families if f"'{f}_policy'" not in built]
assert families and not wrong, wrong
PYTHON
check 'the table of suites in CONTRIBUTING.md is that of the tests' python3 - "$source_root" <<'PYTHON'
import pathlib, re, sys
root = pathlib.Path(sys.argv[1])
table = (root / "CONTRIBUTING.md").read_text().split("| suite |")[1].split("\n\n")[0]
listed = re.findall(r"^\| `([a-z]+)` \|", table, re.M)
built = re.findall(r"'([a-z]+)'", (root / "tests/meson.build").read_text().split("]")[0])
assert listed == built, (listed, built)
folders = {p.name for p in (root / "tests").iterdir() if p.is_dir()} - {"support"}
assert folders == set(built), folders ^ set(built)
PYTHON
# Once scripts/reflow-comments has been run over the whole tree, this is `yes`.
columns_are_checked=yes
if [ $columns_are_checked = yes ]; then
  check 'no line of a C file has more than 120 columns' "$source_root/scripts/reflow-comments" --check
fi
finish
