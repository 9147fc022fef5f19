"""Why YADIM is last on a narrow encoder: its parts changed towards AMDIM and SimCLR."""

from collections.abc import Mapping
from dataclasses import replace

from counterpoint.methods.amdim import TASK
from counterpoint.methods.yadim import yadim_small
from counterpoint.parts.extraction import Compare, Pooled
from counterpoint.parts.losses import NCE, Penalised
from counterpoint.parts.similarity import Dot, ProjectedCosine
from counterpoint.parts.views import Patches, Pipeline, pipelines
from counterpoint.study.studies.scales import NARROW, SEEDS, Scale, part_json, trial
from counterpoint.study.trial import Trial, pairs, seeds

SIZE = 32  # of CIFAR-10
RATE = 3e-3  # of simclr-small
SIMCLR = ProjectedCosine(hidden=512, tau=0.2)  # of simclr-small


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
    faster = pairs(dict(base.training) | {"lr": RATE})
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
    whole = pipelines.amdim_views(SIZE)
    cropped = pipelines.simclr_views(SIZE * 5 // 8, smallest=0.25, evaluation=SIZE)
    return {
        "YADIM": {},
        "views: patches of half the side": {"views": halves},
        "views: AMDIM's, whole": {"views": whole},
        "views: SimCLR's": {"views": cropped},
        "extraction: AMDIM's": {"extraction": Compare.parse(TASK)},
        "extraction: every place": {"extraction": Compare.parse("(-1:-1)", anchors="all")},
        "extraction: SimCLR's": {"extraction": Pooled()},
        "similarity: the paper's dot product": {"similarity": Dot()},
        "similarity: SimCLR's": {"similarity": SIMCLR},
        "loss: AMDIM's": {"loss": Penalised(of=NCE())},
        "extraction and similarity: SimCLR's": {"extraction": Pooled(), "similarity": SIMCLR},
        "views: AMDIM's; the rest: SimCLR's": {
            "views": whole,
            "extraction": Pooled(),
            "similarity": SIMCLR,
        },
    }
