"""ReSSL's loss: an anchor relates to earlier vectors as its positive does."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from counterpoint.framework import ALONE, PartError, Scores, Terms, World
from counterpoint.framework.precision import at_least_fp32, without_autocast
from counterpoint.framework.records import NOBODY
from counterpoint.parts.losses.crowded import AREA
from counterpoint.parts.losses.softmax import negatives_only, summarise

EPS = 1e-12  # of a length, as in torch's normalize
Keyed = Float[Tensor, "key channel"]
Memory = Float[Tensor, "remembered channel"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationalCrossEntropy:
    r"""The softmax of the positive over the negatives is the target of the anchor's (ReSSL).

    $$ - \sum_k p_k \log \frac{e^{s_k}}{\sum_j e^{s_j}}, \quad
       p = \mathrm{softmax}_k(\cos(c^+, c_k) / \tau_t) $$

    The scores s of the anchor have the temperature of the similarity; the target has a lower one
    of its own, and no gradient (Zheng et al. 2021, section 3.2). The score of the anchor with its
    positive does not occur. The negatives must be the same for all anchors: those of a queue.

    >>> scores = Scores(
    ...     anchors=torch.tensor([[10.0, 0.0]]),  # a cosine over 0.1
    ...     candidates=torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]),
    ...     anchor_identity=torch.tensor([-2]), candidate_identity=torch.tensor([-2, -1, -1]),
    ... )
    >>> RelationalCrossEntropy().build(10.0)(scores).total.exp()  # two that are equally far
    tensor(2.)
    """

    part: ClassVar[Literal["loss"]] = "loss"
    needs_negatives: ClassVar[bool] = True

    target_tau: float = 0.04  # mingkai-zheng/ReSSL, ressl.py, --t
    """tau_t, the temperature of the target."""

    def __post_init__(self) -> None:
        if not self.target_tau > 0:
            raise PartError("loss", got=f"target_tau={self.target_tau}", needs="one above 0")

    def build(self, _bound: float | None) -> "RelationalCrossEntropy":
        return self

    def __call__(self, scores: Scores, _world: World = ALONE) -> Terms:
        memory = _memory(scores)
        found = summarise(scores)
        pairs, anchors = found.pairs, at_least_fp32(scores.anchors)
        count = anchors.new_full((), pairs.anchors)
        if not len(memory):  # the first step of a queue
            return Terms(anchors.sum() * 0.0, count)
        keys = at_least_fp32(scores.candidates)[pairs.candidate].detach()
        related = mean_related(keys, memory, self.target_tau)
        terms = found.negative[pairs.anchor] - (anchors[pairs.anchor] * related).sum(dim=1)
        return Terms((terms / pairs.count[pairs.anchor]).sum(), count)


def mean_related(keys: Keyed, memory: Memory, tau: float) -> Keyed:
    """Return the mean of remembered vectors, weighted by the softmax of each key's cosines.

    The mean of the scores of an anchor is then one dot product with it. The weights are constants.

    >>> mean_related(torch.eye(2), torch.eye(2), 0.01).round()
    tensor([[1., 0.],
            [0., 1.]])
    """
    found: Tensor = _MeanRelated.apply(keys, memory, tau)
    return found


class _MeanRelated(Function):
    """Some keys at a time, forward and backward: never all scores.

    Results are written into one tensor. As a list of small ones they would stand between the large
    temporary ones on the heap and keep those from being used again: 520 MB for 8,192 keys.
    """

    @staticmethod
    def forward(ctx: Any, keys: Tensor, memory: Tensor, tau: float) -> Tensor:
        keys = F.normalize(keys, dim=1) / tau
        lengths = memory.norm(dim=1).clamp(min=EPS)
        ctx.save_for_backward(keys, memory, lengths)
        found = torch.empty_like(keys)
        with without_autocast(keys.device):
            for rows in _blocks(keys, memory):
                torch.mm(_shares(keys[rows], memory, lengths), memory, out=found[rows])
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor | None, None]:
        keys, memory, lengths = ctx.saved_tensors
        if not ctx.needs_input_grad[1]:
            return None, None, None
        found = torch.zeros_like(memory)
        with without_autocast(keys.device):
            for rows in _blocks(keys, memory):
                shares = _shares(keys[rows], memory, lengths)
                torch.addmm(found, shares.mT, gradient[rows], out=found)
        return None, found, None


def _blocks(keys: Tensor, memory: Tensor) -> Iterator[slice]:
    height = max(1, AREA // len(memory))
    return (slice(start, start + height) for start in range(0, len(keys), height))


def _shares(keys: Tensor, memory: Tensor, lengths: Tensor) -> Tensor:
    """Return the softmax of some keys, of length 1 / tau, over the directions of the memory."""
    return (keys @ memory.mT).div_(lengths).softmax(dim=1)


def _memory(scores: Scores) -> Memory:
    """Return the candidates that are negatives of every anchor; refuse other negatives."""
    loud = negatives_only(scores)
    if loud is None or bool((loud.candidate_identity != NOBODY).any()):
        raise PartError(
            "loss",
            got="negatives that differ from anchor to anchor",
            needs="the same for all: vectors of earlier steps",
            do="use the extraction Queue(of=Keys())",
        )
    if scores.clip is not None:
        raise PartError(
            "loss",
            got=f"scores clipped at {scores.clip}",
            needs="scores without a clip, whose mean is the score of a mean",
            do="use Cosine",
        )
    return at_least_fp32(loud.candidates)
