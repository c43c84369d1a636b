# SPDX-License-Identifier: Apache-2.0
"""Executors of sweeps and experiments: Slurm and a command give the rows that processes of this machine give."""
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

from programs import EXPERIMENT_FILE, POINTS, SIM, SWEEP, SWEEP_FILE, InFolder, run
from slurm import Slurm

# Some seconds a point: all batches of the trace, on single tiles.
LONG_SWEEP_FILE = SWEEP_FILE.replace("batches: 1", "batches: 200").replace("chip.impl: stages", "chip.impl: tiles")


class Executors(InFolder):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.slurm = Slurm(os.path.join(cls.scratch.name, "slurm"))
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.addClassCleanup(cls.slurm.stop)

    def setUp(self):
        super().setUp()
        self.write("sweep.yaml", SWEEP_FILE)

    def sweep(self, store, *options):
        run(SWEEP, "run", self.path("sweep.yaml"), "--store", self.path(store), "--quiet", "--json",
            self.path("numbers.json"), *options, environment=self.slurm.environment)
        with open(self.path("numbers.json"), encoding="utf-8") as file:
            return json.load(file)

    def rows(self, store):
        """All but the time that the points took."""
        rows = json.loads(run(SWEEP, "query", "--store", self.path(store), "--sweep", "few", "--json"))
        reports = json.loads(run(SWEEP, "query", "--store", self.path(store), "--json",
                                 "SELECT key, state, message, report FROM point ORDER BY key"))
        inputs = json.loads(run(SWEEP, "query", "--store", self.path(store), "--json",
                                "SELECT key, path, hash FROM input ORDER BY key, path"))
        for row in rows:
            del row["seconds"]
        return rows, reports, inputs

    def test_slurm_gives_the_same_rows(self):
        here, there = self.sweep("here.sqlite"), self.sweep("there.sqlite", "--executor", "slurm")
        self.assertEqual(here, there)
        self.assertEqual((there["points"], there["ran"]), (POINTS, POINTS))
        self.assertGreater(there["done"], 0)
        self.assertGreater(there["infeasible"], 0)  # scratchpads of 16 KiB
        self.assertEqual(self.rows("here.sqlite"), self.rows("there.sqlite"))
        again = self.sweep("there.sqlite", "--executor", "slurm")
        self.assertEqual((again["known"], again["ran"]), (POINTS, 0))

    def test_a_command_gives_the_same_rows(self):
        self.sweep("here.sqlite")
        log = self.path("log")
        there = self.sweep("there.sqlite", "--executor", "command", "--command", f"echo one >> {log}; env {{}}")
        self.assertEqual(there["ran"], POINTS)
        with open(log, encoding="ascii") as file:
            self.assertEqual(len(file.readlines()), POINTS)
        self.assertEqual(self.rows("here.sqlite"), self.rows("there.sqlite"))

    def test_a_command_that_fails_is_a_failed_point(self):
        run(SWEEP, "run", self.path("sweep.yaml"), "--store", self.path("dead.sqlite"), "--quiet", "--executor", "command",
            "--command", "echo broken >&2; exit 3; {}", status=1)
        rows = json.loads(run(SWEEP, "query", "--store", self.path("dead.sqlite"), "--sweep", "few", "--json"))
        self.assertEqual({row["state"] for row in rows}, {"failed"})
        self.assertIn("expected an answer of the command, found none, exit status 3: broken", rows[0]["message"])
        # And once more, by Slurm.
        self.assertEqual(self.sweep("dead.sqlite", "--executor", "slurm", "--retry")["failed"], 0)

    def test_killed_tasks_of_slurm(self):
        """The jobs are cancelled from outside: no point is lost, each has its line."""
        self.write("sweep.yaml", LONG_SWEEP_FILE)
        ended = subprocess.Popen([SWEEP, "run", self.path("sweep.yaml"), "--store", self.path("killed.sqlite"), "--quiet",
                                  "--executor", "slurm"], env=self.slurm.environment)
        self.wait_for(lambda: "R" in self.slurm.client("squeue", "--noheader", "--format=%t"))
        self.slurm.client("scancel", "--name=sy-sweep")
        self.assertEqual(ended.wait(120), 1)
        rows = json.loads(run(SWEEP, "query", "--store", self.path("killed.sqlite"), "--sweep", "few", "--json"))
        self.assertIn("failed", {row["state"] for row in rows})
        self.assertEqual(len(rows), POINTS)
        for row in rows:
            if row["state"] == "failed":
                self.assertRegex(row["message"], r"task \d+ of Slurm's job \d+ ended without an answer")

    def test_interrupt_cancels_the_jobs(self):
        self.write("sweep.yaml", LONG_SWEEP_FILE)
        ended = subprocess.Popen([SWEEP, "run", self.path("sweep.yaml"), "--store", self.path("interrupted.sqlite"),
                                  "--quiet", "--executor", "slurm"], env=self.slurm.environment)
        self.wait_for(lambda: "R" in self.slurm.client("squeue", "--noheader", "--format=%t"))
        ended.send_signal(signal.SIGINT)
        self.assertEqual(ended.wait(60), 130)
        self.wait_for(lambda: self.slurm.client("squeue", "--noheader").strip() == "")

    def wait_for(self, condition):
        for _ in range(240):
            if condition():
                return
            time.sleep(0.25)
        self.fail("nothing came of it")

    def test_experiments(self):
        """The same store and executors, and the same bytes."""
        self.write("experiment.yaml", EXPERIMENT_FILE)

        def experiment(folder, *options):
            run(SIM, "experiment", self.path("experiment.yaml"), "--report", self.path(folder), "--quiet", *options,
                environment=self.slurm.environment)
            with open(self.path(f"{folder}/results.json"), encoding="utf-8") as file:
                return file.read()
        plain = experiment("plain")
        self.assertEqual(experiment("slurm", "--store", self.path("e.sqlite"), "--executor", "slurm"), plain)
        count = "SELECT count(*) AS points FROM point WHERE state = 'done'"
        self.assertEqual(json.loads(run(SWEEP, "query", "--store", self.path("e.sqlite"), count, "--json")), [{"points": 2}])
        # All points are known: the command is not called.
        self.assertEqual(experiment("again", "--store", self.path("e.sqlite"), "--executor", "command", "--command",
                                    "false {}"), plain)

    def test_options_that_do_not_belong_together(self):
        message = run(SWEEP, "run", self.path("sweep.yaml"), "--store", self.path("x"), "--command", "sh {}", status=2)
        self.assertIn("--command: expected together with --executor command", message)
        message = run(SWEEP, "run", self.path("sweep.yaml"), "--store", self.path("x"), "--executor", "command",
                      "--command", "sh", status=2)
        self.assertIn("--command: expected {} for the command of a point", message)


if __name__ == "__main__":
    unittest.main()
