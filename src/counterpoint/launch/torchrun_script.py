"""The script of torchrun: one agent on each machine, which starts its processes again."""

import shlex

from counterpoint.launch.rank_layout import RankLayout, shell_lines

PORT = 29400
"""The port at which the agents meet unless the address has one."""

SHUTDOWN = 600
"""Seconds that an agent which is told to stop leaves its processes for their checkpoint."""


def torchrun_words(layout: RankLayout, address: str, torchrun: str = "torchrun") -> list[str]:
    """Return the command of an agent.

    >>> layout = RankLayout(name="photos", command=("counterpoint", "pretrain"), nodes=2, gpus=8)
    >>> torchrun_words(layout, "node1")[1:5]
    ['--nnodes=2', '--nproc-per-node=8', '--max-restarts=3', '--rdzv-backend=c10d']
    """
    endpoint = address if ":" in address else f"{address}:{PORT}"
    return [
        torchrun,
        f"--nnodes={layout.nodes}",
        f"--nproc-per-node={layout.processes}",
        f"--max-restarts={layout.restarts}",
        "--rdzv-backend=c10d",
        f"--rdzv-endpoint={endpoint}",
        f"--rdzv-id={layout.name}",
        *layout.command,
    ]


def torchrun_script(layout: RankLayout, address: str, *, folder: str, torchrun: str) -> str:
    """Write the script that each machine runs.

    >>> layout = RankLayout(name="photos", command=("counterpoint", "pretrain"), nodes=2)
    >>> torchrun_script(layout, "node1", folder="/home/me", torchrun="torchrun").splitlines()[1]
    '# Run this on each of 2 machines. They meet at node1, which must be one of them.'
    """
    machines = f"each of {layout.nodes} machines" if layout.nodes > 1 else "the machine"
    meeting = f" They meet at {address}, which must be one of them." if layout.nodes > 1 else ""
    threads = "" if layout.cpus is None else f"export OMP_NUM_THREADS={layout.cpus}\n"
    return (
        "#!/bin/bash\n"
        f"# Run this on {machines}.{meeting}\n"
        "# Where an agent or its machine was lost, stop the others and run it again on all of\n"
        "# them: the run resumes from the newest checkpoint.\n"
        f"cd {shlex.quote(folder)} || exit 1\n"
        f"export TORCH_ELASTIC_SHUTDOWN_TIMEOUT={SHUTDOWN}  # for the checkpoint, after SIGTERM\n"
        f"{threads}"
        f"exec {shell_lines(torchrun_words(layout, address, torchrun))}\n"
    )
