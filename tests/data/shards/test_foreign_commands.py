"""Commands on tars and Parquet as they are: photos, labels and figures are the folder's."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from counterpoint.cli import main
from counterpoint.data import open_data
from counterpoint.data.layouts import parquet_stream
from counterpoint.data.shards.row_groups import RowGroups
from counterpoint.data.shards.webdataset import WebdatasetShards
from counterpoint.doctor.examination import examined
from counterpoint.vectors import Vectors
from data.shards.packs import pack_parquet, pack_tar, photo_files

KINDS = {"tars": WebdatasetShards, "parquet": RowGroups}
RUN = Path(__file__).parents[2] / "golden" / "runs" / "simclr-files"
SPLITS = {"train": 40, "val": 12, "test": 20}


@pytest.fixture(scope="module")
def packed(data, tmp_path_factory):
    """The same photos three times: as folders, as tars and as Parquet, with three splits."""
    place = tmp_path_factory.mktemp("photos")
    photos, classes = photo_files(data, every=4)
    some = [one for one in photos if one[1] < 4]
    classes = classes[:4]
    first = 0
    mixed = [some[(n * 7) % len(some)] for n in range(sum(SPLITS.values()))]
    assert len(set(mixed)) == len(mixed)
    for split, count in SPLITS.items():
        part = sorted(mixed[first : first + count])
        first += count
        for file, _ in part:
            folder = place / "folder" / split / file.parent.name
            folder.mkdir(parents=True, exist_ok=True)
            (folder / file.name).symlink_to(file)
        half = count // 3
        pack_tar(place / "tars" / f"{split}-000000.tar", part[:half])
        pack_tar(place / "tars" / f"{split}-000001.tar", part[half:], label="json")
        groups = [half, 1, count - half - 1]
        name = f"{split}-00000-of-00001.parquet"
        pack_parquet(place / "parquet" / name, part, classes, groups=groups)
    return place


@pytest.fixture(scope="module", autouse=True)
def surroundings(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COUNTERPOINT_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(parquet_stream, "ENCODED", 0)
        yield


def command(*words):
    main([str(word) for word in words])


@pytest.mark.parametrize("kind", KINDS)
def test_pretrain_and_views(kind, packed, tmp_path):
    small = ["--method", "simclr-small", "--encoder", "small", "--size", 32]
    short = ["--steps", 2, "--batch-size", 16, "--workers", 1]
    command("pretrain", packed / kind, *small, *short, "--out", tmp_path / "run")
    assert isinstance(open_data(packed / kind).train.store, KINDS[kind])
    job = json.loads((tmp_path / "run/run.json").read_text())["job"]
    assert job["data"]["count"] == SPLITS["train"]
    assert (tmp_path / "run/encoder.safetensors").is_file()
    command("views", packed / kind, "--images", 2, "--size", 32, "--out", tmp_path / "views.png")
    assert (tmp_path / "views.png").stat().st_size > 1000


def test_evaluate_gives_the_figures_of_the_folder(packed, tmp_path):
    found = {}
    for kind in ("folder", *KINDS):
        shutil.copytree(RUN, tmp_path / kind)
        words = ["--data", packed / kind, "--protocol", "knn,linear", "--workers", 0, "--seeds", 1]
        command("evaluate", tmp_path / kind, *words)
        probes = json.loads((tmp_path / kind / "evaluation.json").read_text())["probes"]
        found[kind] = [{**probe, "seconds": None} for probe in probes]
        assert len(probes) == 2
    assert found["tars"] == found["parquet"] == found["folder"]


def test_embed_gives_the_vectors_of_the_folder(packed, tmp_path):
    found = {}
    for kind in ("folder", *KINDS):
        command("embed", RUN, packed / kind, "--workers", 0, "--out", tmp_path / kind)
        found[kind] = Vectors.open(tmp_path / kind)
    folder = found["folder"]
    for kind in KINDS:
        assert torch.equal(found[kind].matrix(), folder.matrix())
        assert found[kind].record.splits == folder.record.splits
        assert list(found[kind].sha256) == list(folder.sha256)
        assert list(found[kind].labels) == list(folder.labels)
    assert found["tars"].paths[0] == "train-000000.tar/000000.jpg"
    assert found["parquet"].paths[14] == "train-00000-of-00001.parquet/row group 2/row 0"


@pytest.mark.parametrize("kind", KINDS)
def test_doctor_finds_what_it_finds_in_the_folder(kind, packed, tmp_path):
    command("doctor", packed / kind, "--seconds", 0, "--json", tmp_path / "found.json")
    found = json.loads((tmp_path / "found.json").read_text())
    folder = examined(open_data(packed / "folder"), packed / "folder")
    assert found["images"] == sum(SPLITS.values()) == len(folder.images)
    assert found["broken"] == []
    assert found["sizes"] == json.loads(json.dumps(folder.sizes()))
    assert (found["formats"], found["colours"]) == (dict(folder.formats()), dict(folder.colours()))
    assert len(found["alike"]) == len(folder.alike)
    assert found["suggestion"]["batch"] > 0
