"""A folder that `counterpoint.load` opens: counterpoint.json beside the weights."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch

from counterpoint.export.exported_encoder import EXPORT, FORMAT
from counterpoint.export.route import WEIGHTS, Loading
from counterpoint.export.subject import Subject
from counterpoint.methods import read_method
from counterpoint.parts.own import own_parts

PARTS_FILE = "parts.py"
LINES = """\
import counterpoint

model = counterpoint.load(".")


def embed(pictures):
    return model.embed(pictures).numpy()
"""
WITH_PARTS = LINES.replace(
    'import counterpoint\n\nmodel = counterpoint.load(".")',
    "import counterpoint\nfrom counterpoint.parts.own import own_parts\n\n"
    f'model = counterpoint.load(".", parts=own_parts("{PARTS_FILE}"))',
)


@dataclass(frozen=True, slots=True)
class OwnFolder:
    """`counterpoint.load(FOLDER)`, for every encoder."""

    name: ClassVar[str] = "counterpoint"
    title: ClassVar[str] = "Counterpoint"
    files: ClassVar[tuple[str, ...]] = (WEIGHTS, EXPORT)
    without: ClassVar[tuple[str, ...]] = ("lightning", "pytorch_lightning")
    packages: ClassVar[tuple[str, ...]] = ()

    def refusal(self, subject: Subject) -> str | None:
        parts = own_parts(subject.parts_file)
        try:
            method = read_method(subject.method.to_json(), parts=parts)
            with torch.device("meta"):
                method.encoder.build(method.views.build(subject.image).shapes)
        except ValueError as error:
            return f"no file holds a part of your own ({error}); counterpoint.load needs it"
        return None

    def write(self, subject: Subject, folder: Path) -> Loading:
        record = {
            "format": FORMAT,
            "image": list(subject.image),
            "method": json.loads(subject.method.to_json()),
            "fingerprint": subject.method.fingerprint,
        }
        (folder / EXPORT).write_text(json.dumps(record, indent=2) + "\n")
        remark = (
            "`model.transform` is the evaluation view of a PIL image or a batch of bytes, "
            "`model(*views)` gives vectors and lets gradients flow."
        )
        if subject.parts_file is None:
            return Loading(LINES, remark)
        shutil.copyfile(subject.parts_file, folder / PARTS_FILE)
        executed = f"`{PARTS_FILE}` holds parts of its authors' own, and is executed."
        return Loading(WITH_PARTS, f"{remark} {executed}")
