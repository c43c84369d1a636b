# SPDX-License-Identifier: Apache-2.0
"""docs/tutorial.md: its files are written and its commands run, in a copy of the tree without the build's output."""
import os
import re
import subprocess
import tempfile
import unittest

from programs import SIM

DOCUMENT = "docs/tutorial.md"
STEP = re.compile(r"Write `([^`]+)`:\n\n```\w+\n(.*?)```|```sh\n(.*?)```", re.DOTALL)


class Tutorial(unittest.TestCase):
    def test_files_and_commands(self):
        with open(DOCUMENT, encoding="utf-8") as file:
            steps = STEP.findall(file.read())
        with tempfile.TemporaryDirectory() as folder:
            for name in ("configs", "platform", "docs", "rtl"):
                os.symlink(os.path.abspath(name), os.path.join(folder, name))
            programs = os.path.dirname(os.path.abspath(SIM))
            os.makedirs(os.path.join(folder, "build/release"))
            os.symlink(programs, os.path.join(folder, "build/release/bin"))
            # Variables that a step exports are those of the steps behind it.
            script, commands = "set -e\n", 0
            for name, contents, shell in steps:
                if name:
                    script += f"cat >{name} <<'END_OF_FILE'\n{contents}END_OF_FILE\n"
                    continue
                commands += 1
                script += "".join(f"{line}\n" if not line.startswith("! ") else f"if {line[2:]}; then exit 9; fi\n"
                                  for line in shell.rstrip("\n").split("\n"))
            ended = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False)
            self.assertEqual(ended.returncode, 0, ended.stdout[-3000:] + ended.stderr[-3000:])
            self.assertGreaterEqual(commands, 9)
            self.check(ended.stdout, ended.stderr)

    def check(self, output, errors):
        """What the text says that one sees."""
        self.assertRegex(errors, "did you mean .*noc.link_bytes_per_cycle|noc.link_bytes_per_cycle")
        self.assertIn("Pareto front", output)
        self.assertRegex(output, r"tutorial: 36 points: 36 known, 0 run")
        self.assertRegex(output, r"summary.latency_us.mean +\d")
        self.assertEqual(len(re.findall(r"(?m)^ *latency", output)) >= 3, True, output)


if __name__ == "__main__":
    unittest.main()
