"""
The views of seven methods
==========================
One photo, and what each of the seven methods of the paper makes of it before anything is encoded.
"""

import os
import sys

import matplotlib.pyplot as plt
import torch

from counterpoint import METHODS, ViewTransform, open_data

SMOKE = "--smoke" in sys.argv
photos = open_data(os.environ["COUNTERPOINT_DATA"] + "/caltech20").train
photo = photos.pictures(torch.tensor([560]))[0].decode(1.0)
print("a photo of", tuple(photo.shape))

# %%
# `ViewTransform` is a method's part (1) as a transform. With the number of the sample its views are a
# function of seed, epoch and sample: the same that `pretrain` makes. CPC and YADIM cut a view into
# patches; one of every three rows and columns is drawn here. Values are stretched to be seen.


def picture(view):
    view = view[0] if view.ndim == 4 else view
    if view.ndim == 5:  # (row, column, channel, side, side): patches
        view = torch.cat([torch.cat(list(row), dim=2) for row in view[::3, ::3]], dim=1)
    view = view[:3] if view.shape[0] >= 3 else view[:1].expand(3, -1, -1)
    low, high = view.amin(), view.amax()
    return ((view - low) / (high - low)).permute(1, 2, 0)


names = ("amdim", "cpc", "simclr", "moco", "byol", "cmc", "yadim")
figure, axes = plt.subplots(2, len(names), figsize=(12, 3.6))
for column, name in zip(axes.T, names, strict=True):
    views = ViewTransform(METHODS[name](size=64), seed=0)(photo, index=560, epoch=0)
    print(f"{name:7}", [tuple(view.shape) for view in views])
    for axis, view in zip(column, [*views, None], strict=False):
        axis.axis("off")
        if view is not None:
            axis.imshow(picture(view))
    column[0].set_title(name)
plt.show()
