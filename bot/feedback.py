"""What people make of the findings: their answers as entries of the ledger, and thumbs on our comment."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa

from bot import tables
from bot.checked import Answer, AnswerKind, Checked, Standing, digest_of
from bot.commands import Command
from bot.store import PullRequest, Store
from checker.github.client import Client, NotFoundError

UP, DOWN = "+1", "-1"
"""GitHub's names of the two thumbs: https://docs.github.com/rest/reactions/reactions#about-reactions."""


class Thumb(NamedTuple):
    """A thumb on our comment. `who`: a login; `content`: UP or DOWN."""

    who: str
    content: str


def answers_to(command: Command, checked: Checked, *, who: str, standing: Standing, at: datetime) -> tuple[Answer, ...]:
    """What a `confirm` or `dispute` says: an answer to each finding of a label that it names, or to all that stand.

    `checked`: the check that people see, not a later one. Two findings may have one label; they differ in `evidence`.
    Raises ValueError for any other command.
    """
    kind = AnswerKind(command.verb)
    wanted = command.labels or checked.report.labels
    return tuple(
        Answer(kind, who, standing, at, finding.label, command.reason, digest_of(finding))
        for finding in checked.report.findings
        if finding.label in wanted
    )


def unclassified(who: str, standing: Standing, at: datetime) -> Answer:
    """A reply without a word that can be counted. Its text is not kept."""
    return Answer(AnswerKind.UNCLASSIFIED, who, standing, at)


async def read_thumbs(client: Client, repository: str, comment_id: int) -> list[Thumb]:
    """The thumbs that people, no bots, have left on a comment.

    Raises GitHubError; NotFoundError where the comment was deleted.
    https://docs.github.com/rest/reactions/reactions#list-reactions-for-an-issue-comment
    """
    found = await client.pages(f"/repos/{repository}/issues/comments/{comment_id}/reactions?per_page=100")
    # The user of a deleted account may be null.
    given = [(one["user"], one["content"]) for one in found if one["user"] and one["content"] in (UP, DOWN)]
    return [Thumb(user["login"], content) for user, content in given if user["type"] != "Bot"]


async def note_thumbs(client: Client, store: Store, pull_request: PullRequest, at: datetime) -> None:
    """Reads the thumbs on a pull request's comment, and keeps who gave one, when it was first seen, and when gone.

    GitHub tells of reactions only when asked. What was on a comment that was deleted stays as it was seen last: nobody
    took it back. Raises GitHubError.
    """
    if pull_request.comment_id is None:
        return
    try:
        thumbs = await read_thumbs(client, pull_request.repository, pull_request.comment_id)
    except NotFoundError:
        return
    await asyncio.to_thread(store.keep_thumbs, pull_request.id, pull_request.comment_id, thumbs, at)


def commented(store: Store, repositories: Sequence[str] = ()) -> list[PullRequest]:
    """The pull requests with a comment of ours, whose thumbs the study wants; of all repositories, or of these."""
    table = tables.pull_requests
    query = sa.select(table).where(
        table.c.comment_id.is_not(None), ~table.c.comment_gone, in_repositories(repositories)
    )
    return [PullRequest(**row._mapping) for row in store.select(query.order_by(table.c.id))]


def in_repositories(repositories: Sequence[str]) -> sa.ColumnElement[bool]:
    """The condition that a pull request is of one of these repositories, in any case of letters; none: of any."""
    names = [name.lower() for name in repositories]
    return sa.func.lower(tables.pull_requests.c.repository).in_(names) if names else sa.true()
