"""Docstrings: everything public has one, and what users import has an example that runs."""

import ast
import doctest
import importlib
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import public_surface as surface  # noqa: E402

FEWEST = 450
"""Docstrings with examples; pytest collects each as one test (`--doctest-modules`)."""

FILES = {file: ast.parse(file.read_text()) for file in surface.SOURCE.rglob("*.py")}


def without(found):
    return sorted(name for name, node in found if not ast.get_docstring(node))


def top_level(tree):
    kinds = ast.ClassDef | ast.FunctionDef
    return [(node.name, node) for node in tree.body if isinstance(node, kinds)]


def test_every_module_class_and_function_has_a_docstring():
    modules = [(str(file), tree) for file, tree in FILES.items()]
    public = [
        (f"{file}: {name}", node)
        for file, tree in FILES.items()
        for name, node in top_level(tree)
        if not name.startswith("_")
    ]
    assert len(public) > 1500
    assert without(modules + public) == []


def test_enough_docstrings_have_examples():
    nodes = [node for tree in FILES.values() for node in [tree, *surface.definitions(tree)]]
    assert sum(map(surface.has_example, nodes)) >= FEWEST


def is_contract_or_error(node):
    """A protocol has nothing to call; an error is shown by whoever raises it."""
    bases = [ast.unparse(base) for base in getattr(node, "bases", [])]
    return any(base == "Protocol" or base.endswith("Error") for base in bases)


def lacking():
    """Names on the API pages that have neither an example nor a reason to have none."""
    found = set()
    for module, name in surface.shown():
        node = surface.definition(module, name)
        if node is None or surface.has_example(node) or is_contract_or_error(node):
            continue
        found.add(f"{module}.{name}")
    return found


def test_every_public_name_has_an_example():
    assert lacking() == set()


@pytest.mark.parametrize("module", ["docstrings", "signatures"])
def test_examples_of_the_extension_are_right(module, monkeypatch):
    folder = surface.ROOT / "docs" / "extensions"
    monkeypatch.syspath_prepend(str(folder))
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted
    assert not result.failed
