"""One call: pretrain a method on data, and the run that comes out of it."""

import json
import logging
import platform
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import lightning as L
from lightning.pytorch.loggers import CSVLogger, Logger
from rich.console import Console
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from counterpoint.data import Source, Splits, open_data
from counterpoint.evaluation import Representation, Result, evaluate
from counterpoint.framework import Method, Model
from counterpoint.methods import METHODS, read_method
from counterpoint.training.pretrainer import Pretrainer
from counterpoint.training.progress import ProgressLines
from counterpoint.training.settings import Training
from counterpoint.training.start import start_table

Data = str | Path | Source | Splits


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A trained method in a folder."""

    folder: Path
    method: Method
    model: Model
    image: tuple[int, ...]
    training: Training

    @property
    def encoder(self) -> nn.Module:
        """The trained encoder; its `backbone` has the key names of torchvision or timm."""
        return self.representation.encoder

    @property
    def representation(self) -> Representation:
        """The evaluation view, the encoder and the pooling, together."""
        return Representation(self.model)

    def embed(self, images: Source | Tensor) -> Tensor:
        """Give one vector per image."""
        return self.representation(images.images if isinstance(images, Source) else images)

    def evaluate(self, data: str | Path | Splits, *, seed: int = 0) -> Result:
        """Measure the encoder by the paper's protocol and keep the result in the folder."""
        splits = data if isinstance(data, Splits) else open_data(data)
        result = evaluate(self.representation, splits, seed=seed)
        record = {"method": self.method.fingerprint, "versions": versions(), **result.to_dict()}
        write_json(self.folder / "evaluation.json", record)
        return result

    @classmethod
    def open(cls, folder: str | Path, *, parts: dict[str, type] | None = None) -> "Run":
        """Open a run; `parts` are a user's own part classes, by name."""
        folder = Path(folder)
        if not (folder / "run.json").is_file():
            raise FileNotFoundError(f"run: {folder} holds no run.json; pretrain writes one")
        record = json.loads((folder / "run.json").read_text())
        method = read_method((folder / "method.json").read_text(), parts=parts)
        image = tuple(record["image"])
        model = method.build(image=image)
        model.load_state_dict(load_file(folder / "model.safetensors"))
        return cls(folder, method, model, image, Training(**record["training"]))


def pretrain(
    method: Method | str,
    data: Data,
    *,
    out: str | Path,
    training: Training | None = None,
    steps: int | None = None,
    loggers: Sequence[Logger] | None = None,
    console: Console | None = None,
    **trainer: Any,
) -> Run:
    """Train a method on unlabelled images and write the run to a folder.

    `steps` ends the run early, with its schedule; `trainer` goes to Lightning's Trainer.
    Ctrl-C stops and keeps what was learned.
    """
    training = training or Training()
    source = _unlabelled(data)
    image = tuple(source.images.shape[1:])
    method = METHODS[method](size=image[-1]) if isinstance(method, str) else method
    L.seed_everything(training.seed, verbose=False)
    model = method.build(image=image)
    if training.compile:
        model.encoder.compile()  # type: ignore[attr-defined]
    steps = steps or training.epochs * (len(source) // training.batch)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    with _quiet():
        runner = L.Trainer(
            max_steps=steps,
            precision=training.precision,
            logger=list(loggers) if loggers is not None else CSVLogger(folder, name="", version=""),
            callbacks=[ProgressLines(steps=steps)],
            log_every_n_steps=min(50, steps, len(source) // training.batch),
            enable_progress_bar=False,
            enable_model_summary=False,
            enable_checkpointing=False,
            **trainer,
        )
    if runner.is_global_zero:
        ranks = runner.world_size
        table = start_table(method, model, source, training, ranks=ranks, steps=steps)
        (console or Console(stderr=True)).print(table)
    stopped = False
    try:
        with _quiet():
            runner.fit(Pretrainer(model, source, training, steps=steps))
    except SystemExit:  # Lightning's answer to Ctrl-C
        stopped = True
    run = Run(folder, method, model, image, training)
    if runner.is_global_zero:
        save(run, source=repr(source), steps=runner.global_step)
    if stopped:
        at = f"step {runner.global_step} of {steps}"
        raise KeyboardInterrupt(f"stopped at {at}; what was learned is in {folder}")
    return run


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Lightning's advertisements and the warnings that are its own out of the log."""
    logger = logging.getLogger("lightning.pytorch")
    level = logger.level
    logger.setLevel(logging.WARNING)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*LeafSpec.*", category=FutureWarning)
        warnings.filterwarnings("ignore", message=".*does not have many workers.*")
        try:
            yield
        finally:
            logger.setLevel(level)


def save(run: Run, *, source: str, steps: int) -> None:
    """Write weights as safetensors and everything else as JSON."""
    weights = {name: tensor.contiguous() for name, tensor in run.model.state_dict().items()}
    save_file(weights, run.folder / "model.safetensors")
    backbone = run.encoder.state_dict()
    save_file({k: v.contiguous() for k, v in backbone.items()}, run.folder / "encoder.safetensors")
    (run.folder / "method.json").write_text(run.method.to_json() + "\n")
    record = {
        "method": run.method.fingerprint,
        "data": source,
        "image": run.image,
        "training": asdict(run.training),
        "steps": steps,
        "versions": versions(),
    }
    write_json(run.folder / "run.json", record)


def versions() -> dict[str, str]:
    """Name what the figures were made with."""
    import importlib.metadata as metadata

    packages = ("counterpoint", "torch", "torchvision", "lightning", "timm")
    found = {name: metadata.version(name) for name in packages}
    return {"python": platform.python_version(), **found}


def write_json(path: Path, record: object) -> None:
    """Write readable JSON."""
    path.write_text(json.dumps(record, indent=2) + "\n")


def _unlabelled(data: Data) -> Source:
    if isinstance(data, Source):
        return data
    return (data if isinstance(data, Splits) else open_data(data)).train
