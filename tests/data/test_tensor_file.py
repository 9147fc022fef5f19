"""Files of tensors have the permissions of other files, are whole, and hold tied weights."""

import os
import stat

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

from counterpoint.data import open_data
from counterpoint.data.cache import cache_folder
from counterpoint.data.tensor_file import write_tensors


@pytest.fixture
def umask():
    """Set the umask for a test, and put it back."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o002, 0o664), (0o077, 0o600)])
def test_permissions_are_those_of_the_umask(tmp_path, umask, mask, mode):
    umask(mask)
    for _ in range(2):  # also where a file is replaced
        write_tensors(tmp_path / "x.safetensors", {"a": torch.ones(2)}, metadata={"k": "v"})
        assert stat.S_IMODE((tmp_path / "x.safetensors").stat().st_mode) == mode
    with safe_open(tmp_path / "x.safetensors", framework="pt") as file:
        assert file.metadata() == {"k": "v"}
    assert [path.name for path in tmp_path.iterdir()] == ["x.safetensors"]


def test_tied_weights_are_written_under_every_name(tmp_path):
    net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))
    net[1].weight = net[0].weight
    whole = torch.arange(6.0)
    tensors = {**net.state_dict(), "head": whole[:2], "tail": whole[2:], "turned": torch.eye(3).T}
    write_tensors(tmp_path / "x.safetensors", tensors)
    found = load_file(tmp_path / "x.safetensors")
    assert found.keys() == tensors.keys()
    assert all(torch.equal(found[name], tensors[name]) for name in tensors)


def test_what_fails_leaves_the_file_that_was_there(tmp_path, monkeypatch):
    place = tmp_path / "x.safetensors"
    write_tensors(place, {"a": torch.ones(2)})

    def half(tensors, file, metadata):
        file.write_bytes(b"half")
        raise OSError("no space left")

    monkeypatch.setattr("counterpoint.data.tensor_file.save_file", half)
    with pytest.raises(OSError, match="no space left"):
        write_tensors(place, {"a": torch.zeros(2)})
    assert load_file(place)["a"].tolist() == [1.0, 1.0]
    assert [path.name for path in tmp_path.iterdir()] == ["x.safetensors"]


def test_the_index_of_a_folder_can_be_read_by_others(tmp_path, umask, monkeypatch):
    from PIL import Image

    umask(0o022)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for kind in ("a", "b"):
        (tmp_path / "images" / kind).mkdir(parents=True)
        for number in range(6):
            Image.new("RGB", (8, 8), (number, 0, 0)).save(
                tmp_path / "images" / kind / f"{number}.png"
            )
    open_data(tmp_path / "images")
    written = [path for path in cache_folder().iterdir() if path.suffix == ".safetensors"]
    assert len(written) == 1
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o644 for path in written)
