#!/usr/bin/env python3
"""Trains the network of digits_skipnet.yaml with another seed and writes what PyTorch computes with it.

Debian: apt-get install python3-torch python3-sklearn. The images are the 1797 handwritten digits that scikit-learn
bundles, half of them for training, shifted by up to one pixel and with noise. One thread, so that a seed gives the same
weights on the same machine and PyTorch version; other versions may round differently.

usage: train_skipnet.py SEED FOLDER
  FOLDER/weights/NAME.npy          parameters under PyTorch's names
  FOLDER/logits_batch0_to_19.npy   what the network answers for ../inputs_batch0_to_19.npy, binary32
  FOLDER/routing.jsonl             the branch of each sample at each block (docs/trace_format.md)
"""
import json
import os
import sys

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional

BLOCKS, CHANNELS, BATCH, EPOCHS = 8, 16, 128, 100
HERE = os.path.dirname(os.path.abspath(__file__))


class SkipNet(nn.Module):
    def __init__(self):
        super().__init__()
        def conv(inputs):
            return nn.Conv2d(inputs, CHANNELS, 3, padding=1)
        self.stem = conv(1)
        self.a = nn.ModuleList(conv(CHANNELS) for _ in range(BLOCKS))
        self.b = nn.ModuleList(conv(CHANNELS) for _ in range(BLOCKS))
        self.gate = nn.ModuleList(nn.Linear(CHANNELS, 1) for _ in range(BLOCKS))
        self.head = nn.Linear(CHANNELS, 10)

    def forward(self, x):
        """Logits, and of each block the gate's probability and decision."""
        h = torch.relu(self.stem(x))
        soft, hard = [], []
        for a, b, gate in zip(self.a, self.b, self.gate):
            probability = torch.sigmoid(gate(4 * h.mean((2, 3))))
            taken = (probability > 0.5).float()
            # Forward the decision, backward the probability's gradient.
            z = taken + probability - probability.detach()
            h = torch.relu(h + z[:, :, None, None] * b(torch.relu(a(h))))
            soft.append(probability[:, 0])
            hard.append(taken[:, 0])
        return self.head(h.mean((2, 3))), torch.stack(soft), torch.stack(hard)


def disturbed(images, generator):
    """Shifted by -1 to 1 pixels in both directions, with noise."""
    shifts = torch.randint(-1, 2, (len(images), 2), generator=generator)
    moved = torch.stack([torch.roll(image, tuple(shift.tolist()), (1, 2)) for image, shift in zip(images, shifts)])
    return moved + 0.15 * torch.randn(moved.shape, generator=generator)


def train(seed):
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    digits = load_digits()
    images = torch.tensor(digits.images / 16, dtype=torch.float32)[:, None]
    labels = torch.tensor(digits.target)
    order = torch.randperm(len(images), generator=generator)
    training, held_out = order[: len(order) // 2], order[len(order) // 2:]
    network = SkipNet()
    optimiser = torch.optim.Adam(network.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 6e-3, EPOCHS * (len(training) // BATCH))
    for _ in range(EPOCHS):
        shuffled = training[torch.randperm(len(training), generator=generator)]
        for first in range(0, len(shuffled) - BATCH + 1, BATCH):
            batch = shuffled[first: first + BATCH]
            logits, soft, _ = network(disturbed(images[batch], generator))
            # Each block is taken by half of the samples, and by which is clear: routes that depend on the sample.
            balance = ((soft.mean(1) - 0.5) ** 2).mean() - soft.var(1).mean()
            loss = functional.cross_entropy(logits, labels[batch]) + 0.1 * balance
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    with torch.no_grad():
        answers = network(disturbed(images[held_out], generator))[0].argmax(1)
    accuracy = (answers == labels[held_out]).float().mean().item()
    return network, accuracy


def main():
    seed, folder = int(sys.argv[1]), sys.argv[2]
    network, accuracy = train(seed)
    inputs = torch.from_numpy(np.load(os.path.join(HERE, "inputs_batch0_to_19.npy")))[:, None]
    with torch.no_grad():
        logits, _, hard = network(inputs)
    os.makedirs(os.path.join(folder, "weights"), exist_ok=True)
    for name, value in network.state_dict().items():
        np.save(os.path.join(folder, "weights", name + ".npy"), value.numpy())
    np.save(os.path.join(folder, "logits_batch0_to_19.npy"), logits.numpy())
    with open(os.path.join(folder, "routing.jsonl"), "w", encoding="ascii") as trace:
        for batch in range(len(inputs) // BATCH):
            for block in range(BLOCKS):
                taken = hard[block, batch * BATCH: (batch + 1) * BATCH].int().tolist()
                line = {"batch": batch, "switch": f"block{block}", "branches": 2, "samples": BATCH,
                        "mask": [1 + one for one in taken]}
                trace.write(json.dumps(line, separators=(",", ":")) + "\n")
    print(f"seed {seed}: held-out accuracy {accuracy:.3f}, blocks taken {hard.mean(1).tolist()}")


main()
