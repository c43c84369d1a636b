# SPDX-License-Identifier: Apache-2.0
"""Slurm on this machine's loopback address, without systemd: munged, slurmctld and slurmd in a folder of their own."""
import os
import secrets
import shutil
import socket
import subprocess
import time

CONFIGURATION = """
ClusterName=desk
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Slurm:
    """Daemons that end with stop(). `environment`: what clients need."""

    def __init__(self, folder):
        self.folder, self.daemons = folder, []
        for name in ("state", "spool"):
            os.makedirs(f"{folder}/{name}")
        os.chmod(folder, 0o755)
        key = f"{folder}/munge.key"
        with open(key, "wb") as file:
            file.write(secrets.token_bytes(128))
        os.chmod(key, 0o400)
        self.configuration = f"{folder}/slurm.conf"
        with open(self.configuration, "w", encoding="ascii") as file:
            file.write(CONFIGURATION.format(host=socket.gethostname().split(".")[0], folder=folder,
                                            controller=free_port(), node=free_port(), cores=os.cpu_count()))
        self.environment = {**os.environ, "SLURM_CONF": self.configuration}
        self.start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge.socket",
                   f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log", f"--seed-file={folder}/seed")
        self.wait_for(lambda: os.path.exists(f"{folder}/munge.socket"), "munged")
        self.start("slurmctld", "-D", "-f", self.configuration)
        self.start("slurmd", "-D", "-f", self.configuration)
        self.wait_for(lambda: "idle" in self.client("sinfo", "--noheader", "--format=%T"), "a node that is idle")

    def start(self, program, *options):
        path = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
        log = open(f"{self.folder}/{program}.out", "wb")  # the daemon's, until it ends
        self.daemons.append(subprocess.Popen([path, *options], stdout=log, stderr=log, env=self.environment))
        log.close()

    def client(self, *command):
        ended = subprocess.run(command, capture_output=True, text=True, check=False, env=self.environment)
        return ended.stdout + ended.stderr

    def wait_for(self, condition, what):
        for _ in range(240):
            if condition():
                return
            if any(daemon.poll() is not None for daemon in self.daemons):
                break
            time.sleep(0.25)
        logs = "".join(open(f"{self.folder}/{name}", encoding="utf-8", errors="replace").read()[-2000:]
                       for name in sorted(os.listdir(self.folder)) if name.endswith((".out", ".log")))
        self.stop()
        raise RuntimeError(f"no {what}:\n{logs}")

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
