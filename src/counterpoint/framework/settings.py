"""How a method is trained: everything that is not one of its five parts."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, get_args

from counterpoint.framework.wire import SLICE_MEGABYTES

OptimiserName = Literal["lars", "sgd", "adam", "adamw"]
Schedule = Literal["cosine", "steps"]
Precision = Literal["32-true", "bf16-mixed", "64-true"]
Strategy = Literal["ddp", "fsdp2"]

NAMES = {
    "optimiser": OptimiserName,
    "schedule": Schedule,
    "precision": Precision,
    "strategy": Strategy,
}
MACHINE = ("strategy", "checkpoint_activations", "slice_megabytes")
"""Settings that fit a run to its machines: with others it is the same run, and resumes."""
POSITIVE = ("epochs", "batch", "lr", "accumulate", "eps", "gradient_scale", "slice_megabytes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """The settings of one training run.

    >>> Training(batch=1024, lr=0.3).scaled_lr
    1.2
    >>> Training(warmup=1.5)
    Traceback (most recent call last):
    ValueError: training: warmup is 1.5; needs a share from 0 to below 1
    """

    epochs: int = 100  # Chen et al. 2020, section 2.1
    batch: int = 256  # the smallest batch of Chen et al. 2020, figure 9: one machine
    """Images per update over all ranks; each gives two views or more."""
    accumulate: int = 1
    """Parts that a batch is worked through in, one after the other, for one update. Memory is that
    of a part; negatives and batch statistics are those of a part too."""
    optimiser: OptimiserName = "lars"
    """sgd has momentum; adam adds the decay to the gradient, adamw takes it off the weights."""
    lr: float = 0.3  # Chen et al. 2020, section 2.1: 0.3 x batch / 256
    """Learning rate per 256 images; the rate used is lr x batch / 256."""
    gradient_scale: float = 1.0
    """Multiplies the gradient: 2 where the authors add the losses of both views, of which ours is
    the mean. Adam does not notice; SGD does, and LARS for biases, norms and decay."""
    weight_decay: float = 1e-4  # google-research/simclr, README, CIFAR-10 command
    decay_norms: bool = False
    """Decay biases and norms too, and let LARS scale their rate."""
    momentum: float = 0.9  # google-research/simclr, run.py
    """Of LARS and SGD."""
    nesterov: bool = False
    betas: tuple[float, float] = (0.9, 0.999)  # torch's
    """Of Adam and AdamW, as is the next."""
    eps: float = 1e-8  # torch's
    warmup: float = 0.1  # Chen et al. 2020, section 2.1: 10 epochs of 100
    """Share of all steps in which the rate grows linearly."""
    schedule: Schedule = "cosine"
    """What follows: a cosine to zero, or drops."""
    drops: tuple[float, ...] = ()
    """Shares of the run at which the rate is multiplied by `drop`, for schedule="steps"."""
    drop: float = 0.1
    seed: int = 0
    lanes: int | None = None
    """Lanes that shards are read in, each of which gives as much to every batch; ranks take whole
    ones. None lets `resolve` choose them, and stays where the data has no shards."""
    block_shards: int | None = None
    """Shards of a lane that are mixed with each other; None as for lanes."""
    precision: Precision = "32-true"
    """fp16 is not offered: it needs its losses scaled, and bf16 does not."""
    sync_batchnorm: bool = True
    """Batch norm over the images of all ranks, so that W ranks train as one process would.
    Without it each rank has statistics of its own, and the run keeps those of rank 0."""
    compile: bool = False
    """Compile the encoder with torch.compile."""
    strategy: Strategy = "ddp"
    """What each of several ranks holds: ddp the whole model, fsdp2 its rows of every weight, of the
    gradient and of the optimiser's states."""
    checkpoint_activations: bool = False
    """Keep only the input of each block of the encoder, and compute the rest again in the backward
    pass: less memory, about a third more time, the same gradient."""
    slice_megabytes: float | None = None
    """Megabytes of the candidates of all ranks that a rank gathers at once; where they are more,
    they come in slices, and the loss and its gradient are the same. None is 64."""

    def __post_init__(self) -> None:
        for setting, names in NAMES.items():
            _known(setting, getattr(self, setting), get_args(names))
        for setting in POSITIVE:
            if (given := getattr(self, setting)) is not None and not given > 0:
                raise ValueError(f"training: {setting} is {given}; needs more than 0")
        for setting in ("lanes", "block_shards"):
            if (given := getattr(self, setting)) is not None and given < 1:
                raise ValueError(f"training: {setting} is {given}; needs 1 or more")
        if not self.weight_decay >= 0:
            raise ValueError(f"training: weight_decay is {self.weight_decay}; needs 0 or more")
        if not 0 <= self.warmup < 1:
            raise ValueError(f"training: warmup is {self.warmup}; needs a share from 0 to below 1")
        if self.batch % self.accumulate:
            raise ValueError(
                f"training: accumulate is {self.accumulate}, which does not divide the batch of "
                f"{self.batch}; take a batch that is a multiple of it"
            )
        if self.lanes is not None and self.micro_batch % self.lanes:
            raise ValueError(
                f"training: lanes is {self.lanes}, which does not divide the {self.micro_batch} "
                "images that are worked through at once; take a divisor of them"
            )

    @property
    def scaled_lr(self) -> float:
        """The learning rate after scaling with the batch."""
        return self.lr * self.batch / 256

    @property
    def micro_batch(self) -> int:
        """Images that are worked through at once, over all ranks."""
        return self.batch // self.accumulate

    @property
    def slice_bytes(self) -> float:
        """Bytes of candidates that are gathered at once."""
        return 1e6 * (SLICE_MEGABYTES if self.slice_megabytes is None else self.slice_megabytes)

    @property
    def states(self) -> int:
        """Numbers that the optimiser keeps for each weight."""
        return 2 if self.optimiser in ("adam", "adamw") else 1


def upgraded(record: Mapping[str, Any]) -> dict[str, Any]:
    """Read settings that were written before optimisers were called what they are.

    Then "adam" was AdamW and "sgd" was Nesterov's; what came later is as it was.

    >>> old = upgraded({"optimiser": "adam", "lr": 3e-3})
    >>> old["optimiser"], old["nesterov"], old["accumulate"]
    ('adamw', False, 1)
    """
    if "nesterov" in record or "optimiser" not in record:
        return dict(record)
    name = record["optimiser"]
    later = {
        "nesterov": name == "sgd",
        "decay_norms": False,
        "eps": 1e-8,
        "accumulate": 1,
        "gradient_scale": 1.0,
    }
    return {**record, **later, "optimiser": "adamw" if name == "adam" else name}


def fitting_batch(batch: int, images: int) -> int:
    """Return the batch, or the power of two that makes four updates of an epoch; 0 for too few.

    >>> fitting_batch(256, 100_000), fitting_batch(256, 300), fitting_batch(256, 3)
    (256, 64, 0)
    """
    return min(batch, 1 << (images // 4).bit_length() - 1) if images >= 8 else 0


def _known(setting: str, given: object, names: tuple[str, ...]) -> None:
    if given in names:
        return
    near = get_close_matches(str(given), names, n=1, cutoff=0.4)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    if setting == "precision" and str(given).startswith(("16", "fp16", "half")):
        hint = "; fp16 needs its losses scaled, which is not offered: take 'bf16-mixed'"
    raise ValueError(
        f"training: {setting} is {given!r}; needs one of {', '.join(map(repr, names))}{hint}"
    )
