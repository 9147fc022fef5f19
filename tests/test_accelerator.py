"""The pretend accelerator finds every kind of mistake that it is there for, and no other."""

import copy

import pytest
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.testing._internal.distributed.fake_pg import FakeStore

from accelerator import DEVICE, LackingError, MixUpError, pretend


@pytest.fixture
def seen():
    with pretend() as seen:
        yield seen


def here(*shape):
    return torch.randn(shape, device=DEVICE)


MIXED = {
    "sum": lambda: here(4) + torch.ones(4),
    "product": lambda: here(4, 4) @ torch.ones(4, 4),
    "list of tensors": lambda: torch.cat([here(4), torch.ones(4)]),
    "weights": lambda: nn.Conv2d(3, 4, 3)(here(2, 3, 8, 8)),
    "input": lambda: nn.Conv2d(3, 4, 3).to(DEVICE)(torch.ones(2, 3, 8, 8)),
    "indices of index_select": lambda: here(4).index_select(0, torch.arange(2)),
    "indices of gather": lambda: here(4).gather(0, torch.arange(2)),
    "values written": lambda: here(4).index_put_(
        (torch.tensor([1], device=DEVICE),), torch.ones(1)
    ),
    "indices of the device": lambda: torch.ones(4)[torch.tensor([1], device=DEVICE)],
    "number where none is taken": lambda: torch.stack([here(), torch.ones(())]),
    "written into the host": lambda: torch.ones(4).add_(here(4)),
    "written into a number of the host": lambda: torch.ones(()).add_(here()),
    "out": lambda: torch.add(here(4), here(4), out=torch.ones(4)),
    "generator": lambda: torch.rand(3, device=DEVICE, generator=torch.Generator()),
    "in inference mode": lambda: torch.inference_mode()(
        lambda: F.linear(here(4), torch.ones(4, 4))
    )(),
    "loss": lambda: F.cross_entropy(here(4, 3), torch.arange(3).repeat(2)[:4]),
    "backward": lambda: _mixed_backward(),
}


def _mixed_backward():
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            return gradient * torch.ones(4)

    Wrong.apply(here(4).requires_grad_()).sum().backward()


@pytest.mark.parametrize("what", MIXED)
def test_tensors_of_two_devices_are_refused(what, seen):
    with pytest.raises(MixUpError):
        MIXED[what]()


ALLOWED = {
    "number of the host": lambda: here(4) * torch.tensor(2.0),
    "number in where": lambda: torch.where(here(4) > 0, here(4), torch.tensor(2.0)),
    "number in masked_fill": lambda: here(4).masked_fill(here(4) > 0, torch.tensor(2.0)),
    "python's number": lambda: here(4) + 1.5,
    "number under a mask": lambda: here(4).__setitem__(here(4) > 0, 0.0),
    "factories": lambda: (torch.arange(3, device=DEVICE), torch.eye(3, device=DEVICE)),
    "like": lambda: (torch.zeros_like(here(3)), here(3).new_full((2,), 1.0)),
    "like, on the host": lambda: torch.zeros_like(here(3), device="cpu"),
    "copy there": lambda: torch.ones(4).to(DEVICE, non_blocking=True),
    "pinned copy there": lambda: torch.ones(4).pin_memory().to(DEVICE, non_blocking=True),
    "copy back": lambda: here(4).to("cpu", non_blocking=True),
    "repeats of a known total": lambda: torch.repeat_interleave(
        torch.ones(3, dtype=torch.int64, device=DEVICE), output_size=3
    ),
    "resize of floats": lambda: F.interpolate(here(1, 3, 8, 8), 4, mode="bilinear", antialias=True),
    "indices of the device": lambda: here(4)[torch.arange(2, device=DEVICE)],
    "float64": lambda: here(4).double(),
}


@pytest.mark.parametrize("what", ALLOWED)
def test_what_cuda_allows_is_allowed_and_does_not_wait(what, seen):
    ALLOWED[what]()
    assert not seen.waits


