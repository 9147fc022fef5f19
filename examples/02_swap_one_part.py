"""Hold four parts, vary the fifth: three losses, one step each, and a swap that is refused.

python examples/02_swap_one_part.py
"""

import torch

from counterpoint import NCE, NarrowResNet, PartError, Pooled, Regression, Triplet, contrast, simclr
from counterpoint.framework import Draw


def main() -> None:
    """Compare the losses of the same views under the same weights."""
    method = simclr(NarrowResNet())
    images = torch.randint(256, (32, 3, 32, 32), dtype=torch.uint8)
    index = torch.arange(32)
    for loss in (NCE(), NCE(denominator="negatives"), Triplet(margin=0.5)):
        torch.manual_seed(0)
        model = method.swap(loss=loss).build(image=(3, 32, 32))
        value = contrast(model, model.views(images, Draw(0, 0, index)), index)
        print(f"{loss}: {value.item():.3f}")
    for wrong in (method.swap(loss=Regression()), method.swap(extraction=Pooled(map=7))):
        try:
            wrong.build(image=(3, 32, 32))
        except PartError as refused:
            print(refused)


if __name__ == "__main__":
    main()
