"""Feature maps against feature maps, written as in the paper: (-1:-2) + (-1:-3) + (-2:-2)."""

import re
from dataclasses import dataclass
from itertools import permutations
from typing import ClassVar, Literal

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from counterpoint.framework import Comparison, Encoded, PartError, Samples, World
from counterpoint.framework.counting import add_to, count_of, register_count
from counterpoint.framework.philox import philox
from counterpoint.framework.precision import at_least_fp32
from counterpoint.framework.records import Index, Maps, Shape
from counterpoint.framework.sending import send_together
from counterpoint.framework.world import Everyone

PAIR = re.compile(r"\(\s*(-\d+|k)\s*:\s*(-\d+|k|random)\s*\)")
STEP_KEY = (0x6D617073, 0)  # "maps": a stream of its own


@dataclass(frozen=True, slots=True)
class Pair:
    """Anchors from one map, candidates from another; -1 is the last.

    >>> print(Pair(-1, -2))
    (-1:-2)
    """

    anchor: int
    candidate: int | Literal["random"]
    """random: another map in every step, the same on all ranks."""

    def __str__(self) -> str:
        return f"({self.anchor}:{self.candidate})"


@dataclass(frozen=True, slots=True)
class Compare:
    """Anchors are vectors of one map, candidates all vectors of a map of another view.

    The identity is the image: every place of an image's map is a positive of its anchors, every
    place of other images a negative. Both views are anchors in turn and count half.

    >>> Compare.parse("(-1:-2) + (-1:-3) + (-2:-2)").pairs[0]
    Pair(anchor=-1, candidate=-2)
    >>> print(Compare.parse("(-1:random)"))
    (-1:random), one place
    """

    part: ClassVar[Literal["extraction"]] = "extraction"

    pairs: tuple[Pair, ...]
    """Empty compares every map with itself: (k:k), "same level"."""
    anchors: Literal["one", "all"] = "one"
    """one: a place drawn for each image (amdim-public); all: every place."""
    width: int | None = None
    """Bring all maps to this width by learned 1x1 maps; None does so only where they differ,
    to the width of the last."""

    @classmethod
    def parse(
        cls, text: str, *, anchors: Literal["one", "all"] = "one", width: int | None = None
    ) -> "Compare":
        """Read a strategy as the paper writes it; (k:k) and "same level" are the same."""
        text = text.replace("same level", "(k:k)")
        found = [PAIR.fullmatch(part.strip()) for part in text.split("+")]
        if not all(found):
            raise PartError(
                "extraction",
                got=repr(text),
                needs="pairs like (-1:-2) + (-1:-3), (-1:random) or (k:k)",
            )
        named = [match.groups() for match in found if match]
        pairs = tuple(
            Pair(int(a), "random" if b == "random" else int(b)) for a, b in named if a != "k"
        )
        if len(pairs) not in (0, len(named)):
            raise PartError("extraction", got=repr(text), needs="(k:k) alone")
        return cls(pairs, anchors, width)

    def build(self, maps: tuple[tuple[Shape, ...], ...]) -> "MapExtraction":
        if len(maps) < 2:
            raise PartError(
                "extraction",
                got=f"{len(maps)} view of each image",
                needs="at least two: candidates are another view's",
                do="set views=2 in the pipeline",
            )
        count = len(maps[0])
        every = tuple(Pair(-k, -k) for k in range(1, count + 1))
        pairs = self.pairs or every
        used = {p.anchor for p in pairs} | {p.candidate for p in pairs if p.candidate != "random"}
        if any(p.candidate == "random" for p in pairs):
            used |= {-k for k in range(1, count + 1)}
        levels = sorted(level for level in used if isinstance(level, int))
        if levels[0] < -count or levels[-1] > -1:
            raise PartError(
                "extraction", got=f"{self} of {count} maps", needs=f"maps from {-count} to -1"
            )
        widths = {level: maps[0][level][0] for level in levels}
        return MapExtraction(self, pairs, widths, count)

    def __str__(self) -> str:
        text = " + ".join(map(str, self.pairs)) or "(k:k)"
        width = "" if self.width is None else f", width {self.width}"
        return f"{text}, {self.anchors} place{'s' if self.anchors == 'all' else ''}{width}"


