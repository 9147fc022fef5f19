"""A report says what the run's files say, to everyone, and asks the network for nothing."""

import base64
import hashlib
import json
import re
import shlex
from itertools import pairwise

import jaxtyping
import pytest

from counterpoint.cli import main
from counterpoint.cli.parser import make_parser, spelled
from counterpoint.report import write_report
from counterpoint.report.findings import read_findings
from counterpoint.report.palette import DARK, LIGHT, SERIES_DARK, SERIES_LIGHT
from counterpoint.report.repeat import repeat
from counterpoint.report.words import THIN
from report.example import CLASSES, write_evaluation, write_health, write_run
from report.tree import tree

NAMESPACE = "http://www.w3.org/2000/svg"  # a name that browsers know, never an address asked


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """The page of a run with every record but images."""
    folder = write_run(tmp_path_factory.mktemp("full") / "first")
    write_health(folder)
    write_evaluation(folder)
    return write_report([folder], folder / "report.html")


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """The page of two runs."""
    place = tmp_path_factory.mktemp("compared")
    one = write_run(place / "one")
    other = write_run(place / "other", method="yadim-small", good=0.5)
    for folder, good in ((one, 0.64), (other, 0.55)):
        write_health(folder, good=good)
        write_evaluation(folder, good=good)
    return write_report([one, other], place / "new" / "report.html")


def words(page):
    return tree(page).words.replace(THIN, " ")


@pytest.mark.parametrize("page", ["full", "compared"])
def test_the_page_stands_alone(page, request):
    text = request.getfixturevalue(page).read_text().replace(NAMESPACE, "")
    assert not re.search(r"""[a-z]+://|["'(=]//""", text)
    assert all(found.startswith("data:") for found in re.findall(r'(?:src|url\()="?([^")]*)', text))
    assert not re.search(r"<link|<iframe|<object|@import|\bfetch\(|XMLHttpRequest", text)


