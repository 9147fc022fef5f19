"""How a composition that cannot work is refused."""


class PartError(ValueError):
    """A part that does not fit: which part, what it got, what it needs and what to do.

    >>> print(PartError("similarity", got="tau=0", needs="tau > 0", do="try tau=0.5"))
    similarity: got tau=0, needs tau > 0; try tau=0.5
    """

    def __init__(self, part: str, *, got: str, needs: str, do: str = "") -> None:
        self.part, self.got, self.needs, self.do = part, got, needs, do
        super().__init__(f"{part}: got {got}, needs {needs}" + (f"; {do}" if do else ""))
