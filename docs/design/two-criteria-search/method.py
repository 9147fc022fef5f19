"""found-dfd2156db62c163f, found by search. Train it: python method.py FOLDER OUT [STEPS]."""

import sys

import counterpoint as cp
from counterpoint.parts.losses import AlignmentUniformity

METHOD = cp.Method(
    views=cp.Pipeline(
        (
            cp.RandomResizedCrop(20, scale=(0.25, 1.0)),
            cp.HorizontalFlip(),
            cp.ColourJitter(0.4, 0.4, 0.4, 0.1),
            cp.Greyscale(),
            cp.Normalise((0.4914, 0.4822, 0.4465), (0.247, 0.2435, 0.2616)),
        ),
        evaluation=(cp.Resize(32), cp.CentreCrop(32)),
    ),
    encoder=cp.NarrowResNet(widths=(32, 64, 128)),
    extraction=cp.Pooled(),
    similarity=cp.ProjectedCosine(hidden=512, tau=1.0),
    loss=AlignmentUniformity(),
)

TRAINING = cp.Training(epochs=2, batch=128, optimiser="adamw", lr=0.005, weight_decay=0.05)

if __name__ == "__main__":
    length = int(sys.argv[3]) if sys.argv[3:] else None
    cp.pretrain(METHOD, sys.argv[1], out=sys.argv[2], training=TRAINING, steps=length)
