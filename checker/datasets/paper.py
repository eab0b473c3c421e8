"""The thirteen-field input format of the PAIChecker paper, in both directions.

Keys that begin with an underscore say how a record came about: `_missing` lists fields that are unknown
(unread, not empty), `_partial` those that are incomplete, optionally with a remark in parentheses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from checker import patches
from checker.datasets.columns import BESIDE, NO_NUMBER, instance
from checker.pair import ChangedFile, Comment, Commit, Issue, Pair, PullRequest, Related
from checker.patches import Side, side_of
from checker.taxonomy import Artifact

FIELDS: dict[str, tuple[Artifact, ...]] = {
    "issue_number": (),
    "problem_statement": (Artifact.ISSUE_DESCRIPTION,),
    "hints_text": (Artifact.ISSUE_DISCUSSION,),
    "is_issue_mentioned": (Artifact.ISSUE_TIMELINE,),
    "pr_description": (Artifact.PR_DESCRIPTION,),
    "pr_comments": (Artifact.PR_COMMENTS,),
    "commit_message": (Artifact.PR_COMMITS,),
    "review_comments": (Artifact.PR_REVIEWS,),
    "is_pr_mentioned": (Artifact.PR_TIMELINE,),
    "patch": (Artifact.CODE_PATCH,),
    "test_patch": (Artifact.TEST_PATCH,),
    "files": (),
}

_AS_READ = "as_read"
_GAPS = ("_missing", "_partial")
_LATEST = int(datetime(9999, 1, 1, tzinfo=UTC).timestamp())
_DESCRIPTION = re.compile(r"PR Title: (?P<title>[^\n]*)\. \n\nPR Description: (?P<body>.*)", re.DOTALL)
_BLOB_ADDRESS = re.compile(r"https://([^/]+)/([^/]+/[^/]+)/blob/([^/]+)/(.+)")


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True)


class _Mention(_Strict):
    number: int
    title: str
    state: str | None = None
    html_url: str | None = None


class _Mentions(_Strict):
    merged_prs: list[_Mention] = []
    closed_issues: list[_Mention] = []


class _IssueMentions(_Strict):
    issue_number: str
    mentions: _Mentions


class _File(_Strict):
    filename: str
    sha: str | None = None
    status: str = "modified"
    additions: int = 0
    deletions: int = 0
    changes: int = 0
    blob_url: str | None = None
    raw_url: str | None = None
    contents_url: str | None = None
    patch: str | None = None
    previous_filename: str | None = None


class _CommentBody(_Strict):
    body: str


class _Origin(_Strict):
    """Where a record's pull request was found; `merged_at` is in seconds since 1970."""

    base: str | None = None
    head: str | None = None
    merged_at: Annotated[int, Field(ge=0, le=_LATEST)] | None = None


_EMPTY: dict[str, Any] = {
    "issue_number": [],
    "problem_statement": "",
    "hints_text": "",
    "is_issue_mentioned": [],
    "pr_description": "",
    "pr_comments": [],
    "commit_message": [],
    "review_comments": [],
    "is_pr_mentioned": {},
    "patch": "",
    "test_patch": "",
    "files": [],
}


