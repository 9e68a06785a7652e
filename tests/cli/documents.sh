#!/usr/bin/env bash
# The reference pages are what the program itself lists, and what documents mention exists.
source "$(dirname "$0")/tap.sh"

for page in options metrics; do
  check "docs/$page.md is what \`pagewalk list $page\` says (scripts/docs rewrites it)" \
    eval '"$source_root/scripts/docs" --print $page "$pagewalk" >$page.md && diff $page.md "$source_root/docs/$page.md"'
done
check 'files that the documents link to exist' python3 - "$source_root" <<'PYTHON'
import pathlib, re, sys
root = pathlib.Path(sys.argv[1])
missing = [f"{page.relative_to(root)}: {link}"
           for page in [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))]
           for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
           if not (page.parent / link).exists()]
assert not missing, missing
PYTHON
finish
