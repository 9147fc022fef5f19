"""A run: a trained method in a folder, with what it was trained on and how."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from counterpoint.data import Splits, as_splits
from counterpoint.data.tensor_file import write_tensors
from counterpoint.evaluation import Representation, Result, evaluate
from counterpoint.evaluation.kept import kept_embeddings
from counterpoint.evaluation.placing import on_device
from counterpoint.evaluation.pooled_encoder import PooledEncoder
from counterpoint.evaluation.protocol import refuse_impossible
from counterpoint.framework import Method, Model
from counterpoint.framework.optional import backbone_of, made_by
from counterpoint.framework.settings import Training
from counterpoint.job_record import JobRecord, read_training
from counterpoint.methods import read_method
from counterpoint.notebook import html_table
from counterpoint.parts.encoders import ModuleEncoder, as_encoder
from counterpoint.parts.encoders.module_encoder import with_module
from counterpoint.parts.views.normalisation import pixels_of
from counterpoint.parts.views.transform import ViewTransform
from counterpoint.run_files import ENCODER, EVALUATION, METHOD, MODEL, RUN
from counterpoint.training.run_store.run_address import run_place
from counterpoint.training.run_store.run_copy import bring_back, local_run
from counterpoint.version import versions
from counterpoint.whole_file import write_json, write_whole

FORMAT = 2  # of run.json; the first had no number, and the images as a sentence


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A trained method in a folder; a bare encoder is a run of zero steps (`open_encoder`).

    >>> from counterpoint import open_encoder
    >>> run = open_encoder(encoder="small", size=16)
    >>> run.embed(torch.zeros(4, 3, 16, 16, dtype=torch.uint8)).shape
    torch.Size([4, 256])
    """

    folder: Path | None
    """Where it is kept; of a run in a store its copy. None for a bare encoder that is not kept."""
    method: Method
    model: Model
    image: tuple[int, ...]
    training: Training

    def __repr__(self) -> str:
        """The folder, the images and the five parts."""
        return f"{self._title}\n{self.method}"

    def _repr_html_(self) -> str:
        """The same as a table, which is what a notebook shows."""
        return html_table(self.method.rows(), title=self._title)

    @property
    def _title(self) -> str:
        image = " x ".join(map(str, self.image))
        if self.folder is None:
            return f"an encoder without a run, for images of {image}"
        return f"run in {run_place(self.folder)}, trained on images of {image}"

    @property
    def encoder(self) -> nn.Module:
        """The trained encoder; its `backbone` has the key names of torchvision or timm."""
        return self.representation.encoder

    @property
    def representation(self) -> Representation:
        """The evaluation view, the encoder and the pooling, together."""
        return Representation(self.model)

    @property
    def transform(self) -> ViewTransform:
        """The evaluation view of a PIL image, a tensor of bytes or a batch: what `embed` sees."""
        return ViewTransform(self.method, evaluation=True)

    def pooled_encoder(self) -> PooledEncoder:
        """Return the encoder with its pooling, a module that gives one vector per image.

        Its weights are the run's own, not a copy.
        """
        return PooledEncoder(self.representation)

    def embed(
        self,
        images: Any,
        *,
        device: str | torch.device | None = None,
        workers: int | None = None,
    ) -> Tensor:
        """Return one vector per image, on the CPU; that of a file that cannot be read is nan.

        `device` is an accelerator if there is one; `workers` read files, one per core.
        """
        with on_device(self.model, device):
            return self.representation(images, workers=workers)

    def evaluate(
        self,
        data: str | Path | Splits,
        *,
        probes: Sequence[str] = ("knn", "linear", "mlp"),
        fractions: Sequence[float] = (1.0,),
        seeds: int = 1,
        seed: int = 0,
        map: int | None = None,  # noqa: A002 (the paper's word)
        robust: int = 0,
        device: str | torch.device | None = None,
        workers: int | None = None,
    ) -> Result:
        """Measure the encoder by the paper's protocol and keep the result in the folder.

        `map` is the feature map that is probed, -1 the last; None the last before a head.
        `robust` test images are also classified under corruptions and shifts. `device` is an
        accelerator if there is one; `workers` read files. Unreadable images are only counted.
        """
        splits = as_splits(data).for_probes()
        refuse_impossible(splits, probes, fractions, robust=robust)
        representation = Representation(self.model, map)
        with on_device(self.model, device):
            kept = None
            if self.folder is not None:
                kept = kept_embeddings(self.folder, representation, splits, workers=workers)
            result = evaluate(
                representation,
                splits,
                probes=probes,
                fractions=fractions,
                seeds=seeds,
                seed=seed,
                embeddings=kept,
                robust=robust,
                workers=workers,
            )
        if self.folder is not None:
            record = {
                "method": self.method.fingerprint,
                "steps": steps_done(self.folder),
                "data": {"name": splits.train.name, "fingerprint": splits.train.fingerprint()},
                "versions": versions(),
                **result.to_dict(),
            }
            write_json(self.folder / EVALUATION, record)
            bring_back(self.folder, EVALUATION)
        return result

    @classmethod
    def open(
        cls,
        folder: str | Path,
        *,
        parts: dict[str, type] | None = None,
        encoder: nn.Module | Callable[[], nn.Module] | ModuleEncoder | None = None,
    ) -> "Run":
        """Open a run; `parts` are a user's own part classes, by name.

        `encoder` is the user's own network, for a run that was trained with `as_encoder`; its
        weights are those of the run. A run in a store is copied to this machine, and what is
        found out about it is brought back.
        """
        folder = local_run(folder)
        if not (folder / RUN).is_file():
            raise FileNotFoundError(
                f"run: {folder} has no run.json; counterpoint pretrain writes one"
            )
        try:
            record = json.loads((folder / RUN).read_text())
        except ValueError as error:
            raise ValueError(f"run: {folder / 'run.json'} cannot be read: {error}") from error
        method = read_method((folder / METHOD).read_text(), parts=parts)
        if encoder is not None:
            given = encoder if isinstance(encoder, ModuleEncoder) else as_encoder(encoder)
            method = with_module(method, given)
        made = record.get("job", record)  # before format 2 the job's fields were run.json's own
        image = tuple(made["image"])
        model = method.build(image=image)
        model.load_state_dict(load_file(folder / MODEL))
        return cls(folder, method, model, image, read_training(made["training"]))


