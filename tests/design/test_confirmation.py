"""The trials of a confirmation: fresh seeds, both budgets, test images once."""

from dataclasses import replace

from counterpoint.design.confirmation import (
    confirmation_trials,
    contenders,
    fresh_seeds,
    images_seen,
)
from counterpoint.design.rivals import best_of_heat, heat_trials, with_rates
from counterpoint.study import Flops, Images, Outcome, Trial
from counterpoint.training.cost import step_flops
from design.candidates import BEST, CROSSED, MOCO, SIMCLR, TRIPLET

PATTERN = Trial(
    method="simclr-small",
    data="photos",
    budget=Flops(1e9),
    criteria=("rankme",),
    probes=(),
    untested=True,
    labelled=100,
    limit=240,
    size=32,
)


def trials(named, seeds=(1, 2)):
    return confirmation_trials(named, PATTERN, full=4e12, images=960, seeds=seeds, data="photos")


def test_every_contender_has_every_seed_by_operations_and_by_images():
    named = contenders([BEST, CROSSED], [SIMCLR, MOCO], TRIPLET)
    made = trials(named)
    assert len(made) == len({one.fingerprint for one in made}) == 5 * 2 * 2
    assert {one.budget for one in made} == {Flops(4e12), Images(960)}
    assert {one.column for one in made} == {"photos, equal operations", "photos, equal images"}
    rows = {one.row: one for one in made}
    assert list(rows) == [
        "found 1",
        "found 2",
        "simclr-small",
        "moco-small",
        "best of a random search",
    ]
    assert rows["found 1"].method == BEST.method.to_json()
    assert rows["moco-small"].training == MOCO.training


def test_probes_read_test_images_and_all_labels_and_the_rest_is_the_search():
    (one, *_) = trials(contenders([BEST], [SIMCLR]))
    assert (one.probes, one.untested, one.labelled) == (("knn", "linear"), False, None)
    assert one.criteria == ()
    assert (one.data, one.limit, one.size) == ("photos", 240, 32)


def test_what_comes_up_twice_is_run_once():
    named = contenders([BEST, CROSSED], [SIMCLR], CROSSED)
    assert [one.name for one in named] == ["found 1", "found 2", "simclr-small"]
    again = replace(BEST, parents=(), change="found elsewhere")  # the same method and training
    assert [one.name for one in contenders([BEST], [SIMCLR], again)] == ["found 1", "simclr-small"]


def test_seeds_are_not_those_of_the_search():
    assert fresh_seeds({0}) == [1, 2, 3, 4, 5]
    assert fresh_seeds({3}, 4) == [0, 1, 2, 4]


def test_equal_images_are_those_of_whole_steps():
    image, batch = (3, 32, 32), SIMCLR.settings.batch
    step = step_flops(SIMCLR.method, image, batch)
    assert images_seen(SIMCLR, Flops(2.5 * step), image) == 2 * batch


def test_rivals_are_chosen_by_labels_on_validation_images():
    heats = heat_trials([SIMCLR, MOCO], PATTERN, full=4e12, seed=9)
    assert [one.row for one in heats.values()] == ["simclr-small", "moco-small"]
    assert all(one.untested and one.probes == ("linear",) for one in heats.values())
    outcomes = ended(heats, (0.4, 0.5))
    assert best_of_heat([SIMCLR, MOCO], outcomes, 1) == [MOCO]
    assert best_of_heat([SIMCLR, MOCO], outcomes, 5) == [MOCO, SIMCLR]


def test_a_tuned_rival_comes_once_with_its_best_rate():
    tried = with_rates([SIMCLR, MOCO], [0.005, 0.01])
    assert len(tried) == 6
    heats = heat_trials(tried, PATTERN, full=4e12, seed=9)
    found = best_of_heat(tried, ended(heats, (0.4, 0.6, 0.3, 0.5, 0.1, 0.2)), 5)
    assert [(one.change, one.settings.lr) for one in found] == [
        ("simclr-small, lr 0.005", 0.005),
        ("moco-small", MOCO.settings.lr),
    ]


def ended(heats, linear):
    return {
        name: Outcome(trial=one, fingerprint=one.fingerprint, figures={"linear validation": good})
        for (name, one), good in zip(heats.items(), linear, strict=True)
    }
