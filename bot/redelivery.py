"""Deliveries that failed are asked for again. GitHub never delivers again by itself.

docs.github.com, "Handling failed webhook deliveries". One that comes twice does no harm: it keeps its id, and is
claimed once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from gidgethub import HTTPException

from bot.auth import Installations
from bot.store import Store
from checker.github.client import RESOURCE, Client, GitHubError

_LOOK = "deliveries"
# docs.github.com, "Redelivering webhooks": three days on github.com, seven on Enterprise Server.
_KEPT = timedelta(days=7)
# A delivery may be listed some time after it was made.
_LATE = timedelta(minutes=15)
_PAGE, _MOST_PAGES = 100, 100
_MOST_ASKED = 100
_GIVE_UP = timedelta(days=1)
_PAUSE, _LONGEST_PAUSE = timedelta(minutes=5), timedelta(hours=1)
# docs.github.com/rest/apps/webhooks, "Redeliver a delivery for an app webhook"; 404 for one that is kept no longer.
_REFUSED = frozenset({400, 404, 422})
_log = logging.getLogger(__name__)

Now = Callable[[], datetime]


@dataclass(frozen=True)
class Attempt:
    """One attempt at a delivery. `guid` is the delivery's id in its header, the same for all attempts at it."""

    id: int
    guid: str
    event: str
    at: datetime
    status: int

    @property
    def arrived(self) -> bool:
        """Whether the App answered 2xx; without an answer the status is 0, or GitHub's own 502 or 504."""
        return 200 <= self.status < 300


@dataclass(frozen=True)
class _Failed:
    """A delivery that did not arrive: the newest attempt at it, and how often it was asked for since when."""

    attempt: int
    first: datetime | None = None
    last: datetime | None = None
    asked: int = 0
    given_up: bool = False

    def is_due(self, now: datetime) -> bool:
        """Pauses double from five minutes to an hour."""
        if self.given_up:
            return False
        return self.last is None or now >= self.last + min(_PAUSE * 2 ** (self.asked - 1), _LONGEST_PAUSE)

    def is_hopeless(self, now: datetime) -> bool:
        return not self.given_up and self.first is not None and now > self.first + _GIVE_UP

    def asked_at(self, now: datetime) -> _Failed:
        return replace(self, first=self.first or now, last=now, asked=self.asked + 1)


async def ask_again(installations: Installations, store: Store, *, now: Now) -> int:
    """Asks for deliveries that failed, up to 100, the least often asked for first; how many that were.

    Each is asked for at growing intervals for a day, and then given up. Raises GitHubError; what was asked until then
    is remembered.
    """
    at = now()
    until, known = _read(await asyncio.to_thread(store.recall, _LOOK))
    async with installations.app_client() as client:
        attempts = await attempts_since(client, until - _LATE if until else at - _KEPT)
        failed = _settled(undelivered(attempts, known), at)
        due = sorted((one.asked, one.attempt, guid) for guid, one in failed.items() if one.is_due(at))[:_MOST_ASKED]
        until = max((one.at for one in attempts), default=until)
        try:
            return await _ask(client, [guid for *_, guid in due], failed, at)
        finally:
            await asyncio.to_thread(store.remember, _LOOK, _written(until, failed))


async def attempts_since(client: Client, since: datetime) -> list[Attempt]:
    """What GitHub tried to deliver, the newest first; 10,000 attempts at most. `client` speaks as the App.

    docs.github.com/rest/apps/webhooks, "List deliveries for an app webhook".
    """
    found: list[Attempt] = []
    listed = client.getiter(f"/app/hook/deliveries?per_page={_PAGE}", accept=RESOURCE)
    try:
        async with aclosing(listed):
            async for row in listed:
                attempt = _attempt(row)
                if attempt.at < since:
                    return found
                if len(found) == _PAGE * _MOST_PAGES:
                    _log.warning("There were more deliveries than can be looked through; those before %s", attempt.at)
                    return found
                found.append(attempt)
    except HTTPException as error:
        status = int(error.status_code)
        raise GitHubError(
            f"{client.host.web} does not list the App's deliveries ({status}: {error}).", status
        ) from None
    return found


def undelivered(attempts: Iterable[Attempt], known: Mapping[str, _Failed] | None = None) -> dict[str, _Failed]:
    """Deliveries that never arrived, by guid. `attempts`: the newest first; `known`: those that failed before."""
    failed = dict(known or {})
    newest: dict[str, int] = {}
    arrived = set()
    for attempt in attempts:
        newest.setdefault(attempt.guid, attempt.id)
        if attempt.arrived:
            arrived.add(attempt.guid)
    for guid, number in newest.items():
        failed[guid] = replace(failed.get(guid, _Failed(number)), attempt=number)
    return {guid: one for guid, one in failed.items() if guid not in arrived}


def _attempt(row: Mapping[str, Any]) -> Attempt:
    at = datetime.fromisoformat(row["delivered_at"])
    return Attempt(row["id"], row["guid"], row["event"], at, row["status_code"])


def _settled(failed: Mapping[str, _Failed], now: datetime) -> dict[str, _Failed]:
    """Without those that GitHub keeps no longer; those that were asked for in vain for a day are given up.

    Given up is not forgotten: GitHub still lists the last attempt, and it is not to be taken for a new one.
    """
    kept = {}
    for guid, one in failed.items():
        if one.is_hopeless(now):
            _log.warning("Delivery %s was asked for %d times in a day and did not arrive: given up.", guid, one.asked)
            kept[guid] = replace(one, given_up=True)
        elif one.first is None or now < one.first + _KEPT + _GIVE_UP:
            kept[guid] = one
    return kept


async def _ask(client: Client, due: Iterable[str], failed: dict[str, _Failed], at: datetime) -> int:
    """One after another, as GitHub wants writes; notes in `failed` what was done."""
    asked = 0
    for guid in due:
        path = f"/app/hook/deliveries/{failed[guid].attempt}/attempts"
        try:
            await client.send("POST", path, {}, again=True)
        except GitHubError as error:
            if error.status not in _REFUSED:
                raise
            _log.warning("GitHub does not deliver %s again: %s", guid, error)
            failed[guid] = replace(failed[guid].asked_at(at), given_up=True)
        else:
            failed[guid] = failed[guid].asked_at(at)
            asked += 1
    if asked:
        _log.info("Asked GitHub for %d deliveries that had failed.", asked)
    return asked


def _read(stored: Any) -> tuple[datetime | None, dict[str, _Failed]]:
    if stored is None:
        return None, {}
    failed = {
        guid: _Failed(attempt, _time(first), _time(last), asked, given_up)
        for guid, (attempt, first, last, asked, given_up) in stored["failed"].items()
    }
    return _time(stored["until"]), failed


def _written(until: datetime | None, failed: Mapping[str, _Failed]) -> dict[str, Any]:
    rows = {
        guid: [one.attempt, _text(one.first), _text(one.last), one.asked, one.given_up] for guid, one in failed.items()
    }
    return {"until": _text(until), "failed": rows}


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _text(time: datetime | None) -> str | None:
    return time.isoformat() if time else None
