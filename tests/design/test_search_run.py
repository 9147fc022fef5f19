"""A search repeats, resumes wherever it was ended, and reads no test image."""

import shutil
from contextlib import suppress
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from counterpoint import NarrowResNet
from counterpoint.design import search_start
from counterpoint.design.again import design_again
from counterpoint.design.design_settings import DesignSettings, trial_of
from counterpoint.design.evolution import ranked
from counterpoint.design.judging import LOST
from counterpoint.design.report.design_material import nearest_known
from counterpoint.design.search_files import read_design, round_file, seeds_used, whole_core_hours
from counterpoint.design.search_progress import SearchProgress, nearest_words, round_words
from counterpoint.design.search_run import design
from counterpoint.failures import RunFailure
from counterpoint.study import ResultStore, run_here
from design.doubles import SECONDS, Pretended, Silent, figures

TINY = '{"part":"NarrowResNet","widths":[8,8,16],"blocks":[1,1,1],"stride":2}'
ROUND = (4 + 1 + 1) * SECONDS / 3600  # core-hours


@pytest.fixture
def settings(data, monkeypatch):
    """Of a search in which nothing is refused but CPC, and three methods are known."""
    whole = search_start.known
    monkeypatch.setattr(search_start, "known", lambda *a, **k: whole(*a, **k)[:3])
    monkeypatch.setattr(search_start, "refusal", _refusal)
    return DesignSettings(
        data=str(data / "cifar10"),
        full=9e9,
        candidates=4,
        criteria=("rotation-folds",),
        encoder=TINY,
        limit=240,
        batch=32,
    )


def _refusal(candidate, _image, **_budget):
    return "extraction: no" if candidate.change == "cpc-small" else None


def searched(settings, out, run, hours=3.5 * ROUND):
    return design(settings, out, hours=hours, run=run, watcher=Silent())


def files(out):
    return {one.name: one.read_bytes() for one in sorted((out / "rounds").iterdir())}


def all_figures(found):
    return {key: dict(outcome.figures) for key, outcome in found.outcomes.items()}


def living(trial):
    return figures(trial) | {"collapsed": 0.0}


def test_a_search_halves_and_ends_with_its_hours(settings, tmp_path):
    run = Pretended(drawn=living)
    found = searched(settings, tmp_path, run)
    assert len(found.rounds) == 3
    assert found.core_hours <= 3.5 * ROUND
    assert [len(one.candidates) for one in found.rounds] == [4, 4, 4]
    assert len(found.rounds[0].refused) == 1
    for one in found.rounds:
        names = {candidate.fingerprint for candidate in one.candidates}
        reached = [sum((name, rung) in found.outcomes for name in names) for rung in range(3)]
        assert reached == [4, 1, 1]
    assert len(run.ran) == len(found.outcomes) == 18
    assert len({trial.fingerprint for trial in run.ran}) == 18
    best = ranked(found.judged())[0]
    assert best.rung == 2
    assert read_design(tmp_path) == found


def test_who_goes_on_is_the_best_of_the_round(settings, tmp_path):
    found = searched(settings, tmp_path, Pretended(), hours=ROUND)
    (only,) = found.rounds
    scores = found.standing(0)
    names = sorted((c.fingerprint for c in only.candidates), key=lambda n: (-scores[n], n))
    assert {name for name, rung in found.outcomes if rung == 1} == set(names[:1])


def test_a_candidate_that_is_another_in_other_settings_does_not_go_on(settings, tmp_path):
    """Trials repeat: figures that are equal to the last digit are of one and the same training."""

    def alike(trial):
        return figures(replace(trial, name="one")) | {"collapsed": 0.0}

    found = searched(settings, tmp_path, Pretended(drawn=alike, backwards=True), hours=ROUND)
    first, *others = (c.fingerprint for c in found.rounds[0].candidates)
    assert found.doubles == dict.fromkeys(others, first)
    assert [name for name, rung in found.outcomes if rung > 0] == [first, first]
    assert [one.candidate.fingerprint for one in found.judged()] == [first]
    assert "3 the same as an earlier one" in round_words(0, found, 1.0)


