"""Part (3), M -> r^a, R^+, R^-."""

from counterpoint.parts.extraction.pooled import Pooled
from counterpoint.parts.extraction.queue import Queue

__all__ = ["Pooled", "Queue"]