def steps_done(folder: Path) -> int | None:
    """Return the step at which a run's folder was written; None where it holds no run yet."""
    file = folder / RUN
    return json.loads(file.read_text()).get("steps") if file.is_file() else None


def save(run: Run, *, job: JobRecord, steps: int, start: str | None = None) -> None:
    """Write weights as safetensors and everything else as JSON; `steps` were done of the job.

    `start` is the key of the weights that it started from.
    """
    write_run(run, {"job": job.to_dict(), "steps": steps, "start": start})


def bare_record(run: Run, encoder: str, weights: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what run.json says of an encoder that no job has trained."""
    return {
        "bare": {"encoder": encoder, "weights": None if weights is None else dict(weights)},
        "image": list(run.image),
        "training": asdict(run.training),
        "steps": 0,
    }


def write_run(run: Run, record: Mapping[str, Any]) -> None:
    """Write the folder of a run; `record` is what run.json says of how it was made."""
    assert run.folder is not None
    write_tensors(run.folder / MODEL, run.model.state_dict())
    # The backbone alone: its keys are torchvision's or timm's, without a wrapper's prefix.
    backbone = backbone_of(run.encoder).state_dict()
    loads_into = made_by(run.encoder)
    said = {} if loads_into is None else {"loads into": loads_into}
    if (pixels := pixels_of(run.method.views, origin="")) is not None:  # for a copy of the file
        said |= {"mean": _words(pixels.mean), "std": _words(pixels.std)}
    write_tensors(run.folder / ENCODER, backbone, metadata=said or None)
    write_whole(run.folder / METHOD, run.method.to_json() + "\n")
    made = {
        "format": FORMAT,
        **record,
        "encoder": {"file": ENCODER, "loads into": loads_into},
        "versions": versions(),
    }
    write_json(run.folder / RUN, made)


def _words(values: Sequence[float]) -> str:
    return " ".join(map(repr, values))
