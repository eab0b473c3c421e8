"""A small GitHub made of plain dicts, whose keys are the names of GitHub's published GraphQL schema.

The schema's path stands in PAICHECKER_GITHUB_SCHEMA; without it what needs the schema is skipped.
"""

from __future__ import annotations

import difflib
import functools
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import graphql
import pytest

Json = dict[str, Any]

HOME = "acme/widgets"

SCHEMA_VARIABLE = "PAICHECKER_GITHUB_SCHEMA"
needs_schema = pytest.mark.skipif(
    SCHEMA_VARIABLE not in os.environ,
    reason=f"{SCHEMA_VARIABLE} is not set; it is the path of schema.graphql in `npm pack @octokit/graphql-schema`",
)


@functools.cache
def schema() -> graphql.GraphQLSchema:
    text = Path(os.environ[SCHEMA_VARIABLE]).read_text(encoding="utf-8")
    return graphql.build_schema(text, assume_valid=True)


def at(day: float) -> str:
    """Noon of a day of 2025, as GitHub writes it."""
    time = datetime(2025, 1, 1, 12, tzinfo=UTC) + timedelta(days=day - 1)
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def day(number: float) -> datetime:
    """The same as a time."""
    return datetime.fromisoformat(at(number))


def sha(*parts: object) -> str:
    return hashlib.sha1("/".join(map(str, parts)).encode()).hexdigest()


def person(login: str | None) -> Json | None:
    """A user; None is one whose account was deleted."""
    return login and {"__typename": "User", "login": login}  # type: ignore[return-value]


def comment(body: str, day: float = 6, author: str | None = "rita", *, bot: bool = False, role: str = "NONE") -> Json:
    by = {"__typename": "Bot", "login": author} if bot else person(author)
    address = f"https://github.com/comment/{sha(body, day)[:8]}"
    return {"body": body, "createdAt": at(day), "author": by, "authorAssociation": role, "url": address}


def review(body: str, day: float | None = 6, **more: Any) -> Json:
    """A review; without a day it is still being written."""
    return {**comment(body, day or 1, **more), "submittedAt": at(day) if day else None}


def thread(path: str, line: int | None, *comments: Json, original: int | None = None) -> Json:
    start = {"id": f"T_{sha(path, line, len(comments))[:8]}", "__typename": "PullRequestReviewThread"}
    return {**start, "path": path, "line": line, "originalLine": original or line, "comments": list(comments)}


def commit(message: str, oid: str = "", *, parents: tuple[str, ...] | None = None, day: float = 5) -> Json:
    """Without parents it stands on the one before it."""
    who = {"name": "Theo", "user": {"login": "theo"}}
    made = {"oid": oid or sha(message, day), "message": message, "committedDate": at(day), "author": who}
    return {"commit": {**made, "parents": parents and [{"oid": parent} for parent in parents]}}


def edit(day: float, text: str | None) -> Json:
    """One version of a body. GitHub lists the newest first, and the first version with them."""
    return {"editedAt": at(day), "diff": text}


def renamed(day: float, previous: str) -> Json:
    return {"__typename": "RenamedTitleEvent", "createdAt": at(day), "previousTitle": previous}


def acted(event: str, login: str, day: float = 6) -> Json:
    """What somebody did: `ClosedEvent`, `MergedEvent`, `LabeledEvent`, `AssignedEvent`."""
    return {"__typename": event, "createdAt": at(day), "actor": person(login)}


def referred(source: Json, day: float = 6) -> Json:
    return {"__typename": "CrossReferencedEvent", "createdAt": at(day), "source": source}


@dataclass
class Repository:
    """Issues and pull requests by number, and the contents of files (bytes) and folders (lists) by path."""

    name: str
    private: bool = False
    visible: bool = True
    threads: dict[int, Json] = field(default_factory=dict)
    contents: dict[str, Any] = field(default_factory=dict)

    @property
    def node(self) -> Json:
        return {"nameWithOwner": self.name, "isPrivate": self.private, "_repository": self}

    def issue(self, number: int, title: str = "A title", body: str = "", **more: Any) -> Json:
        made = self._thread("Issue", number, title, body) | {"state": "OPEN"} | more
        return self.threads.setdefault(number, made)

    def pull(
        self,
        number: int,
        title: str = "A title",
        body: str = "",
        *,
        changes: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> Json:
        """`changes`: path to (text before, text after), None for no file. `links`: what GitHub says that it closes."""
        files = [_file(path, *texts) for path, texts in (changes or {"a.py": ("1\n", "2\n")}).items()]
        commits = _chained(more.pop("commits", [commit(title, sha(self.name, number))]))
        made = self._thread("PullRequest", number, title, body) | {
            "state": "MERGED" if "mergedAt" in more else "OPEN",
            "merged": "mergedAt" in more,
            "mergedAt": None,
            "mergeCommit": None,
            "baseRefOid": sha("base"),
            "headRefOid": commits[-1]["commit"]["oid"],
            "reviews": [],
            "reviewThreads": [],
            "commits": commits,
            "files": files,
            "changedFiles": len(files),
            "closingIssuesReferences": more.pop("links", []),
        }
        return self.threads.setdefault(number, made | more)

    def _thread(self, kind: str, number: int, title: str, body: str) -> Json:
        page = "issues" if kind == "Issue" else "pull"
        return {
            **comment(body, 4),
            "__typename": kind,
            "id": f"{kind}_{self.name}_{number}",
            "number": number,
            "title": title,
            "url": f"https://github.com/{self.name}/{page}/{number}",
            "repository": self.node,
            "comments": [],
            "timelineItems": [],
            "userContentEdits": [],
            "includesCreatedEdit": False,
            "labels": [],
        }


def _chained(commits: list[Json]) -> list[Json]:
    before = sha("base")
    for one in commits:
        one["commit"]["parents"] = one["commit"]["parents"] or [{"oid": before}]
        before = one["commit"]["oid"]
    return commits


def _file(path: str, before: str | None, after: str | None, patch: str | None = "") -> Json:
    """A changed file for GraphQL and for REST at once; a `patch` of None is one that GitHub leaves out."""
    lines = difflib.unified_diff((before or "").splitlines(), (after or "").splitlines(), lineterm="")
    hunks = list(lines)[2:]
    plus, minus = (sum(line.startswith(sign) for line in hunks) for sign in "+-")
    kind = "ADDED" if before is None else "DELETED" if after is None else "MODIFIED"
    status = {"DELETED": "removed"}.get(kind, kind.lower())
    text = "\n".join(hunks) if patch == "" else patch
    rest = {"filename": path, "status": status, "changes": plus + minus, "patch": text}
    return {"path": path, "additions": plus, "deletions": minus, "changeType": kind, **rest}


def diff_of(pull: Json) -> str:
    """The whole diff, as git writes it."""
    parts = []
    for one in pull["files"]:
        old = "/dev/null" if one["status"] == "added" else f"a/{one['path']}"
        new = "/dev/null" if one["status"] == "removed" else f"b/{one['path']}"
        parts.append(f"diff --git a/{one['path']} b/{one['path']}\n--- {old}\n+++ {new}\n{one['patch']}\n")
    return "".join(parts)
