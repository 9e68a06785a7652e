"""PyTorch programs that reserve more memory than they touch, as its caching allocator makes them: reserve_torch.py SITUATION.

  elementwise  22 MiB for three small tensors: those of 1 to 10 MiB come out of segments of 20 MiB
  kv_cache     a cache for 4,096 tokens of each sequence, of which a quarter is filled
  warm_up      segments that are left over from a larger batch
  growing      buffers that are reserved one by one between launches, and filled in part

Names come from NVTX ranges (pagewalk-capture --names).
"""

import sys

import torch
from torch.cuda import nvtx
from torch.nn import functional

from recording import check, record

MIB = 1 << 20


def elementwise():
    with nvtx.range("bias"):
        bias = torch.ones(64, 1, device="cuda")
    with nvtx.range("activations"):
        a, b, c = (torch.rand(64, 19456, device="cuda") for _ in range(3))  # 4.75 MiB each
    with record("elementwise"):
        torch.add(a, bias, out=c)
        torch.mul(c, a, out=b)
    with nvtx.range("check"):
        check(b, (a + 1) * a)


def kv_cache():
    batch, heads, room, used, width = 2, 16, 4096, 1024, 64
    with nvtx.range("keys"):
        keys = torch.empty(batch, heads, room, width, device="cuda", dtype=torch.float16)  # 16 MiB
    with nvtx.range("values"):
        values = torch.empty_like(keys)
    with nvtx.range("weights"):
        weights = [torch.randn(heads * width, heads * width, device="cuda", dtype=torch.float16) / 32 for _ in range(4)]
    with nvtx.range("prompt"):
        x = torch.randn(batch, heads * width, device="cuda", dtype=torch.float16)
        for cache in (keys, values):
            cache[:, :, :used] = torch.randn(batch, heads, used, width, device="cuda")

    def decode():
        q, k, v = (functional.linear(x, w).view(batch, heads, 1, width) for w in weights[:3])
        keys[:, :, used - 1 : used], values[:, :, used - 1 : used] = k, v
        scores = (q * keys[:, :, :used]).sum(-1, keepdim=True) / 8
        mixed = (scores.softmax(2) * values[:, :, :used]).sum(2)
        return functional.linear(mixed.reshape(batch, -1), weights[3])

    expected = decode()
    with record("attention"):
        result = decode()
    check(result, expected)


def warm_up():
    torch.backends.cuda.matmul.allow_tf32 = False
    with nvtx.range("model"):
        model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 512)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step(rows):
        optimizer.zero_grad()
        model(torch.ones(rows, 512, device="cuda")).square().mean().backward()
        optimizer.step()

    with nvtx.range("large batch"):
        step(8192)
    with record("small batch"):
        step(1024)


def growing():
    rows = 32
    with nvtx.range("total"):
        total = torch.zeros(1, device="cuda")
    filled = []
    with record("growing"):
        for i in range(rows):
            with nvtx.range("buffer"):
                buffer = torch.empty(2 * MIB, device="cuda")  # 8 MiB
            part = buffer[: MIB // 4]  # 1 MiB
            part.fill_(i)
            total += part[0]
            filled.append(buffer)
    check(total, torch.tensor([rows * (rows - 1) / 2]))


if __name__ == "__main__":
    {f.__name__: f for f in (elementwise, kv_cache, warm_up, growing)}[sys.argv[1]]()
