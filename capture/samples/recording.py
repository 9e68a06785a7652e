"""What the samples share: the part that a trace is to hold (pagewalk-capture --paused), and a check of results."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pagewalk_capture import named, record, record_layer  # noqa: E402, F401


def check(got, expected, tolerance=1e-2):
    """Fails if the largest difference is more than a share of the largest expected value."""
    difference = (got.float().cpu() - expected.float().cpu()).abs().max().item()
    largest = max(1.0, expected.float().abs().max().item())
    if difference > tolerance * largest:
        raise SystemExit(f"the result differs from the CPU's by {difference}, of {largest}")
