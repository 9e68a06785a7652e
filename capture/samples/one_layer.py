"""One layer of a model, recorded by hooks: the attention of the second of three transformer layers, its second pass.

  build-capture/pagewalk-capture --paused --names -o layer.pwt -- python3 capture/samples/one_layer.py
"""

import torch

from recording import check, record_layer

BATCH, LENGTH, WIDTH, HEADS, LAYERS = 2, 128, 256, 4, 3

torch.manual_seed(1)
layer = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0.0, batch_first=True)
on_host = torch.nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
words = torch.randn(BATCH, LENGTH, WIDTH)
expected = on_host(words).detach()
model = on_host.cuda()  # in training mode: in evaluation PyTorch may run a whole layer as one call, without its parts
record_layer(model, "layers.1.self_attn", skip=1, count=1)
for _ in range(3):
    result = model(words.cuda())
check(result.detach(), expected)
