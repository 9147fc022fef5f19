"""The linear probe: multinomial logistic regression to its optimum."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from counterpoint.evaluation.probe import Fitted, Labelled, Standardise, Vectors, share_right
from counterpoint.progress import tracked

PENALTIES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)  # our grid; from strong to weak, each from the last
ITERATIONS = 100


def linear(train: Labelled, validation: Labelled, *, seed: int = 0) -> Fitted:  # noqa: ARG001
    r"""Fit weights to standardised vectors; the penalty is chosen on validation.

    $$ \min_W \frac{1}{n} \sum_i -\log softmax(W x_i + b)_{y_i} + \frac{\lambda}{2} |W|^2 $$

    Convex: there is one optimum, and no seed, rate or number of epochs to report.

    >>> known = torch.tensor([[-2.0], [-1.0], [1.0], [2.0]]), torch.tensor([0, 0, 1, 1])
    >>> probe = linear(known, known)
    >>> probe.validation, probe.predict(torch.tensor([[3.0]])).argmax().item()
    (1.0, 1)
    """
    standardise = Standardise(train[0])
    known, asked = standardise(train[0]), (standardise(validation[0]), validation[1])
    classes = int(train[1].max()) + 1
    weights = known.new_zeros(classes, known.shape[1] + 1)
    best: Fitted | None = None
    for penalty in tracked(PENALTIES, "linear probe"):
        weights = fit_logistic(known, train[1], weights, penalty=penalty)
        reached = share_right(logits(asked[0], weights).argmax(dim=1), asked[1])
        if best is None or reached > best.validation:
            chosen = weights

            def predict(vectors: Vectors, chosen: Tensor = chosen) -> Tensor:
                return logits(standardise(vectors), chosen).softmax(dim=1)

            best = Fitted(predict, reached, {"penalty": penalty})
    assert best is not None
    return best


def logits(
    vectors: Vectors, weights: Float[Tensor, "class feature_and_one"]
) -> Float[Tensor, "_ class"]:
    """Score every class; the last column of the weights is the bias."""
    return torch.addmm(weights[:, -1], vectors, weights[:, :-1].T)


def fit_logistic(
    vectors: Vectors, labels: Tensor, start: Tensor, *, penalty: float
) -> Float[Tensor, "class feature_and_one"]:
    """Minimise by L-BFGS from where the last penalty ended."""
    weights = start.clone().requires_grad_()
    search = torch.optim.LBFGS(
        [weights],
        max_iter=ITERATIONS,
        tolerance_grad=1e-6,
        tolerance_change=1e-9,
        line_search_fn="strong_wolfe",
    )

    def closure() -> Tensor:
        search.zero_grad()
        loss = F.cross_entropy(logits(vectors, weights), labels)
        loss = loss + 0.5 * penalty * weights[:, :-1].pow(2).sum()
        loss.backward()
        return loss

    search.step(closure)
    return weights.detach()
