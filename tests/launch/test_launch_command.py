"""counterpoint launch: the scripts, and mistakes that are found before a job waits in a queue."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from counterpoint.cli import main
from counterpoint.cli.launched_command import installed

PRETRAIN = ["pretrain", "photos", "--method", "simclr-small", "--out", "runs/my photos"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    (tmp_path / "photos").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(capsys, *words):
    main(["launch", *words])
    return capsys.readouterr().out


@pytest.mark.parametrize("dashes", [[], ["--"], ["--", "counterpoint"], ["counterpoint"]])
def test_a_slurm_script_stops_in_time_is_requeued_and_resumes(capsys, here, dashes):
    options = ["--nodes", "2", "--gpus-per-node", "8", "--time", "24:00:00", "--partition", "gpu"]
    options += ["--account", "vision", "--cpus", "6", "--sbatch", "--qos=high --mem=200G"]
    said = printed(capsys, "slurm", *options, "--print", *dashes, *PRETRAIN)
    for line in (
        "--job-name=my-photos",
        "--nodes=2",
        "--ntasks-per-node=8",
        "--gpus-per-node=8",
        "--cpus-per-task=6",
        "--time=24:00:00",
        "--partition=gpu",
        "--account=vision",
        "--signal=B:USR1@120",
        "--requeue",
        "--open-mode=append",
        "--output=%x-%j.log",
        f"--chdir={here}",
        "--qos=high --mem=200G",
    ):
        assert f"#SBATCH {line}\n" in said, line
    assert "--out 'runs/my photos'" in said
    assert "--resume auto" in said
    assert "scontrol show hostnames" in said
    assert not list(here.glob("*.sbatch"))
    assert subprocess.run(["bash", "-n"], input=said, text=True, check=False).returncode == 0


def test_torchrun_and_ray_are_printed_as_scripts(capsys, here):
    said = printed(capsys, "torchrun", "--nodes", "2", "--address", "a", "--print", *PRETRAIN)
    assert "--rdzv-endpoint=a:29400" in said
    assert "--nnodes=2" in said
    assert subprocess.run(["bash", "-n"], input=said, text=True, check=False).returncode == 0
    said = printed(capsys, "ray", "--nodes", "3", "--gpus-per-node", "0", "--print", *PRETRAIN)
    assert "ray start --head" in said
    assert subprocess.run(["bash", "-n"], input=said, text=True, check=False).returncode == 0
    words = said.partition("exec ")[2].replace("\\\n", " ").split()[1:]
    assert words[:6] == ["launch", "ray", "--nodes", "3", "--gpus-per-node", "0"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["slrum", *PRETRAIN], "did you mean slurm?"),
        (
            ["slurm", "--nodse", "2", *PRETRAIN],
            "launch has no option --nodse; did you mean --nodes",
        ),
        (["slurm", "--nodes", "0", *PRETRAIN], "--nodes is 0"),
        (["slurm"], "launch needs COMMAND"),
        (["slurm", "--", "evaluate", "runs/a"], "needs pretrain DATA"),
        (["slurm", *PRETRAIN, "--metod", "byol"], "pretrain has no option --metod"),
        (["slurm", *PRETRAIN, "--method", "simcrl"], "did you mean simclr?"),
        (["slurm", *PRETRAIN, "--epochs", "0"], "--epochs is 0"),
        (["slurm", *PRETRAIN, "--epochs", "many"], "--epochs needs a whole number"),
        (["slurm", *PRETRAIN, "--devices", "8"], "got --devices 8"),
        (["slurm", *PRETRAIN, "--resume", "runs/a/checkpoints/step-1"], "leave --resume out"),
        (["slurm", "--nodes", "9", *PRETRAIN, "--batch-size", "8"], "for 9 processes"),
        (["torchrun", "--nodes", "2", *PRETRAIN], "no --address"),
    ],
)
def test_mistakes_are_one_line_before_anything_is_submitted(capsys, words, complaint):
    with pytest.raises(SystemExit) as stop:
        main(["launch", *words])
    said = capsys.readouterr().err + str(stop.value.code)
    assert complaint in said
    assert "Traceback" not in said


def test_the_commands_of_the_page_about_clusters_can_be_typed(capsys):
    page = (Path(__file__).parents[2] / "docs" / "cluster.md").read_text()
    found = re.findall(r"^\$ counterpoint (launch (?!.*--print).*)$", page, re.MULTILINE)
    assert [command.split()[1] for command in found] == ["slurm", "torchrun", "ray"]
    for command in found:
        launch, runner, *words = command.split()
        main([launch, runner, "--print", *words])
        assert capsys.readouterr().out.startswith("#!/bin/bash\n")


def test_data_that_only_the_nodes_have_is_said_and_not_refused(capsys, here):
    (here / "photos").rmdir()
    main(["launch", "slurm", "--print", *PRETRAIN])
    assert "there is no photos on this machine; the nodes must have it" in capsys.readouterr().err


def test_without_sbatch_the_command_says_where_to_go(monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SystemExit) as stop:
        main(["launch", "slurm", *PRETRAIN])
    assert "there is no sbatch on this machine" in str(stop.value.code)


@pytest.mark.parametrize("more", ["--mem-per-cpu=4G --qos=high", "--qos=high", "--cpus-per-gpu 4"])
def test_options_of_sbatch_are_not_taken_for_ours(capsys, more):
    said = printed(capsys, "slurm", "--nodes", "1", "--sbatch", more, "--print", *PRETRAIN)
    assert f"#SBATCH {more}\n" in said


@pytest.mark.parametrize("name", ["pretrain", "counterpoint"])
def test_a_name_is_not_the_beginning_of_the_command(capsys, name):
    said = printed(capsys, "slurm", "--account", name, "--print", *PRETRAIN)
    assert f"#SBATCH --account={name}\n" in said
    said = printed(capsys, "ray", "--name", name, "--print", *PRETRAIN)
    assert f"--name {name}" in said


def test_a_command_elsewhere_on_the_path_is_found(tmp_path, monkeypatch):
    """As pip install --user puts it."""
    place = tmp_path / "bin" / "counterpoint-elsewhere"
    place.parent.mkdir()
    place.write_text("")
    place.chmod(0o755)
    monkeypatch.setenv("PATH", str(place.parent))
    assert installed("counterpoint-elsewhere") == str(place)
    assert installed("nowhere") == "nowhere"


def test_a_signal_between_two_attempts_queues_the_job_again(capsys, here):
    """The script itself, with a srun that fails and a scontrol that writes down what it is told."""
    script = printed(capsys, "slurm", "--time", "1:00:00", "--restarts", "3", "--print", *PRETRAIN)
    script = script.replace("sleep 5", "kill -USR1 $$; sleep 0.1")
    tools = here / "bin"
    tools.mkdir()
    (tools / "srun").write_text("#!/bin/bash\necho srun >> calls\nexit 1\n")
    (tools / "scontrol").write_text('#!/bin/bash\necho "scontrol $1" >> calls\n')
    for tool in tools.iterdir():
        tool.chmod(0o755)
    variables = {"PATH": f"{tools}:{os.environ['PATH']}", "SLURM_JOB_ID": "7"}
    done = subprocess.run(
        ["bash"], input=script, text=True, check=False, env=variables, capture_output=True
    )
    assert done.returncode == 143
    calls = (here / "calls").read_text().splitlines()
    assert calls.count("srun") == 1
    assert calls[-1] == "scontrol requeue"
