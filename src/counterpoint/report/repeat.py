"""How to repeat a run: the command, and what the command cannot say."""

import re
import shlex
from dataclasses import asdict, dataclass

from counterpoint.framework.settings import Training
from counterpoint.methods import METHODS, recipe_of, training_of
from counterpoint.report.findings import Findings

FLAGS = {
    "epochs": "--epochs",
    "batch": "--batch-size",
    "accumulate": "--accumulate",
    "optimiser": "--optimiser",
    "lr": "--lr",
    "weight_decay": "--weight-decay",
    "seed": "--seed",
}


@dataclass(frozen=True, slots=True)
class Repeat:
    """Commands that make the same run again, and settings that they do not carry."""

    commands: tuple[str, ...]
    missing: tuple[str, ...]


def repeat(run: Findings) -> Repeat:
    """Write the commands that pretrain, evaluate and report this run again."""
    method = run.name if run.name in METHODS else f"{run.folder}/method.json"
    words = ["counterpoint", "pretrain", "DATA", "--method", method]
    for key, flag in FLAGS.items():
        if key in run.training:
            words += [flag, _plain(run.training[key])]
    if run.training.get("precision", "32-true") != "32-true":
        words += ["--precision", str(run.training["precision"])]
    if run.training.get("compile") is True:
        words += ["--compile"]
    words += [*_steps(run), *_limit(run), *_size(run), "--out", f"{run.folder}-again"]
    again = shlex.quote(f"{run.folder}-again")
    return Repeat(
        (
            wrapped(words),
            f"counterpoint evaluate {again} --data DATA",
            f"counterpoint report {again} --data DATA",
        ),
        _missing(run),
    )


def wrapped(words: list[str], *, width: int = 64) -> str:
    r"""Write a command over several lines, each ended as a shell wants it.

    >>> print(wrapped(["counterpoint", "pretrain", "DATA", "--out", "a b"], width=26))
    counterpoint pretrain DATA \
      --out 'a b'
    """
    lines = [""]
    for word in words:
        quoted = shlex.quote(word)
        if word.startswith("--") and len(lines[-1]) + 16 > width:
            lines.append("  ")
        lines[-1] += quoted if not lines[-1].strip() else f" {quoted}"
    return " \\\n".join(lines)


def images_of(data: str | None) -> int | None:
    """Read how many images a source had from its description.

    >>> images_of("cifar10 train first 3,000: 3,000 images, 3 x 32 x 32, 10 classes")
    3000
    """
    found = re.search(r": ([\d,]+) image", data or "")
    return int(found[1].replace(",", "")) if found else None


def _steps(run: Findings) -> list[str]:
    """Say the steps where they are not those of whole epochs."""
    images, settings = images_of(run.data), run.training
    if run.steps is None or images is None or not {"batch", "epochs"} <= settings.keys():
        return []
    whole = settings["epochs"] * (images // settings["batch"])
    return [] if run.steps == whole else ["--steps", f"{run.steps:.0f}"]


def _limit(run: Findings) -> list[str]:
    found = re.search(r" first ([\d,]+):", run.data or "")
    return ["--limit", found[1].replace(",", "")] if found else []


def _size(run: Findings) -> list[str]:
    files = "image files" in (run.data or "") and run.image
    return ["--size", str(run.image[-1])] if files else []


def _missing(run: Findings) -> tuple[str, ...]:
    """List settings that the method's own do not have and the command does not take."""
    name = None if run.method is None else recipe_of(run.method)
    own = asdict(Training() if name is None else training_of(name))
    said = {*FLAGS, "precision", "compile"}
    return tuple(
        f"{key}={value!r}"
        for key, value in run.training.items()
        if key not in said and _listed(own.get(key)) != _listed(value)
    )


def _listed(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _plain(value: object) -> str:
    return repr(value) if isinstance(value, float) else str(value)
