"""The command against `githubd`, a double of GitHub that was written without sight of the collector.

PAICHECKER_GITHUBD is the folder that holds the package `githubd`, PAICHECKER_GITHUB_SCHEMA the path of GitHub's schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from githubd_server import Githubd, githubd, make_world, needs_githubd

pytestmark = needs_githubd
FAULTS: list[dict[str, Any]] = [
    {"kind": "status", "status": 502},
    {"kind": "cut"},
    {"kind": "truncate"},
    {"kind": "garbage"},
    {"kind": "graphql_timeout"},
    {"kind": "secondary", "retry_after": 1},
]


class World:
    """The sample world behind a server."""

    def __init__(self, served: Githubd, world: dict[str, Any]) -> None:
        self.url = served.url
        self.control = served.control
        self.token = next(iter(world["tokens"]))
        self.public = [
            f"{repository['owner']}/{repository['name']}#{pull['number']}"
            for repository in world["repositories"]
            for pull in repository.get("pulls", [])
            if not repository.get("private")
        ]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    path = tmp_path_factory.mktemp("world") / "world.json"
    make_world(path, "sample")
    with githubd(path) as started:
        yield World(started, json.loads(path.read_text(encoding="utf-8")))


@pytest.fixture
def world(served: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    for name in ("GITHUB_SERVER_URL", "GITHUB_GRAPHQL_URL", "GH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GITHUB_API_URL", served.url)
    monkeypatch.setenv("GITHUB_TOKEN", served.token)
    yield served
    served.control("clear_faults", {})


def collected(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[int, dict[str, Any]]:
    """The records by the pull request's number."""
    status, out, err = run(capsys, "collect", *arguments)
    assert status == 0, err
    return {record["pull_request"]["number"]: record for record in map(json.loads, out.splitlines())}


def issues(record: dict[str, Any]) -> list[int]:
    return [issue["number"] for issue in record["issues"]]


def test_every_pull_request_of_the_sample_world_is_collected_and_checked(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "pairs.jsonl"
    assert run(capsys, "collect", *world.public, "-o", str(target))[::2] == (0, "")
    status, out, err = run(capsys, "check", str(target), "--format", "json")
    assert err == ""
    assert status in (0, 1, 3)
    assert len(out.splitlines()) == len(world.public)
    assert world.control("log")["broken"] == []


def test_the_linked_issues_are_those_that_githubd_closes_on_merge(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    records = collected(capsys, "acme/widgets#110", "acme/widgets#117", "acme/widgets#128", "acme/widgets#108")
    assert len(issues(records[110])) == 1, "linked in the sidebar only"
    assert issues(records[117]) == issues(records[128]) == [], "linked to none, and unlinked again"
    assert len(issues(records[108])) == 1, "commits merged in from another branch close other issues"


def test_an_ordinary_pull_request_takes_at_most_four_requests(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "collect", "acme/widgets#107", "--verbose")[2] in {
        f"paichecker: {count} requests to https://github.com\n" for count in range(2, 5)
    }


def test_faults_on_the_wire_change_no_pair(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    some = [address for address in world.public if not address.endswith(("#115", "#116", "#120", "#121", "#125"))]
    moment = "2026-01-01T00:00:00Z"
    calm = collected(capsys, *some, "--as-of", moment)
    for fault in FAULTS:
        world.control("fault", {**fault, "percent": 1.5})
    assert collected(capsys, *some, "--as-of", moment) == calm
    assert sum(fault["hits"] for fault in world.control("faults")["faults"]) > 0


def test_a_sample_is_the_same_for_the_same_seed_and_goes_on_where_it_stopped(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target, again = tmp_path / "sample.jsonl", tmp_path / "again.jsonl"
    arguments = ["collect", "--repo", "acme/widgets", "--state", "open", "--sample", "5", "--seed", "3"]
    assert run(capsys, *arguments, "-o", str(target))[0] == 0
    lines = target.read_text(encoding="utf-8").splitlines(keepends=True)
    again.write_text("".join(lines[:2]) + lines[2][:100], encoding="utf-8")
    assert "5 drawn, 3 to be read" in run(capsys, *arguments, "-o", str(again))[2]
    assert [json.loads(line)["id"] for line in again.read_text(encoding="utf-8").splitlines()] == [
        json.loads(line)["id"] for line in lines
    ]
