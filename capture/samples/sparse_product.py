"""A sparse matrix (CSR, rows of uneven length) times a dense one, by cuSPARSE."""

import torch

from recording import check, record

ROWS, COLUMNS, ENTRIES, WIDTH = 16384, 16384, 131072, 16

torch.manual_seed(1)
rows = (torch.rand(ENTRIES) ** 3 * ROWS).long()
columns = torch.randint(COLUMNS, (ENTRIES,))
sparse = torch.sparse_coo_tensor(torch.stack([rows, columns]), torch.randn(ENTRIES), (ROWS, COLUMNS)).coalesce()
dense = torch.randn(COLUMNS, WIDTH)
on_gpu = sparse.cuda().to_sparse_csr(), dense.cuda()
on_gpu[0] @ on_gpu[1]
with record("sparse_product"):
    result = on_gpu[0] @ on_gpu[1]
check(result, torch.sparse.mm(sparse, dense))
