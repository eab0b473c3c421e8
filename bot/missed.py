"""Heads that were never checked, for nothing was told of them: after a downtime open pull requests are compared."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bot.auth import ClockSkew, Gone, Installations, NotGranted, Suspended, WrongCredentials
from bot.store import Store
from checker.github.client import RESOURCE, Client, GitHubError, NotFoundError

ALIVE = "alive"
"""Under this name the store remembers when the App last was at work (ISO 8601)."""

# The App writes down now and then that it is alive, so some time before that counts as after it.
_LATE = timedelta(minutes=15)
_PAGE = 100
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Missed:
    """A head of an open pull request that no check run of ours is known for."""

    installation: int
    repository_id: int
    repository: str
    number: int
    head_sha: str


async def missed(
    installations: Installations,
    store: Store,
    *,
    enqueue: Callable[[Missed], Awaitable[None]],
    installation: int | None = None,
    since: datetime | None = None,
) -> int:
    """Enqueues the open pull requests of known repositories whose head was never checked; how many.

    One that is not known counts if it was opened after the App was last alive: those before were there before the App.
    `installation`: only those of this one, which heard nothing from `since` on.
    Raises GitHubError at the end, when all others were looked through, if GitHub gave no answer for some repositories:
    look again later. What is closed to the App is left out with a line in the log.
    """
    remembered = await asyncio.to_thread(store.recall, ALIVE)
    alive = since or (datetime.fromisoformat(remembered) if remembered else None)
    known = await asyncio.to_thread(store.repositories)
    names = {(of, repository_id): name for of, repository_id, name in known if installation in (None, of)}
    found, unanswered = 0, 0
    for (of, repository_id), name in names.items():
        try:
            wanted = await _missed_in(installations, store, of, repository_id, name, alive)
        except (ClockSkew, WrongCredentials):
            raise
        except GitHubError as error:
            _log.warning("Open pull requests of repository %d are not compared: %s", repository_id, error)
            unanswered += not _is_closed(error)
            continue
        for one in wanted:
            await enqueue(one)
        found += len(wanted)
    if unanswered:
        raise GitHubError(f"GitHub gave no answer for {unanswered} of {len(names)} repositories.")
    return found


def _is_closed(error: GitHubError) -> bool:
    """Whether GitHub meant what it answered, so that asking again changes nothing."""
    return isinstance(error, Suspended | Gone | NotGranted | NotFoundError) or error.status is not None


async def _missed_in(
    installations: Installations,
    store: Store,
    installation: int,
    repository_id: int,
    name: str,
    alive: datetime | None,
) -> list[Missed]:
    found = []
    async with installations.client(installation, repository_id) as client, aclosing(_open(client, name)) as listed:
        async for pull in listed:
            home = pull["base"]["repo"]
            # Another repository may have the name by now, and this token is not for that one.
            if home["id"] == repository_id and await asyncio.to_thread(_is_missed, store, repository_id, pull, alive):
                head = pull["head"]["sha"]
                found.append(Missed(installation, repository_id, home["full_name"], pull["number"], head))
    return found


async def _open(client: Client, repository: str) -> AsyncGenerator[dict[str, Any], None]:
    """Open pull requests, page by page: gidgethub would keep every page, and one is megabytes."""
    page = 0
    while True:
        page += 1
        text = await client.text(f"/repos/{repository}/pulls?state=open&per_page={_PAGE}&page={page}", RESOURCE)
        rows = json.loads(text or "[]")
        for row in rows:
            yield row
        if len(rows) < _PAGE:
            return


def _is_missed(store: Store, repository_id: int, pull: Mapping[str, Any], alive: datetime | None) -> bool:
    known = store.known(repository_id, pull["number"])
    if known is not None:
        return store.check_run(known.id, pull["head"]["sha"]) is None
    return alive is not None and datetime.fromisoformat(pull["created_at"]) > alive - _LATE
