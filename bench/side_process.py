"""A side of the comparison as a process that can be asked, and watched for memory."""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any


class Side:
    """A process that trains on request."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bench.side"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def ask_watched(self, **request: Any) -> tuple[dict[str, Any], float]:
        """Return the answer, and the most memory that process and workers held together.

        To look takes a core: steps are not timed meanwhile.
        """
        seen, done = [0.0], threading.Event()

        def watch() -> None:
            while not done.wait(0.1):
                seen.append(sum(map(held_mb, family(self.process.pid))))

        watching = threading.Thread(target=watch)
        watching.start()
        answer = self.ask(**request)
        done.set()
        watching.join()
        return answer, max(seen)

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def family(pid: int) -> list[int]:
    """List a process and its workers."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:  # it has ended
        return []
    return [pid, *(one for child in children for one in family(int(child)))]


def held_mb(pid: int) -> float:
    """Return the memory of a process, shared pages divided among those that share them."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)
