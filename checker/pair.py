"""The pair: one pull request and the issue(s) it is linked to, as plain data, as of a moment.

Everything here is frozen. What is unknown is named in `Pair.unread`, what is incomplete in `Pair.partial`;
an empty field that is in neither was read and is empty. JSON of this shape (`schema` = `SCHEMA`) is the
project's own record format; `read_pair` and `write_pair` are its two directions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, ConfigDict, Field, TypeAdapter

from checker.taxonomy import Artifact

SCHEMA = "paichecker.pair/1"

_STRICT = ConfigDict(extra="forbid")

REPOSITORY_NAME = r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}"
RepositoryName = Annotated[str, Field(pattern=f"^{REPOSITORY_NAME}$")]
"""`owner/name`. It stands in the names of texts, so nothing else may."""


@dataclass(frozen=True)
class Comment:
    """One comment of an issue, a pull request, or a review. `None` means unknown."""

    __pydantic_config__ = _STRICT

    body: str
    author: str | None = None
    association: str | None = None
    is_bot: bool = False
    created_at: AwareDatetime | None = None
    url: str | None = None
    path: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class Related:
    """Another issue or pull request that mentions this issue, pull request, or merge commit."""

    __pydantic_config__ = _STRICT

    number: int
    title: str
    kind: Literal["pull_request", "issue"]
    repository: RepositoryName | None = None
    state: str | None = None
    merged: bool = False
    merged_at: AwareDatetime | None = None
    url: str | None = None


@dataclass(frozen=True)
class Issue:
    """An issue as first written. `title` is None where a format joins it with the body, which then begins with it.

    `edited`: title and body as they stand at the time of reading, if they were changed since; None if not.
    """

    __pydantic_config__ = _STRICT

    number: int | None
    body: str
    title: str | None = None
    repository: RepositoryName | None = None
    author: str | None = None
    created_at: AwareDatetime | None = None
    url: str | None = None
    comments: tuple[Comment, ...] = ()
    mentioned_by: tuple[Related, ...] = ()
    association: str | None = None
    edited: str | None = None
    labels: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """Title and body in one text, as data sets of the SWE-bench kind join them."""
        return self.body if self.title is None else f"{self.title}\n{self.body}"


@dataclass(frozen=True)
class Commit:
    """One of the pull request's own commits."""

    __pydantic_config__ = _STRICT

    message: str
    sha: str | None = None
    author: str | None = None
    committed_at: AwareDatetime | None = None


@dataclass(frozen=True)
class ChangedFile:
    """A changed file as GitHub's "list pull request files" gives it. `patch` is None where GitHub gave none."""

    __pydantic_config__ = _STRICT

    path: str
    status: str = "modified"
    additions: int = 0
    deletions: int = 0
    patch: str | None = None
    previous_path: str | None = None
    blob_sha: str | None = None
    blob_url: str | None = None


@dataclass(frozen=True)
class PullRequest:
    """A pull request. `code_patch` and `test_patch` are unified diffs that together make up its diff.

    `claimed_pull_requests`: numbers that its texts claim to close and that are pull requests, hence no issues.
    """

    __pydantic_config__ = _STRICT

    body: str
    title: str | None = None
    number: int | None = None
    author: str | None = None
    created_at: AwareDatetime | None = None
    merged_at: AwareDatetime | None = None
    base_sha: str | None = None
    head_sha: str | None = None
    url: str | None = None
    comments: tuple[Comment, ...] = ()
    reviews: tuple[Comment, ...] = ()
    commits: tuple[Commit, ...] = ()
    mentioned_by: tuple[Related, ...] = ()
    merge_mentioned_by: tuple[Related, ...] = ()
    code_patch: str = ""
    test_patch: str = ""
    files: tuple[ChangedFile, ...] = ()
    labels: tuple[str, ...] = ()
    claimed_pull_requests: tuple[int, ...] = ()


@dataclass(frozen=True)
class Text:
    """One quotable piece of a pair: its name in prompts and evidence, and the artifact it belongs to."""

    name: str
    artifact: Artifact
    body: str
    author: str | None = None
    association: str | None = None
    is_bot: bool = False
    created_at: AwareDatetime | None = None
    url: str | None = None


