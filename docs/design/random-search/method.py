"""found-642eee2f621e30a6, found by search. Train it: python method.py FOLDER OUT [STEPS]."""

import sys

import counterpoint as cp

METHOD = cp.Method(
    views=cp.Pipeline(
        (
            cp.RandomResizedCrop(24, scale=(0.25, 1.0), interpolation="bicubic"),
            cp.HorizontalFlip(p=0.25),
            cp.ColourJitter(0.4, 0.4, 0.4, 0.2),
            cp.Greyscale(),
            cp.GaussianBlur(3, p=0.1),
            cp.Normalise((0.4914, 0.4822, 0.4465), (0.247, 0.2435, 0.2616)),
        ),
        evaluation=(cp.Resize(32), cp.CentreCrop(32)),
    ),
    encoder=cp.Headed(
        of=cp.NarrowResNet(widths=(32, 64, 128)), out=512, hidden=1024, norm=True, last_norm="plain"
    ),
    extraction=cp.Pooled(map=-2),
    similarity=cp.Cosine(tau=0.2, learn_tau=True),
    loss=cp.NCE(average="positives"),
)

TRAINING = cp.Training(
    epochs=2, batch=128, optimiser="adamw", lr=0.02, weight_decay=0.001, warmup=0.05
)

if __name__ == "__main__":
    length = int(sys.argv[3]) if sys.argv[3:] else None
    cp.pretrain(METHOD, sys.argv[1], out=sys.argv[2], training=TRAINING, steps=length)
