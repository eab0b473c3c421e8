"""The fields of Multi-SWE-bench (and Multi-SWE-RL), which hold the pull request's own text and each issue apart.

Unread are the discussions, reviews, commits, and what refers to issue and pull request. `docs/auditing.md` has the
table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from checker.datasets.columns import beside
from checker.pair import Issue, Pair, PullRequest, pair_id
from checker.taxonomy import Artifact

COLUMNS = ("org", "repo", "number", "resolved_issues", "fix_patch")
_READ = frozenset({*COLUMNS, "instance_id", "title", "body", "base", "test_patch", "hints", "state"})
_ABSENT = frozenset(Artifact) - {
    Artifact.ISSUE_DESCRIPTION,
    Artifact.PR_DESCRIPTION,
    Artifact.CODE_PATCH,
    Artifact.TEST_PATCH,
}
_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,100}$")]


class _Issue(BaseModel):
    model_config = ConfigDict(strict=True)

    number: int
    title: str
    body: str | None = None


class _Base(BaseModel):
    model_config = ConfigDict(strict=True)

    sha: str | None = None


class _Row(BaseModel):
    """What is read of a record. A null body is GitHub's way to say that nothing was written."""

    model_config = ConfigDict(strict=True)

    org: _Name
    repo: _Name
    number: Annotated[int, Field(ge=1)]
    title: str | None = None
    body: str | None = None
    base: _Base = _Base()
    resolved_issues: list[_Issue] | None
    fix_patch: str | None
    test_patch: str | None = None
    instance_id: str | None = None


def read_record(record: Mapping[str, Any]) -> Pair:
    """One record as a Pair. Raises `pydantic.ValidationError`, whose errors name the fields."""
    row = _Row.model_validate({name: record[name] for name in _Row.model_fields if name in record})
    repository = f"{row.org}/{row.repo}"
    held = {
        Artifact.ISSUE_DESCRIPTION: row.resolved_issues is not None,
        Artifact.PR_DESCRIPTION: row.title is not None,
        Artifact.CODE_PATCH: row.fix_patch is not None,
        Artifact.TEST_PATCH: row.test_patch is not None,
    }
    unread = _ABSENT | {artifact for artifact, is_held in held.items() if not is_held}
    return Pair(
        id=row.instance_id or pair_id(repository, row.number),
        repository=repository,
        pull_request=PullRequest(
            body=row.body or "",
            title=row.title,
            number=row.number,
            base_sha=row.base.sha,
            code_patch=row.fix_patch or "",
            test_patch=row.test_patch or "",
        ),
        issues=tuple(Issue(i.number, i.body or "", i.title) for i in row.resolved_issues or ()),
        unread=tuple(artifact for artifact in Artifact if artifact in unread),
        extra=beside(record, _READ),
    )
