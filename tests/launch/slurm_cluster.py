"""A real SLURM of two nodes on this machine: Debian's daemons on the loopback address.

Everything is in one folder: the daemon of munge with its key, the controller and two nodes.
"""

import contextlib
import getpass
import os
import platform
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from reliability.nursery import free_port

DAEMONS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol")
NODES = ("n1", "n2")
# A job that is queued again waits for cred_expire, 120 s by default; 5 is the least it takes.
CONFIG = """
ClusterName=lab
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=5
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/controller.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/controller.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=bf_interval=1,sched_interval=5
ReturnToService=2
MpiDefault=none
SlurmdTimeout=10
KillWait=60
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


def refuse_without_slurm():
    """Fail where CI runs and SLURM could not be installed; skip elsewhere."""
    path = f"{os.environ['PATH']}:/usr/sbin"  # where Debian puts daemons, and users do not look
    missing = [name for name in DAEMONS if shutil.which(name, path=path) is None]
    if missing:
        words = f"no {', '.join(missing)}: apt-get install slurmctld slurmd slurm-client munge"
        (pytest.fail if os.environ.get("COUNTERPOINT_CI") else pytest.skip)(words)


class SlurmCluster:
    """Two nodes and their controller, until the end of the block."""

    def __init__(self, folder):
        self.folder = folder.resolve()
        self.environment = os.environ | {
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            "PATH": f"{os.environ['PATH']}:/usr/sbin",
        }
        for name in [name for name in self.environment if name.startswith("SLURM_JOB")]:
            del self.environment[name]  # where the tests themselves are a job

    def __enter__(self):
        munge = self.folder / "munge"
        for place in (munge, self.folder / "state"):
            place.mkdir(parents=True, exist_ok=True)
        for place in (self.folder, munge):
            place.chmod(0o711)
        (munge / "key").write_bytes(os.urandom(1024))
        (munge / "key").chmod(0o600)
        host, ports = platform.node().partition(".")[0], [free_port() for _ in range(3)]
        text = CONFIG.format(host=host, folder=self.folder, ports=ports, user=getpass.getuser())
        (self.folder / "slurm.conf").write_text(text)
        files = [f"--{name}-file={munge / name}" for name in ("key", "pid", "log", "seed")]
        try:
            # The folder of a test is below one that everybody may write to.
            self.run("munged", "--force", f"--socket={munge / 'socket'}", *files)
            self.run("slurmctld")
            for node in NODES:
                self.start_node(node)
            self.until(lambda: self.said("sinfo", "-h", "-o", "%D %t") == "2 idle", 60)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            for job in self.said("squeue", "-h", "-o", "%A").split():
                self.run("scancel", "--signal=KILL", "--full", job)
        for node in NODES:
            self.kill_node(node)
        for file in (self.folder / "controller.pid", self.folder / "munge" / "pid"):
            with contextlib.suppress(OSError, ValueError):
                os.kill(int(file.read_text()), signal.SIGKILL)

    def run(self, *words):
        done = subprocess.run(
            words, env=self.environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    def said(self, *words):
        return self.run(*words).strip()

    def until(self, holds, seconds, why=lambda: ""):
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, f"not within {seconds} s: {why()}"
            time.sleep(0.2)

    def start_node(self, node):
        self.run("slurmd", "-N", node)

    def kill_node(self, node):
        """Kill a node and all that runs on it, as a machine that loses its power."""
        file = self.folder / f"{node}.pid"
        daemon = [int(file.read_text())] if file.exists() else []
        tasks = self.tasks(node)
        stepds = {parent for parent in map(_stepd, tasks) if parent}
        for pid in (*daemon, *stepds, *tasks):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        file.unlink(missing_ok=True)

    def tasks(self, node):
        """List the processes of jobs on a node, by the environment that SLURM gave them."""
        marks = {f"SLURMD_NODENAME={node}", f"SLURM_CONF={self.folder / 'slurm.conf'}"}
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                has = (place / "environ").read_bytes().decode(errors="replace").split("\0")
                if marks <= {*has} and not _comm(int(place.name)).startswith("slurm"):
                    found.append(int(place.name))
        return found


def _comm(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def _stepd(pid):
    """The slurmstepd above a process; 0 where there is none."""
    while pid > 1 and not _comm(pid).startswith("slurmstepd"):
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return 0
    return pid if pid > 1 else 0
