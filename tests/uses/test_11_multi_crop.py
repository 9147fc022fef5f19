"""Use 11: multi-crop, two large views and four small ones."""

from counterpoint import MultiView, Normalise, Pipeline, RandomResizedCrop, simclr


def crops(size, views, scale):
    shared = Normalise((0.49, 0.48, 0.45), (0.25, 0.24, 0.26))
    return Pipeline((RandomResizedCrop(size, scale), shared), views=views)


def test_large_and_small_crops_of_one_image_are_each_others_positives(small, train):
    views = MultiView((crops(32, 2, (0.14, 1.0)), crops(16, 4, (0.05, 0.14))))
    run = train(simclr(small).swap(views=views))
    assert [shape[-1] for shape in run.model.views.shapes] == [32, 32, 16, 16, 16, 16]
