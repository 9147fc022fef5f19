"""How many processes train, and on how many machines: the same command under any launcher."""

from collections.abc import Mapping

INTERACTIVE = ("bash", "interactive")  # a shell in an allocation is one process, not a job


def placement(asked: int | str, environment: Mapping[str, str]) -> tuple[int | str, int]:
    """Return the devices of a machine and the machines: the launcher's, or what was asked for.

    torchrun and SLURM start the processes themselves, and say how many.

    >>> placement(2, {})
    (2, 1)
    >>> started = {"TORCHELASTIC_RUN_ID": "x", "WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "4"}
    >>> placement(1, started)
    (4, 2)
    >>> placement(1, {"SLURM_NTASKS": "16", "SLURM_NNODES": "2", "SLURM_JOB_NAME": "pretrain"})
    (8, 2)
    """
    if "TORCHELASTIC_RUN_ID" in environment:
        here = int(environment["LOCAL_WORLD_SIZE"])
        return here, int(environment["WORLD_SIZE"]) // here
    tasks = int(environment.get("SLURM_NTASKS", "1"))
    if tasks > 1 and environment.get("SLURM_JOB_NAME") not in INTERACTIVE:
        nodes = int(environment.get("SLURM_NNODES", "1"))
        return tasks // nodes, nodes
    return asked, 1
