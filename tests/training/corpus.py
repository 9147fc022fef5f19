"""Hostile checkpoints: pickles, lying headers, JSON bombs, and files that are not regular files."""

import hashlib
import io
import json
import os
import pickle
import shutil
import socket
import stat
import zlib
from pathlib import Path

import numpy as np
import torch

from training.states import FILES

NAN, DEEP = "NaN", 100_000


class Evil:
    """Runs a command when it is unpickled."""

    def __init__(self, command):
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


class EvilCode:
    """Runs code through eval when it is unpickled."""

    def __init__(self, command):
        self.command = command

    def __reduce__(self):
        return eval, (f"__import__('os').system({self.command!r})",)


def pickles(command):
    """Files that run a command in whoever unpickles them, by name."""
    evil = Evil(command)
    found = {f"pickle-{number}": pickle.dumps(evil, number) for number in range(6)}
    found["eval"] = pickle.dumps(EvilCode(command))
    found["compressed"] = zlib.compress(pickle.dumps(evil))
    lightning = {"hyper_parameters": {"_instantiator": "os.system", "command": command}}
    for name, value, old in [
        ("torch-zip", evil, False),
        ("torch-old", evil, True),
        ("lightning", {"state_dict": {}, "evil": evil} | lightning, False),
        ("lightning-instantiator", {"state_dict": {}} | lightning, False),
    ]:
        buffer = io.BytesIO()
        torch.save(value, buffer, _use_new_zipfile_serialization=not old)
        found[name] = buffer.getvalue()
    buffer = io.BytesIO()
    np.save(buffer, np.array([evil], dtype=object), allow_pickle=True)
    found["npy"] = buffer.getvalue()
    return found


