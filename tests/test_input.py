"""Records go round without loss: the paper's format and our own, both directions."""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from fakes import load_pair
from pydantic import ValidationError

from checker.datasets.paper import FIELDS, read_record, write_record
from checker.pair import ChangedFile, Comment, Commit, Issue, Pair, PullRequest, Related, read_pair, write_pair
from checker.taxonomy import Artifact

# Texts that JSON, line splitting or careless joining could harm.
ODD_TEXTS = (
    "",
    " ",
    "\n",
    "ends with a newline\n",
    "carriage\r\nreturns\r",
    "tab\tand\x00null",
    "\u2028 and \u2029 and \x85",
    "e\u0301 is not é",
    "\ufeffmark",
    "👩‍💻 🏴󠁧󠁢󠁥󠁮󠁧󠁿",
    'quotes " and \\ and \\n',
    "PR Title: not one. \n\nPR Description: ",
    "<!-- comment -->",
    "$title ${body} %s {0}",
)
BLOB = "https://github.com/ann/tool/blob/0123abc/src/a.py"


def full_record() -> dict[str, Any]:
    """Every field filled, as GitHub's interface and the paper's scripts fill them."""
    later = {"number": 12, "title": "Repair #9", "state": "closed", "html_url": "https://github.com/ann/tool/pull/12"}
    asked = {"number": 13, "title": "Broken since #9", "state": "closed", "html_url": None}
    return {
        "instance_id": "ann__tool-9",
        "issue_number": ["7", "8"],
        "problem_statement": "Title of 7\nBody of 7\nTitle of 8",
        "hints_text": "First comment\nSecond comment\n",
        "is_issue_mentioned": [{"issue_number": "8", "mentions": {"merged_prs": [later], "closed_issues": [asked]}}],
        "pr_description": "PR Title: Fix it. \n\nPR Description: Fixes #7, fixes #8",
        "pr_comments": ["A comment", {"body": "Another, as an object", "user": "bob"}],
        "commit_message": ["Fix it", "Test it\n\nLong"],
        "review_comments": [{"body": "Nice", "path": "src/a.py"}],
        "is_pr_mentioned": {"merged_prs": [later], "closed_issues": [asked]},
        "patch": "diff --git a/src/a.py b/src/a.py\n--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-a\n+b\n",
        "test_patch": "",
        "files": [
            {
                "sha": "0123abc",
                "filename": "src/a.py",
                "status": "renamed",
                "additions": 1,
                "deletions": 1,
                "changes": 2,
                "blob_url": BLOB,
                "raw_url": BLOB.replace("blob", "raw"),
                "contents_url": "https://api.github.com/repos/ann/tool/contents/src/a.py?ref=0123abc",
                "patch": "@@ -1 +1 @@\n-a\n+b",
                "previous_filename": "src/old.py",
            }
        ],
        "_missing": ["pr_comments"],
        "_partial": ["pr_description (title only)", "issue_number (second-hand)"],
        "_pr": {"base": "b" * 40, "head": "a" * 40, "merged_at": 1_700_000_000, "how": "a mirror"},
        "_sources": {"patch": "git"},
        "_dataset": "made up",
    }


ODD_CHANGES: list[dict[str, Any]] = [
    {"issue_number": []},
    {"issue_number": [], "problem_statement": "", "_missing": []},
    {"issue_number": ["PROJ-7", "007", "²", "٣", "", "9" * 50, "7", "7"]},
    {"issue_number": [], "is_issue_mentioned": []},
    {"is_issue_mentioned": [{"issue_number": "99", "mentions": {"merged_prs": [], "closed_issues": []}}]},
    {"is_issue_mentioned": [{"issue_number": "8", "mentions": {}}]},
    {"is_pr_mentioned": {}},
    {"is_pr_mentioned": {"merged_prs": [{"number": 1, "title": "t", "more": [1]}], "closed_issues": []}},
    {"pr_description": "no title at all"},
    {"pr_description": "PR Title: one. \n\nPR Description: PR Title: two. \n\nPR Description: "},
    {"pr_description": "PR Title: . \n\nPR Description: "},
    {"pr_description": "PR Title: Ends. With. Dots... \n\nPR Description: x"},
    {"pr_description": "PR Title: over\ntwo lines. \n\nPR Description: x"},
    {"pr_comments": [], "commit_message": [], "review_comments": [], "files": []},
    {"files": [{"filename": "a.bin"}, {"filename": "b", "changes": 99, "odd": {"x": None}}]},
    {"instance_id": "no-scheme-at-all"},
    {"instance_id": "a__b__c-d-12"},
    {"instance_id": "__x-1"},
    {"instance_id": "a__b-" + "1" * 5_000},
    {"_pr": {}, "_missing": [], "_partial": []},
    {"_pr": {"merged_at": None, "base": None}},
    {"_missing": list(FIELDS), "_partial": ["pr_description (title only)"]},
    {"as_read": {"patch": "a field of that name"}, "beside": 7},
]


