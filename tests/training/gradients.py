"""The gradient of a batch, by one process and by many; run in processes and in threads."""

import copy
import functools
from dataclasses import replace
from typing import ClassVar

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from counterpoint.framework import Gathered, Samples
from counterpoint.framework.settings import Training
from counterpoint.methods.densecl import whole_and_places
from counterpoint.parts.encoders import Headed, MomentumEncoder, NarrowResNet, QueryKeyEncoder
from counterpoint.parts.extraction import (
    Bank,
    ByLabel,
    Compare,
    Context,
    Keys,
    NearestAnchors,
    Pooled,
    Queue,
    StopGradient,
)
from counterpoint.parts.losses import (
    NCE,
    AlignmentUniformity,
    BarlowTwins,
    HardNegatives,
    NearestEntropy,
    Penalised,
    Regression,
    RelationalCrossEntropy,
    Sigmoid,
    Spectral,
    Triplet,
    VICReg,
    WeightedPositives,
)
from counterpoint.parts.norm_conversion import share_statistics
from counterpoint.parts.similarity import (
    BallDot,
    Biased,
    Bilinear,
    Cosine,
    CyclicTau,
    Dot,
    PredictedCosine,
    ProjectedCosine,
    ScaledDot,
)
from counterpoint.training.checkpoints.divided_rows import rows_of_rank
from counterpoint.training.distributed import Ranks
from counterpoint.training.divided_memory import hold_rows
from counterpoint.training.optimisers import optimiser
from counterpoint.training.rank_slices import RankSlices
from counterpoint.training.step import step_twins
from newer import DINO, CodingRate, OthersOfTwin
from toy import LastToFirst, OneView, TinyEncoder, tiny_batch, tiny_method

