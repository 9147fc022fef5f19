"""lightly's SimCLR and BYOL as its documented PyTorch examples compose and train them.

What differs from the examples: the encoder is given; means and deviations are those of
CIFAR-10, so that both sides are probed on the same pixels; `trained_by` may name another optimiser
than the examples' plain SGD at 0.06.
"""

import copy
import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Literal

import torch
from lightly.loss import NegativeCosineSimilarity, NTXentLoss
from lightly.models.modules import BYOLPredictionHead, BYOLProjectionHead, SimCLRProjectionHead
from lightly.models.utils import deactivate_requires_grad, update_momentum
from lightly.transforms import BYOLTransform, SimCLRTransform
from lightly.transforms.byol_transform import BYOLView1Transform, BYOLView2Transform
from PIL import Image
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from counterpoint.framework.settings import Training
from counterpoint.parts.views.pipelines import CIFAR10
from counterpoint.training.optimisers import optimiser, rate

TrainedBy = Literal["example", "benchmark", "ours"]
"""Whose optimiser and schedule: those of lightly's example, of its CIFAR-10 benchmark, or ours."""
STATISTICS = {"mean": list(CIFAR10.mean), "std": list(CIFAR10.std)}


class Pictures(Dataset):
    """Decoded Pillow images, as torchvision's CIFAR10 gives them."""

    def __init__(self, images: Tensor, transform: Any) -> None:
        self.pictures = [Image.fromarray(i.permute(1, 2, 0).numpy()) for i in images]
        self.transform = transform

    def __len__(self) -> int:
        return len(self.pictures)

    def __getitem__(self, place: int) -> list[Tensor]:
        return self.transform(self.pictures[place])


class SimCLR(nn.Module):
    """Two views, one head, NT-Xent at its default temperature."""

    def __init__(self, encoder: nn.Module, width: int) -> None:
        super().__init__()
        self.encoder, self.head = encoder, SimCLRProjectionHead(width, 512, 128)
        self.criterion = NTXentLoss()
        self.transform = SimCLRTransform(input_size=32, gaussian_blur=0.0, normalize=STATISTICS)

    def forward(self, views: list[Tensor]) -> Tensor:
        return self.criterion(*(self.head(self.encoder(view)) for view in views))


class BYOL(nn.Module):
    """Two views, a slow twin, a predictor, the negative cosine both ways."""

    def __init__(self, encoder: nn.Module, width: int) -> None:
        super().__init__()
        self.encoder, self.head = encoder, BYOLProjectionHead(width, 1024, 256)
        self.predictor = BYOLPredictionHead(256, 1024, 256)
        self.twin = copy.deepcopy(nn.ModuleList([self.encoder, self.head]))
        deactivate_requires_grad(self.twin)
        self.criterion = NegativeCosineSimilarity()
        one = BYOLView1Transform(input_size=32, gaussian_blur=0.0, normalize=STATISTICS)
        other = BYOLView2Transform(input_size=32, gaussian_blur=0.0, normalize=STATISTICS)
        self.transform = BYOLTransform(view_1_transform=one, view_2_transform=other)

    def forward(self, views: list[Tensor]) -> Tensor:
        update_momentum(self.encoder, self.twin[0], m=0.99)
        update_momentum(self.head, self.twin[1], m=0.99)
        predicted = [self.predictor(self.head(self.encoder(view))) for view in views]
        with torch.no_grad():
            targets = [self.twin[1](self.twin[0](view)) for view in views]
        there = self.criterion(predicted[0], targets[1])
        return 0.5 * (there + self.criterion(predicted[1], targets[0]))


METHODS = {"simclr": SimCLR, "byol": BYOL}


def train(
    method: str,
    encoder: nn.Module,
    width: int,
    images: Tensor,
    training: Training,
    *,
    steps: int,
    workers: int,
    trained_by: TrainedBy,
    half: bool,
) -> list[float]:
    """Train for some steps and give the time of each, from its data to its end.

    With `half` the step, its loss included, is under autocast, as Lightning's bf16-mixed does it.
    """
    torch.manual_seed(training.seed)
    model = METHODS[method](encoder, width)
    pictures = Pictures(images, model.transform)
    loader = DataLoader(
        pictures, batch_size=training.batch, shuffle=True, drop_last=True, num_workers=workers
    )
    chosen, schedule = _optimiser(model, training, steps, trained_by)
    marks = [time.perf_counter()]
    for views in _first(loader, steps):
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            loss = model(views)
        loss.backward()
        chosen.step()
        chosen.zero_grad()
        schedule.step()
        marks.append(time.perf_counter())
    return [after - before for before, after in pairwise(marks)]


def _optimiser(
    model: nn.Module, training: Training, steps: int, trained_by: TrainedBy
) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler]:
    if trained_by == "ours":
        chosen = optimiser(model, training)
        return chosen, torch.optim.lr_scheduler.LambdaLR(
            chosen, lambda step: rate(step, training, steps=steps)
        )
    if trained_by == "example":
        plain = torch.optim.SGD(model.parameters(), lr=0.06)
        return plain, torch.optim.lr_scheduler.ConstantLR(plain, factor=1.0)
    # lightly, docs/source/getting_started/benchmarks/cifar10_benchmark.py
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    lr = 0.06 * training.batch / 128
    sgd = torch.optim.SGD(trained, lr=lr, momentum=0.9, weight_decay=5e-4)
    return sgd, torch.optim.lr_scheduler.CosineAnnealingLR(sgd, steps)


def _first(loader: DataLoader, steps: int) -> Iterator[list[Tensor]]:
    """Return batches of as many epochs as it takes."""
    taken = 0
    while True:
        for views in loader:
            if taken == steps:
                return
            taken += 1
            yield views
