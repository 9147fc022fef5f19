"""The methods: compositions, one screen each."""

from collections.abc import Mapping
from pathlib import Path

from counterpoint.framework import Encoder, Method, codec
from counterpoint.framework.contracts import Views
from counterpoint.methods.alignuniform import alignuniform, alignuniform_small
from counterpoint.methods.amdim import amdim, amdim_small
from counterpoint.methods.barlowtwins import barlowtwins, barlowtwins_small
from counterpoint.methods.byol import byol, byol_small
from counterpoint.methods.cmc import cmc, cmc_small
from counterpoint.methods.cpc import cpc, cpc_small
from counterpoint.methods.dcl import dcl, dcl_small
from counterpoint.methods.dclw import dclw, dclw_small
from counterpoint.methods.debiased import debiased, debiased_small
from counterpoint.methods.densecl import densecl, densecl_small
from counterpoint.methods.hcl import hcl, hcl_small
from counterpoint.methods.instdisc import instdisc, instdisc_small
from counterpoint.methods.invention import invention, invention_small
from counterpoint.methods.known import ALL, METHODS, ORIGINS, RECIPES, SEVEN
from counterpoint.methods.moco import moco, moco_small
from counterpoint.methods.mocov3 import mocov3, mocov3_small
from counterpoint.methods.nnclr import nnclr, nnclr_small
from counterpoint.methods.origin import Origin
from counterpoint.methods.pirl import pirl, pirl_small
from counterpoint.methods.recipe import Recipe
from counterpoint.methods.recognising import recipe_of, training_of
from counterpoint.methods.ressl import ressl, ressl_small
from counterpoint.methods.ricercar import ricercar, ricercar_small
from counterpoint.methods.siglip import siglip, siglip_small
from counterpoint.methods.simclr import simclr, simclr_small
from counterpoint.methods.simclrts import simclrts, simclrts_small
from counterpoint.methods.simsiam import simsiam, simsiam_small
from counterpoint.methods.spectral import spectral, spectral_small
from counterpoint.methods.sscd import sscd, sscd_small
from counterpoint.methods.supcon import supcon, supcon_small
from counterpoint.methods.vicreg import vicreg, vicreg_small
from counterpoint.methods.yadim import yadim, yadim_small
from counterpoint.parts import PARTS
from counterpoint.parts.encoders import encoder_named, replace_innermost
from counterpoint.spelling import did_you_mean


def method_named(
    given: Method | str,
    *,
    size: int,
    encoder: Encoder | str | None = None,
    parts: Mapping[str, type] | None = None,
) -> Method:
    """Compose a method by its name, from a .json file or from its JSON; or take it as it is.

    `encoder`, by its name, as JSON or as a value, takes the place of the innermost encoder: the
    twin and the head around it stay. `parts` are a user's own part classes, which JSON may name.

    >>> method_named("simclr", size=32) == simclr()
    True
    >>> print(method_named(byol_small(), size=32, encoder="resnet18").encoder)
    ResNet(name='resnet18', stem='small', zero_init=False) -> head 512-128 with norm, twin 0.97 ...
    """
    chosen = _encoder(encoder, size, parts)
    if isinstance(given, str) and given in METHODS:
        compose = METHODS[given]  # puts the twin or the head around an encoder
        return compose(size=size) if chosen is None else compose(chosen, size=size)
    method = _read(given, parts) if isinstance(given, str) else given
    if chosen is None:
        return method
    return method.swap(encoder=replace_innermost(method.encoder, chosen))


def _read(text: str, parts: Mapping[str, type] | None) -> Method:
    """Read a method's JSON, or the file that holds it."""
    if text.startswith("{"):
        return read_method(text, parts=parts)
    if not text.endswith(".json"):
        near = did_you_mean(text, METHODS) or f"there are {', '.join(METHODS)}, or a .json file"
        raise ValueError(f"method: got {text!r}; {near}")
    try:
        return read_method(Path(text).read_text(), parts=parts)
    except ValueError as error:
        raise ValueError(f"method: {text} cannot be read: {error}") from error


def _encoder(
    given: Encoder | str | None, size: int, parts: Mapping[str, type] | None
) -> Encoder | None:
    if not isinstance(given, str):
        return given
    if not given.startswith("{"):
        return encoder_named(given, size=size)
    found: Encoder = codec.decode(codec.from_text(given), {**PARTS, **(parts or {})})
    return found


def views_named(name: str, *, size: int) -> Views:
    """Return part (1) of a method by its name.

    >>> print(views_named("cmc", size=32))
    1 x (random crop 0.08-1 to 32 -> flip 0.5 -> Lab -> normalise), split 1:2
    """
    return method_named(name, size=size).views


def read_method(text: str, *, parts: Mapping[str, type] | None = None) -> Method:
    """Read a method from JSON; `parts` adds a user's own part classes by name.

    >>> read_method(simclr().to_json()) == simclr()
    True
    """
    return Method.from_json(text, parts={**PARTS, **(parts or {})})


__all__ = [
    "ALL",
    "METHODS",
    "ORIGINS",
    "RECIPES",
    "SEVEN",
    "Origin",
    "Recipe",
    "alignuniform",
    "alignuniform_small",
    "amdim",
    "amdim_small",
    "barlowtwins",
    "barlowtwins_small",
    "byol",
    "byol_small",
    "cmc",
    "cmc_small",
    "cpc",
    "cpc_small",
    "dcl",
    "dcl_small",
    "dclw",
    "dclw_small",
    "debiased",
    "debiased_small",
    "densecl",
    "densecl_small",
    "hcl",
    "hcl_small",
    "instdisc",
    "instdisc_small",
    "invention",
    "invention_small",
    "method_named",
    "moco",
    "moco_small",
    "mocov3",
    "mocov3_small",
    "nnclr",
    "nnclr_small",
    "pirl",
    "pirl_small",
    "read_method",
    "recipe_of",
    "ressl",
    "ressl_small",
    "ricercar",
    "ricercar_small",
    "siglip",
    "siglip_small",
    "simclr",
    "simclr_small",
    "simclrts",
    "simclrts_small",
    "simsiam",
    "simsiam_small",
    "spectral",
    "spectral_small",
    "sscd",
    "sscd_small",
    "supcon",
    "supcon_small",
    "training_of",
    "vicreg",
    "vicreg_small",
    "views_named",
    "yadim",
    "yadim_small",
]
