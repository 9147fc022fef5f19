"""The gradient of a batch, by one process and by many; run in processes and in threads."""

import copy
import functools

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from counterpoint.framework import Gathered
from counterpoint.parts.losses import NCE, Regression, Triplet
from counterpoint.parts.similarity import Bilinear, Cosine, ScaledDot
from counterpoint.training.distributed import Ranks
from toy import LastToFirst, TinyEncoder, tiny_batch, tiny_method

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
}


class WithoutGradient(Ranks):
    """The common mistake: candidates of other ranks as constants."""

    def gather(self, vectors, identity):
        good = super().gather(vectors, identity)
        return Gathered(good.vectors.detach(), good.identity, good.start)


@functools.cache
def built(method):
    """Build once: threads share torch's generator."""
    torch.manual_seed(1)
    return method.build(image=(3, 8, 8)).double()


def model_of(method):
    return copy.deepcopy(built(method))


def whole(method, count):
    """Loss and gradients of one process with all images."""
    model = model_of(method)
    loss = model(*tiny_batch(count))
    loss.backward()
    return loss.detach(), gradients(model)


def share(method, count, world, rank, *, ddp):
    """Mean loss and gradients over the ranks of a group, each with its share of the images."""
    model = model_of(method)
    views, index = tiny_batch(count)
    # tensor_split gives the first ranks one image more: the uneven last batch.
    mine = [view.tensor_split(world.size)[rank] for view in views]
    wrapped = DistributedDataParallel(model, process_group=world.group) if ddp else model
    loss = wrapped(tuple(mine), index.tensor_split(world.size)[rank], world)
    loss.backward()
    mean = loss.detach() / world.size
    dist.all_reduce(mean, group=world.group)
    found = gradients(model)
    if not ddp:
        for gradient in found.values():
            gradient.div_(world.size)
            dist.all_reduce(gradient, group=world.group)
    return mean, found


def gradients(model):
    return {name: p.grad.clone() for name, p in model.named_parameters()}


def error(method, count, world, rank, *, ddp):
    """Largest difference between one process and many, relative to the largest gradient."""
    loss, exact = whole(method, count)
    mean, found = share(method, count, world, rank, ddp=ddp)
    scale = max(g.abs().max().item() for g in exact.values())
    worst = max((exact[name] - found[name]).abs().max().item() for name in exact)
    return max(worst / scale, abs((loss - mean) / loss).item())
