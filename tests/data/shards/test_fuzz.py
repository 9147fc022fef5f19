"""Damaged and hostile tars, indices, manifests, tables and Parquet: refused in a line, or read."""

import collections
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from data.shards.fuzz_cases import WRITERS

TESTS = Path(__file__).parents[2]
GROWN = 200  # MB above what the process has when it begins; 82 in 5,000 cases
SECONDS = 3.0  # of a core; a case takes 0.03
KINDS = len(set(WRITERS))


def read_cases(first, last, root):
    """Read cases in a watched process of 6 GB; a signal that ends it is a finding too."""
    done = subprocess.run(
        [sys.executable, TESTS / "data/shards/fuzz_reader.py", str(first), str(last), root],
        capture_output=True,
        text=True,
        timeout=3000,
        env=os.environ
        | {
            "PYTHONPATH": f"{TESTS}:{os.environ.get('PYTHONPATH', TESTS)}",
            "COUNTERPOINT_CACHE": str(root / "cache"),
        },
    )
    assert done.returncode == 0, (done.returncode, done.stdout[-300:], done.stderr[-2000:])
    *cases, control = [json.loads(line) for line in done.stdout.splitlines()]
    assert control == {"control": ["open /etc/passwd"]}, "the watch itself saw nothing"
    assert len(cases) == last - first
    return cases


def examine(cases):
    found = collections.Counter((one["kind"], one["outcome"].split(":")[0][:6]) for one in cases)
    grown = max(one["peak"] for one in cases) - cases[0]["peak"]
    slowest = max(one["seconds"] for one in cases)
    print(
        f"{len(cases)} cases, +{grown} MB, slowest {slowest:.2f} s, {dict(sorted(found.items()))}"
    )
    assert [one for one in cases if one["outcome"].startswith("crash")] == []
    assert [one for one in cases if "long:" in one["outcome"]] == []
    assert [one for one in cases if one["noticed"]] == []
    assert grown < GROWN
    assert slowest < SECONDS
    assert {kind for kind, how in found if how == "opened"} == {kind for kind, _ in found}
    assert len({kind for kind, _ in found}) == KINDS
    return found


def test_fuzzed_files_of_every_format(tmp_path):
    examine(read_cases(0, 175, tmp_path))


@pytest.mark.full
def test_five_thousand_fuzzed_files(tmp_path):
    for first in range(0, 5000, 1000):  # a process of its own each time: memory is its own too
        examine(read_cases(first, first + 1000, tmp_path))
