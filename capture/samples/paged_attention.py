"""Attention over a KV cache in pages: each sequence's pages lie anywhere in a pool and are gathered by its block table."""

import torch

from recording import check, record

SEQUENCES, PAGES, PAGE, WIDTH, POOL = 8, 32, 16, 128, 8192


def attend(query, keys, values, table):
    """One query per sequence against all tokens of its pages."""
    k = keys.index_select(0, table.flatten()).view(SEQUENCES, PAGES * PAGE, WIDTH)
    v = values.index_select(0, table.flatten()).view(SEQUENCES, PAGES * PAGE, WIDTH)
    scores = (k @ query[:, :, None]).squeeze(2) / WIDTH**0.5
    return (scores.softmax(-1)[:, None, :] @ v).squeeze(1)


torch.manual_seed(1)
keys, values = (torch.randn(POOL, PAGE, WIDTH, device="cuda") for _ in range(2))  # 64 MB each
table = torch.randperm(POOL)[: SEQUENCES * PAGES].view(SEQUENCES, PAGES).cuda()
query = torch.randn(SEQUENCES, WIDTH, device="cuda")
attend(query, keys, values, table)
with record("paged_attention"):
    result = attend(query, keys, values, table)
check(result, attend(query.cpu(), keys.cpu(), values.cpu(), table.cpu()))
