"""docs/errors.md: no first word of a message and no class of errors is missing."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TREES = [ast.parse(file.read_text()) for file in (ROOT / "src").rglob("*.py")]
NAMED = set(re.findall(r"`([\w.]+)`", (ROOT / "docs" / "errors.md").read_text()))


def first_words():
    """Collect the words before the colon of messages that are raised, and the names of parts."""
    found = set()
    for node in (node for tree in TREES for node in ast.walk(tree)):
        if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args):
            continue
        said = node.exc.args[0]
        said = said.values[0] if isinstance(said, ast.JoinedStr) else said
        if isinstance(said, ast.Constant) and isinstance(said.value, str):
            word, colon, _ = said.value.partition(":")
            if (colon or ast.unparse(node.exc.func) == "PartError") and " " not in word:
                found.add(word)
    return found - {"unreachable"}  # a mistake of ours


def classes():
    """Collect the public classes of errors."""
    return {
        node.name
        for tree in TREES
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and re.search(r"(Error|Failure|Failed)$", node.name)
        and not node.name.startswith("_")
    }


def test_every_first_word_of_a_message_is_on_the_page():
    assert len(first_words()) > 30
    assert first_words() <= NAMED


def test_every_class_of_errors_is_on_the_page():
    assert len(classes()) > 15
    assert classes() <= NAMED
