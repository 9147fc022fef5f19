"""The studies of the package compose, plan, and say what the paper's tables say."""

import re
from dataclasses import fields, replace
from pathlib import Path

import jaxtyping
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from counterpoint import catalogue
from counterpoint.framework import Draw, Encoded, Samples, contrast
from counterpoint.framework.batch_samples import blank_samples
from counterpoint.framework.world import ALONE
from counterpoint.methods import SEVEN, method_named
from counterpoint.parts.own import own_parts
from counterpoint.study import Flops, Images, ResultStore, Seconds, Trial, run_trial
from counterpoint.study.load import trials_of
from counterpoint.study.plan_table import plan_table
from counterpoint.study.shorten import shortened
from counterpoint.study.studies import STUDIES, as_released
from counterpoint.study.studies.family import SAME_STEP
from counterpoint.study.studies.scales import NARROW, part_json
from counterpoint.study.studies.table1 import RELEASED
from counterpoint.study.trial_fields import NEEDS
from counterpoint.study.trial_job import absent, job_of
from counterpoint.study.trial_plan import Planned, plan_trials
from counterpoint.training.cost import step_flops
from study.trials import tiny


def test_trials_are_values():
    trial = tiny(budget=Flops(1e12), swaps=(("extraction", "(k:k)"),), rates=(1e-3,))
    assert Trial.from_json(trial.to_json()) == trial
    assert len({trial, replace(trial)}) == 1
    assert trial.fingerprint == replace(trial, name="x", row="y", column="z").fingerprint
    changed = [
        replace(trial, seed=9),
        replace(trial, budget=Images(5)),
        replace(trial, swaps=()),
        replace(trial, encoder="small"),
        replace(trial, training=(("batch", 16),)),
        replace(trial, probes=("knn",)),
        replace(trial, parts=RELEASED),
    ]
    assert len({trial.fingerprint, *(one.fingerprint for one in changed)}) == len(changed) + 1


def test_a_typo_is_refused():
    with pytest.raises(ValueError, match="swaps has 'extractor'"):
        tiny(swaps=(("extractor", "(-1:-1)"),))
    with pytest.raises(ValueError, match="training has 'learning_rate'"):
        tiny(training=(("learning_rate", 1.0),))
    with pytest.raises(ValueError, match="there are table1, table2, table3, parts, family, yadim"):
        trials_of("table4", "small")


@pytest.mark.parametrize(
    ("field", "given", "needs"),
    [
        ("method", None, "give a str"),
        ("data", Path("cifar10"), "give a str"),
        ("budget", 45_000, r"give Images\(n\)"),
        ("seed", "1", "an int of 0 or more"),
        ("seed", True, "an int of 0 or more"),
        ("seed", -1, "an int of 0 or more"),
        ("kind", "pretraining", "'supervised' or 'random'"),
        ("encoder", NARROW, "an encoder's JSON"),
        ("swaps", (("loss", NARROW),), "pairs of str"),
        ("swaps", {"loss": "{}"}, "pairs of str"),
        ("training", {"lr": 0.1}, "study.pairs makes them"),
        ("training", ("lr", 0.1), "study.pairs makes them"),
        ("rates", [1e-3], "in a tuple"),
        ("rates", (1e-3, 0.0), "above 0"),
        ("rates", (float("nan"),), "above 0"),
        ("parts", Path("own.py"), "a Python file"),
        ("size", 32.0, "an int of 1 or more"),
        ("limit", 0, "an int of 1 or more"),
        ("labelled", "all", "an int of 1 or more"),
        ("probes", "knn", "in a tuple"),
        ("criteria", ["rankme"], "in a tuple"),
        ("untested", "yes", "True or False"),
        ("row", 7, "give a str"),
    ],
)
def test_a_field_of_another_kind_is_refused_where_it_is_given(monkeypatch, field, given, needs):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # kinds that do not fit
    said = rf"^study: {field} of a trial is {re.escape(repr(given))}; .*{needs}"
    with pytest.raises(ValueError, match=said):
        tiny(**{field: given})


def test_every_field_of_a_trial_says_what_it_needs():
    assert [place.name for place in fields(Trial)] == list(NEEDS)


