"""How many processes train, and on how many machines: the same command under any launcher."""

import sys
from collections.abc import Mapping

from counterpoint.training.slurm_step import slurm_step

NUMBERS = ("LOCAL_RANK", "RANK", "SLURM_PROCID", "NODE_RANK")
"""Where a process finds which of several it is."""


def is_first(environment: Mapping[str, str]) -> bool:
    """Tell whether this process speaks for all, before the ranks have met.

    >>> is_first({}), is_first({"LOCAL_RANK": "0", "RANK": "8"})
    (True, False)
    """
    return all(environment.get(name, "0") == "0" for name in NUMBERS)


def placement(asked: int | str, environment: Mapping[str, str]) -> tuple[int | str, int]:
    """Return the devices of a machine and the machines: the launcher's, or what was asked for.

    torchrun and srun start the processes themselves, and say how many.

    >>> placement(2, {})
    (2, 1)
    >>> started = {"TORCHELASTIC_RUN_ID": "x", "WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "4"}
    >>> placement(1, started)
    (4, 2)
    """
    if "TORCHELASTIC_RUN_ID" in environment:
        here, ranks = int(environment["LOCAL_WORLD_SIZE"]), int(environment["WORLD_SIZE"])
        if ranks % here:
            raise ValueError(
                f"launch: got {here} processes here of {ranks} in all; needs as many on each "
                "machine: the same --nproc-per-node everywhere"
            )
        return here, ranks // here
    step = slurm_step(environment)
    if step is not None:
        return step.tasks // step.nodes, step.nodes
    return asked, 1


def say_missing_srun(asked: int | str, environment: Mapping[str, str]) -> None:
    """Say that a job of several tasks trains in one process, where nobody wrote srun."""
    tasks = int(environment.get("SLURM_NTASKS", "1"))
    inside = {"SLURM_STEP_ID", "LOCAL_RANK", "TORCHELASTIC_RUN_ID"} & {*environment}
    if tasks > 1 and asked == 1 and not inside:
        sys.stderr.write(
            f"slurm   this job has {tasks} tasks, and this is one process: write srun before the "
            "command, or let counterpoint launch slurm write the script\n"
        )