@dataclass(frozen=True)
class Pair:
    """One pull request and its issues. `id` is unique in its data set, e.g. `getmoto__moto-5545`.

    `repository` is `owner/name`, or None where the source does not say. `as_of` is the moment of reading.
    `remarks` are sentences on what a record gave and its reader could not make out; the report repeats them.
    `extra` holds what a foreign format had beside; it is carried along for writing that format again.
    """

    __pydantic_config__ = _STRICT

    id: str
    pull_request: PullRequest
    issues: tuple[Issue, ...]
    repository: RepositoryName | None = None
    as_of: AwareDatetime | None = None
    unread: tuple[Artifact, ...] = ()
    partial: tuple[Artifact, ...] = ()
    remarks: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    def was_read(self, artifact: Artifact) -> bool:
        """Whether the artifact is known and complete: only then may its emptiness be concluded from."""
        return artifact not in self.unread and artifact not in self.partial

    @property
    def request(self) -> str:
        """What is asked for: the descriptions of all linked issues (taxonomy: the baseline)."""
        return "\n".join(issue.description for issue in self.issues if issue.description)

    @property
    def issue_numbers(self) -> tuple[int, ...]:
        """The numbers of the linked issues, the stated one first."""
        return tuple(issue.number for issue in self.issues if issue.number is not None)

    @cached_property
    def texts(self) -> Mapping[str, Text]:
        """Every quotable text by name, in reading order."""
        texts = [*_issue_texts(self.issues, self.repository), *_pull_request_texts(self.pull_request)]
        texts += _related_texts(self)
        return MappingProxyType({text.name: text for text in texts if text.body.strip()})


def pair_id(repository: str, number: int) -> str:
    """The id of a pull request's pair as data sets of the SWE-bench kind write it, e.g. `getmoto__moto-5545`."""
    return f"{repository.replace('/', '__')}-{number}"


def related_name(related: Related, home: str | None) -> str:
    """The name under which a related pull request or issue may be quoted, e.g. `related/pr/5556`.

    `home` is the pair's repository; what stands in another one has it in its name.
    """
    kind = "pr" if related.kind == "pull_request" else "issue"
    elsewhere = related.repository if related.repository != home else None
    return "/".join(part for part in ("related", kind, elsewhere, str(related.number)) if part)


def _comment_texts(prefix: str, artifact: Artifact, comments: tuple[Comment, ...]) -> list[Text]:
    return [
        Text(f"{prefix}/{n}", artifact, c.body, c.author, c.association, c.is_bot, c.created_at, c.url)
        for n, c in enumerate(comments, 1)
    ]


def _issue_texts(issues: tuple[Issue, ...], repository: str | None) -> list[Text]:
    texts: list[Text] = []
    for position, issue in enumerate(issues, 1):
        elsewhere = issue.repository if issue.repository != repository else None
        identity = (issue.number, issue.repository)
        twice = identity in [(other.number, other.repository) for other in issues[: position - 1]]
        number = issue.number if issue.number is not None else f"unnumbered-{position}"
        number = f"{number}-again-{position}" if twice and issue.number is not None else number
        name = "/".join(str(part) for part in ("issue", elsewhere, number) if part)
        about = (issue.author, issue.association, False, issue.created_at, issue.url)
        texts.append(Text(name, Artifact.ISSUE_DESCRIPTION, issue.description, *about))
        # What an edit added came later, like a comment: the request is the description as first written.
        texts.append(Text(f"{name}/edited", Artifact.ISSUE_DISCUSSION, issue.edited or "", *about))
        texts += _comment_texts(f"{name}/comment", Artifact.ISSUE_DISCUSSION, issue.comments)
    return texts


def _pull_request_texts(pr: PullRequest) -> list[Text]:
    about = (pr.author, None, False, pr.created_at, pr.url)
    commits = [
        Text(f"commit/{n}", Artifact.PR_COMMITS, c.message, c.author, None, False, c.committed_at)
        for n, c in enumerate(pr.commits, 1)
    ]
    return [
        Text("pr/title", Artifact.PR_DESCRIPTION, pr.title or "", *about),
        Text("pr/description", Artifact.PR_DESCRIPTION, pr.body, *about),
        *commits,
        *_comment_texts("pr/comment", Artifact.PR_COMMENTS, pr.comments),
        *_comment_texts("pr/review", Artifact.PR_REVIEWS, pr.reviews),
        Text("patch/code", Artifact.CODE_PATCH, pr.code_patch),
        Text("patch/test", Artifact.TEST_PATCH, pr.test_patch),
    ]


def _related_texts(pair: Pair) -> list[Text]:
    sources = [(related, Artifact.ISSUE_TIMELINE) for issue in pair.issues for related in issue.mentioned_by]
    sources += [(related, Artifact.PR_TIMELINE) for related in pair.pull_request.mentioned_by]
    sources += [(related, Artifact.MERGE_REFERENCES) for related in pair.pull_request.merge_mentioned_by]
    return [Text(related_name(r, pair.repository), artifact, r.title, url=r.url) for r, artifact in sources]


_ADAPTER: TypeAdapter[Pair] = TypeAdapter(Pair)


def read_pair(record: Mapping[str, Any]) -> Pair:
    """A record of our own format as a Pair. Raises `pydantic.ValidationError`, whose errors name the fields."""
    fields = {key: value for key, value in record.items() if key != "schema"}
    return _ADAPTER.validate_json(json.dumps(fields), strict=True)


def write_pair(pair: Pair) -> dict[str, Any]:
    """A Pair as JSON-ready data in our own format; `read_pair` gives an equal Pair back."""
    return {"schema": SCHEMA, **_ADAPTER.dump_python(pair, mode="json", exclude_defaults=True)}
