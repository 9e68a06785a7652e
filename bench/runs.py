"""The runs that scripts/bench measures, and how one is measured.

Speed is CPU time (user and system) of the process, which other work on the machine disturbs less than wall time. Runs
that are compared alternate, so that what else happens on the machine meets all of them.
"""
import csv
import dataclasses
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    machine: str
    design: str
    workload: str
    small: str = ""  # what callgrind runs, fifty times slower; none where it would show nothing new
    settings: tuple = ()


def _rows():
    stream, gather = "vecadd:iterations=120:values=off", "gather:iterations=16:table=256MB"
    near = "gather:iterations=16:table=4MB"
    small_stream, small_gather = "vecadd:ctas=32:values=off", "gather:ctas=32:iterations=2:table=64MB"
    yield Row("vecadd ideal-tlb", "volta", "ideal-tlb", stream, small_stream)
    yield Row("vecadd gpu-mmu", "volta", "gpu-mmu", stream, small_stream)
    yield Row("gather ideal-tlb", "volta", "ideal-tlb", gather, small_gather)
    yield Row("gather gpu-mmu", "volta", "gpu-mmu", gather, small_gather)
    yield Row("gather in the L2, ideal-tlb", "volta", "ideal-tlb", near)
    yield Row("gather in the L2, gpu-mmu", "volta", "gpu-mmu", near)
    yield Row("alu ideal-tlb", "volta", "ideal-tlb", "alu:iterations=3000", "alu:iterations=300")
    yield Row("HS gpu-mmu", "mosaic", "gpu-mmu", "HS:side=1024", "HS:side=128")
    yield Row("BFS2 mosaic", "mosaic", "mosaic", "BFS2:scale=0.05", "BFS2:scale=0.004")
    yield Row("FFT,CONS mosaic", "mosaic", "mosaic", "FFT:scale=0.05,CONS:scale=0.05", "FFT:scale=0.01,CONS:scale=0.01")
    yield Row("16 applications", "volta", "gpu-mmu", ",".join(["gather:ctas=16:iterations=4:table=16MB"] * 16))
    for sms in (20, 160, 320, 640):  # 80 is what volta has
        size, settings = f"ctas={256 * sms // 80}", (f"sm.count={sms}",)
        yield Row(f"vecadd ideal-tlb, {sms} SMs", "volta", "ideal-tlb", f"vecadd:iterations=30:values=off:{size}",
                  settings=settings)
        yield Row(f"gather gpu-mmu, {sms} SMs", "volta", "gpu-mmu", f"gather:iterations=2:table=256MB:{size}",
                  settings=settings)
    for table in ("64MB", "1GB", "4GB", "16GB"):  # 256 MB is above
        for design in ("ideal-tlb", "gpu-mmu"):
            yield Row(f"gather {design}, {table}", "volta", design, f"gather:iterations=4:table={table}")
    for program in ("relu:scale=0.5", "stencil2d:rows=1152"):  # the links full of data; the host's walkers short
        for gpus in (1, 4, 16):
            yield Row(f"{program.split(':')[0]} bypass, {gpus} GPU{'s' * (gpus > 1)}", "mgpu4", "bypass", program,
                      settings=(f"gpu.count={gpus}",))


ROWS = list(_rows())
# A run of one warp: building the machine, and the end.
START = "alu:ctas=1:warps=1:iterations=1"


class Result(dict):
    """The values of a run: (application or "", component, metric) -> number."""

    def __init__(self, path):
        super().__init__()
        try:
            with open(path, newline="", encoding="utf-8") as file:
                for line in csv.DictReader(file):
                    self[line["app"], line["component"], line["metric"]] = float(line["value"])
        except (OSError, KeyError, TypeError, ValueError):
            fail("a run has left no result of pagewalk; is the program one?")

    def total(self, metric):
        """Of all SMs, what applications do when they are launched again included."""
        return sum(value for (app, unit, name), value in self.items()
                   if not app and name == metric and re.fullmatch(r"gpu\d+\.sm", unit))

    def host(self, metric):
        return self["", "host", metric]

    @property
    def simulated(self):
        """Everything but what the run cost the host."""
        return {key: value for key, value in self.items() if key[1] != "host"}


