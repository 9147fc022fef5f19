"""Losses as functions of vectors, for a training loop of one's own."""

import torch
from jaxtyping import Float
from torch import Tensor

from counterpoint.framework import ALONE, Comparison, Everyone, PartError, World
from counterpoint.framework.precision import without_autocast
from counterpoint.parts.losses import NCE
from counterpoint.parts.similarity import Cosine
from counterpoint.training.distributed import world

Vectors = Float[Tensor, "image channel"]


def nt_xent(
    z0: Vectors, z1: Vectors, tau: float = 0.5, *, gather: bool = True
) -> Float[Tensor, ""]:
    r"""Return SimCLR's loss of two views, NT-Xent; row i of both is the same image.

    $$ -\frac{1}{2n} \sum_a \log \frac{e^{s(a, a^+)}}{\sum_{b \ne a} e^{s(a, b)}},
    \quad s(a, b) = \cos(a, b) / \tau $$

    over all 2n vectors a, whose partner in the other view is a^+. The scores are never held as a
    matrix, and are computed in fp32 at least, also under autocast.

    Where torch.distributed is initialised, each rank scores its own vectors against those of all
    ranks, which may hold different numbers of them. The mean over ranks, value and gradient, is
    that of one process with the whole batch; DDP takes this mean. `gather=False` compares the
    vectors of each rank only among themselves.

    >>> z = torch.eye(4)
    >>> nt_xent(z, z) < nt_xent(z, z.flip(0))
    tensor(True)
    """
    _pair(z0, z1)
    ranks = world() if gather else ALONE
    own, everyone = _identities(len(z0), ranks)
    z = torch.cat([z0, z1])
    with without_autocast(z.device):
        phi = Cosine(tau=tau).build(z.shape[1], z.shape[1])
        compared = Comparison(
            anchors=z,
            candidates=z,
            anchor_identity=own,
            candidate_identity=own,
            itself=0,
            everyone=everyone,
        )
        terms = NCE()(phi(compared, ranks))
        return terms.total * (ranks.size / ranks.total(terms.count.detach()))


def _identities(images: int, ranks: World) -> tuple[Tensor, Everyone | None]:
    """Number the images of all ranks through, and say which vectors are of which."""
    sizes = ranks.images(images)
    numbers = [part.repeat(2) for part in torch.arange(sum(sizes)).split(list(sizes))]
    if len(sizes) == 1:
        return numbers[0], None
    return numbers[ranks.rank], Everyone(torch.cat(numbers), tuple(map(len, numbers)))


def _pair(z0: object, z1: object) -> None:
    """Refuse what is not two equally large matrices of floats."""
    for name, z in (("z0", z0), ("z1", z1)):
        if not isinstance(z, Tensor):
            raise TypeError(
                f"nt_xent: {name} is a {type(z).__name__}, needs a tensor; torch.as_tensor({name})"
            )
        if z.dim() != 2 or not z.is_floating_point():
            raise PartError(
                "nt_xent",
                got=f"{name} of shape {tuple(z.shape)}, {z.dtype}",
                needs="one vector per image, (n, d), in floating point",
                do="pool feature maps first: maps.mean(dim=(2, 3))",
            )
    assert isinstance(z0, Tensor)
    assert isinstance(z1, Tensor)
    if z0.shape != z1.shape:
        raise PartError(
            "nt_xent",
            got=f"z0 of shape {tuple(z0.shape)} and z1 of {tuple(z1.shape)}",
            needs="the two views of the same images, row by row",
        )
