"""All routes, and which of them a network takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from counterpoint.export.onnx_file import OnnxFile
from counterpoint.export.own_folder import OwnFolder
from counterpoint.export.route import Route
from counterpoint.export.subject import Subject
from counterpoint.export.timm_folder import TimmFolder
from counterpoint.export.torch_files import TorchProgram, TorchvisionNetwork

ROUTES: tuple[Route, ...] = (
    TimmFolder(),
    TorchvisionNetwork(),
    OwnFolder(),
    OnnxFile(),
    TorchProgram(),
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The routes that are taken, and why others are not, by name."""

    routes: tuple[Route, ...]
    left_out: dict[str, str]


def choose_routes(
    subject: Subject, only: Sequence[str] = (), *, routes: Sequence[Route] = ROUTES
) -> Chosen:
    """Take every route that applies; refuse one that was asked for by name and does not."""
    wanted = [route for route in routes if not only or route.name in only]
    reasons = {route.name: _reason(route, subject) for route in wanted}
    left_out = {name: reason for name, reason in reasons.items() if reason is not None}
    for name in left_out.keys() & set(only):
        raise ValueError(f"export: {name} was asked for, but {left_out[name]}")
    return Chosen(tuple(r for r in wanted if r.name not in left_out), left_out)


def refuse_missing(only: Sequence[str]) -> None:
    """Refuse routes that were asked for and whose packages are not installed."""
    for route in ROUTES:
        if route.name in only and (missing := _missing(route)):
            raise ImportError(f"export: {route.name} was asked for, but {missing}")


def _reason(route: Route, subject: Subject) -> str | None:
    return _missing(route) or route.refusal(subject)


def _missing(route: Route) -> str | None:
    """Say what to install; None where everything is there."""
    absent = [package for package in route.packages if find_spec(package) is None]
    if not absent:
        return None
    return f"{', '.join(absent)} is not installed; pip install 'counterpoint[{route.name}]'"
