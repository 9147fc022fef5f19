"""The public names: one list, which the type checkers' block and `__all__` repeat exactly."""

import ast
from pathlib import Path

import pytest

import counterpoint
from counterpoint import methods

SOURCE = Path(counterpoint.__file__).read_text()


def differences(source, homes):
    """What the TYPE_CHECKING block and `__all__` of a module have more or less than its list."""
    tree = ast.parse(source)
    typed, listed = set(), None
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for line in node.body:
                assert isinstance(line, ast.ImportFrom)
                typed |= {(line.module, alias.asname or alias.name) for alias in line.names}
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            listed = ast.literal_eval(node.value)
    wanted = {(home, name) for home, names in homes.items() for name in names}
    names = sorted(name for _, name in wanted)
    return (
        sorted(typed ^ wanted)
        + [name for name in set(names) if listed.count(name) != 1]
        + [name for name in listed if name not in names]
    )


def test_the_three_lists_agree():
    assert differences(SOURCE, counterpoint._HOMES) == []


@pytest.mark.parametrize(
    ("there", "instead"),
    [
        ("    from counterpoint.run import Run\n", ""),
        ("    from counterpoint.run import Run\n", "    from counterpoint.data import Run\n"),
        ('    "nt_xent",\n    "open_data",', '    "open_data",'),
        ('    "nt_xent",\n    "open_data",', '    "nt_xent",\n    "opened",\n    "open_data",'),
    ],
)
def test_a_list_that_differs_is_found(there, instead):
    assert there in SOURCE
    assert differences(SOURCE.replace(there, instead), counterpoint._HOMES)


def test_every_name_is_where_the_list_says():
    for home, names in counterpoint._HOMES.items():
        module = __import__(home, fromlist=names)
        for name in names:
            assert getattr(counterpoint, name) is vars(module)[name]
    assert dir(counterpoint) == sorted(counterpoint.__all__)
    with pytest.raises(AttributeError, match="counterpoint has no 'SimCLR'"):
        counterpoint.SimCLR  # noqa: B018


def test_every_method_is_public_in_both_sizes():
    """At the top are the paper's seven; all are in counterpoint.methods."""
    for name in methods.ALL:
        home = counterpoint if name in methods.SEVEN else methods
        for compose in (name, f"{name}_small"):
            assert callable(getattr(home, compose))
            assert compose in home.__all__
    with pytest.raises(AttributeError, match=r"from counterpoint\.methods import vicreg_small"):
        counterpoint.vicreg_small  # noqa: B018
