"""SimCLR on CIFAR-10, from images to an accuracy.

python examples/01_simclr_cifar10.py DATA [--smoke]
"""

import sys

from counterpoint import NarrowResNet, Training, open_data, pretrain, simclr


def main(data: str, *, smoke: bool) -> None:
    """Pretrain without labels, then measure with them."""
    splits = open_data(data, limit=500 if smoke else None)
    method = simclr(NarrowResNet())
    print(method)
    training = Training(epochs=20, batch=256, optimiser="adamw", lr=2e-3, weight_decay=0.05)
    run = pretrain(method, splits, out="runs/simclr", training=training, steps=1 if smoke else None)
    result = run.evaluate(splits)
    for probe in result.probes:
        print(f"{probe.name} {probe.test:.3f}")


if __name__ == "__main__":
    main(sys.argv[1], smoke="--smoke" in sys.argv)
