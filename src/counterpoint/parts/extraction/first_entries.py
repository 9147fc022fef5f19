"""The entries that a bank starts with: random directions."""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from counterpoint.framework.philox import LOW, philox

LARGE = 1 << 30  # numbers, 4 GiB: such a bank is drawn row by row, where its rows are held
TOGETHER = 1 << 22  # numbers that are drawn at a time; Philox takes 64 bytes for each

Entries = Float[Tensor, "view row channel"]


def drawn_at_once(samples: int, width: int, *, views: int = 2) -> Entries | None:
    """Draw all entries by torch's generator; None for a bank that is too large for that.

    >>> drawn_at_once(3, 4).shape
    torch.Size([2, 3, 4])
    >>> drawn_at_once(10**9, 128) is None
    True
    """
    if views * samples * width > LARGE and torch.get_default_device().type != "meta":
        return None
    return F.normalize(torch.randn(views, samples, width), dim=2)


def entries_of_rows(seed: int, rows: range, width: int, *, views: int = 2) -> Entries:
    r"""Draw the entries of some samples, which are functions of seed and sample alone.

    Philox gives two uniform numbers for each pair of channels, and Box and Muller two normal ones:

    $$ \sqrt{-2 \ln u} \, (\cos 2 \pi v, \sin 2 \pi v), \quad 0 < u \le 1 $$

    >>> torch.equal(entries_of_rows(1, range(5), 3)[:, 2:4], entries_of_rows(1, range(2, 4), 3))
    True
    """
    found = torch.empty(views, len(rows), width, device="cpu")
    each = max(1, TOGETHER // (views * width))
    for first in range(0, len(rows), each):
        some = torch.arange(rows.start + first, min(rows.stop, rows.start + first + each))
        found[:, first : first + len(some)] = _directions(seed, some, width, views)
    return found


def _directions(seed: int, rows: Tensor, width: int, views: int) -> Entries:
    pairs = -(-width // 2)
    row = rows[None, :, None]
    place = torch.arange(pairs) + torch.arange(views)[:, None, None] * pairs  # view, then pair
    zero = torch.zeros_like(place)
    words = philox((row & LOW, row >> 32, place, zero), (seed & LOW, (seed >> 32) & LOW))
    first, second = ((word >> 8).to(torch.float32) * 2.0**-24 for word in words[:2])
    radius, angle = (-2 * torch.log1p(-first)).sqrt(), 2 * math.pi * second
    normal = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=3)
    return F.normalize(normal.flatten(2)[:, :, :width], dim=2)
