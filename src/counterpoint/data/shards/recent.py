"""What was read last, within a bound; nothing of it goes to another process."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """Values by key: those used last, as long as their weights are no more than `most` in all.

    The newest is kept whatever its weight. Of threads that ask for the same at once, one reads it.

    >>> recent: Recent[int, str] = Recent(3, weight=len)
    >>> [recent.get(key, lambda key: "x" * key) for key in (1, 2, 3)], len(recent)
    (['x', 'xx', 'xxx'], 1)
    """

    def __init__(self, most: int, weight: Callable[[Value], int] = lambda _: 1) -> None:
        self.most, self.weight = most, weight
        self.values: OrderedDict[Key, Value] = OrderedDict()
        self.held = 0
        self.lock = Lock()

    def __len__(self) -> int:
        return len(self.values)

    def __contains__(self, key: Key) -> bool:
        return key in self.values

    def get(self, key: Key, read: Callable[[Key], Value]) -> Value:
        """Return a value, read now if it is not there."""
        with self.lock:
            if key in self.values:
                self.values.move_to_end(key)
                return self.values[key]
            value = read(key)
            self.values[key] = value
            self.held += self.weight(value)
            while self.held > self.most and len(self.values) > 1:
                self.held -= self.weight(self.values.popitem(last=False)[1])
            return value