def with_header(header, data=b"\x00" * 8, *, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def _one(**changes):
    return {"a": {"dtype": "U8", "shape": [8], "data_offsets": [0, 8]} | changes}


def _two(first, second, *, shapes=((4,), (4,))):
    return {
        name: {"dtype": "U8", "shape": list(shape), "data_offsets": list(offsets)}
        for name, shape, offsets in zip("ab", shapes, (first, second), strict=True)
    }


def tensor_files():
    """Files that are not safetensors, or lie, by name; the state has one tensor "a" of 8 bytes."""
    good = json.dumps(_one()).encode()
    lengths = [0, 1, len(good) - 1, len(good) + 1, len(good) + 9, 100 << 20, 2**32, 2**63 - 1]
    found = {f"length-{n}": with_header(good, length=n) for n in [*lengths, 2**64 - 1]}
    headers = {
        "overlap": _two((0, 6), (4, 8), shapes=((6,), (4,))),
        "same": _two((0, 8), (0, 8), shapes=((8,), (8,))),
        "hole": _two((0, 3), (5, 8), shapes=((3,), (3,))),
        "late": _one(shape=[4], data_offsets=[4, 8]),
        "trailing": _one(shape=[4], data_offsets=[0, 4]),
        "beyond": _one(shape=[16], data_offsets=[0, 16]),
        "far": _one(data_offsets=[2**60, 2**60 + 8]),
        "reversed": _one(data_offsets=[8, 0]),
        "negative": _one(data_offsets=[-8, 0]),
        "three": _one(data_offsets=[0, 8, 8]),
        "float-offset": _one(data_offsets=[0.0, 8.0]),
        "bool-offset": _one(shape=[1], data_offsets=[False, True]),
        "text-offset": _one(data_offsets=["0", "8"]),
        "shape-negative": _one(shape=[-8]),
        "shape-two-negatives": _one(shape=[-2, -4]),
        "shape-huge": _one(shape=[2**62, 2**62]),
        "shape-wraps": _one(shape=[2**61 + 1, 8]),
        "shape-empty-huge": _one(shape=[0, 2**63], data_offsets=[0, 0]),
        "shape-float": _one(shape=[8.0]),
        "shape-bool": _one(shape=[8, True]),
        "shape-many": _one(shape=[1] * 100_000 + [8]),
        "shape-digits": _one(shape=[10**4000]),
        "shape-none": _one(shape=None),
        "type-unknown": _one(dtype="OBJECT"),
        "type-half": _one(dtype="F4"),
        "type-none": _one(dtype=None),
        "type-list": _one(dtype=["U8"]),
        "extra": _one(pickle="cos\nsystem\n"),
        "metadata": _one() | {"__metadata__": {"a": "b"}},
        "none": {},
        "list": [],
        "null": None,
        "not-a-table": {"a": 8},
        "other-name": {"b": _one()["a"]},
        "two-names": _two((0, 4), (4, 8)),
        "bomb": {f"{i:x}": {} for i in range(310_000)},
    }
    found |= {name: with_header(header) for name, header in headers.items()}
    half = good[1:-1]
    texts = {
        "twice": b"{" + half + b"," + half + b"}",
        "nan": good.replace(b"8]", b"NaN]"),
        "utf-16": good.decode().encode("utf-16"),
        "utf-8": good.replace(b'"a"', b'"\xff"'),
        "deep": b"[" * DEEP,
        "deep-closed": b'{"a":' + b"[" * DEEP + b"]" * DEEP + b"}",
        "digits": good.replace(b"8]", b"8" * 100_000 + b"]"),
        "lists": b'{"a":[' + b"[]," * 1_390_000 + b"[]]}",
    }
    found |= {name: with_header(text) for name, text in texts.items()}
    return found | {"empty": b"", "short": b"\x08\x00\x00", "zeros": bytes(100)}


def plain_files():
    """State files that are not JSON, or not ours, by name."""
    tensor = '"a":{"tensor":"a"}'
    inside = {
        "nan": NAN,
        "infinity": "-Infinity",
        "too-large": "1e999",
        "digits": "9" * 100_000,
        "class-path": '{"class_path":"os.system","init_args":{"command":"true"}}',
        "target": '{"_target_":"os.system"}',
        "instantiator": '{"_instantiator":"os.system"}',
        "py-object": '{"py/object":"os.system"}',
        "tensor-again": '{"tensor":"a"}',
        "tensor-nowhere": '{"tensor":"../../../etc/passwd"}',
        "tensor-list": '{"tensor":["a"]}',
        "two-tags": '{"tuple":[],"dict":{}}',
        "no-tag": "{}",
        "repeat": '{"repeat":[0,1000000000]}',
        "float-nan": '{"float":"nan"}',
        "float-finite": '{"float":"0000000000000000"}',
        "pairs-list": '{"pairs":[[[],1]]}',
        "pairs-twice": '{"pairs":[[1,1],[1,2]]}',
        "dict-twice": '{"dict":{"k":1,"k":2}}',
        "deep": "[" * DEEP,
        "deep-closed": "[" * DEEP + "]" * DEEP,
        "deep-70": "[" * 70 + "]" * 70,
        "deep-400": "[" * 400 + "]" * 400,
        "deep-tuples": '{"tuple":[' * 300 + "]}" * 300,
        "control": '"\x00"',
        "open": '"',
    }
    found = {name: f'{{"dict":{{{tensor},"b":{text}}}}}'.encode() for name, text in inside.items()}
    whole = {
        "empty": b"",
        "list": b"[]",
        "null": b"null",
        "no-tensor": b'{"dict":{}}',
        "tail": b'{"dict":{"a":{"tensor":"a"}}}{}',
        "utf-16": '{"dict":{"a":{"tensor":"a"}}}'.encode("utf-16"),
        "mark": b'\xef\xbb\xbf{"dict":{"a":{"tensor":"a"}}}',
        "utf-8": b'{"dict":{"a":{"tensor":"a"},"\xff":1}}',
        "yaml": b"dict: !!python/object/apply:os.system ['true']",
        "large": b'{"dict":{"a":{"tensor":"a"},"b":[' + b"1," * (2 << 20) + b"1]}}",
        "lists": b'{"dict":{"b":[' + b"[]," * 1_390_000 + b"[]]}}",
        "objects": b'{"dict":{"b":[' + b"{}," * 1_390_000 + b"{}]}}",
        "keys": json.dumps({"dict": {f"{i:x}": 1 for i in range(350_000)}}).encode(),
    }
    return found | whole


def manifest_files(good):
    """Manifests that are not as they were written, by name; `good` is the right one."""
    record = json.loads(good)
    plain, size = record["files"]["state.json"], record["files"]["state.json"]["bytes"]
    changed = {
        "step-bool": record | {"step": True},
        "step-float": record | {"step": 2.0},
        "step-other": record | {"step": 3},
        "format-text": record | {"format": "1"},
        "format-true": record | {"format": True},
        "format-later": record | {"format": 10**1000},
        "extra": record | {"hook": "os.system"},
        "no-files": {"format": 1, "step": 2},
        "traversal": record | {"files": record["files"] | {"../../../etc/passwd": plain}},
        "null": None,
    }
    found = {
        name: json.dumps(one, separators=(",", ":")).encode() + b"\n"
        for name, one in changed.items()
    }
    number = f'"bytes":{size}'.encode()
    for name, text in {
        "size-negative": f"-{size}",
        "size-float": f"{size}.0",
        "size-nan": NAN,
        "size-huge": str(2**80),
        "size-digits": "9" * 50_000,
    }.items():
        found[name] = good.replace(number, b'"bytes":' + text.encode())
    sha = plain["sha256"].encode()
    found["sha-upper"] = good.replace(sha, sha.upper())
    found["sha-short"] = good.replace(sha, sha[:8])
    found["sha-null"] = good.replace(b'"' + sha + b'"', b"null")
    found["twice"] = good.replace(b'"step":2', b'"step":2,"step":2')
    found["deep"] = b"[" * 60_000
    found["spaces"] = good.replace(b",", b", ")
    found["large"] = good + b" " * (1 << 20)
    return found | {"empty": b"", "zeros": bytes(300)}


def strange_files():
    """Makers of things that are not regular files, by name; each takes the path."""
    made = {
        "passwd": lambda path: path.symlink_to("/etc/passwd"),
        "dev-zero": lambda path: path.symlink_to("/dev/zero"),
        "loop": lambda path: path.symlink_to(path.name),
        "twin": _twin,
        "fifo": os.mkfifo,
        "folder": lambda path: path.mkdir(),
        "socket": _socket,
        "endless": _endless,
    }
    if os.getuid() == 0:
        made["device"] = lambda path: os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 5))
    return made


