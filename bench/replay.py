#!/usr/bin/env python3
"""Replays against the programs they were recorded from: that all metrics are equal, and how fast they are.

Usage: bench/replay.py PROGRAM [--only NAME,NAME] [--size quick|full] [--runs N] [--folder FOLDER] [--csv FILE]

Every workload is recorded at its size in experiments/sizes.yaml and run again from the trace, on machine mosaic with
gpu-mmu, those of UVM also on pascal with uvm-nvidia at 110%. The speed is the built-in program's CPU time over the
replay's, each the best of N alternating runs. Exits with 1 when a metric differs.
"""
import argparse
import csv
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
UVM = {"backprop", "bfs", "fdtd", "hotspot", "nw", "pathfinder", "srad"}


def sizes(which):
    """Parameters by workload, and the default, from one section of sizes.yaml."""
    section = re.search(rf"^{which}:\n((?:  .*\n|\n)+)", (ROOT / "experiments/sizes.yaml").read_text(), re.M).group(1)
    return {name: value.strip('"') for name, value in re.findall(r"^  ([\w-]+): (.*)$", section, re.M)}


def cpu(command):
    """Standard output of a command, and the CPU seconds it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"replay.py: {' '.join(command)}: {done.stderr.strip()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def results(text):
    """What must be equal: all but names and what depends on the host."""
    result = json.loads(text)
    for key in ("host", "workload", "command", "made"):
        result.pop(key, None)
    for app in result["apps"]:
        app.pop("name")
    return result


def compare(program, setting, workload, trace, runs):
    """Whether all metrics are equal, and the best CPU times of program and replay."""
    best = [float("inf"), float("inf")]
    outputs = [None, None]
    for _ in range(runs):
        for i, name in enumerate((workload, f"trace:{trace}")):
            text, seconds = cpu([program, "run", *setting, "-w", name, "--json", "-", "-q"])
            best[i] = min(best[i], seconds)
            outputs[i] = results(text)
    return outputs[0] == outputs[1], best, outputs[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--only", default="")
    parser.add_argument("--size", choices=["quick", "full"], default="quick")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--folder", help="for the traces (default: a temporary one)")
    parser.add_argument("--csv", help="also write the rows there")
    a = parser.parse_args()
    parameters = sizes(a.size)
    listing, _ = cpu([a.program, "list", "workloads", "--json", "-"])
    names = [w["name"] for w in json.loads(listing) if w["suite"] != "recorded"]
    names = [n for n in names if not a.only or n in a.only.split(",")]
    folder = a.folder or tempfile.mkdtemp()
    trace, rows, different = os.path.join(folder, "replay.pwt"), [], 0
    print(f"{'workload':42} {'bytes/op':>8} {'program s':>9} {'replay s':>8} {'speed':>6}")
    for name in names:
        extra = parameters.get(name, parameters["default"])
        workload = f"{name}:{extra}" if extra else name
        cpu([a.program, "trace", "record", "-w", workload, "-o", trace, "-q"])
        info = json.loads(cpu([a.program, "trace", "info", "--json", "-", trace])[0])
        settings = [["-m", "mosaic", "-d", "gpu-mmu"]]
        if name in UVM:
            settings.append(["-m", "pascal", "-d", "uvm-nvidia", "--set", "uvm.oversubscription=110"])
        for setting in settings:
            same, (ours, replay), _ = compare(a.program, setting, workload, trace, a.runs)
            size = info["file_bytes"] / max(info["memory_instructions"], 1)
            different += not same
            rows.append([workload, setting[3], f"{size:.2f}", f"{ours:.3f}", f"{replay:.3f}", f"{ours / replay:.2f}"])
            shown = workload + (" (uvm-nvidia)" if setting[3] == "uvm-nvidia" else "")
            print(f"{shown:42} {size:8.2f} {ours:9.3f} {replay:8.3f} {ours / replay:6.2f}"
                  f"{'' if same else '  DIFFERENT METRICS'}", flush=True)
    os.unlink(trace)
    if not a.folder:
        os.rmdir(folder)
    if a.csv:
        with open(a.csv, "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["workload", "design", "bytes_per_access", "program_s", "replay_s", "speed"])
            writer.writerows(rows)
    speeds = sorted(float(row[5]) for row in rows)
    print(f"{len(rows)} runs, {different} with different metrics; speed: median {speeds[len(speeds) // 2]}, "
          f"worst {speeds[0]}")
    sys.exit(1 if different or not rows else 0)


main()
