"""Embedding lookup: 256 MB of rows, of which a batch of bags picks some by a Zipf-like law."""

import torch

from recording import check, record

ROWS, WIDTH, BAGS, PER_BAG = 1 << 20, 64, 256, 16

torch.manual_seed(1)
table = torch.randn(ROWS, WIDTH, device="cuda")
# Row numbers by the inverse of 1/x, spread over the table so that popular rows are no neighbours.
ranks = torch.exp(torch.rand(BAGS, PER_BAG) * torch.log(torch.tensor(float(ROWS)))).long() - 1
rows = (ranks * 2654435761 % ROWS).cuda()
torch.nn.functional.embedding(rows, table).sum(1)  # loads the kernels
with record("embedding"):
    bags = torch.nn.functional.embedding(rows, table).sum(1)
check(bags, table.cpu()[rows.cpu()].sum(1))
