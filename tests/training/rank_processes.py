"""Processes that are the ranks of one group, on the loopback address."""

import os
import subprocess
import sys
from pathlib import Path

import forked

TESTS = Path(__file__).parent.parent
FIND_TESTS = "import sys; sys.path.insert(0, sys.argv.pop())\n"


def run_ranks(code, ranks, *words, seconds):
    """Run Python code in so many processes, each with its rank and the words as arguments.

    Rank 0 is started as usual and the others are forked. So sets of strings have another order
    there than in the others, as they have when all are started.
    """
    environment = os.environ | {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    processes = [
        (forked.Popen if rank else subprocess.Popen)(
            [sys.executable, "-c", FIND_TESTS + code, str(rank), *map(str, words), str(TESTS)],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(ranks)
    ]
    for process in processes:
        _, complaint = process.communicate(timeout=seconds)
        assert process.returncode == 0, complaint
