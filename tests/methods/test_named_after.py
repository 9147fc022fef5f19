"""Each recipe is compared, part by part as it is named, with loops of what it is named after."""

import pytest
import torch
from torch import nn

from counterpoint.framework import contrast
from counterpoint.methods import METHODS
from counterpoint.methods.amdim import TASK
from counterpoint.parts.views import HorizontalFlip, Patches, Pipeline
from reference import methods as reference
from reference.losses import cosine, nce
from toy import TinyEncoder, tiny_batch

BOUND = 1e-12
TASKS = ((-1, -2), (-1, -3), (-2, -2))


def close(ours, theirs):
    ours, theirs = float(ours.detach()), float(theirs.detach())
    assert abs(ours - theirs) < BOUND * max(1.0, abs(theirs))


def built(name, encoder, *, patches=None):
    """Build a recipe on a small encoder, with views that only flip or cut."""
    recipe = METHODS[name](encoder, size=32)
    stages = (HorizontalFlip(),) if patches is None else (HorizontalFlip(), patches)
    count = 1 if name.startswith("cpc") else 2
    torch.manual_seed(0)
    method = recipe.swap(views=Pipeline(stages, views=count))
    return method.build(image=(3, 8, 8)).double()


class ThreeMaps:
    part = "encoder"

    def build(self, views):
        return ThreeMapsNet(views[0][0])


class ThreeMapsNet(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Conv2d(before, 6, 3, stride=2, padding=1) for before in (channels, 6, 6)
        )

    def forward(self, views):
        found = []
        for x in views:
            maps = []
            for layer in self.layers:
                x = layer(x).tanh()
                maps.append(x)
            found.append(tuple(maps))
        return tuple(found)


class Grid:
    part = "encoder"

    def build(self, views):
        _, _, c, q, _ = views[0]
        return GridNet(c * q * q)


