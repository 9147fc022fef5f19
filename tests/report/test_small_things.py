"""A short run has figures in place of curves; long lists are folded; files have their names."""

import json
from typing import get_args

from counterpoint.data import open_data
from counterpoint.evaluation.health.verdict import Word
from counterpoint.export.card_facts import accuracy_rows
from counterpoint.report import write_report
from counterpoint.report.findings import read_findings
from counterpoint.report.samples import choose
from counterpoint.report.sections.headline import BAD, KINDS, verdict_kind
from counterpoint.report.sections.neighbours import _file
from counterpoint.report.words import THIN
from report.example import write_evaluation, write_health, write_run
from report.tree import tree


def test_one_point_is_a_figure_not_a_chart(tmp_path):
    folder = write_run(tmp_path / "short")
    (folder / "metrics.csv").write_text("epoch,loss,step\n0,4.5,4\n")
    page = tree(write_report([folder], tmp_path / "report.html"))
    assert "4.5 at step 4" in page.words
    assert not page.all("svg") or "Loss" not in [t.words for t in page.all("title")]


def test_a_small_share_of_the_labels_is_not_none_of_them(tmp_path):
    folder = write_run(tmp_path / "few")
    write_evaluation(folder)
    file = folder / "evaluation.json"
    record = json.loads(file.read_text())
    for probe in record["probes"]:
        probe["fraction"] = 0.004 if probe["fraction"] == 1 else 0.0005
    file.write_text(json.dumps(record))
    page = tree(write_report([folder], tmp_path / "report.html"))
    words = page.words.replace(THIN, " ")
    assert "with 0.4 % of the training labels" in words
    (probes,) = page.by("id", "probes")
    shares = [row.all("td")[0].words.replace(THIN, " ") for row in probes.all("tr")[1:7]]
    assert shares == ["0.4 %"] * 4 + ["0.05 %"] * 2
    rows = accuracy_rows(read_findings(folder))
    assert {row[1].replace(THIN, " ") for row in rows} == {"0.4 %", "0.05 %"}


def test_lists_of_settings_are_folded(tmp_path):
    folder = write_run(tmp_path / "one")
    write_health(folder)
    write_evaluation(folder)
    page = tree(write_report([folder], tmp_path / "report.html"))
    summaries = [summary.words for summary in page.all("summary")]
    assert any("entries: epochs, batch" in words for words in summaries), summaries
    assert "parameters of the encoder" in page.words
    assert "with random weights to" in page.words


def test_images_are_named_by_their_files(data, tmp_path):
    for kind in ("ketch", "dolphin"):
        (tmp_path / kind).mkdir()
        for photo in sorted((data / "caltech20" / kind).glob("*.jpg"))[:6]:
            (tmp_path / kind / photo.name).symlink_to(photo)
    sample = choose(open_data(tmp_path), count=8)
    names = [sample.file(number) for number in range(len(sample.pictures))]
    assert len(set(names)) == len(names) == 8
    assert all(name.startswith(("ketch/", "dolphin/")) and name.endswith(".jpg") for name in names)
    shown = str(_file(names[0]))
    assert f'title="{names[0]} (click to copy)"' in shown
    assert f'data-file="{names[0]}"' in shown
    assert f">{names[0].partition('/')[2]}<" in shown
    assert _file("") is None


def test_every_verdict_has_a_colour_and_a_mark():
    assert set(KINDS) == set(get_args(Word))
    assert verdict_kind("collapsing") == verdict_kind("Trivial") == BAD
