"""SimCLR (Chen et al. 2020): section 2.3 of the paper."""

from counterpoint.framework import Encoder, Method
from counterpoint.framework.training import Training
from counterpoint.methods.recipe import Recipe
from counterpoint.parts.encoders import NarrowResNet, ResNet
from counterpoint.parts.extraction import Pooled
from counterpoint.parts.losses import NCE
from counterpoint.parts.similarity import ProjectedCosine
from counterpoint.parts.views import pipelines

DEFAULT = ResNet("resnet18")
SMALL = NarrowResNet()


def simclr(encoder: Encoder = DEFAULT, *, size: int = 32) -> Method:
    """Compose SimCLR: two views, a ResNet, the pooled last map, a projected cosine, NT-Xent.

    >>> print(simclr())
    (1) views      2 x (random crop 0.08-1 to 32 -> flip 0.5 -> jitter 0.4/0.4/0.4/0.1 p 0.8 -> grey 0.2 -> normalise)
    (2) encoder    ResNet(name='resnet18', stem='small')
    (3) extraction Pooled(map=-1, pool='mean')
    (4) similarity ProjectedCosine(hidden=None, out=128, tau=0.5, learn_tau=False)
    (5) loss       NCE(numerator='each', denominator='own', average='anchors')
    """  # noqa: E501 (the first row is one line)
    return Method(
        views=pipelines.simclr(size),
        encoder=encoder,
        extraction=Pooled(),
        similarity=ProjectedCosine(),
        loss=NCE(),
    )


def simclr_small(encoder: Encoder = SMALL, *, size: int = 32) -> Method:
    """Compose SimCLR for minutes on two cores: a narrow ResNet on small, milder crops.

    Views of 5/8 of the side cost 0.4 of the whole image. The encoder was chosen by short runs
    on validation images; tau, the head and the smallest crop are a judgement between the
    values tried there, not measured one by one (docs/results.md).
    """
    return simclr(encoder, size=size).swap(
        views=pipelines.simclr(size * 5 // 8, smallest=0.25, evaluation=size),
        similarity=ProjectedCosine(hidden=512, tau=0.2),
    )


RECIPES = {
    # google-research/simclr, README, CIFAR-10: LARS 1.0 at 512 images, 1e-4, 1,000 epochs.
    "simclr": Recipe(
        simclr, Training(optimiser="lars", lr=0.5, batch=512, epochs=1000, warmup=0.01)
    ),
    "simclr-small": Recipe(
        simclr_small,
        Training(optimiser="adam", lr=3e-3, batch=256, weight_decay=0.05, epochs=2),
    ),
}
