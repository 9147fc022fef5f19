"""The page docs/python.md: every block runs, in the order of the page."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


@pytest.mark.filterwarnings("ignore::UserWarning")  # Lightning's advice on loaders
def test_every_block_of_the_page_runs(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COUNTERPOINT_DATA", str(data))
    text = PAGE.read_text()
    blocks = list(re.finditer(r"```python\n(.*?)```", text, re.DOTALL))
    assert len(blocks) >= text.count("\n## ")
    names = {"__name__": "page"}
    for block in blocks:
        line = text.count("\n", 0, block.start(1))
        exec(compile("\n" * line + block[1], str(PAGE), "exec"), names)
