"""Says to the recorder where the part of a program is that a trace is to hold (pagewalk-capture --paused)."""

import contextlib
import ctypes
import os

import torch


@contextlib.contextmanager
def recorded():
    """What runs inside is recorded, if the program runs under pagewalk-capture; else it just runs."""
    path = os.environ.get("CUDA_INJECTION64_PATH", "")
    recorder = ctypes.CDLL(path) if path.endswith("libpagewalk-capture.so") else None
    torch.cuda.synchronize()
    if recorder:
        recorder.pagewalk_capture_resume()
    yield
    torch.cuda.synchronize()
    if recorder:
        recorder.pagewalk_capture_pause()


def check(got, expected, tolerance=1e-2):
    """Fails if the largest difference is more than a share of the largest expected value."""
    difference = (got.float().cpu() - expected.float().cpu()).abs().max().item()
    largest = max(1.0, expected.float().abs().max().item())
    if difference > tolerance * largest:
        raise SystemExit(f"the result differs from the CPU's by {difference}, of {largest}")
