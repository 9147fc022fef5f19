"""A confirmation in the folder of a search: it runs once, resumes, and changes no rival."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from counterpoint.design import confirm_run
from counterpoint.design.choices import CHOICES
from counterpoint.design.confirm_run import (
    HEAT_SEED,
    ConfirmRequest,
    confirm,
    read_confirmation,
)
from counterpoint.design.confirmation_plan import read_plan
from counterpoint.design.search_best import new_methods
from counterpoint.design.search_files import SETTINGS, read_design, read_settings, write_round
from counterpoint.failures import RunFailure
from counterpoint.methods import RECIPES
from counterpoint.study import Flops, Images
from design.confirmations import outcome
from design.searches import pretend_ground, searched, written

ASKED = ConfirmRequest(top=2, seeds=2, shipped=2)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A search and a random one, as they are on a disk, and images."""
    place = tmp_path_factory.mktemp("searches")
    images = np.random.default_rng(0).integers(256, size=(400, 32, 32, 3), dtype=np.uint8)
    np.savez(place / "photos.npz", images=images, labels=np.arange(400) % 4)
    for strategy in ("evolution", "random"):
        found = searched(
            rounds=1, size=27, data=str(place / "photos.npz"), strategy=strategy, full=9e11
        )
        written(found, place / strategy)
    return place


class Scored:
    """A runner whose figures follow from the row; it keeps what it ran."""

    def __init__(self, most=10**9):
        self.ran, self.most = [], most

    def images(self, trial):
        return 9600

    def __call__(self, trials, store):
        for trial in trials:
            if store.find(trial) is not None:
                continue
            if len(self.ran) == self.most:
                raise KeyboardInterrupt
            self.ran.append(trial)
            made = outcome(trial.row, trial.seed, linear=len(trial.row) / 60, knn=0.3)
            figures = {"linear validation": made.figures["linear"]} | (
                {} if trial.untested else dict(made.figures)
            )
            right = {} if trial.untested else made.right
            kept = replace(
                made,
                trial=trial,
                fingerprint=trial.fingerprint,
                figures=figures,
                right=right,
                cost=replace(made.cost, images=self.images(trial)),
            )
            store.keep(kept)
            yield kept


@pytest.fixture
def out(folders, tmp_path, monkeypatch):
    pretend_ground(monkeypatch)
    shutil.copytree(folders / "evolution", tmp_path / "design")
    return tmp_path / "design"


def test_rivals_are_the_best_of_a_heat_and_everything_has_fresh_seeds(out, folders):
    run = Scored()
    table = confirm(out, ConfirmRequest(top=2, seeds=2, shipped=2, random=folders / "random"), run)
    heats = [one for one in run.ran if one.column == "heat"]
    known = [one.change for one in read_design(out).candidates.values() if not one.parents]
    assert [one.row for one in heats] == known
    rest = [one for one in run.ran if one.column != "heat"]
    rows = list(dict.fromkeys(one.row for one in rest))
    longest = sorted(known, key=lambda name: -len(name))[:2]
    assert rows == ["found 1", "found 2", *longest, "best of a random search"]
    assert len(rest) == 5 * 2 * 2
    assert {one.seed for one in rest} == {1, 2}
    assert {one.seed for one in heats} == {HEAT_SEED}
    assert len(table) == 2 * 3 * 2 * 2
    images = {one.budget for one in rest if isinstance(one.budget, Images)}
    assert len(images) == 1


def test_it_goes_on_where_it_was_stopped(out):
    whole, halves = Scored(), Scored(most=9)
    with pytest.raises(KeyboardInterrupt):
        confirm(out, ASKED, halves)
    rest = Scored()
    table = confirm(out, ASKED, rest)
    assert confirm(out, ASKED, whole) == table
    assert whole.ran == []
    both = [one.fingerprint for one in (*halves.ran, *rest.ran)]
    assert len(both) == len(set(both))


def test_the_first_rival_is_run_once_for_both_budgets(out):
    """What it sees at equal operations is what all see at equal images."""

    def first():
        plan = read_plan(out)
        return plan and next(one.name for one in plan.contenders if one.role == "shipped")

    class Counted(Scored):
        def images(self, trial):
            return read_plan(out).images if trial.row == first() else 9600

    run = Counted()
    table = confirm(out, ASKED, run)
    ran = [one for one in run.ran if one.row == first() and one.column != "heat"]
    assert {type(one.budget) for one in ran} == {Flops}
    assert sum(isinstance(one.budget, Images) for one in run.ran) == (4 - 1) * 2
    both = [one for one in table if one.rival == first() and one.found == "found 1"]
    assert [one.seeds for one in both] == [(2, 2)] * 4
    again = Counted()
    assert confirm(out, ASKED, again) == table
    assert again.ran == []


