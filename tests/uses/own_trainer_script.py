"""What somebody with their own Trainer runs: `python own_trainer_script.py METHOD DEVICES FOLDER`.

It trains for three steps on 48 numbered images, in float64, and every rank writes its weights.
"""

import sys
from pathlib import Path

import lightning as L
import torch
from torch.utils.data import DataLoader, DistributedSampler

from counterpoint import ContrastiveModule, NarrowResNet, training_of
from counterpoint.methods import METHODS

BATCH, STEPS = 16, 3


class InOrder(L.LightningDataModule):
    """Numbered images; the ranks together see them in the order of one process."""

    def __init__(self, images: torch.Tensor) -> None:
        super().__init__()
        self.samples = [{"images": image, "index": n} for n, image in enumerate(images)]

    def train_dataloader(self) -> DataLoader:
        ranks, rank = self.trainer.world_size, self.trainer.global_rank
        sampler = DistributedSampler(self.samples, ranks, rank, shuffle=False)
        return DataLoader(self.samples, batch_size=BATCH // ranks, sampler=sampler)


def main(name: str, devices: int, folder: Path) -> None:
    method = METHODS[name](NarrowResNet(widths=(8, 16), blocks=(1, 1)), size=16)
    images = torch.randint(
        256, (BATCH * STEPS, 3, 16, 16), dtype=torch.uint8, generator=torch.manual_seed(0)
    )
    method = method.for_samples(len(images))
    torch.manual_seed(1)
    training = training_of(name, sync_batchnorm=True, optimiser="sgd", lr=0.1)
    module = ContrastiveModule(method, image=(3, 16, 16), training=training)
    trainer = L.Trainer(
        accelerator="cpu",
        devices=devices,
        strategy="ddp" if devices > 1 else "auto",
        use_distributed_sampler=False,
        precision="64-true",
        max_epochs=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(module, InOrder(images))
    torch.save(
        {"loss": trainer.callback_metrics["loss"], "weights": module.model.state_dict()},
        folder / f"rank-{trainer.global_rank}-of-{devices}.pt",
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