@pytest.mark.parametrize("changes", ODD_CHANGES, ids=[str(changes)[:50] for changes in ODD_CHANGES])
def test_a_record_of_the_paper_is_written_back_to_the_letter(changes: dict[str, Any]) -> None:
    record = {**full_record(), **changes}
    assert write_record(read_record(record)) == record
    stored = json.loads(json.dumps(write_pair(read_record(record))))
    assert write_record(read_pair(stored)) == record


@pytest.mark.parametrize("text", ODD_TEXTS)
@pytest.mark.parametrize("field", ["problem_statement", "hints_text", "pr_description", "patch", "test_patch"])
def test_odd_texts_survive_in_every_field_of_the_paper(field: str, text: str) -> None:
    record = {**full_record(), field: text}
    assert write_record(read_record(record)) == record


def test_what_a_record_says_is_where_a_check_looks_for_it() -> None:
    pair = read_record(full_record())
    pr = pair.pull_request
    assert (pair.repository, pr.number, pair.issue_numbers) == ("ann/tool", 9, (7, 8))
    assert (pr.title, pr.body) == ("Fix it", "Fixes #7, fixes #8")
    assert [c.body for c in pr.comments] == ["A comment", "Another, as an object"]
    assert [(r.number, r.kind, r.merged) for r in pair.issues[1].mentioned_by] == [
        (12, "pull_request", True),
        (13, "issue", False),
    ]
    assert pair.issues[0].mentioned_by == ()
    assert pr.merged_at == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert pr.files[0].previous_path == "src/old.py"
    assert pair.unread == (Artifact.PR_COMMENTS, Artifact.MERGE_REFERENCES)
    assert pair.partial == (Artifact.PR_DESCRIPTION,)


@pytest.mark.parametrize("number", ["PROJ-7", "007", ""])
def test_what_mentions_an_issue_without_a_plain_number_is_not_lost(number: str) -> None:
    mentions = full_record()["is_issue_mentioned"][0]["mentions"]
    changes = {"issue_number": [number], "is_issue_mentioned": [{"issue_number": number, "mentions": mentions}]}
    assert [r.number for r in read_record({**full_record(), **changes}).issues[0].mentioned_by] == [12, 13]


def test_an_issue_whose_number_is_unread_keeps_its_text() -> None:
    pair = read_record({**full_record(), "issue_number": [], "_missing": ["issue_number"], "is_issue_mentioned": []})
    assert pair.issue_numbers == ()
    assert pair.request == full_record()["problem_statement"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"_pr": {"merged_at": "yesterday"}}, "_pr.merged_at"),
        ({"_pr": {"merged_at": 10**15}}, "_pr.merged_at"),
        ({"_pr": {"merged_at": -1}}, "_pr.merged_at"),
        ({"_pr": {"base": 7}}, "_pr.base"),
        ({"_pr": []}, "_pr"),
        ({"issue_number": [7]}, "issue_number.0"),
        ({"files": [{"filename": None}]}, "files.0.filename"),
        ({"is_pr_mentioned": {"merged_prs": [{"number": "7", "title": ""}]}}, "is_pr_mentioned.merged_prs.0.number"),
        ({"commit_message": "one"}, "commit_message"),
    ],
)
def test_a_mistyped_field_of_the_paper_is_named(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError) as raised:
        read_record({**full_record(), **changes})
    assert ".".join(map(str, raised.value.errors()[0]["loc"])) == field


