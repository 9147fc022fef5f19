"""Who had the idea of a method, when, and which method it changed."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The paper that a method comes from, and the method that it changes.

    >>> from counterpoint.methods import ORIGINS
    >>> print(ORIGINS["byol"])
    BYOL (Grill et al. 2020, arXiv:2006.07733)
    """

    title: str
    """The name as its authors write it."""
    authors: str
    """For example "Chen et al."."""
    year: int
    """The year in which it was first published."""
    arxiv: str = ""
    """The number of the paper on arXiv; empty where there is none."""
    after: str | None = None
    """The method that it changes, by its name in the catalogue; None where a family begins."""
    idea: str
    """What is new, in one sentence that ends with a full stop."""

    @property
    def address(self) -> str | None:
        """Where the paper is on arXiv."""
        return f"https://arxiv.org/abs/{self.arxiv}" if self.arxiv else None

    def __str__(self) -> str:
        place = f", arXiv:{self.arxiv}" if self.arxiv else ""
        return f"{self.title} ({self.authors} {self.year}{place})"
