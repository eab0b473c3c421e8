"""The columns of SWE-bench and of the data sets made after it: SWE-Gym, SWE-rebench, SWE-PolyBench, ...

They hold the issue's text and the two patches. What they do not hold is unread: the pull request's own text, its
commits, reviews and comments, and what refers to issue and pull request. `docs/auditing.md` has the table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from checker.datasets.columns import NO_NUMBER, beside, instance
from checker.pair import Comment, Issue, Pair, PullRequest, RepositoryName
from checker.taxonomy import Artifact

COLUMNS = ("instance_id", "repo", "problem_statement", "patch")
_READ = frozenset({*COLUMNS, "test_patch", "hints_text", "base_commit", "pull_number", "issue_numbers"})
_ABSENT = frozenset(Artifact) - {
    Artifact.ISSUE_DESCRIPTION,
    Artifact.ISSUE_DISCUSSION,
    Artifact.CODE_PATCH,
    Artifact.TEST_PATCH,
}


class _Row(BaseModel):
    """What is read of a row; a column that is null or left out is unknown. The lists are those of SWE-bench-Live."""

    model_config = ConfigDict(strict=True)

    instance_id: str
    repo: RepositoryName
    problem_statement: str | None
    patch: str | None
    test_patch: str | None = None
    hints_text: str | None = None
    base_commit: str | None = None
    pull_number: int | float | str | None = None
    issue_numbers: list[int | float | str] | str | None = None


def read_row(record: Mapping[str, Any]) -> Pair:
    """One row as a Pair. Raises `pydantic.ValidationError`, whose errors name the columns.

    `hints_text` holds what was said before the pull request's first commit (the data card of SWE-bench), so the
    discussion is known in part. An issue always has a title: an empty statement is an unread one.
    """
    row = _Row.model_validate({name: record[name] for name in _Row.model_fields if name in record})
    statement = row.problem_statement or ""
    held = {
        Artifact.ISSUE_DESCRIPTION: bool(statement.strip()),
        Artifact.ISSUE_DISCUSSION: row.hints_text is not None,
        Artifact.CODE_PATCH: row.patch is not None,
        Artifact.TEST_PATCH: row.test_patch is not None,
    }
    unread = _ABSENT | {artifact for artifact, is_held in held.items() if not is_held}
    number, created = _number(row), _time(record.get("created_at"))
    return Pair(
        id=row.instance_id,
        repository=row.repo,
        pull_request=PullRequest(
            body="",
            number=number,
            created_at=created,
            base_sha=row.base_commit,
            code_patch=row.patch or "",
            test_patch=row.test_patch or "",
        ),
        issues=_issues(row, statement),
        unread=tuple(artifact for artifact in Artifact if artifact in unread),
        partial=(Artifact.ISSUE_DISCUSSION,) if row.hints_text is not None else (),
        remarks=(*(() if number else (NO_NUMBER,)), *_no_time(record.get("created_at"), created)),
        extra=beside(record, _READ),
    )


# A column of whole numbers in which one is missing comes out of pandas as `9.0`.
_WHOLE = re.compile(r"(?<![0-9.])([0-9]{1,18})(?:\.0)?(?![0-9.])")


def _number(row: _Row) -> int | None:
    if row.pull_number is not None:
        match = _WHOLE.fullmatch(str(row.pull_number))
        return int(match[1]) if match else None
    return instance(row.instance_id)[1]


def _issues(row: _Row, statement: str) -> tuple[Issue, ...]:
    """One statement and one discussion for all issues: they go to the first, as in the paper's format."""
    named = row.issue_numbers if isinstance(row.issue_numbers, str) else " ".join(map(str, row.issue_numbers or ()))
    numbers: list[int | None] = [int(digits) for digits in dict.fromkeys(_WHOLE.findall(named))]
    said = (Comment(row.hints_text),) if row.hints_text and row.hints_text.strip() else ()
    first, *others = numbers or [None]
    return (Issue(first, statement, comments=said), *(Issue(number, "") for number in others))


def _time(value: Any) -> datetime | None:
    """When the pull request was opened; data sets write GitHub's time with and without its zone."""
    try:
        time = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _no_time(value: Any, read: datetime | None) -> tuple[str, ...]:
    if read or value is None or value == "":
        return ()
    return (f"When the pull request was opened is unknown: created_at is no time in ISO 8601 ({repr(value)[:40]}).",)
