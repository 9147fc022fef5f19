"""Only data/ knows the kinds of image source: everyone else asks the contract."""

import ast
from pathlib import Path

SRC = Path(__file__).parents[2] / "src" / "counterpoint"
KINDS = {"Source", "ArraySource", "EncodedSource", "Folder", "Rows", "DatasetItems"}


def outside_data():
    for file in sorted(SRC.rglob("*.py")):
        if file.relative_to(SRC).parts[0] != "data":
            yield file, ast.parse(file.read_text())


def names_in(node):
    found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return found | {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}


def unions(tree):
    """Unions of two kinds of source, also as text."""
    for node in ast.walk(tree):
        either = isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr)
        several = isinstance(node, ast.Subscript) and names_in(node.value) == {"Union"}
        if (either or several) and len(names_in(node) & KINDS) > 1:
            yield node


def switches(tree):
    """Questions which kind of source something is."""
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) else None
        asked = isinstance(called, ast.Name) and called.id in {"isinstance", "issubclass"}
        if asked and names_in(node.args[1]) & KINDS:
            yield node
        if isinstance(node, ast.MatchClass) and names_in(node.cls) & KINDS:
            yield node


def test_only_data_knows_the_kinds_of_source():
    found = [
        f"{file.relative_to(SRC)}:{node.lineno}"
        for file, tree in outside_data()
        for node in (*unions(tree), *switches(tree))
    ]
    assert found == []


def test_the_search_finds_what_it_looks_for():
    lines = "def f(a: ArraySource | EncodedSource): ...\nisinstance(a, EncodedSource | None)\n"
    tree = ast.parse(lines + "match a:\n    case ArraySource(): ...\n")
    assert (len(list(unions(tree))), len(list(switches(tree)))) == (1, 2)
    assert {file.stem for file in SRC.glob("data/*.py")} >= {"array_source", "encoded_source"}
