"""How to repeat a run: the command, and what the command cannot say."""

import shlex
from dataclasses import dataclass

from counterpoint.job_record import JobRecord, weights_words, wrapped
from counterpoint.methods import METHODS
from counterpoint.report.findings import Findings
from counterpoint.report.tolerant import mapping
from counterpoint.run_options import FLAGS, flag


@dataclass(frozen=True, slots=True)
class Repeat:
    """Commands that make the same run again, and what they do not carry."""

    commands: tuple[str, ...]
    missing: tuple[str, ...]
    """Settings that the command has no option for."""
    unknown: bool = False
    """Whether run.json does not say how many images there were and how large the views."""


def repeat(run: Findings) -> Repeat:
    """Write the commands that pretrain, evaluate and report this run again."""
    again = shlex.quote(f"{run.folder}-again")
    if run.bare:
        report = f"counterpoint report {again} --data DATA"
        return Repeat(
            (wrapped(bare_command(run, data="DATA", out=f"{run.folder}-again")), report), ()
        )
    words = _from_settings(run) if run.job is None else _from_job(run, run.job)
    unsaid = {} if run.job is None else run.job.unsaid
    return Repeat(
        (
            wrapped(words),
            f"counterpoint evaluate {again} --data DATA",
            f"counterpoint report {again} --data DATA",
        ),
        tuple(f"{name}={value!r}" for name, value in unsaid.items()),
        unknown=run.job is None,
    )


def bare_command(run: Findings, *, data: str, out: str) -> list[str]:
    """Return the words that measure an encoder without a run, and keep it."""
    weights = mapping(run.bare.get("weights"))
    words = ["counterpoint", "evaluate", "--encoder", str(run.bare.get("encoder"))]
    words += weights_words(weights) if weights else []
    words += ["--size", str(run.image[-1])] if run.image else []
    return [*words, "--data", data, "--out", out]


def _from_job(run: Findings, job: JobRecord) -> list[str]:
    file = f"{run.folder}/method.json"
    return job.command(data="DATA", out=f"{run.folder}-again", file=file)


def _from_settings(run: Findings) -> list[str]:
    """Write what a run of an earlier version tells: its method, its settings and its steps."""
    method = run.name if run.name in METHODS else f"{run.folder}/method.json"
    words = ["counterpoint", "pretrain", "DATA", "--method", method]
    for setting in FLAGS:
        value = run.training.get(setting)
        if value is not None and value is not False:
            words += [flag(setting)] if value is True else [flag(setting), str(value)]
    words += [] if run.steps is None else ["--steps", f"{run.steps:.0f}"]
    return [*words, "--out", f"{run.folder}-again"]
