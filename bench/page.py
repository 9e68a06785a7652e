"""docs/speed.md: speeds, the comparison with Accel-Sim, where a line's time goes, and simulated beside real time."""
import collections
import datetime
import tempfile

import beside
import runs
import units

FILE = runs.ROOT / "docs/speed.md"
# What an H200 took for c = a + b over three arrays of so many floats (median of ten launches, 256-thread CTAs), in
# microseconds: elements, CTAs, measured.
H200 = [
    (262144, 1056, 6.98),
    (1048576, 1056, 7.94),
    (4194304, 1056, 18.75),
    (16777216, 1056, 63.01),
    (16777216, 4224, 63.62),
]
# Runs of which a line's way is shown: workload, size, design.
WAYS = [
    ("gather:table=64MB", "ctas=32:iterations=2", "ideal-tlb"),
    ("gather:table=64MB", "ctas=32:iterations=2", "gpu-mmu"),
    ("vecadd:values=off", "ctas=32:iterations=30", "ideal-tlb"),
]


def per_line(program, workload, size, design):
    """By unit, host instructions and events per line of 128 bytes that a warp reads or writes. What the same
    allocations cost with one warp is taken off."""
    found = []
    for extent in (size, "ctas=1:warps=1:n=32"):
        with tempfile.TemporaryDirectory() as folder:
            row = runs.Row(workload, "volta", design, f"{workload}:{extent}")
            out, result = runs.profile(program, row, row.workload, folder)
            profile = units.Profile(out)
            found.append((profile.instructions(), profile.events(), result.total("lines")))
    (ran, events, lines), (start, _, _) = found
    return (collections.Counter({unit: (ran[unit] - start[unit]) / lines for unit in units.UNITS}),
            collections.Counter({unit: events[unit] / lines for unit in units.UNITS}))


def where_time_goes(program):
    """program has to have debugging information."""
    head, columns = ["per line"], []
    for workload, size, design in WAYS:
        name = f"{workload.split(':')[0]} {design}"
        runs.tell(f"callgrind: {name}")
        columns.append(per_line(program, workload, size, design))
        head += [f"{name}: instructions", "share", "events"]
    runs.tell("")
    lines = []
    for unit in [*units.UNITS, "all"]:
        line = [unit]
        for ran, events in columns:
            a, b = (ran.total(), events.total()) if unit == "all" else (ran[unit], events[unit])
            line += [str(round(a)), f"{round(100 * a / ran.total())}%", f"{b:.2f}" if b else ""]
        lines.append(line)
    return runs.table(head, lines)


def beside_h200(program):
    lines = []
    for elements, ctas, measured in H200:
        row = runs.Row("vecadd", "h200", "gpu-mmu-2m", f"vecadd:n={elements}:ctas={ctas}:values=off")
        sample = runs.Samples()
        sample.take(program, row, row.workload)
        simulated = sample.result["", "run", "nanoseconds"] / 1000
        lines.append([str(elements), str(ctas), f"{measured:.2f}", f"{simulated:.2f}", f"{simulated / measured:.2f}"])
    return runs.table(["elements", "CTAs", "H200, us", "simulated, us", "ratio"], lines)


def comparison(records):
    if not records:
        return "Not measured yet: `scripts/bench --page --beside COMMAND` does."
    r = records[0]
    rounds = f"{r['runs']} runs of Accel-Sim, {beside.OURS_PER_ROUND} of pagewalk after each"
    return f"Measured {r['day']} on {r['host']}: {rounds}.\n\n{beside.table(records)}"


def text(program, debug_program, count, records):
    day, samples = datetime.date.today().isoformat(), runs.measure([program], runs.ROWS, count)
    what = "profile-guided build (`scripts/build-fast`)" if "build-fast" in program else "release build"
    return f"""# Speed, and how far simulated time can be trusted

Written by `scripts/bench --page`. Speeds depend on the machine and on what else runs on it; simulated cycles do not.

## Speed

The {what}, {day}, {runs.host()}: CPU time, best and median of alternating runs, {count} of each.

The machine is `volta` (80 SMs, 32 HBM2 channels); `HS`, `BFS2` and `FFT,CONS` run on `mosaic`. `gather` reads a table of
256 MB where no other is named, and one of 4 MB "in the L2". With more SMs there are more CTAs in proportion. Applications
that end are launched again until all have ended once; what they do then counts as work.

{runs.speed_table(samples, program, runs.ROWS)}

{runs.start_up(program, count)}.

## Beside Accel-Sim

Accel-Sim (QV100, no address translation) and pagewalk in alternating runs, on kernels of 256 CTAs of 8 warps. The number in
a kernel's name is that of iterations; `gather-2` reads a table of 4 MB, `gather-4` one of 256 MB. The goal is 1,000 times
Accel-Sim's speed without translation (`ideal-tlb`) and 400 times with every walk simulated (`gpu-mmu`). Start-up weighs on
the kernels of few iterations. Other work on the machine slows Accel-Sim, which needs more memory, more than pagewalk, so a ratio
that was measured beside other work is too high. [bench/README.md](../bench/README.md) says how to repeat this.

{comparison(records)}

The last three columns are simulated cycles, launch latency included. Accel-Sim has no page walks, so its cycles compare with
`ideal-tlb` only. Its integer units are half a warp wide, which is not modelled and makes `alu` shorter here.

## Where a line's time goes

Host instructions and events per line of 128 bytes that a warp reads or writes: callgrind's count of the release build, {day}.
Code that several units share (cache tags, miss registers, address mapping) counts where it is called from, and what a walk
reads counts where it is read, mostly in the L2. Start-up and the mapping of pages are taken off. An event is one step of a
unit at one cycle; the event queue's own work is a row by itself.

{where_time_goes(debug_program)}

## Simulated time beside a real H200

`vecadd` on machine `h200` with 2 MB pages, against the median time of ten launches on an NVIDIA H200 (driver 580):

{beside_h200(program)}
"""
