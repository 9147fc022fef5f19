"""A folder of checkpoints: found, kept, replaced, locked, and used by Lightning."""

from pathlib import Path

import lightning as L
import pytest
import torch
from lightning.fabric.plugins import TorchCheckpointIO
from safetensors.torch import load_file

from counterpoint import ArraySource, Training
from counterpoint.methods import moco
from counterpoint.parts.encoders import NarrowResNet
from counterpoint.training.checkpoints import CheckpointError, Checkpoints, problem
from counterpoint.training.checkpoints.io import SafeCheckpointIO
from counterpoint.training.checkpoints.validity import MOST
from counterpoint.training.checkpoints.writing import only_writer
from counterpoint.training.pretrainer import Pretrainer
from training.states import FILES, same, state_of


def names(place):
    return sorted(path.name for path in place.folder.iterdir() if path.name != ".lock")


def test_a_checkpoint_comes_back(place, capsys):
    assert place.newest() == place.folder / "step-00000120"
    assert same(place.load(place.newest()), state_of(120))
    assert capsys.readouterr().err == ""
    assert names(place) == ["step-00000118", "step-00000120"]
    path = place.folder / "step-00000120"
    assert sorted(file.name for file in path.iterdir()) == FILES
    assert path.stat().st_mode & 0o777 == 0o700
    tensors = load_file(path / "state.safetensors")
    assert torch.equal(tensors["state_dict.weight"], state_of(120)["state_dict"]["weight"])


def test_there_is_nothing_to_go_on_from(tmp_path, capsys):
    place = Checkpoints(tmp_path / "none")
    assert place.newest() is None
    place.save(1, state_of(1))
    (tmp_path / "none/step-00000001/state.json").unlink()
    assert place.newest() is None
    assert "no other checkpoint is intact" in capsys.readouterr().err
    with pytest.raises(CheckpointError, match="ENOENT"):
        place.load(tmp_path / "none/step-00000009")


def test_the_newest_few_are_kept(tmp_path):
    place = Checkpoints(tmp_path, keep=3)
    for step in (5, 10, 15, 20, 25):
        place.save(step, state_of(step))
    assert names(place) == ["step-00000015", "step-00000020", "step-00000025"]
    for keep in (1, 0, -1):
        with pytest.raises(ValueError, match="at least 2"):
            Checkpoints(tmp_path, keep=keep)


def test_what_was_just_saved_stays_also_when_it_is_not_the_newest(place):
    place.save(100, state_of(100))
    place.save(110, state_of(110))
    place.save(112, state_of(112))
    assert names(place) == [f"step-00000{step}" for step in (110, 112, 118, 120)]
    assert same(place.load(place.folder / "step-00000112"), state_of(112))


def test_damaged_ones_do_not_count_and_newer_ones_stay(place):
    (place.folder / "step-00000120/state.json").unlink()
    place.save(110, state_of(110))
    assert names(place) == ["step-00000110", "step-00000118", "step-00000120"]
    place.save(122, state_of(122))
    assert names(place) == ["step-00000118", "step-00000120", "step-00000122"]
    place.save(124, state_of(124))
    assert names(place) == ["step-00000122", "step-00000124"]


def test_a_step_that_is_there_is_replaced(place):
    place.save(120, state_of(7))
    assert same(place.load(place.newest()), state_of(7))
    (place.newest() / "state.json").write_text("torn")
    place.save(120, state_of(8))
    assert same(place.load(place.newest()), state_of(8))
    assert names(place) == ["step-00000118", "step-00000120"]


def test_leftovers_are_removed_and_strangers_are_not(place):
    for name in (".step-00000121.0123456789abcdef.new", ".step-00000001.0123456789abcdef.gone"):
        (place.folder / name).mkdir()
        (place.folder / name / "state.json").write_text("half")
    (place.folder / "notes.txt").write_text("mine")
    (place.folder / "step-7").mkdir()
    place.save(122, state_of(122))
    assert names(place) == ["notes.txt", "step-00000120", "step-00000122", "step-7"]


def test_two_writers_are_one_too_many(place):
    with (
        only_writer(place.folder),
        pytest.raises(CheckpointError, match="another process is writing"),
    ):
        place.save(122, state_of(122))
    assert place.newest().name == "step-00000120"


