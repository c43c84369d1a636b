# SPDX-License-Identifier: Apache-2.0
"""A run over the user's data: routes, values and shapes of a traced network, and the files that come of them."""
import json
import os
import subprocess

import numpy as np
import torch
import torch.fx

from . import routers
from .lowering import CaptureError, Lowering


class Tracer(torch.fx.Tracer):
    """Records calls of switch(), and keeps PyTorch's modules whole."""

    def __init__(self):
        super().__init__(autowrap_functions=(routers.switch,))

    def iter(self, obj):
        """Of queries, keys and values: what chunk() and split() give."""
        node = obj.node
        if node.op == "call_method" and node.target in ("chunk", "split"):
            parts = node.args[1] if len(node.args) > 1 else next(iter(node.kwargs.values()))
            count = len(parts) if isinstance(parts, (list, tuple)) else parts
            if node.target == "chunk" or isinstance(parts, (list, tuple)):
                return iter([obj[i] for i in range(count)])
        return super().iter(obj)


class Recorder(torch.fx.Interpreter):
    """Runs a traced network on a batch: each branch computes its own samples only."""

    def __init__(self, module, names):
        super().__init__(module)
        self.names, self.ids, self.states, self.masks, self.shapes = names, {}, {}, {}, {}

    def start(self):
        self.ids, self.states, self.masks = {}, {}, {}

    def run_node(self, n):
        if n.op == "call_function" and n.target is routers.switch:
            return self.switched(n)
        if n.op == "call_method" and n.target == "merge" and n.args[0] in self.masks:
            return self.merged(n)
        if n.op == "call_function" and n.args and n.args[0] in self.masks:  # branches[b]
            branches = self.env[n.args[0]]
            data, ids = branches
            taken = self.masks[n.args[0]][:, n.args[1]]
            self.ids[n] = ids[taken]
            return self.noted(n, data[taken])
        if n.op == "output":
            return super().run_node(n)
        ids = [self.ids[one] for one in n.all_input_nodes if self.ids.get(one) is not None]
        if any(not torch.equal(one, ids[0]) for one in ids[1:]):
            raise CaptureError(f"{n.name} takes samples of different branches; merge them first")
        if ids:
            self.ids[n] = ids[0]
        if ids and len(ids[0]) == 0:
            return self.noted(n, self.empty(n))
        return self.noted(n, super().run_node(n))

    def noted(self, n, value):
        if isinstance(value, torch.Tensor):
            self.shapes.setdefault(n, tuple(value.shape))
            if len(value) > 0:
                self.shapes[n] = tuple(value.shape)
        return value

    def empty(self, n):
        """The shape of a result without a sample: not every module of PyTorch takes an empty batch."""
        def one_sample(node):
            value = self.env[node]
            routed = self.ids.get(node) is not None and isinstance(value, torch.Tensor)
            return value.new_zeros((1, *value.shape[1:])) if routed else value
        args, kwargs = torch.fx.node.map_arg(n.args, one_sample), torch.fx.node.map_arg(n.kwargs, one_sample)
        value = getattr(self, n.op)(n.target, args, kwargs)
        return value[:0] if isinstance(value, torch.Tensor) else tuple(one[:0] for one in value)

    def switched(self, n):
        (data_node, gate_node), options = n.args, dict(n.kwargs)
        data, gate = self.env[data_node], self.env[gate_node]
        ids = self.ids.get(data_node)
        if ids is None:
            ids = torch.arange(len(data))
        before = options.get("after")
        state = None
        if before is not None:  # labels and counts by sample
            state = tuple(one[ids] for one in self.states[before])
        mask, state = routers.decide(gate, options.get("choose", "one"), options.get("threshold", 0.0),
                                     options.get("patience", 0), state)
        if state is not None:
            size = int(ids.max()) + 1 if len(ids) else 0
            whole = [torch.zeros(size, dtype=torch.long) for _ in state]
            for one, values in zip(whole, state):
                one[ids] = values
            self.states[n] = whole
        self.masks[n], self.ids[n] = mask, ids
        return data, ids

    def merged(self, n):
        parent, sources = n.args[0], n.args[1:]
        ids = self.ids[parent]
        total = None
        for source in sources:
            value = self.env[source]
            if total is None:
                total = value.new_zeros((len(ids), *value.shape[1:]))
            rows = torch.searchsorted(ids, self.ids[source])
            if n.kwargs.get("mode", "exclusive") == "sum":
                total[rows] += value
            else:
                total[rows] = value
        if self.ids.get(parent.args[0]) is not None:
            self.ids[n] = ids
        return self.noted(n, total)

    def trace(self, batch):
        """The lines of docs/trace_format.md."""
        lines = []
        for node, name in self.names.items():
            mask, ids = self.masks[node], self.ids[node]
            bits = [sum(1 << int(b) for b in row.nonzero()[:, 0]) for row in mask]
            all_samples = len(ids) == 0 or int(ids[-1]) == len(ids) - 1
            lines.append({"batch": batch, "switch": name, "branches": mask.shape[1],
                          "samples": len(ids) if all_samples else ids.tolist(), "mask": bits})
        return [json.dumps(line, separators=(",", ":")) + "\n" for line in lines]

    def result(self, output):
        """Of a batch: of several outputs, a sample's result is the last one that it reaches."""
        values = output if isinstance(output, (tuple, list)) else [output]
        nodes = self.output_node().args[0]
        nodes = nodes if isinstance(nodes, (tuple, list)) else [nodes]
        if all(self.ids.get(node) is None for node in nodes):
            return values[-1]
        total = values[0].new_zeros((self.samples, *values[0].shape[1:]))
        for node, value in zip(nodes, values):
            ids = self.ids.get(node)
            total[slice(None) if ids is None else ids] = value
        return total

    def output_node(self):
        return next(node for node in self.module.graph.nodes if node.op == "output")


