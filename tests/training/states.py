"""Training states for the tests of checkpoints, and their comparison bit for bit."""

import math
import struct

import torch

FILES = ["manifest.json", "state.json", "state.safetensors"]

DTYPES = [
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint64,
    torch.uint32,
    torch.uint16,
    torch.uint8,
    torch.bool,
    torch.complex64,
    torch.float8_e4m3fn,
    torch.float8_e4m3fnuz,
    torch.float8_e5m2,
    torch.float8_e5m2fnuz,
]


def state_of(step, *, floats=64):
    """A state like Lightning's whose every value is of this step; sizes do not depend on it."""
    generator = torch.Generator().manual_seed(step)
    weights = torch.randn(floats, generator=generator)
    return {
        "global_step": 1000 + step,
        "state_dict": {"weight": weights, "bias": torch.full((3,), step, dtype=torch.int64)},
        "optimizer_states": [{"state": {0: {"exp_avg": weights * 2}}, "betas": (0.9, 0.95)}],
        "lr_schedulers": [{"lr_lambdas": [None], "base_lrs": [0.5]}],
        "callbacks": {},
    }


def same(one, two):
    """Whether two states are equal in every type, key order and bit."""
    if isinstance(one, torch.Tensor):
        return isinstance(two, torch.Tensor) and _bytes(one) == _bytes(two)
    if type(one) is not type(two):
        return False
    if isinstance(one, float):
        return struct.pack(">d", one) == struct.pack(">d", two)
    if isinstance(one, dict):
        keys = [(type(key), key) for key in one] == [(type(key), key) for key in two]
        return keys and all(same(one[key], two[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(map(same, one, two))
    return one == two


def _bytes(tensor):
    plain = tensor.detach().contiguous().resolve_conj()
    return tensor.dtype, tensor.shape, bytes(plain.reshape(-1).view(torch.uint8).numpy())


def random_state(rng):
    """A nested state with everything that may be in one."""
    return {f"key {i}": _random_value(rng, depth=0) for i in range(rng.randint(0, 6))}


def _random_value(rng, *, depth):
    kinds = [_plain, _plain, _tensor]
    if depth < 6:
        kinds += [_list, _tuple, _dict]
    return rng.choice(kinds)(rng, depth)


def _plain(rng, depth):
    return rng.choice(
        [
            None,
            True,
            False,
            0,
            -1,
            rng.randint(-(2**70), 2**70),
            2**2047,
            rng.uniform(-1, 1),
            rng.uniform(-1, 1) * 10.0 ** rng.randint(-320, 300),
            5e-324,
            -0.0,
            math.inf,
            -math.inf,
            math.nan,
            struct.unpack(">d", bytes.fromhex("fff8000000000123"))[0],
            "",
            'état \x00 \ud800 \U0001f600 \\ "',
            "tensor",
            "__metadata__",
        ]
    )


def _tensor(rng, depth):
    shape = rng.choice([(), (0,), (1,), (7,), (2, 3), (3, 0, 2), (2, 1, 2, 3)])
    count = math.prod(shape)
    dtype = rng.choice(DTYPES)
    if dtype is torch.bool:
        raw = torch.tensor([rng.randint(0, 1) for _ in range(count)], dtype=torch.uint8)
    else:
        width = count * dtype.itemsize
        raw = torch.tensor([rng.randint(0, 255) for _ in range(width)], dtype=torch.uint8)
    made = raw.view(dtype).reshape(shape)
    return made.transpose(0, -1) if rng.random() < 0.5 and len(shape) > 1 else made


def _list(rng, depth):
    return [_random_value(rng, depth=depth + 1) for _ in range(rng.randint(0, 4))]


def _tuple(rng, depth):
    return tuple(_list(rng, depth))


def _dict(rng, depth):
    keys = rng.sample(["a", "b", "a.b", "", "__metadata__", "dict", 0, 1, -5, "0", "1"], 4)
    return {key: _random_value(rng, depth=depth + 1) for key in keys[: rng.randint(0, 4)]}