@dataclasses.dataclass
class Samples:
    """What the runs of one row took, and the result, which is always the same."""

    seconds: list = dataclasses.field(default_factory=list)
    peak_bytes: int = 0
    result: Result = None

    @property
    def best(self):
        return min(self.seconds)

    @property
    def median(self):
        return statistics.median(self.seconds)

    @property
    def peak_mib(self):
        return self.peak_bytes / 2**20

    def take(self, program, row, workload):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "run.csv")
            words = command(program, row, workload, file)
            if not self.seconds:
                # A process inherits the peak of the one that became it, and Python's exceeds that of small runs. What a
                # shell starts begins anew; but its time would count, so this run is for memory only.
                cpu_time(["/bin/sh", "-c", '"$@"; exit $?', "sh", *words])
                self.peak_bytes = Result(file).host("peak_rss_bytes")
            seconds, _, _ = cpu_time(words)
            self.seconds.append(seconds)
            self.result = Result(file)


def command(program, row, workload, file):
    settings = [word for setting in row.settings for word in ("--set", setting)]
    words = ["run", "-m", row.machine, "-d", row.design, "-w", workload, *settings, "--csv", file, "--quiet"]
    return [str(program), *words]


class CommandFailed(Exception):
    """A command that could not be run, or ended with a failure; in words."""


def fail(message):
    print(f"bench: {message}", file=sys.stderr)
    sys.exit(2)


def cpu_time(words):
    """Runs a command; CPU seconds and peak bytes of it and its children, and what it printed."""
    with tempfile.TemporaryFile() as output:
        try:
            child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd=ROOT)
        except OSError as error:
            raise CommandFailed(f"{words[0]}: {error.strerror}") from error
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if child.returncode != 0:
        tail = "\n".join(text.splitlines()[-5:])
        raise CommandFailed(f"exit code {child.returncode} from: {' '.join(words)}\n{tail}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, text


def measure(programs, rows, count):
    """Samples by (program, row name). In each round every program runs every row once."""
    samples = {(program, row.name): Samples() for program in programs for row in rows}
    for number in range(count):
        for row in rows:
            tell(f"round {number + 1} of {count}: {row.name}")
            for program in programs:
                samples[program, row.name].take(program, row, row.workload)
    tell("")
    return samples


def runnable(program, rows):
    """The rows that a program, an older one perhaps, can run; the others are named."""
    able = []
    for row in rows:
        tell(f"trying: {row.name}")
        try:
            Samples().take(program, row, row.workload)
            able.append(row)
        except CommandFailed as failure:
            reason = str(failure).splitlines()[-1]
            tell("")
            print(f"{row.name} is left out: {program} says: {reason}", file=sys.stderr)
    tell("")
    return able or fail(f"{program} can run none of the rows")


def tell(text):
    """What is being measured, on a terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def speed_table(samples, program, rows):
    lines = []
    for row in rows:
        s = samples[program, row.name]
        issued, events, accessed = s.result.total("issued"), s.result.host("events"), s.result.total("lines")
        lines.append([row.name, f"{s.best / issued * 1e9:.1f}", f"{s.median / issued * 1e9:.1f}",
                      f"{issued / s.best / 1e6:.3f}", f"{s.best * 1e9 / events:.1f}",
                      f"{events / accessed:.1f}" if accessed else "-", f"{s.peak_mib:.1f}"])
    return table(["run", "ns per warp instr.: best", "median", "M warp instr./s", "ns per event", "events per line",
                  "peak MiB"], lines)


def start_up(program, count):
    row = Row("start", "volta", "gpu-mmu", START)
    s = measure([program], [row], 2 * count)[program, row.name]
    return (f"Start-up and end of a run (volta, 80 SMs x 64 warps; one warp runs): {s.best * 1e3:.1f} ms of CPU time, "
            f"{s.peak_mib:.1f} MiB")


def profile(program, row, workload, folder):
    """A run under callgrind: its output file and its result."""
    out, file = os.path.join(folder, "callgrind.out"), os.path.join(folder, "run.csv")
    log = os.path.join(folder, "log")
    cpu_time(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", f"--log-file={log}",
              *command(program, row, workload, file)])
    return out, Result(file)


def instructions(program, row, workload):
    """Host instructions of a run, and its result."""
    with tempfile.TemporaryDirectory() as folder:
        out, result = profile(program, row, workload, folder)
        with open(out, encoding="utf-8", errors="replace") as lines:
            return next(int(line.split()[1]) for line in lines if re.match("(summary|totals):", line)), result


def host():
    """The machine that measures."""
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        models = [line.split(":", 1)[1] for line in lines if line.startswith("model name")]
    return " ".join(models[0].split()) if models else "an unknown processor"


def table(head, rows):
    """A Markdown table, columns aligned: the first to the left, numbers to the right."""
    lines = [head, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    def show(line):
        cells = [line[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]
        return "| " + " | ".join(cells) + " |"
    rule = "|" + "-" * (widths[0] + 2) + "|" + "|".join("-" * (width + 1) + ":" for width in widths[1:]) + "|"
    return "\n".join([show(head), rule, *map(show, rows)])
