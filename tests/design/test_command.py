"""counterpoint design, as it is typed: the plan, a search that is killed, and what it says."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from counterpoint.cli import main
from counterpoint.design.design_settings import DesignSettings, ImageFacts, epoch_flops, full_flops
from counterpoint.design.plan_words import OTHER, PROBED, ROTATION_FOLDS, plan_lines
from counterpoint.design.search_files import read_design
from counterpoint.report.words import duration

COUNTERPOINT = Path(sys.executable).with_name("counterpoint")
SHORT = ["--limit", "240", "--batch-size", "32", "--candidates", "3", "--full-epochs", "12"]


def test_a_plan_prints_rungs_and_writes_nothing(data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    asked = ["--full-epochs", "1", "--criteria", "rankme,lidar", "--without", "cmc"]
    asked += ["--runner", "ray", "--at-once", "2", "--address", "head:6379"]
    main(["design", str(data / "cifar10"), "--hours", "16", "--plan", *asked])
    said = capsys.readouterr().out
    assert "45,000 images" in said
    assert [line.split()[2] for line in said.splitlines() if line.startswith("rung")] == [
        "27",
        "9",
        "3",
    ]
    again = said.partition("next: counterpoint design")[2]
    assert all(" ".join(asked[place : place + 2]) in again for place in range(0, len(asked), 2))
    assert list(tmp_path.iterdir()) == []


def test_hours_hold_ten_rounds_and_a_trial_is_an_epoch_at_most():
    ground = ImageFacts((3, 32, 32), 32, 45_000)
    settings = DesignSettings(data="", full=1.0)
    epoch = epoch_flops(ground, settings.encoder)
    assert full_flops(epoch, hours=1000) == pytest.approx(epoch, rel=0.05)
    short = full_flops(epoch, hours=1)
    assert 10 * 9 * short / 20e9 <= 3600 * 1.05
    lines = plan_lines(DesignSettings(data="", full=short), ground, 1.0, 40e9)
    rounds = int(lines[-1].partition(" hold about ")[2].split()[0])
    assert rounds >= 6  # the criteria take their time too, in short trials most
    assert "ends after" not in lines[-1]
    few = plan_lines(DesignSettings(data="", full=short), ground, 1.0, 40e9, 2)
    assert "; it ends after 2 (--rounds): 54 candidates, " in few[-1]


def test_a_plan_says_what_rounds_without_halving_take():
    ground = ImageFacts((3, 32, 32), 32, 45_000)
    settings = DesignSettings(data="", full=1e12)
    seconds = 1e12 / 40e9 + OTHER + ROTATION_FOLDS  # of a full trial
    hours = 2.5 * 27 * seconds / 3600
    lines = plan_lines(settings, ground, hours, 40e9, None, 0)
    assert [line.split()[:3] for line in lines if line.startswith(("rung", "in full"))] == [
        ["in", "full", "27"]
    ]
    assert "a round is 27 full trials" in lines[-2]
    assert "hold about 2 rounds with 54 candidates" in lines[-1]
    one = plan_lines(settings, ground, hours, 40e9, 1, 0)
    assert one[-1].endswith(f"(--rounds): 27 candidates, {duration(27 * seconds)} of one core")
    assert ", 0.33 epochs of simclr-small" in one[0]
    whole = DesignSettings(data="", full=epoch_flops(ground, settings.encoder))
    assert ", 1 epoch of simclr-small" in plan_lines(whole, ground, hours, 40e9)[0]
    both = plan_lines(settings, ground, hours, 40e9, None, 1)
    assert sum(line.startswith("rung") for line in both) == 3
    assert "from round 1 on, without halving:" in both
    halved = int(
        plan_lines(settings, ground, hours, 40e9)[-1].partition(" hold about ")[2].split()[0]
    )
    assert halved > 2


def test_a_plan_counts_the_images_that_probes_read():
    ground = ImageFacts((3, 32, 32), 32, 45_000)

    def rounds(labelled):
        settings = DesignSettings(data="", full=1e12, labels="linear", labelled=labelled)
        every = PROBED * (45_000 + 5_000)  # for all labels
        seconds = 1e12 / 40e9 + OTHER + ROTATION_FOLDS + every
        lines = plan_lines(settings, ground, 2.5 * 27 * seconds / 3600, 40e9, None, 0)
        return int(lines[-1].partition(" hold about ")[2].split()[0])

    assert rounds(45_000) == rounds(10**6) == 2
    assert rounds(5_000) > 2


def test_a_missing_folder_and_unknown_names_are_said_at_once(capsys, data):
    for words, said in (
        (["nowhere"], "there is no folder nowhere"),
        ([str(data / "cifar10"), "--criteria", "rankmee"], "no criterion 'rankmee'"),
        ([str(data / "cifar10"), "--without", "cmc,mocco"], "without: got 'mocco'"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(["design", *words, "--hours", "1"])
        assert said in str(stop.value)


@pytest.mark.full
def test_killed_at_any_time_it_finds_what_an_undisturbed_search_does(data, tmp_path):
    command = [str(COUNTERPOINT), "design", str(data / "cifar10"), "--hours", "9", *SHORT]
    command += ["--rounds", "2"]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    subprocess.run([*command, "--out", str(whole)], check=True, capture_output=True)
    for outcomes in (1, 4, 7):
        running = subprocess.Popen(
            [*command, "--out", str(killed)], stderr=subprocess.DEVNULL, start_new_session=True
        )
        while len(list(killed.glob("trials/*/outcome.json"))) < outcomes:
            assert running.poll() is None
            time.sleep(0.2)
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    done = subprocess.run([*command, "--out", str(killed)], check=True, capture_output=True)
    assert b"next: counterpoint confirm" in done.stdout
    one, other = read_design(whole), read_design(killed)
    assert one.rounds == other.rounds
    assert len(one.rounds) == 2
    assert one.outcomes.keys() == other.outcomes.keys()
    for key, outcome in one.outcomes.items():
        assert outcome.figures == other.outcomes[key].figures
    for file in (whole / "rounds").iterdir():
        assert file.read_bytes() == (killed / "rounds" / file.name).read_bytes()
    assert len(json.loads((killed / "outcomes.json").read_text())["outcomes"]) == len(one.outcomes)
