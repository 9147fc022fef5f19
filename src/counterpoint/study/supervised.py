"""The upper mark of a table: the same encoder and views, taught by labels."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Int64
from torch import Tensor, nn

from counterpoint.framework import Comparison, Encoded, Method, Samples, World
from counterpoint.framework.records import Shape
from counterpoint.parts.losses import NCE
from counterpoint.parts.similarity import Dot


def supervised(method: Method, labels: Int64[Tensor, " sample"]) -> Method:
    r"""Return a method that is cross-entropy on the views of another.

    The anchors are the pooled vectors of every view, the candidates one learned vector for each
    class, and the identity is the label. Then the softmax of part (5) is that of a classifier:

    $$ -\log \frac{e^{s_y}}{\sum_c e^{s_c}}, \qquad s_c = \langle r, w_c \rangle + b_c $$
    """
    taught = Taught(",".join(map(str, labels.tolist())))
    return method.swap(extraction=taught, similarity=Dot(), loss=NCE())


@dataclass(frozen=True, slots=True)
class Taught:
    """Pooled vectors against a vector for each class; for one process.

    >>> print(Taught("0,1,2,1"))
    4 labels of 3 classes
    """

    part: ClassVar[Literal["extraction"]] = "extraction"

    labels: str
    """The label of each sample, with commas between."""

    def build(self, maps: tuple[tuple[Shape, ...], ...]) -> "TaughtExtraction":
        return TaughtExtraction(self.numbers(), maps[0][-1][0])

    def numbers(self) -> list[int]:
        return [int(label) for label in self.labels.split(",")]

    def __str__(self) -> str:
        numbers = self.numbers()
        return f"{len(numbers):,} labels of {max(numbers) + 1} classes"


class TaughtExtraction(nn.Module):
    """The labels, and a linear classifier whose bias is one more feature."""

    def __init__(self, labels: list[int], width: int) -> None:
        super().__init__()
        self.classes = nn.Parameter(torch.zeros(max(labels) + 1, width + 1))
        self.labels = torch.tensor(labels, device="cpu")  # identities stay on the host

    def forward(self, encoded: Encoded, samples: Samples, _world: World) -> tuple[Comparison, ...]:
        vectors = torch.cat([maps[-1].mean(dim=(2, 3)) for maps in encoded.online])
        ones = vectors.new_ones(len(vectors), 1)
        return (
            Comparison(
                anchors=torch.cat([vectors, ones], dim=1),
                candidates=self.classes,
                anchor_identity=self.labels[samples.index].repeat(len(encoded.online)),
                candidate_identity=torch.arange(len(self.classes), device="cpu"),
            ),
        )
