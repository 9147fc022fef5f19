"""found-9118e32a4cce9818, found by search. Train it: python method.py FOLDER OUT [STEPS]."""

import sys

import counterpoint as cp
from counterpoint.parts.extraction import Pair

METHOD = cp.Method(
    views=cp.ChannelSplit(
        cp.Pipeline(
            (
                cp.RandomResizedCrop(20, scale=(0.25, 1.0)),
                cp.HorizontalFlip(),
                cp.ColourSpace("lab"),
                cp.Normalise((50.0, 6.025, -6.6895), (50.0, 92.208, 101.1675)),
            ),
            views=1,
            evaluation=(cp.Resize(32), cp.CentreCrop(32)),
        )
    ),
    encoder=cp.PerView(
        of=(
            cp.Headed(of=cp.NarrowResNet(widths=(32, 64, 128))),
            cp.Headed(of=cp.NarrowResNet(widths=(32, 64, 128))),
        )
    ),
    extraction=cp.Compare((Pair(-1, -1),)),
    similarity=cp.Cosine(tau=0.1),
    loss=cp.NCE(),
)

TRAINING = cp.Training(epochs=6, batch=128, optimiser="adamw", lr=0.005, weight_decay=0.05)

if __name__ == "__main__":
    length = int(sys.argv[3]) if sys.argv[3:] else None
    cp.pretrain(METHOD, sys.argv[1], out=sys.argv[2], training=TRAINING, steps=length)
