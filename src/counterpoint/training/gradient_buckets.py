"""The buckets in which the gradients of all ranks are added up, fixed before the first step."""

from collections.abc import Sequence

from torch import Tensor
from torch.nn.parallel import DistributedDataParallel


def settle_buckets(module: DistributedDataParallel) -> None:
    r"""Let torch arrange its buckets now, and not after the first step of each start.

    Torch puts gradients into buckets by the order of the weights, and again by the order in which
    they came in the first step. From three ranks on, the order in which a number is added up over
    the ranks depends on its place in its bucket. So the first step of a run that resumes would
    add in another order than the same step of a run that never stopped.

    Here a gradient of zeros goes through, $L = \sum_p 0 \cdot p$, so that the second arrangement
    is that of every step.
    """
    if module.find_unused_parameters or module.static_graph:
        return  # torch keeps the first arrangement, or knows it before the first step
    weights = [weight for weight in module.parameters() if weight.requires_grad]
    module.reducer.prepare_for_forward()
    module.reducer.prepare_for_backward([])
    _zero(weights).backward()
    for weight in weights:
        weight.grad = None


def _zero(weights: Sequence[Tensor]) -> Tensor:
    """Return a zero that every weight has a part in."""
    total = (weights[0] * 0).sum()
    for weight in weights[1:]:
        total = total + (weight * 0).sum()
    return total