WAITING = {
    "item": lambda: here().item(),
    "float": lambda: float(here()),
    "bool": lambda: bool(here() > 0),
    "format": lambda: f"{here():.2f}",
    "tolist": lambda: here(4).tolist(),
    "cpu": lambda: here(4).cpu(),
    "to": lambda: here(4).to("cpu"),
    "copy_ to the host": lambda: torch.ones(4).copy_(here(4)),
    "copy_ from the host": lambda: here(4).copy_(torch.ones(4)),
    "tensor": lambda: torch.tensor([1.0, 2.0], device=DEVICE),
    "as_tensor": lambda: torch.as_tensor([1.0, 2.0], device=DEVICE),
    "new_tensor": lambda: here(4).new_tensor([1.0]),
    "to the device": lambda: torch.ones(4).to(DEVICE),
    "module to the device": lambda: nn.Linear(2, 2, bias=False).to(DEVICE),
    "nonzero": lambda: here(4).nonzero(),
    "where": lambda: torch.where(here(4) > 0),
    "masked_select": lambda: here(4).masked_select(here(4) > 0),
    "mask": lambda: here(4)[here(4) > 0],
    "written under a mask": lambda: here(4).__setitem__(here(4) > 9, here(1)),
    "unique": lambda: here(4).unique(),
    "unique rows": lambda: here(4, 2).unique(dim=0),
    "repeat_interleave": lambda: torch.repeat_interleave(torch.ones(2, dtype=int, device=DEVICE)),
    "bincount": lambda: torch.arange(3, device=DEVICE).bincount(),
    "index of the host": lambda: here(4)[torch.tensor([1, 2])],
    "equal": lambda: torch.equal(here(4), here(4)),
    "one index of the device": lambda: here(4)[torch.argmax(here(4))],
    "eigenvalues": lambda: torch.linalg.eigvalsh(here(3, 3)),
    "synchronize": lambda: torch.accelerator.synchronize(),
}


@pytest.mark.parametrize("what", WAITING)
def test_every_wait_is_counted_once_and_by_line(what, seen):
    WAITING[what]()
    assert sum(seen.waits.values()) == 1
    assert next(iter(seen.waits)).startswith("tests/test_accelerator.py:")


def test_lines_are_those_of_the_package(seen):
    from counterpoint.framework.precision import at_least_fp32

    at_least_fp32(here(3).to(torch.bfloat16))
    [(place, count)] = [x for x in seen.operators.items() if "precision" in x[0]]
    assert place.startswith("framework/precision.py:")
    assert count == 1


def test_views_are_operators_but_no_kernels(seen):
    image = here(2, 3, 4)
    seen.clear()
    image.permute(0, 2, 1)[:, 1:].unsqueeze(0) * 2
    assert sum(seen.operators.values()) == 4
    assert seen.kernels == 1


def test_numpy_is_refused(seen):
    for conversion in (lambda t: t.numpy(), lambda t: __import__("numpy").asarray(t)):
        with pytest.raises(TypeError, match="numpy"):
            conversion(here(3))


LACKING = {
    "antialiased bytes": lambda: F.interpolate(
        torch.zeros(1, 3, 8, 8, dtype=torch.uint8, device=DEVICE),
        size=4,
        mode="bilinear",
        antialias=True,
    ),
    "integer product": lambda: torch.eye(3, dtype=torch.int64, device=DEVICE).mm(
        torch.eye(3, dtype=torch.int64, device=DEVICE)
    ),
}


@pytest.mark.parametrize("what", LACKING)
def test_what_cuda_lacks_is_refused(what, seen):
    with pytest.raises(LackingError):
        LACKING[what]()


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.ones(3, dtype=torch.float64).to(DEVICE),
        lambda: torch.zeros(3, dtype=torch.float64, device=DEVICE),
        lambda: torch.zeros(3, device=DEVICE).double(),
        lambda: nn.Linear(2, 2).double().to(DEVICE),
    ],
)
def test_float64_is_refused_as_on_mps(make):
    with pretend("mps"), pytest.raises(LackingError):
        make()


