"""What labels say during training: kNN and a linear classifier on a few frozen vectors."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.data import Source
from counterpoint.evaluation.health.snapshot import untouched
from counterpoint.evaluation.knn import knn
from counterpoint.evaluation.probe import share_right
from counterpoint.evaluation.representation import Representation
from counterpoint.framework import Model

KNOWN, ASKED = 1_200, 300  # labelled images: the standard error of an accuracy is at most 0.029
SHARE = 30  # one image in 30 at most, which is 1,500 of CIFAR-10's 45,000, so that it stays cheap
MIN_IMAGES = 100  # below this an accuracy says nothing
K = 20  # neighbours, as in docs/results.md
PENALTY = 0.1  # of the ridge, for standardised features; our choice


def ridge(
    bank: Float[Tensor, "known feature"],
    labels: Int64[Tensor, " known"],
    queries: Float[Tensor, "query feature"],
    *,
    penalty: float = PENALTY,
) -> Int64[Tensor, " query"]:
    r"""Classify by a linear regression on the classes, in closed form.

    $$ W = (X^T X / n + \lambda I)^{-1} X^T Y / n, $$

    for features X with mean 0 and deviation 1 and one column of Y for each class, centred.

    >>> bank = torch.tensor([[1.0, 0.0], [2.0, 1.0], [-1.0, 0.0], [-2.0, 1.0]])
    >>> ridge(bank, torch.tensor([3, 3, 1, 1]), torch.tensor([[5.0, 0.0], [-0.5, 1.0]]))
    tensor([3, 1])
    """
    mean, deviation = bank.mean(dim=0), bank.std(dim=0, correction=0).clamp(min=1e-6)
    known, asked = ((x - mean).double() / deviation for x in (bank, queries))
    classes = F.one_hot(labels).double()
    wanted = classes - classes.mean(dim=0)
    gram = known.mT @ known / len(known) + penalty * torch.eye(known.shape[1], device=bank.device)
    weight = torch.linalg.solve(gram, known.mT @ wanted / len(known))
    found: Tensor = (asked @ weight + classes.mean(dim=0)).argmax(dim=1)
    return found


def probed(model: Model, source: Source, order: Int64[Tensor, " sample"]) -> dict[str, float]:
    """Return the accuracies `knn` and `linear` on the first samples in an order, or nothing.

    Four in five are known and one in five is asked; what cannot be read is left out. Nothing
    without labels, with too few images, or where a vector is not finite. The model stays as it
    was.

    >>> from counterpoint import as_source, simclr_small
    >>> images = as_source(torch.zeros(8, 3, 16, 16, dtype=torch.uint8))
    >>> probed(simclr_small().build(image=(3, 16, 16)), images, torch.arange(8))  # no labels
    {}
    """
    count = min(KNOWN + ASKED, len(source) // SHARE)
    if not source.has_labels or count < MIN_IMAGES:
        return {}
    some = source.subset("probe", order[:count])
    with untouched(model):
        found = Representation(model).readable(some)
    vectors, count = found.vectors, len(found.index)
    if count < MIN_IMAGES or not bool(vectors.isfinite().all()):
        return {}
    asked = count * ASKED // (KNOWN + ASKED)
    try:
        truth = source.labels_of(order[found.index])
    except ValueError:  # some items of a dataset have labels, and some have none
        return {}
    known = (vectors[asked:], truth[asked:])
    guesses = {"knn": knn(*known, vectors[:asked], k=K), "linear": ridge(*known, vectors[:asked])}
    return {name: share_right(guess, truth[:asked]) for name, guess in guesses.items()}
