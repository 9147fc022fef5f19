"""The pipelines of the methods, with a source for every number."""

from counterpoint.parts.views.colour import ColourJitter, Greyscale, Normalise
from counterpoint.parts.views.geometry import GaussianBlur, HorizontalFlip, RandomResizedCrop
from counterpoint.parts.views.pipeline import Pipeline

CIFAR10 = Normalise(
    (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)
)  # of the 50,000 training images
IMAGENET = Normalise((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))  # torchvision's weights


def simclr(size: int, *, smallest: float = 0.08, evaluation: int | None = None) -> Pipeline:
    """Give SimCLR's views (Chen et al. 2020, appendix A; B.9 for CIFAR-10).

    `smallest` is the least share of the area that a crop keeps.
    """
    # google-research/simclr, README: CIFAR-10 has jitter strength 0.5 and no blur.
    strength, blur = (0.5, ()) if size <= 32 else (1.0, (GaussianBlur(size // 20 * 2 + 1),))
    jitter = (0.8 * strength, 0.8 * strength, 0.8 * strength, 0.2 * strength)
    return Pipeline(
        (
            RandomResizedCrop(size, scale=(smallest, 1.0)),
            HorizontalFlip(0.5),
            ColourJitter(*jitter, p=0.8),
            Greyscale(0.2),
            *blur,
            CIFAR10 if size <= 32 else IMAGENET,
        ),
        evaluation=evaluation,
    )
