# SPDX-License-Identifier: Apache-2.0
"""The Python package: what it captures of the digits networks equals configs/workloads/digits; values on the chip; frames."""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

import numpy as np
import torch

import switchyard
from digits_networks import Digits
from programs import EXPERIMENT_FILE, POINTS, SCHED, SIM, SWEEP, SWEEP_FILE, InFolder, run

os.environ["SWITCHYARD_BIN"] = os.path.abspath(os.path.dirname(SCHED))
MINI = "configs/platforms/mini.yaml"
# Sums in another order: PyTorch computes a branch with its own samples, the record with all of them.
BINARY32 = 2e-5


class DigitsNetworks(InFolder):
    def schedule(self, model, *options):
        """What the scheduler makes of a model, with the operators' numbers instead of their names."""
        image = self.path("image.syk")
        run(SCHED, "compile", model, "--platform", MINI, "--design", "adyna", "-o", image, *options)
        text = run(SCHED, "inspect", image)
        names = list(dict.fromkeys(re.findall(r"^ +\d+ (\S+) \(", text, re.MULTILINE)))
        for number, name in enumerate(names):
            text = re.sub(r"(?<![\w.(])" + re.escape(name) + r"(?![\w]|\.\d*[a-z_])", f"@{number}", text)
        return text.split("\n")[1:], len(names)  # the first line has a hash of the names

    def check(self, name, operators):
        digits = Digits(name)
        captured = switchyard.capture(digits.network, digits.inputs, self.path(name), batch=128,
                                      samples_per_input=digits.samples, name=f"digits_{name}")
        with open(captured.trace, encoding="ascii") as file:
            trace = file.readlines()
        with open(f"{digits.folder}/routing.jsonl", encoding="ascii") as file:
            self.assertEqual(trace, file.readlines()[: len(trace)])
        self.assertGreaterEqual(len(trace), 5)
        files = sorted(os.listdir(captured.weights))
        self.assertEqual(files, sorted(f"{key}.npy" for key in digits.weights))
        for file in files:
            np.testing.assert_array_equal(np.load(f"{captured.weights}/{file}"), digits.weights[file[:-4]])
        answers = np.load(captured.outputs).reshape(digits.results.shape)
        np.testing.assert_allclose(answers, digits.results, atol=BINARY32)
        # The same schedule: the same operators with the same sizes, sources and switches. Both see the captured routes.
        with open(self.path("routes.yaml"), "w", encoding="utf-8") as file:
            file.write(f"trace: {captured.trace}\n")
        mine, count = self.schedule(captured.model)
        theirs, _ = self.schedule(f"configs/workloads/digits_{name}.yaml", "--routing", self.path("routes.yaml"))
        self.assertEqual(mine, theirs)
        self.assertEqual(count, operators)
        return digits, captured

    def test_skipnet(self):
        digits, captured = self.check("skipnet", 34)
        # And without a capture the network answers the same.
        with torch.no_grad():
            answers = digits.network(digits.inputs[:128]).numpy()
        np.testing.assert_allclose(answers, digits.results[:128], atol=BINARY32)
        report = captured.run(MINI, batches=1, functional=True)
        self.assertEqual(report["values.outputs.different_labels"], 0)
        self.assertEqual(report["values.routing.differences"], [])

    def test_channel_gate(self):
        self.check("channel_gate", 43)

    def test_early_exit(self):
        self.check("early_exit", 37)

    def test_mixture_of_experts(self):
        self.check("moe", 53)

    def test_patch_select(self):
        self.check("patch_select", 4)

    def test_another_network_is_found(self):
        """The comparisons above can fail."""
        digits = Digits("skipnet")
        digits.network.stem.weight.data[0] += 0.5
        captured = switchyard.capture(digits.network, digits.inputs[:256], self.path("other"), batch=128)
        with open(captured.trace, encoding="ascii") as file:
            trace = file.readlines()
        with open(f"{digits.folder}/routing.jsonl", encoding="ascii") as file:
            self.assertNotEqual(trace, file.readlines()[: len(trace)])


