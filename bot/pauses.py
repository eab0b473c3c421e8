"""Beyond the caps: whether and until when, and the one sentence about it that an hour has for each pull request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from bot import writing
from bot.caps import (
    CHECKS_OF_A_PULL_REQUEST,
    CHECKS_OF_A_STRANGER,
    COMMANDS_OF_A_PERSON,
    COMMANDS_ON_A_PULL_REQUEST,
    free_at,
)
from bot.store import PullRequest
from bot.work import Work, threaded
from checker.github.client import Client

MARK = "<!-- paichecker:pause -->"
_HOUR = timedelta(hours=1)


async def checks_end(
    work: Work, pull_request: PullRequest, who: str, *, is_maintainer: Callable[[], Awaitable[bool]]
) -> datetime | None:
    """When somebody may ask for a check again; None: now. `is_maintainer` is asked only where it matters."""
    store, now = work.store, work.now()
    here = await threaded(store.trigger_times, pull_request.id, now - _HOUR)
    theirs = await threaded(store.trigger_times_of, who, pull_request.repository_id, now - _HOUR)
    of_all, of_one = free_at(CHECKS_OF_A_PULL_REQUEST, here, now), free_at(CHECKS_OF_A_STRANGER, theirs, now)
    if of_one is not None and await is_maintainer():
        of_one = None
    return max(filter(None, (of_all, of_one)), default=None)


async def commands_end(work: Work, pull_request: PullRequest, who: str) -> datetime | None:
    """When somebody's commands are carried out again; None: now."""
    store, now = work.store, work.now()
    here = await threaded(store.command_times, pull_request.id, now - _HOUR)
    theirs = await threaded(store.command_times_of, who, pull_request.repository_id, now - _HOUR)
    limits = free_at(COMMANDS_ON_A_PULL_REQUEST, here, now), free_at(COMMANDS_OF_A_PERSON, theirs, now)
    return max(filter(None, limits), default=None)


def no_check(until: datetime) -> str:
    """Why there is no check: a clause."""
    return (
        "more checks were asked for within an hour than this App allows; "
        f"from {until:%H:%M} UTC on `/paichecker recheck`, or the check run's button, works again"
    )


def no_command(until: datetime) -> str:
    """Why a command is left alone: a clause."""
    return (
        "more commands were given within an hour than this App carries out; "
        f"from {until:%H:%M} UTC on it hears new ones again"
    )


async def say_once_an_hour(work: Work, client: Client, pull_request: PullRequest, why: str) -> None:
    """A comment, unless one of the kind was written within the hour: more of them are what a flood wants."""
    place = (client, pull_request.repository, pull_request.number)
    since = work.now() - _HOUR
    if not await writing.find_comments(*place, begin=MARK, login=work.login, since=since):
        await writing.create_comment(*place, f"{MARK}\n{why[:1].upper()}{why[1:]}.")
