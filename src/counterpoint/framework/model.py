"""A method made of modules, checked on the meta device before any data is touched."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import torch
from torch import Tensor, nn

from counterpoint.framework.batch_samples import Samples, as_samples, blank_samples
from counterpoint.framework.contracts import (
    BuiltEncoder,
    BuiltExtraction,
    BuiltLoss,
    BuiltSimilarity,
    BuiltViews,
    Encoder,
    Extraction,
    Loss,
    Similarity,
    Views,
)
from counterpoint.framework.dry_checks import (
    common_widths,
    finds_negatives,
    scores_are_cosines,
    takes_scores_and_world,
    trains_by_anchors,
    trains_the_encoder,
)
from counterpoint.framework.errors import PartError
from counterpoint.framework.local_rows import is_sharded
from counterpoint.framework.optional import Twinned, asks_for_labels, takes_slices
from counterpoint.framework.precision import at_least_fp32, without_autocast
from counterpoint.framework.records import (
    Comparison,
    Cuts,
    Draw,
    Encoded,
    Images,
    Index,
    Maps,
    Scores,
    Shape,
    View,
)
from counterpoint.framework.world import ALONE, Once, World

BATCH = 4  # of the dry run: more than one, so that batch norm has statistics


class Model(nn.Module):
    """The five parts of a method as built modules; `Method.build` makes it.

    Called with the views of a batch and the numbers of its samples, it returns the loss.

    >>> from counterpoint import NarrowResNet, simclr
    >>> model = simclr(NarrowResNet(widths=(8,), blocks=(1,))).build(image=(3, 32, 32))
    >>> views = torch.randn(4, 3, 32, 32), torch.randn(4, 3, 32, 32)
    >>> model(views, torch.arange(4)).backward()
    """

    def __init__(
        self,
        views: BuiltViews,
        encoder: BuiltEncoder,
        extraction: BuiltExtraction,
        similarity: BuiltSimilarity,
        loss: BuiltLoss,
        *,
        needs_labels: bool = False,
    ) -> None:
        super().__init__()
        self.needs_labels = needs_labels
        """Whether some part needs the labels of samples."""
        self.views = views
        self.encoder = encoder
        self.extraction = extraction
        self.similarity = similarity
        self.loss = loss

    def encode(self, views: tuple[View, ...]) -> Encoded:
        """Run part (2), and its momentum twin where there is one."""
        online: tuple[Maps, ...] = self.encoder(views)
        if isinstance(self.encoder, Twinned):
            return Encoded(online, self.encoder.target(views))
        return Encoded(online, online)

    def forward(
        self, views: tuple[View, ...], samples: Samples | Index, world: World = ALONE
    ) -> Tensor:
        return reaching_all(contrast(self, views, samples, world), self)


def views_of_batch(views: BuiltViews, images: Images | Cuts, draw: Draw) -> tuple[View, ...]:
    """Make the views of a batch: of images of one size, or of what was cut out of pictures."""
    return views(images, draw) if isinstance(images, Tensor) else views.finish(images, draw)


def contrast(
    model: Model, views: tuple[View, ...], samples: Samples | Index, world: World = ALONE
) -> Tensor:
    r"""Run parts (2) to (5) on the views of a batch and return the loss of this rank.

    Each rank scores its own anchors against the candidates of all ranks and returns

    $$ W \sum_{own\ anchors} l / \sum_{ranks} count $$

    whose mean over the W ranks, value and gradient, is that of one process with the whole batch,
    even if ranks hold different numbers of images. Under autocast the encoder and the heads run in
    half precision; scores and losses do not.

    `samples` may be just the numbers of the samples, best given on the host: there it is worked out
    which candidates are whose positives.

    >>> from counterpoint import NarrowResNet, simclr
    >>> model = simclr(NarrowResNet(widths=(8,), blocks=(1,))).build(image=(3, 32, 32))
    >>> views = torch.randn(4, 3, 32, 32), torch.randn(4, 3, 32, 32)
    >>> contrast(model, views, torch.arange(4)).backward()
    """
    given = as_samples(samples)
    encoded = model.encode(views)
    reach = Once(world, in_slices(model)) if gathers(model) else ALONE
    losses = []
    for found in model.extraction(encoded, given, world):
        comparison = replace(found, progress=given.progress)
        scores = _widened(model.similarity(comparison, reach), given)
        _none_forgotten(comparison, scores)
        with without_autocast(scores.anchors.device):
            terms = model.loss(scores, world)
        mean = terms.total * (world.size / world.total(terms.count.detach()))
        losses.append(comparison.weight * mean)
    return torch.stack(losses).sum()


def gathers(model: Model) -> bool:
    """Return whether candidates of other ranks count: as negatives, or as positives by label."""
    return model.loss.needs_negatives or model.needs_labels


def in_slices(model: Model) -> bool:
    """Return whether candidates may come in slices; labels have too many positives to list."""
    return takes_slices(model.loss) > 0 and not model.needs_labels


def _none_forgotten(comparison: Comparison, scores: Scores) -> None:
    """Refuse a similarity that leaves out what a queue or a bank remembers."""
    past = 0 if comparison.remembered is None else len(comparison.remembered.vectors)
    if past and scores.columns < len(comparison.candidates) + past:
        raise PartError(
            "similarity",
            got=f"{len(comparison.candidates)} candidates and {past} remembered ones",
            needs=f"scores with all of them, and gives {scores.columns}",
            do="put comparison.remembered behind the gathered candidates, as Phi does",
        )


def _widened(scores: Scores, samples: Samples) -> Scores:
    """Return the same scores with factors in fp32 at least, and whose they are."""
    anchors, candidates = at_least_fp32(scores.anchors), at_least_fp32(scores.candidates)
    return replace(scores, anchors=anchors, candidates=candidates, samples=samples)


def reaching_all(loss: Tensor, model: nn.Module) -> Tensor:
    """Add a zero-valued term that touches every parameter.

    DDP waits for a gradient of each weight, also of a map that is not compared in this step; and an
    optimiser treats a missing gradient unlike one of zero. Weights that are sharded are left out.
    """
    trained = [p.sum() for p in model.parameters() if p.requires_grad and not is_sharded(p)]
    return loss + 0 * torch.stack(trained).sum() if trained else loss


def build(
    image: Shape,
    *,
    views: Views,
    encoder: Encoder,
    extraction: Extraction,
    similarity: Similarity,
    loss: Loss,
) -> Model:
    """Make the modules of five parts for images of one shape; refuse what cannot work.

    The dry run on the meta device needs no data or memory; every failure names its part.
    """
    labels = asks_for_labels((views, encoder, extraction, similarity, loss))
    with torch.device("meta"):
        with _blame("views", f"images {image}"):
            shapes = views.build(image).shapes
            blank = tuple(torch.empty(BATCH, *shape) for shape in shapes)
        with _blame("encoder", f"views {list(shapes)}"):
            dry = encoder.build(shapes)
            online = dry(blank)
            target = dry.target(blank) if isinstance(dry, Twinned) else online
            maps = tuple(tuple(tuple(m.shape[1:]) for m in view) for view in online)
        with _blame("extraction", f"maps {maps}"):
            comparisons = extraction.build(maps)(
                Encoded(online, target), blank_samples(BATCH, labels=labels), ALONE
            )
            widths = common_widths(comparisons)
            trains_the_encoder(online, comparisons)
        with _blame("similarity", f"anchors of width {widths[0]}, candidates of {widths[1]}"):
            phi = similarity.build(*widths)
            for comparison in comparisons:
                phi(comparison, ALONE)
        with _blame("loss", f"scores with |s| <= {phi.bound}"):
            dry_loss = loss.build(phi.bound)
            takes_scores_and_world(dry_loss)
            scores_are_cosines(dry_loss, phi)
            trains_by_anchors(dry_loss, online, comparisons)
            finds_negatives(dry_loss, comparisons)
    return Model(
        views.build(image),
        encoder.build(shapes),
        extraction.build(maps),
        similarity.build(*widths),
        loss.build(phi.bound),
        needs_labels=labels,
    )


@contextmanager
def _blame(part: str, got: str) -> Iterator[None]:
    """Turn any failure inside into one that names the part."""
    try:
        yield
    except PartError:
        raise
    except Exception as error:
        raise PartError(part, got=got, needs=f"something else: {error}") from error
