"""What a run's export is made of: the network in fp32 and in evaluation mode, made anew."""

import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor, nn

from counterpoint.evaluation.representation import Representation
from counterpoint.export.pixel_recipe import PixelRecipe, pixel_recipe
from counterpoint.export.vector_network import VectorNetwork
from counterpoint.framework import Method, Model
from counterpoint.framework.optional import (
    Architecture,
    Twinned,
    architecture_of,
    backbone_of,
    library_lines,
    trained,
    without_head,
)
from counterpoint.run import Run

LARGEST = 4096  # images that an exported graph takes at once


@dataclass(frozen=True, eq=False)
class Subject:
    """A network to export, with what the routes ask about it.

    >>> from counterpoint import simclr_small
    >>> method = simclr_small()
    >>> some = Subject(method, method.build(image=(3, 32, 32)), (3, 32, 32))
    >>> some.side, some.architecture
    (32, None)
    """

    method: Method
    model: Model
    image: tuple[int, ...]
    parts_file: Path | None = None
    """The Python file with parts of the user's own."""
    licence: str | None = None
    twin: bool = False
    """Whether it is the moving average of what was trained."""
    bytes_in: bool = False
    """Whether graphs take bytes and normalise them inside."""

    @property
    def representation(self) -> Representation:
        """What every route has to reproduce."""
        return Representation(self.model)

    @property
    def backbone(self) -> nn.Module:
        """The network with the key names of its library."""
        return backbone_of(without_head(self._encoder))

    @cached_property
    def pixels(self) -> PixelRecipe | str:
        """How pixels are made, or why that cannot be told in plain words."""
        return pixel_recipe(self.model.views, self.image[0])

    @cached_property
    def architecture(self) -> Architecture | None:
        """The network of timm with the same key names."""
        return architecture_of(self._encoder)

    @property
    def side(self) -> int:
        """The side of the views that are embedded; of a grid of patches, of one patch."""
        return self.model.views.evaluation.shapes[0][-1]

    @property
    def library_lines(self) -> str | None:
        """Lines that make the backbone with its own library."""
        return library_lines(self._encoder)

    @cached_property
    def network(self) -> VectorNetwork:
        """Pixels to vectors as one module."""
        assert isinstance(self.pixels, PixelRecipe)
        encoder = copy.deepcopy(without_head(self._encoder))
        plain = encoder.to(memory_format=torch.contiguous_format)
        return VectorNetwork(plain, self.pixels, bytes_in=self.bytes_in).eval()

    @cached_property
    def program(self) -> torch.export.ExportedProgram:
        """The same network as a graph that takes any number of images."""
        assert isinstance(self.pixels, PixelRecipe)
        batch = torch.export.Dim("batch", min=1, max=LARGEST)
        example = (example_batch(self.pixels, bytes_in=self.bytes_in),)
        return torch.export.export(self.network, example, dynamic_shapes=({0: batch},))

    @property
    def _encoder(self) -> nn.Module:
        return trained(self.model.encoder)


def subject_of(
    run: Run,
    *,
    twin: bool = False,
    parts_file: Path | None = None,
    licence: str | None = None,
    bytes_in: bool = False,
) -> Subject:
    """Build a run's network anew, so that it is in fp32 and not compiled, whatever the run was.

    `twin` takes the moving average of a momentum method in the place of the trained encoder.

    >>> some = subject_of(Run.open(run_folder), licence="CC BY 4.0")
    >>> some.image, some.licence
    ((3, 32, 32), 'CC BY 4.0')
    """
    model = run.method.build(image=run.image)
    model.load_state_dict(run.model.state_dict())
    if twin:
        _take_twin(model)
    model.float().eval().requires_grad_(requires_grad=False)
    return Subject(run.method, model, run.image, parts_file, licence, twin, bytes_in)


def _take_twin(model: Model) -> None:
    pair = model.encoder
    slow = getattr(pair, "twin", None)
    if not isinstance(pair, Twinned) or not isinstance(slow, nn.Module):
        raise ValueError(
            "export: --twin needs a momentum method such as moco or byol; this encoder has no twin"
        )
    pair.online.load_state_dict(slow.state_dict())


def example_batch(recipe: PixelRecipe, *, bytes_in: bool) -> Tensor:
    """Return two images: a batch of one would be burnt into a graph."""
    shape = (2, recipe.channels, recipe.side, recipe.side)
    return torch.zeros(shape, dtype=torch.uint8 if bytes_in else torch.float32)
