"""The pretend accelerator as a device of torch's, switched on for a while."""

from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import torch
from torch.optim.optimizer import _foreach_supported_types as FUSED_STEPS
from torch.utils import backend_registration
from torch.utils._foreach_utils import _foreach_supported_types as FUSED_NORMS

from accelerator import amp
from accelerator.seen import Seen
from accelerator.tensor import NAME, Pretend, State, run

# Autograd counts the devices at its first backward. It must find none: threads for devices
# forbid a later fork, and here backward runs on the caller's thread.
torch.ones((), requires_grad=True).backward()


class _Module(backend_registration._DummyBackendModule):
    """What torch asks of `torch.pretend`."""

    def is_available(self):
        return State.profile is not None

    def device_count(self):
        return int(self.is_available())

    def get_amp_supported_dtype(self):
        return [torch.bfloat16, torch.float16]

    def synchronize(self, device=None):
        State.seen.wait("synchronize")

    def current_stream(self, device=None):
        return Stream()

    def set_device(self, device):
        pass

    class Event:
        """Is always reached; to wait for it is counted."""

        def __init__(self, **_):
            pass

        def record(self, stream=None):
            pass

        def query(self):
            return True

        def synchronize(self):
            State.seen.wait("event")


class Stream:
    """The one stream there is; to wait for it is counted."""

    def synchronize(self):
        State.seen.wait("synchronize")


class _Hook(backend_registration._DummyPrivateUse1Hook):
    def is_available(self):
        return State.profile is not None


backend_registration._setup_privateuseone_for_python_backend(NAME, _Module(), _Hook())
DEVICE = torch.device(NAME, 0)
_factories = torch.library.Library("_", "IMPL", "PrivateUse1")
_factories.fallback(run)
_casts = amp.register(NAME)
# Optimisers take their fused loops for this type too, as they do on a GPU.
FUSED_STEPS.append(Pretend)
FUSED_NORMS.append(Pretend)


@contextmanager
def pretend(profile="cuda"):
    """Switch the device on; `profile` is whose shortcomings it has, "cuda" or "mps"."""
    assert profile in ("cuda", "mps"), profile
    before = State.profile, State.seen
    State.profile, State.seen = profile, Seen()
    changes = (
        patch.object(torch, "tensor", _from_host(torch.tensor)),
        patch.object(torch, "as_tensor", _from_host(torch.as_tensor)),
        # The host's memory is never paged here.
        patch.object(torch.Tensor, "pin_memory", lambda tensor, device=None: tensor),
        patch.object(torch.accelerator, "synchronize", getattr(torch, NAME).synchronize),
        torch.autograd.set_multithreading_enabled(False),
    )
    try:
        with ExitStack() as stack:
            for change in changes:
                stack.enter_context(change)
            yield State.seen
    finally:
        State.profile, State.seen = before


def _from_host(function):
    """Make tensors from lists: on the host, then copied, as torch itself does in C++."""

    def make(data, *, dtype=None, device=None, **named):
        if device is None or torch.device(device).type != NAME:
            named = named if device is None else {**named, "device": device}
            return function(data, dtype=dtype, **named)
        grad = named.pop("requires_grad", False)
        return function(data, dtype=dtype, **named).to(device).requires_grad_(grad)

    return make
