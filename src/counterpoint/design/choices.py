"""The closed table of a search: which settings may change, and to which values.

A key is a class and one of its settings, or several that only make sense together. The values are
those that people use: those that are named here, and around them steps of our choice. A setting
that is not here stays as it is.
"""

from collections.abc import Mapping
from typing import Any

from counterpoint.parts.extraction import Compare

Key = tuple[str, str]
"""The name of a class, and of its settings, separated by blanks."""

TAUS = (0.05, 0.1, 0.2, 0.5, 1.0)  # SimCLR table 5: 0.05, 0.1, 0.5 and 1; MoCo v2 0.2
DECAYS = (0.9, 0.97, 0.99, 0.996, 0.999)  # MoCo, section 4.1: 0.9 to 0.9999; BYOL 0.996
ONE_LAYER = (128, 256, 512, 1024)  # our small recipes 512; papers have 2,048 and 4,096
POOLS = ("mean", "max", "gem")  # SimCLR; our choice; SSCD
PASTS = (1024, 4096, 16_384)  # entries; MoCo figure 3: 256 to 65,536

CHOICES: Mapping[Key, tuple[Any, ...]] = {
    # (1) views
    ("RandomResizedCrop", "scale"): tuple((s, 1.0) for s in (0.08, 0.2, 0.25, 0.4)),
    # SimCLR and BYOL 0.08, MoCo 0.2, our small recipes 0.25; 0.4 is our choice
    ("RandomResizedCrop", "interpolation"): ("bilinear", "bicubic"),  # SimCLR's port; BYOL
    ("Translation", "most"): (2, 4, 8),  # AMDIM 4
    ("HorizontalFlip", "p"): (0.25, 0.5),  # all methods 0.5
    ("ColourJitter", "brightness contrast saturation hue"): (
        (0.2, 0.2, 0.2, 0.05),  # SimCLR table 1: strengths 1/4, 1/2 and 1
        (0.4, 0.4, 0.4, 0.1),
        (0.8, 0.8, 0.8, 0.2),
        (0.4, 0.4, 0.2, 0.1),  # BYOL
        (0.4, 0.4, 0.4, 0.2),  # AMDIM
        (0.4, 0.4, 0.4, 0.4),  # instance discrimination
    ),
    ("ColourJitter", "p"): (0.5, 0.8, 1.0),  # SimCLR 0.8, instance discrimination 1
    ("Greyscale", "p"): (0.1, 0.2, 0.4),  # SimCLR 0.2
    ("GaussianBlur", "p"): (0.1, 0.5, 1.0),  # SimCLR 0.5; BYOL 1 and 0.1
    ("Solarise", "p"): (0.1, 0.2),  # BYOL 0.2
    ("Pipeline", "views"): (1, 2, 3),  # all methods 1 or 2
    # (2) encoder: what is around the network. The network itself is given: a wider one has more
    # dimensions to use, and would win by RankMe whatever it had learned.
    ("Headed", "out"): (64, 128, 256, 512),  # MoCo 128, BYOL 256
    ("Headed", "hidden"): (None, *ONE_LAYER, (512, 512)),
    ("Headed", "norm"): (False, True),  # MoCo v2; BYOL
    ("Headed", "last_norm"): ("none", "affine", "plain"),  # BYOL; NNCLR; SimSiam
    ("MomentumEncoder", "decay"): DECAYS,
    ("MomentumEncoder", "rises"): (False, True),  # MoCo; BYOL
    ("MomentumEncoder", "views_apart"): (False, True),  # MoCo v3; BYOL
    ("QueryKeyEncoder", "decay"): DECAYS,
    ("QueryKeyEncoder", "groups"): (1, 2, 4, 8),  # MoCo: 8 GPUs
    # (3) extraction
    ("Pooled", "map"): (-2, -1),  # all methods -1
    ("Pooled", "pool"): POOLS,
    ("Keys", "map"): (-2, -1),
    ("Keys", "pool"): POOLS,
    ("Compare", "pairs"): tuple(
        Compare.parse(text).pairs  # the four rows of the paper's table 2, and parts of the first
        for text in (
            "(-1:-2) + (-1:-3) + (-2:-2)",
            "(-1:-1)",
            "(-1:random)",
            "(k:k)",
            "(-1:-2)",
            "(-2:-2)",
        )
    ),
    ("Compare", "anchors"): ("one", "all"),  # AMDIM; one reading of YADIM
    ("Context", "offsets"): ((1,), (1, 2), (1, 2, 3), (2, 3)),  # CPC: from 2 on; bolts: from 1 on
    ("Context", "target"): (32, 64, 128),  # CPC 64
    ("Context", "hidden"): (32, 64, 128),  # our small recipe 64
    ("Context", "blocks"): (1, 3, 5),  # CPC 5
    ("Bank", "negatives"): PASTS,
    ("Bank", "momentum"): (0.0, 0.5, 0.9),  # instance discrimination and CMC 0.5
    ("Bank", "start"): ("random", "seen"),  # CMC; our small recipes
    ("Queue", "size"): PASTS,
    ("NearestAnchors", "size"): PASTS,
    ("Together", "shares"): ((0.7, 0.3), (0.5, 0.5), (0.3, 0.7)),  # DenseCL a half each
    # (4) similarity
    ("Cosine", "tau"): TAUS,
    ("Cosine", "learn_tau"): (False, True),
    ("ProjectedCosine", "tau"): TAUS,
    ("ProjectedCosine", "learn_tau"): (False, True),
    ("ProjectedCosine", "hidden"): ((), *ONE_LAYER, (512, 512)),  # SSCD (), SimCLR v2 two layers
    ("ProjectedCosine", "out"): (64, 128, 256),  # SimCLR figure 8: 32 to 2048 make no difference
    ("ProjectedCosine", "last_norm"): ("none", "affine", "plain"),
    ("PredictedCosine", "tau"): TAUS,
    ("PredictedCosine", "hidden"): ONE_LAYER,
    ("PredictedCosine", "side"): ("anchor", "candidate"),  # BYOL; NNCLR
    ("ScaledDot", "clip"): (None, 10.0, 20.0),  # AMDIM 20, the code of the paper 10
    ("BallDot", "mu"): (1.0, 3.0, 10.0),  # HaoChen et al. 1 on CIFAR-10
    ("CyclicTau", "lowest highest"): ((0.05, 0.5), (0.1, 0.5), (0.1, 1.0)),  # Kukleva 0.1 to 1
    ("CyclicTau", "cycles"): (1.0, 2.0, 5.0),  # Kukleva 5, our small recipe 2
    ("Biased", "bias"): (-10.0, -5.0, 0.0),  # SigLIP -10
    # (5) loss
    ("NCE", "numerator denominator"): (
        ("each", "own"),  # equation 3, NT-Xent
        ("each", "all"),  # supervised contrastive learning
        ("each", "negatives"),  # DCL
        ("sum", "all"),  # MIL-NCE
        ("sum", "negatives"),  # equation 1
    ),
    ("NCE", "average"): ("anchors", "positives"),
    ("Penalised", "weight"): (0.01, 0.05, 0.1),  # AMDIM 0.05
    ("NearestEntropy", "weight"): (1.0, 10.0, 30.0),  # SSCD 30, advised 10
    ("RelationalCrossEntropy", "target_tau"): (0.02, 0.04, 0.07),  # ReSSL 0.04
    ("HardNegatives", "beta"): (0.0, 0.5, 1.0, 2.0),  # debiased 0, HCL 1
    ("HardNegatives", "prior"): (0.01, 0.05, 0.1),  # debiased 0.1
    ("WeightedPositives", "sigma"): (0.3, 0.5, 1.0),  # DCLW 0.5
    ("Triplet", "margin"): (0.2, 0.5, 1.0),  # FaceNet 0.2
    ("AlignmentUniformity", "alpha"): (1.0, 2.0),  # Wang and Isola: 2, 2, 1, 1
    ("AlignmentUniformity", "t"): (1.0, 2.0, 3.0),
    ("AlignmentUniformity", "alignment"): (0.5, 1.0, 2.0),
    ("AlignmentUniformity", "uniformity"): (0.5, 1.0, 2.0),
    ("BarlowTwins", "redundancy"): (0.001, 0.0051, 0.02),  # Barlow Twins 0.0051
    ("VICReg", "invariance"): (10.0, 25.0, 50.0),  # VICReg: 25, 25, 1
    ("VICReg", "variance"): (10.0, 25.0, 50.0),
    ("VICReg", "covariance"): (1.0, 4.0, 10.0),
    # Training: rates for AdamW, which all small recipes have (1e-3 to 1e-2, decay 0.05 or 1e-5).
    # Two searches and tuned rivals chose 1e-2 when it was the highest: docs/design-results.md.
    # No batch is above theirs of 256, so that a candidate fits wherever these do.
    ("Training", "lr"): (5e-4, 1e-3, 2e-3, 3e-3, 5e-3, 1e-2, 2e-2, 5e-2),
    ("Training", "batch"): (64, 128, 256),
    ("Training", "weight_decay"): (1e-5, 1e-3, 0.01, 0.05, 0.1),
    ("Training", "warmup"): (0.0, 0.05, 0.1, 0.2),
    ("Training", "betas"): ((0.8, 0.999), (0.9, 0.999), (0.9, 0.95)),  # AMDIM; torch; MAE
}

SHARES: Mapping[Key, tuple[Any, ...]] = {
    ("RandomResizedCrop", "size"): (3 / 8, 1 / 2, 5 / 8, 3 / 4, 1.0),
    # our small recipes have 5/8; the others are our choice
    ("Patches", "q overlap"): ((1 / 4, 0.0), (1 / 4, 1 / 8), (1 / 2, 0.0), (1 / 2, 1 / 4)),
    # the paper's section 4, its section 3 and CPC; patches of half a side are our choice
}
"""Settings in pixels, as shares of the side of the images."""


def choices_for(side: int | None) -> dict[Key, tuple[Any, ...]]:
    """Return the table for images of one side; None leaves out what is in pixels.

    >>> choices_for(32)["RandomResizedCrop", "size"]
    (12, 16, 20, 24, 32)
    """
    pixels = {} if side is None else {key: _pixels(some, side) for key, some in SHARES.items()}
    return {**CHOICES, **pixels}


def _pixels(shares: Any, side: int) -> Any:
    if isinstance(shares, tuple):
        return tuple(_pixels(share, side) for share in shares)
    return int(shares * side)
