"""A built similarity: vectors become the two factors of their scores."""

from dataclasses import replace

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from counterpoint.framework import ALONE, Comparison, Everyone, Scores, World
from counterpoint.framework.precision import at_least_fp32
from counterpoint.parts.similarity.temperature import Temperature


class Phi(nn.Module):
    """A built similarity: squash(scale <p(a), q(b)>), with one map p for both where q is None.

    >>> phi = Phi(Unit(), scale=Temperature(0.5))  # cosine over 0.5
    >>> a = torch.tensor([[3.0, 0.0], [0.0, 2.0]])
    >>> compared = Comparison(
    ...     anchors=a, candidates=a, anchor_identity=torch.arange(2),
    ...     candidate_identity=torch.arange(2), itself=0,
    ... )
    >>> scores = phi(compared, ALONE)
    >>> (scores.anchors @ scores.candidates.T).round(decimals=4)
    tensor([[2., 0.],
            [0., 2.]])
    """

    def __init__(
        self,
        p: nn.Module,
        q: nn.Module | None = None,
        *,
        scale: Temperature | None = None,
        clip: float | None = None,
        bound: float | None = None,
        cosine: bool = True,
    ) -> None:
        super().__init__()
        self.p, self.q = p, q
        self.scale = scale or Temperature(1.0)
        self.clip, self.bound, self.cosine = clip, bound, cosine
        head = p if q is None else q
        self.learned = any(True for _ in head.parameters())

    def forward(self, comparison: Comparison, world: World) -> Scores:
        if self.learned:  # a head sees each remembered vector once, as in one process
            comparison = among_ranks(comparison, world)
        anchors = at_least_fp32(self.p(comparison.anchors))
        scale = self.scale()
        q = self.p if self.q is None else self.q
        shared = self.q is None and comparison.anchors is comparison.candidates
        if shared:
            # One run of the head. Half of the scale on each side keeps them the same vectors.
            anchors = candidates = anchors * scale**0.5
        else:
            anchors, candidates = anchors * scale, at_least_fp32(q(comparison.candidates))
        slices = world.slices(candidates, comparison.everyone)
        reach = world if slices is None else ALONE  # those of the others come later
        gathered = reach.gather(candidates, comparison.candidate_identity, comparison.everyone)
        vectors, identity, past = gathered.vectors, gathered.identity, comparison.remembered
        if past is not None:
            old = at_least_fp32(q(past.vectors))
            vectors = torch.cat([vectors, old * scale**0.5 if shared else old])
            identity = torch.cat([identity, past.identity.to(identity.device)])
        return Scores(
            anchors=anchors,
            candidates=vectors,
            anchor_identity=comparison.anchor_identity,
            candidate_identity=identity,
            itself=None if comparison.itself is None else gathered.start + comparison.itself,
            shared=shared,
            clip=self.clip,
            bound=self.bound,
            anchor_views=comparison.anchor_views,
            candidate_views=gathered.views(comparison.candidate_views),
            slices=slices,
        )


def among_ranks(comparison: Comparison, world: World) -> Comparison:
    """Divide what is remembered among the ranks, as candidates that they then gather.

    A head then sees each remembered vector once, as in one process.
    """
    past = comparison.remembered
    if past is None:
        return comparison
    vectors, identities = (t.tensor_split(world.size) for t in (past.vectors, past.identity))
    own = comparison.candidate_identity, identities[world.rank].to(comparison.candidate_identity)
    everyone = comparison.everyone
    if everyone is not None:
        each = zip(everyone.identity.split(everyone.sizes), identities, strict=True)
        parts = [torch.cat(pair) for pair in each]
        everyone = Everyone(torch.cat(parts), tuple(map(len, parts)))
    return replace(
        comparison,
        candidates=torch.cat([comparison.candidates, vectors[world.rank]]),
        candidate_identity=torch.cat(own),
        everyone=everyone,
        remembered=None,
        candidate_views=(),
    )


class Unit(nn.Module):
    """Scale each vector to length one, in fp32 at least.

    >>> Unit()(torch.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """

    def forward(self, vectors: Float[Tensor, "vector channel"]) -> Float[Tensor, "vector channel"]:
        return F.normalize(at_least_fp32(vectors), dim=1)
