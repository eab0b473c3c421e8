"""A record that lacks parts, filled from GitHub: what it holds stays, what it names as missing is read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import fields, replace
from typing import TypeVar

from checker.datasets.files import InputProblem
from checker.datasets.paper import filled
from checker.github.client import Client
from checker.github.collect import Moment
from checker.github.reading import AT_ONCE, read_addresses
from checker.pair import Comment, Commit, Issue, Pair, PullRequest, Related
from checker.taxonomy import Artifact

_OF_PULL_REQUEST: dict[Artifact, tuple[str, ...]] = {
    Artifact.PR_DESCRIPTION: ("title", "body"),
    Artifact.PR_COMMENTS: ("comments",),
    Artifact.PR_REVIEWS: ("reviews",),
    Artifact.PR_COMMITS: ("commits",),
    Artifact.PR_TIMELINE: ("mentioned_by",),
    Artifact.MERGE_REFERENCES: ("merge_mentioned_by",),
    Artifact.CODE_PATCH: ("code_patch",),
    Artifact.TEST_PATCH: ("test_patch",),
}
_OF_ISSUE: dict[Artifact, tuple[str, ...]] = {
    Artifact.ISSUE_DESCRIPTION: ("title", "body", "edited"),
    Artifact.ISSUE_DISCUSSION: ("comments",),
    Artifact.ISSUE_TIMELINE: ("mentioned_by",),
}

_Part = TypeVar("_Part", Issue, PullRequest)


async def complete_each(client: Client, pairs: Sequence[Pair], as_of: Moment) -> AsyncIterator[Pair | InputProblem]:
    """Each pair filled, in their order; one that names no pull request, or whose cannot be read, is a problem."""
    for begin in range(0, len(pairs), AT_ONCE):
        group = pairs[begin : begin + AT_ONCE]
        for one in await asyncio.gather(*(_completed(client, pair, as_of) for pair in group)):
            yield one


async def _completed(client: Client, pair: Pair, as_of: Moment) -> Pair | InputProblem:
    number = pair.pull_request.number
    if not (pair.repository and number):
        return InputProblem(pair.id, "it does not say which repository's pull request it is")
    (live,) = await read_addresses(client, [f"{pair.repository}#{number}"], as_of)
    return live if isinstance(live, InputProblem) else fill(pair, live)


def fill(pair: Pair, live: Pair) -> Pair:
    """The pair with what it lacks taken from the same pull request as read from GitHub.

    Beside what `unread` and `partial` name, whatever is None is filled; comments and commits that say the same words
    get their authors, roles, times and addresses, mentions their times of merge. Issues are matched by number.
    """
    taken = {artifact for artifact in (*pair.unread, *pair.partial) if _is_better(artifact, pair, live)}
    now_partial = {a for a in pair.partial if a not in taken} | {a for a in taken if a in live.partial}
    return replace(
        filled(pair, taken),
        pull_request=_filled(pair.pull_request, live.pull_request, _names(_OF_PULL_REQUEST, taken)),
        issues=_issues(pair, live, taken),
        as_of=pair.as_of or live.as_of,
        unread=tuple(artifact for artifact in pair.unread if artifact not in taken),
        partial=tuple(artifact for artifact in Artifact if artifact in now_partial),
        # They tell what a record gave unreadably: a time, or the number, both of which are known now.
        remarks=(),
    )


def _is_better(artifact: Artifact, pair: Pair, live: Pair) -> bool:
    """Whether GitHub gave more of a part than the record has; of issues only where it gave each of the record's."""
    named = filter(_is_named, pair.issues)
    if artifact in _OF_ISSUE and any(_counterpart(issue, pair, live) is None for issue in named):
        return False
    return live.was_read(artifact) or (artifact in pair.unread and artifact not in live.unread)


def _names(parts: dict[Artifact, tuple[str, ...]], taken: set[Artifact]) -> set[str]:
    return {name for artifact, names in parts.items() if artifact in taken for name in names}


def _issues(pair: Pair, live: Pair, taken: set[Artifact]) -> tuple[Issue, ...]:
    if not any(map(_is_named, pair.issues)):
        return live.issues
    wanted = _names(_OF_ISSUE, taken)
    matched = [(issue, _counterpart(issue, pair, live)) for issue in pair.issues]
    return tuple(issue if other is None else _filled(issue, other, wanted) for issue, other in matched)


def _is_named(issue: Issue) -> bool:
    """A reader makes one issue without number and text where a record says nothing of its issues."""
    return issue.number is not None or bool(issue.body)


def _counterpart(issue: Issue, pair: Pair, live: Pair) -> Issue | None:
    """The same issue as read from GitHub. A record without a number means its only one."""
    if issue.number is None:
        return live.issues[0] if len(live.issues) == 1 else None
    # The record may know the repository by an older name.
    home = live.repository if issue.repository in (None, pair.repository) else issue.repository
    return next((one for one in live.issues if one.number == issue.number and one.repository == home), None)


def _filled(part: _Part, live: _Part, wanted: set[str]) -> _Part:
    """A part with the wanted fields of its counterpart, and what else it lacks."""
    held = {field.name: getattr(part, field.name) for field in fields(part) if field.name not in wanted}
    changes = {name: getattr(live, name) for name in wanted if hasattr(part, name)}
    for name, value in held.items():
        if name in _SAID:
            changes[name] = getattr(live, name) if _same_words(value, getattr(live, name)) else value
        elif name in _MENTIONS:
            changes[name] = _with_times(value, getattr(live, name))
        elif name not in _MEANT and value in (None, ()):
            changes[name] = getattr(live, name)
    return replace(part, **changes)


_SAID = frozenset({"comments", "reviews", "commits"})
_MENTIONS = frozenset({"mentioned_by", "merge_mentioned_by"})
# Their absence means something: a statement without a title begins with it, and no edit is an answer.
_MEANT = frozenset({"title", "edited"})


def _same_words(held: Sequence[Comment | Commit], live: Sequence[Comment | Commit]) -> bool:
    """Whether two lists say the same; a record may have joined a discussion into one text."""
    return bool(held) and _words(held) == _words(live)


def _words(said: Sequence[Comment | Commit]) -> list[str]:
    return " ".join(one.message if isinstance(one, Commit) else one.body for one in said).split()


def _with_times(held: Sequence[Related], live: Sequence[Related]) -> tuple[Related, ...]:
    """Those that the record names, each as GitHub gives it where it does."""
    known = {(related.kind, related.number): related for related in live if related.repository is None}
    return tuple(known.get((r.kind, r.number), r) if r.repository is None else r for r in held)
