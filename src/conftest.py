"""Folders that examples in docstrings use: photos, a run on them, its vectors, its export."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).parent
FOLDERS = ("photos_folder", "run_folder", "vectors_folder", "export_folder")


def pytest_collect_file(file_path: Path) -> None:
    """Import the package of a module first: else pytest runs a module twice that it imports."""
    if file_path.suffix == ".py" and (package := file_path.parent.relative_to(SOURCE)).parts:
        import_module(".".join(package.parts))


@pytest.fixture(autouse=True)
def folders(request: Any, doctest_namespace: dict[str, object]) -> None:
    """Make the folders that an example names, and no others."""
    words = "".join(one.source for one in request.node.dtest.examples)
    doctest_namespace.update({f: request.getfixturevalue(f) for f in FOLDERS if f in words})


@pytest.fixture(scope="session")
def photos_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """24 drawn images of two classes, in a folder each; the last two of a class are equal."""
    import numpy as np
    from PIL import Image

    place = tmp_path_factory.mktemp("examples") / "photos"
    chance = np.random.default_rng(0)
    for label, name in enumerate(("dark", "light")):
        (place / name).mkdir(parents=True)
        for number in range(12):
            if number < 11:
                noise = chance.integers(128, size=(32, 32, 3))
                image = Image.fromarray((noise + 128 * label).astype("uint8"))
            image.save(place / name / f"{number:02}.png")
    return place


@pytest.fixture(scope="session")
def run_folder(photos_folder: Path) -> Path:
    """Two steps on these photos."""
    from counterpoint import pretrain, training_of

    out, training = photos_folder.with_name("run"), training_of("simclr-small", batch=8)
    pretrain(
        "simclr-small",
        photos_folder,
        out=out,
        steps=2,
        training=training,
        size=32,
        workers=0,
        health=False,
    )
    return out


@pytest.fixture(scope="session")
def vectors_folder(photos_folder: Path, run_folder: Path) -> Path:
    """The vectors of these photos."""
    from counterpoint.cli import main

    out = photos_folder.with_name("vectors")
    main(["embed", str(run_folder), str(photos_folder), "--out", str(out)])
    return out


@pytest.fixture(scope="session")
def export_folder(run_folder: Path) -> Path:
    """The encoder of that run, for those who have Counterpoint."""
    from counterpoint.cli import main

    out = run_folder.with_name("export")
    main(["export", str(run_folder), "--out", str(out), "--only", "counterpoint"])
    return out