def test_kept_as_two_files_it_is_the_same(out):
    """Without the folder of its trials, as one keeps it beside the code."""
    run, stopped = Scored(), Scored(most=9)
    with pytest.raises(KeyboardInterrupt):
        confirm(out, ASKED, stopped)
    shutil.rmtree(out / "confirmation")
    table = confirm(out, ASKED, run)
    assert {one.fingerprint for one in run.ran}.isdisjoint(one.fingerprint for one in stopped.ran)
    shutil.rmtree(out / "confirmation")
    assert read_confirmation(out) == table


def test_other_images_have_the_same_rivals_and_are_corrected_together(out, folders):
    first = confirm(out, ASKED, Scored())
    other = folders / "other.npz"
    np.savez(other, images=np.load(folders / "photos.npz")["images"][:50], labels=np.arange(50) % 4)
    run = Scored()
    table = confirm(out, ConfirmRequest(top=2, seeds=2, shipped=2, data=str(other)), run)
    assert len(table) == 2 * len(first)
    assert {one.data for one in run.ran} == {str(other)}
    assert {one.size for one in run.ran} == {32}
    assert {one.rival for one in table} == {one.rival for one in first}
    before = {(one.found, one.rival, one.column, one.probe): one for one in first}
    for one in table:
        earlier = before.get((one.found, one.rival, one.column, one.probe))
        assert earlier is None or one.corrected >= earlier.corrected
    assert read_confirmation(out) == table


def test_what_was_found_is_no_known_method(out):
    found = read_design(out)
    assert all(one.parents for one in new_methods(found))


def test_a_search_that_is_not_random_is_no_random_search(out):
    with pytest.raises(ValueError, match="not a random search"):
        confirm(out, ConfirmRequest(random=out), Scored())


def test_a_search_that_goes_on_changes_no_contender(out, monkeypatch):
    table = confirm(out, ASKED, Scored())
    better = new_methods(read_design(out))[::-1]
    monkeypatch.setattr(confirm_run, "new_methods", lambda _: better)
    run = Scored()
    assert confirm(out, ASKED, run) == table
    assert run.ran == []


def test_nothing_confirmed_is_nothing(out):
    assert read_confirmation(out) == []


def test_another_plan_is_refused(out):
    confirm(out, ASKED, Scored())
    run = Scored()
    for changed in ("top", "seeds", "shipped"):
        with pytest.raises(ValueError, match=f"was made with --{changed} 2, and this is 3"):
            confirm(out, replace(ASKED, **{changed: 3}), run)
    assert run.ran == []


def test_a_request_that_is_refused_adds_no_random_search(out, folders):
    confirm(out, ASKED, Scored())
    before = (out / "confirmation.json").read_text()
    with pytest.raises(ValueError, match="was made with --seeds 2, and this is 3"):
        confirm(out, replace(ASKED, seeds=3, random=folders / "random"), Scored())
    assert (out / "confirmation.json").read_text() == before


@pytest.mark.parametrize("other", [False, True])
def test_images_without_labels_are_refused_before_anything_runs(out, tmp_path, other):
    np.save(tmp_path / "bare.npy", np.zeros((40, 32, 32, 3), dtype=np.uint8))
    data = str(tmp_path / "bare.npy")
    if not other:
        (out / SETTINGS).write_text(replace(read_settings(out), data=data).to_json())
    run = Scored()
    with pytest.raises(ValueError, match="has no labels; put the images into one folder per"):
        confirm(out, replace(ASKED, data=data if other else None), run)
    assert run.ran == []


def test_another_spelling_of_the_same_images_is_no_other_data(out, folders, monkeypatch):
    table = confirm(out, ASKED, Scored())
    run = Scored()
    monkeypatch.setenv("PHOTOS", str(folders))
    assert confirm(out, replace(ASKED, data="$PHOTOS/photos.npz"), run) == table
    assert run.ran == []
    other = shutil.copytree(folders, out.parent / "other") / "photos.npz"
    table = confirm(out, replace(ASKED, data=str(other)), Scored())
    assert confirm(out, replace(ASKED, data=f"{other}/"), run) == table
    assert run.ran == []


