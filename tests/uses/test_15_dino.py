"""Use 15: DINO: a twin that sees large crops only, a centre that all ranks share."""

from counterpoint import (
    Dot,
    Headed,
    MomentumEncoder,
    MultiView,
    Normalise,
    Pipeline,
    RandomResizedCrop,
    simclr,
)
from newer import DINO, OthersOfTwin

NORMALISE = Normalise((0.49, 0.48, 0.45), (0.25, 0.24, 0.26))


def crops(size, views, scale):
    return Pipeline((RandomResizedCrop(size, scale), NORMALISE), views=views)


def test_large_crops_teach_and_all_crops_learn(small, train):
    twin = MomentumEncoder(of=Headed(of=small, out=24, hidden=16), targets=2, decay=0.9)
    method = simclr(twin).swap(
        views=MultiView((crops(32, 2, (0.4, 1.0)), crops(16, 2, (0.05, 0.4)))),
        extraction=OthersOfTwin(),
        similarity=Dot(),
        loss=DINO(),
    )
    run = train(method)
    assert run.model.loss.centre.shape == (24,)
    assert run.model.loss.centre.abs().sum() > 0, "the centre followed the targets"
