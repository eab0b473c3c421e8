"""What each kind of task does. Everything may be done twice; what takes long, the check, is only asked for here."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta

from bot import checks
from bot.caps import CHECKS_OF_A_PULL_REQUEST, CHECKS_OF_A_STRANGER, within
from bot.checked import Standing
from bot.checks import Head
from bot.conversation import hear, is_shadow, standing_of
from bot.feedback import note_thumbs
from bot.publishing import conclude, show_started
from bot.store import PullRequest
from bot.tasks import Kind, Task
from bot.work import Asked, Work, threaded

log = logging.getLogger(__name__)

_HOUR = timedelta(hours=1)
_TOO_OFTEN = "more checks were asked for within an hour than this App allows; a maintainer can ask for one later"


async def do(work: Work, task: Task) -> list[Asked]:
    """Does it, and says which checks it asks for."""
    return await _DOES[task.kind](work, task)


async def _check(work: Work, task: Task) -> list[Asked]:
    pull_request = await threaded(
        work.store.pull_request, task.installation, task.repository_id, task.repository, task.number
    )
    return await _ask(work, task, pull_request)


async def _ask(work: Work, task: Task, pull_request: PullRequest) -> list[Asked]:
    """A trigger, once for each delivery; within the caps, and with a check run in progress at once."""
    if not await _is_allowed(work, task, pull_request):
        return []
    # The first check starts at once, whatever asked for it.
    delay = task.delay if await threaded(work.store.newest_trigger, pull_request.id) else 0
    trigger = await threaded(
        work.store.trigger,
        pull_request.id,
        key=f"{task.key}/{pull_request.id}",
        why=task.why,
        who=task.who or None,
        at=work.now(),
    )
    if task.head_sha:
        await _show_started(work, pull_request, task.head_sha)
    return [Asked(pull_request.id, pull_request.partition, trigger, delay)]


async def _show_started(work: Work, pull_request: PullRequest, head_sha: str) -> None:
    """Before the repository's settings are read; whether it is in shadow mode, its last check tells."""
    if await is_shadow(work, pull_request):
        return
    async with work.installations.client(pull_request.installation, pull_request.repository_id) as client:
        await show_started(work, client, pull_request, head_sha)


async def _is_allowed(work: Work, task: Task, pull_request: PullRequest) -> bool:
    """Caps on what costs a check. Beyond them the head still gets a conclusion: a check that never ends blocks."""
    store, now = work.store, work.now()
    here = await threaded(store.trigger_times, pull_request.id, now - _HOUR)
    theirs = await threaded(store.trigger_times_of, task.who, pull_request.repository_id, now - _HOUR)
    if within(CHECKS_OF_A_PULL_REQUEST, here, now) and within(CHECKS_OF_A_STRANGER, theirs, now):
        return True
    async with work.installations.client(pull_request.installation, pull_request.repository_id) as client:
        is_within = within(CHECKS_OF_A_PULL_REQUEST, here, now)
        if is_within and await standing_of(client, pull_request, task.who) is Standing.MAINTAINER:
            return True
        log.info("more checks than allowed", extra={"repository": task.repository, "number": pull_request.number})
        if task.head_sha and not await is_shadow(work, pull_request):
            head = Head(pull_request.repository, pull_request.number, task.head_sha)
            await conclude(work, client, pull_request, task.head_sha, checks.skipped(head, _TOO_OFTEN, at=now))
    return False


async def _commands(work: Work, task: Task) -> list[Asked]:
    pull_request = await threaded(
        work.store.pull_request, task.installation, task.repository_id, task.repository, task.number
    )
    if not await hear(work, task, pull_request):
        return []
    again = await threaded(work.store.by_id, pull_request.id)
    asked = replace(task, why="recheck")
    return await _ask(work, asked, again) if again else []


async def _comment_deleted(work: Work, task: Task) -> list[Asked]:
    pull_request = await threaded(work.store.known, task.repository_id, task.number)
    if pull_request is not None and pull_request.comment_id == task.comment_id:
        await threaded(work.store.change, pull_request.id, comment_gone=True)
    return []


async def _closed(work: Work, task: Task) -> list[Asked]:
    pull_request = await threaded(work.store.known, task.repository_id, task.number)
    if pull_request is not None and pull_request.comment_id is not None:
        async with work.installations.client(pull_request.installation, pull_request.repository_id) as client:
            await note_thumbs(client, work.store, pull_request, work.now())
    return []


async def _issue_changed(work: Work, task: Task) -> list[Asked]:
    linked = await threaded(work.store.linked_to, task.repository, task.number)
    return [asked for pull_request in linked for asked in await _ask(work, task, pull_request)]


async def _head_check(work: Work, task: Task) -> list[Asked]:
    found = await threaded(work.store.with_head, task.repository_id, task.head_sha)
    return [asked for pull_request in found for asked in await _ask(work, task, pull_request)]


async def _renamed(work: Work, task: Task) -> list[Asked]:
    await threaded(work.store.rename, task.repository_id, task.repository, task.installation)
    return []


async def _closed_off(work: Work, task: Task) -> list[Asked]:
    """A pull request elsewhere that read an issue of a repository which is private now must not show it any longer."""
    linked = await threaded(work.store.linked_to, task.repository, None)
    elsewhere = [pull_request for pull_request in linked if pull_request.repository_id != task.repository_id]
    return [asked for pull_request in elsewhere for asked in await _ask(work, task, pull_request)]


async def _forget(work: Work, task: Task) -> list[Asked]:
    work.installations.forget(task.installation, task.repository_id or None)
    await threaded(work.store.forget, installation=task.installation, repository_id=task.repository_id or None)
    return []


async def _tokens(work: Work, task: Task) -> list[Asked]:
    work.installations.forget(task.installation)
    return []


_DOES: Mapping[Kind, Callable[[Work, Task], Awaitable[list[Asked]]]] = {
    Kind.CHECK: _check,
    Kind.COMMANDS: _commands,
    Kind.COMMENT_DELETED: _comment_deleted,
    Kind.CLOSED: _closed,
    Kind.ISSUE_CHANGED: _issue_changed,
    Kind.HEAD_CHECK: _head_check,
    Kind.RENAMED: _renamed,
    Kind.CLOSED_OFF: _closed_off,
    Kind.FORGET: _forget,
    Kind.TOKENS: _tokens,
}
