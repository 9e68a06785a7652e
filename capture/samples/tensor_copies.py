"""A matrix product large enough for kernels that load by tensor copies (TMA), of which the recorder has to say that they
are missing, and a boolean mask, whose kernels load through generic pointers."""

import torch

from recording import check, record

a, b = (torch.randn(2048, 2048, device="cuda", dtype=torch.bfloat16) for _ in range(2))
expected = a @ b
x = torch.arange(100000, device="cuda")
kept = x[x % 3 == 0]
with record("product"):
    result = a @ b
with record("mask"):
    again = x[x % 3 == 0]
check(result, expected)
check(again, kept)
