"""`run` and `Popen` as in `subprocess`, of Python commands that need not import torch again.

A warm process (`fork_server.py`) forks the command. It is a process of its own, with its pid,
streams, signals and exit code. Take `subprocess` itself where a test measures a start, looks at
what is imported, or where a launcher starts the processes.
"""

import atexit
import inspect
import json
import os
import select
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ENVIRONMENT = dict(os.environ)
"""What the server is started with, before any test changes it."""
SERVER = Path(__file__).with_name("fork_server.py")
MAY_DIFFER = (
    *("COUNTERPOINT_", "AWS_", "PYTEST_", "COLUMNS", "LINES", "NO_COLOR", "GLOO_SOCKET_"),
    *("PL_GLOBAL_SEED", "PL_SEED_WORKERS"),  # Lightning sets them when it seeds
)
"""How variables begin that nothing reads while it is imported."""
QUIET = {"JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""For the server alone: without it importing pyarrow starts a thread."""
STREAMS = ("p2cread", "c2pwrite", "errwrite")
PIPES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
UNUSUAL = ("executable", "preexec_fn", "pass_fds", "shell", "gid", "gids", "uid")


class Popen(subprocess.Popen):
    """A process that the server forks; where it cannot, one that is started as usual."""

    _told = None  # the end of a pipe that tells the pid, then how the process ended

    @property
    def forked(self):
        return self._told is not None

    def _execute_child(self, *given):
        asked = inspect.signature(super()._execute_child).bind(*given).arguments
        environment = dict(os.environ if asked["env"] is None else asked["env"])
        server = the_server(os.getpid()) if can_fork(asked) else None
        if server is None or not server.fits(environment):
            super()._execute_child(*given)
            return
        order = {
            "words": [os.fspath(word) for word in asked["args"]],
            "cwd": str(Path(asked["cwd"] or ".").absolute()),
            "environment": environment,
            "session": bool(asked["start_new_session"]),
        }
        told, tell = os.pipe()
        given_or_own = [own if asked[n] == -1 else asked[n] for own, n in enumerate(STREAMS)]
        server.ask(order, [*given_or_own, tell])
        os.close(tell)
        self._told = os.fdopen(told, "rb", buffering=0)
        self.pid = int(self._told.readline())
        self._child_created = True
        self._close_pipe_fds(*(asked[name] for name in PIPES))

    def _try_wait(self, wait_flags):
        if not self.forked:
            return super()._try_wait(wait_flags)
        if not select.select([self._told], [], [], 0 if wait_flags else None)[0]:
            return 0, 0
        status = int(self._told.readline())
        self._told.close()
        return self.pid, status

    def _internal_poll(self, *given, **named):
        if not self.forked:
            return super()._internal_poll(*given, **named)
        try:
            return self._wait(timeout=0)
        except subprocess.TimeoutExpired:
            return None


def run(words, *, input=None, capture_output=False, timeout=None, check=False, **options):  # noqa: A002 (as there)
    """`subprocess.run` of a command that is forked."""
    if input is not None:
        options["stdin"] = subprocess.PIPE
    if capture_output:
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with Popen(words, **options) as process:
        try:
            stdout, stderr = process.communicate(input, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)
    if check:
        done.check_returncode()
    return done


def can_fork(asked):
    """Whether it is a Python program in a form that the server knows: a script, or -c."""
    if any(asked[name] for name in UNUSUAL) or isinstance(asked["args"], str | bytes | os.PathLike):
        return False
    if not Path(asked["cwd"] or ".").is_dir():
        return False
    first, *rest = [os.fspath(word) for word in asked["args"]]
    if first == sys.executable:
        return len(rest) > 0 and (rest[0] == "-c" or rest[0].endswith(".py"))
    return Path(first) == Path(sys.executable).with_name("counterpoint")


@dataclass
class Server:
    """A running server."""

    control: socket.socket
    tasks: int
    """Threads after all imports, by the kernel's count; only 1 may fork."""
    learned: dict[str, str]
    """Variables that the imports set: those of a test may have set them as well."""
    one: threading.Lock = field(default_factory=threading.Lock)

    def fits(self, environment):
        """Whether what was read during the imports is what this command would read."""
        return self.tasks == 1 and self._fixed(environment) == self._fixed(ENVIRONMENT)

    def _fixed(self, environment):
        read = {n: text for n, text in environment.items() if not n.startswith(MAY_DIFFER)}
        return read.items() - self.learned.items()

    def ask(self, order, fds):
        text = json.dumps(order).encode()
        with self.one:
            socket.send_fds(self.control, [len(text).to_bytes(8, "big")], fds)
            self.control.sendall(text)


@cache
def the_server(pid):
    """Start the server of a process; None where children cannot be watched without a thread."""
    if not hasattr(os, "pidfd_open"):
        return None
    control, theirs = socket.socketpair()
    process = subprocess.Popen(
        [sys.executable, SERVER, str(theirs.fileno())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=[theirs.fileno()],
        env=ENVIRONMENT | QUIET,
    )
    theirs.close()
    with control.makefile("rb") as said:
        found = json.loads(said.readline() or '{"tasks": 0, "learned": {}}')

    @atexit.register
    def end():
        control.close()
        process.wait()

    return Server(control, **found)