def test_symlinks_are_not_followed(place, tmp_path, monkeypatch):
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "state.json").write_text("precious")
    (place.folder / "step-00000122").symlink_to(victim)
    place.save(122, state_of(122))
    assert not (place.folder / "step-00000122").is_symlink()
    (place.folder / "step-00000999").symlink_to(place.folder / "step-00000122")
    assert "ENOTDIR" in problem(place.folder / "step-00000999")
    monkeypatch.setattr("secrets.token_hex", lambda _: "0" * 16)
    (place.folder / f".step-00000124.{'0' * 16}.new").symlink_to(victim)
    monkeypatch.setattr("counterpoint.training.checkpoints.folder.tidy", lambda _: None)
    with pytest.raises(CheckpointError, match="EEXIST"):
        place.save(124, state_of(124))
    (place.folder / ".lock").unlink()
    (place.folder / ".lock").symlink_to(victim / "state.json")
    with pytest.raises(CheckpointError, match="ELOOP"):
        place.save(126, state_of(126))
    assert [file.read_text() for file in victim.iterdir()] == ["precious"]


def test_what_is_too_large_is_refused_before_it_is_written(place, monkeypatch):
    monkeypatch.setitem(MOST, "state.json", 1000)
    monkeypatch.setattr("counterpoint.training.checkpoints.tensors.HEADER", 1000)
    with pytest.raises(CheckpointError, match="put long lists of numbers into tensors"):
        place.save(122, {"history": [0.125] * 200})
    with pytest.raises(CheckpointError, match="join small tensors"):
        place.save(122, {"w": [torch.empty(0)] * 20})
    with pytest.raises(TypeError, match="hook is a function"):
        place.save(122, {"hook": print_nothing})
    with pytest.raises(ValueError, match="step is -1"):
        place.save(-1, {})
    assert names(place) == ["step-00000118", "step-00000120"]


def print_nothing():
    pass


def trained(*, steps, plugin, resume=None):
    """Train to a step and give the trainer."""
    torch.manual_seed(0)
    model = moco(NarrowResNet(widths=(8, 16), blocks=(1, 1))).build(image=(3, 32, 32))
    generator = torch.Generator().manual_seed(0)
    images = torch.randint(256, (64, 3, 32, 32), generator=generator, dtype=torch.uint8)
    module = Pretrainer(model, ArraySource("noise", images), Training(epochs=2, batch=16), steps=8)
    trainer = L.Trainer(
        max_steps=steps,
        accelerator="cpu",
        logger=False,
        plugins=[plugin],
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(module, ckpt_path=resume)
    return trainer


def test_a_trainer_saves_and_resumes_as_with_lightnings_own(tmp_path):
    """The same trainer saved by both, resumed from both: equal bit for bit after two more steps."""
    trainer = trained(steps=4, plugin=SafeCheckpointIO())
    trainer.save_checkpoint(tmp_path / "ours/step-00000004")
    trainer.strategy.checkpoint_io = TorchCheckpointIO()
    trainer.save_checkpoint(tmp_path / "theirs.ckpt")
    places = {
        tmp_path / "ours/step-00000004": SafeCheckpointIO(),
        tmp_path / "theirs.ckpt": TorchCheckpointIO(),
    }
    after = [trained(steps=6, plugin=io, resume=path) for path, io in places.items()]
    ours, theirs = (one._checkpoint_connector.dump_checkpoint() for one in after)
    assert ours["global_step"] == 6
    for part in ("state_dict", "optimizer_states", "lr_schedulers", "loops"):
        assert same(ours[part], theirs[part]), part


def test_lightning_removes_only_checkpoints(place):
    plugin = SafeCheckpointIO()
    plugin.remove_checkpoint(place.folder / "step-00000118")
    plugin.remove_checkpoint(place.folder / "step-00000118")
    assert names(place) == ["step-00000120"]
    for path in (place.folder, place.folder / "last.ckpt", Path("/")):
        with pytest.raises(CheckpointError, match="a name like step-00000120"):
            plugin.remove_checkpoint(path)
    with pytest.raises(TypeError, match="storage_options"):
        plugin.save_checkpoint({}, place.folder / "step-00000122", storage_options={})
