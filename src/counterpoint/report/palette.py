"""The colours of a page, in light and in dark; tests hold their contrast."""

LIGHT = {
    "paper": "#f6f4ee",
    "card": "#ffffff",
    "ink": "#1b1f24",
    "soft": "#555c66",
    "line": "#d8d3c7",
    "accent": "#1b4f8f",
    "good": "#176334",
    "warn": "#7d4a00",
    "bad": "#a3221a",
    "heat": "#9fc3ee",
    "mark": "#ffe9a8",
}
DARK = {
    "paper": "#101318",
    "card": "#191d24",
    "ink": "#ece9e2",
    "soft": "#aab1bc",
    "line": "#353c47",
    "accent": "#8fbcf5",
    "good": "#72d29b",
    "warn": "#f0b65e",
    "bad": "#ff958b",
    "heat": "#2c5b9e",
    "mark": "#5a4300",
}
SERIES_LIGHT = (
    *("#1f5fbf", "#b83a06", "#137a3a", "#7a35d6", "#8f5a00"),
    *("#0b6c85", "#b8185a", "#4a5360", "#7a4620", "#556500"),
)
SERIES_DARK = (
    *("#82b4ff", "#ff9c6e", "#66d28e", "#c6a7ff", "#e6c35d"),
    *("#60cbdf", "#ff93c2", "#b9c1cc", "#d6aa88", "#bccf5e"),
)
"""Curves, runs and classes; each also has a dash, a shape or a letter of its own."""


def variables() -> str:
    """Write the colours as CSS: light, dark where the reader asks for it, light on paper."""
    light, dark = _rules(LIGHT, SERIES_LIGHT), _rules(DARK, SERIES_DARK)
    return (
        f":root{{color-scheme:light dark;{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
    )


def _rules(colours: dict[str, str], series: tuple[str, ...]) -> str:
    named = {**colours, **{f"s{n}": colour for n, colour in enumerate(series)}}
    return "".join(f"--{name}:{colour};" for name, colour in named.items())
