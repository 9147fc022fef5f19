"""Part (3), M -> r^a, R^+, R^-."""

from counterpoint.parts.extraction.pooled import Pooled

__all__ = ["Pooled"]
