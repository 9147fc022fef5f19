"""What users import, read from the source without importing it."""

import ast
import doctest
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src"
PAGES = sorted((ROOT / "docs" / "api").glob("*.md"))
PACKAGES = (
    *("counterpoint", "counterpoint.framework", "counterpoint.methods", "counterpoint.data"),
    *("counterpoint.parts.views", "counterpoint.parts.encoders", "counterpoint.parts.extraction"),
    *("counterpoint.parts.similarity", "counterpoint.parts.losses", "counterpoint.evaluation"),
    *("counterpoint.evaluation.health", "counterpoint.evaluation.robustness"),
    *("counterpoint.search", "counterpoint.vectors", "counterpoint.study", "counterpoint.doctor"),
    *("counterpoint.checking", "counterpoint.report", "counterpoint.sharding"),
)
"""Packages whose `__init__.py` offers names to users."""
ENTRIES = (
    "counterpoint.functional.nt_xent",
    "counterpoint.curation.curator.curate",
    "counterpoint.export.export_folder.write_export",
    "counterpoint.plan.forecast.Forecast",
)
"""Where a user begins in packages that offer nothing in their `__init__.py`."""
DIRECTIVE = re.compile(r"^\.\. auto(?:class|function|data):: (\S+)$", re.MULTILINE)
PARSER = doctest.DocTestParser()


@cache
def tree_of(module):
    place = SOURCE / Path(*module.split("."))
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return ast.parse(file.read_text())


def imported(module):
    """The names that a module imports from the library, and where from."""
    found = {}
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("counterpoint"):
            found |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
    return found


def home(path):
    """The module and the name where something that may be imported under a path is defined."""
    module, name = path.rsplit(".", 1)
    there = imported(module).get(name)
    return home(".".join(there)) if there else (module, name)


def offered(package):
    """The names that a package offers: its `__all__`, else what it imports as itself."""
    for node in tree_of(package).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return ast.literal_eval(node.value)
    return [
        alias.name
        for node in tree_of(package).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    ]


def public():
    """Every name that a user imports, by where it is defined."""
    names = {home(f"{package}.{name}") for package in PACKAGES for name in offered(package)}
    return names | {home(path) for path in ENTRIES}


def shown():
    """Every name on an API page, by where it is defined; the same name may stand twice."""
    return [home(path) for page in PAGES for path in DIRECTIVE.findall(page.read_text())]


def definition(module, name):
    """The class or function of a name; None for a value."""
    for node in tree_of(module).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            return node
    return None


def has_example(node):
    return bool(PARSER.get_examples(ast.get_docstring(node) or ""))


def definitions(tree):
    """Every class, function and method of a module."""
    return [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef | ast.FunctionDef)]
