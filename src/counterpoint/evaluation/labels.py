"""Whether there are labels to measure with; looked at before anything is embedded."""

from counterpoint.data import Splits


def refuse_unlabelled(splits: Splits) -> None:
    """Refuse splits that probes cannot learn from or be scored on, and say what to do.

    >>> import torch
    >>> from counterpoint.data import ArraySource
    >>> some = ArraySource("holiday", torch.zeros(4, 3, 8, 8, dtype=torch.uint8))
    >>> refuse_unlabelled(Splits(some, some, some))
    Traceback (most recent call last):
        ...
    ValueError: evaluation: holiday has no labels; put the images into one folder per class, or \
look at them without labels: counterpoint report RUN --data DATA
    """
    for source in (splits.train, splits.validation, splits.test):
        if not source.has_labels:
            raise ValueError(
                f"evaluation: {source.name} has no labels; put the images into one folder per "
                "class, or look at them without labels: counterpoint report RUN --data DATA"
            )
    for what, source in (("choose by", splits.validation), ("score", splits.test)):
        if not len(source):
            raise ValueError(
                f"evaluation: {splits.train!r}, and none to {what}; needs at least 10 labelled "
                "images, of which two are held out"
            )