def test_more_hours_are_more_rounds_of_the_same(settings, tmp_path):
    searched(settings, tmp_path / "short", Pretended(), hours=2.5 * ROUND)
    searched(settings, tmp_path / "long", Pretended(), hours=4.5 * ROUND)
    short, whole = files(tmp_path / "short"), files(tmp_path / "long")
    assert len(short) == 2
    assert len(whole) == 4
    assert short.items() <= whole.items()
    searched(settings, tmp_path / "short", Pretended(), hours=4.5 * ROUND)
    assert files(tmp_path / "short") == whole


def test_outcomes_in_another_order_are_the_same_search(settings, tmp_path):
    searched(settings, tmp_path / "a", Pretended())
    searched(settings, tmp_path / "b", Pretended(backwards=True))
    assert files(tmp_path / "a") == files(tmp_path / "b")


@pytest.mark.parametrize("strategy", ["evolution", "random"])
@pytest.mark.parametrize("kept", ["with its trials", "without"])
def test_ended_after_any_number_of_trials_it_goes_on_as_if_it_had_not(
    settings, tmp_path, strategy, kept
):
    settings = replace(settings, strategy=strategy)

    def failing(trial):
        return figures(trial)["rankme"] < 0.3

    whole = searched(settings, tmp_path / "whole", Pretended(failing=failing), hours=2.5 * ROUND)
    run, out = Pretended(failing=failing), tmp_path / "ended"
    for most in range(1, 50, 4):
        run.most = most
        with suppress(KeyboardInterrupt):
            found = searched(settings, out, run, hours=2.5 * ROUND)
            break
        if kept == "without":
            shutil.rmtree(out / "trials")
    assert 4 < most < 49
    assert files(out) == files(tmp_path / "whole")
    assert all_figures(found) == all_figures(whole)
    assert any(outcome.state == "failed" for outcome in found.outcomes.values())
    assert len(run.ran) == len({trial.fingerprint for trial in run.ran})  # none twice


def test_stopped_while_it_reads_its_rounds_again_it_keeps_later_outcomes(settings, tmp_path):
    with suppress(KeyboardInterrupt):
        searched(settings, tmp_path, Pretended(most=9), hours=2 * ROUND)
    kept = read_design(tmp_path).outcomes
    assert len(kept) == 9

    class Stopped(Silent):
        def round_begun(self, number, made):
            if number == 1:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        design(settings, tmp_path, hours=2 * ROUND, run=Pretended(), watcher=Stopped())
    shutil.rmtree(tmp_path / "trials")
    assert read_design(tmp_path).outcomes == kept


def test_a_search_that_was_kept_without_its_trials_resumes(settings, tmp_path):
    whole = searched(settings, tmp_path, Pretended(), hours=2 * ROUND)
    shutil.rmtree(tmp_path / "trials")
    assert read_design(tmp_path) == whole
    assert not (tmp_path / "trials").exists()  # to read is not to write
    run = Pretended()
    found = searched(settings, tmp_path, run, hours=3 * ROUND)
    assert len(found.rounds) == 3
    assert len(run.ran) == 6  # of the third round alone


def test_half_a_round_was_never_begun(settings, tmp_path):
    searched(settings, tmp_path, Pretended(), hours=ROUND)
    before = files(tmp_path)
    file = round_file(tmp_path, 0)
    file.with_name(file.name + ".new").write_text(file.read_text()[:100])
    file.unlink()
    run = Pretended()
    searched(settings, tmp_path, run, hours=ROUND)
    assert file.read_bytes() == before[file.name]
    assert run.ran == []


def test_a_trial_that_fails_loses_and_the_search_goes_on(settings, tmp_path):
    run = Pretended(failing=lambda trial: trial.row.startswith("simclr"))
    found = searched(settings, tmp_path, run, hours=ROUND)
    (simclr,) = (c for c in found.rounds[0].candidates if c.change == "simclr-small")
    assert found.standing(0)[simclr.fingerprint] == LOST
    assert (simclr.fingerprint, 1) not in found.outcomes
    assert found.outcomes[simclr.fingerprint, 0].error == "RuntimeError: made to crash"


def test_a_round_of_which_all_failed_ends_the_search(settings, tmp_path):
    with pytest.raises(RunFailure, match=r"all 4 trials of round 0 failed.*made to crash"):
        searched(settings, tmp_path, Pretended(failing=lambda _: True))


