"""A script that is given to SLURM."""

import re
import shutil
import subprocess
from pathlib import Path

from counterpoint.failures import RunFailure


def submit(script: Path) -> int:
    """Submit a script by sbatch; return the number of the job."""
    sbatch = shutil.which("sbatch")
    if sbatch is None:
        raise ValueError(
            "launch: there is no sbatch on this machine; run this on a login node of the cluster, "
            "or give --print and copy the script there"
        )
    done = subprocess.run(  # noqa: S603 (our own script)
        [sbatch, "--parsable", str(script)], capture_output=True, text=True, check=False
    )
    found = re.match(r"(\d+)", done.stdout)
    if done.returncode != 0 or found is None:
        said = " ".join((done.stderr or done.stdout).split())
        raise RunFailure(f"launch: sbatch refused {script}: {said}")
    return int(found[1])