class Captured:
    """The files of a captured network: `model`, `trace`, `weights`, `inputs`, `outputs`."""

    def __init__(self, folder):
        self.folder = folder
        self.model, self.trace = os.path.join(folder, "model.yaml"), os.path.join(folder, "routing.jsonl")
        self.weights = os.path.join(folder, "weights")
        self.inputs, self.outputs = os.path.join(folder, "inputs.npy"), os.path.join(folder, "outputs.npy")

    @staticmethod
    def program(name):
        """A program of Switchyard: from the folder SWITCHYARD_BIN, or from the path."""
        folder = os.environ.get("SWITCHYARD_BIN", "")
        return os.path.join(folder, name) if folder else name

    def run(self, platform, *, design="adyna", batches=1, functional=False, settings=None, options=()):
        """Compiles the network for a platform and simulates it with the recorded routes; with `functional` the chip
        computes it, and results are compared with PyTorch's. `settings`: keys of the platform. Returns report.json."""
        image, report = os.path.join(self.folder, "image.syk"), os.path.join(self.folder, "report")
        pairs = {**({"chip.functional": "yes"} if functional else {}), **(settings or {})}
        keys = [word for key, value in pairs.items() for word in ("--set", f"{key}={value}")]
        subprocess.run([self.program("sy-sched"), "compile", self.model, "--platform", platform, *keys, "--design", design,
                        "-o", image], check=True, stdout=subprocess.DEVNULL)
        values = ["--weights", self.weights, "--inputs", self.inputs, "--expect", self.outputs] if functional else []
        subprocess.run([self.program("sy-sim"), "run", "--platform", platform, *keys, "--image", image, "--trace",
                        self.trace, "--batches", str(batches), *values, "--report", report, *options], check=True,
                       stdout=subprocess.DEVNULL)
        from .frames import read_report
        return read_report(report)


def capture(network, inputs, folder, *, batch, name=None, samples_per_input=1):
    """Runs `network` (in eval mode) over `inputs` batch by batch and writes what Switchyard needs into `folder`.

    inputs             tensor; the first dimension counts model inputs, or their samples one after another
    batch              model inputs a batch; a last batch that is not whole is left out
    samples_per_input  patches or tokens that are routed each on its own

    Returns a Captured. Raises CaptureError for what the model format does not have, with the node of the trace."""
    network.eval()
    module = torch.fx.GraphModule(network, Tracer().trace(network))
    switches = [node for node in module.graph.nodes if node.op == "call_function" and node.target is routers.switch]
    names = {node: node.kwargs.get("name") or f"switch{i}" for i, node in enumerate(switches)}
    recorder = Recorder(module, names)
    rows = batch if inputs.dim() == 3 and samples_per_input > 1 else batch * samples_per_input
    batches = len(inputs) // rows
    if batches == 0:
        raise CaptureError(f"{len(inputs)} inputs are no whole batch of {rows}")
    recorder.samples = batch * samples_per_input
    lines, outputs = [], []
    with torch.no_grad():
        for index in range(batches):
            recorder.start()
            output = recorder.run(inputs[index * rows: (index + 1) * rows])
            lines += recorder.trace(index)
            outputs.append(recorder.result(output))
    captured = Captured(folder)
    os.makedirs(captured.weights, exist_ok=True)
    lowering = Lowering(module, recorder.shapes, names, samples_per_input)
    text, parameters = lowering.model(name or type(network).__name__.lower(), batch,
                                      os.path.basename(captured.trace) if switches else None)
    state = dict(network.named_parameters())
    for key in parameters:
        value = lowering.folded.get(key)
        np.save(os.path.join(captured.weights, key + ".npy"), (state[key] if value is None else value).detach().numpy())
    with open(captured.model, "w", encoding="utf-8") as file:
        file.write(text)
    with open(captured.trace, "w", encoding="ascii") as file:
        file.writelines(lines)
    np.save(captured.inputs, inputs[: batches * rows].numpy())
    np.save(captured.outputs, torch.cat(outputs).numpy())
    return captured