@pytest.mark.parametrize("without_trials", [False, True])
def test_a_round_that_failed_for_an_outside_reason_is_run_again(settings, tmp_path, without_trials):
    with pytest.raises(RunFailure, match="the same command runs them again"):
        searched(settings, tmp_path, Pretended(failing=lambda _: True))
    if without_trials:
        shutil.rmtree(tmp_path / "trials")
    run = Pretended()
    found = searched(settings, tmp_path, run, hours=ROUND)
    assert len(run.ran) == 6
    assert {outcome.state for outcome in found.outcomes.values()} == {"done"}


def test_a_trial_that_an_orphaned_worker_finished_is_read(settings, tmp_path):
    """It ends after the search has looked and before the runner does, which then skips it."""
    run = Pretended()

    def skipping(trials, store):
        for number, outcome in enumerate(run(trials, store)):
            if number:
                yield outcome

    found = searched(settings, tmp_path / "a", skipping, hours=ROUND)
    assert all_figures(found) == all_figures(searched(settings, tmp_path / "b", run, hours=ROUND))


def test_rounds_end_a_search_whatever_the_hours_say(settings, tmp_path):
    def ended(out, **limits):
        return len(design(settings, out, run=Pretended(), watcher=Silent(), **limits).rounds)

    assert ended(tmp_path / "a", hours=99.0, rounds=2) == 2
    assert ended(tmp_path / "a", hours=99.0, rounds=3) == 3
    assert ended(tmp_path / "a", hours=99.0, rounds=2) == 3  # there are more already
    assert ended(tmp_path / "b", hours=1.5 * ROUND, rounds=3) == 1
    with pytest.raises(ValueError, match="got 0 rounds"):
        ended(tmp_path / "c", hours=1.0, rounds=0)


def test_later_rounds_may_train_every_candidate_in_full(settings, tmp_path):
    wanted = {"hours": 99.0, "watcher": Silent()}
    design(settings, tmp_path / "a", run=Pretended(), rounds=1, **wanted)
    found = design(settings, tmp_path / "a", run=Pretended(), rounds=3, halved=1, **wanted)
    assert [one.halved for one in found.rounds] == [True, False, False]
    for one in found.rounds[1:]:
        names = {candidate.fingerprint for candidate in one.candidates}
        assert {rung for name, rung in found.outcomes if name in names} == {2}
        assert names <= {name for name, _ in found.outcomes}
    assert found.waiting == 0
    assert read_design(tmp_path / "a") == found
    assert "--halved 1" in design_again(found, epochs=1.0, out="a")
    once = design(settings, tmp_path / "b", run=Pretended(), rounds=3, halved=1, **wanted)
    assert all_figures(once) == all_figures(found)
    assert files(tmp_path / "a") == files(tmp_path / "b")
    more = design(settings, tmp_path / "a", run=Pretended(), rounds=4, **wanted)
    assert not more.rounds[-1].halved  # a search that trains in full stays so
    with pytest.raises(ValueError, match="got -1 halved rounds"):
        design(settings, tmp_path / "c", run=Pretended(), halved=-1, **wanted)


def test_a_round_in_full_has_to_fit_into_the_hours(settings, tmp_path):
    """A halved round of four is 4/9 + 1/3 + 1 full trials, one that is not is four."""
    dear = ROUND * 4 / (4 / 9 + 1 / 3 + 1)  # by its operations
    for name, hours, rounds in (("a", ROUND + 0.99 * dear, 1), ("b", ROUND + 1.01 * dear, 2)):
        out = tmp_path / name
        found = design(
            settings, out, hours=hours, run=Pretended(), watcher=Silent(), halved=1, rounds=2
        )
        assert len(found.rounds) == rounds


def test_a_search_of_before_there_was_a_choice_was_halved(settings, tmp_path):
    found = searched(settings, tmp_path, Pretended(), hours=ROUND)
    file = round_file(tmp_path, 0)
    file.write_text(file.read_text().replace(', "halved": true', ""))
    assert "halved" not in file.read_text()
    assert read_design(tmp_path) == found


