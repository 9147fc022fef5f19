"""What runs in the workers of Ray's: one rank as a process, and the address of a node."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

POLL = 0.2  # seconds; Ray's wish to stop comes as an exception between two looks


def free_address() -> tuple[str, str, int]:
    """Return the node of this worker, its address in the cluster, and a port that is free."""
    import ray as module

    ray: Any = module
    address = ray.util.get_node_ip_address()
    with socket.socket() as found:
        found.bind((address, 0))
        port = found.getsockname()[1]
    return ray.get_runtime_context().get_node_id(), address, port


def run_rank(
    words: list[str], variables: dict[str, str], log: str, here: str, stopping: float
) -> int:
    """Run one rank where Ray put it, and return its exit code.

    `here` is the folder in which the command was given: a relative path means the same there.
    The rank ends with this worker, however that ends; told to stop, it writes a checkpoint.
    """
    command = [sys.executable, "-P", "-m", "counterpoint"]
    leash = [sys.executable, "-P", "-m", "counterpoint.launch.rank_process", str(os.getpid())]
    Path(log).parent.mkdir(parents=True, exist_ok=True)
    with Path(log).open("ab") as out:
        process = subprocess.Popen(  # noqa: S603 (the command of the user)
            [*leash, *command, *words],
            cwd=here if Path(here).is_dir() else None,
            env=os.environ | variables,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        try:
            while (code := process.poll()) is None:
                time.sleep(POLL)
        except BaseException:
            _stop(process, stopping)
            raise
    return code if code >= 0 else 128 - code


def _stop(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    """Tell a rank to stop, and kill it when it does not in time, or when we are told again."""
    try:
        process.send_signal(signal.SIGTERM)
        end = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < end:
            time.sleep(POLL)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
