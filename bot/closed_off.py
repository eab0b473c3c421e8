"""What we told and nobody may read any longer, of an issue that is private now, or deleted: it is taken back."""

from __future__ import annotations

import re

import sqlalchemy as sa

from bot import checks, tables, writing
from bot.checked import Checked
from bot.checks import Head
from bot.comment import MARKER
from bot.store import PullRequest
from bot.work import Work, threaded
from checker.github.client import Client

# A repository may be called `7/comment`, but rarely is.
_ELSEWHERE = r"(?:(?!\d+/comment/\d+$)([^/]+/[^/]+)/)?"
_TEXT_OF_ISSUE = re.compile(rf"issue/{_ELSEWHERE}(\d+)(?:-again-\d+)?(?:/edited|/comment/\d+)?")


async def tells_what_is_gone(client: Client, shown: Checked, now: Checked) -> bool:
    """Whether what is shown quotes or paraphrases what can be read no longer: an issue, or a comment on it.

    An issue that is only linked no longer can be read, and what was said of it stays true.
    """
    left = {_issue(name, now) for name in now.inputs}
    gone = {name for name in shown.inputs if name not in now.inputs and _issue(name, shown)}
    quoted = {evidence.source for finding in shown.report.findings for evidence in finding.evidence}
    if any(_issue(name, shown) in left for name in gone & quoted):
        return True
    for repository, number in sorted({issue for name in gone if (issue := _issue(name, shown))} - left):
        if not await writing.is_readable(client, repository, number):
            return True
    return False


def _issue(name: str, checked: Checked) -> tuple[str, int] | None:
    """The issue that a text of a pair belongs to (see `checker.pair.Pair.texts`)."""
    match = _TEXT_OF_ISSUE.fullmatch(name)
    return (match[1] or checked.repository, int(match[2])) if match else None


async def post_anew(work: Work, client: Client, pull_request: PullRequest, body: str) -> int | None:
    """Another comment in place of ours, or none where it is refused.

    Who may read a comment may read in its history what an edit took out.
    """
    place = (client, pull_request.repository, pull_request.number)
    number = await writing.create_comment(*place, body)
    await threaded(work.store.change, pull_request.id, comment_id=number)
    for old in await writing.find_comments(*place, begin=MARKER, login=work.login):
        if old != number:
            await writing.delete_comment(client, pull_request.repository, old)
    return number


async def empty_check_runs(work: Work, client: Client, pull_request: PullRequest, head_sha: str) -> None:
    """All but the newest one of this head: earlier ones stay to be read. Nothing takes their annotations back."""
    newest = await threaded(work.store.check_run, pull_request.id, head_sha)
    table = tables.check_runs
    heads = sa.select(table.c.head_sha).where(table.c.pull_request == pull_request.id)
    for (sha,) in await threaded(work.store.select, heads):
        body = checks.emptied(Head(pull_request.repository, pull_request.number, sha))
        for run in await writing.find_check_runs(client, pull_request.repository, pull_request.number, sha):
            if newest is None or run != newest[0]:
                await writing.edit_check_run(client, pull_request.repository, run, body)
