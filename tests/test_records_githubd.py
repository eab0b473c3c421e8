"""Real records as a GitHub: what is collected of them, and what `--complete` brings back of what they lacked.

PAICHECKER_RECORDS is a file of records in the paper's format, as JSON lines; githubd makes repositories of them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from githubd_server import Githubd, githubd, make_world, needs_githubd

_VARIABLE = "PAICHECKER_RECORDS"
_TOKEN = "ghp_ofTheRecords"
TAKEN_OUT = ("hints_text", "pr_comments", "patch", "test_patch")

pytestmark = [
    needs_githubd,
    pytest.mark.skipif(_VARIABLE not in os.environ, reason=f"{_VARIABLE} (a file of records) is not set"),
]


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(os.environ[_VARIABLE]).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Githubd]:
    path = tmp_path_factory.mktemp("records") / "world.json"
    make_world(path, "from-record", os.environ[_VARIABLE], "--all")
    world = json.loads(path.read_text(encoding="utf-8"))
    user = world["users"][0]
    world["tokens"] = {_TOKEN: user["login"] if isinstance(user, dict) else user}
    path.write_text(json.dumps(world), encoding="utf-8")
    with githubd(path) as started:
        yield started


@pytest.fixture
def world(served: Githubd, monkeypatch: pytest.MonkeyPatch) -> Githubd:
    for name in ("GITHUB_SERVER_URL", "GITHUB_GRAPHQL_URL", "GH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GITHUB_API_URL", served.url)
    monkeypatch.setenv("GITHUB_TOKEN", _TOKEN)
    return served


def test_what_was_taken_out_of_real_records_comes_back(
    world: Githubd, records: list[dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "records.jsonl", tmp_path / "whole.jsonl"
    with source.open("w", encoding="utf-8") as file:
        for record in records:
            held = {key: value for key, value in record.items() if key not in TAKEN_OUT}
            missing = sorted({*TAKEN_OUT, *record.get("_missing", [])})
            file.write(json.dumps({**held, "_missing": missing}) + "\n")
    arguments = ["collect", "--complete", str(source), "-o", str(target), "--format", "paper"]
    assert run(capsys, *arguments)[0] == 0
    completed = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    assert [record["instance_id"] for record in completed] == [record["instance_id"] for record in records]
    assert not [record for record in completed if "_missing" in record]
    # Two records share an issue, of which the world keeps the first discussion.
    for field, fewest in (("hints_text", 52), ("pr_comments", 53), ("test_patch", 53), ("patch", 53)):
        same = [a for a, b in zip(completed, records, strict=True) if _words(a[field]) == _words(b[field])]
        assert len(same) >= fewest, field
    log = world.control("log")
    assert (log["broken"], log["unmodelled"]) == ([], [])


def _words(value: Any) -> list[str]:
    return json.dumps(value).split()
