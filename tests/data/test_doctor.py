"""The doctor: what is there, what is broken, what is there twice, and how to start."""

import io
import json
import os
import resource
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from counterpoint.cli import main
from counterpoint.cli.parser import make_parser, spelled
from counterpoint.data import ArraySource, open_data
from counterpoint.doctor import duplicates as duplicates_module
from counterpoint.doctor import examined, package_versions, suggested
from counterpoint.doctor import packages as packages_module
from counterpoint.doctor.beginning import NIGHT
from counterpoint.doctor.duplicates import near, same
from counterpoint.doctor.hashing import bits_apart, difference_hash
from counterpoint.doctor.inspection import look_at
from counterpoint.doctor.suggestion import _free


@pytest.fixture(scope="module")
def sick(data, tmp_path_factory):
    """Photos of two kinds; some broken, some twice, in several formats."""
    place = tmp_path_factory.mktemp("sick") / "photos"
    for kind in ("lotus", "laptop"):
        (place / kind).mkdir(parents=True)
        for file in sorted((data / "caltech20" / kind).glob("*.jpg"))[:60]:
            (place / kind / file.name).write_bytes(file.read_bytes())
    first, second = (place / "lotus" / f"image_000{n}.jpg" for n in (1, 2))
    photo = Image.open(first).convert("RGB")
    photo.resize((photo.width // 2, photo.height // 2)).save(place / "laptop" / "smaller.jpg")
    photo.convert("CMYK").save(place / "laptop" / "printed.jpg")
    photo.quantize(64).save(place / "laptop" / "palette.png")
    (place / "laptop" / "[red]copy.jpg").write_bytes(second.read_bytes())
    (place / "lotus" / "cut.jpg").write_bytes(first.read_bytes()[:3000])
    (place / "lotus" / "page.jpg").write_bytes(b"<html>404</html>")
    for number in range(25):
        (place / "lotus" / f"empty{number:02d}.jpg").touch()
    (place / "lotus" / "device.jpg").symlink_to("/dev/null")  # no file: left out
    return place


@pytest.fixture(scope="module")
def seen(sick):
    return examined(open_data(sick), sick)


def test_what_is_there(seen):
    assert len(seen.images) == 151
    assert seen.formats() == {"JPEG": 123, "PNG": 1}
    assert seen.colours()["CMYK"] == seen.colours()["palette"] == 1
    assert sum(seen.colours().values()) == 124
    sizes = seen.sizes()
    assert sizes["short side"] == sorted(sizes["short side"])
    assert 80 <= sizes["short side"][0] <= 200
    assert sizes["long side"][2] == 300


def test_what_is_broken_is_counted_and_named(seen):
    broken = dict(seen.broken)
    assert len(seen.broken) == 27
    assert broken["lotus/cut.jpg"] == "truncated"
    assert broken["lotus/page.jpg"] == "not an image"
    assert sum(kind == "empty" for kind in broken.values()) == 25


def named(seen, groups):
    return [{seen.images[n].name for n in group} for group in groups]


def test_what_is_there_twice(seen):
    assert named(seen, seen.copies) == [{"laptop/[red]copy.jpg", "lotus/image_0002.jpg"}]
    (same_photo,) = [g for g in named(seen, seen.alike) if "lotus/image_0001.jpg" in g]
    assert {"laptop/smaller.jpg", "laptop/printed.jpg"} < same_photo
    # Copies alone are not a group of images that look alike.
    assert not [g for g in named(seen, seen.alike) if g == {"lotus/image_0002.jpg"}]
    splits = {seen.images[n].split for n in seen.copies[0]}
    assert seen.across(seen.copies) == (len(splits) > 1)


def test_of_many_images_some_are_drawn(sick, seen):
    some = examined(open_data(sick), sick, most=30)
    train = [found for found in some.images if found.split == "train"]
    numbers = [found.look.sample for found in train]
    assert len(numbers) == 30
    assert numbers == sorted(set(numbers))
    assert max(numbers) > 60
    assert {(found.name, found.look) for found in train} <= {
        (found.name, found.look) for found in seen.images
    }
    assert "30 drawn of 121 images" in some.partial
    assert seen.partial == ""


def test_what_was_bad_in_memory_is_broken():
    images = torch.randint(256, (30, 3, 8, 8), dtype=torch.uint8)
    images[7] = images[9]
    looks = look_at(ArraySource("some", images, bad={4: "empty"}), "looking")
    assert [look.sample for look in looks if look.broken] == [4]
    assert same([look.digest for look in looks]) == [[7, 9]]
    assert looks[0].width == 8


def test_copies_saved_again_are_near(data):
    """Of every fifth photo: as the comment beside APART says."""
    files = sorted((data / "caltech20").glob("*/*.jpg"))[::5]

    def hashed(image):
        pixels = torch.from_numpy(np.array(image.convert("RGB"))).permute(2, 0, 1)
        return int(difference_hash(pixels[None]))

    pairs = []
    for file in files:
        image = Image.open(file)
        buffer = io.BytesIO()
        image.save(buffer, "JPEG", quality=50)
        pairs.append((hashed(image), hashed(Image.open(buffer))))
    before, after = np.array(pairs).T
    assert (bits_apart(before, after) <= 3).mean() > 0.95
    assert (bits_apart(before, np.roll(after, 1)) <= 3).mean() < 0.01  # other photos are not


def test_near_groups_are_those_of_all_pairs():
    """Against the obvious way, on hashes with planted neighbours."""
    generator = np.random.default_rng(0)
    hashes = generator.integers(-(2**63), 2**63 - 1, size=400)
    for place in range(0, 200, 2):
        flips = generator.choice(64, size=generator.integers(0, 6), replace=False)
        hashes[place + 1] = hashes[place] ^ np.bitwise_or.reduce(
            np.left_shift(np.int64(1), flips.astype(np.int64)), initial=np.int64(0)
        )
    group = list(range(len(hashes)))
    for one in range(len(hashes)):
        for other in range(one):
            if bin((int(hashes[one]) ^ int(hashes[other])) & (2**64 - 1)).count("1") <= 3:
                old, new = group[one], group[other]
                group = [new if g == old else g for g in group]
    expected = {g: [n for n, own in enumerate(group) if own == g] for g in set(group)}
    assert sorted(near(hashes)) == sorted(g for g in expected.values() if len(g) > 1)
    assert 40 < len(near(hashes)) < 100


def test_a_crowd_takes_no_quadratic_time(monkeypatch):
    hashes = np.arange(2_000, dtype=np.int64) * 2_654_435_761 << 16  # one band is the same for all
    compared = []

    def counting(one, other):
        compared.append(len(one))
        return bits_apart(one, other)

    monkeypatch.setattr(duplicates_module, "bits_apart", counting)
    monkeypatch.setattr(duplicates_module, "CROWD", 10)
    near(hashes)
    assert 2_000 < sum(compared) <= 4 * 10 * 2_000  # all pairs would be two million


def test_versions(monkeypatch):
    found = {version.name: version for version in package_versions()}
    assert {"python", "torch", "torchvision", "lightning", "pillow"} <= found.keys()
    assert not [version for version in found.values() if version.wrong]
    monkeypatch.setattr(
        packages_module, "_installed", {"lightning": "2.6.2", "torch": "2.14.0"}.get
    )
    wrong = {version.name: version.wrong for version in package_versions()}
    assert "malware" in wrong["lightning"]
    assert wrong["torchvision"] == wrong["pillow"] == "not installed"
    assert wrong["torch"] == ""


def test_a_suggestion(sick, seen):
    source = open_data(sick).train
    looks = [found.look for found in seen.images if found.split == "train"]
    suggestion = suggested(source, looks, str(sick), weights="scratch")
    assert suggestion.method == "simclr-small"
    assert suggestion.size == 64
    assert suggestion.batch == 16
    assert 1 <= suggestion.epochs <= 1000
    assert 0 < suggestion.seconds <= NIGHT * 1.01
    assert 0 < suggestion.memory < 2**33
    assert shlex.split(suggestion.command)[:3] == ["counterpoint", "pretrain", str(sick)]


def test_a_suggested_folder_is_free(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert _free("some/My photos") == "runs/My-photos"
    (tmp_path / "runs" / "My-photos").mkdir(parents=True)
    (tmp_path / "runs" / "My-photos-2").mkdir()
    assert _free("some/My photos") == "runs/My-photos-3"


def test_what_pip_resolved_is_not_wrong(monkeypatch):
    """The newest torchvision asks for torch >= 2.14.0; 2.15.0 is that."""
    both = {"torch": "2.15.0", "torchvision": "0.29.2", "lightning": "2.6.6", "pillow": "12.0"}
    monkeypatch.setattr(packages_module, "_installed", both.get)
    for asked, wrong in (
        (["numpy", "torch (>=2.14.0)"], ""),
        (["torch==2.14.0"], "made for torch"),
    ):
        monkeypatch.setattr(packages_module.metadata, "requires", lambda _name, asked=asked: asked)
        found = {version.name: version.wrong for version in package_versions()}
        assert found["torchvision"].startswith(wrong)
        assert bool(found["torchvision"]) == bool(wrong)


def test_nothing_is_suggested_where_nothing_can_be_read(tmp_path):
    for number in range(20):
        (tmp_path / f"{number}.jpg").touch()
    source = open_data(tmp_path).train
    assert suggested(source, look_at(source, "looking"), "x") is None


def test_nothing_is_suggested_where_all_that_was_looked_at_is_broken(tmp_path, capsys):
    for number in range(12):
        Image.new("RGB", (40, 40), (number, 0, 0)).save(tmp_path / f"{number:02}.png")
    for number in range(3):
        (tmp_path / f"{number:02}.png").write_bytes(b"")
    main(["doctor", str(tmp_path), "--limit", "3", "--seconds", "0"])
    assert "no suggestion: too few readable images" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("gone/found.json", "json: there is no folder gone; create it first"),
        (".", "json: . is a folder; needs the name of a file"),
        ("s3://bucket/found.json", "json: got s3://bucket/found.json; needs the name of a file of"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_the_work(
    sick, place, why, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for words in (["doctor", str(sick)], ["plan", "--images", "1000"]):
        with pytest.raises(SystemExit) as stop:
            main([*words, "--json", place])
        assert why in str(stop.value)
        assert capsys.readouterr().out == ""


def test_the_command(sick, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    asked = ["--weights", "scratch", "--seconds", "0", "--json", str(tmp_path / "found.json")]
    main(["doctor", str(sick), *asked])
    said = capsys.readouterr().out
    assert max(len(line) for line in said.splitlines() if "counterpoint" not in line) <= 80
    assert "unreadable: 27 of 151" in said
    assert "and 7 more" in said
    assert "[red]copy.jpg" in said
    found = json.loads((tmp_path / "found.json").read_text())
    assert len(found["broken"]) == 27
    assert found["images"] == 151
    assert found["suggestion"]["command"] in said
    command = shlex.split(found["suggestion"]["command"])
    given = make_parser().parse_args(spelled(command[1:])).pretrain  # what it suggests can be run
    assert (given.data, given.method, given.size) == (str(sick), "simclr-small", 64)


def test_data_that_cannot_be_opened(tmp_path):
    with pytest.raises(SystemExit, match=r"counterpoint: data: no \.jpg"):
        main(["doctor", str(tmp_path)])


@pytest.mark.full
def test_caltech20_takes_less_than_20_seconds(data):
    """Of CPU time, with one thread: no less than the time on a machine that nobody else uses."""
    command = Path(sys.executable).with_name("counterpoint")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [command, "doctor", data / "caltech20", "--weights", "scratch", "--seconds", "0"],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "1,490" in done.stdout
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 20


def test_cifar10(cifar):
    seen = examined(cifar.head(2_000), Path("cifar10"))
    assert len(seen.images) == 6_000
    assert seen.formats() == {"in memory": 6_000}
    assert seen.copies == ()


@pytest.mark.parametrize("count", [18, 40])
def test_few_images_are_enough_to_measure_the_speed(count):
    """One batch a pass: the speed is taken over several passes."""
    images = torch.randint(256, (count, 3, 32, 32), dtype=torch.uint8)
    found = suggested(ArraySource("few", images), [], "few.npy")
    assert found is not None
    assert found.seconds > 0
