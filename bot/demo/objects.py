"""What the demo's GitHub holds: plain objects that know no HTTP."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from bot.demo.world import World

Json = dict[str, Any]
Files = Mapping[str, str]
Role = Literal["admin", "maintain", "write", "triage", "read"]
# Tells the App of its own deed: event, action, what it is about, by whom, what else the payload holds.
Announce = Callable[[str, str, Any, "Account", Json], None]

_WRITERS = ("admin", "maintain", "write")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_REFERENCE = r"(?:(?:https?://[^/\s]+/)?(?P<repository>[\w.-]+/[\w.-]+))?(?:#|/(?:issues|pull)/)(?P<number>[1-9]\d*)\b"
MENTION = re.compile(rf"(?<![\w&]){_REFERENCE}")
_CLOSING = re.compile(rf"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+{_REFERENCE}", re.IGNORECASE)


@dataclass(eq=False)
class Account:
    """Somebody: a person, an organization, or an App's bot."""

    id: int
    login: str
    type: Literal["User", "Bot", "Organization"] = "User"


@dataclass(eq=False)
class Commit:
    """A commit with all files as they are in it. `message` has the title in its first line."""

    oid: str
    message: str
    author: Account
    committed_date: datetime
    parents: list[Commit]
    files: Files


@dataclass(eq=False)
class Edit:
    """A version of a body: the whole text as of `edited_at`."""

    edited_at: datetime
    diff: str


@dataclass(eq=False, kw_only=True)
class Event:
    """An item of a timeline; `kind` is its type in GraphQL."""

    kind: str
    created_at: datetime
    actor: Account
    source: Issue | None = None
    previous_title: str = ""


@dataclass(eq=False)
class Reaction:
    """A thumb, or what else GitHub offers, on a comment."""

    id: int
    content: str
    user: Account
    created_at: datetime


@dataclass(eq=False, kw_only=True)
class Written:
    """What somebody wrote, and may edit. `edits`: every version, the newest first, once there was an edit."""

    id: int
    repository: Repository
    author: Account
    body: str
    created_at: datetime
    updated_at: datetime
    edits: list[Edit] = field(default_factory=list)

    @property
    def author_association(self) -> str:
        """As docs.github.com/graphql/reference/enums describes CommentAuthorAssociation."""
        return self.repository.association(self.author)

    def rewrite(self, body: str, at: datetime) -> None:
        """Another text from now on."""
        self.edits = [Edit(at, body), *(self.edits or [Edit(self.created_at, self.body)])]
        self.body, self.updated_at = body, at


