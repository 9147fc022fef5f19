"""Use 4: the loss alone, in somebody else's training loop."""

import inspect
import os
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import forked
from counterpoint import nt_xent
from reference import losses as reference


def vectors(count, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(2, count, 6, generator=generator, dtype=torch.float64)


def test_a_loop_of_ones_own():
    encoder = nn.Sequential(nn.Flatten(), nn.Linear(12, 8))
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.5)
    images = torch.randn(16, 3, 2, 2, generator=torch.Generator().manual_seed(0))
    losses = []
    for _ in range(20):
        loss = nt_xent(encoder(images), encoder(images + 0.01), tau=0.5)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] - 0.1


@pytest.mark.parametrize("tau", [0.5, 0.07])
def test_it_is_the_papers_loss(tau):
    z0, z1 = vectors(7).requires_grad_()
    a, b = torch.stack([z0, z1]).detach().requires_grad_().unbind()
    fast, plain = nt_xent(z0, z1, tau=tau), reference.nt_xent(a, b, tau)
    assert abs(fast - plain) < 1e-12
    given = torch.autograd.grad(fast, [z0, z1])
    wanted = torch.autograd.grad(plain, [a, b])
    assert max((g - w).abs().max() for g, w in zip(given, wanted, strict=True)) < 1e-12


def test_autocast_does_not_reach_the_scores():
    z0, z1 = vectors(8).float()
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(nt_xent(z0, z1, tau=0.07), nt_xent(z0, z1, tau=0.07))
        inside = nt_xent(z0, z1, tau=0.07)
    assert inside.dtype == torch.float32
    assert torch.equal(inside, nt_xent(z0, z1, tau=0.07))


def test_what_cannot_be_compared_is_refused():
    loss = inspect.unwrap(nt_xent)  # as users have it: here in tests shapes are checked first
    z0, z1 = vectors(4)
    with pytest.raises(TypeError, match=r"z1 is a ndarray, needs a tensor; torch.as_tensor"):
        loss(z0, np.zeros((4, 6)))
    with pytest.raises(ValueError, match="the two views of the same images"):
        loss(z0, z1[:3])
    with pytest.raises(ValueError, match="pool feature maps first"):
        loss(z0[:, :, None, None], z1[:, :, None, None])
    with pytest.raises(ValueError, match="tau > 0"):
        loss(z0, z1, tau=0)


RANK = """
import sys
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from counterpoint import nt_xent
rank, store, out = int(sys.argv[1]), sys.argv[2], sys.argv[3]
dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
found = []
for sizes in ([3, 3], [4, 2]):
    torch.manual_seed(0)
    net = nn.Linear(6, 5).double()
    z0, z1 = torch.randn(2, 6, 6, dtype=torch.float64)
    alone = nt_xent(net(z0), net(z1), tau=0.2, gather=False)
    wanted = torch.autograd.grad(alone, list(net.parameters()))
    model = DistributedDataParallel(net)
    own = [z.split(sizes)[rank] for z in (z0, z1)]
    loss = nt_xent(*model(torch.cat(own)).chunk(2), tau=0.2)
    loss.backward()
    mean = loss.detach().clone()
    dist.all_reduce(mean)
    found.append(abs(mean / 2 - alone).item())
    found += [(p.grad - w).abs().max().item() for p, w in zip(net.parameters(), wanted)]
    apart = nt_xent(net(own[0]), net(own[1]), tau=0.2, gather=False)
    assert abs(apart - alone) > 1e-3, "negatives of this rank only are another loss"
with open(f"{out}/{rank}", "w") as file:
    file.write(str(max(found)))
dist.destroy_process_group()
"""


def test_two_processes_give_the_loss_and_the_gradient_of_one(tmp_path):
    environment = os.environ | {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    arguments = [str(tmp_path / "store"), str(tmp_path)]
    ranks = [
        forked.Popen([sys.executable, "-c", RANK, str(rank), *arguments], env=environment)
        for rank in (0, 1)
    ]
    assert [rank.wait(timeout=200) for rank in ranks] == [0, 0]
    assert max(float(Path(tmp_path / str(rank)).read_text()) for rank in (0, 1)) < 1e-12
