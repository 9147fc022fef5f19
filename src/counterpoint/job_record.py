"""A job as plain data: what run.json holds, and the command that repeats it."""

import shlex
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from counterpoint.framework.settings import Training, upgraded
from counterpoint.methods import RECIPES
from counterpoint.run_options import FLAGS, flag

QUIET = {
    "accumulate": 1,
    "precision": "32-true",
    "compile": False,
    "strategy": "ddp",
    "checkpoint_activations": False,
}
"""Settings that no recipe has: a command says them where they are others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRecord:
    """What was trained, on what, how and for how long; every field is plain data."""

    method: str
    """Its fingerprint."""
    name: str | None
    """What the command knows the method by; None where that is its method.json."""
    encoder: str | None
    """The name of the encoder that was asked for; None is the method's own."""
    recipe: str | None
    """The recipe whose training settings the command starts from."""
    data: dict[str, Any]
    """What the images say of themselves."""
    image: tuple[int, ...]
    size: int | None
    """The side of views that was asked for."""
    training: Training
    steps: int
    workers: int
    origin: str
    """Where the training settings come from."""
    start: dict[str, Any] | None = None
    """The run whose weights it started from: its folder, its steps and a digest."""
    weights: dict[str, Any] | None = None
    """The weights that the encoder started from: their file, its SHA-256, how they see pixels."""

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "JobRecord":
        """Read what `to_dict` returned, through JSON or not; unknown fields are left out."""
        known = {field.name for field in fields(cls)} & record.keys()
        plain = {name: record[name] for name in known}
        plain["training"] = read_training(plain["training"])
        plain["image"] = tuple(plain["image"])
        return cls(**plain)

    def command(
        self, *, data: str, out: str, file: str = "method.json", say: Collection[str] = tuple(FLAGS)
    ) -> list[str]:
        """Return the words of the command that repeats it.

        `file` is the method.json of a method without a name; `say` are the settings that are
        written down though they may be the method's own.
        """
        method = self.start["folder"] if self.start else self.name or file
        words = ["counterpoint", "pretrain", data, "--method", method]
        words += ["--encoder", self.encoder] if self.encoder else []
        words += weights_words(self.weights) if self.weights else []
        words += ["--size", str(self.size)] if self.size is not None else []
        for setting in say:
            value = getattr(self.training, setting)
            if QUIET.get(setting) != value:
                words += [flag(setting)] if value is True else [flag(setting), _plain(value)]
        if self.steps != self.training.epochs * self.epoch:
            words += ["--steps", str(self.steps)]
        if self.data["limit"] is not None:
            words += ["--limit", str(self.data["limit"])]
        return [*words, "--out", out]

    @property
    def epoch(self) -> int:
        """Steps of an epoch."""
        return int(self.data["count"]) // self.training.batch

    @property
    def unsaid(self) -> dict[str, Any]:
        """Settings that its recipe does not have and that the command has no option for."""
        return unsaid_settings(self.training, self.recipe)


def unsaid_settings(training: Training, recipe: str | None) -> dict[str, Any]:
    """Return the settings that differ from a recipe and that the command has no option for.

    >>> unsaid_settings(Training(warmup=0.2, lr=1.0), None)
    {'warmup': 0.2}
    """
    own = asdict(Training() if recipe is None else RECIPES[recipe].training)
    now = asdict(training)
    return {name: now[name] for name in now if name not in FLAGS and now[name] != own[name]}


def read_training(record: Mapping[str, Any]) -> Training:
    """Read training settings from JSON, which has lists where there were tuples."""
    plain: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in upgraded(record).items()
    }
    return Training(**plain)


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


def weights_words(record: Mapping[str, Any]) -> list[str]:
    """Return the words for weights; pixels are said where they were given by hand."""
    words = ["--weights", str(record["file"])]
    pixels = record.get("pixels") or {}
    for key in ("mean", "std") if pixels.get("origin") == "given" else ():
        words += [f"--{key}", ",".join(map(repr, pixels[key]))]
    return words


def _plain(value: object) -> str:
    return repr(value) if isinstance(value, float) else str(value)
