"""What a part may offer besides its contract; a part without it has the default.

| attribute | of | default | who asks |
|---|---|---|---|
| `for_samples(n)` | settings of an extraction | the same settings | pretraining, before it builds |
| `held_out` | settings of an extraction | True | the search for a learning rate |
"""

from typing import Protocol, runtime_checkable

from counterpoint.framework.contracts import Extraction


@runtime_checkable
class ForSamples(Protocol):
    """Settings of an extraction that remembers something of every sample, as a bank does."""

    def for_samples(self, samples: int, /) -> Extraction:
        """Return the same settings for a data set of so many samples."""


def fit_samples(extraction: Extraction, samples: int) -> Extraction:
    """Return the extraction for a data set of so many samples."""
    return extraction.for_samples(samples) if isinstance(extraction, ForSamples) else extraction


def held_out(extraction: Extraction) -> bool:
    """Return whether the loss means something on images that are not trained on."""
    return bool(getattr(extraction, "held_out", True))
