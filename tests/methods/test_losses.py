"""The loss of every method equals slow loops written from the equations, in float64."""

import pytest
import torch

from counterpoint.framework import contrast
from counterpoint.framework.batch_samples import blank_samples
from counterpoint.framework.records import Draw
from counterpoint.methods import METHODS
from counterpoint.parts.encoders import Headed, MomentumEncoder, PerView, QueryKeyEncoder
from counterpoint.parts.extraction import Bank, Compare, Context, Keys, Queue
from counterpoint.parts.losses import NCE, Penalised, Regression
from counterpoint.parts.losses.penalised import mean_squares
from counterpoint.parts.similarity import Cosine, Dot, PredictedCosine, ScaledDot
from counterpoint.parts.views import ChannelSplit, HorizontalFlip, Patches, Pipeline
from reference import methods as reference
from toy import TinyEncoder, tiny_batch, tiny_method

BOUND = 1e-12


def close(ours, theirs):
    ours, theirs = float(ours.detach()), float(theirs.detach())
    assert abs(ours - theirs) < BOUND * max(1.0, abs(theirs))


def built(method, image=(3, 8, 8), seed=0):
    torch.manual_seed(seed)
    return method.build(image=image).double()


TWO_MAPS = "(-1:-2) + (-1:-1)"


def test_amdim():
    method = tiny_method(
        encoder=TinyEncoder(widths=(6, 6)),
        extraction=Compare.parse(TWO_MAPS),
        similarity=ScaledDot(clip=2.0),
        loss=Penalised(of=NCE()),
    )
    model = built(method)
    views, index = tiny_batch(4)
    maps = model.encode(views).online
    first, second = ([tuple(m[n] for m in view) for n in range(4)] for view in maps)

    def chosen(task, _direction, image, count):
        return int(model.extraction._draw(index, task)[image] % count)

    theirs = reference.amdim(
        first, second, ((-1, -2), (-1, -1)), clip=2.0, penalty=5e-2, chosen=chosen
    )
    close(contrast(model, views, index), theirs)


def test_the_penalty_needs_no_scores():
    a, c = torch.randn(5, 3, dtype=torch.float64), torch.randn(7, 3, dtype=torch.float64)
    close(mean_squares(a, c), (a @ c.T).square().mean(dim=1).sum())


def test_cpc():
    method = tiny_method(
        views=Pipeline((HorizontalFlip(), Patches(4, overlap=2)), views=1),
        encoder=TinyEncoder(),
        extraction=Context(offsets=(1, 2), target=5, hidden=4, blocks=2, scale=0.3),
        similarity=Dot(),
        loss=NCE(),
    )
    model = built(method.swap(encoder=Grid()), image=(3, 8, 8))
    torch.manual_seed(1)
    patches = torch.randn(3, 3, 3, 3, 4, 4, dtype=torch.float64)
    index = torch.arange(3)
    (maps,) = model.encode((patches,)).online
    extraction = model.extraction
    contexts = list(extraction.context(maps[-1]))
    targets = list(extraction.targets(maps[-1]))
    predictors = [lambda v, p=p: p(v[None, :, None, None])[0, :, 0, 0] for p in extraction.predict]
    theirs = reference.cpc(contexts, targets, predictors, (1, 2), 0.3)
    close(contrast(model, (patches,), index), theirs)


def test_moco():
    method = tiny_method(
        encoder=QueryKeyEncoder(of=Headed(of=TinyEncoder(), out=5, hidden=7), decay=0.9),
        extraction=Queue(of=Keys(), size=10),
        similarity=Cosine(tau=0.2),
        loss=NCE(),
    )
    model = built(method)
    queue = []
    for step in range(4):
        views, index = tiny_batch(4, seed=step)
        encoded = model.encode(views)
        queries, keys = encoded.online[0][-1][:, :, 0, 0], encoded.target[0][-1][:, :, 0, 0]
        ours = contrast(model, views, index)
        theirs = reference.moco(list(queries), list(keys), queue[-10:], 0.2)
        close(ours, theirs)
        queue += list(keys)
    assert len(queue) > 10  # the oldest were written over


def test_byol():
    method = tiny_method(
        encoder=MomentumEncoder(of=Headed(of=TinyEncoder(), out=5, hidden=7, norm=True)),
        similarity=PredictedCosine(hidden=6),
        loss=Regression(),
    )
    model = built(method)
    views, index = tiny_batch(4)
    encoded = model.encode(views)
    both = torch.cat([maps[-1][:, :, 0, 0] for maps in encoded.online])
    predictions = model.similarity.p(both).split(4)  # batch norm sees both views
    targets = [maps[-1][:, :, 0, 0] for maps in encoded.target]
    theirs = reference.byol([list(p) for p in predictions], [list(t) for t in targets])
    close(contrast(model, views, index), theirs)


