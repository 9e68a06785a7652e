"""A Triton kernel on three small tensors, for which PyTorch reserves 22 MiB: 4 MiB are touched."""

import torch
import triton
import triton.language as tl

from recording import check, named, record

COUNT = 349525  # a third of 4 MiB in floats


@triton.jit
def add(x, y, out, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < count
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


with named("step"):
    step = torch.zeros(1, device="cuda")
with named("vectors"):
    x, y, out = (torch.rand(COUNT, device="cuda") for _ in range(3))
grid = (triton.cdiv(COUNT, 1024),)
add[grid](x, y, out, COUNT, BLOCK=1024)  # compiles it
with record("triton"):
    add[grid](x, y, out, COUNT, BLOCK=1024)
check(out, x.cpu() + y.cpu())
