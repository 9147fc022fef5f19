"""The pretrain command that a launcher starts: checked before it waits in a queue for hours."""

import shutil
import sys
from pathlib import Path

from counterpoint.address import is_address
from counterpoint.cli.bounds import refuse_out_of_bounds
from counterpoint.cli.early import refuse_early


def checked_pretrain(typed: list[str], ranks: int) -> tuple[list[str], str]:
    """Return the words of a command that resumes, and the place of its run.

    What the command itself would refuse is refused here, as far as that takes no torch. Data may be
    on the disks of the nodes alone.
    """
    from counterpoint.cli.typed_words import read_words

    words = typed[1:] if typed[:1] == ["counterpoint"] else list(typed)
    if words[:1] != ["pretrain"]:
        raise ValueError(f"launch: got {' '.join(words[:3])!r}; needs pretrain DATA --out RUN ...")
    _, asked = read_words(words)
    refuse_out_of_bounds(asked)
    given = {key: None if value is None else str(value) for key, value in asked.items()}
    data, out = str(asked["data"]), str(asked["out"])
    there = is_address(data) or Path(data).exists()
    refuse_early(
        data=data if there else None,
        method=given["method"],
        encoder=given["encoder"],
        weights=given["weights"],
        out_run=out,
        parts=given["parts"],
        known_bad=given["known_bad"],
    )
    if not there:
        sys.stderr.write(f"launch  there is no {data} on this machine; the nodes must have it\n")
    _refuse_ours(asked, ranks)
    if asked["resume"] != "auto":
        words += ["--resume", "auto"]
    return [installed("counterpoint"), *words], out


def _refuse_ours(asked: dict[str, object], ranks: int) -> None:
    """Refuse options that are the launcher's, or that do not fit it."""
    if asked["devices"] != 1:
        raise ValueError(
            f"launch: got --devices {asked['devices']} for pretrain; the launcher starts the "
            "processes: --nodes and --gpus-per-node or --processes-per-node"
        )
    if asked["resume"] not in ("never", "auto"):
        raise ValueError(
            f"launch: got --resume {asked['resume']}; a run that is started again resumes from its "
            "newest checkpoint: leave --resume out"
        )
    batch = asked["batch_size"]
    if isinstance(batch, int) and batch < ranks:
        raise ValueError(
            f"launch: got --batch-size {batch} for {ranks} processes; needs one image or more for "
            "each"
        )


def installed(command: str) -> str:
    """Return the path of a command: on the nodes no environment is active."""
    beside = Path(sys.executable).with_name(command)
    return str(beside) if beside.exists() else shutil.which(command) or command
