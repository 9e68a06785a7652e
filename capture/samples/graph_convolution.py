"""A graph convolution over a power-law graph: torch_geometric's GCNConv, or the same by index_select and index_add."""

import torch

from recording import check, record

NODES, EDGES, WIDTH = 16384, 65536, 32

torch.manual_seed(1)
ends = (torch.rand(2, EDGES) ** 4 * NODES).long() * 40503 % NODES
features = torch.randn(NODES, WIDTH)
weight = torch.randn(WIDTH, WIDTH) / WIDTH**0.5


def by_hand(ends, features, weight):
    """D^-1/2 (A + I) D^-1/2 X W, as GCNConv has it."""
    own = torch.arange(NODES, device=features.device)
    source, target = torch.cat([ends[0], own]), torch.cat([ends[1], own])
    degree = torch.zeros(NODES, device=features.device).index_add_(0, target, torch.ones_like(target, dtype=torch.float))
    norm = degree.rsqrt()
    messages = (features @ weight.t()).index_select(0, source) * (norm[source] * norm[target])[:, None]
    return torch.zeros_like(features).index_add_(0, target, messages)


def layer():
    """The function to be recorded, on the GPU."""
    try:
        from torch_geometric.nn import GCNConv
    except ImportError:
        print("graph_convolution: no torch_geometric; by index_select and index_add")
        return lambda ends, features: by_hand(ends, features, weight.cuda())
    convolution = GCNConv(WIDTH, WIDTH, bias=False).cuda()
    convolution.lin.weight.data.copy_(weight)
    return lambda ends, features: convolution(features, ends)


with torch.no_grad():
    on_gpu = ends.cuda(), features.cuda()
    convolve = layer()
    convolve(*on_gpu)
    with record("graph_convolution"):
        result = convolve(*on_gpu)
    different = ends[:, ends[0] != ends[1]]  # GCNConv has one loop at each node
    check(result, by_hand(different, features, weight))
