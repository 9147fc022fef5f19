"""Part (3), M -> r^a, R^+, R^-."""

from counterpoint.parts.extraction.bank import Bank
from counterpoint.parts.extraction.context import Context
from counterpoint.parts.extraction.keys import Keys
from counterpoint.parts.extraction.maps import Compare, Pair
from counterpoint.parts.extraction.one_way import OneWay
from counterpoint.parts.extraction.pooled import Pooled
from counterpoint.parts.extraction.queue import Queue

__all__ = ["Bank", "Compare", "Context", "Keys", "OneWay", "Pair", "Pooled", "Queue"]