def test_a_search_may_begin_with_the_best_of_an_earlier_one(settings, tmp_path):
    """Its first round is theirs, and it resumes without reading them again."""
    before = searched(settings, tmp_path / "before", Pretended())
    best = [one.candidate for one in ranked(before.judged())]
    after = replace(settings, labelled=200, earlier=str(tmp_path / "before"))
    found = searched(after, tmp_path / "after", Pretended(), hours=ROUND)
    names = {one.fingerprint for one in found.rounds[0].candidates}
    assert best[0].fingerprint in names
    assert names <= {one.fingerprint for one in best}
    assert len(names) == settings.candidates
    hours = found.core_hours + before.core_hours
    assert whole_core_hours(found) == pytest.approx(hours)
    assert seeds_used(replace(after, seed=5)) == {5, settings.seed}
    assert "--earlier" in design_again(found, epochs=1, out="after")
    (tmp_path / "before").rename(tmp_path / "elsewhere")
    assert seeds_used(replace(after, seed=5)) == {5}
    more = searched(after, tmp_path / "after", Pretended())
    assert more.rounds[:1] == found.rounds
    assert len(more.rounds) == 3


def test_a_search_does_not_know_what_it_is_without(settings, tmp_path):
    found = searched(replace(settings, without=("simclr", "cpc")), tmp_path, Pretended())
    proposed = [*found.rounds[0].candidates, *(one for one, _ in found.rounds[0].refused)]
    names = {one.change for one in proposed}
    assert {"moco-small", "byol-small"} <= names  # of the first three known
    assert not {"simclr-small", "cpc-small"} & names
    assert "--without simclr,cpc" in design_again(found, epochs=1, out="again")


def test_what_an_earlier_search_must_be_is_said(settings, tmp_path):
    none = replace(settings, earlier=str(tmp_path / "none"))
    with pytest.raises(ValueError, match="none has no search; --earlier takes the folder of one"):
        searched(none, tmp_path / "out", Pretended())
    with pytest.raises(ValueError, match="a random search takes nothing from an earlier one"):
        searched(replace(none, strategy="random"), tmp_path / "out", Pretended())
    assert searched(settings, tmp_path / "out", Pretended()).rounds  # the folder is free still


def test_another_search_in_the_same_folder_is_refused(settings, tmp_path):
    searched(settings, tmp_path, Pretended(), hours=ROUND)
    with pytest.raises(ValueError, match="has a search with --seed 0, and this one has --seed 1"):
        searched(replace(settings, seed=1), tmp_path, Pretended())


def test_a_search_that_cannot_begin_says_why(settings, tmp_path, monkeypatch):
    monkeypatch.setattr(search_start, "refusal", lambda *_, **__: "cost: too much")
    with pytest.raises(ValueError, match="amdim-small for cost: too much; give more --hours"):
        searched(settings, tmp_path, Pretended())


def test_a_candidate_that_breaks_the_count_is_refused(settings, tmp_path, monkeypatch):
    def broken(candidate, *_args, **_budget):
        if candidate.change == "simclr-small":
            raise RuntimeError("never thought of")

    monkeypatch.setattr(search_start, "refusal", broken)
    found = searched(settings, tmp_path, Pretended(), hours=ROUND)
    assert [why for _, why in found.rounds[0].refused] == ["RuntimeError: never thought of"]


def test_labels_choose_only_if_asked_and_watching_chooses_nothing(settings, tmp_path):
    plain = searched(settings, tmp_path / "plain", Pretended())
    assert {outcome.trial.probes for outcome in plain.outcomes.values()} == {()}
    watching = searched(replace(settings, watch=("knn",)), tmp_path / "watch", Pretended())
    assert all("knn validation" in one.figures for one in watching.outcomes.values())
    assert files(tmp_path / "watch") == files(tmp_path / "plain")
    by_label = searched(replace(settings, labels="knn"), tmp_path / "labels", Pretended())
    outcomes = by_label.outcomes
    first = {name: o.figures for (name, rung), o in outcomes.items() if rung == 0}
    alive = {name: f["knn validation"] for name, f in first.items() if not f["collapsed"]}
    assert {n: s for n, s in by_label.standing(0).items() if s != LOST} == alive


def test_labels_that_are_not_there_are_said_before_anything_runs(settings, tmp_path):
    np.save(tmp_path / "bare.npy", np.zeros((300, 32, 32, 3), dtype=np.uint8))
    bare, run = replace(settings, data=str(tmp_path / "bare.npy")), Pretended()
    for wanted in ({"watch": ("knn",)}, {"labels": "linear"}):
        with pytest.raises(ValueError, match="bare train first 240 has no labels"):
            searched(replace(bare, **wanted), tmp_path / "out", run)
    assert run.ran == []
    assert not (tmp_path / "out").exists()
    assert searched(bare, tmp_path / "out", run).outcomes


