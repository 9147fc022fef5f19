"""The API pages: every public name is on exactly one of them, and nothing else is."""

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import public_surface as surface


def test_every_public_name_is_on_exactly_one_page():
    counts = Counter(surface.shown())
    assert {name for name in surface.public() if counts[name] != 1} == set()
    assert [name for name, count in counts.items() if count > 1] == []


def test_every_name_on_a_page_is_there():
    for module, name in surface.shown():
        text = (surface.SOURCE / Path(*module.split("."))).with_suffix(".py")
        known = text if text.is_file() else text.with_suffix("") / "__init__.py"
        defined = surface.definition(module, name) is not None
        assert defined or f"\n{name}" in known.read_text(), f"{module}.{name}"


def test_every_page_is_in_the_index():
    listed = (surface.ROOT / "docs" / "api" / "index.md").read_text().split()
    assert {page.stem for page in surface.PAGES} - {"index"} <= set(listed)


def test_a_name_that_is_missing_is_found(monkeypatch):
    monkeypatch.setattr(surface, "PAGES", [p for p in surface.PAGES if p.stem != "losses"])
    shown = set(surface.shown())
    assert ("counterpoint.parts.losses.nce", "NCE") in surface.public() - shown
