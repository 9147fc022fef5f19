"""The pipelines of the methods for sides of 32, 64, 128 and 224 pixels, with their sources.

Sizes go with data sets, as in the paper: 32 is CIFAR-10, 64 is STL-10, from 128 on ImageNet.
"""

from dataclasses import replace

from counterpoint.parts.views.blur import GaussianBlur
from counterpoint.parts.views.colour import (
    CIFAR10,
    IMAGENET,
    LAB,
    STL10,
    ColourJitter,
    Greyscale,
    Normalise,
    Solarise,
)
from counterpoint.parts.views.colour_space import ColourSpace
from counterpoint.parts.views.geometry import (
    CentreCrop,
    HorizontalFlip,
    RandomResizedCrop,
    Resize,
    Translation,
)
from counterpoint.parts.views.jigsaw import Jigsaw
from counterpoint.parts.views.patches import Patches
from counterpoint.parts.views.pipeline import Pipeline
from counterpoint.parts.views.several import ChannelSplit, MultiView
from counterpoint.parts.views.stage import Stage


def simclr_views(
    size: int,
    *,
    smallest: float = 0.08,
    evaluation: int | None = None,
    sigma: tuple[float, float] = (0.1, 2.0),
) -> Pipeline:
    """Return SimCLR's views (Chen et al. 2020, appendix A; B.9 for CIFAR-10).

    `smallest` is the least share of the area that a crop keeps, `sigma` the width of the blur.
    """
    # google-research/simclr, README: CIFAR-10 has jitter strength 0.5 and no blur.
    strength, blur = (0.5, ()) if size <= 32 else (1.0, (_blur(size, sigma=sigma),))
    jitter = (0.8 * strength, 0.8 * strength, 0.8 * strength, 0.2 * strength)
    return Pipeline(
        (
            RandomResizedCrop(size, scale=(smallest, 1.0)),
            HorizontalFlip(0.5),
            ColourJitter(*jitter, p=0.8),
            Greyscale(0.2),
            *blur,
            _normalise(size),
        ),
        evaluation=_centre(evaluation or size),
    )


def moco_views(size: int, *, evaluation: int | None = None) -> Pipeline:
    """Return MoCo v2's views (Chen et al. 2020b; main_moco.py with --aug-plus).

    On CIFAR-10 the crop and the jitter are kept, and blur is left out as in SimCLR.
    """
    return Pipeline(
        (
            RandomResizedCrop(size, scale=(0.2, 1.0)),
            HorizontalFlip(0.5),  # last in main_moco.py; it commutes with what follows here
            ColourJitter(0.4, 0.4, 0.4, 0.1, p=0.8),
            Greyscale(0.2),
            *(() if size <= 32 else (_blur(size),)),
            _normalise(size),
        ),
        evaluation=_centre(evaluation or size),
    )


def instdisc_views(size: int, *, evaluation: int | None = None) -> Pipeline:
    """Return the one view of instance discrimination (zhirongw/lemniscate.pytorch).

    On CIFAR-10 (cifar.py) it does not flip; above (main.py) it does. Main.py makes an image grey
    before the jitter, which then changes its brightness and contrast alone; here it is the last.
    """
    return Pipeline(
        (
            RandomResizedCrop(size, scale=(0.2, 1.0)),
            *(() if size <= 32 else (HorizontalFlip(0.5),)),
            ColourJitter(0.4, 0.4, 0.4, 0.4, p=1.0),
            Greyscale(0.2),
            _normalise(size),
        ),
        views=1,
        evaluation=_centre(evaluation or size),
    )


def byol_views(size: int, *, smallest: float = 0.08, evaluation: int | None = None) -> MultiView:
    """Return BYOL's two recipes (Grill et al. 2020, table 6: T and T').

    On CIFAR-10 as solo-learn's scripts/pretrain/cifar/augmentations/asymmetric.yaml: no blur.
    """
    blurs = ((), ()) if size <= 32 else ((_blur(size, p=1.0),), (_blur(size, p=0.1),))
    solarise: tuple[tuple[Stage, ...], ...] = ((), (Solarise(0.5, p=0.2),))
    return MultiView(
        tuple(
            Pipeline(
                (
                    RandomResizedCrop(size, (smallest, 1.0), interpolation="bicubic"),
                    HorizontalFlip(0.5),
                    ColourJitter(0.4, 0.4, 0.2, 0.1, p=0.8),
                    Greyscale(0.2),
                    *blur,
                    *negative,
                    _normalise(size),
                ),
                views=1,
                evaluation=_centre(evaluation or size),
            )
            for blur, negative in zip(blurs, solarise, strict=True)
        )
    )


def ressl_views(size: int, *, evaluation: int | None = None) -> MultiView:
    """Return ReSSL's two recipes: MoCo v2's for queries, crop and flip alone for keys.

    From mingkai-zheng/ReSSL, data/augmentation.py: moco_aug and target_aug.
    """
    strong = moco_views(size, evaluation=evaluation)
    weak = (RandomResizedCrop(size, scale=(0.2, 1.0)), HorizontalFlip(0.5), _normalise(size))
    return MultiView(
        (replace(strong, views=1), Pipeline(weak, views=1, evaluation=strong.evaluation))
    )