NORMED = NarrowResNet(widths=(4, 6), blocks=(1, 1), stride=1)
METHODS = {
    "learned temperature": tiny_method(),
    "tau 0.01": tiny_method(similarity=Cosine(tau=0.01)),
    "clipped dot": tiny_method(similarity=ScaledDot(clip=0.5)),
    "bilinear": tiny_method(similarity=Bilinear(), extraction=LastToFirst()),
    "positives summed": tiny_method(loss=NCE(numerator="sum", denominator="all")),
    "positive pairs averaged": tiny_method(loss=NCE(average="positives")),
    "triplet": tiny_method(loss=Triplet(margin=0.5)),
    "regression": tiny_method(similarity=Cosine(tau=1.0), loss=Regression()),
    "wide": tiny_method(encoder=TinyEncoder(widths=(8, 16))),
    # The seven methods without batch norm, on encoders of a few weights.
    "amdim": tiny_method(
        extraction=Compare.parse("(-1:-2) + (-2:-2)"),
        similarity=ScaledDot(),
        loss=Penalised(of=NCE()),
    ),
    "cpc": tiny_method(extraction=Context(target=4, hidden=3, blocks=2), similarity=Dot()),
    "simclr": tiny_method(similarity=Cosine(tau=0.5)),
    "moco": tiny_method(
        encoder=QueryKeyEncoder(of=Headed(of=TinyEncoder(), out=5, hidden=7)),
        extraction=Queue(of=Keys(), size=60),
        similarity=Cosine(tau=0.2),
    ),
    "moco, a head with batch norm": tiny_method(
        encoder=QueryKeyEncoder(of=TinyEncoder()),
        extraction=Queue(of=Keys(), size=60),
        similarity=ProjectedCosine(out=5),
    ),
    "byol": tiny_method(
        encoder=MomentumEncoder(of=Headed(of=TinyEncoder(), out=5, hidden=7)),
        similarity=Cosine(tau=1.0),
        loss=Regression(),
    ),
    "cmc": tiny_method(
        encoder=Headed(of=TinyEncoder(), out=5),
        extraction=Bank(samples=1100, negatives=13),
        similarity=Cosine(tau=0.07),
    ),
    "yadim": tiny_method(extraction=Compare.parse("(-1:-1)"), similarity=Dot()),
    # Labels are identities; a twin that encodes the first view only, and a centre over all ranks.
    "supervised": tiny_method(extraction=ByLabel(), loss=NCE(denominator="all")),
    "supervised regression": tiny_method(
        extraction=ByLabel(), similarity=Cosine(tau=1.0), loss=Regression()
    ),
    "penalised uniformity": tiny_method(
        similarity=Cosine(tau=1.0),
        loss=Penalised(of=NearestEntropy(of=AlignmentUniformity(), weight=3.0), weight=7.0),
    ),
    "dino": tiny_method(
        encoder=MomentumEncoder(of=TinyEncoder(), targets=1),
        extraction=OthersOfTwin(),
        similarity=Dot(),
        loss=DINO(),
    ),
    # Targets without gradient, keys of the batch, neighbours, a bank of one view, a cyclic tau.
    "simsiam": tiny_method(
        encoder=Headed(of=TinyEncoder(), out=5, hidden=7, norm=True, last_norm="plain"),
        extraction=StopGradient(of=Pooled()),
        similarity=PredictedCosine(hidden=6),
        loss=Regression(),
    ),
    "moco v3": tiny_method(
        encoder=MomentumEncoder(of=Headed(of=TinyEncoder(), out=5), views_apart=True),
        extraction=Compare.parse("(-1:-1)"),
        similarity=PredictedCosine(hidden=6, tau=0.2),
    ),
    "nnclr": tiny_method(
        encoder=Headed(of=TinyEncoder(), out=5, hidden=7),
        extraction=NearestAnchors(of=Compare.parse("(-1:-1)"), size=30),
        similarity=PredictedCosine(hidden=6, tau=0.2, side="candidate"),
    ),
    "instdisc": tiny_method(
        encoder=OneView(),
        extraction=Bank(samples=1100, negatives="all"),
        similarity=Cosine(tau=0.1),
    ),
    "pirl": tiny_method(
        extraction=Bank(samples=1100, negatives=33, remembers="first"),
        similarity=Cosine(tau=0.1),
    ),
    "cyclic temperature": tiny_method(similarity=CyclicTau(of=Cosine(tau=1.0))),
    # Not a sum over anchors: the loss asks the world.
    "barlow twins": tiny_method(similarity=Dot(), loss=BarlowTwins()),
    "vicreg": tiny_method(similarity=Dot(), loss=VICReg()),
    "coding rate": tiny_method(similarity=Cosine(tau=1.0), loss=CodingRate()),
    # The losses that came after the paper.
    "dclw": tiny_method(similarity=Cosine(tau=0.1), loss=WeightedPositives()),
    "hcl": tiny_method(similarity=Cosine(tau=0.5), loss=HardNegatives()),
    "siglip": tiny_method(
        similarity=Biased(of=Cosine(tau=0.1, learn_tau=True), bias=-2.0), loss=Sigmoid()
    ),
    "spectral": tiny_method(similarity=BallDot(mu=0.05), loss=Spectral()),
    "alignuniform": tiny_method(similarity=Cosine(tau=1.0), loss=AlignmentUniformity()),
    "sscd": tiny_method(
        extraction=Pooled(pool="gem"),
        similarity=Cosine(tau=0.5),
        loss=NearestEntropy(of=NCE(), weight=3.0),
    ),
    "densecl": tiny_method(
        encoder=QueryKeyEncoder(
            of=Headed(of=Headed(of=TinyEncoder(), out=5, places=True), out=5, map=-2)
        ),
        extraction=whole_and_places(60),
        similarity=Cosine(tau=0.2),
    ),
    "ressl": tiny_method(
        encoder=QueryKeyEncoder(of=Headed(of=TinyEncoder(), out=5, hidden=7)),
        extraction=Queue(of=Keys(), size=60),
        similarity=Cosine(tau=0.1),
        loss=RelationalCrossEntropy(),
    ),
    # With batch norm over the images of all ranks.
    "simclr, batch norm": tiny_method(encoder=NORMED, similarity=ProjectedCosine(out=5)),
    "moco, shuffled batch norm": tiny_method(
        encoder=QueryKeyEncoder(of=Headed(of=NORMED, out=5), groups=4),
        extraction=Queue(of=Keys(), size=60),
    ),
    "byol, batch norm": tiny_method(
        encoder=MomentumEncoder(of=Headed(of=NORMED, out=5, hidden=7, norm=True)),
        similarity=PredictedCosine(hidden=6),
        loss=Regression(),
    ),
    "cmc, batch norm": tiny_method(
        encoder=Headed(of=NORMED, out=5), extraction=Bank(samples=1100, negatives=13)
    ),
}

AT_ONCE = ("regression", "byol", "byol, batch norm", "simsiam", "supervised", "dino")
AT_ONCE += (
    "supervised regression",
    "penalised uniformity",
    "barlow twins",
    "vicreg",
    "coding rate",
    "alignuniform",
    "ressl",
)
"""No negatives, labels, or a loss that is not walked: candidates come at once, or not at all."""
SOME = ("learned temperature", "tau 0.01", "triplet", "amdim", "moco", "cmc", "cyclic temperature")
SOME += ("nnclr", "instdisc")
LATER = ("dclw", "hcl", "siglip", "spectral", "sscd")
SLICES = {2: ((12, 16, SOME[:4]),), 3: ((11, 2, SOME), (11, 5, (*SOME, *LATER)))}
"""By ranks: images, slices, methods; tests/training/test_slices.py has all of them."""


