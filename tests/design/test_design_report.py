"""The page of a search: it says what was found, reads in a browser, and forgets no loser."""

import re
import shlex
from dataclasses import replace
from html import unescape
from itertools import chain, repeat
from math import nan

import pytest

from counterpoint.design.confirmed import confirmed
from counterpoint.design.criterion_doubts import rotation_doubt
from counterpoint.design.judging import lost
from counterpoint.design.population import known
from counterpoint.design.report.descent_table import descent_section
from counterpoint.design.report.design_material import material_of, nearest_known
from counterpoint.design.report.design_page import design_page
from counterpoint.design.report.found_parts import distance_words
from counterpoint.design.search_progress import SearchProgress
from counterpoint.design.searched import Searched
from counterpoint.report.words import NONE
from design.candidates import BEST, CROSSED, MOCO, SIMCLR
from design.confirmations import outcome
from design.searches import ENCODER, searched
from report.browser import Browser, chromium
from report.contrast import UNREADABLE

AGAIN = "counterpoint design photos --hours 2"
ROWS = {"found 1": 0.8, "simclr-small": 0.5, "best of a random search": 0.55}


@pytest.fixture(scope="module")
def found():
    return searched(rounds=3, size=27, watch=("knn",))


@pytest.fixture(scope="module")
def table():
    trials = [
        outcome(row, seed, column=f"photos, {words}", linear=good + 0.01 * seed, knn=good)
        for words in ("equal operations", "equal images")
        for row, good in ROWS.items()
        for seed in (1, 2)
    ]
    return confirmed(trials, found=["found 1"])


@pytest.fixture(scope="module")
def material(found, table):
    pool = known(32, ENCODER)
    return material_of(found, folder="design", again=AGAIN, known=pool, compared=table)


@pytest.fixture(scope="module")
def page(material):
    return design_page(material)


def sections(page):
    return re.findall(r'<section id="([a-z]+)"', page)


def test_it_has_every_section(page):
    wanted = "found lineage confirmation importance field worth cost refused losers again"
    assert sections(page) == wanted.split()
    assert AGAIN in page


def test_it_says_what_was_found_and_how_far_it_is_from_what_is_known(material, page):
    best = material.best.candidate
    near = nearest_known(best, material.known)
    assert distance_words(best, near) in page
    for _, settings in best.method.rows():
        words = re.sub(r"<[^>]*>", "", page)
        assert settings.split("(")[0] in words


def test_the_numbers_are_those_of_the_search(found, page):
    gone = sum(lost(o.figures) for o in found.outcomes.values())
    refused = sum(len(one.refused) for one in found.rounds)
    assert f"{gone} of {len(found.outcomes)} trials collapsed or failed" in page
    assert f"{refused} of {refused + len(found.candidates)} proposals were refused" in page
    assert "extraction: got feature maps of 2 places" in page
    assert "RuntimeError: loss is not finite at step 12" in page


def importances(page):
    """The heads of each table of shares."""
    (section,) = re.findall(r'<section id="importance".*?</section>', page, re.DOTALL)
    return [re.findall(r'<th scope="col">(.*?)</th>', one) for one in section.split("<table")[1:]]


def test_only_the_first_rung_of_a_random_search_has_a_p(page):
    """Children are alike by descent, and later rungs were chosen: shuffling would be wrong."""
    assert importances(page)
    assert all("p" not in heads for heads in importances(page))
    drawn = searched(rounds=2, size=24, strategy="random")
    first, *later = importances(design_page(material_of(drawn, folder="d", again=AGAIN)))
    assert "p" in first
    assert later
    assert all("p" not in heads for heads in later)


def rungs(page):
    """The rungs of the tables of shares, in the order of the page."""
    (section,) = re.findall(r'<section id="importance".*?</section>', page, re.DOTALL)
    return [int(rung) for rung in re.findall(r"Rung (\d), ", section)]


