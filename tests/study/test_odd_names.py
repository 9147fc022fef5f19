"""Names that a user may give: brackets, bars, what LaTeX reads, and very long ones."""

from rich.console import Console

from counterpoint.study import ResultStore
from counterpoint.study.dashboard import Progress
from counterpoint.study.plan_table import plan_table
from counterpoint.study.runners.events import Event
from counterpoint.study.tables.formats import latex, markdown
from counterpoint.study.tables.outcome_table import tabulate
from counterpoint.study.tables.part_effects import Decided, written
from counterpoint.study.trial_plan import Planned
from study.trials import outcome, tiny


def printed(table):
    console = Console(width=200)
    with console.capture() as found:
        console.print(table)
    return found.get()


def test_brackets_are_words_while_a_study_runs():
    """They were markup: a name lost them, and an error with [/a/path] ended the study."""
    progress = Progress()
    done = outcome("[a] row", "[/b]", 0, 0.5)
    progress.tell(Event(done.trial, "done", outcome=done))
    progress.tell(Event(tiny(1), "failed", why="got [cuda:0] and [/data/x]"))
    said = printed(progress.table())
    assert "best so far, [/b]" in said
    assert "[a] row: 50.0" in said
    assert "got [cuda:0] and [/data/x]" in said


def test_brackets_are_words_in_a_plan():
    one = {"steps": 1, "flops": 1.0, "seconds": 1.0, "gigabytes": 1.0}
    planned = [Planned(trial=tiny(row="[a] row", column="[/b]"), **one)]
    said = printed(plan_table(planned, speed=1e12, price=None))
    assert "[a] row" in said
    assert "[/b]" in said


def test_a_folder_with_brackets_keeps_its_results(tmp_path):
    """They were a pattern: a study ended with a table of nothing."""
    one = outcome("a", "x", 0, 0.5)
    for place in (str(tmp_path / "runs[v2]*"), "memory://runs[v2]"):
        store = ResultStore(place)
        assert store.every() == []
        store.keep(one)
        store.plan([one.trial])
        assert store.every() == [one]
        assert store.planned()[0][1] == one.trial


def test_a_very_long_name_has_a_folder(tmp_path):
    store = ResultStore(str(tmp_path))
    for name in ("views and more, " * 40, "ü" * 300):
        one = outcome("a", "x", 0, 0.5)
        trial = tiny(name=name)
        assert len(trial.key.encode()) <= 255
        assert trial.key.endswith(f"-s0-{trial.fingerprint}")
        store.keep(type(one)(trial=trial, fingerprint=trial.fingerprint, figures={"knn": 0.5}))
        assert store.find(trial).figures == {"knn": 0.5}
    assert tiny(name="n" * 230).key.startswith("n" * 230)  # what had a folder keeps it


def test_what_a_table_is_made_of_is_escaped():
    odd = [outcome("a|b", "c\nd", 0, 0.5), outcome(r"10^4 ~ \tau {x}_1", "[e]", 0, 0.5)]
    table = tabulate(odd)
    rows = markdown(table).splitlines()
    assert rows[0] == "| | c d | [e] |"
    assert rows[2].startswith(r"| a\|b | ")
    half = ("views: a|b", table.cell("a|b", "c\nd"))
    found = Decided(part="views", column="c|d", worst=half, best=half)
    assert (
        written([found]).splitlines()[2].startswith(r"| views | c\|d | 50.0, a\|b | 50.0, a\|b |")
    )
    lines = latex(table).splitlines()
    name = r"10\textasciicircum{}4 \textasciitilde{} \textbackslash{}tau \{x\}\_1"
    assert lines[5].startswith(f"{name} & ")
