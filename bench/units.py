"""Sums the host instructions of a run, as callgrind counted them, by unit of the simulated machine.

An instruction belongs to the unit of the source file that it comes from, inlined code included. Code that several
units share (cache tags, miss registers, division by constants, the C library) belongs to the units that called it, in
proportion to what each had done there. The events of a unit are the calls of its functions by the event loop.

The program has to have debugging information (meson's -Ddebug=true changes no instruction).
"""
import collections
import re

UNITS = ["DRAM", "L2 and crossbar", "L1 and load-store unit", "TLBs and walks", "event queue", "issue and kernels",
         "other"]
SHARED = None
# The first match decides; paths begin in src/.
PLACES = [
    (r"mem/dram|policy/dram/", "DRAM"),
    (r"mem/(l2|memory\.|memory_internal|crossbar)|policy/l2_walks/", "L2 and crossbar"),
    (r"gpu/(l1|lsu|parked|fill|access_coalescing)|policy/fill/", "L1 and load-store unit"),
    (r"vm/|page/|policy/(tlb|coalesce|compact|frame)/", "TLBs and walks"),
    (r"sim/event\.", "event queue"),
    (r"gpu/|workload/|policy/warp/", "issue and kernels"),
    (r"mem/(cache|mshr|request|memory_map)", SHARED),
    (r"sim/(divisor|types|random|record_pool|grow|memory_advice|host_memory)", SHARED),
    (r"", "other"),
]
# From a position in the file to a number: "fn=(12) name" names number 12, "fn=(12)" names it again.
NAME = re.compile(r"(fl|fi|fe|fn|cfi|cfl|cfn|ob|cob)=\((\d+)\)(?: (.*))?")
COST = re.compile(r"[+*\-\d]\S* (\d+)$")


def unit_of_file(path):
    """The unit that a source file belongs to; SHARED for what several use, and for everything outside the project."""
    inside = re.search(r"(?:^|/)(?:src|(cli))/(.*)", path)
    if not inside:
        return SHARED
    if inside.group(1):
        return "other"
    return next(unit for pattern, unit in PLACES if re.match(pattern, inside.group(2)))


class Profile:
    """A callgrind output file: who spent what, and who called whom."""

    def __init__(self, path):
        self.own = collections.Counter()  # (function, file) -> instructions; a function is (file, name)
        self.callers = collections.defaultdict(collections.Counter)  # function -> (function, file) -> instructions
        self.handlers = collections.Counter()  # function -> calls by the event loop
        with open(path, encoding="utf-8", errors="replace") as lines:
            self._read(lines)

    def _read(self, lines):
        names = collections.defaultdict(dict)
        here = {"fl": "", "file": "", "fn": None, "callee_file": None, "callee": None}
        calls = None
        for line in lines:
            name = NAME.match(line)
            if name:
                self._position(name, names, here)
            elif line.startswith("calls="):
                calls = int(line[6:].split()[0])
            else:
                cost = COST.match(line)
                if not cost or here["fn"] is None:
                    continue
                if calls is None:
                    self.own[here["fn"], here["file"]] += int(cost.group(1))
                else:
                    self._call(here, calls, int(cost.group(1)))
                    calls = None

    @staticmethod
    def _position(match, names, here):
        kind, number, text = match.groups()
        space = "fn" if kind.endswith("fn") else "ob" if kind.endswith("ob") else "file"
        if text is not None:
            names[space][number] = text
        value = names[space].get(number, "")
        if kind == "fl":
            here["fl"] = here["file"] = value
        elif kind in ("fi", "fe"):
            here["file"] = value
        elif kind == "fn":
            here["fn"] = (here["fl"], value)
        elif kind in ("cfi", "cfl"):
            here["callee_file"] = value
        elif kind == "cfn":
            here["callee"] = value

    def _call(self, here, calls, cost):
        callee = (here["callee_file"] if here["callee_file"] is not None else here["file"], here["callee"])
        here["callee_file"] = None
        self.callers[callee][here["fn"], here["file"]] += cost
        if unit_of_file(here["file"]) == "event queue" and unit_of_file(callee[0]) not in ("event queue", SHARED):
            self.handlers[callee] += calls

    def _shares(self, function, file, known, on_the_way):
        """How much of each unit an instruction of this function, from this file, is; they add up to 1."""
        unit = unit_of_file(file)
        if unit is SHARED:
            unit = unit_of_file(function[0])
        if unit is not SHARED:
            return {unit: 1.0}
        if function in known:
            return known[function]
        callers = {c: cost for c, cost in self.callers[function].items() if c[0] not in on_the_way and cost}
        total, shares = sum(callers.values()), collections.Counter()
        for (caller, place), cost in callers.items():
            for name, share in self._shares(caller, place, known, on_the_way | {function}).items():
                shares[name] += share * cost / total
        known[function] = dict(shares) or {"other": 1.0}
        return known[function]

    def instructions(self):
        """Instructions by unit."""
        sums, known = collections.Counter(), {}
        for (function, file), cost in self.own.items():
            for unit, share in self._shares(function, file, known, frozenset()).items():
                sums[unit] += share * cost
        return sums

    def events(self):
        """Handled events by unit."""
        sums = collections.Counter()
        for function, calls in self.handlers.items():
            sums[unit_of_file(function[0])] += calls
        return sums