def test_the_shares_of_the_longest_trials_come_first_but_for_a_random_search():
    bred, drawn = (searched(rounds=2, size=36, strategy=how) for how in ("evolution", "random"))
    shown = rungs(design_page(material_of(bred, folder="d", again=AGAIN)))
    assert shown == sorted(shown, reverse=True)
    assert len(shown) > 1
    shown = rungs(design_page(material_of(drawn, folder="d", again=AGAIN)))
    assert shown == sorted(shown)


def legend(page):
    """What the marks of the chart of all candidates are, and how many of each."""
    (section,) = re.findall(r'<section id="field".*?</section>', page, re.DOTALL)
    return dict(re.findall(r"</svg> ([a-z ]+) \((\d+)\)", section))


def test_only_the_first_of_a_line_is_its_start(material):
    """A candidate that was run on other rungs than its parent was said to be the start."""

    def rungs(shown):
        body = str(descent_section(shown).body)
        return re.findall(r"</th><td>(.*?)</td>", body.partition("<tbody>")[2])

    start, *later = rungs(material)
    assert start == "start"
    assert later
    assert all(one.isdigit() for one in later)
    name = material.best.candidate.fingerprint
    alone = tuple({one: 0.5 for one in some if one == name} for some in material.standings)
    start, *later = rungs(replace(material, standings=alone))
    assert start == "start"
    assert later
    assert set(later) == {NONE}


def test_the_chart_says_where_candidates_come_from(found, page):
    first, *_ = found.rounds
    assert set(legend(page)) == {"known method", "one change", "crossover"}
    begun = replace(first, candidates=tuple(replace(c, change="x") for c in first.candidates))
    later = Searched(found.settings, [begun, *found.rounds[1:]], found.outcomes)
    shown = legend(design_page(material_of(later, folder="d", again=AGAIN)))
    assert set(shown) == {"found earlier", "one change", "crossover"}
    drawn = searched(rounds=2, size=24, strategy="random")
    assert set(legend(design_page(material_of(drawn, folder="d", again=AGAIN)))) == {
        "drawn at random"
    }


def test_candidates_go_by_eight_digits(page):
    """Whether as the other parent of one, or in what is changed of another."""
    shown = re.sub(r"<pre.*?</pre>", "", page, flags=re.DOTALL)
    assert re.search(r"\b[0-9a-f]{8}\b", shown)
    assert not re.search(r"\b[0-9a-f]{16}\b", shown)


def test_it_says_who_is_ahead_beyond_chance(page):
    assert "found 1 is ahead in 8 of 8 comparisons and behind in 0" in page


def test_without_a_confirmation_it_says_so(found):
    page = design_page(material_of(found, folder="design", again=AGAIN))
    assert "Not confirmed yet" in page
    assert "it is not confirmed" in page or "is not confirmed." in page


def test_the_command_that_confirms_can_be_pasted(found):
    """A folder with a space was two words, and $HOME another folder."""
    for folder in ("my designs", "$HOME", "it's (2)", "design"):
        page = design_page(material_of(found, folder=folder, again=AGAIN))
        (shown,) = re.findall(r"<code>(counterpoint confirm .*?)</code>", page)
        assert shlex.split(unescape(shown)) == ["counterpoint", "confirm", folder]
        assert "$" not in folder or "'$HOME'" in unescape(shown)


def test_without_labels_it_does_not_pretend_to_know_the_criteria():
    few = searched(rounds=1, size=24)
    page = design_page(material_of(few, folder="design", again=AGAIN))
    assert "No labelled probe was watched" in page


def with_rotation(found, *figures, name="rotation-folds", **changes):
    """Let the first outcomes of a search have these figures, and all others the last of them."""
    told = chain(figures, repeat(figures[-1]))
    outcomes = {
        key: replace(one, figures={**one.figures, "collapsed": 0.0, name: next(told)})
        for key, one in found.outcomes.items()
    }
    return Searched(replace(found.settings, **changes), found.rounds, outcomes)


