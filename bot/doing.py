"""What each kind of task does. Everything may be done twice; what takes long, the check, is only asked for here."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from bot.auth import Installations
from bot.checked import Standing
from bot.conversation import hear, is_shadow, standing_of
from bot.examining import show_pause
from bot.feedback import commented, note_thumbs
from bot.missed import Missed, missed
from bot.pauses import checks_end, no_check, say_once_an_hour
from bot.publishing import show_started
from bot.store import PullRequest, Store
from bot.tasks import Kind, Task
from bot.work import Asked, Work, threaded
from checker.github.client import Client, GitHubError

log = logging.getLogger(__name__)


async def do(work: Work, task: Task) -> list[Asked]:
    """Does it, and says which checks it asks for.

    Every delivery tells a repository's present name: one that told of a renaming may have been lost, or never sent.
    """
    if task.repository_id and await threaded(work.store.is_renamed, task.repository_id, task.repository):
        await threaded(work.store.rename, task.repository_id, task.repository, task.installation)
    return await _DOES[task.kind](work, task)


async def _check(work: Work, task: Task) -> list[Asked]:
    pull_request = await threaded(
        work.store.pull_request, task.installation, task.repository_id, task.repository, task.number
    )
    return await _ask(work, task, pull_request)


async def _ask(work: Work, task: Task, pull_request: PullRequest) -> list[Asked]:
    """A trigger, once for each delivery; within the caps, and with a check run in progress at once."""
    key = f"{task.key}/{pull_request.id}"
    # What was begun is finished: it must not count against itself.
    if not await threaded(work.store.is_trigger, key) and await _pause(work, task, pull_request):
        return []
    # The first check starts at once, whatever asked for it.
    delay = task.delay if await threaded(work.store.newest_trigger, pull_request.id) else 0
    trigger = await threaded(
        work.store.trigger,
        pull_request.id,
        key=key,
        why=task.why,
        who=task.who or None,
        at=work.now(),
    )
    if task.head_sha:
        await _show_started(work, pull_request, task.head_sha)
    return [Asked(pull_request.installation, pull_request.id, pull_request.partition, trigger, delay)]


async def _show_started(work: Work, pull_request: PullRequest, head_sha: str) -> None:
    """At once: the check itself may have to wait."""
    async with work.installations.client(pull_request.installation, pull_request.repository_id) as client:
        if not await is_shadow(work, client, pull_request):
            await show_started(work, client, pull_request, head_sha)


async def _pause(work: Work, task: Task, pull_request: PullRequest) -> datetime | None:
    """Until when no check may be asked for, after that was said; None: one may."""
    if task.kind is Kind.CLOSED_OFF:
        # What nobody may read any longer is taken back, however often.
        return None
    opened = partial(work.installations.client, pull_request.installation, pull_request.repository_id)

    async def is_maintainer() -> bool:
        async with opened() as client:
            return await standing_of(client, pull_request, task.who) is Standing.MAINTAINER

    until = await checks_end(work, pull_request, task.who, is_maintainer=is_maintainer)
    if until is not None:
        log.info("more checks than allowed", extra={"repository": task.repository, "number": pull_request.number})
        async with opened() as client:
            await _say(work, client, task, pull_request, no_check(until))
    return until


async def _say(work: Work, client: Client, task: Task, pull_request: PullRequest, why: str) -> None:
    """To who said a command in a comment, to others on the check run: a check run that never ends blocks."""
    if await is_shadow(work, client, pull_request):
        return
    if task.kind is Kind.COMMANDS:
        await say_once_an_hour(work, client, pull_request, why)
    else:
        await show_pause(work, client, pull_request, task.head_sha, why)


async def _commands(work: Work, task: Task) -> list[Asked]:
    pull_request = await threaded(
        work.store.pull_request, task.installation, task.repository_id, task.repository, task.number
    )
    key = await hear(work, task, pull_request)
    again = await threaded(work.store.by_id, pull_request.id) if key else None
    asked = []
    if key is not None and again is not None:
        # The delivery's id is not signed: the same comment under another one asks for nothing more.
        asked = await _ask(work, replace(task, why="recheck", key=key), again)
    await threaded(work.store.finish_commands, task.comment_id)
    return asked


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


async def refresh_thumbs(installations: Installations, store: Store, repositories: Sequence[str]) -> None:
    """Reads the thumbs on all comments, before they are counted; what cannot be read stays as it was seen last."""
    for pull_request in await threaded(commented, store, repositories):
        try:
            async with installations.client(pull_request.installation, pull_request.repository_id) as client:
                await note_thumbs(client, store, pull_request, datetime.now(UTC))
        except GitHubError as error:
            log.warning("thumbs could not be read: %s", error, extra={"repository": pull_request.repository})


async def _issue_changed(work: Work, task: Task) -> list[Asked]:
    linked = await threaded(work.store.linked_to, task.repository, task.number)
    return [asked for pull_request in linked for asked in await _ask(work, task, pull_request)]


async def _head_check(work: Work, task: Task) -> list[Asked]:
    found = await threaded(work.store.with_head, task.repository_id, task.head_sha)
    return [asked for pull_request in found for asked in await _ask(work, task, pull_request)]


async def _renamed(work: Work, task: Task) -> list[Asked]:
    await threaded(work.store.rename, task.repository_id, task.repository, task.installation, former=task.former)
    return []


async def _account_renamed(work: Work, task: Task) -> list[Asked]:
    await threaded(work.store.rename_account, task.installation, task.former, task.repository)
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


async def _taken_out(work: Work, task: Task) -> list[Asked]:
    work.installations.forget(task.installation)
    for repository in task.repositories:
        await threaded(work.store.forget, installation=task.installation, repository_id=repository)
    return []


async def _tokens(work: Work, task: Task) -> list[Asked]:
    work.installations.forget(task.installation)
    since = f"suspended {task.installation}"
    if task.why == "suspend":
        await threaded(work.store.remember, since, work.now().isoformat())
    if task.why != "unsuspend":
        return []
    return await _back(work, replace(task, who=""), await threaded(work.store.recall, since))


async def _back(work: Work, task: Task, since: str | None) -> list[Asked]:
    """What was under way when the App was suspended, and what happened meanwhile: GitHub told nothing of it."""
    left = await threaded(work.store.uncovered, task.installation)
    asked = [one for pull_request in left for one in await _ask(work, task, pull_request)]
    found: list[Missed] = []

    async def note(one: Missed) -> None:
        found.append(one)

    then = datetime.fromisoformat(since) if since else None
    await missed(work.installations, work.store, enqueue=note, installation=task.installation, since=then)
    for one in found:
        where = replace(task, repository_id=one.repository_id, repository=one.repository, number=one.number)
        asked += await _check(work, replace(where, head_sha=one.head_sha))
    return asked


_DOES: Mapping[Kind, Callable[[Work, Task], Awaitable[list[Asked]]]] = {
    Kind.CHECK: _check,
    Kind.COMMANDS: _commands,
    Kind.COMMENT_DELETED: _comment_deleted,
    Kind.CLOSED: _closed,
    Kind.ISSUE_CHANGED: _issue_changed,
    Kind.HEAD_CHECK: _head_check,
    Kind.RENAMED: _renamed,
    Kind.ACCOUNT_RENAMED: _account_renamed,
    Kind.CLOSED_OFF: _closed_off,
    Kind.FORGET: _forget,
    Kind.TAKEN_OUT: _taken_out,
    Kind.TOKENS: _tokens,
}
