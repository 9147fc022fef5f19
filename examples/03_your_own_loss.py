"""A loss of your own: a frozen dataclass, unknown to the package.

python examples/03_your_own_loss.py
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch

from counterpoint import NarrowResNet, contrast, simclr
from counterpoint.framework import Draw, Scores, Terms, World
from counterpoint.parts.losses.softmax import summarise


@dataclass(frozen=True, slots=True, kw_only=True)
class Focal:
    """NCE that looks less at what is already easy: (1 - p)^gamma * -log p."""

    part: ClassVar[Literal["loss"]] = "loss"
    needs_negatives: ClassVar[bool] = True

    gamma: float = 2.0

    def build(self, bound: float | None) -> "Focal":  # noqa: ARG002
        """Take any scores."""
        return self

    def __call__(self, scores: Scores, world: World) -> Terms:  # noqa: ARG002
        """Weigh each positive's term: a sum over anchors, so that it asks nothing of the world."""
        s = summarise(scores)  # positive scores, and one number for the negatives
        log_p = s.positive - torch.logaddexp(s.positive, s.negative[s.anchor])
        terms = (1 - log_p.exp()) ** self.gamma * -log_p
        return Terms(terms.sum(), terms.new_full((), len(terms)))


def main() -> None:
    """Build SimCLR with the loss and take its gradient."""
    method = simclr(NarrowResNet()).swap(loss=Focal())
    print(method)
    model = method.build(image=(3, 32, 32))
    images, index = torch.randint(256, (32, 3, 32, 32), dtype=torch.uint8), torch.arange(32)
    loss = contrast(model, model.views(images, Draw(0, 0, index)), index)
    loss.backward()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
