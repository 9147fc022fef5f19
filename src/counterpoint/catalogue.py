"""What can be named on the command line, as plain text: to list and to check without torch.

`tests/test_catalogue.py` compares it with the methods, encoders, probes and studies themselves.
"""

import importlib.util
import re
from functools import cache
from pathlib import Path

METHOD_GROUPS: dict[str, dict[str, str]] = {
    "the seven of the paper": {
        "amdim": "two views, three maps, every position compared",
        "cpc": "one view as patches; predict the patches below",
        "simclr": "two views, a projection head, cosine over tau",
        "moco": "a momentum encoder and a queue of its keys",
        "byol": "a momentum encoder and a predictor, no negatives",
        "cmc": "lightness against colour, and a memory bank",
        "yadim": "two views as patches, compared at the last map",
    },
    "other extraction (3)": {
        "instdisc": "one view against a bank of all images",
        "supcon": "SimCLR with labels: one label, all positives",
        "simsiam": "BYOL without a twin: a stopped gradient",
        "nnclr": "the nearest of earlier vectors stands for the image",
    },
    "other similarity (4)": {
        "simclrts": "SimCLR with a tau that swings during training",
    },
    "other losses (5)": {
        "dcl": "SimCLR without the positive in the denominator",
        "dclw": "DCL; positives that are far apart count more",
        "debiased": "negatives corrected for those of the same class",
        "hcl": "debiased, and hard negatives count more",
        "siglip": "each pair is a yes or no: the sigmoid loss",
        "spectral": "squares of negative scores, vectors inside a ball",
        "alignuniform": "positives near, all vectors spread over the sphere",
        "sscd": "for finding copies: the nearest image pushed away",
    },
    "several parts at once": {
        "mocov3": "BYOL's twin and predictor, a softmax over the batch",
        "pirl": "an image and its shuffled patches, against a bank",
        "densecl": "MoCo, and places with their best match",
        "ressl": "relations to a queue, learned from a weak view",
    },
    "found by counterpoint design": {
        "ricercar": "alignuniform on half-side crops, a normalised head",
        "invention": "CMC's two networks under AMDIM's scaled dot product",
    },
    "outside the paper's frame: losses on features": {
        "barlowtwins": "the correlation of features is the identity",
        "vicreg": "features vary, and do not vary together",
    },
}
"""Methods by what is new in them; NAME is composed in methods/NAME.py, with NAME-small."""

METHODS = {name: what for group in METHOD_GROUPS.values() for name, what in group.items()}
"""Methods with their authors' settings, the seven of the paper first."""

PRINTED = {
    "amdim-paper": "AMDIM as printed in the paper",
    "amdim-released": "AMDIM as in the paper's code",
    "cpc-paper": "CPC as printed in the paper: all rows below",
    "simclr-paper": "SimCLR as printed in the paper",
    "yadim-pooled": "yadim-small with one vector per view",
    "yadim-all-places": "yadim-small with every position an anchor",
}
"""Other readings of a method."""

VARIANTS = PRINTED | {f"{name}-small": f"{name}, minutes on two cores" for name in METHODS}

ENCODERS = {
    "resnet18": ("11 M", "torchvision"),
    "resnet34": ("21 M", "torchvision"),
    "resnet50": ("24 M", "torchvision"),
    "resnet101": ("43 M", "torchvision"),
    "resnet152": ("58 M", "torchvision"),
    "resnext50_32x4d": ("23 M", "torchvision"),
    "resnext101_32x8d": ("87 M", "torchvision"),
    "wide_resnet50_2": ("67 M", "torchvision"),
    "wide_resnet101_2": ("125 M", "torchvision"),
    "small": ("1.2 M", "a narrow ResNet, fast enough on a CPU"),
}
"""Encoders with names of their own: parameters, and what each is; `timm/NAME` is any of timm's."""

TIMM = "timm/"
PROBES = ("knn", "linear", "mlp", "finetune")
STUDIES = ("table1", "table2", "table3", "parts", "family", "yadim")
PRETRAINED = "pretrained"
"""The weights that timm downloads, in the place of a file."""

RESUME = ("auto", "never")
GPUS = ("b200", "h200", "h100", "a100", "a100-40", "l40s", "a10", "l4", "v100", "rtx4090")
NETWORKS = ("ndr", "hdr", "ethernet-400", "ethernet-100", "ethernet-25")
EXPORT_ROUTES = ("timm", "torchvision", "counterpoint", "onnx", "pt2")


@cache
def timm_names() -> list[str]:
    """Return the names of timm's models, read from its files: importing timm imports torch."""
    found = re.findall(r"^@register_model\n(?:@.*\n)*def (\w+)\(", _timm_source(), re.MULTILINE)
    return sorted(found)


def is_timm_name(name: str) -> bool:
    """Whether timm may know a name: one of its models, with or without a tag, or an older name."""
    model = name.partition(".")[0]
    return model in timm_names() or f"'{model}'" in _timm_source() or f'"{model}"' in _timm_source()


@cache
def _timm_source() -> str:
    spec = importlib.util.find_spec("timm")
    folders = spec.submodule_search_locations if spec is not None else None
    files = Path(folders[0], "models").rglob("*.py") if folders else ()
    return "\n".join(file.read_text() for file in sorted(files))
