"""A sample of a repository's pull requests: what is drawn, what is said, where a second run goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import run
from conftest import Serve
from github_answers import REPOSITORY, answer
from github_server import graphql

from checker.github.sample import draw


def test_the_same_seed_draws_the_same_and_another_another() -> None:
    numbers = list(range(100, 200))
    assert draw(numbers, 10, 7) == draw(numbers, 10, 7) == sorted(draw(numbers, 10, 7))
    assert draw(numbers, 10, 7) != draw(numbers, 10, 8)
    assert draw(numbers, None, 7) == draw(numbers, 500, 7) == numbers


def test_what_a_file_holds_is_not_read_again(serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "sample.jsonl"
    server = serve(answer)
    first = run(capsys, "collect", "--repo", REPOSITORY, "-o", str(target))
    asked = len(server.received)
    second = run(capsys, "collect", "--repo", REPOSITORY, "-o", str(target))
    assert len(server.received) == asked + 1
    assert (first[0], "2 found, 2 drawn, 2 to be read" in first[2]) == (0, True)
    assert (second[0], "2 found, 2 drawn, 0 to be read" in second[2]) == (0, True)
    ids = [json.loads(line)["id"] for line in target.read_text(encoding="utf-8").splitlines()]
    assert ids == [f"{REPOSITORY.replace('/', '__')}-{number}" for number in (3, 4)]


def test_the_case_in_which_a_repository_is_typed_does_not_count(
    serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "sample.jsonl"
    serve(answer)
    run(capsys, "collect", "--repo", REPOSITORY, "-o", str(target))
    held = target.read_bytes()
    status, _, err = run(capsys, "collect", "--repo", REPOSITORY.upper(), "-o", str(target))
    assert (status, "2 found, 2 drawn, 0 to be read" in err) == (0, True)
    assert target.read_bytes() == held


def test_more_than_search_lists_is_refused_with_what_to_do(
    serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = {"issueCount": 2_400, "nodes": [], "pageInfo": {"hasNextPage": False, "endCursor": None}}
    serve(lambda _: graphql({"search": page}))
    status, _, err = run(capsys, "collect", "--repo", REPOSITORY, "-o", str(tmp_path / "x.jsonl"))
    assert status == 2
    assert "2,400 such pull requests; GitHub lists 1,000 at most: name a later --since" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--repo", "acme"], "write it as owner/name"),
        (["--repo", "a/b"], "wants a file to write to"),
        (["--repo", "a/b", "o/r#1"], "name ADDRESSes, or --repo"),
        ([], "name ADDRESSes, or --repo"),
        (["--repo", "a/b", "--since", "yesterday"], "is no day"),
        (["--repo", "a/b", "--sample", "0"], "is no whole number"),
    ],
)
def test_a_wrong_call_is_a_sentence(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    status, _, err = run(capsys, "collect", *arguments)
    assert (status, message in err) == (2, True)


def test_a_file_of_something_else_is_left_alone(
    serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "notes.txt"
    target.write_text("my notes\n", encoding="utf-8")
    serve(answer)
    status, _, err = run(capsys, "collect", "--repo", REPOSITORY, "-o", str(target))
    assert (status, "something else than pairs" in err) == (2, True)
    assert target.read_text(encoding="utf-8") == "my notes\n"