class Networks(InFolder):
    def test_folded_norms(self):
        class Network(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.conv, self.norm = torch.nn.Conv2d(3, 8, 3, padding=1, bias=False), torch.nn.BatchNorm2d(8)
                self.head = torch.nn.Linear(8 * 16, 10)

            def forward(self, x):
                h = torch.nn.functional.relu(self.norm(self.conv(x)))
                return self.head(torch.flatten(h, 1))
        torch.manual_seed(1)
        network = Network()
        network.train()(torch.randn(64, 3, 4, 4))
        captured = switchyard.capture(network, torch.randn(8, 3, 4, 4), self.path("norm"), batch=8)
        os.remove(captured.trace)  # no switch: nothing names it
        image, report = self.path("image.syk"), self.path("report")
        run(SCHED, "compile", captured.model, "--platform", MINI, "--design", "adyna", "-o", image)
        run(SIM, "run", "--platform", MINI, "--set", "chip.functional=yes", "--image", image, "--weights",
            captured.weights, "--inputs", captured.inputs, "--expect", captured.outputs, "--batches", 1, "--report", report)
        error = switchyard.read_report(report)["values.outputs.largest_error"]
        self.assertLess(error, 4e-3 * float(np.abs(np.load(captured.outputs)).max()))

    def test_what_the_format_has_not(self):
        class Network(torch.nn.Module):
            def forward(self, x):
                return torch.cumsum(x, 1)
        with self.assertRaisesRegex(switchyard.CaptureError, "cumsum.*not in the model format"):
            switchyard.capture(Network(), torch.randn(4, 8), self.path("cumsum"), batch=4)

    def test_branches_that_meet_without_a_merge(self):
        class Network(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.gate = torch.nn.Linear(8, 1)

            def forward(self, x):
                branches = switchyard.switch(x, self.gate(x))
                return branches[0] + branches[1]
        with self.assertRaisesRegex(switchyard.CaptureError, "different branches"):
            switchyard.capture(Network(), torch.randn(16, 8), self.path("add"), batch=16)

    def test_the_code_of_the_guide(self):
        with open("docs/python.md", encoding="utf-8") as file:
            code = re.search(r"```python\n(.*?)```", file.read(), re.DOTALL).group(1)
        self.assertLess(len([line for line in code.split("\n") if line.strip()]), 20)
        code = code.replace('"out/network"', repr(self.path("network")))
        ended = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        latency, error = (float(word) for word in ended.stdout.split())
        self.assertGreater(latency, 1)
        self.assertLess(error, 0.01)


class Frames(InFolder):
    def test_report_and_sweep(self):
        image = self.path("image.syk")
        run(SCHED, "compile", "configs/workloads/digits_skipnet.yaml", "--platform", MINI, "--design", "adyna", "-o", image)
        run(SIM, "run", "--platform", MINI, "--set", "chip.impl=stages", "--image", image, "--batches", "2", "--report",
            self.path("report"))
        report = switchyard.read_report(self.path("report"))
        with open(self.path("report/report.json"), encoding="utf-8") as file:
            document = json.load(file)
        self.assertEqual(report.series()["summary.latency_us.mean"], document["summary"]["latency_us"]["mean"])
        for table in report.tables():
            self.assertEqual(len(report.frame(table)), len(report[table]))
        self.assertGreater(len(report.tables()), 0)
        store = self.path("store.sqlite")
        self.write("sweep.yaml", SWEEP_FILE)
        run(SWEEP, "run", self.path("sweep.yaml"), "--store", store, "--jobs", "2", "--quiet")
        rows = switchyard.read_sweep(store, "few")
        listed = json.loads(run(SWEEP, "query", "--store", store, "--sweep", "few", "--json"))
        self.assertEqual(len(rows), POINTS)
        self.assertEqual(list(rows["noc.link_cycles"]), [row["noc.link_cycles"] for row in listed])
        # A design that does not fit the smaller scratchpad has no latency: null in the list, NaN in the frame.
        latencies = np.array([row["latency_us"] for row in listed], dtype=float)
        self.assertGreater(np.isfinite(latencies).sum(), 0)
        np.testing.assert_allclose(rows["latency_us"], latencies, rtol=1e-12)

    def test_experiment(self):
        self.write("experiment.yaml", EXPERIMENT_FILE)
        run(SIM, "experiment", self.path("experiment.yaml"), "--report", self.path("experiment"))
        experiment = switchyard.read_experiment(self.path("experiment"))
        points = experiment.frame("points")
        self.assertEqual(list(points["design"]), ["m-tile", "adyna"])
        self.assertTrue((points["report.summary.latency_us.mean"] > 0).all())


class Package(InFolder):
    def test_it_can_be_installed(self):
        source, target = self.path("source"), self.path("target")
        shutil.copytree("platform/python", source, ignore=shutil.ignore_patterns("__pycache__"))
        run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index",
            "--target", target, source)
        code = "import switchyard; print(switchyard.__file__, switchyard.capture.__module__)"
        shown = run(sys.executable, "-c", code, environment={"PYTHONPATH": target})
        self.assertEqual(shown.split(), [f"{target}/switchyard/__init__.py", "switchyard.recording"])


if __name__ == "__main__":
    unittest.main()