def test_a_rate_at_which_a_rival_diverges_is_left_out(out):
    confirm(out, ASKED, Scored())

    def diverging(trials, store):
        stay = [one for one in trials if dict(one.training)["lr"] < 5e-2]
        yield from Scored()(stay, store)
        for one in trials:
            if one not in stay:
                failed = outcome(one.row, one.seed, linear=0.0)
                yield replace(failed, trial=one, state="failed", error="NonFiniteError: no")

    table = confirm(out, replace(ASKED, tuned=True), diverging)
    tuned = {one.rival for one in table if ", lr " in one.rival}
    assert tuned
    assert not any(rival.endswith("lr 0.05") for rival in tuned)


def test_rivals_whose_rate_was_chosen_may_come_later_and_only_add(out, tmp_path):
    before = confirm(out, ASKED, Scored())
    tuned, run = replace(ASKED, tuned=True), Scored()
    after = confirm(out, tuned, run)
    heats = [one for one in run.ran if one.column == "heat"]
    known = [one.change for one in read_design(out).candidates.values() if not one.parents]
    best = sorted(known, key=lambda name: -len(name))[: 2 * ASKED.shipped]
    assert {one.row.partition(", lr ")[0] for one in heats} == set(best)
    for name in best:
        lrs = {dict(one.training)["lr"] for one in heats if one.row.startswith(f"{name}, lr ")}
        assert len(lrs | {RECIPES[name].training.lr}) == len(CHOICES["Training", "lr"])
    added = {one.row for one in run.ran if one.column != "heat"}
    assert len(added) == ASKED.shipped
    assert all(", lr " in row for row in added)  # a longer name has a better figure here
    assert {one.rival for one in after} == {one.rival for one in before} | added
    again = Scored()
    assert confirm(out, tuned, again) == confirm(out, ASKED, again) == after
    assert again.ran == []


def test_a_random_search_need_not_be_named_again(out, folders):
    with_random = replace(ASKED, random=folders / "random")
    table = confirm(out, with_random, Scored())
    assert confirm(out, ASKED, Scored()) == table
    assert "best of a random search" in {one.rival for one in table}


def test_a_random_search_may_come_later_and_only_adds(out, folders, tmp_path):
    apart = shutil.copytree(out, tmp_path / "apart")
    with_random, run = replace(ASKED, random=folders / "random"), Scored()
    before = confirm(out, ASKED, Scored())
    after = confirm(out, with_random, run)
    assert {trial.row for trial in run.ran} == {"best of a random search"}
    assert compared(after) > compared(before)
    assert {figures(one) for one in after} == {
        figures(one) for one in confirm(apart, with_random, Scored())
    }
    assert confirm(out, ASKED, Scored()) == after


def test_a_random_search_that_went_on_keeps_its_rival(out, folders, monkeypatch):
    with_random = replace(ASKED, random=folders / "random")
    before = confirm(out, with_random, Scored())
    other = new_methods(read_design(folders / "random"))[1]
    monkeypatch.setattr(confirm_run, "best_of_random", lambda *_: other)
    after = confirm(out, with_random, Scored())
    assert [figures(one) for one in after] == [figures(one) for one in before]


def test_a_random_search_is_never_exchanged(out, folders, tmp_path, monkeypatch):
    confirm(out, replace(ASKED, random=folders / "random"), Scored())
    plan = read_plan(out)
    best = new_methods(read_design(folders / "random"))[1]
    monkeypatch.setattr(confirm_run, "best_of_random", lambda *_: best)
    other = tmp_path / "other"
    shutil.copytree(folders / "random", other)
    for number, made in enumerate(read_design(other).rounds):
        rest = tuple(one for one in made.candidates if one.fingerprint != plan.random)
        write_round(read_settings(other), other, number, replace(made, candidates=rest))
    with pytest.raises(ValueError, match="was made with --random"):
        confirm(out, replace(ASKED, random=other), Scored())


def test_a_random_search_that_comes_later_has_another_seed(out, folders, monkeypatch):
    confirm(out, ASKED, Scored())
    real = confirm_run.read_settings
    monkeypatch.setattr(confirm_run, "read_settings", lambda place: replace(real(place), seed=2))
    with pytest.raises(ValueError, match="the seed 2, which is one of the confirmation"):
        confirm(out, replace(ASKED, random=folders / "random"), Scored())