def test_only_our_script_may_run(full):
    page = tree(full)
    (policy,) = (m for m in page.all("meta") if "http-equiv" in m.attributes)
    scripts = [s for s in page.all("script") if s.attributes.get("type") != "application/json"]
    (script,) = scripts
    digest = base64.b64encode(hashlib.sha256(script.words.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy.attributes["content"]
    assert "default-src 'none'" in policy.attributes["content"]


@pytest.mark.parametrize("page", ["full", "compared"])
def test_the_page_is_for_everyone(page, request):
    root = tree(request.getfixturevalue(page))
    (html,) = root.all("html")
    assert html.attributes["lang"] == "en"
    assert root.all("title")[0].words
    levels = [int(node.name[1]) for node in root.all("h1", "h2", "h3", "h4")]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for picture in root.all("img"):
        assert picture.attributes["alt"]
    for chart in root.all("svg"):
        told = chart.attributes.get("role") == "img" and chart.all("title")[0].words
        assert told or chart.attributes.get("aria-hidden") == "true"
    for head in root.all("th"):
        assert head.attributes["scope"] in ("row", "col", "rowgroup")
    ids = [node.attributes["id"] for node in root.everything() if "id" in node.attributes]
    assert len(ids) == len(set(ids))
    for link in root.all("a"):
        assert link.attributes["href"][1:] in ids


def luminance(colour):
    """WCAG 2.2: relative luminance of a colour written #rrggbb."""
    channels = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(("colours", "series"), [(LIGHT, SERIES_LIGHT), (DARK, SERIES_DARK)])
def test_every_word_can_be_read(colours, series):
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    written = [colours[n] for n in ("ink", "soft", "accent", "good", "warn", "bad")]
    for ground in (colours["paper"], colours["card"]):
        for ink in (*written, *series):
            assert contrast(ink, ground) >= 4.5, (ink, ground)
    for ground in ("heat", "mark"):
        assert contrast(colours["ink"], colours[ground]) >= 4.5
    assert contrast(colours["card"], colours["accent"]) >= 4.5  # the numbers of the parts


def test_the_headline_is_chosen_by_validation(tmp_path):
    folder = write_run(tmp_path / "run")
    write_evaluation(folder)
    record = json.loads((folder / "evaluation.json").read_text())
    by_name = {(p["name"], p["fraction"]): p for p in record["probes"]}
    by_name["linear", 1.0]["validation"] = 0.9  # better there, worse on the test than the MLP
    (folder / "evaluation.json").write_text(json.dumps(record))
    page = words(write_report([folder], tmp_path / "report.html"))
    told = "A linear probe on the frozen encoder classifies 68.1 % of the test images correctly"
    assert f"{told} (95 % interval 67.2 to 69.0 %), with all of the training labels." in page
    assert "commonest class reaches 10.0 %" in page


def test_figures_are_those_of_the_files(full):
    page = tree(full)
    said = words(full)
    assert "SimCLR, narrow ResNet, CIFAR-10" in page.all("title")[0].words
    assert "Healthy" in page.by("class", "verdict")[0].words
    assert "The rank grows" in page.by("class", "verdict")[0].words
    probes = page.by("id", "probes")[0].all("tr")
    assert [row.all("th")[0].words for row in probes[1:4]] == [
        "weighted kNNk 20, tau 0.1",
        "linear probepenalty 0.001",
        "MLP probelr 0.001, epoch 14",
    ]
    cells = [cell.words.replace(THIN, " ") for cell in probes[3].all("td")]
    assert cells == [
        "100 %",
        "72.3 %",
        "71.4 to 73.2 %",
        "72.9 %",
        "3",
        "± 0.2 %",
        "0.031",
        "9.3 s",
    ]
    matrix = page.by("class", "heat")[0].all("tr")
    assert [cell.words for cell in matrix[4].all("td")][3:6] == ["53", "4", "19"]
    assert "Most often: cat taken for dog (19 %)" in said
    assert "64.0 % on clean images, 46.8 % over all corruptions" in said
    assert "most memory while evaluating2,100 MB" in said
    assert "torch, evaluating2.14.0" in said  # evaluated with another version than trained


def test_a_curve_is_where_its_axes_say(full):
    """Decode the first chart by its own ticks: it must give the numbers of metrics.csv."""
    (section,) = tree(full).by("id", "curves")
    chart = section.all("svg")[0]
    levels = [line for line in chart.all("line") if line.attributes["class"] == "grid"]
    numbers = [t for t in chart.all("text") if t.attributes.get("text-anchor") == "end"]
    below = [t for t in chart.all("text") if t.attributes.get("text-anchor") == "middle"][:-1]
    up = [
        (float(one.attributes["y1"]), float(n.words))
        for one, n in zip(levels, numbers, strict=True)
    ]
    along = [(float(t.attributes["x"]), float(t.words.replace(",", ""))) for t in below]
    (curve,) = (p for p in chart.all("path") if p.attributes["class"] == "curve")
    places = [tuple(map(float, p.split())) for p in curve.attributes["d"][1:].split("L")]
    rows = [line.split(",") for line in (full.parent / "metrics.csv").read_text().split()[1:]]
    assert len(places) == len(rows)
    for (x, y), (_, loss, step) in zip(places, rows, strict=True):
        assert decoded(x, along) == pytest.approx(int(step), abs=2)
        assert decoded(y, up) == pytest.approx(float(loss), abs=0.01)


def decoded(place, ticks):
    (a, low), (b, high) = ticks[0], ticks[-1]
    return low + (place - a) / (b - a) * (high - low)


def test_what_is_missing_is_said_in_a_line(tmp_path):
    folder = write_run(tmp_path / "run")
    page = tree(write_report([folder], tmp_path / "report.html"))
    hints = [node.words for node in page.by("class", "hint")]
    assert len(hints) == 3
    assert "health.jsonl" in hints[0]
    assert "--data FOLDER" in hints[1]
    assert "counterpoint evaluate run --data FOLDER" in hints[2]
    assert "accuracy has not been measured" in page.by("class", "lead")[0].words


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"has no run\.json"):
        write_report([tmp_path], tmp_path / "report.html")
    with pytest.raises(ValueError, match="at least one"):
        write_report([], tmp_path / "report.html")


def test_a_run_that_still_trains_has_a_report(tmp_path):
    """Curves and health are there before run.json is, and the last line may be half written."""
    folder = write_run(tmp_path / "run")
    write_health(folder)
    for name in ("run.json", "method.json", "encoder.safetensors"):
        (folder / name).unlink()
    with (folder / "health.jsonl").open("a") as file:
        file.write('{"epoch": 6, "rankme": 2')
    with (folder / "metrics.csv").open("a") as file:
        file.write("5,,900\n5,nan,901\n")
    found = read_findings(folder)
    assert [epoch.epoch for epoch in found.health] == [0, 1, 2, 3, 4, 5]
    assert len(found.loss) == 35
    assert "Healthy" in words(write_report([folder], tmp_path / "report.html"))
    main(["report", str(folder), "--out", str(tmp_path / "typed.html")])
    assert "Healthy" in words(tmp_path / "typed.html")


def test_records_of_another_kind_are_no_crash(tmp_path):
    folder = write_run(tmp_path / "run")
    counts = [1, 2, 1]
    line = {"epoch": "two", "rankme": None, "positive": counts, "negative": counts, "limit": 3.0}
    (folder / "health.jsonl").write_text(json.dumps(line) + "\n[]\nnot json\n")
    probe = {"name": "knn", "test": 0.5, "per_class": [0.5, None], "confusion": [[1, 2]]}
    strange = {"probes": [probe, 7, {"name": None}], "classes": [], "robustness": {"clean": 1}}
    (folder / "evaluation.json").write_text(json.dumps(strange))
    found = read_findings(folder)
    assert found.health[0].positive.edges == pytest.approx((-3, -1, 1, 3))
    assert [p.name for p in found.evaluation.probes] == ["knn"]
    assert found.evaluation.probes[0].confusion is None
    assert "class 0" in words(write_report([folder], tmp_path / "report.html"))


def test_no_text_of_a_run_becomes_code(tmp_path, monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # types that do not fit
    bad = "<script>window.hacked=1<script>\"'&"
    folder = write_run(tmp_path / bad)
    write_health(folder, verdict=bad)
    write_evaluation(folder)
    record = json.loads((folder / "run.json").read_text())
    record |= {"machine": bad, "versions": {bad: bad}}
    record["job"]["data"]["name"] = bad
    record["job"]["training"] |= {"optimiser": bad, bad: bad}
    (folder / "run.json").write_text(json.dumps(record))
    text = (folder / "evaluation.json").read_text()
    for name in ("cat", "linear", "fog", "cifar10 train"):
        text = text.replace(json.dumps(name), json.dumps(bad))
    (folder / "evaluation.json").write_text(text)
    one = write_report([folder], tmp_path / "one.html")
    two = write_report([folder, folder], tmp_path / "two.html")
    for page in (one, two):
        assert len(tree(page).all("script")) == 1
        assert bad in words(page)


def test_several_runs_are_compared_by_their_parts(compared):
    page = tree(compared)
    assert page.all("title")[0].words.startswith("simclr-small and yadim-small, compared")
    (parts,) = page.by("id", "parts")
    assert "They differ in views, encoder, extraction and similarity." in parts.words
    table, folded = parts.all("table")[0], parts.all("details")[0]
    heads = [row.all("th")[0].words for row in table.all("tr")[1:]]
    assert heads == ["1views", "2encoder", "3extraction", "4similarity"]
    assert "AMDIMEncoder" in table.words
    assert "The same in all: loss" in folded.words
    assert "NCE" in folded.words
    assert "NCE" not in table.words


def test_several_runs_have_a_column_each(compared):
    page = tree(compared)
    (probes,) = page.by("id", "probes")
    rows = [[c.words.replace(THIN, " ") for c in r.all("th", "td")] for r in probes.all("tr")]
    assert rows[0] == ["probe", "labels", "Aone", "Bother"]
    assert rows[1][2:] == ["64.0 %63.1 to 64.9 % · highest", "55.0 %54.1 to 55.9 %"]
    lead = page.by("class", "lead")[0].words.replace(THIN, " ")
    assert lead.startswith("A (simclr-small) is ahead by the MLP probe: it classifies 72.3 %")
    assert "B 63.3 %" in lead
    assert "chance" not in lead


def test_losses_that_do_not_compare_are_not_overlaid(compared, tmp_path):
    (section,) = tree(compared).by("id", "curves")
    assert section.words.count("their numbers are not comparable") == 2
    one, other = write_run(tmp_path / "one"), write_run(tmp_path / "other", good=0.5)
    (section,) = tree(write_report([one, other], tmp_path / "report.html")).by("id", "curves")
    (chart,) = section.all("svg")
    curves = [p for p in chart.all("path") if p.attributes["class"] == "curve"]
    assert len(curves) == 2
    assert curves[0].attributes.get("stroke-dasharray") != curves[1].attributes["stroke-dasharray"]
    assert [t.words for t in chart.by("class", "letter")] == ["B", "A"]


def test_runs_with_the_same_figure_are_level(tmp_path):
    runs = [write_run(tmp_path / name) for name in ("one", "other", "worse")]
    for run, good in zip(runs, (0.64, 0.64, 0.5), strict=True):
        write_evaluation(run, good=good)
    page = tree(write_report(runs, tmp_path / "report.html"))
    lead = page.by("class", "lead")[0].words.replace(THIN, " ")
    assert "A and B are level by the MLP probe: they classify" in lead
    assert ", C " in lead
    assert "ahead" not in lead


def test_the_headline_of_several_says_whose_figure_it_is(tmp_path):
    """A figure of one run stood above both, and runs with other probes were called unmeasured."""
    runs = [write_run(tmp_path / name) for name in ("one", "other")]

    def lead():
        page = tree(write_report(runs, tmp_path / "report.html"))
        return page.by("class", "lead")[0].words.replace(THIN, " ")

    assert lead() == "Their accuracy has not been measured yet."
    write_evaluation(runs[1])
    assert lead().startswith(
        "B (simclr-small): An MLP probe on the frozen encoder classifies 72.3 %"
    )
    assert lead().endswith(" The accuracy of the others has not been measured yet.")
    write_evaluation(runs[0])
    for run, name in zip(runs, ("knn", "linear"), strict=True):
        record = json.loads((run / "evaluation.json").read_text())
        record["probes"] = [probe for probe in record["probes"] if probe["name"] == name]
        (run / "evaluation.json").write_text(json.dumps(record))
    assert lead() == "A and B have no probe in common to be compared by."


@pytest.mark.parametrize(("good", "may_be_chance"), [(0.655, True), (0.665, False)])
def test_intervals_that_overlap_are_said(good, may_be_chance, tmp_path):
    one, other = write_run(tmp_path / "one"), write_run(tmp_path / "other")
    write_evaluation(one, good=0.64)
    write_evaluation(other, good=good)
    page = words(write_report([one, other], tmp_path / "report.html"))
    assert ("their order may be due to chance" in page) == may_be_chance


def test_figures_of_other_images_do_not_compare(tmp_path):
    one, other = write_run(tmp_path / "one"), write_run(tmp_path / "other")
    write_evaluation(one)
    write_evaluation(other, fingerprint="0123456789abcdef")
    page = words(write_report([one, other], tmp_path / "report.html"))
    assert "evaluated on different images: the figures are not comparable" in page
    assert "They were evaluated on different images, and the figures are not comparable" in page
    assert "is ahead by" not in page


def test_the_losses_of_another_run_below_are_not_those_of_a_run(tmp_path):
    folder = write_run(tmp_path / "runs/one")
    own = read_findings(folder).loss
    write_run(folder / "longer", good=0.1)
    assert read_findings(folder).loss == own
    (folder / "metrics.csv").unlink()
    assert read_findings(folder).loss == ()
    with pytest.raises(SystemExit, match=r"runs has no run\.json"):
        main(["report", str(tmp_path / "runs"), "--out", str(tmp_path / "report.html")])


def test_the_command_repeats_the_run(tmp_path):
    folder = write_run(tmp_path / "a run", method="moco-small", epochs=3)
    found = read_findings(folder)
    again = repeat(found)
    typed = shlex.split(again.commands[0].replace("\\\n", " "))[1:]
    given = make_parser().parse_args(spelled(typed)).as_dict()["pretrain"]
    assert given["method"] == "moco-small"
    assert given["out"] == "a run-again"
    for key in ("epochs", "optimiser", "lr", "weight_decay", "seed"):
        assert given[key] == found.training[key]
    assert given["batch_size"] == found.training["batch"]
    assert given["steps"] is None  # 525 steps are three whole epochs
    assert again.missing == ()


def test_what_the_command_cannot_say_is_listed(tmp_path):
    folder = write_run(tmp_path / "run")
    record = json.loads((folder / "run.json").read_text())
    record["job"] |= {"steps": 100, "size": 32}
    record["job"]["data"] |= {"kind": "files", "limit": 2000, "count": 2000}
    record["job"]["training"]["warmup"] = 0.25
    (folder / "run.json").write_text(json.dumps(record))
    again = repeat(read_findings(folder))
    assert again.missing == ("warmup=0.25",)
    assert {"--steps 100", "--limit 2000", "--size 32"} <= set(
        re.findall(r"--(?:steps|limit|size) \d+", again.commands[0])
    )


def test_a_method_with_unknown_parts_is_shown_as_written(tmp_path):
    folder = write_run(tmp_path / "run")
    method = json.loads((folder / "method.json").read_text())
    method["loss"] = {"part": "MyLoss", "margin": 0.5}
    (folder / "method.json").write_text(json.dumps(method))
    page = words(write_report([folder], tmp_path / "report.html"))
    assert "MyLoss(margin=0.5)" in page
    assert "method of your own" in page


def test_many_classes_are_told_by_their_mistakes(tmp_path):
    folder = write_run(tmp_path / "run")
    write_evaluation(folder)
    record = json.loads((folder / "evaluation.json").read_text())
    counts = [[8 if a == b else int(b == (a + 1) % 50) * 2 for b in range(50)] for a in range(50)]
    for probe in record["probes"]:
        probe |= {"confusion": counts, "per_class": [0.8 - 0.01 * n for n in range(50)]}
    record["classes"] = CLASSES
    (folder / "evaluation.json").write_text(json.dumps(record))
    page = tree(write_report([folder], tmp_path / "report.html"))
    (section,) = page.by("id", "classes")
    assert "airplane taken for automobile (20 %)" in section.words.replace(THIN, " ")
    assert "40 of 50 classes" in section.words
    assert len(section.all("td")) == 40