def _with_missing(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """A field that `_missing` names need not be there at all."""
    missing = record.get("_missing")
    named = missing if isinstance(missing, list) else []
    return {**{field: _EMPTY[field] for field in named if isinstance(field, str) and field in _EMPTY}, **record}


def _known_field(text: str) -> str:
    """A field's name, a remark in parentheses behind it allowed. A misspelt one would make *unread* look *empty*."""
    if text.split(" ", 1)[0] not in FIELDS:
        raise ValueError(f"{text!r} is none of the fields {', '.join(FIELDS)}")
    return text


_FieldName = Annotated[str, AfterValidator(_known_field)]


class Record(_Strict):
    """One record as it stands in a file; the names are the paper's."""

    model_config = ConfigDict(extra="allow", strict=True)

    instance_id: str
    issue_number: list[str]
    problem_statement: str
    hints_text: str
    is_issue_mentioned: list[_IssueMentions]
    pr_description: str
    pr_comments: list[str | _CommentBody]
    commit_message: list[str]
    review_comments: list[str | _CommentBody]
    is_pr_mentioned: _Mentions
    patch: str
    test_patch: str
    files: list[_File]
    missing: list[_FieldName] = Field([], alias="_missing")
    partial: list[_FieldName] = Field([], alias="_partial")
    origin: _Origin = Field(_Origin(), alias="_pr")


def read_record(record: Mapping[str, Any]) -> Pair:
    """One record as a Pair. Raises `pydantic.ValidationError`, whose errors name the fields.

    `Pair.extra` keeps the fields beside the thirteen, and of these what the pair alone would write otherwise.
    """
    row = Record.model_validate_json(json.dumps(_with_missing(record)), strict=True)
    repository, number = instance(row.instance_id)
    pair = Pair(
        id=row.instance_id,
        repository=repository,
        pull_request=_pull_request(row, number),
        issues=_issues(row),
        unread=(*_artifacts(row.missing), Artifact.MERGE_REFERENCES),
        partial=_artifacts(row.partial),
        remarks=() if number else (NO_NUMBER,),
        extra={BESIDE: {key: value for key, value in record.items() if key not in FIELDS and key != "instance_id"}},
    )
    written = _render(pair)
    as_read = {field: record[field] for field in FIELDS if field in record and written[field] != record[field]}
    return replace(pair, extra={**pair.extra, _AS_READ: as_read}) if as_read else pair


def write_record(pair: Pair) -> dict[str, Any]:
    """A Pair in the thirteen fields. A pair that `read_record` gave is written back to the letter, but
    that a field which was left out as missing is written empty.

    Authors, most times and reviews' places are lost where the pair has them: the format has no field for them.
    So are, of several issues, which description is whose, and what is not merged or not closed.
    """
    known = {**_origin(pair), **pair.extra.get(BESIDE, {})}
    return {"instance_id": pair.id, **_render(pair), **pair.extra.get(_AS_READ, {}), **known}


def filled(pair: Pair, artifacts: Collection[Artifact]) -> Pair:
    """The pair without what `extra` held of these artifacts as they were read: they have been filled since."""
    beside = {key: value for key, value in pair.extra.get(BESIDE, {}).items() if key not in _GAPS}
    as_read = {
        field: value for field, value in pair.extra.get(_AS_READ, {}).items() if not set(FIELDS[field]) & set(artifacts)
    }
    held = {BESIDE: beside, _AS_READ: as_read}
    others = {key: value for key, value in pair.extra.items() if key not in held}
    return replace(pair, extra={**others, **{key: value for key, value in held.items() if value}})


def _origin(pair: Pair) -> dict[str, Any]:
    """What the format says about a record under keys of its own, as far as the pair knows it."""
    pr = pair.pull_request
    found = {"base": pr.base_sha, "head": pr.head_sha, "merged_at": pr.merged_at and int(pr.merged_at.timestamp())}
    origin = {key: value for key, value in found.items() if value is not None}
    missing, partial = _names(pair.unread), _names(pair.partial)
    return {key: value for key, value in (("_pr", origin), ("_missing", missing), ("_partial", partial)) if value}


def _names(artifacts: Collection[Artifact]) -> list[str]:
    return [field for field, held in FIELDS.items() if set(held) & set(artifacts)]


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else None


def _artifacts(fields: Iterable[str]) -> tuple[Artifact, ...]:
    names = {field.split(" ", 1)[0] for field in fields}
    return tuple(a for field, artifacts in FIELDS.items() if field in names for a in artifacts)


def _pull_request(row: Record, number: int | None) -> PullRequest:
    described = _DESCRIPTION.fullmatch(row.pr_description)
    merged_at = row.origin.merged_at
    return PullRequest(
        number=number,
        title=described["title"] if described else None,
        body=described["body"] if described else row.pr_description,
        base_sha=row.origin.base,
        head_sha=row.origin.head,
        merged_at=datetime.fromtimestamp(merged_at, UTC) if merged_at else None,
        comments=_comments(row.pr_comments),
        reviews=_comments(row.review_comments),
        commits=tuple(Commit(message) for message in row.commit_message),
        mentioned_by=_related(row.is_pr_mentioned),
        code_patch=row.patch + _left_out(row, Side.CODE),
        test_patch=row.test_patch + _left_out(row, Side.TEST),
        files=tuple(_changed_file(file) for file in row.files),
    )


def _left_out(row: Record, side: Side) -> str:
    """The diffs of files that `files` holds and neither patch does: many records' patches leave out some languages."""
    held = patches.paths(row.patch) | patches.paths(row.test_patch)
    missing = [
        file for file in row.files if file.patch and file.filename not in held and side_of(file.filename) is side
    ]
    if not missing:
        return ""
    begun = row.patch if side is Side.CODE else row.test_patch
    return ("" if not begun or begun.endswith("\n") else "\n") + "".join(
        patches.as_diff(f.filename, f.previous_filename, f.status, f.patch) for f in missing
    )


def _issues(row: Record) -> tuple[Issue, ...]:
    """The format has one statement and one discussion for all issues: they go to the first."""
    numbers = row.issue_number
    if not numbers and (row.problem_statement or row.missing):
        numbers = list(dict.fromkeys(entry.issue_number for entry in row.is_issue_mentioned)) or [""]
    mentions = {entry.issue_number: entry.mentions for entry in row.is_issue_mentioned}
    issues = []
    for position, number in enumerate(numbers):
        issues.append(
            Issue(
                number=_number(number),
                body=row.problem_statement if position == 0 else "",
                comments=_comments([row.hints_text] if row.hints_text and position == 0 else []),
                mentioned_by=_related(mentions.get(number, _Mentions())),
            )
        )
    return tuple(issues)


def _comments(bodies: Iterable[str | _CommentBody]) -> tuple[Comment, ...]:
    return tuple(Comment(body if isinstance(body, str) else body.body) for body in bodies)


def _related(mentions: _Mentions) -> tuple[Related, ...]:
    pulls = (
        Related(m.number, m.title, "pull_request", None, m.state, True, None, m.html_url) for m in mentions.merged_prs
    )
    issues = (Related(m.number, m.title, "issue", None, m.state, url=m.html_url) for m in mentions.closed_issues)
    return (*pulls, *issues)


def _changed_file(file: _File) -> ChangedFile:
    return ChangedFile(
        path=file.filename,
        status=file.status,
        additions=file.additions,
        deletions=file.deletions,
        patch=file.patch,
        previous_path=file.previous_filename,
        blob_sha=file.sha,
        blob_url=file.blob_url,
    )


def _render(pair: Pair) -> dict[str, Any]:
    pr = pair.pull_request
    title = "" if pr.title is None else f"PR Title: {pr.title}. \n\nPR Description: "
    return {
        "issue_number": [str(number) for number in pair.issue_numbers],
        "problem_statement": pair.request,
        "hints_text": "\n".join(comment.body for issue in pair.issues for comment in issue.comments),
        "is_issue_mentioned": [
            {
                "issue_number": "" if issue.number is None else str(issue.number),
                "mentions": _mentions(issue.mentioned_by),
            }
            for issue in pair.issues
            if issue.mentioned_by
        ],
        "pr_description": title + pr.body,
        "pr_comments": [comment.body for comment in pr.comments],
        "commit_message": [commit.message for commit in pr.commits],
        "review_comments": [comment.body for comment in pr.reviews],
        "is_pr_mentioned": _mentions(pr.mentioned_by),
        "patch": pr.code_patch,
        "test_patch": pr.test_patch,
        "files": [_render_file(file) for file in pr.files],
    }


def _mentions(related: Iterable[Related]) -> dict[str, list[dict[str, Any]]]:
    def entry(r: Related) -> dict[str, Any]:
        # As REST says it: a merged pull request is closed.
        state = "closed" if r.merged else r.state
        return {"number": r.number, "title": r.title, "state": state, "html_url": r.url}

    related = tuple(related)
    return {
        "merged_prs": [entry(r) for r in related if r.kind == "pull_request" and r.merged],
        "closed_issues": [entry(r) for r in related if r.kind == "issue" and r.state == "closed"],
    }


def _render_file(file: ChangedFile) -> dict[str, Any]:
    rendered = {
        "sha": file.blob_sha,
        "filename": file.path,
        "status": file.status,
        "additions": file.additions,
        "deletions": file.deletions,
        "changes": file.additions + file.deletions,
        "blob_url": file.blob_url,
        **_addresses(file),
        "patch": file.patch,
        "previous_filename": file.previous_path,
    }
    return {key: value for key, value in rendered.items() if value is not None}


def _addresses(file: ChangedFile) -> dict[str, str]:
    """GitHub's three addresses of a file follow from the first one."""
    match = _BLOB_ADDRESS.fullmatch(file.blob_url or "")
    if match is None:
        return {}
    host, repository, ref, path = match.groups()
    return {
        "raw_url": f"https://{host}/{repository}/raw/{ref}/{path}",
        "contents_url": f"https://api.{host}/repos/{repository}/contents/{path}?ref={ref}",
    }
