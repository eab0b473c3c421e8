"""The bundled examples and the retold cases of the paper are sound records."""

from __future__ import annotations

import json
import re
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pytest

from checker.pair import SCHEMA, Comment, Pair, read_pair, write_pair
from checker.patches import FilePatch, Side, parse

PROJECT = Path(__file__).parent.parent
RECORDS = sorted([*PROJECT.glob("examples/*.json"), *PROJECT.glob("tests/cases/*.json")])

HUNK_HEADER = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


@pytest.fixture(params=RECORDS, ids=[path.stem for path in RECORDS])
def record(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


@pytest.fixture
def pair(record: Path) -> Pair:
    return read_pair(json.loads(record.read_text(encoding="utf-8")))


def test_there_are_four_examples_and_six_cases() -> None:
    folders = [path.parent.name for path in RECORDS]
    assert (folders.count("examples"), folders.count("cases")) == (4, 6)


def test_no_two_records_have_the_same_id() -> None:
    ids = [json.loads(path.read_text(encoding="utf-8"))["id"] for path in RECORDS]
    assert len(set(ids)) == len(ids)


def test_a_record_holds_what_write_pair_writes(record: Path, pair: Pair) -> None:
    stored = json.loads(record.read_text(encoding="utf-8"))
    assert stored["schema"] == SCHEMA
    assert write_pair(pair) == stored
    assert read_pair(write_pair(pair)) == pair


def test_a_record_is_indented_by_two_and_ends_with_a_newline(record: Path) -> None:
    text = record.read_text(encoding="utf-8")
    assert text.startswith('{\n  "schema": ')
    assert text.endswith("\n}\n")


def test_everything_was_read(pair: Pair) -> None:
    assert pair.unread == ()
    assert pair.partial == ()


def test_everything_said_has_author_role_time_and_address(pair: Pair) -> None:
    for comment in _comments(pair):
        assert comment.author
        assert comment.association in {"OWNER", "MEMBER", "CONTRIBUTOR", "NONE"}
        assert comment.created_at
        assert (comment.url or "").startswith(f"https://github.com/{pair.repository}/")


def test_base_and_head_are_full_commit_names(pair: Pair) -> None:
    shas = [pair.pull_request.base_sha, pair.pull_request.head_sha, *(c.sha for c in pair.pull_request.commits)]
    assert all(re.fullmatch(r"[0-9a-f]{40}", sha or "") for sha in shas)
    assert pair.pull_request.commits[-1].sha == pair.pull_request.head_sha


def test_the_issue_is_mentioned_by_its_pull_request(pair: Pair) -> None:
    pr = pair.pull_request
    for issue in pair.issues:
        (itself,) = (related for related in issue.mentioned_by if related.number == pr.number)
        assert (itself.kind, itself.merged, itself.merged_at) == ("pull_request", True, pr.merged_at)


def test_patches_parse_and_lie_on_their_own_side(pair: Pair) -> None:
    for diff, side in ((pair.pull_request.code_patch, Side.CODE), (pair.pull_request.test_patch, Side.TEST)):
        patch = parse(diff)
        assert patch.unparsed == ()
        assert patch.files
        assert {file.side for file in patch.files} == {side}


def test_hunks_have_as_many_lines_as_their_headers_say(pair: Pair) -> None:
    pr = pair.pull_request
    for diff in (pr.code_patch, pr.test_patch, *(file.patch or "" for file in pr.files)):
        hunks = _hunks(diff)
        assert hunks
        for header, lines in hunks:
            assert _counts(lines) == _announced(header), header


def test_files_agree_with_the_patches(pair: Pair) -> None:
    patched = {file.path: file for file in _patched(pair)}
    assert [file.path for file in pair.pull_request.files] == sorted(patched)
    for file in pair.pull_request.files:
        assert file.patch
        assert f"\n{file.patch}\n" in pair.pull_request.code_patch + pair.pull_request.test_patch
        assert file.additions == sum(1 for _ in patched[file.path].added())
        assert file.deletions == sum(1 for _ in patched[file.path].removed())
        assert (file.status == "added") is patched[file.path].is_new


def test_what_happened_happened_in_order(pair: Pair) -> None:
    commits = [commit.committed_at for commit in pair.pull_request.commits]
    for issue in pair.issues:
        said = [comment.created_at for comment in issue.comments]
        assert _rises([issue.created_at, *said, *commits, pair.pull_request.merged_at])


def test_a_pull_request_is_opened_before_it_is_discussed_and_merged(pair: Pair) -> None:
    pr = pair.pull_request
    assert _rises([pr.commits[0].committed_at, pr.created_at, pr.merged_at])
    assert _rises([pr.created_at, *(comment.created_at for comment in pr.comments)])
    assert _rises([pr.created_at, *(review.created_at for review in pr.reviews), pr.merged_at])


def test_a_record_was_read_after_everything_in_it(pair: Pair) -> None:
    related = [r for issue in pair.issues for r in issue.mentioned_by] + list(pair.pull_request.mentioned_by)
    moments = [r.merged_at for r in related if r.merged] + [comment.created_at for comment in _comments(pair)]
    assert all(_rises([moment, pair.as_of]) for moment in moments)


def _comments(pair: Pair) -> list[Comment]:
    talk = [comment for issue in pair.issues for comment in issue.comments]
    return [*talk, *pair.pull_request.comments, *pair.pull_request.reviews]


def _patched(pair: Pair) -> tuple[FilePatch, ...]:
    return parse(pair.pull_request.code_patch).files + parse(pair.pull_request.test_patch).files


def _rises(moments: list[datetime | None]) -> bool:
    """Whether every moment is known and later than the one before."""
    known = [moment for moment in moments if moment is not None]
    return len(known) == len(moments) and all(a < b for a, b in pairwise(known))


def _hunks(diff: str) -> list[tuple[str, list[str]]]:
    """The header of each hunk with its lines, read without the parser that is under test."""
    hunks: list[tuple[str, list[str]]] = []
    inside = False
    for line in diff.removesuffix("\n").split("\n"):
        if line.startswith("@@ "):
            hunks.append((line, []))
            inside = True
        elif line.startswith("diff --git "):
            inside = False
        elif inside:
            hunks[-1][1].append(line)
    return hunks


def _counts(lines: list[str]) -> tuple[int, int]:
    """The lines of a hunk in the old and in the new file."""
    assert all(line.startswith((" ", "+", "-")) for line in lines)
    old = sum(1 for line in lines if not line.startswith("+"))
    return old, sum(1 for line in lines if not line.startswith("-"))


def _announced(header: str) -> tuple[int, int]:
    """The counts in a hunk's header; one that is left out is 1."""
    match = HUNK_HEADER.match(header)
    assert match, header
    return int(match[1] or 1), int(match[2] or 1)
