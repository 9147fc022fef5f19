"""What a run over several machines asks for, whoever starts its processes."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RankLayout:
    """The processes of a run: on how many machines, how many on each, and what each has.

    >>> layout = RankLayout(name="photos", command=("counterpoint", "pretrain"), nodes=2, gpus=8)
    >>> layout.processes, layout.ranks
    (8, 16)
    """

    name: str
    command: tuple[str, ...]
    nodes: int = 1
    gpus: int = 0
    """GPUs of a machine."""
    per_node: int | None = None
    """Processes of a machine; None is one for each GPU, and one without."""
    cpus: int | None = None
    """Cores of a process; None leaves it to the launcher."""
    restarts: int = 3
    """Failures in a row after which nobody tries again."""

    @property
    def processes(self) -> int:
        """Processes of a machine."""
        return self.per_node or self.gpus or 1

    @property
    def ranks(self) -> int:
        """Processes of all machines."""
        return self.nodes * self.processes

    def words(self) -> str:
        """Say it as a person would.

        >>> RankLayout(name="a", command=(), nodes=2, gpus=8).words()
        '2 nodes of 8 processes, a GPU each'
        """
        nodes = f"{self.nodes} node{'s' * (self.nodes > 1)}"
        each = f"{self.processes} process{'es' * (self.processes > 1)}"
        devices = f", {'a GPU each' if self.gpus == self.processes else f'{self.gpus} GPUs'}"
        return f"{nodes} of {each}{devices * bool(self.gpus)}"


def shell_lines(words: Sequence[str], *, indent: str = "  ") -> str:
    r"""Write a command for a shell, an option a line.

    >>> print(shell_lines(["counterpoint", "pretrain", "my photos", "--steps", "5"]))
    counterpoint pretrain 'my photos' \
      --steps 5
    """
    lines: list[list[str]] = [[]]
    for word in words:
        if word.startswith("--"):
            lines.append([])
        lines[-1].append(word)
    return f" \\\n{indent}".join(shlex.join(line) for line in lines if line)
