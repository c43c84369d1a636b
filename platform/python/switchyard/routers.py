# SPDX-License-Identifier: Apache-2.0
"""Routers in a network's forward(). Without a capture they compute all branches of all samples, and a merge takes of each
sample what its branches have computed, so that the network can be trained and used as it is."""
import torch
import torch.fx


def decide(gate, choose, threshold, patience, before):
    """Mask [samples, branches] of a gate, as docs/model_format.md has it. `before`: of the gate before in a chain of early
    exits, labels and counts of the same samples. Returns the mask and this gate's labels and counts."""
    if patience:
        labels = gate.argmax(1)
        counts = torch.zeros_like(labels)
        if before is not None:
            counts = torch.where(labels == before[0], before[1] + 1, counts)
        leaves = counts >= patience
        return torch.stack([~leaves, leaves], 1), (labels, counts)
    if gate.shape[1] == 1:
        taken = gate > threshold
        return torch.cat([~taken, taken], 1), None
    if choose == "any":
        return gate > threshold, None
    return torch.nn.functional.one_hot(gate.argmax(1), gate.shape[1]).bool(), None


class Branches:
    """What switch() returns: branch b is `branches[b]`."""

    def __init__(self, data, mask, state):
        self.data, self.mask, self.state = data, mask, state

    def __getitem__(self, branch):
        return self.data

    def merge(self, *results, mode="exclusive"):
        """The samples in the order that they had before the switch. `mode`: "exclusive" takes each sample from its
        branch; "sum" adds up what its branches give, zero if there is none. One result for each branch."""
        if len(results) != self.mask.shape[1]:
            raise ValueError(f"{len(results)} results for {self.mask.shape[1]} branches")
        total = 0
        for branch, result in enumerate(results):
            taken = self.mask[:, branch].reshape(-1, *(1,) * (result.dim() - 1))
            total = total + torch.where(taken, result, torch.zeros((), dtype=result.dtype))
        return total


def switch(data, gate, *, choose="one", threshold=0.0, patience=0, after=None, name=None):
    """Sends each sample (first dimension) of `data` to a branch, by the gate's outputs.

    gate       [samples, 1]: branch 1 if it is above `threshold`, otherwise branch 0. [samples, branches]: the largest,
               or with choose="any" those above `threshold`
    patience   early exit: the gate's outputs are labels; branch 1, leave, as soon as the label has been that of the
               gate before for this number of gates in a row. `after`: the switch before in the chain
    name       in the model file and the trace; default: switch0, switch1, ...

    A branch that the network does not use ends there."""
    mask, state = decide(gate, choose, threshold, patience, None if after is None else after.state)
    return Branches(data, mask, state)


torch.fx.wrap("switch")
