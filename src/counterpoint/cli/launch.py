"""counterpoint launch."""

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from counterpoint.cli.early import refuse_unknown
from counterpoint.cli.last_words import last_words
from counterpoint.cli.launched_command import checked_pretrain, installed
from counterpoint.cli.launched_on_ray import launch_on_ray

if TYPE_CHECKING:
    from counterpoint.launch.rank_layout import RankLayout
    from counterpoint.launch.slurm_script import SlurmJob

RUNNERS = ("slurm", "torchrun", "ray")


def launch_command(
    runner: str,
    command: list[str],
    *,
    nodes: int = 1,
    gpus_per_node: int = 1,
    processes_per_node: int | None = None,
    cpus: int | None = None,
    time: str | None = None,
    partition: str | None = None,
    account: str | None = None,
    sbatch: str | None = None,
    signal_seconds: int = 120,
    address: str | None = None,
    name: str | None = None,
    logs: str = ".",
    restarts: int = 3,
    print: bool = False,  # noqa: A002 (the flag people know)
) -> None:
    """Train on several machines: by SLURM, by torchrun or on a Ray cluster.

    The command at the end is checked here, before anything is submitted, and resumes by itself
    after a time limit, a preemption or the loss of a machine. --print only writes the script.

    Example:
        counterpoint launch slurm --nodes 2 --gpus-per-node 8 --time 24:00:00
        pretrain photos --method simclr --out runs/photos

    Args:
        runner: slurm submits a job; torchrun starts the processes of this machine, and is run on
            each; ray starts them on a Ray cluster.
        command: The pretrain command, with all its options.
        nodes: Number of machines.
        gpus_per_node: GPUs of each machine; 0 trains on processors.
        processes_per_node: Processes of each machine (default: one per GPU).
        cpus: Cores of each process (default: what the cluster gives; with ray 1).
        time: Time limit of the job, such as 24:00:00 (default: that of the partition).
        partition: Partition of SLURM's (default: the cluster's own).
        account: Account that is charged (default: your own).
        sbatch: Further options of sbatch, such as "--qos=high --mem=200G" (default: none).
        signal_seconds: Seconds before the time limit at which the run writes a checkpoint, stops
            and is queued again.
        address: For torchrun HOST or HOST:PORT of one of the machines, where they meet; for ray
            the address of the cluster (default: this machine; the cluster around this process).
        name: Name of the job (default: that of the run's folder).
        logs: Folder of the log and the script.
        restarts: Number of times that a run which failed is started again; ten minutes of
            training set the count back to zero, except with torchrun.
        print: Print the script and do nothing else.
    """
    refuse_unknown("launch", runner, RUNNERS)
    from counterpoint.launch.rank_layout import RankLayout

    words, out = checked_pretrain(command, nodes * (processes_per_node or gpus_per_node or 1))
    layout = RankLayout(
        name=re.sub(r"[^\w.-]+", "-", name or Path(out).name).strip("-") or "pretrain",
        command=tuple(words),
        nodes=nodes,
        gpus=gpus_per_node,
        per_node=processes_per_node,
        cpus=cpus,
        restarts=restarts,
    )
    folder = Path(logs)
    if runner == "torchrun":
        _torchrun(layout, address, show=print)
    elif runner == "ray":
        launch_on_ray(layout, address, folder, show=print)
    else:
        from counterpoint.launch.slurm_script import SlurmJob

        job = SlurmJob(
            layout=layout,
            folder=str(Path.cwd()),
            log=str(folder / "%x-%j.log"),
            time=time,
            partition=partition,
            account=account,
            signal_seconds=signal_seconds,
            more=(sbatch,) if sbatch else (),
        )
        _slurm(job, folder, show=print)


def _slurm(job: "SlurmJob", folder: Path, *, show: bool) -> None:
    """Print the script of a job, or write it to a file and submit that."""
    from counterpoint.launch.slurm_script import slurm_script
    from counterpoint.launch.submission import submit

    layout, text = job.layout, slurm_script(job)
    if show:
        sys.stdout.write(text)
        if not folder.is_dir():
            sys.stderr.write(f"counterpoint: make the folder {folder} before you submit this\n")
        return
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{layout.name}.sbatch"
    file.write_text(text)
    number = submit(file)
    log = folder / f"{layout.name}-{number}.log"
    last_words(
        f"job {number} is submitted: {layout.words()}; script in {file}, log in {log}",
        ["tail", "-F", log],
        ["squeue", "--job", number],
        ["scancel", number],
    )


def _torchrun(layout: "RankLayout", address: str | None, *, show: bool) -> None:
    """Print the script of an agent, or become one."""
    from counterpoint.launch.torchrun_script import SHUTDOWN, torchrun_script, torchrun_words

    if address is None and layout.nodes > 1:
        raise ValueError(
            f"launch: got {layout.nodes} nodes and no --address; needs HOST or HOST:PORT of one of "
            "them, where they meet"
        )
    place = address or "localhost:0"
    torchrun = installed("torchrun")
    if show:
        folder = str(Path.cwd())
        sys.stdout.write(torchrun_script(layout, place, folder=folder, torchrun=torchrun))
        return
    sys.stderr.write(
        f"launch  {layout.words()}"
        + (f"; they meet at {place}: run this on each of them\n" if layout.nodes > 1 else "\n")
    )
    os.environ.setdefault("TORCH_ELASTIC_SHUTDOWN_TIMEOUT", str(SHUTDOWN))
    if layout.cpus is not None:
        os.environ["OMP_NUM_THREADS"] = str(layout.cpus)
    words = torchrun_words(layout, place, torchrun)
    os.execvp(words[0], words)  # noqa: S606 (no shell: the words are the user's own)
