"""What scripts share that run `pagewalk reproduce`, keep what came out, and write it into a page of docs/.

A page has places for generated parts, between two comments; everything else in it is written by hand and left alone.
"""
import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import script

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL = pathlib.Path(sys.argv[0]).name
PAPERS = sorted(path for path in (ROOT / "data" / "claims").glob("*.csv")
                if path.stem not in ("not-modelled", "weak"))


def add_arguments(parser):
    parser.add_argument("--db", default="pagewalk.db")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--sample", type=int, default=100)


def stop(running):
    """Ends a program that a Ctrl-C in the terminal has reached too; one sent to this script alone has not."""
    try:
        running.wait(timeout=2)
    except subprocess.TimeoutExpired:
        running.send_signal(signal.SIGINT)
        running.wait()


def reproduce(a, figures, scope):
    """The JSON of figures. Shows a line for each that is done and, on a terminal, the program's own progress bar."""
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "figures.json"
        command = [a.program, "reproduce", *figures, f"--{scope}", "--db", a.db, "--jobs", str(a.jobs),
                   "--seeds", str(a.seeds), "--sample", str(a.sample)]
        print(" ".join(command), file=sys.stderr, flush=True)
        with subprocess.Popen([*command, "--json", result], stdout=subprocess.PIPE, text=True) as running:
            try:
                tables = False
                for line in running.stdout:
                    tables |= not line.strip()  # the tables, which the JSON has too, begin after an empty line
                    if not tables:
                        print(line, end="", file=sys.stderr, flush=True)
            except KeyboardInterrupt:
                stop(running)
                raise
        if running.returncode == 130:
            raise KeyboardInterrupt
        if running.returncode:
            sys.exit(f"{TOOL}: the runs failed; nothing is written")
        return json.loads(result.read_text())


def plan(a, figures, scope, sample):
    """What figures would be made from, as JSON; runs nothing and leaves no store behind."""
    with tempfile.TemporaryDirectory() as folder:
        command = [a.program, "reproduce", *figures, f"--{scope}", "--sample", str(sample), "--plan",
                   "--db", f"{folder}/empty.db"]
        planned = subprocess.run([*command, "--json", "-"], stdout=subprocess.PIPE, text=True)
        if planned.returncode:
            sys.exit(f"{TOOL}: {a.program} cannot plan the figures")
        return json.loads(planned.stdout)


def mean(values):
    return round(sum(values) / len(values), 6)


def read_claims():
    rows = {}
    for path in PAPERS:
        with open(path, newline="") as file:
            rows.update({row["id"]: row for row in csv.DictReader(file)})
    return rows


def number(value):
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def claims_heading(scopes):
    return ["| claim | what | paper | " + " | ".join(f"ours, {scope} | verdict" for scope in scopes) + " |",
            "|---|---|--:|" + "--:|---|" * len(scopes)]


def verdict(ours, unit):
    """The verdict; of one that is weak for its null design, what that gave."""
    null = ours.get("null")
    if ours["verdict"] != "weak" or not null or null["verdict"] != "holds":
        return ours["verdict"]
    return f"weak: {null['design']} {'; '.join(map(number, null['ours']))}{unit}"


def claim_row(identity, claims, results):
    """A row of a table of claims; of each scope in `results` its entry, or None."""
    claim = claims.get(identity)
    if not claim:
        sys.exit(f"{TOOL}: there is no claim {identity} any more; measure again")
    unit = "" if not claim["value"] else claim["unit"] if claim["unit"] == "%" else f" {claim['unit']}"
    cells = [f"`{identity}`", claim["claim"].replace("|", "\\|"), f"{claim['value'] or 'true'}{unit}"]
    for ours in results:
        cells += ["; ".join(map(number, ours["ours"])) + unit, verdict(ours, unit)] if ours else ["", ""]
    return "| " + " | ".join(cells) + " |"


def fill(page, parts):
    """The text of a page with its generated parts, lists of lines by name, written anew."""
    text = page.read_text()
    for part, lines in parts.items():
        begin, end = f"<!-- {part}: written by scripts/{TOOL} -->\n", f"<!-- {part}: end -->\n"
        before, found, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            sys.exit(f"{TOOL}: {page.relative_to(ROOT)} has no place for the {part}: {begin.strip()} … {end.strip()}")
        text = before + begin + "\n" + "\n".join(lines) + "\n\n" + end + after
    return text


def replace(path, text):
    new = path.with_suffix(".new")
    new.write_text(text)
    os.replace(new, path)
    print(path.relative_to(ROOT))


def run(main):
    script.run(main, "nothing is written, finished runs are in the store")
