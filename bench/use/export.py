"""Export: seconds of the processor, size and the largest difference, of models by routes.

Each model is written by every route that it claims, and all are loaded in fresh processes and
embed the same 64 images. EfficientNet-Lite0 has its weights of ImageNet; the others are as they
start, with statistics of their batch norms as if they were trained. Exits 1 when a route is above
the bound.
"""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

import torch
from torch import nn

from counterpoint.data.tensor_file import write_tensors
from counterpoint.encoder_choice import open_encoder
from counterpoint.export.proof import BOUND, prove
from counterpoint.export.proof_images import as_pictures, canvas, generated_images
from counterpoint.export.route import WEIGHTS
from counterpoint.export.routes import choose_routes
from counterpoint.export.subject import Subject, subject_of
from counterpoint.framework.settings import Training
from counterpoint.methods import method_named
from counterpoint.parts.encoders import ResNet
from counterpoint.run import Run

OUT = Path("docs/results/use-export.json")
LITE0 = Path(
    os.environ.get("COUNTERPOINT_DATA", "data"), "weights/tf_efficientnet_lite0.safetensors"
)


def subjects() -> dict[str, Subject]:
    lite0 = open_encoder(encoder="timm/tf_efficientnet_lite0", weights=LITE0, size=224)
    return {
        "ResNet-18, 96 px": started(encoder=ResNet("resnet18", stem="imagenet"), size=96),
        "ResNet-18 small stem, 32 px": started(encoder="resnet18", size=32),
        "ConvNeXt-Atto, 64 px": started(encoder="timm/convnext_atto", size=64),
        "ViT-Tiny/16, 64 px": started(encoder="timm/vit_tiny_patch16_224", size=64),
        "EfficientNet-Lite0 (ImageNet), 224 px": subject_of(lite0),
        "AMDIM's encoder, 32 px": started(method="amdim-small", size=32),
        "CPC's encoder, 32 px": started(method="cpc-small", size=32),
        "CMC's two encoders, 32 px": started(method="cmc-small", size=32),
    }


def started(*, method: str = "simclr", encoder: object = None, size: int) -> Subject:
    composed = method_named(method, encoder=encoder, size=size)
    torch.manual_seed(0)
    model = composed.build(image=(3, size, size))
    for module in model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)
    return subject_of(Run(None, composed, model, (3, size, size), Training()))


def measured(subject: Subject) -> dict[str, dict[str, float]]:
    chosen = choose_routes(subject)
    with tempfile.TemporaryDirectory() as name:
        folder, loading, seconds = Path(name), {}, {}
        write_tensors(folder / WEIGHTS, subject.backbone.state_dict(), metadata={"format": "pt"})
        for route in chosen.routes:
            started = time.process_time()
            loading[route.name] = route.write(subject, folder)
            seconds[route.name] = time.process_time() - started
        images = generated_images(3, canvas(subject.representation))
        wanted = subject.representation(as_pictures(images), workers=0)
        found = prove(folder, chosen.routes, loading, images, wanted)
        sizes = {r.name: sum((folder / f).stat().st_size for f in r.files) for r in chosen.routes}
    return {
        one.route: {
            "write_seconds": round(seconds[one.route], 2),
            "load_and_embed_seconds": round(one.seconds, 2),
            "megabytes": round(sizes[one.route] / 1e6, 2),
            "absolute": one.absolute,
            "relative": one.relative,
        }
        for one in found
    }


def main(arguments: list[str]) -> None:
    results = {}
    for name, subject in subjects().items():
        results[name] = measured(subject)
        for route, row in results[name].items():
            print(
                f"| {name} | {route} | {row['write_seconds']:.1f} | {row['megabytes']:.1f} "
                f"| {row['relative']:.1e} |",
                flush=True,
            )
    record = {
        "what": "export: models by routes, 64 images",
        "bound": BOUND,
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "models": results,
    }
    if "--write" in arguments:
        OUT.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record))
    worst = max(row["relative"] for routes in results.values() for row in routes.values())
    sys.exit(int(worst > BOUND))