class InSlices(Ranks):
    """Counts how often candidates came in slices, for a test that would otherwise show nothing."""

    seen: ClassVar[list[int]] = []

    def slices(self, vectors, everyone):
        found = super().slices(vectors, everyone)
        if found is not None:
            self.seen.append(found.count)
        return found


class Forgetful(InSlices):
    """Slices whose gradient does not come back."""

    def slices(self, vectors, everyone):
        found = super().slices(vectors, everyone)
        return found and Kept(everyone, found.count, self.rank, self.group)


class Kept(RankSlices):
    def give_back(self, gradient, number):
        return lambda: gradient[self.own_columns(number)]


class WithoutGradient(Ranks):
    """The common mistake: candidates of other ranks as constants."""

    def gather(self, vectors, identity, everyone=None):
        good = super().gather(vectors, identity, everyone)
        return Gathered(good.vectors.detach(), good.identity, good.start)


@functools.cache
def built(method):
    """Build once: threads share torch's generator."""
    torch.manual_seed(1)
    return method.build(image=(3, 8, 8)).double()


def model_of(method):
    return copy.deepcopy(built(method))


@functools.cache
def whole(method, count):
    """Loss and gradients of one process with all images; nothing in them is changed later."""
    model = model_of(method)
    with torch.no_grad():
        model(*labelled(*tiny_batch(count, seed=1)))  # what a queue or a bank remembers
    loss = model(*labelled(*tiny_batch(count)))
    loss.backward()
    return loss.detach(), gradients(model), memory(model), updated(model)


def of_step(world, count):
    """The world of a training step: each rank knows who the others' samples are."""
    index = tiny_batch(count)[1]
    return replace(world, batch=count, samples=index, labels=index % 4)


def share(method, count, world, rank, *, ddp):
    """Mean loss and gradients over the ranks of a group, each with its share of the images."""
    model = model_of(method)
    share_statistics(model, world)
    hold_rows(model, world, world.group)
    with torch.no_grad():
        model(*own(count, world, rank, seed=1), world)
    wrapped = model
    if ddp:  # as the Trainer does: buffers are the same on all ranks without being sent
        wrapped = DistributedDataParallel(
            model, process_group=world.group, broadcast_buffers=False, gradient_as_bucket_view=True
        )
    loss = wrapped(*own(count, world, rank), world)
    loss.backward()
    mean = loss.detach() / world.size
    dist.all_reduce(mean, group=world.group)
    found = gradients(model)
    if not ddp:
        for gradient in found.values():
            gradient.div_(world.size)
            dist.all_reduce(gradient, group=world.group)
    return mean, found, memory(model), updated(model) if ddp else {}


def own(count, world, rank, seed=0):
    """A rank's share; tensor_split gives the first ranks one image more: the uneven last batch."""
    views, index = tiny_batch(count, seed=seed)
    mine = tuple(view.tensor_split(world.size)[rank] for view in views)
    return labelled(mine, index.tensor_split(world.size)[rank])


def labelled(views, index):
    """The same views, and samples of four labels."""
    return views, Samples(index, labels=index % 4, progress=0.3)


def gradients(model):
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.requires_grad}


def memory(model):
    """What is remembered: the queue or the bank, the running statistics of batch norms."""
    return {name: buffer.double().clone() for name, buffer in model.named_buffers()}


def own_rows(name, buffer, rank, ranks):
    """The rows of a bank that a rank holds; all of any other buffer."""
    dim = {"extraction.entries": 1, "extraction.seen": 0}.get(name)
    if dim is None:
        return buffer
    rows = rows_of_rank(buffer.shape[dim], rank, ranks)
    return buffer.narrow(dim, rows.start, len(rows))


def updated(model):
    """The weights after an update by LARS, and those of twins that follow."""
    optimiser(model, Training()).step()
    step_twins(model, 0.1)
    return {name: weight.detach().clone() for name, weight in model.named_parameters()}


def error(method, count, world, rank, *, ddp):
    """Largest difference between one process and many, relative to the largest gradient.

    Losses, gradients and updated weights count; what is remembered has to be the same.
    """
    loss, exact, remembered, weights = whole(method, count)
    mean, found, kept, moved = share(method, count, world, rank, ddp=ddp)
    for name, buffer in remembered.items():  # the same on every rank as in one process
        mine = own_rows(name, buffer, rank, world.size)
        torch.testing.assert_close(kept[name], mine, atol=1e-12, rtol=0)
    scale = max(g.abs().max().item() for g in exact.values())
    worst = max((exact[name] - found[name]).abs().max().item() for name in exact)
    apart = [(weights[name] - there).abs().max().item() for name, there in moved.items()]
    return max(worst / scale, abs((loss - mean) / loss).item(), *apart)
