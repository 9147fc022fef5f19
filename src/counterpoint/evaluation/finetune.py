"""Fine-tuning: the encoder is trained further, with labels."""

import copy
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, UInt8
from torch import Tensor, nn

from counterpoint.data import Source
from counterpoint.data.conversion import one_split
from counterpoint.data.source import all_labels, read_images
from counterpoint.evaluation.probe import share_right
from counterpoint.evaluation.representation import Representation
from counterpoint.evaluation.seeds import mixed
from counterpoint.framework.philox import keyed_order
from counterpoint.parts.norm_conversion import separate_statistics
from counterpoint.progress import tracked

# Ours: the paper fine-tunes only its MLP. One rate for the encoder, ten times that for the new
# layer, which knows nothing yet; the best epoch is chosen on validation.
EPOCHS, BATCH, RATE, HEAD, WEIGHT_DECAY, SHIFT = 10, 128, 3e-4, 10.0, 1e-4, 8

Bytes = UInt8[Tensor, "image channel height width"]


class Classifier(nn.Module):
    """A copy of the encoder behind the evaluation view, and a linear layer."""

    def __init__(self, representation: Representation, width: int, classes: int) -> None:
        super().__init__()
        self.representation = Representation(
            copy.deepcopy(representation.model), representation.map
        )
        self.encoder = self.representation.encoder
        separate_statistics(self.encoder)  # other ranks do not fine-tune
        self.head = nn.Linear(width, classes).to(self.representation.device)
        nn.init.zeros_(self.head.weight)

    def forward(self, images: Bytes) -> Float[Tensor, "image class"]:
        scores: Tensor = self.head(self.representation.vectors(images))
        return scores


def finetune(
    representation: Representation,
    train: Source,
    validation: Source,
    *,
    width: int,
    seed: int = 0,
    epochs: int = EPOCHS,
) -> "FineTuned":
    """Train encoder and linear layer with labels; keep the epoch that validation likes best.

    >>> from counterpoint import simclr_small
    >>> from counterpoint.data import as_source, as_splits
    >>> images = torch.randint(256, (60, 3, 16, 16), dtype=torch.uint8)
    >>> splits = as_splits(as_source(images, labels=torch.arange(60) % 2))
    >>> model = simclr_small().build(image=(3, 16, 16))
    >>> tuned = finetune(
    ...     Representation(model), splits.train, splits.validation, width=256, epochs=1
    ... )
    >>> 0 <= tuned.validation <= 1
    True
    """
    known = all_labels(train)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = Classifier(representation, width, int(known.max()) + 1)
    groups = [
        {"params": [p for p in net.encoder.parameters() if p.requires_grad], "lr": RATE},
        {"params": list(net.head.parameters()), "lr": RATE * HEAD},
    ]
    optimiser = torch.optim.AdamW(groups, weight_decay=WEIGHT_DECAY)
    steps = epochs * -(-len(train) // BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    best: FineTuned | None = None
    for epoch in tracked(range(epochs), "fine-tuning"):
        net.train()
        parts = keyed_order(len(train), seed=seed, epoch=epoch).split(BATCH)
        for place, part in enumerate(parts):
            images = shaken(read_images(train, part), seed=mixed(seed, epoch, place))
            labels = known[part].to(net.representation.device, non_blocking=True)
            loss = F.cross_entropy(net(images), labels)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
        reached = FineTuned(net, 0.0, epoch + 1).accuracy(validation)
        if best is None or reached > best.validation:
            best = FineTuned(copy.deepcopy(net), reached, epoch + 1)
    assert best is not None
    return best


class FineTuned:
    """A fine-tuned classifier and the validation accuracy that it was chosen by."""

    def __init__(self, net: Classifier, validation: float, epoch: int) -> None:
        self.net, self.validation = net, validation
        self.settings = {"epoch": epoch, "lr": RATE}

    @torch.inference_mode()
    def predict(self, images: Any) -> Float[Tensor, "image class"]:
        """Return the probability of each class, on the CPU."""
        self.net.eval()
        source = one_split(images)
        some = (read_images(source, part) for part in torch.arange(len(source)).split(500))
        return torch.cat([self.net(part).softmax(dim=1).cpu() for part in some])

    def accuracy(self, data: Source) -> float:
        return share_right(self.predict(data).argmax(dim=1), all_labels(data))


def shaken(images: Bytes, *, seed: int) -> Bytes:
    """Flip half of the images, and move each by up to an eighth of its side over its reflection."""
    generator = torch.Generator().manual_seed(seed)
    side = images.shape[-1]
    by = max(1, side // SHIFT)
    flipped = torch.rand(len(images), generator=generator) < 0.5
    turned = torch.where(flipped[:, None, None, None], images.flip(-1), images)
    wide = F.pad(turned.float(), (by, by, by, by), mode="reflect").to(torch.uint8)
    top, left = torch.randint(2 * by + 1, (2, len(images)), generator=generator)
    rows = (top[:, None] + torch.arange(images.shape[-2]))[:, None, :, None]
    columns = (left[:, None] + torch.arange(side))[:, None, None, :]
    which = torch.arange(len(images))[:, None, None, None]
    channel = torch.arange(images.shape[1])[None, :, None, None]
    return wide[which, channel, rows, columns]
