"""Run the blocks of a page in order: Python in one set of names, commands with little work."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from counterpoint.cli import main

LITTLE = {
    "pretrain": ["--steps", "1", "--batch-size", "8", "--workers", "0"],
    "doctor": ["--seconds", "0"],
    "evaluate": ["--limit", "60"],
    "report": ["--limit", "60"],
    "embed": ["--copies", "4"],
    "check": ["--batch-size", "8"],
}
"""What is added to a command: of an option given twice the last is taken."""
PLAN_ONLY = ("--plan", "--print-config", "--print", "--help")
SHELL = re.compile(r"[|<>;&]")


def commands(text):
    """List the commands of a console block; lines without a prompt are output."""
    joined = re.sub(r"\\\n\s*", " ", text)
    return [line[2:] for line in joined.splitlines() if line.startswith("$ ")]


def smaller(words):
    """Return the words of a command, changed so that it takes seconds."""
    if words[0] == "launch":
        return [*words[:2], "--print", *words[2:]]
    if any(word in words for word in PLAN_ONLY):
        return words
    if words[0] == "export" and "--only" not in words:
        return [*words, "--only", "counterpoint"]
    return [*words, *LITTLE.get(words[0], [])]


def run_command(command):
    """Run one command in this process, or by a shell where it needs one."""
    plain = re.sub(r"\s+#.*$", "", command)
    words = [os.path.expandvars(word) for word in shlex.split(plain)]
    if words[0] == "counterpoint" and not SHELL.search(plain):
        print(f"$ counterpoint {shlex.join(smaller(words[1:]))}")
        try:
            main(smaller(words[1:]))
        except SystemExit as end:
            if end.code:
                raise
        return
    assert words[0] not in ("pip", "git"), f"{command}: mark the block as shown only"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        plain, shell=True, capture_output=True, text=True, env=os.environ | {"PATH": path}
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def walk(page_blocks):
    """Run the blocks of one page."""
    names = {"__name__": "page"}
    for block in page_blocks:
        if block.language == "python":
            code = "\n" * block.line + block.text
            exec(compile(code, block.page, "exec"), names)
        else:
            found = commands(block.text)
            assert found, f"{block}: no line begins with '$ '"
            for command in found:
                run_command(command)