def trained(device, precision=None):
    """Three steps of a small network: convolution, batch norm, product, loss."""
    torch.manual_seed(0)
    network = nn.Sequential(
        *(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, 5))
    ).to(device)
    images, labels = torch.randn(6, 3, 8, 8).to(device), (torch.arange(6) % 5).to(device)
    optimiser = torch.optim.AdamW(network.parameters(), lr=1e-2)
    losses = []
    for _ in range(3):
        with torch.autocast(device.type, dtype=precision, enabled=precision is not None):
            loss = F.cross_entropy(network(images), labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.detach())
    return torch.stack(losses).cpu(), network.cpu().state_dict()


def test_training_gives_the_values_of_the_cpu(seen):
    losses, weights = trained(DEVICE)
    expected, same = trained(torch.device("cpu"))
    torch.testing.assert_close(losses, expected, atol=0, rtol=0)
    torch.testing.assert_close(weights, same, atol=0, rtol=0)


def test_autocast_casts_as_on_a_gpu(seen):
    matrix = here(4, 4)
    with torch.autocast(DEVICE.type, dtype=torch.bfloat16):
        low = (matrix @ matrix, F.linear(matrix, matrix), torch.linalg.vecdot(matrix, matrix))
        low += (torch.einsum("ij,jk->ik", matrix, matrix), torch.bmm(matrix[None], matrix[None]))
        assert {x.dtype for x in low} == {torch.bfloat16}
        assert low[0].softmax(dim=1).dtype == torch.float32
        assert low[0].sum().dtype == torch.float32
        assert low[0].exp().dtype == torch.float32
        assert (low[0] + low[0]).dtype == torch.bfloat16
        with torch.autocast(DEVICE.type, enabled=False):
            assert (matrix @ matrix).dtype == torch.float32
        with torch.inference_mode():
            assert F.linear(matrix, matrix).dtype == torch.bfloat16
    losses, _ = trained(DEVICE, torch.bfloat16)
    expected, _ = trained(torch.device("cpu"))
    torch.testing.assert_close(losses, expected, atol=0.05, rtol=0.05)
    assert not torch.equal(losses, expected)


def test_collectives_of_many_ranks_run_on_it(seen):
    dist.init_process_group("fake", store=FakeStore(), rank=1, world_size=1024)
    try:
        own, every = torch.full((2,), 5.0, device=DEVICE), torch.zeros(2048, device=DEVICE)
        dist.all_reduce(own)
        dist.all_gather_single(every, own)
        dist.reduce_scatter_single(own, every)
        assert not seen.waits
        assert every.tolist() == [5.0] * 2048
    finally:
        dist.destroy_process_group()


def test_views_of_outer_tensors_in_inference_mode(seen):
    outer = here(2, 3)
    with torch.inference_mode():
        first, second = outer.unbind()
        outer[0].mul_(1.0)
        assert not first.is_inference()
        assert (first + second).is_inference()


def test_modules_move_copy_and_change_type(seen):
    network = nn.Linear(3, 2).to(DEVICE)
    twin = copy.deepcopy(network)
    assert twin.weight.device == DEVICE
    assert torch.equal(twin.weight, network.weight)
    weight = network.double().weight
    assert weight.dtype == weight.values.dtype == torch.float64
    assert type(network.cpu().weight) is nn.Parameter


def test_it_is_no_accelerator_when_switched_off():
    assert not torch.accelerator.is_available()
    with pretend():
        assert torch.accelerator.is_available()
        assert torch.accelerator.current_accelerator() == torch.device(DEVICE.type)
        left = torch.ones(2, device=DEVICE)
    assert not torch.accelerator.is_available()
    with pytest.raises(RuntimeError, match="switched off"):
        left + left
