"""Looks for what was lost on the way: deliveries that failed, and pull requests of which nothing was told."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from sqlalchemy.exc import OperationalError

from bot.auth import Installations
from bot.missed import ALIVE, Missed, missed
from bot.redelivery import Now, ask_again
from bot.store import Store
from checker.github.client import GitHubError

_SECONDS = 300.0
_MOST_COMPARISONS = 12
_BAD_DAYS = (GitHubError, OperationalError, TimeoutError)
_log = logging.getLogger(__name__)


def _now() -> datetime:
    return datetime.now(UTC)


async def sweep_forever(
    installations: Installations,
    store: Store,
    *,
    enqueue: Callable[[Missed], Awaitable[None]],
    now: Now = _now,
    seconds: float = _SECONDS,
) -> None:
    """Compares once, then asks again for what failed, every `seconds`, give or take a fifth. Never returns.

    A GitHub or a database that does not answer is logged once for each kind until it answers again, and tried at the
    next round. Anything else is a bug of ours and is raised: nobody would notice a sweeper that goes on half-broken.
    """
    failing: set[tuple[str, str]] = set()

    async def compare() -> None:
        count = await missed(installations, store, enqueue=enqueue)
        if count:
            _log.info("Found %d pull requests that were missed.", count)

    async def ask() -> None:
        await ask_again(installations, store, now=now)

    async def be_alive() -> None:
        await asyncio.to_thread(store.remember, ALIVE, now().isoformat())

    comparisons = _MOST_COMPARISONS
    while True:
        if comparisons:
            done = await _survives("comparing pull requests", compare, failing)
            comparisons = 0 if done else comparisons - 1
        await _survives("asking for failed deliveries", ask, failing)
        # Until then the time of the life before is needed.
        if not comparisons:
            await _survives("remembering", be_alive, failing)
        await asyncio.sleep(seconds * random.uniform(0.8, 1.2))  # noqa: S311


async def _survives(what: str, action: Callable[[], Awaitable[None]], failing: set[tuple[str, str]]) -> bool:
    try:
        await action()
    except _BAD_DAYS as error:
        kind = (what, type(error).__name__)
        if kind not in failing:
            # A database's errors repeat what was to be written.
            why = str(error) if isinstance(error, GitHubError) else kind[1]
            _log.warning("The sweeper failed at %s and will try again: %s", what, why)
        failing.add(kind)
        return False
    failing -= {kind for kind in failing if kind[0] == what}
    return True
