# SPDX-License-Identifier: Apache-2.0
"""Networks in plain PyTorch that the tests export, and PyTorch's own count of their work."""
import math

import torch
from torch import nn


class BertLayer(nn.Module):
    """One encoder layer of BERT (Devlin et al. 2019), post-norm, GELU unless another activation is given."""

    def __init__(self, width, heads, hidden, activation=nn.functional.gelu):
        super().__init__()
        self.heads, self.activation = heads, activation
        self.query, self.key, self.value, self.project = (nn.Linear(width, width) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x):
        batch, tokens, width = x.shape

        def by_heads(y):
            return y.view(batch, tokens, self.heads, width // self.heads).transpose(1, 2)
        q, k, v = by_heads(self.query(x)), by_heads(self.key(x)), by_heads(self.value(x))
        weights = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(width // self.heads), -1)
        context = (weights @ v).transpose(1, 2).reshape(batch, tokens, width)
        x = self.norm1(x + self.project(context))
        return self.norm2(x + self.down(self.activation(self.up(x))))


class Bert(nn.Module):
    """BERT-base without the pooler: 12 layers of 768 channels, 12 heads, a vocabulary of 30522."""

    def __init__(self, layers=12, width=768, heads=12, hidden=3072, vocabulary=30522, positions=512):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(positions, width)
        self.types = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(BertLayer(width, heads, hidden) for _ in range(layers))

    def forward(self, words, types):
        x = self.words(words) + self.types(types)
        x = self.norm(x + self.positions(torch.arange(words.shape[1])[None]))
        for layer in self.layers:
            x = layer(x)
        return x


class SmallCnn(nn.Module):
    """What a functional run computes: convolutions with batch norms, a depthwise one, pools, a residual, a classifier."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, padding=1, bias=False)
        self.stem_norm = nn.BatchNorm2d(16)
        self.a = nn.Conv2d(16, 16, 3, padding=1, bias=False)
        self.a_norm = nn.BatchNorm2d(16)
        self.b = nn.Conv2d(16, 16, 3, padding=1, groups=16)
        self.pool = nn.MaxPool2d(2)
        self.head = nn.Linear(16 * 4 * 4, 10)

    def forward(self, x):
        x = torch.relu(self.stem_norm(self.stem(x)))
        x = torch.relu(x + self.b(torch.relu(self.a_norm(self.a(x)))))
        return self.head(torch.flatten(self.pool(x), 1))


def parameters(network):
    return sum(one.numel() for one in network.parameters())


def macs(network, *inputs):
    """Multiplications of convolutions and matrix products of one run, as PyTorch's profiler counts them."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.no_grad(), torch.profiler.profile(activities=activities, with_flops=True) as profile:
        network(*inputs)
    counted = ("aten::conv2d", "aten::addmm", "aten::mm", "aten::bmm", "aten::baddbmm")
    return sum(event.flops for event in profile.key_averages() if event.key in counted) // 2
