"""All tests and examples check types and shapes of every call; the longest files run first."""

import pytest

import type_checks

type_checks.install("counterpoint")

LONGEST = (
    "tests/test_release.py",
    "tests/study/test_ray_deaths.py",
    "tests/study/test_ray.py",
    "tests/reliability/test_kills.py",
    "tests/launch/test_slurm.py",
    "tests/vectors/test_ray_embed.py",
    "tests/reliability/test_stores.py",
    "tests/training/test_distributed.py",
    "tests/export/test_matrix.py",
    "tests/parts/encoders/test_timm.py",
    "tests/reliability/test_command.py",
    "tests/checking/test_check.py",
    "tests/study/test_commands.py",
    "tests/training/test_run_store.py",
    "tests/training/test_fsdp2_command.py",
    "tests/training/test_devices.py",
)
"""By measured duration, all above a minute. The order of the rest does not matter."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start long files first: one that starts last keeps one worker busy while the other waits."""
    place = {file: number for number, file in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.nodeid.split("::")[0], len(place)))
