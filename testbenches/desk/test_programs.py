# SPDX-License-Identifier: Apache-2.0
"""Programs that behave: version, completion of shells, manual pages, quiet, colours."""
import os
import pty
import re
import subprocess
import tempfile
import unittest

from programs import SCHED, SIM, SWEEP, run

PROGRAMS = {"sy-sched": SCHED, "sy-sim": SIM, "sy-sweep": SWEEP}


def on_terminal(command, environment):
    """What a command writes to a terminal."""
    controller, terminal = pty.openpty()
    process = subprocess.Popen(command, stdout=terminal, stderr=terminal, env={**os.environ, **environment})
    os.close(terminal)
    output = b""
    while True:
        try:
            chunk = os.read(controller, 4096)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        output += chunk
    process.wait()
    os.close(controller)
    return output


class Programs(unittest.TestCase):
    def test_version(self):
        commit = subprocess.run(["git", "rev-parse", "--short=7", "HEAD"], capture_output=True, text=True, check=True)
        for name, program in PROGRAMS.items():
            text = run(program, "--version")
            self.assertRegex(text, rf"^{name} \d+\.\d+\.\d+ \(git \S*{commit.stdout.strip()}\S*\), SystemC \d.*, "
                                   r"(Verilator \d.*|without RTL)\n$")

    def complete(self, program, words):
        """What bash offers for the last of the words."""
        code = ('source <("$1" completion bash); name=$2; shift 2; COMP_WORDS=("$name" "$@"); COMP_CWORD=$#; '
                '"_${name//-/_}"; printf "%s\\n" "${COMPREPLY[@]}"')
        return run("bash", "-c", code, "bash", PROGRAMS[program], program, *words).split()

    def test_completion_for_bash(self):
        self.assertIn("experiment", self.complete("sy-sim", ["ex"]))
        self.assertEqual(self.complete("sy-sched", ["comp"]), ["compile", "completion"])
        self.assertIn("--platform", self.complete("sy-sim", ["run", "--pl"]))
        self.assertEqual(self.complete("sy-sweep", ["run", "--sto"]), ["--store"])
        self.assertIn("--seed", self.complete("sy-sched", ["pilot", "train", "--se"]))
        self.assertIn("README.md", self.complete("sy-sim", ["run", "--image", "READ"]))
        # Every option of every command.
        for command in ("run", "gemm", "noc", "mem", "experiment"):
            listed = set(re.findall(r"--[a-z][a-z-]*", run(SIM, command, "--help").split("Options:")[1]))
            offered = set(self.complete("sy-sim", [command, "--"]))
            self.assertTrue({one for one in listed if f"\n  {one}" in run(SIM, command, "--help")} <= offered, command)

    def test_completion_for_zsh(self):
        code = ('compdef() {{ }}; _describe() {{ print -l -- "${{all[@]}}" }}; _arguments() {{ print -l -- "$@" }}; '
                'source <({0} completion zsh); words=({1}); CURRENT={2}; _{3}')
        for name, program in PROGRAMS.items():
            function = name.replace("-", "_")
            commands = run("zsh", "-f", "-c", code.format(program, f"{name} x", 2, function))
            self.assertIn("completion:print the completion of a shell", commands)
        options = run("zsh", "-f", "-c", code.format(SIM, "sy-sim run x", 3, "sy_sim"))
        self.assertIn("--platform[", options)

    def test_manual_pages(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, program in PROGRAMS.items():
                path = os.path.join(folder, f"{name}.1")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(run(program, "man"))
                ended = subprocess.run(["man", "--warnings", "-l", path], capture_output=True, text=True, check=True,
                                       env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8"})
                self.assertEqual(ended.stderr, "")
                self.assertIn(f"{name.upper()}(1)", ended.stdout)
                for section in ("NAME", "SYNOPSIS", "COMMANDS", "EXIT STATUS"):
                    self.assertIn(f"\n{section}\n", ended.stdout)
            self.assertIn("--executor", ended.stdout)

    def test_quiet(self):
        with tempfile.TemporaryDirectory() as folder:
            command = ["compile", "configs/workloads/digits_skipnet.yaml", "--platform", "configs/platforms/mini.yaml",
                       "--design", "adyna", "-o", f"{folder}/image.syk"]
            self.assertNotEqual(run(SCHED, *command), "")
            self.assertEqual(run(SCHED, *command, "--quiet"), "")
            self.assertIn("sy-sched: ", run(SCHED, "inspect", f"{folder}/nothing", "--quiet", status=2))

    def test_json(self):
        import json
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/document.json"
            run(SIM, "systems", "--json", path)
            with open(path, encoding="utf-8") as file:
                systems = {one["name"]: one for one in json.load(file)["systems"]}
            self.assertIn("adyna", [design["name"] for design in systems["adyna"]["designs"]])
            run(SCHED, "compile", "configs/workloads/digits_skipnet.yaml", "--platform", "configs/platforms/mini.yaml",
                "--design", "adyna", "-o", f"{folder}/image.syk", "--json", path)
            with open(path, encoding="utf-8") as file:
                document = json.load(file)
            self.assertEqual((document["operators"], document["tiles"]), (34, 4))

    def test_colours_on_terminals_only(self):
        command = [SIM, "run", "--nothing"]
        self.assertIn(b"\x1b[1;31msy-sim:", on_terminal(command, {"TERM": "xterm", "NO_COLOR": ""}))
        self.assertNotIn(b"\x1b", on_terminal(command, {"TERM": "xterm", "NO_COLOR": "1"}))
        self.assertNotIn(b"\x1b", on_terminal(command, {"TERM": "dumb", "NO_COLOR": ""}))
        self.assertNotIn("\x1b", run(*command, status=2, environment={"TERM": "xterm", "NO_COLOR": ""}))


if __name__ == "__main__":
    unittest.main()