@pytest.mark.parametrize(
    ("name", "given", "needs"),
    [
        ("epochs", "10", "an int, more than 0"),
        ("epochs", -1, "an int, more than 0"),
        ("batch", True, "an int, more than 0"),
        ("lr", "0.1", "a number, more than 0"),
        ("optimiser", "lamb", "one of 'lars', 'sgd', 'adam', 'adamw'"),
        ("lanes", 2.5, "an int or None"),
        ("compile", 1, "True or False"),
    ],
)
def test_a_training_setting_of_another_kind_is_refused_where_it_is_given(name, given, needs):
    said = rf"^study: {name} in training of a trial is {given!r}; needs {needs}$"
    with pytest.raises(ValueError, match=said):
        tiny(training=((name, given),))


@pytest.mark.parametrize(
    ("kind", "given"),
    [(Images, "5"), (Images, 5e4), (Images, True), (Flops, None), (Seconds, float("inf"))],
)
def test_a_budget_of_another_kind_is_refused(monkeypatch, kind, given):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # kinds that do not fit
    got = re.escape(f"got the budget {kind.__name__}({given!r}), needs a")
    said = f"{got}n? (int|finite number), more than 0"
    with pytest.raises(ValueError, match=said):
        kind(given)


def test_the_first_seeds_of_a_cell_are_its_own_in_the_order_of_the_study():
    """Whatever the seeds are called, and whether each has a name of its own."""
    seeds = {"a": (3, 1, 2), "b": (7, 8), "c": (0,)}
    some = [tiny(n, row=row, name=f"{row} {n}") for row, own in seeds.items() for n in own]
    mixed = [some[place] for place in (3, 0, 5, 1, 4, 2)]  # b7 a3 c0 a1 b8 a2
    for kept, count in (("b7 a3 c0", 1), ("b7 a3 c0 a1 b8", 2), ("b7 a3 c0 a1 b8 a2", 9)):
        assert " ".join(f"{t.row}{t.seed}" for t in shortened(mixed, seeds=count)) == kept
    assert shortened(mixed) == mixed


@pytest.mark.parametrize("name", STUDIES)
def test_the_first_seeds_of_our_studies_are_the_lowest(name):
    """A trial that stands in two columns stays in both, and is one seed."""
    trials = trials_of(name, "small")
    for count in (1, 2):
        assert shortened(trials, seeds=count) == [t for t in trials if t.seed < count]


def test_a_study_of_no_trials_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"study: got no trials; needs at least one"):
        shortened([])
    with pytest.raises(ValueError, match=r"study: seeds is 0; it needs to be 1 or more"):
        shortened([tiny()], seeds=0)
    with pytest.raises(ValueError, match=r"study: a plan of no trials; needs at least one"):
        plan_table([], speed=1e12, price=None)
    own = tmp_path / "own.py"
    for gives, said in (
        ("return []", "gave no trials"),
        ("yield from ()", "gave no trials"),
        ("pass", "gave NoneType"),
        ("return 3", "gave int"),
        ("return ['simclr']", "gave str"),
    ):
        own.write_text(f"def study():\n    {gives}\n")
        with pytest.raises(ValueError, match=rf"study\(\) of .*own.py {said}.*list of Trial"):
            trials_of(str(own), "small")


def test_a_plan_has_one_line_for_a_cell_whose_seeds_are_apart():
    trials = [tiny(seed, row=row) for seed in (1, 2) for row in "ab"]
    planned = [Planned(trial=t, steps=3, flops=1e15, seconds=60.0, gigabytes=1.0) for t in trials]
    table = plan_table(planned, speed=1e12, price=None)
    row, _, seeds, _, flops, *_ = (list(column.cells) for column in table.columns)
    assert (row, seeds, flops) == (["a", "b", "all"], ["2", "2", "4"], ["2", "2", "4"])


@pytest.mark.parametrize("name", STUDIES)
def test_every_small_trial_takes_a_step(name):
    """Each composition builds, and a loss reaches the weights, on a few images."""
    once = {t.method + str(t.encoder) + str(t.swaps): t for t in trials_of(name, "small")}
    images = torch.randint(256, (4, 3, 32, 32), dtype=torch.uint8)
    index = torch.arange(4)
    for trial in once.values():
        torch.manual_seed(0)
        job = job_of(replace(trial, kind="pretrain"), absent(trial))
        model = job.method.build(image=(3, 32, 32))
        samples = blank_samples(4, labels=model.needs_labels)
        loss = contrast(model, model.views(images, Draw(0, 0, index)), samples)
        loss.backward()
        assert loss.isfinite(), trial.key
        assert job.training.seed == trial.seed


