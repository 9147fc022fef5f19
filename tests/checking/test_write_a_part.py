"""The examples of docs/write-a-part.md, each by one process and by two."""

import re
from pathlib import Path

import pytest
import torch

from counterpoint.checking.ranks import batch, gradient_difference
from counterpoint.framework import contrast
from counterpoint.methods import read_method
from counterpoint.parts.own import own_parts

DOCUMENT = (Path(__file__).parents[2] / "docs" / "write-a-part.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", DOCUMENT, flags=re.DOTALL)
USES = [block for block in BLOCKS if "method = " in block]
IMAGE, COUNT = (3, 32, 32), 8


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    """All parts of the document in one file, as a user would have them."""
    file = tmp_path_factory.mktemp("parts") / "mine.py"
    file.write_text("\n\n".join(block for block in BLOCKS if block not in USES))
    return file


def composed(use, file):
    """Run the lines that use a part."""
    names = {}
    exec(BLOCKS[0], names)
    names |= own_parts(file)
    exec(use, names)
    return names["method"]


def test_there_is_one_example_for_each_part(mine):
    used = {composed(use, mine).fingerprint for use in USES}
    assert len(used) == 5
    titles = re.findall(r"^## \d\. (.*)$", DOCUMENT, flags=re.MULTILINE)
    words = ["stage of the views", "encoder", "extraction", "similarity", "loss"]
    assert [word in title for word, title in zip(words, titles, strict=True)] == [True] * 5


@pytest.mark.parametrize("use", USES, ids=[use.splitlines()[-1] for use in USES])
def test_an_example_is_the_same_on_one_process_and_on_two(use, mine):
    method = composed(use, mine)
    again = read_method(method.to_json(), parts=own_parts(mine))
    assert again.fingerprint == method.fingerprint
    torch.manual_seed(0)
    model = method.build(image=IMAGE)
    views, samples = batch(model, IMAGE, COUNT, 0)
    contrast(model, views, samples).backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
    assert gradient_difference(method, str(mine), IMAGE, COUNT) < 1e-9


@pytest.mark.full
def test_the_commands_of_the_document_run(mine, monkeypatch):
    """The last section, in the folder that has mine.py."""
    from docs.walk import commands, run_command

    monkeypatch.chdir(mine.parent)
    (block,) = re.findall(r"```console\n(.*?)```", DOCUMENT, flags=re.DOTALL)
    found = commands(block)
    assert len(found) == 2
    for command in found:
        run_command(command)
