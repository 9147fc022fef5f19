"""The user's own images in a report: some of them, the same for all runs, and what runs see."""

import os
from dataclasses import dataclass
from pathlib import Path

import torch.nn.functional as F
from jaxtyping import Float, Int64
from PIL import Image
from torch import Tensor

from counterpoint.data import Source, Splits, sample_images
from counterpoint.data.packed_names import shown
from counterpoint.data.reading import TRIED, first_readable
from counterpoint.data.source import all_labels
from counterpoint.evaluation.clusters import k_means
from counterpoint.framework.permutation import drawn
from counterpoint.report.gallery import nearest_images
from counterpoint.report.projection import Projection, project
from counterpoint.report.thumbnails import thumbnails

MIN_TEST_IMAGES = 100  # test images below which the training images say more; our choice
MIN_IMAGES = 8  # an image, its six neighbours and one more
NEAR = 6
KINDS = 20  # labels that a legend can name and eyes can find; with more, groups are shown
SHEET_IMAGES = 3  # images on the contact sheet: each is a row


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Images that every run of a report is asked about."""

    source: Source
    words: str
    pictures: list[Image.Image]
    for_views: list[Tensor]
    """Whole images of the training split, for the contact sheet."""

    @property
    def labels(self) -> Int64[Tensor, " sample"] | None:
        return all_labels(self.source) if self.source.has_labels else None

    def file(self, number: int) -> str:
        """Name the file of an image with its folder; nothing for images in memory."""
        path = self.source.path(number)
        return "" if path is None else shown(os.fsencode(Path(*Path(path).parts[-2:])))

    def name(self, label: int) -> str:
        """Return the name of a label."""
        classes = self.source.classes
        return classes[label] if classes is not None and label < len(classes) else f"class {label}"


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What one run makes of the sample."""

    near: Int64[Tensor, "sample near"]
    cosines: Float[Tensor, "sample near"]
    projection: Projection
    clusters: Int64[Tensor, " sample"] | None
    """Groups by k-means, where there are no labels, or more than a map can name."""


def choose(splits: Splits, *, count: int) -> Sample:
    """Take images that training did not see, if there are enough; the same ones every time."""
    unseen = len(splits.test) >= MIN_TEST_IMAGES
    source = splits.test if unseen else splits.train
    if len(source) < MIN_IMAGES:
        raise ValueError(f"report: got {len(source)} images, needs {MIN_IMAGES} to compare")
    order = first_readable(source, drawn(len(source), TRIED * count, seed=0), count=count)
    chosen = source.subset("sample", order.sort().values)
    kind = "test images, which training did not see" if unseen else "training images"
    some = "all" if len(chosen) == len(source) else f"{len(chosen):,} of"
    words = f"{some} {len(source):,} {kind}"
    shown = sample_images(splits.train, SHEET_IMAGES, seed=0)
    return Sample(chosen, words, thumbnails(chosen), shown)


def look(vectors: Float[Tensor, "sample feature"], labels: Int64[Tensor, " sample"] | None) -> Seen:
    """Find neighbours, a plane and, where labels are none or too many, groups."""
    near, cosines = nearest_images(vectors, count=NEAR)
    named = labels is not None and int(labels.max()) < KINDS
    groups = None if named else k_means(vectors)
    # Unit vectors: near on the plane is then near by cosine, as in the gallery.
    return Seen(near, cosines, project(F.normalize(vectors.float(), dim=1)), groups)
