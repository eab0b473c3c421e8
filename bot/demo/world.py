"""What happens on the demo's GitHub, without HTTP. Ids count up, so that every run is alike."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from bot.demo.objects import (
    MENTION,
    Account,
    Comment,
    Commit,
    Event,
    Files,
    Issue,
    Json,
    PullRequest,
    Reaction,
    Repository,
)


class World:
    """Everything there is. `web`: the address of its pages; `clock` gives the time, in whole seconds as GitHub does."""

    def __init__(self, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.web = "http://127.0.0.1"
        self.clock = clock
        self.accounts: dict[str, Account] = {}
        self.repositories: dict[str, Repository] = {}
        self._ids = itertools.count(1001)

    def now(self) -> datetime:
        """This second."""
        return self.clock().replace(microsecond=0)

    def next_id(self) -> int:
        """An id that nothing else has."""
        return next(self._ids)

    def account(self, login: str, kind: Literal["User", "Bot", "Organization"] = "User") -> Account:
        """Somebody, made when first named."""
        return self.accounts.setdefault(login.lower(), Account(self.next_id(), login, kind))

    def create_repository(self, owner: Account, name: str, files: Files, *, private: bool = False) -> Repository:
        """A repository with one commit."""
        nothing = Commit("0" * 40, "", owner, self.now(), [], {})
        about: Json = {"id": self.next_id(), "owner": owner, "name": name, "private": private, "head": nothing}
        made = Repository(world=self, created_at=self.now(), **about)
        made.head = made.commit("Begin", owner, files)
        self.repositories[made.full_name.lower()] = made
        return made

    def fork(self, origin: Repository, owner: Account) -> Repository:
        """Somebody's fork, made when first needed."""
        key = f"{owner.login}/{origin.name}".lower()
        if key not in self.repositories:
            made = self.create_repository(owner, origin.name, {}, private=origin.private)
            made.parent, made.head, made.commits = origin, origin.head, origin.commits
        return self.repositories[key]

    def open_issue(self, repository: Repository, author: Account, title: str, body: str, **more: Any) -> Issue:
        """A new issue."""
        made: Issue = self._opened(Issue, repository, author, title=title, body=body, **more)
        return made

    def open_pull_request(
        self, repository: Repository, author: Account, title: str, body: str, changes: Mapping[str, str | None],
        *, message: str, branch: str, **more: Any,
    ) -> PullRequest:  # fmt: skip
        """A new pull request with one commit; from a fork, where its author may not push. A file of None is removed."""
        home = repository if repository.may_write(author) else self.fork(repository, author)
        base = repository.head
        commit = home.commit(message, author, _changed(base.files, changes), base)
        parts = {"base": base, "branch": branch, "head_repository": home, "commits": [commit], **more}
        made: PullRequest = self._opened(PullRequest, repository, author, title=title, body=body, **parts)
        return made

    def _opened(self, kind: Any, repository: Repository, author: Account, **parts: Any) -> Any:
        number = max(repository.threads, default=0) + 1
        made = kind(number=number, **self._signed(repository, author), **parts)
        repository.threads[number] = made
        self._refer(made, f"{made.title}\n{made.body}")
        return made

    def _signed(self, repository: Repository, author: Account) -> Json:
        now = self.now()
        about = {"repository": repository, "author": author, "created_at": now, "updated_at": now}
        return {"id": self.next_id(), **about}

    def push(self, pull: PullRequest, changes: Mapping[str, str | None], message: str) -> Commit:
        """One more commit of the author's."""
        files = _changed(pull.head.files, changes)
        pull.commits.append(pull.head_repository.commit(message, pull.author, files, pull.head))
        pull.updated_at = self.now()
        return pull.head

    def comment(self, issue: Issue, author: Account, body: str) -> Comment:
        """A new comment."""
        made = Comment(body=body, issue=issue, **self._signed(issue.repository, author))
        issue.comments.append(made)
        issue.updated_at = made.created_at
        self._refer(issue, body)
        return made

    def react(self, comment: Comment, user: Account, content: str) -> tuple[Reaction, bool]:
        """A reaction, and whether it is new: nobody reacts twice with the same."""
        old = next((one for one in comment.reactions if (one.user, one.content) == (user, content)), None)
        made = old or Reaction(self.next_id(), content, user, self.now())
        if old is None:
            comment.reactions.append(made)
        return made, old is None

    def edit(self, issue: Issue, by: Account, title: str | None, body: str | None) -> Json:
        """Another title or body; what was there before, as a webhook names it."""
        changes: Json = {}
        if title is not None and title != issue.title:
            changes["title"] = {"from": issue.title}
            issue.timeline.append(self._event("RenamedTitleEvent", by, previous_title=issue.title))
            issue.title, issue.updated_at = title, self.now()
        if body is not None and body != issue.body:
            changes["body"] = {"from": issue.body}
            issue.rewrite(body, self.now())
            self._refer(issue, body)
        return changes

    def label(self, issue: Issue, by: Account, name: str) -> None:
        """One more label."""
        issue.labels.append(name)
        issue.timeline.append(self._event("LabeledEvent", by))

    def close(self, issue: Issue, by: Account) -> None:
        """Closed, without a merge."""
        issue.closed_at = issue.updated_at = self.now()
        issue.timeline.append(self._event("ClosedEvent", by))

    def merge(self, pull: PullRequest, by: Account) -> list[Issue]:
        """Merged by a merge commit; the issues that it closed."""
        home, theirs = pull.repository, pull.head.files
        touched = {path for path in {*pull.base.files, *theirs} if pull.base.files.get(path) != theirs.get(path)}
        files = _changed(home.head.files, {path: theirs.get(path) for path in touched})
        message = f"Merge pull request #{pull.number} from {pull.head_repository.owner.login}/{pull.branch}"
        home.head = pull.merge_commit = home.commit(message, by, files, home.head, pull.head)
        pull.merged_at, pull.merged_by = self.now(), by
        pull.timeline.append(self._event("MergedEvent", by))
        issues = [issue for issue in pull.closing() if issue.closed_at is None]
        for issue in [pull, *issues]:
            self.close(issue, by)
        return issues

    def _event(self, kind: str, actor: Account, **more: Any) -> Event:
        return Event(kind=kind, created_at=self.now(), actor=actor, **more)

    def _refer(self, source: Issue, text: str) -> None:
        """What a text names learns of it, once."""
        for target in source.repository.named(MENTION, text):
            if target is not source and all(event.source is not source for event in target.timeline):
                target.timeline.append(self._event("CrossReferencedEvent", source.author, source=source))


def _changed(files: Files, changes: Mapping[str, str | None]) -> Files:
    return {path: text for path, text in {**files, **changes}.items() if text is not None}
