"""Numbers as people read them."""

from collections.abc import Sequence

THIN = "\u202f"  # a narrow space that does not break, between a number and its unit
NONE = "\u2013"  # where there is no number
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def percent(share: float | None, *, digits: int = 1) -> str:
    """Write a share as percent; a dash where there is none.

    >>> percent(0.638).replace(THIN, " "), percent(None) == NONE
    ('63.8 %', True)
    """
    return NONE if share is None else f"{100 * share:.{digits}f}{THIN}%"


def label_share(share: float) -> str:
    """Write a share as percent with the digits that it has: one of 0.4 % is not 0 %.

    >>> [label_share(share).replace(THIN, " ") for share in (0.004, 0.07, 0.125, 1.0)]
    ['0.4 %', '7 %', '12.5 %', '100 %']
    """
    return f"{four_digits(100 * share)}{THIN}%"


def four_digits(value: float | None) -> str:
    """Write a number with four digits that count.

    >>> four_digits(0.0030000001), four_digits(12345.6), four_digits(31.24)
    ('0.003', '12,346', '31.24')
    """
    if value is None:
        return NONE
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def duration(seconds: float) -> str:
    """Write a time in the unit that suits it.

    >>> [duration(s).replace(THIN, " ") for s in (3.14, 93, 5400)]
    ['3.1 s', '93 s', '1 h 30 min']
    """
    if seconds < 10:
        return f"{seconds:.1f}{THIN}s"
    if seconds < 120:
        return f"{seconds:.0f}{THIN}s"
    minutes = round(seconds / 60)
    hours = f"{minutes // 60}{THIN}h " if minutes >= 60 else ""
    return f"{hours}{minutes % 60}{THIN}min"


def joined(words: Sequence[str]) -> str:
    """Join words as in a sentence.

    >>> joined(["views", "encoder", "loss"]), joined(["views"])
    ('views, encoder and loss', 'views')
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def letter(place: int) -> str:
    """Return the letter of a run: A to Z, then its number.

    >>> letter(0), letter(26)
    ('A', '27')
    """
    return LETTERS[place] if place < len(LETTERS) else str(place + 1)