@dataclass(eq=False, kw_only=True)
class Comment(Written):
    """A comment of an issue or a pull request; with another `anchor` also a review, or a comment of one."""

    issue: Issue
    anchor: str = "issuecomment-"
    reactions: list[Reaction] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Its place on the page."""
        return f"{self.issue.url}#{self.anchor}{self.id}"


@dataclass(eq=False, kw_only=True)
class Issue(Written):
    """An issue."""

    number: int
    title: str
    labels: list[str] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    timeline: list[Event] = field(default_factory=list)
    closed_at: datetime | None = None

    @property
    def url(self) -> str:
        """Its page."""
        kind = "pull" if isinstance(self, PullRequest) else "issues"
        return f"{self.repository.url}/{kind}/{self.number}"

    @property
    def state(self) -> str:
        """As GraphQL names it."""
        return "CLOSED" if self.closed_at else "OPEN"


@dataclass(eq=False)
class ReviewThread:
    """A conversation at a line of the diff."""

    id: int
    path: str
    line: int | None
    original_line: int | None
    comments: list[Comment] = field(default_factory=list)


@dataclass(eq=False, kw_only=True)
class PullRequest(Issue):
    """A pull request into the default branch. `links`: issues that somebody linked in the sidebar."""

    base: Commit
    branch: str
    head_repository: Repository
    commits: list[Commit]
    draft: bool = False
    links: list[Issue] = field(default_factory=list)
    reviews: list[Comment] = field(default_factory=list)
    threads: list[ReviewThread] = field(default_factory=list)
    merged_at: datetime | None = None
    merged_by: Account | None = None
    merge_commit: Commit | None = None

    @property
    def state(self) -> str:
        """As GraphQL names it."""
        return "MERGED" if self.merged_at else super().state

    @property
    def head(self) -> Commit:
        """The newest commit."""
        return self.commits[-1]

    def closing(self) -> list[Issue]:
        """What it closes when merged: the issues that its description names so, and those of the sidebar."""
        named = [*self.repository.named(_CLOSING, self.body), *self.links]
        return list(dict.fromkeys(one for one in named if not isinstance(one, PullRequest)))


@dataclass(eq=False, kw_only=True)
class CheckRun:
    """A check run of the App. `output` and `actions` are kept as they were sent."""

    id: int
    repository: Repository
    name: str
    head_sha: str
    started_at: datetime
    status: str = "queued"
    conclusion: str | None = None
    completed_at: datetime | None = None
    external_id: str = ""
    details_url: str | None = None
    output: Json = field(default_factory=dict)
    annotations: list[Json] = field(default_factory=list)
    actions: list[Json] = field(default_factory=list)


def newest_of_each_name(runs: Iterable[CheckRun]) -> list[CheckRun]:
    """Of check runs of one commit, the oldest first, those that GitHub shows."""
    return list({run.name: run for run in runs}.values())


@dataclass(eq=False, kw_only=True)
class Repository:
    """A repository with one branch, `main`. Commits are shared with its forks."""

    world: World = field(repr=False)
    id: int
    owner: Account
    name: str
    head: Commit
    created_at: datetime
    private: bool = False
    parent: Repository | None = None
    roles: dict[str, Role] = field(default_factory=dict)
    threads: dict[int, Issue] = field(default_factory=dict)
    check_runs: list[CheckRun] = field(default_factory=list)
    commits: dict[str, Commit] = field(default_factory=dict)

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return f"{self.owner.login}/{self.name}"

    @property
    def url(self) -> str:
        """Its page."""
        return f"{self.world.web}/{self.full_name}"

    def may_write(self, who: Account) -> bool:
        """Whether somebody may push here."""
        return who is self.owner or self.roles.get(who.login) in _WRITERS

    def association(self, who: Account) -> str:
        """Owner, member or collaborator, contributor (of something merged), or none."""
        if who is self.owner:
            return "OWNER"
        if who.login in self.roles:
            return "MEMBER" if self.owner.type == "Organization" else "COLLABORATOR"
        return "CONTRIBUTOR" if any(p.author is who and p.merged_at for p in self.pull_requests()) else "NONE"

    def pull_requests(self) -> list[PullRequest]:
        """The newest first."""
        return [one for one in reversed(self.threads.values()) if isinstance(one, PullRequest)]

    def at(self, ref: str) -> Commit | None:
        """The commit of a branch or a hash."""
        branches = {pull.branch: pull.head for pull in self.pull_requests() if pull.head_repository is self}
        return self.commits.get(ref) or {**branches, "main": self.head, "HEAD": self.head}.get(ref)

    def commit(self, message: str, author: Account, files: Files, *parents: Commit) -> Commit:
        """A new commit; it stands on no branch yet."""
        told = repr((self.full_name, message, sorted(files.items()), [one.oid for one in parents]))
        oid = hashlib.sha1(told.encode(), usedforsecurity=False).hexdigest()
        made = Commit(oid, message, author, self.world.now(), list(parents), dict(files))
        return self.commits.setdefault(oid, made)

    def named(self, pattern: re.Pattern[str], text: str) -> Iterator[Issue]:
        """The issues and pull requests that a text here names outside code."""
        for match in pattern.finditer(_CODE.sub("", text)):
            repository = self.world.repositories.get((match["repository"] or self.full_name).lower())
            if repository and int(match["number"]) in repository.threads:
                yield repository.threads[int(match["number"])]
