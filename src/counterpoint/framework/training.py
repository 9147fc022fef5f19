"""How a method is trained: everything that is not one of its five parts."""

from dataclasses import dataclass
from typing import Literal

OptimiserName = Literal["lars", "sgd", "adam"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """The settings of one training run."""

    epochs: int = 100  # Chen et al. 2020, section 2.1
    batch: int = 256  # the smallest batch of Chen et al. 2020, figure 9: one machine
    """Images per step over all ranks; each gives two views or more."""
    optimiser: OptimiserName = "lars"
    lr: float = 0.3  # Chen et al. 2020, section 2.1: 0.3 x batch / 256
    """Learning rate per 256 images; the rate used is lr x batch / 256."""
    weight_decay: float = 1e-4  # google-research/simclr, README, CIFAR-10 command
    """Not for biases and norms."""
    momentum: float = 0.9  # google-research/simclr, run.py
    betas: tuple[float, float] = (0.9, 0.999)  # torch's
    """Of Adam."""
    warmup: float = 0.1  # Chen et al. 2020, section 2.1: 10 epochs of 100
    """Share of all steps in which the rate grows linearly."""
    schedule: Literal["cosine", "steps"] = "cosine"
    """What follows: a cosine to zero, or drops."""
    drops: tuple[float, ...] = ()
    """Shares of the run at which the rate is multiplied by `drop`, for schedule="steps"."""
    drop: float = 0.1
    seed: int = 0
    precision: Literal["32-true", "bf16-mixed", "64-true"] = "32-true"
    sync_batchnorm: bool = True
    """Batch norm over the images of all ranks, so that W ranks train as one process would."""
    compile: bool = False
    """Compile the encoder with torch.compile."""

    def __post_init__(self) -> None:
        for name in ("epochs", "batch", "lr"):
            if getattr(self, name) <= 0:
                raise ValueError(f"training: {name} is {getattr(self, name)}; needs more than 0")
        if not 0 <= self.warmup < 1:
            raise ValueError(f"training: warmup is {self.warmup}; needs a share from 0 to below 1")

    @property
    def scaled_lr(self) -> float:
        """The learning rate after scaling with the batch."""
        return self.lr * self.batch / 256
