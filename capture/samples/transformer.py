"""One transformer layer that decodes a token for each of a few sequences, with a KV cache."""

import torch
from torch.nn import functional

from recording import check, record

BATCH, CONTEXT, WIDTH, HEADS = 4, 512, 512, 8


def decode(x, keys, values, at, weights):
    """The layer's output for one more token per sequence; its key and value go into the cache."""
    q_k_v, out, up, down = weights
    q, k, v = functional.linear(functional.layer_norm(x, (WIDTH,)), q_k_v).chunk(3, dim=-1)
    keys[:, at] = k
    values[:, at] = v

    def heads(t):
        return t.view(BATCH, -1, HEADS, WIDTH // HEADS).transpose(1, 2)

    scores = heads(q) @ heads(keys[:, : at + 1]).transpose(2, 3) / (WIDTH // HEADS) ** 0.5
    mixed = (scores.softmax(-1) @ heads(values[:, : at + 1])).transpose(1, 2).reshape(BATCH, WIDTH)
    x = x + functional.linear(mixed, out)
    return x + functional.linear(functional.gelu(functional.linear(functional.layer_norm(x, (WIDTH,)), up)), down)


torch.manual_seed(1)
shapes = [(3 * WIDTH, WIDTH), (WIDTH, WIDTH), (4 * WIDTH, WIDTH), (WIDTH, 4 * WIDTH)]
on_host = [torch.randn(*shape) / shape[1] ** 0.5 for shape in shapes]
cache = [torch.randn(BATCH, CONTEXT, WIDTH) for _ in range(2)]
token = torch.randn(BATCH, WIDTH)
with torch.no_grad():
    weights = [w.cuda() for w in on_host]
    keys, values = (c.cuda() for c in cache)
    x = token.cuda()
    decode(x, keys, values, CONTEXT - 2, weights)
    with record("transformer"):
        result = decode(x, keys, values, CONTEXT - 1, weights)
    on_gpu = [keys.cpu(), values.cpu()]
    check(result, decode(token, on_gpu[0], on_gpu[1], CONTEXT - 1, on_host))
