"""`paichecker collect --complete`: what a record lacks is read, what it holds stays."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from conftest import Serve
from github_answers import LINKED_ID, REPOSITORY, answer
from github_server import Answer, GitHubServer, Received, refusal

from checker.datasets.paper import FIELDS, read_record
from checker.github.complete import fill
from checker.pair import Comment, Issue, Pair, PullRequest, Related
from checker.taxonomy import Artifact

Json = dict[str, Any]
Collected = Callable[..., Json]


@pytest.fixture
def github(serve: Serve) -> GitHubServer:
    return serve(answer)


@pytest.fixture
def whole(github: GitHubServer, capsys: pytest.CaptureFixture[str]) -> Json:
    """The record in the paper's format, as a whole."""
    record: Json = json.loads(run(capsys, "collect", f"{REPOSITORY}#3", "--as-of", "merge", "--format", "paper")[1])
    return record


def completed(
    capsys: pytest.CaptureFixture[str], folder: Path, *records: Json, form: str = "paper"
) -> tuple[int, list[Json], str]:
    source, target = folder / "records.jsonl", folder / "whole.jsonl"
    source.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    status, _, err = run(capsys, "collect", "--complete", str(source), "-o", str(target), "--format", form)
    return status, [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()], err


@pytest.mark.parametrize("field", [field for field in FIELDS if field not in ("issue_number", "files")])
def test_each_missing_field_is_read_as_it_would_have_been_collected(
    field: str, whole: Json, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = {**{key: value for key, value in whole.items() if key != field}, "_missing": [field]}
    assert completed(capsys, tmp_path, record)[:2] == (0, [whole])


def test_what_a_record_holds_stays_as_it_is(whole: Json, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = {**whole, "pr_comments": ["Another word"], "pr_description": "Mine", "_missing": ["hints_text"], "x": 7}
    whole_record = {key: value for key, value in record.items() if key != "_missing"}
    assert completed(capsys, tmp_path, record)[1] == [{**whole_record, "hints_text": whole["hints_text"]}]


def test_people_and_times_come_to_comments_that_say_the_same(
    whole: Json, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, (pair,), _ = completed(capsys, tmp_path, whole, form="pair")
    comment = pair["pull_request"]["comments"][0]
    assert (comment["association"], comment["created_at"]) == ("MEMBER", "2024-03-04T12:00:00Z")
    assert pair["as_of"] == "2024-03-05T12:00:00Z"
    assert "merge_references" not in pair.get("unread", ())


def test_a_second_run_goes_on_and_tries_again_what_could_not_be_read(
    whole: Json, serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = {**whole, "instance_id": LINKED_ID.replace("-3", "-4")}
    closed = [True]

    def four_is_closed(received: Received) -> Answer:
        is_four = received.query and received.variables.get("number") == 4
        return refusal(403, "Resource protected") if is_four and closed[0] else answer(received)

    server = serve(four_is_closed)
    status, held, err = completed(capsys, tmp_path, whole, other)
    assert (status, [record["instance_id"] for record in held]) == (2, [LINKED_ID])
    assert f"{REPOSITORY}#4: The token may not read this" in err
    asked, closed[0] = len(server.received), False
    status, held, err = completed(capsys, tmp_path, whole, other)
    assert (status, [record["instance_id"] for record in held]) == (0, [LINKED_ID, other["instance_id"]])
    assert "2 pairs, 1 to be completed" in err
    assert all(r.variables.get("number") != 3 for r in server.received[asked:] if r.query)


def test_without_a_token_it_is_told_once_before_the_first_record(
    whole: Json, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")
    other = {**whole, "instance_id": LINKED_ID.replace("-3", "-4")}
    status, held, err = completed(capsys, tmp_path, whole, other)
    assert (status, held) == (2, [])
    assert err.count("only to a token's holder: set GITHUB_TOKEN, or --token-file FILE") == 1


def test_a_record_that_names_no_pull_request_is_told(
    whole: Json, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, held, err = completed(capsys, tmp_path, {**whole, "instance_id": "mine"})
    assert (status, held) == (2, [])
    assert "mine: it does not say which repository's pull request it is" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--complete", "a.jsonl"], "--complete wants a file to write to: -o FILE"),
        (["--complete", "gone.jsonl", "-o", "b.jsonl"], "gone.jsonl: there is no such file"),
        (["--complete", "a.jsonl", "-o", "a.jsonl"], "it is the file that is completed; name another one"),
        (["--complete", "a.jsonl", "o/r#1", "-o", "b.jsonl"], "one of the three"),
    ],
)
@pytest.mark.usefixtures("github")
def test_a_wrong_call_is_a_sentence(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text("", encoding="utf-8")
    status, _, err = run(capsys, "collect", *arguments)
    assert status == 2
    assert said in err


# What is taken of an issue


def pair(*issues: Issue, **more: Any) -> Pair:
    return Pair("acme__widgets-9", PullRequest("Fixes #7", number=9), issues, "acme/widgets", **more)


LIVE = pair(
    Issue(7, "Body", "Title", "acme/widgets", "rita", comments=(Comment("One", "sue"), Comment("Two", "rita"))),
    Issue(8, "Another", "More", "acme/widgets"),
)


def test_issues_are_matched_by_number_and_the_others_stay() -> None:
    record = pair(Issue(7, ""), unread=(Artifact.ISSUE_DESCRIPTION, Artifact.ISSUE_DISCUSSION))
    filled = fill(record, LIVE)
    assert filled.issues == (LIVE.issues[0],)
    assert filled.unread == ()


def test_an_issue_that_github_does_not_link_stays_unread() -> None:
    record = pair(Issue(99, ""), Issue(7, ""), unread=(Artifact.ISSUE_DESCRIPTION,))
    filled = fill(record, LIVE)
    assert [issue.body for issue in filled.issues] == ["", ""]
    assert filled.unread == (Artifact.ISSUE_DESCRIPTION,)


def test_what_github_gives_in_part_is_better_than_nothing_and_no_better_than_a_part() -> None:
    live = replace(LIVE, partial=(Artifact.ISSUE_DISCUSSION,))
    held = Issue(7, "Body", comments=(Comment("Zero"),))
    unread = fill(pair(replace(held, comments=()), unread=(Artifact.ISSUE_DISCUSSION,)), live)
    partial = fill(pair(held, partial=(Artifact.ISSUE_DISCUSSION,)), live)
    assert (unread.issues[0].comments, unread.unread) == (LIVE.issues[0].comments, ())
    assert partial.issues[0].comments == (Comment("Zero"),)
    assert unread.partial == partial.partial == (Artifact.ISSUE_DISCUSSION,)


def test_a_discussion_joined_into_one_text_gets_its_comments_back() -> None:
    same = fill(pair(Issue(7, "Body", comments=(Comment("One\nTwo\n"),))), LIVE)
    other = fill(pair(Issue(7, "Body", comments=(Comment("One\nTwo, too\n"),))), LIVE)
    assert same.issues[0].comments == LIVE.issues[0].comments
    assert other.issues[0].comments == (Comment("One\nTwo, too\n"),)


def test_mentions_that_a_record_names_get_their_times_and_no_others_are_added() -> None:
    merged = Related(12, "Repair #9", "pull_request", merged=True, merged_at=datetime(2025, 1, 2, tzinfo=UTC))
    later = replace(merged, number=13)
    live = replace(LIVE, pull_request=replace(LIVE.pull_request, mentioned_by=(later, merged)))
    held = pair(Issue(7, "Body"))
    held = replace(held, pull_request=replace(held.pull_request, mentioned_by=(replace(merged, merged_at=None),)))
    assert fill(held, live).pull_request.mentioned_by == (merged,)


def test_a_record_without_any_issue_gets_those_that_github_links() -> None:
    assert fill(pair(unread=(Artifact.ISSUE_DESCRIPTION,)), LIVE).issues == LIVE.issues


def test_a_real_records_gaps_are_forgotten_once_they_are_filled() -> None:
    record = read_record({"instance_id": "acme__widgets-9", "_missing": list(FIELDS), "_pr": {"base": "abc"}})
    filled = fill(record, LIVE)
    assert filled.unread == ()
    assert filled.pull_request.base_sha == "abc"
    assert filled.extra == {"beside": {"_pr": {"base": "abc"}}}