def test_a_batch_of_more_images_than_there_are_is_refused(settings, tmp_path):
    found = searched(replace(settings, batch=256), tmp_path, Pretended(), hours=ROUND)
    (only,) = found.rounds
    assert "batch: got 256 images of 240" in {why for _, why in only.refused}
    assert max(one.settings.batch for one in only.candidates) <= 240


def test_trials_of_a_search_train_and_are_never_tested(settings, tmp_path):
    settings = replace(settings, watch=("knn",), full=1e9, candidates=2)

    def run(trials, store):
        return run_here(trials, store, retries=0)

    once = searched(settings, tmp_path / "a", run, hours=0.0)
    again = searched(settings, tmp_path / "b", run, hours=0.0)
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert all_figures(once) == all_figures(again)
    assert all(outcome.state == "done" for outcome in once.outcomes.values())
    for outcome in once.outcomes.values():
        assert set(outcome.figures) == {
            "rankme",
            "lidar",
            "alpha",
            "rotation",
            "rotation-folds",
            "learnability",
            "collapsed",
            "knn validation",
            "lr",
        }
        assert outcome.tested == 0
        assert outcome.right == {}
        place = ResultStore(str(tmp_path / "a/trials")).workplace(outcome.trial)
        assert not (place / "run").exists()  # weights
    (candidate, *_) = once.rounds[0].candidates
    assert trial_of(candidate, settings.rungs[0], settings).untested


def test_lines_say_how_far_it_is_and_what_is_best(settings, tmp_path):
    said, now = [], count(1000.0, SECONDS / 2)
    lines = SearchProgress(hours=2.5 * ROUND, cores=2, write=said.append, now=lambda: next(now))
    run = Pretended(drawn=living)
    design(settings, tmp_path, hours=2.5 * ROUND, run=run, watcher=lines)
    text = "".join(said)
    assert "round 0: 4 candidates, 1 refused before they ran" in text
    assert "round 0, rung 0: 1 of 4, amdim-small: " in text
    assert "round 1, rung 2: 1 of 1" in text
    assert text.count(" left, until ") == 12
    best = text.rpartition("best so far: ")[2]
    for part in ("views", "encoder", "extraction", "similarity", "loss"):
        assert f"\n  {part}" in best
    assert "-small" in best.splitlines()[-1]


@pytest.mark.parametrize(
    ("halved", "begun", "whole"), [(0, 1, 12), (1, 1 / 9, 4 / 9 + 1 / 3 + 1 + 4 + 4)]
)
def test_from_the_first_trial_on_the_time_left_is_that_of_the_rounds_asked_for(
    settings, tmp_path, halved, begun, whole
):
    """`begun` is what the first trial costs and `whole` what all do, in full trials."""
    needed = []
    lines = SearchProgress(
        hours=99.0, cores=2, write=lambda _: needed.append(lines.needed), rounds=3, halved=halved
    )
    asked = {"hours": 99.0, "rounds": 3, "halved": halved}
    design(settings, tmp_path, run=Pretended(), watcher=lines, **asked)
    first = next(hours for hours in needed if hours < 99.0)
    assert first == pytest.approx(whole / begun * SECONDS / 3600)


def test_the_nearest_known_method_is_named():
    simclr, other = search_start.known(32, NarrowResNet())[2:4]
    assert nearest_words(simclr, [other, simclr]) == "it is simclr-small"
    alike = replace(simclr, training=(("lr", 0.5),), change="another-small")
    assert nearest_words(simclr, [alike, simclr]) == "it is simclr-small"
    assert nearest_known(simclr, [alike, simclr]) is simclr
    warmer = replace(simclr, training=(("lr", 1.0),))
    assert nearest_words(warmer, [simclr]) == "the parts of simclr-small, other settings"
    assert "from moco-small: encoder, " in nearest_words(simclr, [other])


def test_hours_are_of_the_processor_where_they_were_counted(settings, tmp_path):
    found = searched(settings, tmp_path, Pretended(), hours=ROUND)
    assert found.core_hours == pytest.approx(ROUND)
    for key, outcome in found.outcomes.items():
        found.outcomes[key] = replace(outcome, cost=replace(outcome.cost, core_seconds=36.0))
    assert found.core_hours == pytest.approx(0.01 * len(found.outcomes))
