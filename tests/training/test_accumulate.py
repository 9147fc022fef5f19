"""Accumulation: one update of several parts, as long and as large as was asked for."""

import csv
import io
import json

import pytest
import torch
from lightning.pytorch.callbacks import Callback
from rich.console import Console

from counterpoint import ArraySource, Training, pretrain
from counterpoint.framework import Draw, contrast
from counterpoint.parts.encoders import Headed, MomentumEncoder
from counterpoint.parts.losses import Regression
from counterpoint.parts.similarity import Cosine
from counterpoint.training import pretrainer
from counterpoint.training.summary import batch_words, candidates
from toy import TinyEncoder, tiny_method

# BYOL without its batch norms: no statistics and no negatives join the images of a batch.
BYOL = tiny_method(
    encoder=MomentumEncoder(of=Headed(of=TinyEncoder(), out=5, hidden=7), decay=0.9),
    similarity=Cosine(tau=1.0),
    loss=Regression(),
)
SETTINGS = {"batch": 16, "epochs": 2, "optimiser": "sgd", "lr": 1.0, "precision": "64-true"}


def source(count=70):
    generator = torch.Generator().manual_seed(0)
    images = torch.randint(256, (count, 3, 8, 8), generator=generator, dtype=torch.uint8)
    return ArraySource("noise", images)


def trained(method, out, **asked):
    settings = {key: asked.pop(key) for key in list(asked) if key in {"accumulate", "batch"}}
    return pretrain(
        method,
        source(),
        out=out,
        training=Training(**{**SETTINGS, **settings}),
        console=Console(file=io.StringIO()),
        health=False,
        **asked,
    )


def rows(folder):
    with (folder / "metrics.csv").open() as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def weights(run):
    return torch.cat([p.detach().flatten() for p in run.model.parameters()])


def test_parts_make_the_update_of_one_large_batch_where_no_image_sees_another(tmp_path):
    whole, parts = (trained(BYOL, tmp_path / str(n), accumulate=n) for n in (1, 4))
    begun = trained(BYOL, tmp_path / "begun", steps=1)
    assert (weights(whole) - weights(begun)).norm() > 1e-3  # it moved
    torch.testing.assert_close(weights(parts), weights(whole), rtol=0, atol=1e-12)
    one, four = rows(tmp_path / "1"), rows(tmp_path / "4")
    assert [row["step"] for row in one] == [row["step"] for row in four] == list(range(1, 9))
    for ours, theirs in zip(four, one, strict=True):
        assert ours["loss"] == pytest.approx(theirs["loss"], abs=1e-12)
        assert ours["lr"] == theirs["lr"]


def test_as_many_epochs_as_asked_for_and_every_image_once(tmp_path):
    run = trained(tiny_method(), tmp_path, accumulate=4)
    record = json.loads((run.folder / "run.json").read_text())
    assert record["steps"] == 8  # two epochs of 70 images: 4 updates of 16 each
    receipts = map(json.loads, (run.folder / "receipts.jsonl").read_text().splitlines())
    assert [(found["epoch"], found["right"]) for found in receipts] == [(0, True), (1, True)]


def test_with_negatives_the_loss_is_the_mean_of_the_parts(tmp_path):
    method = tiny_method()
    run = trained(method, tmp_path, accumulate=2, steps=1)
    torch.manual_seed(0)
    model = method.build(image=(3, 8, 8)).double()
    losses = []
    for images, index, _ in list(pretrainer.Batches(source(), batch=8, seed=0))[:2]:
        views = tuple(v.double() for v in model.views(images, Draw(0, 0, index)))
        losses.append(float(contrast(model, views, index).detach()))
    found = rows(run.folder)[0]["loss"]
    assert found == pytest.approx(sum(losses) / 2, abs=1e-7)  # these views are fp32's


class CutOff(Callback):
    """Stop a run in the middle of an update."""

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
        if batch_idx == 7:  # 3 updates and 1 part of two are done
            raise RuntimeError("cut off")


def test_a_run_that_is_cut_off_in_the_middle_of_an_update_goes_on_to_the_bit(tmp_path):
    method = tiny_method(encoder=MomentumEncoder(of=TinyEncoder(), decay=0.9))
    peace = trained(method, tmp_path / "peace", accumulate=2)
    with pytest.raises(RuntimeError, match="cut off"):
        trained(method, tmp_path / "cut", accumulate=2, save_seconds=0, callbacks=[CutOff()])
    again = trained(method, tmp_path / "cut", accumulate=2, resume="auto")
    assert torch.equal(weights(again), weights(peace))
    assert (tmp_path / "cut/metrics.csv").read_text() == (
        tmp_path / "peace/metrics.csv"
    ).read_text()


def test_every_part_has_random_numbers_of_its_own(tmp_path, monkeypatch):
    given = []
    seed_of = pretrainer.step_seed
    monkeypatch.setattr(
        pretrainer, "step_seed", lambda *asked: given.append(asked) or seed_of(*asked)
    )
    trained(BYOL, tmp_path, accumulate=4, steps=3)
    assert len(set(given)) == len(given) == 12


def test_the_table_says_what_parts_do_not_see():
    training = Training(batch=64, accumulate=4)
    model = tiny_method().build(image=(3, 8, 8))
    said = "32 per anchor: 2 of each image in a part of 16"
    assert candidates(model, training, ranks=1) == said
    assert "negatives and batch" in batch_words(training, needs_negatives=True)
    assert "negatives" not in batch_words(training, needs_negatives=False)


@pytest.mark.parametrize(
    ("asked", "write"),
    [
        ({"accumulate_grad_batches": 4}, r"training_of\(method, accumulate=4\)"),
        ({"precision": "bf16-mixed"}, r"training_of\(method, precision="),
        ({"max_epochs": 3}, "epochs="),
    ],
)
def test_what_training_says_is_not_said_to_the_trainer(tmp_path, asked, write):
    with pytest.raises(ValueError, match=f"{next(iter(asked))} is not given.*{write}"):
        trained(BYOL, tmp_path, **asked)