def test_it_doubts_a_rotation_probe_that_guesses():
    few = searched(rounds=1, size=24)
    doubted = with_rotation(few, 0.31, 0.26)
    page = design_page(material_of(doubted, folder="design", again=AGAIN))
    assert "Candidates hardly tell which way up an image is (0.26 on average, by chance" in page
    said = []
    SearchProgress(hours=1.0, cores=1, write=said.append).round_ended(
        0, doubted, known(32, ENCODER)
    )
    assert "hardly tell which way up" in said[-1]
    assert rotation_doubt(with_rotation(few, 0.26, criteria=("rankme", "lidar"))) is None
    assert rotation_doubt(with_rotation(few, 0.26, criteria=("rotation",))) is None  # another one
    earlier = with_rotation(few, 0.26, name="rotation", criteria=("rotation",))
    assert "hardly tell which way up" in str(rotation_doubt(earlier))
    assert rotation_doubt(with_rotation(few, 0.26, labels="knn")) is None


def test_it_does_not_doubt_what_is_found_or_what_was_never_measured():
    few = searched(rounds=1, size=24)
    first, *others = with_rotation(few, 0.31).outcomes.items()
    collapsed = replace(first[1], figures={"rotation-folds": nan, "collapsed": 1.0})
    outcomes = dict([(first[0], collapsed), *others])
    assert rotation_doubt(Searched(few.settings, few.rounds, outcomes)) is None
    failed = {key: replace(one, state="failed", figures={}) for key, one in few.outcomes.items()}
    assert rotation_doubt(Searched(few.settings, few.rounds, failed)) is None


def test_a_search_in_which_nothing_lived_has_a_page(found):
    empty = Searched(found.settings)
    page = design_page(material_of(empty, folder="design", again=AGAIN))
    assert "Nothing that was tried" in page
    assert sections(page) == ["confirmation", "worth", "cost", "again"]


def test_words_of_a_candidate_cannot_become_markup(found):
    first, *others = found.rounds
    evil = [replace(one, change=f"<script>{one.change}</script>") for one in first.candidates]
    rounds = [replace(first, candidates=tuple(evil)), *others]
    page = design_page(
        material_of(Searched(found.settings, rounds, found.outcomes), folder="d", again=AGAIN)
    )
    assert "<script>simclr" not in page
    assert "&lt;script&gt;" in page


def test_distances_in_words():
    assert distance_words(SIMCLR, SIMCLR).startswith("It is simclr-small as it is shipped")
    words = distance_words(BEST, nearest_known(BEST, [SIMCLR, MOCO]))
    assert words.startswith("The nearest known method is simclr-small: 2 of the five parts")
    assert "similarity and loss" in words
    assert "one of the five parts is" in distance_words(BEST, CROSSED)


@pytest.mark.skipif(
    chromium() is None, reason="there is no chromium; on Debian: apt-get install chromium"
)
def test_it_fits_a_phone_and_a_desk_and_can_be_read(page, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(page)
    with Browser() as browser:
        for width in (390, 1280):
            for scheme in ("light", "dark"):
                browser.look(width, 900, dark=scheme == "dark")
                browser.open(file)
                assert browser.run("document.documentElement.scrollWidth") <= width
                seen = browser.run(UNREADABLE)
                assert seen["checked"] > 100
                assert seen["bad"] == []
                assert browser.complaints() == []
                assert {one.split(":")[0] for one in browser.requests()} == {"file"}


def test_it_says_what_an_earlier_search_gave(found):
    begun = Searched(replace(found.settings, earlier="runs/first"), found.rounds, found.outcomes)
    page = design_page(material_of(begun, folder="d", again=AGAIN))
    assert "begun with the best of an earlier search, first" in page
    assert "begun with" not in design_page(material_of(found, folder="d", again=AGAIN))


def test_it_says_whether_the_rivals_were_tuned(found, table, page):
    assert "The rivals were not tuned." in page
    tuned = design_page(material_of(found, folder="d", again=AGAIN, compared=table, tuned=True))
    assert "Rivals whose name has a learning rate were tuned by it" in tuned
    assert "not tuned" not in tuned
