"""Signatures as they are written in the source."""

import ast
import inspect
import textwrap
from dataclasses import fields, is_dataclass
from typing import Any


def source_signature(value: Any) -> tuple[str, str] | None:
    """Return the arguments and the result of a function or a class, as its source has them.

    >>> source_signature(textwrap.fill)[0][:12]
    '(text, width'
    >>> source_signature(len) is None
    True
    """
    try:
        source = textwrap.dedent(inspect.getsource(_plain(value)))
        (node,) = ast.parse(source).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return None
    if isinstance(node, ast.FunctionDef):
        result = "" if node.returns is None else ast.unparse(node.returns)
        return f"({_arguments(node)})", result
    if not isinstance(node, ast.ClassDef):
        return None
    if is_dataclass(value):
        return f"({', '.join(_fields(node, value))})", ""
    made = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
    return (f"({_arguments(made[0])})", "") if made else ("", "")


def _plain(value: Any) -> Any:
    """Return the function behind a method or a decorator."""
    return inspect.unwrap(getattr(value, "__func__", value))


def _arguments(node: ast.FunctionDef) -> str:
    """Return the arguments without `self`."""
    arguments = node.args
    first = [*arguments.posonlyargs, *arguments.args][:1]
    if first and first[0].arg in ("self", "cls"):
        for kind in (arguments.posonlyargs, arguments.args):
            kind[:] = [argument for argument in kind if argument.arg not in ("self", "cls")]
    return ast.unparse(arguments)


def _fields(node: ast.ClassDef, value: Any) -> list[str]:
    """Return the fields of a dataclass as arguments; `*` stands before those that need names."""
    found = []
    for line in node.body:
        if not isinstance(line, ast.AnnAssign) or not isinstance(line.target, ast.Name):
            continue
        kind = ast.unparse(line.annotation)
        if kind.startswith("ClassVar"):
            continue
        given = "" if line.value is None else f" = {_default(line.value)}"
        found.append(f"{line.target.id}: {kind}{given}")
    named = [field.kw_only for field in fields(value)]
    return ["*", *found] if named and all(named) else found


def _default(value: ast.expr) -> str:
    """Return the default of a field, also of one that is made by `field`."""
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "field":
        known = {word.arg: ast.unparse(word.value) for word in value.keywords}
        return known.get("default", "...")
    return ast.unparse(value)