def pirl_views(
    size: int, *, patch: int | None = None, smallest: float = 0.08, evaluation: int | None = None
) -> MultiView:
    """Return PIRL's two views: a crop, and the shuffled patches of another, larger one.

    From vissl, pirl_jigsaw_4node_resnet50.yaml: at 224 pixels, 3 x 3 cells of 85 pixels and patches
    of 64. Here all patches of an image have its colours and its flip; there each has its own.
    """
    q = patch or round(size * 64 / 224)
    side = 3 * round(q * 85 / 64)
    colours = (
        HorizontalFlip(0.5),
        ColourJitter(0.4, 0.4, 0.4, 0.2, p=1.0),
        Greyscale(0.2),
        _normalise(size),
    )
    image = (RandomResizedCrop(size, scale=(smallest, 1.0)), *colours)
    jigsaw = (RandomResizedCrop(side, scale=(0.6, 1.0)), *colours, Jigsaw(q))
    fixed = _centre(evaluation or size)
    return MultiView(
        (Pipeline(image, views=1, evaluation=fixed), Pipeline(jigsaw, views=1, evaluation=fixed))
    )


def amdim_views(size: int, *, shared_flip: bool = True) -> Pipeline:
    """Return AMDIM's views (Bachman et al. 2019; amdim-public, datasets.py).

    The released code flips an image once for both views; the paper's text, each view by itself.
    """
    flip = (HorizontalFlip(0.5),)
    return Pipeline(
        (*(() if shared_flip else flip), *_amdim_stages(size)),
        evaluation=_amdim_centre(size),
        once=flip if shared_flip else (),
    )


def cpc_views(size: int, *, overlap: int | None = None) -> Pipeline:
    """Return CPC's one view: AMDIM's stages, then overlapping patches (section 2.2).

    Patches of a quarter of the side that overlap by half: 7 x 7 of them at every size
    (pytorch-lightning-bolts 0.2: 8/4, 16/8 and 32/16 pixels).
    """
    return Pipeline(
        (HorizontalFlip(0.5), *_amdim_stages(size), _quarters(size, overlap)),
        views=1,
        evaluation=_amdim_centre(size),
    )


def yadim_views(size: int, *, overlap: int | None = None) -> Pipeline:
    """Return YADIM's two views: the union of AMDIM's stages and CPC's (section 3)."""
    return Pipeline(
        (HorizontalFlip(0.5), *_amdim_stages(size), _quarters(size, overlap)),
        evaluation=_amdim_centre(size),
    )


def _quarters(size: int, overlap: int | None) -> Patches:
    """Cut patches of a quarter of the side; None overlaps them by half."""
    return Patches(size // 4, size // 8 if overlap is None else overlap)


def cmc_views(size: int, *, smallest: float = 0.08, evaluation: int | None = None) -> ChannelSplit:
    """Return CMC's two views: lightness and colour of one crop (HobbitLong/CMC, train_CMC.py).

    `smallest` is its --crop_low; 0.08 is that of the README's command for a ResNet-50.
    """
    return ChannelSplit(
        Pipeline(
            (
                RandomResizedCrop(size, scale=(smallest, 1.0)),
                HorizontalFlip(0.5),
                ColourSpace("lab"),
                LAB,
            ),
            views=1,
            evaluation=_centre(evaluation or size),
        ),
        channels=(1, 2),
    )


def _amdim_stages(size: int) -> tuple[Stage, ...]:
    if size <= 32:
        moves: Stage = Translation(4, p=0.8)
    else:
        moves = RandomResizedCrop(size, (0.3, 1.0), (0.7, 1.4), "bicubic")
    grey = 0.25 if size <= 64 else 0.2
    jitter = ColourJitter(0.4, 0.4, 0.4, 0.2, p=0.8)
    return (moves, jitter, Greyscale(grey), _normalise(size))


def _blur(size: int, *, p: float = 0.5, sigma: tuple[float, float] = (0.1, 2.0)) -> GaussianBlur:
    """Blur over a tenth of the side, made odd (SimCLR, appendix A; BYOL has 23 at 224)."""
    return GaussianBlur(size // 20 * 2 + 1, sigma, p)


def _normalise(size: int) -> Normalise:
    return CIFAR10 if size <= 32 else STL10 if size < 128 else IMAGENET


def _centre(size: int) -> tuple[Stage, ...]:
    """Resize to 8/7 of the side and cut the centre (256 and 224: He et al. 2016); small, whole."""
    return (Resize(size if size <= 32 else size * 8 // 7), CentreCrop(size))


def _amdim_centre(size: int) -> tuple[Stage, ...]:
    """Return amdim-public's: whole at 32, 70 and 64, 146 and 128."""
    if size <= 32:
        return (Resize(size, "bicubic"), CentreCrop(size))
    return (Resize(round(size * 70 / 64), "bicubic"), CentreCrop(size))
