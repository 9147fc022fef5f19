"""docs/recipes.md says what the code has: every setting in `code` is looked up and compared."""

import re
from pathlib import Path

import pytest

from counterpoint.methods import ALL, RECIPES

PAGE = Path(__file__).parents[2] / "docs" / "recipes.md"
NEEDED = {"optimiser", "lr", "batch", "epochs", "warmup", "schedule", "weight_decay", "decay_norms"}


def rows():
    """List (recipe, path of a setting, what the page says)."""
    name, found = None, []
    for line in PAGE.read_text().splitlines():
        if heading := re.match(r"`([a-z0-9-]+)`(,|:) ", line):
            name = heading[1]
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if name and cells and (setting := re.fullmatch(r"`([a-z0-9_.]+)`", cells[0])):
            found.append((name, setting[1], cells[1]))
    return found


def looked_up(name, path):
    value = RECIPES[name].training if path.startswith("training.") else RECIPES[name].compose()
    for step in path.removeprefix("training.").split("."):
        value = value[int(step)] if step.isdigit() else getattr(value, step)
    return value


@pytest.mark.parametrize(("name", "path", "said"), rows())
def test_what_the_page_says_is_what_the_code_has(name, path, said):
    assert str(looked_up(name, path)) == said


def test_the_page_has_every_method_and_every_setting_that_matters():
    said = {}
    for name, path, _ in rows():
        said.setdefault(name, set()).add(path.removeprefix("training."))
    assert set(said) == {*ALL, "amdim-released"}
    for name, settings in said.items():
        assert settings >= NEEDED, name
        adam = RECIPES[name].training.optimiser in ("adam", "adamw")
        assert settings >= ({"betas"} if adam else {"momentum", "nesterov"}), name
