# SPDX-License-Identifier: Apache-2.0
"""From a traced network (torch.fx) to layers of the model format (docs/model_format.md)."""
import operator
import re

import torch
from torch import nn
from torch.nn import functional

from . import routers


class CaptureError(Exception):
    """The network has what the model format does not have. Names the node of the trace."""


class Layer:
    """A layer of the model file; `keys` as text, in order."""

    def __init__(self, name, kind, source, **keys):
        self.name, self.kind, self.source, self.keys, self.fused, self.parameters = name, kind, source, keys, [], None

    def text(self):
        source = self.source if isinstance(self.source, str) else "[" + ", ".join(self.source) + "]"
        pairs = {"name": self.name, "kind": self.kind, "from": source, **self.keys}
        if self.fused:
            pairs["fused"] = "[" + ", ".join(self.fused) + "]"
        if self.parameters:
            pairs["parameters"] = self.parameters
        return "  - {" + ", ".join(f"{key}: {value}" for key, value in pairs.items()) + "}\n"

    def has_operand(self):
        return any(step.startswith(("{add:", "{scale:")) for step in self.fused)

    def is_across_channels(self):
        return self.kind == "layer_norm" or any(step == "softmax" or step.startswith("{layer_norm:") for step in self.fused)


class Value:
    """A result that depends on the input. `name`: "input", a layer or a branch; `layer`: the one that makes it."""

    def __init__(self, name, layer=None, scale=1.0):
        self.name, self.layer, self.scale = name, layer, scale


class Constant:
    """A parameter, or a part of one: `columns`, a slice of its input channels, or `index` of its first dimension."""

    def __init__(self, name, tensor, index=None, columns=None):
        self.name, self.tensor, self.index, self.columns = name, tensor, index, columns


class Parts:
    """Queries, keys and values side by side: what chunk(3, -1) gives; `product`: what an attention has made of them."""

    def __init__(self, value, index=None, product=None):
        self.value, self.index, self.product = value, index, product


FREE = ("view", "reshape", "flatten", "squeeze", "unsqueeze", "contiguous", "clone", "to", "float", "dropout")
FREE_FUNCTIONS = (torch.flatten, torch.squeeze, torch.unsqueeze, torch.reshape, functional.dropout)


def size_of(one):
    """Rows and columns as the model format has them: one number, if they are equal."""
    rows, columns = one if isinstance(one, (tuple, list)) else (one, one)
    return str(rows) if rows == columns else f"[{rows}, {columns}]"


