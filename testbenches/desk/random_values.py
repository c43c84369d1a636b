# SPDX-License-Identifier: Apache-2.0
"""The values of a network of docs/model_format.md in NumPy, with a bound of how far a chip may be from them.

The reference reads the model file, the parameters and the inputs as docs/values.md describes them, and computes in binary64.
It shares no code with the chip. Next to each value it carries a bound of the chip's error, by running error analysis: the
bound follows from the roundings that docs/values.md and docs/numerics.md state, and from nothing else.

    operands and results are binary16:           relative 2^-11, or 2^-25 absolute below the normal numbers
    sums and fused steps are binary32:           relative 2^-24 an operation, n + 2 of them in a sum of n
    a reduction in S slices has S - 1 partial sums in binary16, each at most the sum of the magnitudes
    a global mean has shares in binary16, and is an operand in binary16
    the probabilities of an attention are binary16
"""

import json
import os
import re

import numpy as np
import yaml

HALF, SINGLE, TINY = 2.0**-11, 2.0**-24, 2.0**-25


def half(array):
    """As the host writes it: binary16, nearest even."""
    return np.asarray(array, dtype=np.float64).astype(np.float16).astype(np.float64)


class Values:
    """samples x channels x rows x columns, the bound of each error, and which samples are there."""

    def __init__(self, value, error, there):
        self.value, self.error, self.there = value, error, there

    def rounded(self):
        error = self.error + HALF * (np.abs(self.value) + self.error) + TINY
        return Values(self.value, error, self.there)

    def channels(self, group, groups):
        each = self.value.shape[1] // groups
        part = slice(group * each, (group + 1) * each)
        return Values(self.value[:, part], self.error[:, part], self.there)


def windows(array, filter_size, stride, pad, fill):
    """samples x channels x rows x columns x filter rows x filter columns."""
    padded = np.pad(array, ((0, 0), (0, 0), (pad, pad), (pad, pad)), constant_values=fill)
    view = np.lib.stride_tricks.sliding_window_view(padded, filter_size, axis=(2, 3))
    return view[:, :, ::stride, ::stride]