def test_cmc():
    one = Headed(of=TinyEncoder(), out=5)
    method = tiny_method(
        views=ChannelSplit(Pipeline((HorizontalFlip(),), views=1)),
        encoder=PerView(of=(one, one)),
        extraction=Bank(samples=30, negatives=12),
        similarity=Cosine(tau=0.07),
        loss=NCE(),
    )
    model = built(method)
    (views, _), index = tiny_batch(4), torch.tensor([3, 9, 28, 4])
    split = (views[0][:, :1], views[0][:, 1:])
    lightness, colour = (m[-1][:, :, 0, 0] for m in model.encode(split).online)
    bank = [list(entries) for entries in model.extraction.entries.clone()]
    drawn = model.extraction.drawn(index).tolist()
    theirs = reference.cmc(list(lightness), list(colour), bank, index.tolist(), drawn, 0.07)
    close(contrast(model, split, index), theirs)


def test_invention():
    one = Headed(of=TinyEncoder(), out=5)
    method = METHODS["invention"]().swap(views=tiny_method().views, encoder=PerView(of=(one, one)))
    model = built(method)
    views, index = tiny_batch(4)
    lightness, colour = (maps[-1][:, :, 0, 0] for maps in model.encode(views).online)
    theirs = reference.invention(list(lightness), list(colour), 20.0)
    close(contrast(model, views, index), theirs)


def test_yadim_is_amdims_last_level_on_patches():
    method = tiny_method(
        encoder=Grid(),
        extraction=Compare.parse("(-1:-1)"),
        similarity=Dot(),
        loss=NCE(),
        views=Pipeline((HorizontalFlip(), Patches(4, overlap=2))),
    )
    model = built(method)
    torch.manual_seed(1)
    views = tuple(torch.randn(3, 3, 3, 3, 4, 4, dtype=torch.float64) for _ in range(2))
    index = torch.arange(3)
    maps = model.encode(views).online

    def chosen(task, _direction, image, count):
        return int(model.extraction._draw(index, task)[image] % count)

    # The loops divide by sqrt(6): scaled vectors undo it.
    first, second = ([tuple(m[n] * 6**0.25 for m in v) for n in range(3)] for v in maps)
    theirs = reference.amdim(first, second, ((-1, -1),), clip=None, penalty=0.0, chosen=chosen)
    close(contrast(model, views, index), theirs)


def test_hand_worked_values():
    """Two images, equal scores everywhere: one positive in 1 + (locations of the other)."""
    model = built(
        tiny_method(
            extraction=Compare.parse("(-1:-1)", anchors="all"), similarity=Dot(), loss=NCE()
        )
    )
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
    views, index = tiny_batch(2)
    loss = contrast(model, views, index)  # 16 places of the other image, all scores 0
    close(loss, torch.tensor(17.0, dtype=torch.float64).log())


@pytest.mark.parametrize("name", METHODS)
def test_every_method_builds_on_the_meta_device(name):
    method = METHODS[name](size=32)
    with torch.device("meta"):
        model = method.build(image=(3, 32, 32))
    assert sum(p.numel() for p in model.parameters() if p.requires_grad) > 10_000


SMALL = [name for name in METHODS if name.endswith(("-small", "-pooled", "-places"))]


@pytest.mark.parametrize("name", SMALL)
def test_every_parameter_of_the_small_ones_gets_a_gradient(name, cifar):
    torch.manual_seed(0)
    model = METHODS[name](size=32).build(image=(3, 32, 32))
    index = torch.arange(8)
    samples = blank_samples(8, labels=model.needs_labels)
    for step in range(2):  # MoCo's queue is empty in the first
        views = model.views(cifar.train.images[:8], Draw(0, step, index))
        loss = contrast(model, views, samples)
    loss.backward()
    missing = [n for n, p in model.named_parameters() if p.requires_grad and p.grad is None]
    assert not missing
    assert torch.isfinite(loss)


class Grid:
    """A tiny encoder for grids of patches: one linear map of each patch."""

    part = "encoder"

    def build(self, views):
        _, _, c, q, _ = views[0]
        return GridNet(c * q * q)


class GridNet(torch.nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, 6)

    def forward(self, views):
        return tuple((self.linear(v.flatten(3)).tanh().permute(0, 3, 1, 2),) for v in views)
