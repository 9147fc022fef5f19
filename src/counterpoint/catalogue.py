"""What can be named on the command line, as plain text: to list and to check without torch.

`tests/test_catalogue.py` compares it with the methods and the encoders themselves.
"""

METHODS = {
    "amdim": "two views, three maps, every place of them compared",
    "cpc": "one view as patches; predict the patches below",
    "simclr": "two views, a projection head, cosine over tau",
    "moco": "a momentum encoder and a queue of its keys",
    "byol": "a momentum encoder and a predictor, no negatives",
    "cmc": "lightness against colour, and a memory bank",
    "yadim": "two views as patches, compared at the last map",
}
"""The seven methods of the paper, each with its authors' settings."""

VARIANTS = {
    "amdim-paper": "AMDIM as the paper prints it",
    "amdim-released": "AMDIM as the paper's code has it",
    "cpc-paper": "CPC as the paper prints it: all rows below",
    "simclr-paper": "SimCLR as the paper prints it",
    "amdim-small": "AMDIM for minutes on two cores",
    "cpc-small": "CPC for minutes on two cores",
    "simclr-small": "SimCLR for minutes on two cores",
    "moco-small": "MoCo for minutes on two cores",
    "byol-small": "BYOL for minutes on two cores",
    "cmc-small": "CMC for minutes on two cores",
    "yadim-small": "YADIM for minutes on two cores",
    "yadim-pooled": "yadim-small with one vector a view",
    "yadim-all-places": "yadim-small with every place an anchor",
}

ENCODERS = {
    "resnet18": "11 M parameters",
    "resnet34": "21 M",
    "resnet50": "24 M",
    "resnet101": "43 M",
    "resnet152": "58 M",
    "resnext50_32x4d": "23 M",
    "resnext101_32x8d": "87 M",
    "wide_resnet50_2": "67 M",
    "wide_resnet101_2": "125 M",
    "small": "a narrow ResNet of 1.2 M for a CPU",
}
"""Encoders with names of their own, and `timm/NAME` for any of timm's."""

TIMM = "timm/"
