"""What --help says: the commands by what a person wants to do, and how each is typed."""

from textwrap import fill

from counterpoint.cli.commands import GROUPS, options, summary

WIDTH = 79


def overview() -> str:
    """Return the help of `counterpoint` itself."""
    lines = [
        "usage: counterpoint COMMAND ...",
        "",
        "Contrastive self-supervised learning of images, in five parts.",
    ]
    for group, names in GROUPS.items():
        lines += ["", f"{group}:"]
        lines += [fill(f"  {n:<10}{summary(n)}", WIDTH, subsequent_indent=" " * 12) for n in names]
    lines += [
        "",
        "counterpoint COMMAND --help lists the options of a command and shows an example.",
        "counterpoint --version prints the version.",
    ]
    return "\n".join(lines) + "\n"


def usage(command: str) -> str:
    """Return the usage of a command in one line: what it needs, and that there are options."""
    words = ["counterpoint", command]
    for option in options(command).values():
        if option.positional:
            flag = f"{option.flag} ..." if option.several else option.flag
            words.append(flag if option.required else f"[{flag}]")
        elif option.required:
            words.append(f"{option.flag} {option.name.upper()}")
    return " ".join([*words, "[options]"])
