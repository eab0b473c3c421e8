"""The command line in this process and as one of its own, and records to feed it with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from fakes import HERE, load_pair

from checker.cli import main
from checker.pair import write_pair

EXAMPLES = HERE.parent / "examples"
ALIGNED = EXAMPLES / "aligned.json"
MISALIGNED = EXAMPLES / "scope-creep-and-literal.json"
UNDETERMINED = HERE / "cases" / "steering.json"

# Writes records one a line and gives the file's name; a record is a value, or text where JSON cannot say it.
Writer = Callable[..., str]


def writer(folder: Path) -> Writer:
    """A writer into a folder."""

    def write(*records: Any) -> str:
        path = folder / "pairs.jsonl"
        lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
        path.write_text("\n".join(lines), encoding="utf-8")
        return str(path)

    return write


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def record(**changes: Any) -> dict[str, Any]:
    """A sound record; changes to its pull request are given as `pull_request__body=...`."""
    data = write_pair(load_pair("aligned"))
    for key, value in changes.items():
        target, _, field = key.rpartition("__")
        (data[target] if target else data)[field] = value
    return data


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Status, standard output and standard error of one call in this process."""
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    status = ended.value.code
    assert isinstance(status, int)
    return status, out, err


def ids(out: str) -> list[str]:
    return [json.loads(line)["id"] for line in out.splitlines()]


def command(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """The command as a process of its own, without a key."""
    return subprocess.run(
        [sys.executable, "-m", "checker", *arguments],
        capture_output=True,
        check=False,
        timeout=60,
        cwd=HERE.parent,
        **{"env": environment(), **options},
    )


def environment(**more: str) -> Mapping[str, str]:
    return {**{k: v for k, v in os.environ.items() if not k.startswith("ANTHROPIC")}, **more}