class MapExtraction(nn.Module):
    """The learned 1x1 maps, and a counter of steps that places and random maps are drawn by."""

    steps: Tensor

    def __init__(
        self, settings: Compare, pairs: tuple[Pair, ...], widths: dict[int, int], count: int
    ) -> None:
        super().__init__()
        self.pairs, self.count, self.one = pairs, count, settings.anchors == "one"
        same = len(set(widths.values())) == 1 and settings.width in (None, *widths.values())
        width = settings.width or widths[max(widths)]
        self.bring = nn.ModuleDict(
            {str(k): nn.Identity() if same else nn.Linear(w, width) for k, w in widths.items()}
        )
        register_count(self, "steps")

    def forward(self, encoded: Encoded, samples: Samples, world: World) -> tuple[Comparison, ...]:
        views, targets = range(len(encoded.online)), len(encoded.target)
        index = samples.index
        drawn = self._drawn(encoded, index)
        candidates: dict[tuple[int, int], _Candidates] = {}
        found = []
        for number, pair in enumerate(self.pairs):
            level = self._level(pair, number)
            for a, b in permutations(views, 2):
                if b >= targets:  # the twin does not encode it
                    continue
                if (b, level) not in candidates:  # several pairs may share them
                    candidates[b, level] = self._candidates(
                        encoded.target[b], level, samples, world
                    )
                theirs = candidates[b, level]
                anchors, who = self._anchors(encoded.online[a], pair.anchor, index, drawn[number])
                found.append(
                    Comparison(
                        anchors=anchors,
                        candidates=theirs.vectors,
                        anchor_identity=who,
                        candidate_identity=theirs.identity,
                        everyone=theirs.everyone,
                        weight=1 / targets / (len(views) - 1),
                    )
                )
        if self.training and not self.steps.is_meta:
            add_to(self, "steps", 1)
        return tuple(found)

    def _candidates(self, maps: Maps, level: int, samples: Samples, world: World) -> "_Candidates":
        """Return all vectors of a map, and whose they are."""
        vectors = at_least_fp32(self._vectors(maps, level))
        places = len(vectors) // len(samples)

        def identify(samples: Samples) -> Tensor:
            return samples.index[:, None].expand(-1, places).flatten()

        return _Candidates(vectors, identify(samples), world.everyone(identify))

    def _vectors(self, maps: Maps, level: int) -> Float[Tensor, "vector channel"]:
        """List all vectors of a map: the places of the first image, then of the second, ..."""
        vectors: Tensor = self.bring[str(level)](maps[level].flatten(2).mT.flatten(0, 1))
        return vectors

    def _anchors(
        self, maps: Maps, level: int, index: Index, drawn: Int64[Tensor, " image"]
    ) -> tuple[Float[Tensor, "anchor channel"], Int64[Tensor, " anchor"]]:
        places = maps[level].shape[2] * maps[level].shape[3]
        if not self.one or places == 1:
            return self._vectors(maps, level), index.repeat_interleave(places)
        rows = torch.arange(len(drawn), device=drawn.device)
        chosen = maps[level].flatten(2)[rows, :, drawn % places]
        vectors: Tensor = self.bring[str(level)](chosen)
        return vectors, index

    def _level(self, pair: Pair, number: int) -> int:
        if pair.candidate != "random":
            return pair.candidate
        if self.steps.is_meta:
            return -1
        nobody = torch.zeros(1, dtype=torch.int64, device="cpu")
        return -1 - int(self._draw(nobody, number)[0] % self.count)

    def _drawn(self, encoded: Encoded, index: Index) -> tuple[Int64[Tensor, " image"], ...]:
        """Draw a number for each image and pair, on the host; one copy brings all of them over."""
        drawn = [self._draw(index, number) for number in range(len(self.pairs))]
        return send_together(drawn, encoded.online[0][-1].device)

    def _draw(self, index: Index, number: int) -> Index:
        """Draw a whole number for each sample: a function of it, the step and the pair."""
        step = torch.full_like(index, count_of(self, "steps"))
        low, high = index & 0xFFFFFFFF, (index >> 32) & 0xFFFFFFFF
        words = philox((low, high, step, torch.full_like(index, number)), STEP_KEY)
        return words[0]


@dataclass(frozen=True, slots=True, eq=False)
class _Candidates:
    vectors: Float[Tensor, "candidate channel"]
    identity: Int64[Tensor, " candidate"]
    everyone: Everyone | None
