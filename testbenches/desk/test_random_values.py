# SPDX-License-Identifier: Apache-2.0
"""Random networks over the whole model format, computed by a chip and by NumPy: every output within the bound that follows
from binary16's rounding (random_values.py), and all of a network's together as close as roundings typically are.

SWITCHYARD_NETWORKS and SWITCHYARD_SEED choose how many and which. SWITCHYARD_KEEP names a folder that keeps their files."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from random_values import Network

SCHED, SIM, NETWORKS = os.environ["SY_SCHED"], os.environ["SY_SIM"], os.environ["PROPERTY_NETWORKS"]
FIRST, COUNT = int(os.environ.get("SWITCHYARD_SEED", 50_000_000)), int(os.environ.get("SWITCHYARD_NETWORKS", 60))
# Every layer rounds its results once, by 2^-11 at most, and roundings of many layers add up like random numbers: in the mean
# to TYPICAL of the outputs' spread, times the square root of the layers. Where a network makes errors larger (a layer_norm of
# values that are nearly equal), its bound says so, and the mean error is still far below what holds in the worst case.
TYPICAL, FAR_BELOW = 8 * 2.0**-11, 8


class Difference(Exception):
    pass


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, timeout=600)


def compile_options(folder):
    with open(f"{folder}/commands.sh", encoding="utf-8") as file:
        return file.readline().split()[1:]


def slices_of(image, folder):
    """Into how many slices reductions are cut, by operator."""
    shown = run(SCHED, "inspect", image, "--json", f"{folder}/inspect.json")
    if shown.returncode != 0:
        raise Difference(shown.stderr.strip())
    slices = {}
    with open(f"{folder}/inspect.json", encoding="utf-8") as file:
        for segment in json.load(file)["segments"]:
            for operator in segment["operators"]:
                name = operator["name"]
                if name.endswith("]"):
                    name = name[: name.rindex("[")]
                    slices[name] = slices.get(name, 1) + 1
    return slices


def write_trace(path, masks, network):
    with open(path, "w", encoding="utf-8") as file:
        for batch in range(len(next(iter(masks.values()))[0]) // network.batch):
            part = slice(batch * network.batch, (batch + 1) * network.batch)
            for name, (mask, _, there) in masks.items():
                layer = network.layers[name]
                branches = layer.get("router", {}).get("branches", layer.get("branches", 2))
                here = np.nonzero(there[part])[0]
                line = {"batch": batch, "switch": name, "branches": branches, "samples": here.tolist()}
                file.write(json.dumps({**line, "mask": mask[part][here].tolist()}) + "\n")


def reference(network, inputs, slices, computed):
    """The outputs when gates decide as the chip does, where rounding leaves that open."""
    forced = {}
    while True:
        value, error, masks = network.run(inputs, slices, forced)
        before = len(forced)
        for name, chip in computed.items():
            mask, open_, _ = masks[name]
            for sample in np.nonzero(mask != chip)[0]:
                if not open_[sample]:
                    raise Difference(f"switch {name}, sample {sample}: mask {chip[sample]}, expected {mask[sample]}")
                forced[name, int(sample)] = int(chip[sample])
            if len(forced) > before:
                break  # what is behind this switch follows from it
        if len(forced) == before:
            return value, error


def check(seed, folder):
    """A dictionary of what was compared; None if the scheduler refuses the network."""
    made = run(NETWORKS, "--seed", str(seed), "--networks", "1", "--values", "--write", folder)
    if made.returncode != 0:
        raise Difference(made.stderr.strip())
    folder = f"{folder}/{seed}"
    compiled = run(SCHED, *compile_options(folder))
    if compiled.returncode != 0:
        if "error of the compiler" in compiled.stderr or compiled.returncode != 2:
            raise Difference(compiled.stderr.strip())
        return {"refused": compiled.stderr.strip()}
    image = f"{folder}/image.syk"
    slices = slices_of(image, folder)
    weights = f"{folder}/weights"
    os.makedirs(weights)
    network = Network(f"{folder}/network.yaml", weights, seed)
    options = compile_options(folder)
    in_flight = int(options[options.index("--batches-in-flight") + 1]) if "--batches-in-flight" in options else 1
    shape = network.model["input"]
    samples = network.batch * in_flight
    size = [samples, shape["channels"], shape.get("rows", 1), shape.get("columns", 1)]
    inputs = np.random.default_rng(seed).standard_normal(size).astype(np.float32)
    np.save(f"{folder}/inputs.npy", inputs)
    _, _, masks = network.run(inputs, slices, {})
    command = [SIM, "run", "--platform", f"{folder}/platform.yaml", "--image", image, "--weights", weights]
    command += ["--inputs", f"{folder}/inputs.npy", "--outputs", f"{folder}/outputs.npy", "--report", f"{folder}/report"]
    if masks:
        write_trace(f"{folder}/trace.jsonl", masks, network)
        command += ["--trace", f"{folder}/trace.jsonl"]
    ran = run(*command)
    if ran.returncode != 0:
        raise Difference(ran.stderr.strip() or f"exit status {ran.returncode}")
    with open(f"{folder}/report/report.json", encoding="utf-8") as file:
        report = json.load(file)
    computed = {name: mask.copy() for name, (mask, _, _) in masks.items()}
    for one in report["values"].get("routing", {}).get("differences", []):
        # The batches in flight stand one after another.
        computed[one["switch"]][one["batch"] * samples + one["sample"]] = one["computed"]
    value, error = reference(network, inputs, slices, computed)
    got = np.load(f"{folder}/outputs.npy").astype(np.float64)
    if got.shape[0] * network.samples_per_input == samples:  # a row an input
        value, error = value[:: network.samples_per_input], error[:: network.samples_per_input]
    got = got.reshape(value.shape)
    wrong = ~(np.abs(got - value) <= error)
    if wrong.any():
        at = np.unravel_index(np.argmax(np.where(wrong, np.abs(got - value) - error, -1)), wrong.shape)
        raise Difference(
            f"{wrong.sum()} of {wrong.size} outputs, worst at {tuple(int(i) for i in at)}: "
            f"{got[at]:.6g}, expected {value[at]:.6g} within {error[at]:.3g}"
        )
    spread = np.sqrt(np.mean(value**2))
    typical = np.sqrt(np.mean((got - value) ** 2))
    worst = np.sqrt(np.mean(error**2))
    if typical > max(TYPICAL * np.sqrt(len(network.layers)) * spread, worst / FAR_BELOW):
        raise Difference(f"mean error {typical:.3g} of outputs of {spread:.3g} behind {len(network.layers)} layers")
    return {
        "outputs": int(got.size),
        "switches": len(masks),
        "sliced": len(slices),
        "bound": float(np.median(error) / spread) if spread > 0 else 0.0,
        "error": float(typical / spread) if spread > 0 else 0.0,
    }


class RandomValues(unittest.TestCase):
    def test_networks(self):
        compared, refused, different, seed = [], [], [], FIRST
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:

            def attempt(number):
                try:
                    return number, check(number, os.environ.get("SWITCHYARD_KEEP", folder)), None
                except (Difference, subprocess.TimeoutExpired) as error:
                    return number, None, f"seed {number}: {error}"

            while len(compared) + len(different) < COUNT:
                batch = range(seed, seed + COUNT - len(compared) - len(different))
                seed = batch.stop
                for number, result, message in pool.map(attempt, batch):
                    if message is not None:
                        different.append(message)
                    elif "refused" in result:
                        refused.append(result["refused"])
                    else:
                        compared.append(result)
        bounds = np.array([one["bound"] for one in compared])
        errors = np.array([one["error"] for one in compared])
        print(
            f"{len(compared)} networks, {len(refused)} refused; with switches {sum(one['switches'] > 0 for one in compared)}, "
            f"sliced {sum(one['sliced'] > 0 for one in compared)}; outputs {sum(one['outputs'] for one in compared)}; "
            f"bound over spread: median {np.median(bounds):.2g}; "
            f"error over spread: median {np.median(errors):.2g}, largest {errors.max():.2g}",
            file=sys.stderr,
        )
        self.assertEqual(different, [], "\n".join(different))
        self.assertLess(len(refused), COUNT / 2, refused[:5])
        self.assertLess(np.median(bounds), 0.1)
        self.assertGreater(sum(one["switches"] > 0 for one in compared), COUNT / 4)
        self.assertGreater(sum(one["sliced"] > 0 for one in compared), COUNT / 100)


if __name__ == "__main__":
    unittest.main()
