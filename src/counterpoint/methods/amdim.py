"""AMDIM (Bachman et al. 2019): section 2.1 of the paper."""

from dataclasses import replace

from counterpoint.framework import Encoder, Method
from counterpoint.framework.settings import Training
from counterpoint.methods.origin import Origin
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.encoders import AMDIMEncoder
from counterpoint.parts.extraction import Compare, OneWay
from counterpoint.parts.losses import NCE, Penalised
from counterpoint.parts.similarity import Dot, ScaledDot
from counterpoint.parts.views import pipelines

ORIGIN = Origin(
    title="AMDIM",
    authors="Bachman et al.",
    year=2019,
    arxiv="1906.00910",
    after="cpc",
    idea="Places of shallow maps predict each other across two views.",
)

TASK = "(-1:-2) + (-1:-3) + (-2:-2)"
STRATEGIES = {
    "AMDIM task": TASK,
    "last only": "(-1:-1)",
    "last + random": "(-1:random)",
    "same level": "(k:k)",
}
"""The four rows of table 2."""

DEFAULT = AMDIMEncoder()
LARGE = {
    32: AMDIMEncoder(width=320, rkhs=1280, depth=10),
    64: AMDIMEncoder(width=192, rkhs=1536, depth=8),
    128: AMDIMEncoder(width=320, rkhs=2560, depth=10),
}  # pytorch-lightning-bolts 0.2, the paper's code
SMALL = AMDIMEncoder(width=32, rkhs=256, depth=2)


def amdim(encoder: Encoder = DEFAULT, *, size: int = 32) -> Method:
    """Compose AMDIM: two views that share a flip, three maps, each place of them, NCE.

    >>> print(amdim())
    (1) views      flip 0.5 -> 2 x (translate 4 p 0.8 -> jitter 0.4/0.4/0.4/0.2 p 0.8 -> grey 0.25 -> normalise)
    (2) encoder    AMDIMEncoder(width=128, rkhs=1024, depth=3)
    (3) extraction (-1:-2) + (-1:-3) + (-2:-2), one place
    (4) similarity ScaledDot(clip=20.0)
    (5) loss       NCE(numerator='each', denominator='own', average='anchors') + 0.05 mean s^2
    """  # noqa: E501 (one row is one line)
    return Method(
        views=pipelines.amdim_views(size),
        encoder=encoder,
        extraction=Compare.parse(TASK),
        similarity=ScaledDot(clip=20.0),
        loss=Penalised(of=NCE()),
    )


def amdim_paper(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose AMDIM as the paper prints it: a flip for each view, a dot product, equations 1 and 2.

    One direction, a third of each comparison, positives added inside the logarithm and only
    negatives below the line: it has no lower bound. The sign of equation 2 is put right
    (docs/paper.md, rows 1 to 4).
    """
    return amdim(encoder or large(size), size=size).swap(
        views=pipelines.amdim_views(size, shared_flip=False),
        extraction=OneWay(of=Compare.parse(TASK)),
        similarity=Dot(),
        loss=NCE(numerator="sum", denominator="negatives"),
    )


def amdim_released(encoder: Encoder | None = None, *, size: int = 32) -> Method:
    """Compose AMDIM as the code released with the paper has it: wide, with a clip of 10.

    pytorch-lightning-bolts 0.2: its AMDIM says 20, and hands it on to nobody. With its own encoder;
    what it does to ResNets is study/studies/as_released.py.
    """
    return amdim(encoder or large(size), size=size).swap(similarity=ScaledDot(clip=10.0))


def large(size: int) -> AMDIMEncoder:
    """Return the paper's encoder for images of one size."""
    return LARGE.get(size, LARGE[128])


def amdim_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose AMDIM for minutes on two cores: its encoder at a quarter of the width.

    >>> amdim_small().encoder.width, amdim().encoder.width
    (32, 128)
    """
    return amdim(encoder, size=size)


# amdim-public, train.py and task_self_supervised.py: 2e-4 at 200 images, 500 updates of warm-up,
# a fifth at 250 and 280 of 300 epochs.
REFERENCE = Training(
    optimiser="adam",
    betas=(0.8, 0.999),
    batch=200,
    lr=2e-4 * 256 / 200,
    weight_decay=1e-5,
    decay_norms=True,
    epochs=300,
    warmup=500 / (300 * 225),
    schedule="steps",
    drops=(250 / 300, 280 / 300),
    drop=0.2,
)

# pytorch-lightning-bolts 0.2, amdim_module.py: no warm-up, no drops. The paper gives no more than
# a grid of rates around this one.
RELEASED = replace(REFERENCE, eps=1e-7, warmup=0, drops=())

# For minutes on two cores: AdamW, whose decay of 1e-5 is next to none.
FEW = Training(
    optimiser="adamw", betas=(0.8, 0.999), lr=1e-3, batch=128, weight_decay=1e-5, epochs=1
)

RECIPES = {
    "amdim": Recipe(amdim, REFERENCE),
    "amdim-paper": Recipe(amdim_paper, RELEASED),
    "amdim-released": Recipe(amdim_released, RELEASED),
    "amdim-small": Recipe(amdim_small, replace(FEW, batch=256)),
}