class GridNet(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.linear = nn.Linear(inputs, 6)

    def forward(self, views):
        return tuple((self.linear(v.flatten(3)).tanh().permute(0, 3, 1, 2),) for v in views)


def images_of(maps, count):
    """List the maps by image, of both views."""
    return ([tuple(m[n] for m in view) for n in range(count)] for view in maps)


def drawn(extraction, index):
    return lambda task, _direction, image, count: int(extraction._draw(index, task)[image] % count)


@pytest.mark.parametrize(("name", "clip"), [("amdim", 20.0), ("amdim-released", 10.0)])
def test_amdim_is_its_authors_code_and_released_the_papers(name, clip):
    assert " + ".join(f"({i}:{j})" for i, j in TASKS) == TASK
    model = built(name, ThreeMaps())
    for p in model.encoder.parameters():  # scores that the clip bends
        p.data.mul_(3.0)
    views, index = tiny_batch(3)
    first, second = images_of(model.encode(views).online, 3)
    chosen = drawn(model.extraction, index)
    theirs = reference.amdim(first, second, TASKS, clip=clip, penalty=5e-2, chosen=chosen)
    close(contrast(model, views, index), theirs)


def test_amdim_paper_is_equations_1_and_2():
    model = built("amdim-paper", ThreeMaps())
    views, index = tiny_batch(3)
    first, second = images_of(model.encode(views).online, 3)
    chosen = drawn(model.extraction.of, index)
    theirs = reference.amdim_printed(first, second, TASKS, chosen=chosen)
    close(contrast(model, views, index), theirs)


@pytest.mark.parametrize(("name", "rows"), [("cpc", (3,)), ("cpc-paper", (1, 2, 3, 4, 5, 6))])
def test_cpc_is_equation_3_for_one_row_or_for_all(name, rows, monkeypatch):
    monkeypatch.setattr(reference, "dot", torch.dot)  # of 64 numbers, 50,000 times
    model = built(name, Grid(), patches=Patches(2, overlap=1))
    torch.manual_seed(1)
    patches = torch.randn(2, 7, 7, 3, 2, 2, dtype=torch.float64)
    (maps,) = model.encode((patches,)).online
    extraction = model.extraction
    contexts, targets = list(extraction.context(maps[-1])), list(extraction.targets(maps[-1]))
    predictors = [lambda v, p=p: p(v[None, :, None, None])[0, :, 0, 0] for p in extraction.predict]
    theirs = reference.cpc(contexts, targets, predictors, rows, 0.1)
    close(contrast(model, (patches,), torch.arange(2)), theirs)


def test_the_context_of_cpc_has_its_relu_once_at_the_end():
    blocks = built("cpc", Grid(), patches=Patches(2, overlap=1)).extraction.context
    torch.manual_seed(2)
    x = torch.randn(2, 6, 7, 7, dtype=torch.float64)
    theirs = x
    for block in blocks[:-1]:
        y = block.across(block.narrow(theirs).relu())
        above = torch.zeros_like(y[:, :, :1])
        y = block.down(torch.cat([above, y], dim=2))
        theirs = theirs + block.widen(y.relu())
    assert theirs.min() < 0
    torch.testing.assert_close(blocks(x), theirs.relu())


@pytest.mark.parametrize(
    ("name", "denominator"), [("simclr", "own"), ("simclr-paper", "negatives")]
)
def test_simclr_is_nt_xent_and_its_paper_equation_4(name, denominator):
    model = built(name, TinyEncoder(widths=(4, 32)))
    views, index = tiny_batch(3)
    vectors = torch.cat([m[-1].mean(dim=(2, 3)) for m in model.encode(views).online])
    z = list(model.similarity.p(vectors))  # batch norm sees both views
    rows = []
    for a in range(6):
        positive = [cosine(z[a], z[(a + 3) % 6]) * vectors.new_tensor(2.0)]  # tau = 0.5
        others = [b for b in range(6) if b not in (a, (a + 3) % 6)]
        rows.append((positive, [cosine(z[a], z[b]) * 2.0 for b in others]))
    theirs = nce(rows, numerator="each", denominator=denominator, average="anchors")
    close(contrast(model, views, index), theirs)


def test_byol_sees_one_view_after_the_other():
    model = built("byol", TinyEncoder())
    views, index = tiny_batch(4)
    online = [model.encoder.online((view,))[0][-1][:, :, 0, 0] for view in views]
    targets = [model.encoder.twin((view,))[0][-1][:, :, 0, 0] for view in views]
    predictions = [model.similarity.p(vectors) for vectors in online]
    theirs = reference.byol([list(p) for p in predictions], [list(t) for t in targets])
    close(contrast(model, views, index), theirs)
    together = model.similarity.p(torch.cat(online))
    assert not torch.allclose(together, torch.cat(predictions))  # the loops can tell


def test_moco_is_its_own_key_against_the_queue_with_a_head_as_wide_as_the_encoder():
    model = built("moco", TinyEncoder())
    assert [layer.out_features for layer in model.encoder.online.head[::2]] == [6, 128]
    queue = []
    for step in range(2):
        views, index = tiny_batch(4, seed=step)
        encoded = model.encode(views)
        queries, keys = encoded.online[0][-1][:, :, 0, 0], encoded.target[0][-1][:, :, 0, 0]
        close(contrast(model, views, index), reference.moco(list(queries), list(keys), queue, 0.2))
        queue += list(keys)


def test_yadim_is_equation_3_on_the_last_map_of_patches():
    model = built("yadim", Grid(), patches=Patches(4, overlap=2))
    torch.manual_seed(1)
    views = tuple(torch.randn(3, 3, 3, 3, 4, 4, dtype=torch.float64) for _ in range(2))
    index = torch.arange(3)
    # The loops divide by sqrt(6): scaled vectors undo it.
    maps = tuple(tuple(m * 6**0.25 for m in view) for view in model.encode(views).online)
    first, second = images_of(maps, 3)
    chosen = drawn(model.extraction, index)
    theirs = reference.amdim(first, second, ((-1, -1),), clip=None, penalty=0.0, chosen=chosen)
    close(contrast(model, views, index), theirs)
