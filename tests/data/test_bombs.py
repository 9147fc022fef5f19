"""Small files that ask for much: 300 MB at most, 2 seconds at most, and nothing is executed."""

import shutil

import pytest

from data.bombs import bombs, heavy_bombs, photo, write_bombs
from training.test_hostile import guarded

MEMORY = 300 << 20  # above what the process has when it begins
SECONDS = 2.0  # of one core, a file


def examine(made, root):
    (root / "good").mkdir()
    for form in ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF"):  # so that each is imported
        (root / f"good/photo.{form.lower()}").write_bytes(photo(form))
    expected = write_bombs(made, root / "cases")
    canary = root / "canary"
    *cases, batch = (found := guarded("pictures", root, command=f"echo run >> {canary}"))[0]
    last = found[1]
    shutil.rmtree(root / "cases")
    for one in cases:
        print(f"{one['case']:34} {one['seconds']:5.2f} s  {one['outcome'][:150]}")
    print(f"batch {batch['seconds']:.2f} s {batch['outcome']}, +{last['grown'] >> 20} MB")
    assert [one for one in cases if one["outcome"].startswith("crash")] == []
    read = {one["case"]: one["outcome"].startswith("read") for one in cases}
    assert read == expected
    assert [one for one in cases if one["seconds"] > SECONDS] == []
    assert [one for one in [*cases, batch] if one["ran"]] == []
    assert batch["outcome"].startswith(f"read ({len(cases)},"), batch
    assert last["grown"] < MEMORY, last["grown"] >> 20
    assert canary.read_text() == "run\n", "once, by the control at the end"


def test_bombs_are_bounded(tmp_path):
    examine(bombs(), tmp_path)


@pytest.mark.full
def test_heavy_bombs_are_bounded(tmp_path):
    examine(heavy_bombs(), tmp_path)
