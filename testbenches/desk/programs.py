# SPDX-License-Identifier: Apache-2.0
"""The programs of the build, and small files for them, for tests."""
import os
import subprocess
import tempfile
import unittest

SCHED, SIM, SWEEP = (os.environ.get(name, "") for name in ("SY_SCHED", "SY_SIM", "SY_SWEEP"))
# {0}: the sources.
SWEEP_FILE = """
name: few
platform: {0}/configs/platforms/mini.yaml
set: {{chip.impl: stages}}
batches: 1
networks: [{0}/configs/workloads/digits_skipnet.yaml]
designs: [m-tile, adyna]
axes:
  - {{key: noc.link_cycles, values: [1, 2]}}
  - {{key: scratchpad.capacity_bytes, values: [16384, 131072]}}
objectives:
  - {{name: latency_us, measure: summary.latency_us.mean}}
  - {{name: energy_mj, measure: energy.total_mj}}
"""
POINTS = 8  # of the sweep
EXPERIMENT_FILE = """
name: two
title: Two designs
platform: {0}/configs/platforms/mini.yaml
set: {{chip.impl: stages}}
batches: 1
networks: [{0}/configs/workloads/digits_skipnet.yaml]
designs: [m-tile, adyna]
figures:
  - {{name: latency, title: Latency of a batch, measure: summary.latency_us.mean, label: us}}
"""


def run(*command, status=0, environment=None):
    """Runs a command, whose exit status is `status`. Returns standard output, and standard error if it is to fail."""
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                           env={**os.environ, **(environment or {})})
    if ended.returncode != status:
        raise AssertionError(f"{command}: status {ended.returncode}, not {status}\n{ended.stdout}{ended.stderr}")
    return ended.stdout if status == 0 else ended.stderr


class InFolder(unittest.TestCase):
    """A test with a folder of its own, which it does not leave behind."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        """Writes a file; {0} in the text is the folder of the sources."""
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text.format(os.getcwd()))
