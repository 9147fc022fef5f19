"""The script of a SLURM job that stops before its time limit, is queued again, and resumes."""

import shlex
from dataclasses import dataclass

from counterpoint.launch.rank_layout import RankLayout, shell_lines

LATE = 900
"""Seconds that the first process which has ended leaves to the others. Rank 0 may be writing to a
slow store; a lost rank is noticed by the others, and only one lost while it starts takes this."""

LASTING = 600
"""Seconds of training after which a failure is not one in a row with those before."""

BODY = """
# Rank 0 listens on the first node, at the address by which SLURM itself reaches it.
first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
MASTER_ADDR=$(scontrol --oneliner show node "$first" | sed -n 's/.* NodeAddr=\\([^ ]*\\).*/\\1/p')
export MASTER_ADDR=${{MASTER_ADDR:-$first}}

# USR1 comes {seconds} s before the time limit: all finish their step and write a checkpoint.
told=no
run=
trap 'told=yes; [ -z "$run" ] || kill -USR1 "$run"' USR1

failures=0
while true; do
  export MASTER_PORT=$((10000 + (10 * SLURM_JOB_ID + failures) % 20000))
  began=$SECONDS
  srun {srun} \\
    {command} &
  run=$!
  wait "$run"
  code=$?
  if [ "$told" = yes ]; then
    wait "$run"  # the signal has ended the first wait
    code=$?
  fi
  run=
  [ "$code" -ne 0 ] || exit 0
  if [ "$told" = yes ]; then
    # 143 has written a checkpoint. Told before it could train, it may be so the next time, too.
    if [ "$code" -ne 143 ] && [ "${{SLURM_RESTART_COUNT:-0}}" -ge {restarts} ]; then
      echo "launch: told to stop before it trained: give more --time or fewer --signal-seconds"
      exit "$code"
    fi
    echo "launch: stopped before the time limit; job $SLURM_JOB_ID is queued again and resumes"
    scontrol requeue "$SLURM_JOB_ID"
    exit "$code"
  fi
  [ "$code" -ne 143 ] || exit "$code"  # scancel, or a preemption: SLURM decides
  [ $((SECONDS - began)) -lt {lasting} ] || failures=0
  failures=$((failures + 1))
  [ "$failures" -le {restarts} ] || exit "$code"
  echo "launch: exit code $code; restart $failures of {restarts} from the newest checkpoint"
  sleep 5
  if [ "$told" = yes ]; then
    echo "launch: told to stop between two attempts; job $SLURM_JOB_ID is queued again and resumes"
    scontrol requeue "$SLURM_JOB_ID"
    exit 143
  fi
done
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmJob:
    """A run as a job of SLURM's."""

    layout: RankLayout
    folder: str
    """Where the job works; paths of the command are relative to it."""
    log: str = "%x-%j.log"
    """The log, in SLURM's words: %x is the name of the job and %j its number."""
    time: str | None = None
    partition: str | None = None
    account: str | None = None
    signal_seconds: int = 120
    """Seconds before the time limit at which the run is told to stop."""
    more: tuple[str, ...] = ()
    """Further options of sbatch."""


def slurm_script(job: SlurmJob) -> str:
    r"""Write the batch script of a job.

    >>> layout = RankLayout(name="photos", command=("counterpoint", "pretrain"), nodes=2, gpus=8)
    >>> print(slurm_script(SlurmJob(layout=layout, folder="/home/me", time="24:00:00"))[:150])
    #!/bin/bash
    #SBATCH --job-name=photos
    #SBATCH --nodes=2
    #SBATCH --ntasks-per-node=8
    #SBATCH --gpus-per-node=8
    #SBATCH --time=24:00:00
    #SBATCH --signal
    """
    layout = job.layout
    options = {
        "job-name": layout.name,
        "nodes": layout.nodes,
        "ntasks-per-node": layout.processes,
        "gpus-per-node": layout.gpus or None,
        "cpus-per-task": layout.cpus,
        "time": job.time,
        "partition": job.partition,
        "account": job.account,
        "signal": f"B:USR1@{job.signal_seconds}",
        "requeue": "",
        "open-mode": "append",
        "output": job.log,
        "chdir": job.folder,
    }
    asked = [f"--{key}={value}" if value != "" else f"--{key}" for key, value in _said(options)]
    head = "".join(f"#SBATCH {option}\n" for option in (*map(_quoted, asked), *job.more))
    # srun does not take --cpus-per-task from sbatch since SLURM 22.05.
    srun = [f"--kill-on-bad-exit=0 --wait={LATE}"]
    srun += [f"--cpus-per-task={layout.cpus}"] if layout.cpus else []
    return f"#!/bin/bash\n{head}" + BODY.format(
        seconds=job.signal_seconds,
        srun=" ".join(srun),
        command=shell_lines(layout.command, indent=" " * 6),
        lasting=LASTING,
        restarts=layout.restarts,
    )


def _said(options: dict[str, object]) -> list[tuple[str, object]]:
    return [(key, value) for key, value in options.items() if value is not None]


def _quoted(option: str) -> str:
    """Quote a value as sbatch reads it, which is as a shell does."""
    flag, equals, value = option.partition("=")
    return f"{flag}{equals}{shlex.quote(value)}" if equals else option
