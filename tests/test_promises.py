"""What the README promises: examples, public names, a quick help, a quiet import.

Its commands are run by tests/test_release.py, from the wheel.
"""

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
COUNTERPOINT = Path(sys.executable).with_name("counterpoint")


def python_blocks():
    return re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


def test_every_readme_example_runs(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COUNTERPOINT_DATA", str(data))
    assert python_blocks()
    for block in python_blocks():
        exec(compile(block, "README.md", "exec"), {})


def test_help_answers_in_under_a_second():
    def once():
        started = time.monotonic()
        subprocess.run([COUNTERPOINT, "--help"], check=True, capture_output=True)
        return time.monotonic() - started

    assert min(once() for _ in range(3)) < 1.0


def test_a_users_mistake_is_one_line():
    done = subprocess.run(
        [COUNTERPOINT, "pretrain", "nowhere", "--out", "x"], capture_output=True, text=True
    )
    assert done.returncode != 0
    assert done.stderr.startswith("counterpoint: data: there is no folder nowhere")
    assert "Traceback" not in done.stderr


AUDIT = """
import sys
seen = []
watched = ("socket.connect", "socket.bind", "subprocess.Popen", "os.fork", "os.system", "os.exec",
           "os.posix_spawn")
sys.addaudithook(lambda event, _: seen.append(event) if event in watched else None)
import counterpoint
bare = list(seen)
import lightning, timm, torch, torchvision  # torch with CUDA asks ldconfig where libdl is
theirs = list(seen)
for name in counterpoint.__all__:
    getattr(counterpoint, name)
counterpoint.simclr().build(image=(3, 32, 32))
print(bare, seen[len(theirs):], "socket" in " ".join(theirs))
"""


def test_importing_opens_no_socket_and_starts_no_process():
    done = subprocess.run([sys.executable, "-c", AUDIT], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] [] False"


def test_importing_alone_is_light():
    code = (
        "import counterpoint, sys; print([m for m in ('torch', 'lightning') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_documents_name_files_that_exist():
    """A path in backticks in the root documents is a path of the repository."""
    for document in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"):
        text = (ROOT / document).read_text()
        text = re.sub(r"\bWrite\s+`[\w/.]+`:", "", text)  # what the reader is about to make
        for path in re.findall(r"`((?:src|docs|tests|bench|scripts|examples)/[\w./-]+)`", text):
            assert (ROOT / path).exists(), f"{document} names {path}"


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_every_example_runs(example, data, tmp_path):
    needs_data = "DATA" in example.read_text().split('"""')[1]
    arguments = [data / "cifar10", "--smoke"] if needs_data else []
    done = subprocess.run(
        [sys.executable, example, *arguments], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