def full_pair() -> Pair:
    """Every field of every class set to something that is not its default."""
    at = datetime(2024, 2, 29, 23, 59, 59, 999_999, tzinfo=UTC)
    east = datetime(2024, 3, 1, 5, 29, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    comment = Comment("body", "ann", "MEMBER", True, at, "https://x.test/1", "src/a.py", 3)
    related = Related(12, "t", "pull_request", "ann/tool", "closed", True, east, "https://x.test/2")
    issue = Issue(
        7,
        "body",
        "title",
        "ann/other",
        "bob",
        at,
        "https://x.test/3",
        (comment,),
        (related,),
        "MEMBER",
        "new",
        ("bug",),
    )
    file = ChangedFile("src/a.py", "renamed", 1, 2, "@@", "src/b.py", "0123abc", BLOB)
    pull = PullRequest(
        body="body",
        title="title",
        number=9,
        author="ann",
        created_at=at,
        merged_at=east,
        base_sha="b",
        head_sha="a",
        url="https://x.test/4",
        comments=(comment,),
        reviews=(comment, comment),
        commits=(Commit("m", "0123abc", "ann", at),),
        mentioned_by=(related,),
        merge_mentioned_by=(replace(related, kind="issue", merged=False),),
        code_patch="diff",
        test_patch="diff",
        files=(file,),
        labels=("parser",),
        claimed_pull_requests=(8,),
    )
    return Pair(
        id="ann__tool-9",
        pull_request=pull,
        issues=(issue, Issue(None, "")),
        repository="ann/tool",
        as_of=at,
        unread=(Artifact.PR_REVIEWS,),
        partial=(Artifact.PR_COMMITS, Artifact.ISSUE_TIMELINE),
        remarks=("When it was opened is unknown.",),
        extra={"x": [1, {"y": None}], "z": "ü"},
    )


def test_the_full_pair_leaves_no_field_at_its_default() -> None:
    pair = full_pair()
    whole = (pair, pair.pull_request, pair.issues[0], pair.pull_request.comments[0], pair.pull_request.files[0])
    for item in (*whole, pair.pull_request.commits[0], pair.pull_request.mentioned_by[0]):
        for field in fields(item):
            assert getattr(item, field.name) != field.default, f"{type(item).__name__}.{field.name}"


def test_a_pair_goes_round_through_json_with_all_its_fields_and_times() -> None:
    assert read_pair(json.loads(json.dumps(write_pair(full_pair())))) == full_pair()


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_odd_texts_survive_in_a_pair(text: str) -> None:
    pair = load_pair("aligned")
    pull = replace(pair.pull_request, body=text, title=text, code_patch=text, comments=(Comment(text, text),))
    odd = replace(pair, pull_request=pull, issues=(Issue(1, text, text),), extra={text: text})
    assert read_pair(json.loads(json.dumps(write_pair(odd)))) == odd


def test_a_time_without_a_zone_is_refused_for_it_cannot_be_compared() -> None:
    record = write_pair(full_pair())
    record["pull_request"]["merged_at"] = "2024-02-29T23:59:59"
    with pytest.raises(ValidationError, match=r"pull_request\.merged_at"):
        read_pair(record)


def test_our_own_pair_in_the_papers_format_keeps_all_that_the_format_can_hold() -> None:
    pair = full_pair()
    again = read_record(json.loads(json.dumps(write_record(pair))))
    assert (again.id, again.repository, again.issue_numbers, again.request) == (
        pair.id,
        pair.repository,
        pair.issue_numbers,
        pair.request,
    )
    assert again.unread == (*pair.unread, Artifact.MERGE_REFERENCES)
    assert set(again.partial) == set(pair.partial)
    ours, theirs = pair.pull_request, again.pull_request
    assert (theirs.title, theirs.body, theirs.files) == (ours.title, ours.body, ours.files)
    assert (theirs.base_sha, theirs.head_sha) == (ours.base_sha, ours.head_sha)
    assert theirs.merged_at == ours.merged_at
    assert [(r.number, r.title, r.merged) for r in theirs.mentioned_by] == [(12, "t", True)]
    assert [c.message for c in theirs.commits] == ["m"]


def chance_pair(seed: int) -> Pair:
    """A pair made by chance; the same for the same seed."""
    chance = random.Random(seed)

    def text() -> str:
        return "".join(chance.choice(ODD_TEXTS) for _ in range(chance.randrange(3)))

    def some(make: Any) -> tuple[Any, ...]:
        return tuple(make() for _ in range(chance.randrange(3)))

    def moment() -> datetime | None:
        return chance.choice([None, datetime.fromtimestamp(chance.randrange(2**32), UTC)])

    def comment() -> Comment:
        return Comment(text(), chance.choice([None, text()]), created_at=moment(), is_bot=chance.random() < 0.5)

    def related() -> Related:
        kind: Any = chance.choice(["pull_request", "issue"])
        return Related(chance.randrange(10**6), text(), kind, state=chance.choice([None, "open"]), merged_at=moment())

    def issue() -> Issue:
        number = chance.choice([None, chance.randrange(10**6)])
        return Issue(number, text(), chance.choice([None, text()]), comments=some(comment), mentioned_by=some(related))

    pull = PullRequest(text(), text(), comments=some(comment), mentioned_by=some(related), merged_at=moment())
    return Pair(
        f"p{seed}", pull, some(issue), as_of=moment(), unread=tuple(set(some(lambda: chance.choice([*Artifact]))))
    )


def test_two_hundred_pairs_made_by_chance_go_round_in_both_formats() -> None:
    for seed in range(200):
        pair = chance_pair(seed)
        assert read_pair(json.loads(json.dumps(write_pair(pair)))) == pair, seed
        record = write_record(pair)
        assert write_record(read_record(record)) == record, seed


def test_no_two_texts_of_a_pair_share_a_name() -> None:
    for pair in (full_pair(), *map(chance_pair, range(50))):
        own = [t for t in pair.texts.values() if not t.name.startswith("related/")]
        bodies = itertools.chain(pair.pull_request.comments, *(issue.comments for issue in pair.issues))
        kept = [t for t in own if t.artifact in (Artifact.PR_COMMENTS, Artifact.ISSUE_DISCUSSION)]
        edited = sum(1 for issue in pair.issues if issue.edited)
        assert len(kept) == edited + sum(1 for comment in bodies if comment.body.strip())


def test_a_field_that_is_left_out_as_missing_is_unread_and_written_empty() -> None:
    record = {key: value for key, value in full_record().items() if key != "pr_comments"} | {
        "_missing": ["pr_comments"]
    }
    pair = read_record(record)
    assert Artifact.PR_COMMENTS in pair.unread
    assert write_record(pair) == {**record, "pr_comments": []}
