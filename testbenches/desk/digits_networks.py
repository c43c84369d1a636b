# SPDX-License-Identifier: Apache-2.0
"""The five digits networks of configs/workloads in PyTorch, with routers: their parameters are in
configs/workloads/digits/NAME/weights, and their comments say what they compute."""
import os

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import switchyard

FOLDER = "configs/workloads/digits"


class SkipNet(nn.Module):
    def __init__(self, blocks=8, channels=16):
        super().__init__()
        self.stem = nn.Conv2d(1, channels, 3, padding=1)
        self.a = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(blocks))
        self.b = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(blocks))
        self.gate = nn.ModuleList(nn.Linear(channels, 1) for _ in range(blocks))
        self.head = nn.Linear(channels, 10)

    def forward(self, x):
        h = torch.relu(self.stem(x))
        for i, (a, b, gate) in enumerate(zip(self.a, self.b, self.gate)):
            probability = torch.sigmoid(gate(4 * h.mean((2, 3))))
            block = switchyard.switch(h, probability, threshold=0.5, name=f"block{i}")
            h = block.merge(block[0], torch.relu(block[1] + b(torch.relu(a(block[1])))))
        return self.head(h.mean((2, 3)))


class ChannelGate(nn.Module):
    GROUPS, WIDTH = 8, 4

    def __init__(self):
        super().__init__()
        channels = self.GROUPS * self.WIDTH
        self.stem = nn.Conv2d(1, channels, 3, padding=1)
        self.conv = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(4))
        self.sal = nn.ModuleList(nn.Linear(channels, self.GROUPS) for _ in range(4))
        self.pool = nn.MaxPool2d(2)
        self.head = nn.Linear(channels, 10)

    def forward(self, x):
        h = torch.relu(self.stem(x))
        for i, (conv, sal) in enumerate(zip(self.conv, self.sal)):
            groups = switchyard.switch(h, sal(4 * h.mean((2, 3))), choose="any", name=f"conv{i}")
            parts = [slice(self.WIDTH * k, self.WIDTH * (k + 1)) for k in range(self.GROUPS)]
            h = groups.merge(*(functional.conv2d(groups[k][:, part], conv.weight[:, part], padding=1)
                               for k, part in enumerate(parts)), mode="sum")
            h = torch.relu(h + conv.bias[:, None, None])
            if i == 1:
                h = self.pool(h)
        return self.head(h.mean((2, 3)))


class EarlyExit(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(8, 32)
        self.pos = nn.Parameter(torch.zeros(8, 32))
        self.enc = nn.ModuleList(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True) for _ in range(6))
        self.heads = nn.ModuleList(nn.Linear(32, 10) for _ in range(6))

    def forward(self, x):
        h = self.embed(x[:, 0]) + self.pos
        results, before = [], None
        for i, (layer, head) in enumerate(zip(self.enc, self.heads)):
            h = layer(h)
            results.append(head(h.mean(1)))
            if i < 5:
                before = switchyard.switch(h, results[-1], patience=2, after=before, name=f"exit{i}")
                h = before[0]
        return results


class MixtureOfExperts(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(8, 32)
        self.pos = nn.Parameter(torch.zeros(8, 32))
        self.n1, self.n2 = (nn.ModuleList(nn.LayerNorm(32) for _ in range(2)) for _ in range(2))
        self.qkv = nn.ModuleList(nn.Linear(32, 96) for _ in range(2))
        self.out = nn.ModuleList(nn.Linear(32, 32) for _ in range(2))
        self.router = nn.ModuleList(nn.Linear(32, 8) for _ in range(2))
        self.up = nn.ParameterList(torch.zeros(8, 32, 64) for _ in range(2))
        self.down = nn.ParameterList(torch.zeros(8, 64, 32) for _ in range(2))
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        h = self.embed(x) + self.pos
        for i in range(2):
            q, k, v = self.qkv[i](self.n1[i](h)).chunk(3, -1)
            weights = torch.softmax(q @ k.transpose(1, 2) / 32 ** 0.5, -1)
            h = h + self.out[i](weights @ v)
            u = self.n2[i](h).reshape(-1, 32)
            probability = torch.softmax(self.router[i](u), -1)
            experts = switchyard.switch(u, probability, name=f"layer{i}.experts")
            mixed = experts.merge(*(torch.relu(experts[e] @ self.up[i][e]) @ self.down[i][e] for e in range(8)))
            mixed = mixed * torch.amax(probability, -1, keepdim=True)
            h = h + mixed.reshape(-1, 8, 32)
        return self.head(h.mean(1))


class PatchSelect(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(64, 1)
        self.f = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10))

    def forward(self, patches):
        chosen = switchyard.switch(patches, self.score(patches.flatten(1)), name="patches")
        return self.f(chosen[1].flatten(1))


class Digits:
    """One of the networks, with its trained parameters and its recorded inputs, routes and results."""

    def __init__(self, name):
        self.name, self.folder, self.samples = name, f"{FOLDER}/{name}", 1
        inputs, answers = f"{FOLDER}/inputs_batch0_to_19.npy", "logits_batch0_to_19.npy"
        if name == "moe":
            inputs, self.samples = f"{self.folder}/inputs_batch0_to_19.npy", 8
        if name == "patch_select":
            inputs, answers, self.samples = f"{self.folder}/inputs_batch0_to_4.npy", "logits_batch0_to_4.npy", 16
        images = torch.from_numpy(np.load(inputs))
        if name == "patch_select":
            images = images.reshape(-1, 1, 8, 8)
        self.inputs = images if name in ("moe", "patch_select") else images[:, None]
        self.results = np.load(f"{self.folder}/{answers}")
        self.network = {"skipnet": SkipNet, "channel_gate": ChannelGate, "early_exit": EarlyExit,
                        "moe": MixtureOfExperts, "patch_select": PatchSelect}[name]()
        self.weights = {file[:-4]: np.load(f"{self.folder}/weights/{file}")
                        for file in os.listdir(f"{self.folder}/weights")}
        self.network.load_state_dict({key: torch.from_numpy(value) for key, value in self.weights.items()})
