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
# An ideal TLB is the page table itself.
known = {("src/policy/tlb/ideal.c", "vm/page_table.h")}
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
finish
