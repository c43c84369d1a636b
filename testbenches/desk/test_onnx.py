# SPDX-License-Identifier: Apache-2.0
"""sy-sched import: networks that PyTorch exports, against PyTorch's own counts and values; switches; refusals."""
import json
import os
import unittest

import numpy as np
import onnx
import torch
import torchvision
from onnx import TensorProto, helper, numpy_helper

import networks
from programs import SCHED, SIM, InFolder, run

PRESERVE = torch.onnx.TrainingMode.PRESERVE


class Import(InFolder):
    def setUp(self):
        super().setUp()
        torch.manual_seed(1)

    def export(self, network, inputs, **options):
        network.eval()
        torch.onnx.export(network, inputs, self.path("network.onnx"), opset_version=17, **options)

    def bring(self, *options):
        run(SCHED, "import", self.path("network.onnx"), "-o", self.path("model.yaml"), "--json",
            self.path("sizes.json"), *options)
        with open(self.path("sizes.json"), encoding="utf-8") as file:
            return json.load(file)

    def compile(self, platform="configs/platforms/adyna.yaml"):
        run(SCHED, "compile", self.path("model.yaml"), "--platform", platform, "--design", "adyna", "-o",
            self.path("image.syk"))

    def counts(self, network, inputs, **options):
        """PyTorch's counts, with batch norms exported as they are: folded they are fewer parameters."""
        self.export(network, inputs, training=PRESERVE, do_constant_folding=False, **options)
        sizes = self.bring()
        self.assertEqual(sizes["parameters"], networks.parameters(network))
        self.assertEqual(sizes["macs_per_sample"], networks.macs(network, *inputs))
        return sizes

    def test_resnet50(self):
        network = torchvision.models.resnet50(weights=None)
        sizes = self.counts(network, (torch.randn(1, 3, 224, 224),))
        self.assertEqual(sizes["sizes_only"], [])
        self.compile()

    def test_resnet50_folded_by_the_exporter(self):
        network = torchvision.models.resnet50(weights=None)
        inputs = torch.randn(1, 3, 224, 224)
        self.export(network, inputs)
        sizes = self.bring()
        self.assertEqual(sizes["macs_per_sample"], networks.macs(network.eval(), inputs))
        # A bias stands for the two parameters of each channel of a norm.
        norms = sum(one.num_features for one in network.modules() if isinstance(one, torch.nn.BatchNorm2d))
        self.assertEqual(sizes["parameters"], networks.parameters(network) - norms)

    def test_mobilenet_v3(self):
        network = torchvision.models.mobilenet_v3_large(weights=None)
        sizes = self.counts(network, (torch.randn(1, 3, 224, 224),))
        self.assertTrue(any(one.startswith("HardSwish") for one in sizes["sizes_only"]))
        self.compile()

    def test_bert_base(self):
        network = networks.Bert()
        words = torch.randint(0, 30522, (1, 128))
        sizes = self.counts(network, (words, torch.zeros_like(words)))
        self.assertEqual(sizes["host_parameters"], (30522 + 2) * 768)
        # 12 layers of qkv, attention, project, up and down, and the first norm.
        self.assertEqual(sizes["operators"], 61)

    def test_bert_with_decomposed_norms(self):
        network = networks.Bert(layers=1, width=64, heads=4, hidden=128, vocabulary=100, positions=16).eval()
        words = torch.randint(0, 100, (1, 16))
        torch.onnx.export(network, (words, words % 2), self.path("network.onnx"), opset_version=13)
        sizes = self.bring()
        self.assertEqual(sizes["parameters"], networks.parameters(network))
        self.assertEqual(sizes["macs_per_sample"], networks.macs(network, words, words % 2))

    def functional(self, inputs, expected):
        """Runs the imported network on tiles; its results are PyTorch's."""
        np.save(self.path("inputs.npy"), inputs.numpy())
        np.save(self.path("expected.npy"), expected.contiguous().numpy())
        self.compile("configs/platforms/mini.yaml")
        run(SIM, "run", "--platform", "configs/platforms/mini.yaml", "--set", "chip.functional=yes", "--image",
            self.path("image.syk"), "--weights", self.path("weights"), "--inputs", self.path("inputs.npy"), "--expect",
            self.path("expected.npy"), "--batches", "1", "--report", self.path("report"))
        with open(self.path("report/report.json"), encoding="utf-8") as file:
            outputs = json.load(file)["values"]["outputs"]
        self.assertEqual(outputs["samples"], len(inputs))
        # Binary16 has 11 bits; some hundred products a result.
        self.assertLess(outputs["largest_error"], 4e-3 * expected.abs().max().item())

    def test_values_of_a_network_with_norms(self):
        network = networks.SmallCnn()
        inputs = torch.randn(4, 3, 8, 8)
        network.train()(torch.randn(64, 3, 8, 8))  # statistics of the norms
        with torch.no_grad():
            for norm in (network.stem_norm, network.a_norm):
                norm.weight.uniform_(0.5, 1.5)
                norm.bias.uniform_(-0.5, 0.5)
        self.export(network, inputs, training=PRESERVE, do_constant_folding=False)
        self.bring("--weights", self.path("weights"))
        with torch.no_grad():
            self.functional(inputs, network(inputs))

    def test_values_of_an_attention(self):
        network = networks.BertLayer(32, 4, 64, torch.relu)
        tokens = torch.randn(4, 8, 32)
        self.export(network, tokens)
        self.bring("--weights", self.path("weights"))
        # A sample of the model is channels x tokens.
        with torch.no_grad():
            self.functional(tokens.transpose(1, 2).contiguous(), network(tokens).transpose(1, 2))

    def test_values_that_the_format_has_not(self):
        self.export(torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.Hardswish()), torch.randn(1, 3, 8, 8))
        message = run(SCHED, "import", self.path("network.onnx"), "-o", self.path("model.yaml"), "--weights",
                      self.path("weights"), status=2)
        self.assertIn("values the model format has, found HardSwish", message)
        self.assertFalse(os.path.exists(self.path("model.yaml")))

    def build(self, nodes, constants, inputs, outputs):
        graph = helper.make_graph(nodes, "made", inputs, outputs,
                                  [numpy_helper.from_array(value, name) for name, value in constants.items()])
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("switchyard", 1), helper.make_opsetid("other", 1)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), self.path("network.onnx"))

    def gated(self):
        """A gate on eight channels, and two linear layers."""
        generator = np.random.default_rng(1)

        def random(*shape):
            return generator.standard_normal(shape).astype(np.float32)
        constants = {"gate.weight": random(8, 1), "run.weight": random(8, 8), "threshold": np.array([0.25], np.float32)}
        values = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [16, 8]),
                  helper.make_tensor_value_info("y", TensorProto.FLOAT, [16, 8])]
        return constants, values

    def text(self):
        with open(self.path("model.yaml"), encoding="utf-8") as file:
            return file.read()

    def test_switch_merge_and_sink(self):
        constants, (x, y) = self.gated()
        nodes = [helper.make_node("MatMul", ["x", "gate.weight"], ["gate"], "gate"),
                 helper.make_node("Switch", ["x", "gate"], ["skip", "run"], "block", domain="switchyard", threshold=0.5),
                 helper.make_node("MatMul", ["run", "run.weight"], ["ran"], "run"),
                 helper.make_node("Relu", ["ran"], ["active"], "relu"),
                 helper.make_node("Merge", ["skip", "active"], ["y"], "merged", domain="switchyard")]
        self.build(nodes, constants, [x], [y])
        sizes = self.bring()
        self.assertEqual((sizes["switches"], sizes["macs_per_sample"]), (1, 8 + 64))
        self.assertIn("{name: block, kind: switch, from: input, gate: gate, threshold: 0.5, branches: 2}", self.text())
        self.assertIn("{name: merged, kind: merge, from: [block.0, run]}", self.text())
        nodes[-1] = helper.make_node("Sink", ["skip"], [], "dropped", domain="switchyard")
        nodes[-2].output[0] = "y"
        self.build(nodes, constants, [x], [y])
        self.bring()
        self.assertIn("{name: dropped, kind: sink, from: block.0}", self.text())
        self.compile("configs/platforms/mini.yaml")

    def test_if(self):
        constants, (x, y) = self.gated()
        nodes = self.conditional(["x"])
        self.build(nodes, constants, [x], [y])
        self.bring()
        self.assertIn("kind: switch, from: input, gate: gate, branches: 2, threshold: 0.25}", self.text())
        self.assertIn("{name: choice.merge, kind: merge, from: [choice.0, run]}", self.text())
        self.compile("configs/platforms/mini.yaml")

    def conditional(self, taken):
        info = helper.make_tensor_value_info("inner", TensorProto.FLOAT, [16, 8])
        run_it = helper.make_graph([helper.make_node("MatMul", ["x", "run.weight"], ["inner"], "run")], "then", [], [info])
        skip = helper.make_graph([helper.make_node("Identity", [taken[-1]], ["inner"], "same")], "else", [], [info])
        return [helper.make_node("MatMul", ["x", "gate.weight"], ["gate"], "gate"),
                helper.make_node("Relu", ["x"], ["other"], "relu"),
                helper.make_node("Greater", ["gate", "threshold"], ["condition"], "greater"),
                helper.make_node("If", ["condition"], ["y"], "choice", then_branch=run_it, else_branch=skip)]

    def refusal(self):
        message = run(SCHED, "import", self.path("network.onnx"), "-o", self.path("model.yaml"), status=2)
        self.assertEqual(message.count("\n"), 1, message)
        self.assertFalse(os.path.exists(self.path("model.yaml")))
        return message

    def test_if_of_two_results(self):
        constants, (x, y) = self.gated()
        self.build(self.conditional(["x", "other"]), constants, [x], [y])
        self.assertIn("If (node choice): its branches: expected one result that they take from outside, found 2: "
                      "other, x", self.refusal())

    def test_all_unknown_operators_at_once(self):
        constants, (x, y) = self.gated()
        nodes = [helper.make_node("Det", ["x"], ["a"], "first"),
                 helper.make_node("Fancy", ["a"], ["b"], "second", domain="other"),
                 helper.make_node("Relu", ["b"], ["c"], "fine"),
                 helper.make_node("LSTM", ["x", "c"], ["d"], "third"),
                 helper.make_node("Add", ["c", "d"], ["y"], "sum")]
        self.build(nodes, constants, [x], [y])
        message = self.refusal()
        for operator in ("Det (node first)", "other.Fancy (node second)", "LSTM (node third)"):
            self.assertIn(operator, message)
        self.assertIn("cannot be imported for 3 reasons", message)

    def test_wrong_shape(self):
        constants, (x, y) = self.gated()
        constants["run.weight"] = constants["run.weight"][:4]
        self.build([helper.make_node("MatMul", ["x", "run.weight"], ["y"], "run")], constants, [x], [y])
        self.assertRegex(self.refusal(), "expected 8 input channels, as its input has, found 4")

    def test_no_onnx_file(self):
        with open(self.path("network.onnx"), "wb") as file:
            file.write(b"name: a model file is no ONNX file")
        self.assertIn("expected an ONNX model, found a file that begins with byte 0x6e", self.refusal())


if __name__ == "__main__":
    unittest.main()
