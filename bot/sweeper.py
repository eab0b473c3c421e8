"""What was lost on the way: failed deliveries are asked for again; after a downtime open pull requests are compared.

GitHub never delivers again by itself (docs.github.com, "Handling failed webhook deliveries"). A delivery that comes
twice does no harm: it keeps its id, and is claimed once.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from gidgethub import HTTPException
from sqlalchemy.exc import OperationalError

from bot.auth import ClockSkew, Gone, Installations, NotGranted, Suspended, WrongCredentials
from bot.store import Store
from checker.github.client import Client, GitHubError, NotFoundError

ALIVE = "alive"
"""Under this name the store remembers when the App last was at work (ISO 8601)."""

_LOOK = "deliveries"
# docs.github.com, "Redelivering webhooks": three days on github.com, seven on Enterprise Server.
_KEPT = timedelta(days=7)
# A delivery may be listed some time after it was made.
_LATE = timedelta(minutes=15)
_MOST_PAGES = 100
_MOST_ASKED = 100
_GIVE_UP = timedelta(days=1)
_PAUSE, _LONGEST_PAUSE = timedelta(minutes=5), timedelta(hours=1)
# docs.github.com/rest/apps/webhooks, "Redeliver a delivery for an app webhook"; 404 for one that is kept no longer.
_REFUSED = frozenset({400, 404, 422})
_JSON = "application/vnd.github+json"
_PAGE = 100
_SECONDS = 300.0
_MOST_COMPARISONS = 12
_BAD_DAYS = (GitHubError, OperationalError, TimeoutError)
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
class Missed:
    """A head of an open pull request that no check run of ours is known for."""

    installation: int
    repository_id: int
    repository: str
    number: int
    head_sha: str


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
    listed = client.getiter(f"/app/hook/deliveries?per_page={_PAGE}", accept=_JSON)
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
    alive = since or _time(await asyncio.to_thread(store.recall, ALIVE))
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
        text = await client.text(f"/repos/{repository}/pulls?state=open&per_page={_PAGE}&page={page}", _JSON)
        rows = json.loads(text or "[]")
        for row in rows:
            yield row
        if len(rows) < _PAGE:
            return


def _is_missed(store: Store, repository_id: int, pull: Mapping[str, Any], alive: datetime | None) -> bool:
    known = store.known(repository_id, pull["number"])
    if known is not None:
        return store.check_run(known.id, pull["head"]["sha"]) is None
    # The App writes down now and then that it is alive, so some time before that counts as after it.
    return alive is not None and datetime.fromisoformat(pull["created_at"]) > alive - _LATE


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
