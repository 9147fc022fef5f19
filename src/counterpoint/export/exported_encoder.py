"""An exported encoder opened again: views in, one vector per image out."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from safetensors.torch import load_file
from torch import Tensor, nn

from counterpoint.evaluation.placing import on_device
from counterpoint.evaluation.representation import Representation
from counterpoint.framework import Method
from counterpoint.framework.contracts import BuiltViews
from counterpoint.framework.optional import backbone_of, trained, without_head
from counterpoint.framework.records import View
from counterpoint.methods import read_method
from counterpoint.parts.views.transform import ViewTransform

EXPORT = "counterpoint.json"
FORMAT = 1


class ExportedEncoder(nn.Module):
    """An encoder with the evaluation view that belongs to it, in evaluation mode.

    Called with the views of `transform` it gives one vector per image; gradients flow, so that it
    can be trained further with a head of one's own.

    >>> encoder = load(export_folder)
    >>> encoder.embed(torch.zeros(2, 3, 32, 32, dtype=torch.uint8), workers=0).shape
    torch.Size([2, 256])
    """

    def __init__(self, method: Method, views: BuiltViews, encoder: nn.Module) -> None:
        super().__init__()
        self.views = views
        self.encoder = encoder
        self.transform = ViewTransform(method, evaluation=True)
        """The evaluation view of a PIL image, a tensor of bytes or a batch of them."""

    def forward(self, *views: View) -> Float[Tensor, "batch feature"]:
        return Representation(self).encoded(views)

    def embed(
        self,
        images: Any,
        *,
        device: str | torch.device | None = None,
        workers: int | None = None,
    ) -> Float[Tensor, "sample feature"]:
        """Return one vector per image, on the CPU, of a folder, files, PIL images or bytes.

        The vector of an image that cannot be read is nan. `device` is an accelerator if there is
        one; `workers` read files, one per core.
        """
        with on_device(self, device):
            return Representation(self)(images, workers=workers)


def load(folder: str | Path, *, parts: Mapping[str, type] | None = None) -> ExportedEncoder:
    """Open what `counterpoint export` wrote; `parts` are a user's own part classes, by name.

    The weights are loaded strictly. A projection head is not exported, nor a momentum twin.

    >>> encoder = load(export_folder)
    >>> views = encoder.transform(torch.zeros(2, 3, 32, 32, dtype=torch.uint8))
    >>> encoder(*views).shape
    torch.Size([2, 256])
    """
    folder = Path(folder)
    file = folder / EXPORT
    if not file.is_file():
        raise FileNotFoundError(
            f"load: {folder} has no {EXPORT}; counterpoint export RUN --out FOLDER writes one"
        )
    record = json.loads(file.read_text())
    if record.get("format") != FORMAT:
        raise ValueError(
            f"load: {file} has format {record.get('format')}, and this version reads {FORMAT}; "
            "take a newer Counterpoint"
        )
    method = read_method(json.dumps(record["method"]), parts=parts)
    views = method.views.build(tuple(record["image"]))
    encoder = without_head(trained(method.encoder.build(views.shapes)))
    backbone_of(encoder).load_state_dict(load_file(folder / "model.safetensors"))
    return ExportedEncoder(method, views, encoder).eval()
