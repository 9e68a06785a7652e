"""Holds the drawings in docs/source-tour.md against the code: every function is in the file that is named, and every step
really leads to the next one.

Usage: ways.py check|break TOUR ROOT

A step is a line `ARROW FILE: FUNCTION  words`. It follows the last line whose arrow stands in the same column; with ├
before the arrow it begins a branch of the last line whose arrow stands further to the left. `break` puts a function that is on no way in the place of each step in turn, and
fails unless the check notices every time."""

import functools
import pathlib
import re
import sys

STEP = re.compile(r"^(?P<indent> *)(?P<branch>├?)(?P<arrow>[→⇢ ]|⇒(?P<member>\w+)) (?P<file>[\w/]+\.[ch]): (?P<name>\w+)(?:  .*)?$")
WAYS = ("The way of an access", "The way of a far fault", "The way of a translation to the host",
        "The way of an access to another GPU")
STRANGER = ("sim/random.c", "pw_random_init")
POSTS = r"\b(?:pw_events_post|pw_link_send|pw_fabric_send)\("


class Source:
    """The functions of a source tree, without their comments and strings."""

    def __init__(self, root):
        self.root = root / "src"
        self.texts = {}
        for path in self.root.rglob("*.[ch]"):
            text = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', " ", path.read_text(), flags=re.S)
            self.texts[str(path.relative_to(self.root))] = text
        self.all = "\n".join(self.texts.values())

    @functools.lru_cache(maxsize=None)
    def body(self, file, name):
        """What stands between the braces of a function; None when the file does not define it."""
        pattern = r"^(?:[A-Za-z_].*[\s*])?%s\([^;{}]*\)\n\{\n(.*?)^\}" % name
        found = re.search(pattern, self.texts.get(file, ""), re.M | re.S)
        return found.group(1) if found else None

    @functools.lru_cache(maxsize=None)
    def sets(self, member, name):
        """Whether a function pointer of this name is set to the function somewhere."""
        return re.search(r"\.%s = (?:[^,;{}]* )?%s(?: :|[,;}])" % (member, name), self.all)


def read_way(tour, heading):
    block = re.search(r"^## %s\n.*?^```text\n(.*?)^```" % re.escape(heading), tour, re.M | re.S)
    assert block, f"there is no drawing under '{heading}'"
    steps = []
    for line in block.group(1).splitlines():
        found = STEP.match(line)
        assert found, f"'{line}' is no step: ARROW FILE: FUNCTION  words"
        steps.append(dict(found.groupdict(), column=len(found["indent"] + found["branch"]), arrow=found["arrow"][0]))
    return steps


def predecessor(steps, number):
    """The step before this one; None when the drawing has none in the right column."""
    here = steps[number]
    for step in reversed(steps[:number]):
        if step["column"] < here["column"]:
            return step if here["branch"] else None
        if step["column"] == here["column"] and not here["branch"]:
            return step
    return None


def mistakes(source, steps):
    """One line for each step that the code does not take."""
    for number, step in enumerate(steps):
        file, name = step["file"], step["name"]
        if source.body(file, name) is None:
            yield f"src/{file} does not define {name}"
            continue
        before = predecessor(steps, number)
        if step["arrow"] == " ":
            if number:
                yield f"{name} has no arrow"
            continue
        if before is None:
            yield f"nothing leads to {name}"
            continue
        body = source.body(before["file"], before["name"]) or ""
        if step["arrow"] == "→" and not re.search(r"(?<![.>\w])%s\(" % name, body):
            yield f"{before['name']} does not call {name}"
        if step["arrow"] == "⇢" and not re.search(POSTS + r"[^;]*\b%s\b(?!\()" % name, body):
            yield f"{before['name']} does not post {name}"
        if step["arrow"] == "⇒":
            member = step["member"]
            if not re.search(r"(?:\.|->)%s\(" % member, body):
                yield f"{before['name']} does not call through {member}"
            elif not source.sets(member, name):
                yield f"{member} is nowhere set to {name}"


def main():
    mode, tour, source = sys.argv[1], pathlib.Path(sys.argv[2]).read_text(), Source(pathlib.Path(sys.argv[3]))
    wrong = []
    for heading in WAYS:
        steps = read_way(tour, heading)
        assert len(steps) > 1
        if mode == "check":
            wrong += mistakes(source, steps)
            continue
        for number, step in enumerate(steps):
            broken = list(steps)
            broken[number] = dict(step, file=STRANGER[0], name=STRANGER[1])
            if not list(mistakes(source, broken)):
                wrong.append(f"nobody notices that {step['name']} is missing")
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
