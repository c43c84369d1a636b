# SPDX-License-Identifier: Apache-2.0
"""The programs of the build, for tests."""
import os
import subprocess

SCHED, SIM, SWEEP = (os.environ.get(name, "") for name in ("SY_SCHED", "SY_SIM", "SY_SWEEP"))


def run(*command, status=0, environment=None):
    """Runs a command, whose exit status is `status`. Returns standard output, and standard error if it is to fail."""
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                           env={**os.environ, **(environment or {})})
    if ended.returncode != status:
        raise AssertionError(f"{command}: status {ended.returncode}, not {status}\n{ended.stdout}{ended.stderr}")
    return ended.stdout if status == 0 else ended.stderr