def _endless(path):
    """A file of holes: 8 TB that take no space, and a manifest that says so."""
    path.touch()
    os.truncate(path, 1 << 43)
    manifest = path.parent / "manifest.json"
    if manifest.is_file() and path.parent.name != "cases" and path != manifest:
        record = json.loads(manifest.read_text())
        record["files"][path.name]["bytes"] = 1 << 43
        manifest.write_text(json.dumps(record, separators=(",", ":")) + "\n")


def _twin(path):
    """A symlink to the very file that was there: its bytes are right, and still it is refused."""
    kept = path.with_name(f"{path.name}.kept")
    kept.write_bytes((path.parent.parent / "step-00000001" / path.name).read_bytes())
    path.symlink_to(kept.name)


def _socket(path):
    with socket.socket(socket.AF_UNIX) as one:
        before = Path.cwd()
        os.chdir(path.parent)  # the name of a socket may have a hundred letters at most
        try:
            one.bind(path.name)
        finally:
            os.chdir(before)


def sign(folder):
    """Write the manifest that an attacker would: right for whatever files are there."""
    files = {}
    for name in FILES[1:]:
        content = (folder / name).read_bytes()
        files[name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    record = {"format": 1, "step": int(folder.name[5:]), "files": files}
    (folder / "manifest.json").write_text(json.dumps(record, separators=(",", ":")) + "\n")


def contents(manifest, *, command):
    """Every hostile content as (name, file, bytes, whether its manifest is right)."""
    for name, content in pickles(command).items():
        for file in FILES:
            yield name, file, content, False
        for file in FILES[1:]:
            yield name, file, content, True
    for name, content in tensor_files().items():
        yield name, "state.safetensors", content, True
    for name, content in plain_files().items():
        yield name, "state.json", content, True
    for name, content in manifest_files(manifest).items():
        yield name, "manifest.json", content, False


def write_corpus(place, root, *, command):
    """Write every hostile checkpoint as step 2 after a good step 1; give the number of them."""
    for step in (1, 2):
        place(root / "good").save(step, {"a": torch.zeros(8, dtype=torch.uint8)})

    def case(name):
        shutil.copytree(root / "good", root / "cases" / name)
        return root / "cases" / name / "step-00000002"

    manifest = (root / "good/step-00000002/manifest.json").read_bytes()
    for name, file, content, signed in contents(manifest, command=command):
        folder = case(f"{name}-in-{file}{'-signed' * signed}")
        (folder / file).write_bytes(content)
        if signed:
            sign(folder)
    for name, make in strange_files().items():
        for file in FILES:
            folder = case(f"{name}-as-{file}")
            (folder / file).unlink()
            make(folder / file)
        if name != "twin":
            folder = case(f"{name}-as-the-folder")
            shutil.rmtree(folder)
            make(folder)
    return len(list((root / "cases").iterdir()))