def test_the_studies_have_the_cells_of_the_paper():
    one, two, three = (trials_of(f"table{n}", "small") for n in (1, 2, 3))
    assert len({t.column for t in one}) == 5
    assert {t.row for t in one} == {"random weights", "AMDIM", "CPC", "YADIM", "AMDIM as released"}
    assert len({(t.row, t.column) for t in two}) == 8
    rows = {t.row for t in three}
    assert len(rows) == 9
    assert {"random weights", "supervised"} <= rows
    assert {p for t in trials_of("parts", "small") for p, _ in t.swaps} == {
        "views",
        "encoder",
        "extraction",
        "similarity",
        "loss",
    }
    assert {t.budget for t in one} == {Images(22_500)}
    assert {t.parts for t in one} == {None, RELEASED}, "a path of one machine"


def test_the_family_has_every_method_at_equal_images_and_at_equal_operations():
    trials = trials_of("family", "small")
    assert {t.row for t in trials} == {"random weights", *catalogue.METHODS}
    assert {t.column for t in trials} == {"equal images", "equal operations"}
    simclr = [t for t in trials if t.row == "simclr"]
    steps = [planned.steps for planned in plan_trials(simclr, speed=1e10)]
    assert steps == [176] * len(simclr), "operations are those of SimCLR"


def test_a_trial_of_the_family_is_in_both_columns_where_operations_pay_for_the_same_steps():
    named = {
        name: method_named(f"{name}-small", size=32, encoder=part_json(NARROW))
        for name in SAME_STEP
    }
    step = {name: step_flops(method, (3, 32, 32), 128) for name, method in named.items()}
    assert all(abs(flops / step["simclr"] - 1) < 0.003 for flops in step.values()), step
    trials = [t for t in trials_of("family", "small") if t.row == "dcl"]
    assert len(trials) == 2 * len({t.key for t in trials}), "one folder, so that it is run once"


def test_a_paper_scale_study_plans_without_data(monkeypatch):
    monkeypatch.delenv("COUNTERPOINT_DATA", raising=False)
    some = [t for t in trials_of("table2", "paper") if t.seed == 0][:2]
    planned = plan_trials(some, speed=1e13)
    assert all(p.flops > 1e18 for p in planned)
    assert all(p.seconds == pytest.approx(p.flops / 1e13) for p in planned)
    assert all(p.gigabytes > 1 for p in planned)
    assert planned[0].steps == 300 * 45_000 // 200


@pytest.mark.parametrize("name", [n for n in SEVEN if n != "moco"])
def test_operations_of_a_step_are_counted_exactly(name):
    """Against a real step; MoCo's first step has an empty queue, ours counts a full one."""
    method = method_named(f"{name}-small", size=32)
    torch.manual_seed(0)
    model, index = method.build(image=(3, 32, 32)), torch.arange(8)
    images = torch.randint(256, (8, 3, 32, 32), dtype=torch.uint8)
    views = model.views(images, Draw(0, 0, index))
    with FlopCounterMode(display=False) as counter:
        contrast(model, views, index).backward()
    assert step_flops(method, (3, 32, 32), 8) == counter.get_total_flops()


def test_amdim_as_released_pairs_an_anchor_with_other_images():
    """Maps whose every number is the image's: where does a candidate really come from?"""
    part = own_parts(Path(as_released.__file__))["AsReleased"]()
    widths = (128, 256, 512)
    images = torch.arange(4.0)
    maps = tuple(
        images[:, None, None, None].expand(4, c, s, s)
        for c, s in zip(widths, (4, 2, 1), strict=True)
    )
    built = part.build((tuple((c, 1, 1) for c in widths),) * 2)
    found = built(Encoded((maps, maps), (maps, maps)), Samples(torch.arange(4)), ALONE)
    first, same = found[0], found[4]
    told = {
        who: set(first.candidates[first.candidate_identity == who][:, :128].flatten().tolist())
        for who in range(4)
    }
    assert told == {0: {0.0, 1.0}, 1: {2.0, 3.0}, 2: {0.0, 1.0}, 3: {2.0, 3.0}}
    right = same.candidates[:, 0] == same.candidate_identity  # (1:1) has equal channels
    assert bool(right.all())


def test_amdim_as_released_trains(data, tmp_path):
    wide = '{"part":"NarrowResNet","widths":[8,16,32],"blocks":[1,1,1]}'
    trial = tiny(
        method="amdim-small",
        encoder=wide,
        swaps=(("extraction", '{"part":"AsReleased"}'),),
        parts=RELEASED,
    )
    assert run_trial(trial, ResultStore(str(tmp_path))).state == "done"
