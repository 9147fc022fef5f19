"""What is looked at when a composition runs on the meta device."""

from inspect import signature

from torch import Tensor, nn

from counterpoint.framework.contracts import BuiltLoss, BuiltSimilarity
from counterpoint.framework.errors import PartError
from counterpoint.framework.optional import anchors_only, is_cosine, needs_cosine
from counterpoint.framework.records import NOBODY, Comparison, Maps


def takes_scores_and_world(loss: BuiltLoss) -> None:
    """Refuse a loss that cannot be called as `contrast` does; only its arguments are looked at."""
    called = signature(loss.forward if isinstance(loss, nn.Module) else loss)
    try:
        called.bind("scores", "world")
    except TypeError as error:
        raise PartError(
            "loss",
            got=f"{type(loss).__name__}{called}",
            needs="a loss that is called as loss(scores, world)",
            do="add the argument world; a sum over anchors need not use it",
        ) from error


def common_widths(comparisons: tuple[Comparison, ...]) -> tuple[int, int]:
    """Read the width of anchors and candidates; all comparisons share one similarity."""
    for one in comparisons:
        if not isinstance(one.anchor_identity, Tensor):
            raise PartError(
                "extraction",
                got=f"identities that are {type(one.anchor_identity).__name__}",
                needs="a tensor of int64",
                do="an extraction is called with (encoded, samples, world): take samples.index",
            )
    widths = {(c.anchors.shape[1], c.candidates.shape[1]) for c in comparisons}
    if len(widths) != 1:
        raise PartError(
            "extraction",
            got=f"comparisons of widths {sorted(widths)}",
            needs="one width for all anchors and one for all candidates",
            do="bring the maps together by learned 1x1 maps",
        )
    return widths.pop()


def trains_the_encoder(maps: tuple[Maps, ...], comparisons: tuple[Comparison, ...]) -> None:
    """Refuse vectors that are all constants where the maps are not: no weight would ever move."""
    vectors = [side for one in comparisons for side in (one.anchors, one.candidates)]
    if _train(maps) and not any(side.requires_grad for side in vectors):
        raise PartError(
            "extraction",
            got="anchors and candidates without a gradient",
            needs="one of them to train the encoder",
            do="take away a twin, StopGradient or NearestAnchors: each makes a side constant",
        )


def _train(maps: tuple[Maps, ...]) -> bool:
    """Whether the encoder is built to be trained: not under `torch.no_grad()`, nor frozen."""
    return any(m.requires_grad for view in maps for m in view)


def trains_by_anchors(
    loss: BuiltLoss, maps: tuple[Maps, ...], comparisons: tuple[Comparison, ...]
) -> None:
    """Refuse anchors that are constants where the maps are not and the loss reads nothing else."""
    constant = _train(maps) and not any(one.anchors.requires_grad for one in comparisons)
    if anchors_only(loss) and constant:
        raise PartError(
            "extraction",
            got="anchors without a gradient",
            needs=f"anchors that train the encoder: {type(loss).__name__} reads no candidates",
            do="take away what makes anchors constant, such as NearestAnchors",
        )


def scores_are_cosines(loss: BuiltLoss, similarity: BuiltSimilarity) -> None:
    """Refuse a loss of the angle for scores that do not say the angle."""
    if needs_cosine(loss) and not is_cosine(similarity):
        raise PartError(
            "loss",
            got="scores that are not a cosine over a constant tau",
            needs=f"such a cosine: {type(loss).__name__} uses the angle between vectors",
            do="use Cosine or ProjectedCosine with learn_tau=False",
        )


def finds_negatives(loss: BuiltLoss, comparisons: tuple[Comparison, ...]) -> None:
    """Refuse a loss that needs negatives where no candidate can be one: it would always be 0."""
    if not loss.needs_negatives or any(_may_have_negatives(one) for one in comparisons):
        return
    raise PartError(
        "extraction",
        got="candidates that are only positives of their own anchors",
        needs=f"negatives for {type(loss).__name__}",
        do="put Queue(of=...) around the extraction, or take Pooled or Compare",
    )


def _may_have_negatives(comparison: Comparison) -> bool:
    identity = comparison.candidate_identity
    return comparison.remembered is not None or bool((identity.cpu() >= NOBODY).any())
