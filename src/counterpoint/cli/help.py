"""What --help says: the commands by what a person wants to do, and one example of each."""

from textwrap import fill

from counterpoint.cli.commands import options, summary

WIDTH = 79

GROUPS = {
    "Look at your images": ("doctor", "views"),
    "Train and measure": ("pretrain", "evaluate", "report"),
    "Choose and check a method": ("methods", "encoders", "anatomy", "check"),
    "Compare many runs": ("study", "table"),
}

EXAMPLES = {
    "doctor": "counterpoint doctor photos",
    "views": "counterpoint views photos --method simclr --out views.png",
    "pretrain": "counterpoint pretrain photos --method simclr-small --out runs/photos",
    "evaluate": "counterpoint evaluate runs/photos --data photos --protocol knn,linear",
    "report": "counterpoint report runs/photos --data photos --out report.html",
    "methods": "counterpoint methods",
    "encoders": "counterpoint encoders vit_tiny",
    "anatomy": "counterpoint anatomy simclr moco",
    "check": "counterpoint check simclr-small --size 32",
    "study": "counterpoint study table1 --plan",
    "table": "counterpoint table runs/table1-small --format markdown",
}


def overview() -> str:
    """Give the help of `counterpoint` itself."""
    lines = [
        "usage: counterpoint COMMAND ...",
        "",
        "Contrastive self-supervised learning of images, in five parts.",
    ]
    for group, names in GROUPS.items():
        lines += ["", f"{group}:"]
        lines += [fill(f"  {n:<10}{summary(n)}", WIDTH, subsequent_indent=" " * 12) for n in names]
    lines += ["", "counterpoint COMMAND --help lists its options; --version says which this is."]
    return "\n".join(lines) + "\n"


def usage(command: str) -> str:
    """Give the usage of a command in one line: what it needs, and that there are options."""
    words = ["counterpoint", command]
    for option in options(command).values():
        if option.positional:
            words.append(option.flag if option.required else f"[{option.flag}]")
        elif option.required:
            words.append(f"{option.flag} {option.name.upper()}")
    return " ".join([*words, "[options]"])
