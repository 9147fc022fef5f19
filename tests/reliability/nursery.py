"""A process that has imported everything and forks ranks on demand: a kill costs no import.

`python -m reliability.nursery` reads one JSON order per line and answers with one line each;
exits of ranks are reported as they happen. It runs no operator of torch before it forks, so that
no thread is lost in a child.
"""

import contextlib
import json
import os
import queue
import socket
import subprocess
import sys
import threading
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Ranks:
    """The ranks of one job: their processes, and their exit codes when they end."""

    pids: list[int]
    started: float
    codes: dict[int, int] = field(default_factory=dict)
    """Exit code by rank; minus the number of a signal that killed it."""
    ended: dict[int, float] = field(default_factory=dict)
    """When each ended, by time.monotonic()."""

    def signal(self, number, ranks=None):
        for rank, pid in enumerate(self.pids):
            if rank not in self.codes and (ranks is None or rank in ranks):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)


class Nursery:
    """Start jobs of several ranks in a warm process."""

    def __enter__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "reliability.nursery"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[1],
            env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"},
        )
        self.said = queue.Queue()
        self.ears = threading.Thread(target=self._listen, daemon=True)
        self.ears.start()
        self.jobs = {}
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.ears.join(timeout=5)
        self.process.stdout.close()

    def _listen(self):
        for line in self.process.stdout:
            self.said.put(json.loads(line))

    def start(self, ranks, log, **job):
        """Fork the ranks of a job: `reliability.jobs.<name>(**settings)` in each."""
        order = {"ranks": ranks, "log": str(log), "port": free_port(), **job}
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        pids = self._next("pids", timeout=300)  # the first one imports
        mine = Ranks(pids, time.monotonic())
        self.jobs |= {pid: (mine, rank) for rank, pid in enumerate(pids)}
        return mine

    def wait(self, ranks, timeout):
        """Wait until all ranks have ended; False when some have not."""
        end = time.monotonic() + timeout
        while len(ranks.codes) < len(ranks.pids):
            left = end - time.monotonic()
            if left <= 0:
                return False
            try:
                self._note(self.said.get(timeout=left))
            except queue.Empty:
                return False
        return True

    def _next(self, key, timeout):
        while True:
            said = self.said.get(timeout=timeout)
            if key in said:
                return said[key]
            self._note(said)

    def _note(self, said):
        ranks, rank = self.jobs[said["pid"]]
        ranks.codes[rank] = said["code"]
        ranks.ended[rank] = said["at"]


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def say(record):
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


def fork_rank(order, rank):
    """Become a rank in a child: the environment of torchrun, a log of its own, then the job."""
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        log = os.open(f"{order['log']}.{rank}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, 1)
        os.dup2(log, 2)
        world = str(order["ranks"])
        if order["ranks"] > 1:
            os.environ |= {
                "RANK": str(rank),
                "LOCAL_RANK": str(rank),
                "WORLD_SIZE": world,
                "LOCAL_WORLD_SIZE": world,
                "GROUP_RANK": "0",
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(order["port"]),
                "TORCHELASTIC_RUN_ID": "test",
                "GLOO_SOCKET_IFNAME": "lo",
            }
        from reliability import jobs

        getattr(jobs, order["job"])(**order["settings"])
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001 (whatever it is, it is in the log)
        traceback.print_exc()
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def reap():
    while True:
        try:
            pid, status = os.wait()
        except ChildProcessError:
            time.sleep(0.01)
            continue
        say({"pid": pid, "code": os.waitstatus_to_exitcode(status), "at": time.monotonic()})


def main():
    from reliability import jobs

    jobs.warm()
    threading.Thread(target=reap, daemon=True).start()
    for line in sys.stdin:
        order = json.loads(line)
        say({"pids": [fork_rank(order, rank) for rank in range(order["ranks"])]})


if __name__ == "__main__":
    main()
