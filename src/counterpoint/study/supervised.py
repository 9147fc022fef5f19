"""The upper mark of a table: the same encoder and views, taught by labels."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import nn

from counterpoint.framework import Comparison, Encoded, Method, Samples, World
from counterpoint.framework.records import Shape
from counterpoint.parts.losses import NCE
from counterpoint.parts.similarity import Dot


def supervised(method: Method, classes: int) -> Method:
    r"""Return a method that is cross-entropy on the views of another.

    The anchors are the pooled vectors of every view, the candidates one learned vector for each
    class, and the identity is the label. Then the softmax of part (5) is that of a classifier:

    $$ -\log \frac{e^{s_y}}{\sum_c e^{s_c}}, \qquad s_c = \langle r, w_c \rangle + b_c $$
    """
    return method.swap(extraction=Taught(classes), similarity=Dot(), loss=NCE())


@dataclass(frozen=True, slots=True)
class Taught:
    """Pooled vectors against a vector for each class; for one process.

    >>> print(Taught(3))
    labels of 3 classes
    """

    part: ClassVar[Literal["extraction"]] = "extraction"
    needs_labels: ClassVar[bool] = True

    classes: int

    def build(self, maps: tuple[tuple[Shape, ...], ...]) -> "TaughtExtraction":
        return TaughtExtraction(self.classes, maps[0][-1][0])

    def __str__(self) -> str:
        return f"labels of {self.classes} classes"


class TaughtExtraction(nn.Module):
    """A linear classifier whose bias is one more feature."""

    def __init__(self, classes: int, width: int) -> None:
        super().__init__()
        self.classes = nn.Parameter(torch.zeros(classes, width + 1))

    def forward(self, encoded: Encoded, samples: Samples, _world: World) -> tuple[Comparison, ...]:
        assert samples.labels is not None, "a method with needs_labels is given labels"
        vectors = torch.cat([maps[-1].mean(dim=(2, 3)) for maps in encoded.online])
        ones = vectors.new_ones(len(vectors), 1)
        return (
            Comparison(
                anchors=torch.cat([vectors, ones], dim=1),
                candidates=self.classes,
                anchor_identity=samples.labels.repeat(len(encoded.online)),
                candidate_identity=torch.arange(len(self.classes), device="cpu"),
            ),
        )
