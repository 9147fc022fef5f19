"""A release: what its files must agree on, the page for PyPI, and the walk without the tag."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from pypi_readme import readme_for_pypi
from release_checks import changelog_section, console_commands, problems, version_of

ROOT = Path(__file__).parent.parent
FILES = ("src/counterpoint/version.py", "CHANGELOG.md", "CITATION.cff")


@pytest.fixture
def tree(tmp_path):
    """The files that a release reads, to be changed."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def change(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_the_files_of_this_version_agree(tree):
    assert [line for line in problems(tree) if not line.startswith("before the tag")] == []
    assert len(changelog_section(tree, version_of(tree))) > 1000


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("CITATION.cff", "version: 0.2.0", "version: 0.1.9", "CITATION.cff: version is 0.1.9"),
        ("CITATION.cff", "date-released", "released", "CITATION.cff: date-released is missing"),
        ("CHANGELOG.md", "## 0.2.0 - 2026-11-16\n", "", "CHANGELOG.md: no section"),
        ("src/counterpoint/version.py", '"0.2.0"', '"0.2"', "0.2 is not a version"),
        ("CHANGELOG.md", "## Unreleased\n", "## Unreleased\n\n- New.\n", "before the tag"),
    ],
)
def test_what_does_not_agree_is_said(tree, name, old, new, said):
    change(tree / name, old, new)
    assert said in "\n".join(problems(tree))


def test_the_version_stands_in_one_place():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["readme", "version"]
    assert project["tool"]["hatch"]["version"]["path"] == FILES[0]
    again = [
        str(file)
        for file in [*ROOT.glob("src/**/*.py"), *ROOT.glob("scripts/*"), ROOT / "README.md"]
        if file.is_file()
        and f'"{version_of(ROOT)}"' in file.read_text()
        and file.name not in ("version.py", "pypi_readme.py")
    ]
    assert again == []


@pytest.mark.parametrize("repository", [None, "https://host/us/counterpoint"])
def test_the_page_for_pypi_has_no_relative_picture_or_link(repository):
    text = (ROOT / "README.md").read_text()
    assert re.search(r"\]\((?!https?:|#)", text)  # there is something to change
    page = readme_for_pypi(text, version="0.2.0", repository=repository)
    assert not re.search(r"\]\((?!https?:|#)", page)
    assert page.count("![") == (0 if repository is None else text.count("!["))


def test_the_citation_is_one():
    found = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors", "version"} <= found.keys()
    assert found["version"] == version_of(ROOT)


@pytest.mark.parametrize("form", sorted(ROOT.glob(".github/ISSUE_TEMPLATE/*.yml")), ids=str)
def test_the_forms_are_forms(form):
    found = yaml.safe_load(form.read_text())
    if form.stem == "config":
        return
    assert found["name"]
    assert found["description"]
    for field in found["body"]:
        assert field["type"] in ("markdown", "textarea", "input", "checkboxes")
        assert field["type"] == "markdown" or field["attributes"]["label"]


def test_the_bug_form_asks_for_an_option_that_the_doctor_has():
    from counterpoint.cli.commands import options

    (command,) = re.findall(
        r"`counterpoint doctor FOLDER (.+?)`", (ROOT / ".github/ISSUE_TEMPLATE/bug.yml").read_text()
    )
    flags = {option.flag for option in options("doctor").values()}
    assert set(re.findall(r"--\w+", command)) == {"--seconds", "--json"}
    assert set(re.findall(r"--\w+", command)) <= flags


def test_workflow_and_hook_run_scripts_that_exist():
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    lines = "\n".join(step.get("run", "") for job in jobs.values() for step in job["steps"])
    for script in (".ci/run", "scripts/setup", "scripts/check", "scripts/test", "scripts/release"):
        assert script in lines
        assert (ROOT / script).exists()
    for path in re.findall(r"\btests/[\w./]+", lines):
        assert (ROOT / path).exists(), path
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    assert hook["entry"] == "scripts/check"


def test_the_release_is_built_installed_and_walked(data):
    """Every command of the README runs from the wheel, in an empty folder; no tag is made."""
    assert len(console_commands(ROOT / "README.md")) >= 4
    tags = subprocess.run(["git", "tag"], cwd=ROOT, capture_output=True, text=True).stdout
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/release", "--dry-run", "--python", sys.executable],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"release: {version_of(ROOT)} passes; a dry run makes no tag" in done.stdout
    count = len(console_commands(ROOT / "README.md")) + 3
    assert f"installed and walked, {count} commands" in done.stdout
    after = subprocess.run(["git", "tag"], cwd=ROOT, capture_output=True, text=True).stdout
    assert tags == after
