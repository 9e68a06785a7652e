"""Another simulator and ours on the same kernels, in alternating runs.

What was last measured for docs/speed.md is kept in bench/beside.csv with its day and machine: a time of another day or
machine says nothing about the ratio.
"""
import csv
import datetime
import re

import runs

RECORDED = runs.ROOT / "bench/beside.csv"
# Of 256 CTAs x 8 warps; the number is that of iterations.
KERNELS = {
    "stream-4": "vecadd:ctas=256:warps=8:iterations=4:values=off",
    "gather-2": "gather:ctas=256:warps=8:iterations=2:table=4MB",
    "alu-30": "alu:ctas=256:warps=8:iterations=30",
    "stream-30": "vecadd:ctas=256:warps=8:iterations=30:values=off",
    "gather-4": "gather:ctas=256:warps=8:iterations=4:table=256MB",
}
# Times the other's speed.
GOALS = {"ideal-tlb": 1000, "gpu-mmu": 400}
OURS_PER_ROUND = 3  # they are short


def measure(command, program, count, pattern=""):
    """A record, as in the file, of each kernel and design."""
    kernels = {name: workload for name, workload in KERNELS.items() if re.search(pattern, name)}
    if not kernels:
        runs.fail(f'no kernel matches "{pattern}"; there are: {"; ".join(KERNELS)}')
    return [record for name, workload in kernels.items() for record in _kernel(command, program, count, name, workload)]


def _kernel(command, program, count, kernel, workload):
    rows = [runs.Row(design, "volta", design, workload) for design in GOALS]
    theirs, cycles, ours = runs.Samples(), "", {row.design: runs.Samples() for row in rows}
    for number in range(count):
        runs.tell(f"{kernel}: round {number + 1} of {count}")
        seconds, peak, text = runs.cpu_time(["/bin/sh", "-c", f'{command} "$1"', "bench", kernel])
        theirs.seconds.append(seconds)
        theirs.peak_bytes = max(theirs.peak_bytes, peak)
        said = re.findall(r"gpu_tot_sim_cycle\s*=\s*(\d+)", text)  # as Accel-Sim reports them
        cycles = said[-1] if said else ""
        for _ in range(OURS_PER_ROUND):
            for row in rows:
                ours[row.design].take(program, row, workload)
    runs.tell("")
    for design, s in ours.items():
        yield {
            "kernel": kernel, "design": design, "warp_instructions": int(s.result.total("issued")), "runs": count,
            "their_best": f"{theirs.best:.3f}", "their_median": f"{theirs.median:.3f}",
            "their_mib": f"{theirs.peak_mib:.0f}", "their_cycles": cycles,
            "our_best": f"{s.best:.4f}", "our_median": f"{s.median:.4f}", "our_mib": f"{s.peak_mib:.0f}",
            "our_cycles": int(s.result["", "run", "cycles"]),
            "day": datetime.date.today().isoformat(), "host": runs.host(),
        }


def write(records):
    with open(RECORDED, "w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, records[0].keys(), lineterminator="\n")
        out.writeheader()
        out.writerows(records)


def read():
    if not RECORDED.exists():
        return []
    with open(RECORDED, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table(records):
    return runs.table(["kernel", "theirs, CPU s: best", "median", "ours: best", "median", "ratio: best", "median",
                       "of the goal", "their MiB", "ours", "their cycles", "ours", "ratio"],
                      [_line(r) for r in records])


def _line(r):
    best = float(r["their_best"]) / float(r["our_best"])
    median = float(r["their_median"]) / float(r["our_median"])
    # Arithmetic has no goal; with walks, time is not the other's to simulate.
    goal = "-" if r["kernel"].startswith("alu") else f"{best / GOALS[r['design']]:.2f}"
    comparable = r["their_cycles"] and r["design"] == "ideal-tlb"
    return [f"{r['kernel']} {r['design']}", f"{float(r['their_best']):.2f}", f"{float(r['their_median']):.2f}",
            r["our_best"], r["our_median"], f"{best:.0f}x", f"{median:.0f}x", goal, r["their_mib"], r["our_mib"],
            r["their_cycles"] if comparable else "-", str(r["our_cycles"]),
            f"{int(r['our_cycles']) / int(r['their_cycles']):.3f}" if comparable else "-"]
