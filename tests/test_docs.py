"""What the documentation shows is what a reader gets."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from checker.cli import _parser

HERE = Path(__file__).parent.parent
README = (HERE / "README.md").read_text(encoding="utf-8")


def test_the_report_in_the_readme_is_what_the_command_prints() -> None:
    shown = re.search(r"```console\n\$ paichecker (check \S+)\n(.*?)```", README, re.DOTALL)
    assert shown is not None
    arguments = [sys.executable, "-m", "checker", *shown[1].split()]
    printed = subprocess.run(arguments, capture_output=True, text=True, cwd=HERE, check=False)
    assert printed.stdout == shown[2]


def test_every_option_of_check_is_explained_in_its_help_and_named_in_the_documentation() -> None:
    documents = README + "".join(path.read_text(encoding="utf-8") for path in (HERE / "docs").glob("*.md"))
    commands = next(a for a in _parser()._actions if hasattr(a, "choices") and isinstance(a.choices, dict))
    for action in commands.choices["check"]._actions:
        assert action.help, action.dest
        for option in action.option_strings:
            assert option in ("-h", "--help") or option in documents, option


def test_every_dependency_is_pinned_in_the_constraints() -> None:
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = {re.split(r"[\[<>=!~ ]", requirement)[0].lower().replace("_", "-") for requirement in wanted}
    lines = (HERE / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in lines}
    assert names <= pinned


@pytest.mark.parametrize("name", ["anthropic", "pydantic", "unidiff", "tree-sitter"])
def test_what_is_installed_here_is_what_is_pinned(name: str) -> None:
    pins = dict(line.split("==") for line in (HERE / "constraints.txt").read_text(encoding="utf-8").splitlines())
    assert metadata.version(name) == pins[name]
