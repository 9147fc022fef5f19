"""A pretend accelerator: real CPU values behind a device of its own, with an accelerator's rules.

`pretend()` switches it on. Inside, `torch.device("pretend")` is torch's device for others'
backends (PrivateUse1), set up from Python, so the real dispatcher, autograd and autocast run:

    with pretend() as seen:
        model.to(DEVICE)
        model(images.to(DEVICE))
    assert not seen.waits

It refuses operators whose tensors are on different devices (`MixUpError`), `.numpy()`, and
what its profile lacks (`LackingError`): "cuda" has no antialiased resize of bytes and no product
of integer matrices, "mps" has no float64 either. It counts operators and host waits by line.

Not modelled: time, memory, other missing kernels, and whether pinned memory is still in flight.
"""

from accelerator.backend import DEVICE, NAME, pretend
from accelerator.rules import LackingError, MixUpError
from accelerator.seen import Seen

__all__ = ["DEVICE", "NAME", "LackingError", "MixUpError", "Seen", "pretend"]
