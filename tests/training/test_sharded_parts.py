"""Clipping, states, temperatures and refusals of sharded models, on one gloo process."""

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from counterpoint import PartError, Training
from counterpoint.framework.local_rows import is_sharded
from counterpoint.parts.similarity import Cosine
from counterpoint.parts.similarity.temperature import Temperature
from counterpoint.training.clipping import _clip_rows
from counterpoint.training.cost import shadow
from counterpoint.training.fsdp.row_steps import step_on_rows
from counterpoint.training.fsdp.shard_model import shard_model
from counterpoint.training.fsdp.whole_model import whole_model
from counterpoint.training.optimisers import optimiser
from toy import tiny_batch, tiny_method
from training import gradients


@pytest.fixture
def mesh():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield init_device_mesh("cpu", (1,))
    dist.destroy_process_group()


def layer(mesh=None):
    torch.manual_seed(0)
    made = nn.Linear(5, 4).double()
    if mesh is not None:
        fully_shard(made, mesh=mesh)
    made(torch.ones(2, 5, dtype=torch.float64)).square().sum().backward()
    return made


@pytest.mark.parametrize("by_norm", [True, False])
def test_clipping_is_torchs(mesh, by_norm):
    plain, sharded = layer(), layer(mesh)
    clip = nn.utils.clip_grad_norm_ if by_norm else nn.utils.clip_grad_value_
    clip(plain.parameters(), 0.3)
    _clip_rows([p.grad for p in sharded.parameters()], 0.3, by_norm=by_norm)
    for a, b in zip(plain.parameters(), sharded.parameters(), strict=True):
        torch.testing.assert_close(b.grad.full_tensor(), a.grad, rtol=1e-14, atol=0)


@pytest.mark.parametrize("name", ["adamw", "sgd", "lars"])
def test_a_state_is_saved_sharded_and_loaded_sharded_or_whole(mesh, name):
    training = Training(optimiser=name, lr=0.1)
    plain, sharded = layer(), layer(mesh)
    wanted, found = optimiser(plain, training), optimiser(sharded, training)
    step_on_rows(found)
    for chosen in (wanted, found):
        chosen.step()
    saved = found.state_dict()
    states = [value for state in saved["state"].values() for value in state.values()]
    assert all(is_sharded(value) for value in states if value.ndim)
    for given in (saved, wanted.state_dict()):
        again = optimiser(sharded, training)
        step_on_rows(again)
        again.load_state_dict(given)
        kept = again.state_dict()["state"]
        for number, state in wanted.state_dict()["state"].items():
            for key, value in state.items():
                mine = kept[number][key]
                mine = mine.full_tensor() if is_sharded(mine) else mine
                assert torch.equal(mine, value), key


def test_the_whole_model_is_the_one_that_was_shared_out(mesh):
    model = gradients.model_of(gradients.METHODS["byol, batch norm"])
    before = {name: value.clone() for name, value in model.state_dict().items()}
    skeleton = shadow(model)
    shard_model(model, mesh)
    assert all(is_sharded(weight) for weight in model.parameters())
    whole = whole_model(model, skeleton, keep=True)
    assert {type(weight) for weight in whole.parameters()} == {nn.Parameter}
    assert whole.state_dict().keys() == before.keys()
    assert all(torch.equal(value, before[name]) for name, value in whole.state_dict().items())
    assert whole_model(model, skeleton, keep=False) is None
    loss = whole(*tiny_batch(4))
    loss.backward()
    assert loss.isfinite()


def test_a_weight_without_dimensions_is_refused_by_name(mesh):
    model = tiny_method().build(image=(3, 8, 8))
    model.similarity.offset = nn.Parameter(torch.tensor(1.0))
    with pytest.raises(PartError, match=r"similarity: got offset, a weight without dimensions"):
        shard_model(model, mesh)


def test_a_temperature_of_an_earlier_version_loads():
    old = {"log_tau": torch.tensor(-1.5)}
    made = Temperature(0.5, learn=True)
    made.load_state_dict(old)
    assert made.log_tau.shape == (1,)
    assert made().item() == pytest.approx(torch.tensor(1.5).exp().item())
    assert old["log_tau"].ndim == 0


def test_the_state_of_an_earlier_temperature_loads():
    phi = Cosine(learn_tau=True).build(3, 3)
    chosen = optimiser(phi, Training(optimiser="adamw", lr=0.1))
    phi.scale.log_tau.grad = torch.ones(1)
    chosen.step()
    saved = chosen.state_dict()
    (state,) = saved["state"].values()
    state["exp_avg"], state["exp_avg_sq"] = state["exp_avg"][0], state["exp_avg_sq"][0]
    again = optimiser(phi, Training(optimiser="adamw", lr=0.1))
    again.load_state_dict(saved)
    again.step()
    assert again.state[phi.scale.log_tau]["exp_avg"].shape == (1,)
