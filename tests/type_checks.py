"""Types and shapes of every call in the package, checked while tests run.

jaxtyping's own hook checks every argument twice and binds the arguments of every call. This one
checks once, and notes sizes only where a function has arrays in its types: `test_type_checks.py`.
"""

import ast
import functools
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from inspect import isclass
from typing import Any, get_args

from beartype import BeartypeConf, beartype
from jaxtyping import AbstractArray, config, jaxtyped

NAME = "checked_types__"  # two underscores first would be renamed within a class
CONFIGURED = beartype(conf=BeartypeConf(is_pep484_tower=True))  # an int is a float


def install(package):
    """Check whatever is imported of a package from now on."""
    sys.meta_path.insert(0, _Finder(package))


def checked(thing):
    """Return a function that checks its types, or a dataclass whose fields are checked."""
    if isclass(thing):
        if "__dataclass_fields__" in vars(thing) and "__init__" in vars(thing):
            plain = thing.__init__
            thing.__init__ = _unless_disabled(plain, checked(plain))
        return thing
    written = thing.__annotations__
    thing.__annotations__ = hints = {name: _resolved(written[name], thing) for name in written}
    body = CONFIGURED(thing)
    thing.__annotations__ = body.__annotations__ = written
    arrays = list(_arrays(hints.values()))
    if not arrays:
        return body
    if any("{" in array.dim_str for array in arrays):  # a size that an argument says
        return jaxtyped(body, typechecker=None)

    @functools.wraps(thing)
    def with_sizes(*args, **kwargs):
        with jaxtyped("context"):
            return body(*args, **kwargs)

    return _unless_disabled(thing, with_sizes)


def _unless_disabled(plain, checking):
    """Let a test switch the checks off, where it passes on purpose what does not fit."""

    @functools.wraps(plain)
    def function(*args, **kwargs):
        return (plain if config.jaxtyping_disable else checking)(*args, **kwargs)

    return function


def _resolved(hint, function):
    """Return a type that was written as a string; anything fits one that is never imported."""
    if not isinstance(hint, str):
        return hint
    try:
        return eval(hint, function.__globals__)
    except NameError:
        return Any


def _arrays(hints):
    for hint in hints:
        if isclass(hint) and issubclass(hint, AbstractArray):
            yield hint
        yield from _arrays(get_args(hint))


class _Decorate(ast.NodeTransformer):
    """Decorate every function innermost, and every class outermost: after `dataclass`."""

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.decorator_list.append(_decorator(node))
        return node

    def visit_ClassDef(self, node):
        self.generic_visit(node)
        node.decorator_list.insert(0, _decorator(node))
        return node


def _decorator(node):
    return ast.copy_location(ast.Name(NAME, ast.Load()), node)


class _Loader(SourceFileLoader):
    def get_code(self, fullname):
        """Compile what is decorated, and never keep it: __pycache__ is for the plain module."""
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path), path)
        return compile(ast.fix_missing_locations(_Decorate().visit(tree)), path, "exec")

    def exec_module(self, module):
        setattr(module, NAME, checked)
        super().exec_module(module)


class _Finder:
    def __init__(self, package):
        self.package = package

    def find_spec(self, name, path=None, target=None) -> ModuleSpec | None:
        if name != self.package and not name.startswith(self.package + "."):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec
