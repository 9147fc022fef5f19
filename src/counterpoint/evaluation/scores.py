"""What predictions are worth: accuracy with its interval, classes, confusion and calibration."""

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

BINS = 15  # Guo et al. 2017, section 4
RESAMPLES = 2_000  # our choice: the ends move by less than a tenth of the interval


def confusion(
    predicted: Int64[Tensor, " sample"], true: Int64[Tensor, " sample"], *, classes: int
) -> Int64[Tensor, "true predicted"]:
    """Count for each true class what was predicted.

    >>> confusion(torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1]), classes=2)
    tensor([[1, 1],
            [0, 1]])
    """
    places = true * classes + predicted
    return torch.bincount(places, minlength=classes * classes).view(classes, classes)


def per_class(counts: Int64[Tensor, "true predicted"]) -> Float[Tensor, " true"]:
    """Return the accuracy of each class; a class without samples has none (nan)."""
    return counts.diagonal().double() / counts.sum(dim=1)


def calibration_error(
    probabilities: Float[Tensor, "sample class"], true: Int64[Tensor, " sample"]
) -> float:
    r"""Return the expected calibration error (Guo et al. 2017).

    $$ \sum_b \frac{n_b}{n} | acc_b - conf_b | $$

    over bins of the confidence of the predicted class.

    >>> calibration_error(torch.tensor([[0.75, 0.25]] * 4), torch.tensor([0, 0, 0, 1]))
    0.0
    """
    confidence, predicted = probabilities.double().max(dim=1)
    place = (confidence * BINS).ceil().long().clamp(1, BINS) - 1
    right = (predicted == true).double()
    gap = torch.zeros(BINS, dtype=torch.float64).index_add_(0, place, right - confidence)
    return float(gap.abs().sum() / len(true))


def interval(
    right: Bool[Tensor, "seed sample"], *, seed: int = 0, level: float = 0.95
) -> tuple[float, float]:
    """Return a bootstrap interval of the mean accuracy: test images drawn again and again.

    It says what other test images might have given, not what other training might have.
    """
    return _bootstrap(right.double().mean(dim=0), seed=seed, level=level)


def difference_interval(
    after: Bool[Tensor, "seed sample"],
    before: Bool[Tensor, "seed_before sample"],
    *,
    seed: int = 0,
    level: float = 0.95,
) -> tuple[float, float]:
    """Return a bootstrap interval of the difference of two accuracies on the same test images.

    An image counts in both, so that its difficulty cancels out.

    >>> right = torch.tensor([[True, False, True, True]])
    >>> difference_interval(right, right)
    (0.0, 0.0)
    """
    each = after.double().mean(dim=0) - before.double().mean(dim=0)
    return _bootstrap(each, seed=seed, level=level)


def _bootstrap(each: Float[Tensor, " sample"], *, seed: int, level: float) -> tuple[float, float]:
    """Return the interval of a mean over samples that are drawn again and again."""
    generator = torch.Generator().manual_seed(seed)
    means = torch.stack(
        [
            each[torch.randint(len(each), (len(each),), generator=generator)].mean()
            for _ in range(RESAMPLES)
        ]
    )
    ends = torch.tensor([(1 - level) / 2, (1 + level) / 2], dtype=torch.float64)
    low, high = means.quantile(ends).tolist()
    return low, high


def bitmap(right: Bool[Tensor, " sample"]) -> str:
    """Write truths as hexadecimal digits, four to a digit, the first sample highest.

    >>> bitmap(torch.tensor([True, False, False, True, True]))
    '98'
    """
    return np.packbits(right.cpu().numpy()).tobytes().hex()[: -(-len(right) // 4)]


def from_bitmap(text: str, *, count: int) -> Bool[Tensor, " sample"]:
    """Read what `bitmap` wrote.

    >>> from_bitmap("98", count=5)
    tensor([ True, False, False,  True,  True])
    """
    if len(text) != -(-count // 4):
        raise ValueError(f"evaluation: got {len(text)} digits for {count} samples, four to a digit")
    whole = bytes.fromhex(text + "0" * (len(text) % 2))
    return torch.from_numpy(np.unpackbits(np.frombuffer(whole, np.uint8), count=count) > 0)
