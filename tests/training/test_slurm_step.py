"""What a process inside of a SLURM job takes itself for."""

import pytest
from lightning.fabric.plugins.environments import LightningEnvironment

from counterpoint.data.rows import local_ranks
from counterpoint.training.launcher import placement, say_missing_srun
from counterpoint.training.slurm_ranks import SlurmRanks, environments

BATCH = {
    "SLURM_JOB_ID": "17",
    "SLURM_JOB_NAME": "photos",
    "SLURM_NTASKS": "16",
    "SLURM_NNODES": "2",
    "SLURM_PROCID": "0",
    "SLURM_LOCALID": "0",
    "SLURM_NODEID": "0",
}
STEP = BATCH | {
    "SLURM_STEP_ID": "0",
    "SLURM_STEP_NUM_NODES": "2",
    "SLURM_STEP_TASKS_PER_NODE": "8(x2)",
    "SLURM_STEP_NODELIST": "gpu[07-08]",
    "SLURM_PROCID": "9",
    "SLURM_LOCALID": "1",
    "SLURM_NODEID": "1",
}


def test_a_process_of_srun_is_one_of_its_ranks():
    assert placement(1, STEP) == (8, 2)
    (ranks,) = environments(STEP)
    assert isinstance(ranks, SlurmRanks)
    assert (ranks.world_size(), ranks.global_rank(), ranks.local_rank()) == (16, 9, 1)
    assert (ranks.node_rank(), ranks.main_address, ranks.main_port) == (1, "gpu07", 10170)
    (told,) = environments(STEP | {"MASTER_ADDR": "10.0.0.7", "MASTER_PORT": "4000"})
    assert (told.main_address, told.main_port) == ("10.0.0.7", 4000)


@pytest.mark.parametrize(
    "one",
    [
        BATCH,  # a batch script that forgot srun
        STEP | {"SLURM_NTASKS": "1"},  # one task, which starts its own processes
        STEP | {"SLURM_JOB_NAME": "bash"},  # srun --pty bash
        STEP | {"SLURM_STEP_ID": "4294967290"},  # the shell of salloc
    ],
)
def test_other_processes_of_a_job_are_alone_or_start_their_own(one):
    assert placement(2, one) == (2, 1)
    (ranks,) = environments(one)
    assert isinstance(ranks, LightningEnvironment)


def test_outside_of_slurm_and_under_torchrun_lightning_looks_itself():
    assert environments({}) == []
    assert environments(STEP | {"TORCHELASTIC_RUN_ID": "x"}) == []


@pytest.mark.parametrize("shares", ["8,4", "9(x1),7"])
def test_nodes_with_different_numbers_of_processes_are_refused(shares):
    with pytest.raises(ValueError, match="ntasks-per-node"):
        placement(1, STEP | {"SLURM_STEP_TASKS_PER_NODE": shares})


def test_agents_with_different_numbers_of_processes_are_refused():
    three = {"TORCHELASTIC_RUN_ID": "x", "WORLD_SIZE": "3", "LOCAL_WORLD_SIZE": "2"}
    with pytest.raises(ValueError, match="nproc-per-node"):
        placement(1, three)


def test_a_forgotten_srun_is_said(capsys):
    say_missing_srun(1, BATCH)
    assert "this job has 16 tasks, and this is one process: write srun" in capsys.readouterr().err
    for asked, where in ((8, BATCH), (1, STEP), (1, BATCH | {"LOCAL_RANK": "1"}), (1, {})):
        say_missing_srun(asked, where)
    assert capsys.readouterr().err == ""


def test_memory_is_shared_by_the_processes_of_a_node(monkeypatch):
    for name in ("LOCAL_WORLD_SIZE", "WORLD_SIZE", "COUNTERPOINT_LOCAL_RANKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SLURM_STEP_TASKS_PER_NODE", "8(x2)")
    assert local_ranks() == 8
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "1")  # a rank on Ray sees one GPU
    monkeypatch.setenv("COUNTERPOINT_LOCAL_RANKS", "4")
    assert local_ranks() == 4
