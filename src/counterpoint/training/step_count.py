"""What one rank does and holds in a step, counted on the meta device from the real modules."""

from collections import Counter
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from counterpoint.framework import ALONE, Draw, Method, Model, Scores
from counterpoint.framework.batch_samples import blank_samples
from counterpoint.framework.blocks import blocks_of
from counterpoint.framework.model import gathers, reaching_all
from counterpoint.framework.precision import at_least_fp32
from counterpoint.framework.records import NOBODY, Shape, View
from counterpoint.framework.row_place import row_buffer_names
from counterpoint.training.operator_count import OperatorCount, Work

AREA = 256 << 20  # scores; where a walk has more, every s-th row and column is walked


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCount:
    """One step of one rank. Numbers are counts of numbers, not bytes."""

    images: int
    """Of this rank."""
    ranks: int
    trained: int
    twin: int
    """Weights that follow others and are not trained."""
    remembered: int
    """Numbers of buffers: a queue, a bank, running statistics."""
    divided: int = 0
    """Those of them that ranks divide by rows: a bank."""
    norms: tuple[int, ...]
    """Channels of each batch norm whose statistics are those of all ranks."""
    blocks: tuple[int, ...]
    """Weights of each block that a sharded model makes whole at a time."""
    views: int
    """Bytes of the views."""
    activations: int
    """Bytes at the peak besides weights and views, with the candidates of all ranks, and with the
    gradient where nobody keeps it from step to step."""
    making_views: dict[Work, float]
    forward: dict[Work, float]
    loss: dict[Work, float]
    backward: dict[Work, float]

    @property
    def flops(self) -> float:
        """Operations of products and convolutions, without those of the views."""
        return sum(
            work.flops * times
            for part in (self.forward, self.loss, self.backward)
            for work, times in part.items()
        )


def count_step(
    method: Method,
    image: Shape,
    images: int,
    *,
    ranks: int = 1,
    half: bool = False,
    views: bool = True,
    keep_gradient: bool = False,
    area: int = AREA,
) -> StepCount:
    """Count a step of one of `ranks` ranks with `images` images each.

    Encoder, heads, extraction and the walk over the scores run on the meta device, forward and
    backward, so that it costs nothing whatever their size. `half` is bf16 for all of it, as
    autocast would. `views` counts the making of views as a GPU makes them. `keep_gradient` leaves
    the gradient out of the peak, for those who hold it anyway. `area` is how many scores are walked
    at most; the rest is a proportion.

    >>> from counterpoint.methods import simclr_small
    >>> count = count_step(simclr_small(), (3, 32, 32), 8, ranks=4)
    >>> count.images, count.ranks, count.trained == count.twin
    (8, 4, False)
    """
    width = torch.bfloat16 if half else torch.float32
    with torch.device("meta"):
        model = method.build(image=image)
        model = model.to(width)
        seen = tuple(torch.empty(images, *shape, dtype=width) for shape in model.views.shapes)
    made = _making(model, image, images) if views else Counter[Work]()
    count = OperatorCount()
    count.known([*model.parameters(), *model.buffers(), *seen])
    if keep_gradient:  # as DDP does in its buckets, from step to step
        for weight in model.parameters():
            weight.grad = torch.empty_like(weight) if weight.requires_grad else None
    with count:
        forward, loss = _run(model, seen, count, ranks, area)
    return StepCount(
        images=images,
        ranks=ranks,
        trained=sum(p.numel() for p in model.parameters() if p.requires_grad),
        twin=sum(p.numel() for p in model.parameters() if not p.requires_grad),
        remembered=sum(b.numel() for b in model.buffers()),
        divided=sum(model.get_buffer(name).numel() for name in row_buffer_names(model)),
        norms=tuple(
            norm.num_features
            for norm in model.modules()
            if isinstance(norm, nn.modules.batchnorm._BatchNorm)
        ),
        blocks=_blocks(model),
        views=sum(v.numel() for v in seen) * 4,
        activations=count.peak,
        making_views=dict(made),
        forward=dict(forward),
        loss=loss,
        backward=dict(count.work),
    )


def _blocks(model: Model) -> tuple[int, ...]:
    """Count the weights of each block that is made whole by itself; all of them where none is."""
    sizes = [sum(p.numel() for p in block.parameters()) for block in blocks_of(model)]
    return tuple(sizes) or (sum(p.numel() for p in model.parameters()),)


