"""Hostile checkpoints: nothing runs, nothing crashes, memory is bounded, the good one is used."""

import json
import os
import pickle
import random
import shutil
import subprocess
import sys
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load as library_load

from counterpoint.training.checkpoints import CheckpointError, Checkpoints
from counterpoint.training.checkpoints.tensors import entries, header_length, pieces
from training.corpus import Evil, with_header, write_corpus
from training.states import state_of

TESTS = Path(__file__).parent.parent


def guarded(what, root, *, command):
    """Read all cases in a watched process; give a line for each, and the last line."""
    control = root / "control.pickle"
    control.write_bytes(pickle.dumps(Evil(command)))
    done = subprocess.run(
        [sys.executable, TESTS / "training/guarded.py", what, root, control],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"PYTHONPATH": f"{TESTS}:{os.environ.get('PYTHONPATH', TESTS)}"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    *cases, last = [json.loads(line) for line in done.stdout.splitlines()]
    return cases, last


def test_hostile_checkpoints_are_refused(tmp_path):
    canary = tmp_path / "canary"
    command = f"echo run >> {canary}"
    count = write_corpus(Checkpoints, tmp_path, command=command)
    cases, last = guarded("checkpoints", tmp_path, command=command)
    shutil.rmtree(tmp_path / "cases")  # files of 8 TB, though of holes, are not to lie about
    assert len(cases) == count >= 200
    assert [one for one in cases if not one["outcome"].startswith("refused: ")] == []
    assert [one for one in cases if one["ran"]] == []
    assert [one for one in cases if len(one["outcome"]) > 600] == []
    assert max(one["seconds"] for one in cases) < 20
    assert last["grown"] < 300 << 20, last["grown"] >> 20
    assert "pickle.find_class" in last["noticed"], "the watch itself saw nothing"
    assert canary.read_text() == "run\n", "once, by the control at the end"


def ours(data):
    try:
        length = header_length(data[:8], size=len(data))
        return entries(data[8 : 8 + length], size=len(data) - 8 - length)
    except CheckpointError:
        return None


def theirs(data):
    try:
        return library_load(data)
    except (SafetensorError, KeyError, ValueError, OverflowError, RuntimeError):
        return None


def test_what_we_accept_the_library_accepts():
    """5,000 mutated headers: ours is never the more credulous of the two."""
    rng = random.Random(0)
    tensors = {"a": state_of(1)["state_dict"]["weight"], "b": state_of(1)["state_dict"]["bias"]}
    data = b"".join(bytes(piece) for piece in pieces(tensors))
    length = header_length(data[:8], size=len(data))
    header, rest = data[8 : 8 + length], data[8 + length :]
    words = [b"0", b"1", b"8", b"-", b"[", b"]", b"{", b"}", b",", b":", b'"', b" ", b"F32", b"e1"]
    words += [b"I64", b"256", b"24", b"280", b"64", b"3", b"null", b"true", b"\\u0061", b"\xff"]
    accepted = refused = 0
    for _ in range(5000):
        start = rng.randrange(length)
        changed = header[:start] + rng.choice(words) + header[start + rng.randrange(4) :]
        mutated = with_header(changed, rest)
        mine = ours(mutated)
        if mine is None:
            refused += 1
            continue
        accepted += 1
        found = theirs(mutated.replace(b"-0", b" 0"))  # the one thing that only we take for zero
        assert found is not None, changed
        assert {one.name: (one.shape, one.dtype) for one in mine} == {
            name: (tuple(tensor.shape), tensor.dtype) for name, tensor in found.items()
        }
    assert accepted >= 50, accepted
    assert refused >= 3000, refused
