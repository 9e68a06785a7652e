#!/usr/bin/env bash
# The pictures of the documents: drawn from what is kept, complete, and without words over words.
source "$(dirname "$0")/tap.sh"

check 'docs/cost-of-translation.svg shows what is kept (scripts/picture draws it)' eval \
  '"$source_root/scripts/picture" --print >cost.svg && diff cost.svg "$source_root/docs/cost-of-translation.svg"'
check 'it has every program that the quickstart runs, the longest bar first' python3 - "$source_root" "$pagewalk" <<'PYTHON'
import csv, pathlib, re, subprocess, sys
root = pathlib.Path(sys.argv[1])
command = f'source "{root}/scripts/common.sh"; pagewalk="{sys.argv[2]}" small_workloads'
run = {line.split()[0] for line in subprocess.check_output(["bash", "-c", command], text=True).splitlines()}
kept = [(row["workload"], float(row["slowdown"])) for row in csv.DictReader((root / "data/cost-of-translation.csv").open())
        if row["design"] == "gpu-mmu"]
assert len(run) > 50 and {name for name, _ in kept} == run, run ^ {name for name, _ in kept}
assert [value for _, value in kept] == sorted((value for _, value in kept), reverse=True)
svg = (root / "docs/cost-of-translation.svg").read_text()
assert f"{len(run)} programs" in svg and all(f">{name}</text>" in svg for name in run)
PYTHON

# How wide words are depends on the fonts at hand; these widths are those of wide ones.
cat >boxes.py <<'PYTHON'
import itertools, sys, xml.etree.ElementTree as xml
picture = xml.parse(sys.argv[1]).getroot()
_, _, width, height = map(float, picture.get("viewBox").split())
boxes = []
for text in picture.iter("{http://www.w3.org/2000/svg}text"):
    words = "".join(text.itertext())
    size = float(text.get("font-size", picture.get("font-size")))
    long = len(words) * size * (0.64 if text.get("font-weight") == "bold" else 0.57)
    assert not text.get("transform"), f"{words}: only level text is looked at"
    x, y = float(text.get("x")), float(text.get("y"))
    left = x - long * {"end": 1, "middle": 0.5}.get(text.get("text-anchor"), 0)
    boxes.append((words, left, left + long, y - 0.75 * size, y + 0.15 * size))
assert len(boxes) > 20
for words, left, right, top, bottom in boxes:
    assert left >= 0 and right <= width and top >= 0 and bottom <= height, f"'{words}' sticks out"
for a, b in itertools.combinations(boxes, 2):
    apart = a[2] <= b[1] or b[2] <= a[1] or a[4] <= b[3] or b[4] <= a[3]
    assert apart, f"'{a[0]}' and '{b[0]}' are over each other"
PYTHON
for picture in "$source_root"/docs/*.svg; do
  check "no words of $(basename "$picture") are over others or cut off" python3 boxes.py "$picture"
done
cat >over.svg <<'SVG'
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 600" font-size="12"><text x="10" y="20">1.05</text><text x="20" y="22">1.11</text>
SVG
for i in {3..30}; do echo "<text x='10' y='$((i * 18))'>row $i</text>" >>over.svg; done
echo '</svg>' >>over.svg
check 'that words are over others is seen' eval '! python3 boxes.py over.svg 2>said && grep -q "over each other" said'
finish
