"""The five parts of section 2, and the closed table of their names."""

from dataclasses import is_dataclass

from counterpoint.parts import encoders, extraction, losses, similarity, views

FIVE = (views, encoders, extraction, similarity, losses)

PARTS: dict[str, type] = {
    name: value
    for module in FIVE
    for name, value in vars(module).items()
    if isinstance(value, type)
    and is_dataclass(value)
    and value.__module__.startswith(module.__name__)
}
"""Every name that a method's JSON may use; nothing else is ever looked up.

A part has its name here by being imported in the `__init__.py` of its folder.
"""
