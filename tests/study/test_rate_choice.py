"""A trial that chooses its learning rate: by the right images, once, and never a bad one."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from counterpoint.data import Batches
from counterpoint.framework import Draw
from counterpoint.framework.model import views_of_batch
from counterpoint.study import (
    Images,
    ResultStore,
    Seconds,
    learning_rate,
    run_trial,
    trial_run,
)
from counterpoint.study.trial_job import job_of, opened
from counterpoint.training.callbacks.guard import NonFiniteError
from study.trials import tiny


def test_the_rate_is_chosen_on_held_out_images_and_its_cost_is_counted(data, tmp_path):
    asked = tiny(budget=Images(32 * 20), rates=(1e-7, 3e-3))
    found = run_trial(asked, ResultStore(str(tmp_path)))
    assert found.figures["lr"] == 3e-3
    assert found.cost.choosing_images == 2 * 2 * 32
    assert found.cost.images == (20 + 4) * 32


def test_a_classifier_is_judged_by_the_labels_of_held_out_images(data):
    splits = opened(tiny())
    job = job_of(tiny(kind="supervised"), splits)
    torch.manual_seed(0)
    model = job.method.build(image=job.image)
    with torch.no_grad():
        model.extraction.classes.normal_()
    found = learning_rate.held_out_loss(model, splits.validation, job.training)
    weight, bias = model.extraction.classes[:, :-1], model.extraction.classes[:, -1]
    losses = []
    held_out = Batches(splits.validation, batch=32, seed=0, cut=model.views.cut)
    for given in held_out:
        views = views_of_batch(model.views, given.images, Draw(0, 0, given.index))
        with torch.no_grad():
            vectors = torch.cat(
                [maps[-1].mean(dim=(2, 3)) for maps in model.train().encoder(views)]
            )
        labels = splits.validation.labels[given.index].repeat(len(views))
        losses.append(F.cross_entropy(F.linear(vectors, weight, bias), labels))
    wanted = torch.stack(losses[: learning_rate.MOST]).mean()
    assert found == pytest.approx(wanted.item(), rel=1e-5)


def test_a_rate_at_which_training_diverges_never_wins(data, tmp_path):
    asked = tiny(budget=Images(32 * 40), rates=(1e30, 3e-3))
    assert run_trial(asked, ResultStore(str(tmp_path / "one"))).figures["lr"] == 3e-3
    with pytest.raises(NonFiniteError, match=r"diverges at every rate of 1e\+30, 1e\+31"):
        run_trial(replace(asked, rates=(1e30, 1e31)), ResultStore(str(tmp_path / "all")))


def test_a_rate_that_was_tried_is_not_trained_again(data, tmp_path, monkeypatch):
    asked = tiny(budget=Images(32 * 20), rates=(1e-3, 2e-3, 3e-3))
    trained = []

    def counting(job, **settings):
        trained.append(job.training.lr)
        if trained == [1e-3, 2e-3]:
            raise KeyboardInterrupt
        return pretrain(job, **settings)

    pretrain = learning_rate.pretrain
    monkeypatch.setattr(learning_rate, "pretrain", counting)
    store = ResultStore(str(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        run_trial(asked, store)
    run_trial(asked, store)
    assert trained == [1e-3, 2e-3, 2e-3, 3e-3]


def test_steps_that_were_timed_are_not_timed_again(data, tmp_path, monkeypatch):
    """After a stop the rates that were left had other steps than those that were tried."""
    asked = tiny(budget=Seconds(1.0), rates=(1e-3, 2e-3, 3e-3))
    took, trained = iter([0.0625, 0.01]), []

    def counting(job, **settings):
        trained.append((job.training.lr, job.steps))
        if len(trained) == 2:
            raise KeyboardInterrupt
        return pretrain(job, **settings)

    pretrain = learning_rate.pretrain
    monkeypatch.setattr(trial_run, "step_seconds", lambda *_, **__: next(took))
    monkeypatch.setattr(learning_rate, "pretrain", counting)
    store = ResultStore(str(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        run_trial(asked, store)
    found = run_trial(asked, store)
    assert trained == [(1e-3, 2), (2e-3, 2), (2e-3, 2), (3e-3, 2)]
    assert found.cost.steps == 16
    assert found.cost.images == (16 + 3 * 2) * 32


def test_what_cannot_choose_is_refused_before_anything_is_trained(data, tmp_path, monkeypatch):
    monkeypatch.setattr(learning_rate, "pretrain", None)
    job = job_of(tiny(), opened(tiny()))
    held_out = opened(tiny()).validation
    byol = job_of(tiny(method="byol-small"), opened(tiny()))
    with pytest.raises(ValueError, match="cannot choose a learning rate"):
        learning_rate.choose_rate(byol, held_out, (1e-3,), folder=tmp_path)
    with pytest.raises(ValueError, match="needs some that are held out"):
        learning_rate.choose_rate(job, held_out.first(0), (1e-3,), folder=tmp_path)