def _making(model: Model, image: Shape, images: int) -> Counter[Work]:
    """Count what a device does to make the views."""
    given = torch.empty(images, *image, dtype=torch.uint8, device="meta")
    draw = Draw(0, 0, torch.empty(images, dtype=torch.int64, device="meta"))
    model.views(given, draw)  # constants are made once, and are not part of a step
    count = OperatorCount()
    with count:
        model.views(given, draw)
    return count.work


def _run(
    model: Model, views: tuple[View, ...], count: OperatorCount, ranks: int, area: int
) -> tuple[Counter[Work], dict[Work, float]]:
    """Run a step, and give what forward and loss were; `count` has the backward."""
    compared = _compared(model, views, ranks)
    forward = _taken(count)
    ends, gradients, larger = _loss(model, compared, area)
    loss = {work: times * larger for work, times in _taken(count).items()}
    del compared
    zero = reaching_all(torch.zeros((), device="meta"), model)
    torch.autograd.backward([*ends, zero], [*gradients, None])
    return forward, loss


def _compared(model: Model, views: tuple[View, ...], ranks: int) -> list[Scores]:
    """Run parts (2) to (4), and put the candidates of all ranks where they would be."""
    samples = blank_samples(len(views[0]), labels=model.needs_labels)
    encoded = model.encode(views)
    found, gathered = list[Scores](), list[tuple[Tensor, Tensor]]()
    for comparison in model.extraction(encoded, samples, ALONE):
        scores = model.similarity(comparison, ALONE)
        past = 0 if comparison.remembered is None else len(comparison.remembered.vectors)
        rows, many = len(scores.candidates) - past, ranks if gathers(model) else 1
        known = [whole for own, whole in gathered if own is scores.candidates]
        vectors = known[0] if known else _everyone(scores.candidates, rows, many)
        if not known:
            gathered.append((scores.candidates, vectors))
        others = torch.full((rows * (many - 1),), NOBODY)
        identity = scores.candidate_identity
        found.append(
            replace(
                scores,
                anchors=at_least_fp32(scores.anchors),
                candidates=vectors,
                candidate_identity=torch.cat([identity[:rows], others, identity[rows:]]),
                samples=samples,
            )
        )
    return found


def _everyone(own: Tensor, rows: int, ranks: int) -> Tensor:
    """Put the same vectors there as often as there are ranks: they cost what gathered ones do."""
    wide = at_least_fp32(own)
    if ranks == 1:
        return wide
    gathered = wide[:rows].repeat(ranks, 1)
    return gathered if rows == len(own) else torch.cat([gathered, wide[rows:]])


def _loss(
    model: Model, compared: list[Scores], most: int
) -> tuple[list[Tensor], list[Tensor], float]:
    """Run the loss and its gradient; also say how much larger the walk is than what was run."""
    area = sum(len(s.anchors) * len(s.candidates) for s in compared)
    every = 1
    if gathers(model):
        every = max(1, round((area / most) ** 0.5))
    few = [_thinned(scores, every) for scores in compared]
    total = torch.stack([model.loss(scores, ALONE).total for scores in few]).sum()
    walked = sum(len(s.anchors) * len(s.candidates) for s in few)
    ends: dict[int, Tensor] = {}
    for scores in compared:
        for vectors in (scores.anchors, scores.candidates):
            if vectors.requires_grad:
                ends[id(vectors)] = vectors
    found = torch.autograd.grad(total, [*ends.values()], allow_unused=True)
    pairs = [(e, g) for e, g in zip(ends.values(), found, strict=True) if g is not None]
    return [end for end, _ in pairs], [gradient for _, gradient in pairs], area / max(1, walked)


def _thinned(scores: Scores, every: int) -> Scores:
    """Keep every s-th row of anchors and candidates."""
    if every == 1:
        return scores
    return replace(
        scores,
        anchors=scores.anchors[::every],
        candidates=scores.candidates[::every],
        anchor_identity=scores.anchor_identity[::every].contiguous(),
        candidate_identity=scores.candidate_identity[::every].contiguous(),
        anchor_views=(),
        candidate_views=(),
    )


def _taken(count: OperatorCount) -> Counter[Work]:
    """Return what was counted so far, and begin again."""
    taken, count.work = count.work, Counter()
    return taken