def compared(table):
    return {(one.column, one.found, one.rival, one.probe) for one in table}


def figures(one):
    return one.column, one.found, one.rival, one.probe, one.means, one.corrected


def test_a_rival_is_not_left_out_because_its_trial_failed(out):
    def failing(trials, store):
        yield from Scored()(trials[1:], store)
        failed = outcome(trials[0].row, trials[0].seed, linear=0.0)
        yield replace(failed, trial=trials[0], state="failed", error="ValueError: a reason")

    with pytest.raises(RunFailure, match=r"did not finish.*the first said: ValueError: a reason"):
        confirm(out, ASKED, failing)
    assert not (out / "confirmation.json").exists()


def test_a_trial_that_failed_is_not_tried_again_by_the_same_command(out):
    asked = []

    def failing(trials, store):
        whole = Scored()
        for trial in trials:
            if trial.column == "heat" or trial.row != "found 1":
                yield from whole([trial], store)
            elif store.find(trial) is None:
                asked.append(trial.fingerprint)
                failed = outcome(trial.row, trial.seed, linear=0.0)
                yield replace(failed, trial=trial, state="failed", error="ValueError: a reason")

    confirm(out, ASKED, failing)
    assert len(asked) == len(set(asked)) == 2 * 2  # seeds, budgets


def test_no_trial_is_one_of_the_search(out):
    run = Scored()
    confirm(out, ASKED, run)
    found = read_design(out)
    before = {(one.trial.method, one.trial.seed) for one in found.outcomes.values()}
    assert before.isdisjoint((one.method, one.seed) for one in run.ran)
    assert before & {(one.method, found.settings.seed) for one in run.ran}


def test_a_random_search_of_another_cost_is_refused(out, folders, tmp_path):
    cheap = shutil.copytree(folders / "random", tmp_path / "cheap")
    shutil.rmtree(cheap / "trials")
    with pytest.raises(ValueError, match="took 0 core-hours and the search"):
        confirm(out, ConfirmRequest(random=cheap), Scored())


def test_what_an_earlier_confirmation_ran_is_taken(out, tmp_path):
    """Rivals, their heats, and a method that was found before under another name."""
    confirm(out, ASKED, Scored())
    later = begun_with(out, tmp_path / "later")
    (made,) = read_design(later).rounds
    best, second, *_ = (one.fingerprint for one in new_methods(read_design(later)))
    rest = tuple(one for one in made.candidates if one.fingerprint != best)
    write_round(read_settings(later), later, 0, replace(made, candidates=rest))
    run = Scored()
    table = confirm(later, ASKED, run)
    plan = read_plan(later)
    assert plan.contenders[0].candidate.fingerprint == second
    assert [one.row for one in run.ran] == ["found 2"] * len(plan.seeds) * 2
    assert {one.found for one in table} == {"found 1", "found 2"}
    assert all(one.seeds == (2, 2) for one in table)
    third = begun_with(later, tmp_path / "third")
    run = Scored()
    assert confirm(third, ASKED, run) == table
    assert run.ran == []


def test_an_earlier_search_that_is_gone_has_nothing_to_take(out, tmp_path):
    later = begun_with(out, tmp_path / "later")
    shutil.rmtree(out)
    run = Scored()
    confirm(later, ASKED, run)
    assert any(one.column == "heat" for one in run.ran)


def begun_with(earlier, out):
    """Copy a search without its confirmation, as one that was begun with it."""
    ignored = shutil.ignore_patterns("confirm*")
    shutil.copytree(earlier, out, ignore=ignored)
    begun = replace(read_settings(out), earlier=str(earlier))
    (out / SETTINGS).write_text(begun.to_json())
    return out


def test_rivals_are_shipped_methods_that_the_search_itself_did_not_run(out, folders):
    """A search that began with the best of an earlier one has no known methods of its own."""
    settings = read_settings(out)
    begun = replace(settings, earlier=str(folders / "evolution"))
    (out / SETTINGS).write_text(begun.to_json())
    (made,) = read_design(out).rounds
    born = tuple(one for one in made.candidates if one.parents)
    write_round(begun, out, 0, replace(made, candidates=born))
    run = Scored()
    confirm(out, ASKED, run)
    known = [one.change for one in read_design(folders / "evolution").candidates.values()]
    heats = [one.row for one in run.ran if one.column == "heat"]
    assert len(heats) > 10
    assert set(heats) <= set(known)
