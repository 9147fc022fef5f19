"""Why YADIM is last on a narrow encoder: its parts changed towards AMDIM and SimCLR."""

from collections.abc import Mapping
from dataclasses import replace

from counterpoint.methods import training_of
from counterpoint.methods.amdim import amdim_small
from counterpoint.methods.simclr import simclr_small
from counterpoint.methods.yadim import yadim_small
from counterpoint.parts.extraction import Compare
from counterpoint.parts.similarity import Dot
from counterpoint.parts.views import Patches, Pipeline
from counterpoint.study.studies.scales import NARROW, SEEDS, Scale, part_json, trial
from counterpoint.study.trial import Trial, pairs, seeds

SIZE = 32  # of CIFAR-10


def yadim_parts(scale: Scale) -> list[Trial]:
    """Return YADIM on the encoder of table 3, with parts of AMDIM and SimCLR in their place.

    At both scales it is `yadim-small`: what is explained is the small table.
    """
    base = replace(
        trial(scale, "yadim-small"), encoder=part_json(NARROW), rates=(), column="equal images"
    )
    cells = [
        replace(base, row=row, swaps=tuple((part, part_json(new)) for part, new in swaps.items()))
        for row, swaps in changes().items()
    ]
    faster = pairs(dict(base.training) | {"lr": training_of("simclr-small").lr})
    cells += [
        replace(base, row="rate: SimCLR's", training=faster),
        replace(base, row="AMDIM", method="amdim-small"),
        replace(base, row="SimCLR", method="simclr-small"),
        replace(base, row="random weights, on patches", kind="random"),
        replace(base, row="random weights", method="simclr-small", kind="random"),
    ]
    named = [replace(cell, name=f"yadim {cell.row}") for cell in cells]
    return [one for cell in named for one in seeds(cell, SEEDS[scale])]


def changes() -> dict[str, Mapping[str, object]]:
    """Return the parts that each row has in the place of YADIM's."""
    patched = yadim_small(size=SIZE).views
    assert isinstance(patched, Pipeline)
    halves = replace(patched, stages=(*patched.stages[:-1], Patches(SIZE // 2, 0)))
    amdim, simclr = amdim_small(size=SIZE), simclr_small(size=SIZE)
    return {
        "YADIM": {},
        "views: patches of half the side": {"views": halves},
        "views: AMDIM's, whole": {"views": amdim.views},
        "views: SimCLR's": {"views": simclr.views},
        "extraction: AMDIM's": {"extraction": amdim.extraction},
        "extraction: every place": {"extraction": Compare.parse("(-1:-1)", anchors="all")},
        "extraction: SimCLR's": {"extraction": simclr.extraction},
        "similarity: the paper's dot product": {"similarity": Dot()},
        "similarity: SimCLR's": {"similarity": simclr.similarity},
        "loss: AMDIM's": {"loss": amdim.loss},
        "extraction and similarity: SimCLR's": {
            "extraction": simclr.extraction,
            "similarity": simclr.similarity,
        },
        "views: AMDIM's; the rest: SimCLR's": {
            "views": amdim.views,
            "extraction": simclr.extraction,
            "similarity": simclr.similarity,
        },
    }