class Lowering:
    """Nodes in the order of the trace; steps are fused to the layer in front of them if nothing else takes its result."""

    def __init__(self, module, shapes, switches, samples_per_input):
        self.module, self.shapes, self.switches, self.folded = module, shapes, switches, {}
        self.samples = samples_per_input
        self.layers, self.names, self.parameters, self.values, self.used = [], {"input"}, [], {}, set()
        self.modules = dict(module.named_modules())

    def model(self, name, batch, trace):
        """The text of the model file, and the names of the parameters that it takes."""
        outputs = []
        for node in self.module.graph.nodes:
            if node.op == "output":
                results = node.args[0] if isinstance(node.args[0], (tuple, list)) else [node.args[0]]
                outputs = [self.values[one].name for one in results]
                continue
            try:
                self.values[node] = getattr(self, "lower_" + node.op)(node)
            except CaptureError as reason:
                raise CaptureError(f"{node.name} ({node.format_node()}): {reason}") from None
        self.add_sinks(outputs)
        shape = dict(zip(("channels", "rows", "columns"), self.input_shape))
        lines = ["# Captured from PyTorch by the Python package switchyard.\n", f"name: {name}\n", f"batch: {batch}\n"]
        if self.samples > 1:
            lines.append(f"samples_per_input: {self.samples}\n")
        lines.append("input: {" + ", ".join(f"{key}: {value}" for key, value in shape.items()) + "}\n\nlayers:\n")
        lines += [layer.text() for layer in self.layers]
        lines.append("\noutputs: [" + ", ".join(outputs) + "]\n")
        if trace:
            lines.append(f"\nrouting: {{trace: {trace}}}\n")
        return "".join(lines), sorted(set(self.parameters))

    # Names and layers

    def unique(self, wish):
        wish = re.sub(r"[^A-Za-z0-9_.-]", "_", wish)
        wish = re.sub(r"\.(\d+)$", r"_\1", wish)  # reserved for branches
        name, number = wish, 2
        while name in self.names:
            name, number = f"{wish}_{number}", number + 1
        self.names.add(name)
        return name

    def add(self, wish, kind, source, **keys):
        layer = Layer(self.unique(wish), kind, source, **keys)
        self.layers.append(layer)
        return Value(layer.name, layer)

    def fusable(self, node):
        """The layer of `node`'s result if nothing but one other node takes it."""
        value = self.values[node]
        while len(node.users) == 1 and self.is_free(node):
            node = node.all_input_nodes[0]
        blocked = value.layer is None or value.scale != 1 or value.layer.kind in ("global_pool", "switch")
        return None if blocked or len(node.users) != 1 or value.name != value.layer.name else value.layer

    def step(self, node, source, step, allowed=lambda layer: True):
        """Fuses a step to the layer of `source`, or to a new element-wise layer."""
        value, layer = self.values[source], self.fusable(source)
        if value.scale != 1:
            raise CaptureError("a factor is supported in front of a layer with weights only")
        if layer is None or not allowed(layer):
            value = self.add(node.name, "elementwise", value.name)
            layer = value.layer
        layer.fused.append(step)
        return Value(layer.name, layer)

    def weighted(self, value, source, parameters, bias):
        """`value` is the result of a layer with the parameters `parameters`.weight and, with `bias`, .bias."""
        layer = value.layer
        layer.parameters = parameters
        joint = "" if parameters.endswith("_") else "."
        self.parameters.append(parameters + joint + "weight")
        if bias:
            layer.fused.append("bias")
            self.parameters.append(parameters + joint + "bias")
        if source.scale != 1:
            layer.keys["weight_scale"] = f"{source.scale:g}"
        return value

    def is_free(self, node):
        if node.op == "call_method":
            return node.target in FREE
        if node.op == "call_module":
            return isinstance(self.modules[node.target], (nn.Dropout, nn.Identity, nn.Flatten))
        return node.op == "call_function" and node.target in FREE_FUNCTIONS

    def shape(self, node):
        return self.shapes[node]

    def folded_tokens(self, node):
        """[inputs, samples of an input, channels]: each token is a sample."""
        shape = self.shape(node)
        return self.samples > 1 and len(shape) == 3 and shape[1] == self.samples

    # Nodes of the trace

    def lower_placeholder(self, node):
        shape = self.shape(node)[1:]
        if self.folded_tokens(node):
            shape = shape[1:]
        elif len(shape) == 2:
            shape = (shape[1], shape[0], 1)
        self.input_shape = tuple(shape)
        return Value("input")

    def lower_get_attr(self, node):
        value = self.module
        for part in node.target.split("."):
            value = getattr(value, part)
        return Constant(node.target, value)

    def lower_call_module(self, node):
        module, source = self.modules[node.target], node.args[0]
        for kind, lower in MODULES.items():
            if isinstance(module, kind):
                return lower(self, node, module, source)
        raise CaptureError(f"{type(module).__name__} is not in the model format")

    def lower_call_function(self, node):
        if node.target is routers.switch:
            return self.switch(node)
        if node.target is operator.getitem:
            return self.item(node)
        lower = FUNCTIONS.get(node.target)
        if lower is None:
            raise CaptureError("it is not in the model format")
        return lower(self, node)

    def lower_call_method(self, node):
        if node.target == "merge" and node.args[0] in self.switches:
            return self.merge(node)
        lower = METHODS.get(node.target)
        if lower is None:
            raise CaptureError("it is not in the model format")
        return lower(self, node)

    # Switches

    def switch(self, node):
        data, gate = self.values[node.args[0]], self.values[node.args[1]]
        options = dict(node.kwargs)
        branches = 2 if options.get("patience") else max(2, self.shape(node.args[1])[1])
        if gate.layer is None or gate.layer.kind not in ("matmul", "convolution"):
            raise CaptureError("its gate is no result of a linear layer or a convolution")
        keys = {"gate": gate.name, "branches": branches, "choose": options.get("choose", "one")}
        if options.get("patience"):
            keys["patience"] = options["patience"]
        elif self.shape(node.args[1])[1] == 1 or keys["choose"] == "any":
            keys["threshold"] = f"{options.get('threshold', 0.0):g}"
        if data.scale != 1:
            raise CaptureError("its data is multiplied with a constant")
        layer = Layer(self.unique(self.switches[node]), "switch", data.name, **keys)
        if layer.name != self.switches[node]:
            raise CaptureError(f"its name {self.switches[node]} is that of another layer")
        self.layers.append(layer)
        return Value(layer.name, layer)

    def merge(self, node):
        sources = [self.values[one] for one in node.args[1:]]
        value = self.add(node.name, "merge", [one.name for one in sources], mode=node.kwargs.get("mode", "exclusive"))
        self.used.update(one.name for one in sources)
        return value

    def add_sinks(self, outputs):
        """A branch that nothing takes ends."""
        text = "".join(layer.text() for layer in self.layers) + " ".join(outputs)
        for layer in [one for one in self.layers if one.kind == "switch"]:
            for branch in range(layer.keys["branches"]):
                name = f"{layer.name}.{branch}"
                if re.search(r"[ \[]" + re.escape(name) + r"[,\]} ]", text) is None:
                    self.add(f"{layer.name}.sink{branch}", "sink", name)

    def item(self, node):
        source, index = node.args
        value = self.values[source]
        if source in self.switches:
            return Value(f"{value.name}.{index}", None)
        if isinstance(value, Parts):
            return Parts(value.value, index)
        if isinstance(value, Constant):
            return self.part_of(value, index)
        indices = index if isinstance(index, tuple) else (index,)
        if isinstance(value, tuple):  # of max(): values and indices
            return value[index]
        # Channels of a map: a group of them. One channel of a map of one.
        if len(indices) == 2 and indices[0] == slice(None) and isinstance(indices[1], slice):
            part, channels = indices[1], self.shape(source)[1]
            width = part.stop - part.start
            if channels % width or part.start % width or part.step not in (None, 1):
                raise CaptureError("a part of the channels that is none of several equal ones")
            group = Value(value.name, value.layer)
            group.group = (part.start // width, channels // width)
            return group
        if len(indices) == 2 and indices == (slice(None), 0) and self.shape(source)[1] == 1:
            return Value(value.name, value.layer, value.scale)
        raise CaptureError("an index that is not in the model format")

    def part_of(self, constant, index):
        if isinstance(index, int) and constant.index is None:
            return Constant(constant.name, constant.tensor[index], index)
        if isinstance(index, tuple) and len(index) == 2 and index[0] == slice(None) and isinstance(index[1], slice):
            return Constant(constant.name, constant.tensor[index], None, index[1])
        return Constant(constant.name, constant.tensor[index], constant.index, constant.columns)

    # Layers

    def convolution(self, node, source, name, weight, bias, stride, padding, dilation, groups):
        value = self.values[source]
        pair = [tuple(one) if isinstance(one, (tuple, list)) else (one, one) for one in (stride, padding, dilation)]
        if len(weight.shape) != 4 or pair[0][0] != pair[0][1] or pair[1][0] != pair[1][1] or pair[2] != (1, 1):
            raise CaptureError("only convolutions of two dimensions with equal strides and pads, without dilation")
        depthwise = groups > 1
        if depthwise and (groups != weight.shape[0] or weight.shape[1] != 1):
            raise CaptureError("groups of several channels")
        keys = {} if depthwise else {"out_channels": weight.shape[0]}
        keys["filter"] = size_of(tuple(weight.shape[2:]))
        if pair[0][0] != 1:
            keys["stride"] = pair[0][0]
        if pair[1][0] != 0:
            keys["pad"] = pair[1][0]
        if getattr(value, "group", None):
            keys["group"], keys["groups"] = value.group
        made = self.add(name if node.op == "call_module" else node.name, "depthwise" if depthwise else "convolution",
                        value.name, **keys)
        return self.weighted(made, value, name, bias)

    def conv_module(self, node, module, source):
        if module.padding_mode != "zeros" or isinstance(module.padding, str):
            raise CaptureError("only padding with zeros, in numbers")
        return self.convolution(node, source, node.target, module.weight, module.bias is not None, module.stride,
                                module.padding, module.dilation, module.groups)

    def conv_function(self, node):
        names = ("input", "weight", "bias", "stride", "padding", "dilation", "groups")
        given = {**dict(zip(names, node.args)), **node.kwargs}
        weight = self.values[given["weight"]]
        if given.get("bias") is not None:
            raise CaptureError("add its bias in an operation of its own")
        value = self.values[given["input"]]
        group = getattr(value, "group", None)
        width = weight.tensor.shape[1]
        if (weight.columns is not None) != (group is not None) or (group and weight.columns.start != group[0] * width):
            raise CaptureError("the weights' channels are not those of the input")
        return self.convolution(node, given["input"], weight.name[:-len(".weight")], weight.tensor, False,
                                given.get("stride", 1), given.get("padding", 0), given.get("dilation", 1),
                                given.get("groups", 1))

    def linear_module(self, node, module, source):
        value, shape = self.values[source], self.shape(source)
        if len(shape) == 2 and self.is_map(source):  # flattened
            original = self.shape(source.all_input_nodes[0])
            made = self.add(node.target, "convolution", value.name, out_channels=module.out_features,
                            filter=size_of(original[2:]))
        elif len(shape) == 3 and self.is_rows(source):
            made = self.add(node.target, "convolution", value.name, out_channels=module.out_features,
                            filter=size_of((1, shape[2])))
        else:
            made = self.add(node.target, "matmul", value.name, out_channels=module.out_features)
        return self.weighted(made, value, node.target, module.bias is not None)

    def is_map(self, node):
        """Flattened from a map of more than one pixel."""
        if not self.is_free(node):
            return False
        shape = self.shape(node.all_input_nodes[0])
        return len(shape) == 4 and shape[2] * shape[3] > 1

    def is_rows(self, node):
        """The rows of a map of one channel: [:, 0] of it, or a squeeze."""
        if not node.all_input_nodes:
            return False
        shape = self.shape(node.all_input_nodes[0])
        indexed = node.op == "call_function" and node.target is operator.getitem
        return (indexed or self.is_free(node)) and len(shape) == 4 and shape[1] == 1

    def matmul(self, node):
        a, b = (self.values[one] for one in node.args)
        if isinstance(a, Parts) and isinstance(b, Parts):
            if (a.index, b.index) == (0, 1):
                return Parts(a.value, None, "scores")
            if a.product == "weights" and b.index == 2:
                return self.attention(node, a.value, node.args[1])
        if not isinstance(b, Constant) or not isinstance(a, Value) or b.tensor.dim() != 2:
            raise CaptureError("a product of two results that is no attention")
        value = self.add(node.name, "matmul", a.name, out_channels=b.tensor.shape[1])
        if b.index is None:
            raise CaptureError("use a linear layer, or one of several experts")
        value.layer.keys["expert"] = b.index
        value.layer.parameters = b.name
        self.parameters.append(b.name)
        return value

    def attention(self, node, qkv, values_node):
        keys = {}
        if self.folded_tokens(values_node):
            keys["over"] = "input"
        return self.add(node.name, "attention", qkv.name, **keys)

    def encoder_layer(self, node, module, source):
        value, name, attention = self.values[source], node.target, module.self_attn
        relu = module.activation is functional.relu or isinstance(module.activation, nn.ReLU)
        if module.norm_first or not relu or not attention.batch_first:
            raise CaptureError("only encoder layers with batch_first, norms behind the sums and ReLU")
        width, heads = attention.embed_dim, attention.num_heads
        qkv = self.add(f"{name}.qkv", "matmul", value.name, out_channels=3 * width, heads=heads)
        self.weighted(qkv, value, f"{name}.self_attn.in_proj_", True)
        attended = self.add(f"{name}.attention", "attention", qkv.name, heads=heads)
        project = self.weighted(self.add(f"{name}.project", "matmul", attended.name, out_channels=width), attended,
                                f"{name}.self_attn.out_proj", True)
        project.layer.fused += [f"{{add: {value.name}}}", f"{{layer_norm: {name}.norm1}}"]
        up = self.weighted(self.add(f"{name}.up", "matmul", project.name, out_channels=module.linear1.out_features),
                           project, f"{name}.linear1", True)
        up.layer.fused.append("relu")
        down = self.weighted(self.add(f"{name}.down", "matmul", up.name, out_channels=width), up, f"{name}.linear2", True)
        down.layer.fused += [f"{{add: {project.name}}}", f"{{layer_norm: {name}.norm2}}"]
        self.parameters += [f"{name}.{norm}.{key}" for norm in ("norm1", "norm2") for key in ("weight", "bias")]
        return down

    def layer_norm(self, node, module, source):
        if len(module.normalized_shape) != 1 or abs(module.eps - 1e-5) > 1e-9 or not module.elementwise_affine:
            raise CaptureError("only over the channels of a token, with an epsilon of 1e-5, gain and offset")
        self.parameters += [f"{node.target}.weight", f"{node.target}.bias"]
        layer = self.fusable(source)
        if layer is not None and not layer.is_across_channels() and layer.kind != "merge":
            layer.fused.append(f"{{layer_norm: {node.target}}}")
            return Value(layer.name, layer)
        value = self.add(node.target, "layer_norm", self.values[source].name)
        value.layer.parameters = node.target
        return value

    def batch_norm(self, node, module, source):
        """Folded into the convolution in front of it."""
        layer = self.fusable(source)
        if layer is None or layer.kind not in ("convolution", "depthwise") or layer.fused not in ([], ["bias"]):
            raise CaptureError("a batch norm that is not behind a convolution")
        convolution = self.modules[layer.parameters]
        factor = module.weight / torch.sqrt(module.running_var + module.eps)
        bias = torch.zeros_like(factor) if convolution.bias is None else convolution.bias
        self.folded[f"{layer.parameters}.weight"] = convolution.weight * factor[:, None, None, None]
        self.folded[f"{layer.parameters}.bias"] = (bias - module.running_mean) * factor + module.bias
        if not layer.fused:
            layer.fused.append("bias")
            self.parameters.append(f"{layer.parameters}.bias")
        return Value(layer.name, layer)

    def pool(self, node, module, source):
        mean = isinstance(module, nn.AvgPool2d)
        return self.pooled(node, source, module.kernel_size, module.stride, module.padding, mean, module.ceil_mode)

    def pooled(self, node, source, kernel, stride, padding, mean, ceil_mode=False):
        stride = kernel if stride is None else stride
        square = all(isinstance(one, int) or len(set(one)) == 1 for one in (stride, padding))
        if not square or ceil_mode:
            raise CaptureError("only pools with equal strides and pads, without ceil_mode")
        first = [one if isinstance(one, int) else one[0] for one in (stride, padding)]
        keys = {"filter": size_of(kernel), "stride": first[0]}
        if first[1]:
            keys["pad"] = first[1]
        if mean:
            keys["pooling"] = "mean"
        return self.add(node.target if node.op == "call_module" else node.name, "pool", self.values[source].name, **keys)

    def adaptive_pool(self, node, module, source):
        if module.output_size not in (1, (1, 1)):
            raise CaptureError("only to one pixel")
        return self.mean_of(node, source, (2, 3))

    def mean(self, node):
        names = ("input", "dim", "keepdim")
        given = {**dict(zip(names, node.args)), **node.kwargs}
        axes = given.get("dim")
        axes = tuple(axes) if isinstance(axes, (tuple, list)) else (axes,)
        rank = len(self.shape(given["input"]))
        return self.mean_of(node, given["input"], tuple(sorted(axis % rank for axis in axes)))

    def mean_of(self, node, source, axes):
        value = self.values[source]
        if self.folded_tokens(source) and axes == (1,):
            return self.add(node.name, "pool", value.name, pooling="mean", over="input")
        if axes not in ((2, 3), (1,)) or (axes == (1,)) != (len(self.shape(source)) == 3):
            raise CaptureError("only means over all rows and columns, or over all tokens")
        made = self.add(node.name, "global_pool", value.name)
        made.scale = value.scale
        return made

    # Element-wise steps

    def relu(self, node, *_):
        return self.step(node, node.args[0], "relu")

    def sigmoid(self, node, *_):
        return self.step(node, node.args[0], "sigmoid")

    def softmax(self, node, *_):
        value = self.values[node.args[0]]
        axis = node.kwargs.get("dim", node.args[1] if len(node.args) > 1 else None)
        if axis not in (-1, len(self.shape(node.args[0])) - 1 if node.args[0] in self.shapes else -1):
            raise CaptureError("only over the channels of a token")
        if isinstance(value, Parts) and value.product == "scores":
            return Parts(value.value, None, "weights")
        return self.step(node, node.args[0], "softmax", lambda layer: not layer.is_across_channels())

    def addition(self, node):
        a, b = node.args
        constants = [one for one in (a, b) if isinstance(self.values.get(one), Constant)]
        if constants:
            source = b if constants[0] is a else a
            return self.add_constant(node, source, self.values[constants[0]])
        if not all(isinstance(self.values.get(one), Value) for one in (a, b)):
            raise CaptureError("an operand is no result")

        def takes(one):
            layer = self.fusable(one)
            return layer is not None and not layer.has_operand() and layer.kind not in ("merge", "pool")
        if not takes(b) and takes(a):
            a, b = b, a
        other = self.values[a]
        if other.scale != 1:
            raise CaptureError("an operand is multiplied with a constant")
        return self.step(node, b, f"{{add: {other.name}}}", lambda layer: takes(b))

    def add_constant(self, node, source, constant):
        """A bias by channel, or a position by token."""
        name = constant.name
        if name.endswith(".bias") and constant.tensor.numel() == constant.tensor.shape[0]:
            value = self.step(node, source, "bias", lambda layer: not layer.fused and layer.parameters is None)
            value.layer.parameters = name[:-len(".bias")]
            self.parameters.append(name)
            return value
        shape = self.shape(source)
        if len(shape) == 3 and tuple(constant.tensor.shape[-2:]) == shape[1:]:
            self.parameters.append(name)
            return self.step(node, source, f"{{position: {name}}}")
        raise CaptureError("adds a constant that is neither a bias nor a position")

    def product(self, node):
        numbers = [one for one in node.args if isinstance(one, (int, float))]
        sources = [one for one in node.args if not isinstance(one, (int, float))]
        factor = numbers[0] if numbers else None
        if factor is not None:
            value = self.values[sources[0]]
            if isinstance(value, Parts):
                return value  # the scale of an attention, which the format implies
            return Value(value.name, value.layer, value.scale * (1 / factor if node.target is operator.truediv else factor))
        if node.target is operator.truediv:
            raise CaptureError("a quotient of two results")
        factors = [one for one in sources if getattr(self.values[one], "is_factor", False)]
        if len(factors) != 1:
            raise CaptureError("a product of two results: only with the largest channel of one of them")
        source = sources[1 - sources.index(factors[0])]
        return self.step(node, source, f"{{scale: {self.values[factors[0]].name}}}",
                         lambda layer: not layer.has_operand() and layer.kind not in ("merge", "pool"))

    def largest(self, node):
        """The largest channel: a factor of a product."""
        value = self.values[node.args[0]]
        factor = Value(value.name, None)
        factor.is_factor = True
        return factor

    def free(self, node, *_):
        value = self.values[node.all_input_nodes[0]]
        return value

    def transposed(self, node):
        value = self.values[node.args[0]]
        if isinstance(value, Parts) and value.index == 1:
            return value
        raise CaptureError("a transposition outside of an attention")

    def chunk(self, node):
        source = node.args[0]
        width = self.shape(source)[-1]
        sizes = node.args[1] if len(node.args) > 1 else node.kwargs.get("chunks")
        if sizes not in (3, width // 3, [width // 3] * 3):
            raise CaptureError("only queries, keys and values of one result")
        return Parts(self.values[source])


MODULES = {
    nn.Conv2d: Lowering.conv_module, nn.Linear: Lowering.linear_module, nn.BatchNorm2d: Lowering.batch_norm,
    nn.LayerNorm: Lowering.layer_norm, nn.TransformerEncoderLayer: Lowering.encoder_layer,
    nn.MaxPool2d: Lowering.pool, nn.AvgPool2d: Lowering.pool, nn.AdaptiveAvgPool2d: Lowering.adaptive_pool,
    nn.ReLU: Lowering.relu, nn.Sigmoid: Lowering.sigmoid, nn.Softmax: Lowering.softmax,
    nn.Dropout: Lowering.free, nn.Identity: Lowering.free, nn.Flatten: Lowering.free}
FUNCTIONS = {
    torch.conv2d: Lowering.conv_function, functional.conv2d: Lowering.conv_function,
    torch.relu: Lowering.relu, functional.relu: Lowering.relu, torch.sigmoid: Lowering.sigmoid,
    torch.softmax: Lowering.softmax, functional.softmax: Lowering.softmax,
    operator.add: Lowering.addition, torch.add: Lowering.addition, operator.iadd: Lowering.addition,
    operator.mul: Lowering.product, torch.mul: Lowering.product, operator.truediv: Lowering.product,
    operator.matmul: Lowering.matmul, torch.matmul: Lowering.matmul, torch.mean: Lowering.mean,
    torch.amax: Lowering.largest, torch.chunk: Lowering.chunk, **{one: Lowering.free for one in FREE_FUNCTIONS}}
METHODS = {
    "mean": Lowering.mean, "relu": Lowering.relu, "sigmoid": Lowering.sigmoid, "softmax": Lowering.softmax,
    "transpose": Lowering.transposed, "chunk": Lowering.chunk, "split": Lowering.chunk, "amax": Lowering.largest,
    "matmul": Lowering.matmul, "add": Lowering.addition, "mul": Lowering.product,
    **{one: Lowering.free for one in FREE}}
