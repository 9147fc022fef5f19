"""Whatever happens to the bytes of a checkpoint is found, and the one before it is used."""

import itertools
import random
import shutil

import pytest

from counterpoint.training.checkpoints import CheckpointError, problem
from training.states import FILES


def put(file, content):
    """Write a new file: an old one that is cut to nothing is synced by some file systems."""
    file.unlink()
    file.write_bytes(content)


def falls_back(place, capsys, *, reason):
    """Whether step 120 is refused, in one line, and 118 comes back bit for bit."""
    capsys.readouterr()
    found = place.newest()
    said = capsys.readouterr().err
    assert found is not None, said
    assert found.name == "step-00000118", said
    assert said.startswith("checkpoint: step-00000120 is damaged ("), said
    assert said.endswith("); continuing from step-00000118\n"), said
    assert said.count("\n") == 1, said
    assert reason in said
    with pytest.raises(CheckpointError, match="cannot be used"):
        place.load(place.folder / "step-00000120")


def test_a_thousand_truncations_are_found(place, capsys):
    rng = random.Random(1)
    for _ in range(1000):
        file = place.folder / "step-00000120" / rng.choice(FILES)
        whole = file.read_bytes()
        put(file, whole[: rng.randrange(len(whole))])
        falls_back(place, capsys, reason=file.name)
        put(file, whole)
    assert place.newest() == place.folder / "step-00000120"


def test_a_thousand_flipped_bits_are_found(place, capsys):
    rng = random.Random(2)
    for _ in range(1000):
        file = place.folder / "step-00000120" / rng.choice(FILES)
        whole = file.read_bytes()
        flipped = bytearray(whole)
        flipped[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        put(file, flipped)
        falls_back(place, capsys, reason="damaged")
        put(file, whole)
    assert place.newest() == place.folder / "step-00000120"


def test_no_bit_of_a_manifest_can_change(place):
    """All of them: nothing else guards the manifest itself."""
    path = place.folder / "step-00000120"
    whole = (path / "manifest.json").read_bytes()
    for place_, bit in itertools.product(range(len(whole)), range(8)):
        flipped = bytearray(whole)
        flipped[place_] ^= 1 << bit
        put(path / "manifest.json", flipped)
        assert problem(path) is not None, bytes(flipped)
    for tail in (b" ", b"\n", b"\x00", b"{}"):
        (path / "manifest.json").write_bytes(whole + tail)
        assert problem(path) is not None


@pytest.mark.parametrize("dropped", FILES)
def test_a_dropped_file_is_found(place, capsys, dropped):
    (place.folder / "step-00000120" / dropped).unlink()
    falls_back(place, capsys, reason=f"{dropped}: cannot be read (ENOENT")


@pytest.mark.parametrize("extra", FILES)
def test_bytes_at_the_end_are_found(place, capsys, extra):
    with (place.folder / "step-00000120" / extra).open("ab") as file:
        file.write(b"\n")
    falls_back(place, capsys, reason=extra)


@pytest.mark.parametrize(
    "swapped", [some for count in (1, 2, 3) for some in itertools.combinations(FILES, count)]
)
def test_files_of_another_checkpoint_are_found(place, capsys, swapped):
    """Equal lengths and whole files, a stale manifest, and a folder under another name."""
    other = place.folder / "step-00000118"
    for name in swapped:
        assert (other / name).stat().st_size == (
            place.folder / "step-00000120" / name
        ).stat().st_size
        shutil.copy(other / name, place.folder / "step-00000120" / name)
    falls_back(place, capsys, reason="manifest" if "manifest.json" in swapped else "sha256 differs")


def test_a_format_of_the_future_is_named(place):
    file = place.folder / "step-00000120/manifest.json"
    file.write_bytes(file.read_bytes().replace(b'"format":1', b'"format":3'))
    assert problem(file.parent) == "manifest.json: format 3, this version reads formats 1 and 2"
