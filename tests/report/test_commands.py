"""Reports of real runs on CIFAR-10, made by the documented commands and opened in a browser."""

import subprocess
import sys
from pathlib import Path

import pytest

from counterpoint.cli import main
from report.browser import Browser, chromium

COUNTERPOINT = Path(sys.executable).parent / "counterpoint"
METHODS = ("simclr-small", "yadim-small")


def run(*words):
    """Run a command in this process: six more interpreters would only import all again."""
    main([str(word) for word in words])


def run_alone(*words):
    """Run a command as it is typed."""
    done = subprocess.run([COUNTERPOINT, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, f"{words}\n{done.stderr}"


@pytest.fixture(scope="module")
def pages(data, tmp_path_factory):
    """Pretrain, evaluate and report two methods, and both side by side."""
    place, images = tmp_path_factory.mktemp("commands"), data / "cifar10"
    folders = [place / name for name in METHODS]
    for name, folder in zip(METHODS, folders, strict=True):
        few = ("--limit", 400, "--epochs", 2, "--batch-size", 64)
        run("pretrain", images, "--method", name, *few, "--out", folder)
        quick = ("--limit", 400, "--protocol", "knn,linear", "--robustness", 10)
        run("evaluate", folder, "--data", images, *quick)
        run("report", folder, "--data", images, "--limit", 300, "--out", place / f"{name}.html")
    both = ("--limit", 300, "--out", place / "both.html")
    run_alone("report", *folders, "--data", images, *both)
    return [place / f"{name}.html" for name in (*METHODS, "both")]


@pytest.mark.filterwarnings("ignore::UserWarning")  # Lightning's advice on loaders
@pytest.mark.skipif(chromium() is None, reason="there is no chromium")
def test_real_reports_open_without_complaint(pages):
    with Browser() as browser:
        for page in pages:
            assert page.stat().st_size < 5 * 2**20
            browser.open(page)
            broken = "[...document.images].filter((i) => !i.complete || !i.naturalWidth).length"
            assert browser.run("document.images.length") > 50
            assert browser.run(broken) == 0
            assert browser.complaints() == []
            words = browser.run("document.body.innerText")
            for said in ("weighted kNN", "linear probe", "Robustness", "Nearest", "cifar10"):
                assert said.lower() in words.lower(), said
