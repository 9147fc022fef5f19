"""What SLURM tells a process that srun has started: how many there are, and which one this is."""

from collections.abc import Mapping
from dataclasses import dataclass

INTERACTIVE = ("bash", "interactive")  # a shell in an allocation is one process, not a job
SHELL_STEP = 4294967290  # SLURM_INTERACTIVE_STEP of slurm.h: the shell of salloc
PORTS = 20_000  # below those that Linux gives to connections, from 32,768 on


@dataclass(frozen=True, slots=True)
class SlurmStep:
    """The processes of one srun, and the place of this one among them."""

    tasks: int
    nodes: int
    rank: int
    local_rank: int
    node: int
    address: str
    """Where rank 0 listens: MASTER_ADDR, or the first node."""
    port: int
    """MASTER_PORT, or one that follows from the numbers of the job and the step."""


def slurm_step(environment: Mapping[str, str]) -> SlurmStep | None:
    """Read the step that this process is part of; None when srun did not start several.

    A batch script has the variables of its job, too, but is no step of it.

    >>> job = {"SLURM_JOB_ID": "17", "SLURM_NTASKS": "4", "SLURM_NNODES": "2"}
    >>> slurm_step(job) is None
    True
    >>> here = {"SLURM_PROCID": "3", "SLURM_LOCALID": "1", "SLURM_NODEID": "1"}
    >>> slurm_step(job | here | {"SLURM_STEP_ID": "0", "SLURM_STEP_NODELIST": "gpu[07-08]"})
    SlurmStep(tasks=4, nodes=2, rank=3, local_rank=1, node=1, address='gpu07', port=10170)
    """
    tasks = int(environment.get("SLURM_NTASKS", "1"))
    step = int(environment.get("SLURM_STEP_ID", str(SHELL_STEP)))
    if tasks == 1 or step >= SHELL_STEP or environment.get("SLURM_JOB_NAME") in INTERACTIVE:
        return None
    nodes = int(environment.get("SLURM_STEP_NUM_NODES") or environment.get("SLURM_NNODES", "1"))
    shares = environment.get("SLURM_STEP_TASKS_PER_NODE", "")
    if "," in shares or tasks % nodes:
        raise ValueError(
            f"launch: got {shares or tasks} processes on {nodes} nodes; needs as many on each: "
            "srun --ntasks-per-node=N"
        )
    names = environment.get("SLURM_STEP_NODELIST") or environment.get("SLURM_NODELIST", "127.0.0.1")
    job = int(environment.get("SLURM_JOB_ID", "0"))
    return SlurmStep(
        tasks,
        nodes,
        int(environment["SLURM_PROCID"]),
        int(environment["SLURM_LOCALID"]),
        int(environment["SLURM_NODEID"]),
        environment.get("MASTER_ADDR") or first_node(names),
        int(environment.get("MASTER_PORT") or 10_000 + (10 * job + step) % PORTS),
    )


def first_node(names: str) -> str:
    """Return the first name of a list as SLURM shortens it.

    >>> [first_node(names) for names in ("gpu07", "n1,n2", "gpu[07-08,11],cpu3", "r[1-2]n[3-4]")]
    ['gpu07', 'n1', 'gpu07', 'r1n3']
    """
    found, inside, skipping = "", False, False
    for letter in names:
        if letter == "," and not inside:
            break
        if letter in "[]":
            inside, skipping = letter == "[", False
        elif inside and letter in ",-":
            skipping = True
        elif not skipping:
            found += letter
    return found
