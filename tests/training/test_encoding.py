"""A state becomes tensors and JSON and comes back bit for bit; nothing else is let in or out."""

import enum
import json
import math
import random
from collections import OrderedDict

import lightning as L
import numpy as np
import pytest
import torch
from safetensors.torch import load as library_load
from torch import nn

from counterpoint import ArraySource, Training
from counterpoint.methods import simclr
from counterpoint.parts.encoders import NarrowResNet
from counterpoint.training.checkpoints import CheckpointError
from counterpoint.training.checkpoints.encoding import decode_state, encode_state
from counterpoint.training.checkpoints.tensors import entries, header_length, pieces
from counterpoint.training.pretrainer import Pretrainer
from training.states import DTYPES, random_state, same


def through(state):
    """Encode, pass through text and bytes as a file would, decode."""
    tensors, plain = encode_state(state)
    text = json.dumps(plain, allow_nan=False)
    return decode_state(tensors, json.loads(text))


def written(tensors):
    return b"".join(bytes(piece) for piece in pieces(tensors))


def test_a_thousand_random_states_come_back_to_the_bit():
    rng = random.Random(0)
    for _ in range(1000):
        state = random_state(rng)
        assert same(through(state), state), state


def test_the_comparison_itself_can_fail():
    assert not same({"a": 0.0}, {"a": -0.0})
    assert not same({"a": 1}, {"a": True})
    assert not same({"a": (1,)}, {"a": [1]})
    assert not same({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert not same({0: 1}, {"0": 1})
    assert not same({"a": torch.zeros(2)}, {"a": -torch.zeros(2)})
    assert not same({"a": torch.zeros(2)}, {"a": torch.zeros(2, 1)})


def test_the_library_reads_what_we_write():
    """0-d, empty, non-contiguous, conjugate and shared tensors, of all 18 types."""
    one = torch.arange(12.0).reshape(3, 4)
    tensors, _ = encode_state(
        {
            "kinds": {str(dtype): torch.ones(3, 2).to(dtype) for dtype in DTYPES},
            "none": torch.empty(0, 5),
            "scalar": torch.tensor(3),
            "shared": [one, one, one[1:], one.T],
            "conjugate": torch.tensor([1 + 2j]).conj(),
        }
    )
    found = library_load(written(tensors))
    assert found.keys() == tensors.keys()
    assert same(dict(sorted(found.items())), dict(sorted(tensors.items())))
    assert torch.equal(found["conjugate"], torch.tensor([1 - 2j]))
    assert library_load(written({})) == {}


def test_every_tensor_starts_at_a_multiple_of_its_width():
    tensors = {str(dtype): torch.ones(3).to(dtype) for dtype in DTYPES}
    data = written(tensors)
    length = header_length(data[:8], size=len(data))
    for entry in entries(data[8 : 8 + length], size=len(data) - 8 - length):
        assert (8 + length + entry.start) % entry.dtype.itemsize == 0


def test_equal_paths_get_different_names():
    state = {"a.b": torch.ones(1), "a": {"b": torch.zeros(1)}, "__metadata__": torch.ones(2)}
    state["n"] = {0: torch.ones(3), "0": torch.zeros(3)}
    tensors, _ = encode_state(state)
    assert sorted(tensors) == ["__metadata__#2", "a.b", "a.b#2", "n.0", "n.0#2"]
    assert same(through(state), state)


def test_what_a_trainer_saves_comes_back(tmp_path):
    """Everything that Lightning puts into a checkpoint of ours, with its own reader as oracle."""
    model = simclr(NarrowResNet(widths=(8, 16), blocks=(1, 1))).build(image=(3, 32, 32))
    images = torch.zeros(32, 3, 32, 32, dtype=torch.uint8)
    module = Pretrainer(model, ArraySource("noise", images), Training(epochs=1, batch=16), steps=2)
    trainer = L.Trainer(
        max_steps=1,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(module)
    trainer.save_checkpoint(tmp_path / "theirs.ckpt")
    theirs = torch.load(tmp_path / "theirs.ckpt", weights_only=True)
    theirs["state_dict"] = dict(theirs["state_dict"])  # an OrderedDict comes back as a dict
    assert {"state_dict", "optimizer_states", "lr_schedulers", "loops"} <= theirs.keys()
    assert same(through(theirs), theirs)


class Colour(enum.IntEnum):
    RED = 1


def itself():
    loop = []
    loop.append(loop)
    return loop


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        (lambda: None, "is a function"),
        (object(), "is a object"),
        (b"bytes", "is a bytes"),
        ({1, 2}, "is a set"),
        (1j, "is a complex"),
        (Colour.RED, "is a Colour"),
        (np.float64(1.0), "is a float64"),
        (np.zeros(2), "is a ndarray"),
        (torch.Size([1]), "is a Size"),
        (torch.float32, "is a dtype"),
        (nn.Linear(1, 1), "is a Linear"),
        ({1.5: 1}, "key 1.5, a float"),
        ({True: 1}, "key True, a bool"),
        ({(1, 2): 1}, r"key \(1, 2\), a tuple"),
        (2**2048, "an int of 2049 bits"),
        (itself(), "or holds itself"),
        (torch.eye(2).to_sparse(), "torch.sparse_coo"),
        (torch.empty(2, device="meta"), "meta"),
        (torch.zeros(2, dtype=torch.complex128), "safetensors has not"),
    ],
)
def test_anything_else_is_refused_with_its_place(value, complaint):
    state = {"optimizer_states": [{"state": {3: {"foo": value}}}]}
    with pytest.raises(TypeError, match=complaint) as error:
        encode_state(state)
    assert str(error.value).startswith("checkpoint: optimizer_states.0.state.3")


def test_wrappers_come_back_as_what_they_hold():
    state = {"ordered": OrderedDict(a=1), "weight": nn.Parameter(torch.ones(2))}
    found = through(state)
    assert same(found, {"ordered": {"a": 1}, "weight": torch.ones(2)})
    assert not found["weight"].requires_grad


NAN = {"float": "7ff8000000000000"}


@pytest.mark.parametrize(
    "plain",
    [
        None,
        [],
        1,
        "text",
        {"tuple": []},
        {"tensor": "a"},
        NAN,
        {},
        {"dict": []},
        {"dict": {"a": {"tensor": "a"}}, "tuple": []},
        {"dict": {"a": {"tensor": "nowhere"}}},
        {"dict": {"a": {"tensor": "a"}, "b": {"tensor": "a"}}},
        {"dict": {}},
        {"dict": {"a": {"tensor": ["a"]}}},
        {"dict": {"a": {"tensor": None}}},
        {"dict": {"a": {"tensor": "a"}, "b": {}}},
        {"dict": {"a": {"tensor": "a"}, "b": {"part": "os.system"}}},
        {"dict": {"a": {"tensor": "a"}, "b": {"tuple": {}}}},
        {"dict": {"a": {"tensor": "a"}, "b": math.inf}},
        {"dict": {"a": {"tensor": "a"}, "b": {"float": "nan"}}},
        {"dict": {"a": {"tensor": "a"}, "b": {"float": "3ff0000000000000"}}},
        {"dict": {"a": {"tensor": "a"}, "b": {"float": "7FF8000000000000"}}},
        {"dict": {"a": {"tensor": "a"}, "b": {"float": 1.0}}},
        {"dict": {"a": {"tensor": "a"}, "b": {"pairs": [[1]]}}},
        {"dict": {"a": {"tensor": "a"}, "b": {"pairs": [[[1], 2]]}}},
        {"dict": {"a": {"tensor": "a"}, "b": {"pairs": [[True, 2]]}}},
        {"dict": {"a": {"tensor": "a"}, "b": {"pairs": [[1, 2], [1, 3]]}}},
        {"dict": {"a": {"tensor": "a"}, "b": {"pairs": {"1": 2}}}},
        {"dict": {"a": {"tensor": "a"}, "b": json.loads("[" * 200 + "]" * 200)}},
    ],
)
def test_wrong_json_is_refused(plain):
    assert decode_state({"a": torch.ones(1)}, {"dict": {"a": {"tensor": "a"}, "b": NAN}})
    with pytest.raises(CheckpointError, match=r"^state\.json: "):
        decode_state({"a": torch.ones(1)}, plain)