class Network:
    """`folder` has the parameters; those that are missing are made of random numbers when they are first read."""

    def __init__(self, path, folder, seed):
        with open(path, encoding="utf-8") as file:
            self.model = yaml.safe_load(file)
        self.folder = folder
        self.random = np.random.default_rng(seed)
        self.samples_per_input = self.model.get("samples_per_input", 1)
        self.batch = self.model["batch"] * self.samples_per_input
        self.layers = {layer["name"]: layer for layer in self.model["layers"]}

    # ---- parameters ----

    def stored(self, name, shape, make):
        path = os.path.join(self.folder, name + ".npy")
        if not os.path.exists(path):
            np.save(path, np.asarray(make(self.random.standard_normal(shape)), dtype=np.float32))
        array = np.load(path)
        assert array.shape == tuple(shape), (path, array.shape, shape)
        return array.astype(np.float64)

    @staticmethod
    def file_of(parameters, what):
        return f"{parameters}{'' if parameters.endswith('_') else '.'}{what}"

    def order(self, layer, channels):
        """Channel of the file for each channel of the chip, which has queries, keys and values head by head."""
        heads = layer.get("heads", 1) if layer["kind"] == "matmul" else 1
        if heads == 1:
            return np.arange(channels)
        return np.arange(channels).reshape(3, heads, channels // 3 // heads).transpose(1, 0, 2).reshape(-1)

    @staticmethod
    def own(layer, array):
        """Of the files of all groups, the channels of a layer whose results are channels of one group."""
        if layer["kind"] in ("convolution", "matmul"):
            return array
        each = array.shape[0] // layer.get("groups", 1)
        return array[layer.get("group", 0) * each : (layer.get("group", 0) + 1) * each]

    @staticmethod
    def in_file(layer, channels):
        return channels if layer["kind"] in ("convolution", "matmul") else channels * layer.get("groups", 1)

    def vector(self, layer, parameters, what, channels, make):
        values = self.stored(self.file_of(parameters, what), (self.in_file(layer, channels),), make)
        return self.own(layer, half(values))[self.order(layer, channels)][None, :, None, None]

    def weights(self, layer, channels, inputs, filter_size):
        groups = layer.get("groups", 1)
        group = layer.get("group", 0)
        fan_in = inputs * filter_size[0] * filter_size[1]
        make = lambda numbers: numbers / np.sqrt(fan_in)
        if "expert" in layer:
            whole = self.stored(layer["parameters"], (3, inputs * groups, channels), make)
            array = whole[layer["expert"]].T[:, :, None, None]
        else:
            shape = (channels, inputs * groups) + (tuple(filter_size) if layer["kind"] != "matmul" else ())
            array = self.stored(self.file_of(layer["parameters"], "weight"), shape, make)
            array = array.reshape(channels, inputs * groups, *filter_size)
        array = half(array * layer.get("weight_scale", 1))
        return array[self.order(layer, channels)][:, group * inputs : (group + 1) * inputs]

    # ---- layers ----

    def linear(self, layer, values, weights, stride, pad, depthwise):
        size = weights.shape[2:]
        seen = windows(values.value, size, stride, pad, 0)
        bound = windows(np.abs(values.value) + values.error, size, stride, pad, 0)
        error = windows(values.error, size, stride, pad, 0)
        if depthwise:
            product = lambda x, w: np.einsum("ncpqrs,crs->ncpq", x, w[:, 0], optimize=True)
            terms = size[0] * size[1]
        else:
            product = lambda x, w: np.einsum("ncpqrs,kcrs->nkpq", x, w, optimize=True)
            terms = weights.shape[1] * size[0] * size[1]
        magnitude = product(bound, np.abs(weights))
        slices = self.slices.get(layer["name"], 1)
        roundings = (terms + slices + 2) * SINGLE + (slices - 1) * HALF
        return Values(
            product(seen, weights),
            product(error, np.abs(weights)) + roundings * magnitude + (slices - 1) * TINY,
            values.there,
        )

    def softmax(self, value, error, axis):
        largest = value.max(axis=axis, keepdims=True)
        share = np.exp(value - largest)
        share /= share.sum(axis=axis, keepdims=True)
        spread = 2 * error.max(axis=axis, keepdims=True) + (value.shape[axis] + 8) * SINGLE
        return share, np.minimum(share * np.expm1(np.minimum(spread, 30.0)), 1.0)

    def attention(self, layer, values):
        joined = self.samples_per_input if layer.get("over") == "input" else 1
        heads = layer.get("heads", 1)
        samples, channels, tokens, _ = values.value.shape

        def tokens_of(array):  # inputs x heads x (q, k, v) x channels of a head x tokens
            if joined > 1:
                array = array.reshape(samples // joined, joined, channels).transpose(0, 2, 1)
            else:
                array = array[..., 0]
            return array.reshape(array.shape[0], heads, 3, channels // 3 // heads, array.shape[-1])

        value, error = tokens_of(values.value), tokens_of(values.error)
        (q, k, v), (eq, ek, ev) = np.moveaxis(value, 2, 0), np.moveaxis(error, 2, 0)
        depth = q.shape[2]
        dot = lambda a, b: np.einsum("bhdi,bhdj->bhij", a, b, optimize=True) / np.sqrt(depth)
        magnitude = dot(np.abs(q) + eq, np.abs(k) + ek)
        scores = dot(q, k)
        wrong = dot(eq, np.abs(k)) + dot(np.abs(q) + eq, ek) + (depth + 4) * SINGLE * magnitude
        share, spread = self.softmax(scores, wrong, -1)
        spread = spread + HALF * (share + spread) + TINY
        total = lambda a, b: np.einsum("bhij,bhdj->bhdi", a, b, optimize=True)
        result = total(share, v)
        error = (
            total(spread, np.abs(v) + ev)
            + total(share, ev)
            + (share.shape[-1] + 2) * SINGLE * total(share + spread, np.abs(v) + ev)
        )

        def back(array):
            array = array.reshape(array.shape[0], channels // 3, array.shape[-1])
            if joined > 1:
                return array.transpose(0, 2, 1).reshape(samples, channels // 3, 1, 1)
            return array[..., None]

        return Values(back(result), back(error), values.there)

    def pool(self, layer, values):
        mean = layer.get("pooling", "maximum") == "mean"
        if layer.get("over") == "input":
            shape = values.value.shape
            folded = lambda array: array.reshape(-1, self.samples_per_input, *shape[1:])
            spread = lambda array: np.repeat(array, self.samples_per_input, axis=0)
            value, error, terms = folded(values.value), folded(values.error), self.samples_per_input
            if not mean:
                return Values(spread(value.max(axis=1)), spread(error.max(axis=1)), values.there)
            extra = (terms + 2) * SINGLE * (np.abs(value) + error).mean(axis=1)
            return Values(spread(value.mean(axis=1)), spread(error.mean(axis=1) + extra), values.there)
        size = layer["filter"] if isinstance(layer["filter"], list) else [layer["filter"]] * 2
        stride, pad = layer.get("stride", 1), layer.get("pad", 0)
        error = windows(values.error, size, stride, pad, 0)
        if not mean:
            value = windows(values.value, size, stride, pad, -np.inf)
            return Values(value.max(axis=(-1, -2)), error.max(axis=(-1, -2)), values.there)
        value = windows(values.value, size, stride, pad, 0)
        extra = (size[0] * size[1] + 2) * SINGLE * (np.abs(value) + error).mean(axis=(-1, -2))
        return Values(value.mean(axis=(-1, -2)), error.mean(axis=(-1, -2)) + extra, values.there)

    def global_mean(self, values):
        value, error = values.value, values.error
        count = value.shape[2] * value.shape[3]
        size = (np.abs(value) + error).mean(axis=(2, 3), keepdims=True)
        shares = HALF * size + value.shape[2] * TINY + (count + 2) * SINGLE * size
        mean = Values(value.mean(axis=(2, 3), keepdims=True), error.mean(axis=(2, 3), keepdims=True) + shares, values.there)
        return mean.rounded()

    def normalised(self, value, error):
        channels = value.shape[1]
        error = error + (channels + 4) * SINGLE * np.abs(value).max(axis=1, keepdims=True)
        centred = value - value.mean(axis=1, keepdims=True)
        off = error + error.mean(axis=1, keepdims=True)
        variance = (centred**2).mean(axis=1, keepdims=True)
        moved = (2 * np.abs(centred) * off + off**2).mean(axis=1, keepdims=True) + (channels + 4) * SINGLE * variance
        deviation = np.sqrt(variance + 1e-5)
        least = np.sqrt(np.maximum(variance - moved, 0) + 1e-5)
        result = centred / deviation
        # Whatever the error, a normalised value is at most sqrt(channels).
        wrong = off / least + np.abs(centred) * (1 / least - 1 / deviation) + 8 * SINGLE * np.abs(result)
        return result, np.minimum(wrong, 2 * np.sqrt(channels))

    def step(self, layer, step, value, error, tensors):
        name, what = next(iter(step.items())) if isinstance(step, dict) else (step, None)
        channels = value.shape[1]
        parameters = layer.get("parameters")
        small = lambda numbers: 0.2 * numbers
        gains = lambda numbers: 1 + 0.2 * numbers
        if name == "bias":
            value = value + self.vector(layer, parameters, "bias", channels, small)
        elif name == "norm":
            gain = self.vector(layer, parameters, "gain", channels, gains)
            value = value * gain + self.vector(layer, parameters, "offset", channels, small)
            error = error * np.abs(gain)
        elif name == "layer_norm":
            value, error = self.normalised(value, error)
            gain = self.vector(layer, what or parameters, "weight", channels, gains)
            value = value * gain + self.vector(layer, what or parameters, "bias", channels, small)
            error = error * np.abs(gain)
        elif name == "softmax":
            value, error = self.softmax(value, error, 1)
        elif name == "relu":
            value, error = np.maximum(value, 0), np.where(value + error < 0, 0, error)
        elif name == "sigmoid":
            value, error = 1 / (1 + np.exp(-value)), np.minimum(error / 4, 1)
        elif name == "add":
            other = tensors[what]
            value, error = value + other.value, error + other.error
        elif name == "scale":
            other = tensors[what]
            factor = other.value.max(axis=1, keepdims=True)
            wrong = other.error.max(axis=1, keepdims=True)
            error = error * (np.abs(factor) + wrong) + np.abs(value) * wrong
            value = value * factor
        elif name == "position":
            rows = value.shape[2]
            size = (self.samples_per_input * rows, self.in_file(layer, channels))
            table = self.own(layer, half(self.stored(what, size, small)).T).T
            table = table[:, self.order(layer, channels)].reshape(self.samples_per_input, rows, channels)
            value = value + np.tile(table.transpose(0, 2, 1), (value.shape[0] // self.samples_per_input, 1, 1))[..., None]
        else:
            raise AssertionError(name)
        return value, error + 2 * SINGLE * (np.abs(value) + error)

    def steps(self, layer):
        fused = layer.get("fused", [])
        return (["layer_norm"] if layer["kind"] == "layer_norm" else []) + fused

    def operator(self, layer, tensors):
        kind = layer["kind"]
        if kind == "merge":
            result = self.merged(layer, [tensors[source] for source in layer["from"]], tensors)
        else:
            values = tensors[layer["from"]].channels(layer.get("group", 0), layer.get("groups", 1))
            channels = layer.get("out_channels", values.value.shape[1])
            size = layer.get("filter", 1)
            size = size if isinstance(size, list) else [size, size]
            if kind in ("convolution", "matmul"):
                weights = self.weights(layer, channels, values.value.shape[1], size)
                result = self.linear(layer, values, weights, layer.get("stride", 1), layer.get("pad", 0), False)
            elif kind == "depthwise":
                weights = self.depthwise_weights(layer, channels, size)
                result = self.linear(layer, values, weights, layer.get("stride", 1), layer.get("pad", 0), True)
            elif kind == "attention":
                result = self.attention(layer, values)
            elif kind == "pool":
                result = self.pool(layer, values)
            elif kind == "norm":
                value, error = self.step(layer, "norm", values.value, values.error, tensors)
                result = Values(value, error, values.there)
            else:
                result = values
        value, error = result.value, result.error
        logits = []  # what is behind each step; a gate compares one of them
        for step in self.steps(layer):
            logits.append((value, error))
            value, error = self.step(layer, step, value, error, tensors)
        logits.append((value, error))
        self.logits[layer["name"]] = logits
        return Values(value, error, result.there).rounded()

    def depthwise_weights(self, layer, channels, size):
        """Of a layer on one of several groups: those of its channels."""
        make = lambda numbers: numbers / np.sqrt(size[0] * size[1])
        shape = (self.in_file(layer, channels), 1, *size)
        array = self.stored(self.file_of(layer["parameters"], "weight"), shape, make)
        return half(self.own(layer, array) * layer.get("weight_scale", 1))

    def merged(self, layer, sources, tensors):
        """Of all samples that are before the switches that it closes, whichever branches they took."""
        path = self.path[layer["name"]]
        steps = [self.path[name][len(path) :] for name in layer["from"]]
        outside = [source.there for source, step in zip(sources, steps) if not step]
        there = outside[0] if outside else tensors[self.layers[steps[0][0][0]]["from"]].there
        here = [source.there[:, None, None, None] for source in sources]
        value = sum(np.where(h, s.value, 0.0) for h, s in zip(here, sources))
        error = sum(np.where(h, s.error, 0.0) for h, s in zip(here, sources))
        if layer.get("mode", "exclusive") == "sum":
            size = sum(np.where(h, np.abs(s.value) + s.error, 0) for h, s in zip(here, sources))
            error = error + len(sources) * SINGLE * size
        else:
            assert np.all(sum(source.there.astype(int) for source in sources) <= 1), layer["name"]
        return Values(value, error, there)

    # ---- switches ----

    def switch(self, layer, tensors, forced):
        """The mask of each sample, which of them rounding may change, and which samples there are."""
        name, gate = layer["name"], self.layers[layer["gate"]]
        there = tensors[layer["gate"]].there
        router = layer.get("router", {})
        branches = router.get("branches", layer.get("branches", 2))
        kind = router.get("kind")
        exclusive = kind != "threshold" if router else layer.get("choose", "one") == "one"
        fused, logits = self.steps(gate), self.logits[gate["name"]]
        outputs = gate["out_channels"]
        compares = "patience" not in layer and (outputs == 1 or not exclusive)
        # The decision sees through activations at the end, which are increasing.
        default = 0.5 if fused and fused[-1] == "sigmoid" else 0.0
        threshold = router.get("threshold", 0.5) if kind == "threshold" else layer.get("threshold", default)
        at = len(fused)
        seen_through = ("sigmoid", "relu") if compares else ("sigmoid", "softmax")
        while at > 0 and fused[at - 1] in seen_through:
            at -= 1
            if compares and fused[at] == "sigmoid":
                threshold = np.log(threshold / (1 - threshold))
        value, error = (array[:, :, 0, 0] for array in logits[at])
        if compares:
            above, close = value > threshold, np.abs(value - threshold) <= error
            if outputs == 1:
                masks = np.where(above[:, 0], 2, 1)
            else:
                masks = (above << np.arange(outputs)).sum(axis=1)
            open_ = close.any(axis=1)
        else:
            label = value.argmax(axis=1)
            best = np.take_along_axis(value, label[:, None], axis=1)
            unsure = error + np.take_along_axis(error, label[:, None], axis=1)
            # Of equal ones, such as two zeros behind a ReLU, the first.
            open_ = ((value + unsure >= best) & (unsure > 0) & (np.arange(outputs) != label[:, None])).any(axis=1)
            masks = 1 << label
            if "patience" in layer:
                count = np.zeros(len(label), dtype=int)
                before = self.switch_before(layer)
                if before is not None:
                    old, old_count, old_open = self.labels[before]
                    count = np.where(label == old, old_count + 1, 0)
                    open_ = open_ | old_open
                self.labels[name] = (label, count, open_)
                masks = np.where(count >= layer["patience"], 2, 1)
        masks = np.where(there, masks, 0).astype(np.int64)
        for (switch, sample), mask in forced.items():
            if switch == name:
                masks[sample] = mask
        for branch in range(branches):
            source = tensors[layer["from"]]
            tensors[f"{name}.{branch}"] = Values(source.value, source.error, there & ((masks >> branch & 1) == 1))
        return masks, open_ & there, there

    def switch_before(self, layer):
        """The switch on whose branch 0 the layer is, if it has a patience."""
        name = self.path.get(layer["from"], [])
        if not name or name[-1][1] != 0:
            return None
        before = self.layers[name[-1][0]]
        return before["name"] if "patience" in before else None

    def path_of(self, layer):
        sources = layer["from"] if isinstance(layer["from"], list) else [layer["from"]]
        paths = [self.path[source] for source in sources]
        shared = []
        for steps in zip(*paths):
            if any(step != steps[0] for step in steps):
                break
            shared.append(steps[0])
        return shared

    # ---- the network ----

    def run(self, inputs, slices, forced):
        """Outputs as sy-sim writes them, their bounds, and the masks with those that rounding may change."""
        self.slices, self.logits, self.labels = slices, {}, {}
        shape = self.model["input"]
        values = half(inputs).reshape(-1, shape["channels"], shape.get("rows", 1), shape.get("columns", 1))
        tensors = {"input": Values(values, np.zeros_like(values), np.ones(len(values), dtype=bool))}
        self.path = {"input": []}
        masks = {}
        for layer in self.model["layers"]:
            name, kind = layer["name"], layer["kind"]
            if kind == "sink":
                continue
            self.path[name] = self.path_of(layer)
            if kind == "switch":
                masks[name] = self.switch(layer, tensors, forced)
                for branch in range(64):
                    self.path[f"{name}.{branch}"] = self.path[name] + [(name, branch)]
            elif kind == "global_pool":
                tensors[name] = self.global_mean(tensors[layer["from"]])
            else:
                tensors[name] = self.operator(layer, tensors)
        outputs = [tensors[name] for name in self.model.get("outputs", [self.model["layers"][-1]["name"]])]
        value, error = np.zeros_like(outputs[0].value), np.zeros_like(outputs[0].value)
        for output in outputs:  # a sample's result is the last one that it reaches
            here = output.there[:, None, None, None]
            value, error = np.where(here, output.value, value), np.where(here, output.error, error)
        return value, error, masks
