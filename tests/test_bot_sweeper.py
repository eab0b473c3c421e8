"""What was lost comes back: failed deliveries are asked for again, missed pull requests are found, over real HTTP."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from aiohttp import web
from app_keys import rsa_pair
from github_contract import Asked, contract, needs_openapi
from github_server import CUT, Answer, GitHubServer, Received, given, refusal
from githubd_server import Githubd, githubd, make_world, needs_githubd
from pydantic import SecretStr
from sqlalchemy.exc import OperationalError

from bot import missed as comparing
from bot import redelivery
from bot.auth import Installations, WrongCredentials, connect_app
from bot.missed import ALIVE, Missed, missed
from bot.redelivery import ask_again
from bot.store import Store, open_store
from bot.sweeper import sweep_forever
from checker.github.address import Host
from checker.github.client import GitHubError, connect

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
ATTEMPTS = re.compile(r"/app/hook/deliveries/(\d+)/attempts")
HOME, REPOSITORY, INSTALLATION = "acme/widgets", 42, 101


class GitHub:
    """Lists attempts at deliveries three to a page, makes new ones when asked to, and lists pull requests."""

    def __init__(self) -> None:
        self.now = START
        self.attempts: list[dict[str, Any]] = []
        self.answers: Callable[[str], int] = lambda _: 202
        self.refusals: dict[str, Answer] = {}
        self.pulls: dict[str, list[dict[str, Any]]] = {HOME: []}
        self.tokens: dict[int, Answer] = {}
        self.refused = 0
        self.asked: list[str] = []

    def attempt(self, guid: str, status: int, *, at: datetime | None = None) -> None:
        number = 12_345_678_001 + len(self.attempts)
        when = (at or self.now).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        row = {"id": number, "guid": guid, "event": "pull_request", "delivered_at": when, "status_code": status}
        self.attempts.append(row)

    def __call__(self, received: Received) -> Answer:
        path, _, query = received.path.partition("?")
        if match := ATTEMPTS.fullmatch(path):
            return self._deliver(int(match[1]))
        if path == "/app/hook/deliveries":
            return self._list(query, received.headers["host"])
        if match := re.fullmatch(r"/app/installations/(\d+)/access_tokens", path):
            token = {"token": "ghs_x", "expires_at": "2099-01-01T00:00:00Z"}
            self.refused += int(match[1]) in self.tokens
            return self.tokens.get(int(match[1]), given(token, 201))
        page = int(re.search(r"&page=(\d+)", f"&{query}")[1])  # type: ignore[index]
        pulls = self.pulls.get(path.removeprefix("/repos/").removesuffix("/pulls"))
        return refusal(404, "Not Found") if pulls is None else given(pulls[(page - 1) * 100 : page * 100])

    def _deliver(self, number: int) -> Answer:
        guid = next(row["guid"] for row in self.attempts if row["id"] == number)
        if guid in self.refusals:
            return self.refusals[guid]
        self.asked.append(guid)
        self.attempt(guid, self.answers(guid))
        return given({}, 202)

    def _list(self, query: str, host: str) -> Answer:
        rows = self.attempts[::-1]
        if match := re.search(r"cursor=(\d+)", query):
            rows = [row for row in rows if row["id"] <= int(match[1])]
        following = f'<http://{host}/app/hook/deliveries?cursor={rows[3]["id"]}>; rel="next"' if rows[3:] else ""
        return given(rows[:3]).also(link=following)


def pull(number: int, head: str, *, created: datetime = START, of: int = REPOSITORY) -> dict[str, Any]:
    base = {"repo": {"id": of, "full_name": HOME}}
    return {"number": number, "created_at": created.isoformat(), "head": {"sha": head}, "base": base}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{tmp_path / 'state.sqlite'}")
    yield opened
    opened.close()


async def at_once(_: float, __: str) -> None:
    """Nobody waits in a test."""


@asynccontextmanager
async def serving(github: Any) -> AsyncIterator[tuple[Installations, GitHubServer]]:
    with GitHubServer(github) as server:
        async with connect_app(server.host, 1, SecretStr(rsa_pair()[0]), wait=at_once) as installations:
            yield installations, server


async def look(github: GitHub, store: Store) -> list[str]:
    """The deliveries that one look asks for."""
    github.asked.clear()
    async with serving(github) as (installations, _):
        count = await ask_again(installations, store, now=lambda: github.now)
    assert count == len(github.asked)
    return list(github.asked)


# Failed deliveries


async def test_what_failed_is_asked_for_once_and_what_arrived_is_not(store: Store) -> None:
    github = GitHub()
    for guid, status in (("a", 502), ("b", 202), ("c", 0), ("d", 500), ("d", 202), ("e", 202), ("e", 500)):
        github.attempt(guid, status)
    assert await look(github, store) == ["a", "c"]
    assert await look(github, store) == []


async def test_only_what_was_delivered_since_the_last_look_is_listed_again(store: Store) -> None:
    github = GitHub()
    for number in range(30):
        github.attempt(f"old{number}", 202, at=START - (30 - number) * HOUR)
    await look(github, store)
    github.now += HOUR
    github.attempt("new", 500)
    async with serving(github) as (installations, server):
        await ask_again(installations, store, now=lambda: github.now)
    assert [one.method for one in server.received] == ["GET", "POST"]


async def test_a_delivery_that_is_listed_late_is_found(store: Store) -> None:
    github = GitHub()
    github.attempt("first", 202)
    await look(github, store)
    github.attempt("late", 500, at=START - 10 * MINUTE)
    assert await look(github, store) == ["late"]


async def test_a_delivery_that_fails_again_is_asked_for_at_growing_intervals_for_a_day(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    github = GitHub()
    github.answers = lambda guid: 500
    github.attempt("poison", 500)
    times = []
    async with serving(github) as (installations, _):
        for minutes in [*range(0, 240, 5), *range(240, 30 * 60, 60)]:
            github.now = START + minutes * MINUTE
            if await ask_again(installations, store, now=lambda: github.now):
                times.append(minutes)
    assert times[:7] == [0, 5, 15, 35, 75, 135, 195]
    assert 24 * 60 - 60 < times[-1] <= 24 * 60
    said = [record for record in caplog.records if "given up" in record.message]
    assert [record.levelno for record in said] == [logging.WARNING]
    assert f"poison was asked for {len(times)} times" in said[0].message
    github.attempt("other", 500)
    assert await look(github, store) == ["other"]


async def test_a_delivery_that_arrives_at_last_is_forgotten(store: Store) -> None:
    github = GitHub()
    github.attempt("a", 500)
    github.answers = lambda guid: 500
    assert await look(github, store) == ["a"]
    github.now += 5 * MINUTE
    github.answers = lambda guid: 202
    assert await look(github, store) == ["a"]
    github.now += DAY
    assert await look(github, store) == []
    assert store.recall("deliveries")["failed"] == {}


async def test_an_attempt_that_never_shows_up_is_asked_for_again(store: Store) -> None:
    github = GitHub()
    github.attempt("a", 500)
    assert await look(github, store) == ["a"]
    del github.attempts[1:]
    github.now += 6 * MINUTE
    assert await look(github, store) == ["a"]


async def test_a_look_asks_for_so_many_and_the_next_one_for_the_rest(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redelivery, "_MOST_ASKED", 10)
    github = GitHub()
    github.answers = lambda guid: 500
    for number in range(13):
        github.attempt(f"{number}", 502)
    assert await look(github, store) == [f"{number}" for number in range(10)]
    github.now += 5 * MINUTE
    # Those that were never asked for come before those that failed again.
    github.attempt("new", 502)
    assert (await look(github, store))[:4] == ["10", "11", "12", "new"]


async def test_a_delivery_that_github_keeps_no_longer_does_not_stop_the_others(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    github = GitHub()
    for guid in ("old", "new"):
        github.attempt(guid, 500)
    github.refusals["old"] = refusal(404, "Not Found")
    assert await look(github, store) == ["new"]
    assert "does not deliver old again" in caplog.text
    github.now += 2 * HOUR
    assert await look(github, store) == []


async def test_what_was_asked_for_before_github_broke_off_is_remembered(store: Store) -> None:
    github = GitHub()
    for guid in ("first", "second"):
        github.attempt(guid, 500)
    github.refusals["second"] = CUT
    with pytest.raises(GitHubError, match="no answer in 5 attempts"):
        await look(github, store)
    github.refusals.clear()
    assert await look(github, store) == ["second"]


async def test_deliveries_that_may_not_be_listed_are_named(store: Store) -> None:
    async with serving(lambda _: refusal(403, "Resource not accessible")) as (installations, _):
        with pytest.raises(GitHubError, match=r"does not list the App's deliveries \(403"):
            await ask_again(installations, store, now=lambda: START)


# Pull requests that were missed


async def found(github: Any, store: Store) -> list[Missed]:
    tasks: list[Missed] = []

    async def enqueue(one: Missed) -> None:
        tasks.append(one)

    async with serving(github) as (installations, _):
        assert await missed(installations, store, enqueue=enqueue) == len(tasks)
    return tasks


def remember(store: Store, number: int, head: str, *, repository: int = REPOSITORY, name: str = HOME) -> None:
    """A pull request whose head was checked."""
    known = store.pull_request(INSTALLATION, repository, name, number)
    store.keep_check_run(known.id, head, 1, concluded=True)


async def test_a_head_without_a_check_run_and_a_new_pull_request_are_missed(store: Store) -> None:
    github = GitHub()
    store.remember(ALIVE, START.isoformat())
    remember(store, 1, "a1")
    remember(store, 2, "b1")
    before = START - DAY
    github.pulls[HOME] = [
        pull(1, "a1"),
        pull(2, "b2", created=before),
        pull(3, "c1", created=START + HOUR),
        pull(4, "d1", created=before),
    ]
    assert await found(github, store) == [
        Missed(INSTALLATION, REPOSITORY, HOME, 2, "b2"),
        Missed(INSTALLATION, REPOSITORY, HOME, 3, "c1"),
    ]


async def test_an_app_that_was_never_alive_leaves_what_it_does_not_know(store: Store) -> None:
    github = GitHub()
    remember(store, 1, "a1")
    github.pulls[HOME] = [pull(1, "a2"), pull(2, "b1", created=START + DAY)]
    assert [one.number for one in await found(github, store)] == [1]


async def test_every_page_of_pull_requests_is_read(store: Store) -> None:
    github = GitHub()
    remember(store, 1, "a1")
    store.remember(ALIVE, START.isoformat())
    github.pulls[HOME] = [pull(number, "h", created=START + HOUR) for number in range(2, 252)]
    assert [one.number for one in await found(github, store)] == list(range(2, 252))


async def test_another_repository_under_the_old_name_is_left_alone(store: Store) -> None:
    github = GitHub()
    remember(store, 1, "a1")
    github.pulls[HOME] = [pull(1, "a2", of=REPOSITORY + 1)]
    assert await found(github, store) == []


@pytest.mark.parametrize(
    "closed",
    [refusal(403, "This installation has been suspended"), refusal(404, "Not Found"), refusal(422, "not accessible")],
    ids=["suspended", "uninstalled", "taken out"],
)
async def test_what_is_closed_is_left_out_with_a_line_and_stops_nothing(
    store: Store, closed: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    github = GitHub()
    store.pull_request(INSTALLATION - 1, 7, "gone/away", 1)
    store.pull_request(INSTALLATION, 8, "acme/deleted", 1)
    remember(store, 1, "a1")
    github.tokens[INSTALLATION - 1] = closed
    github.pulls[HOME] = [pull(1, "a2")]
    assert [one.head_sha for one in await found(github, store)] == ["a2"]
    lines = [record.message for record in caplog.records if "are not compared" in record.message]
    assert len(lines) == 2
    assert not any("gone/away" in line or "acme/deleted" in line for line in lines)


async def test_where_github_gave_no_answer_the_rest_is_enqueued_and_the_comparison_is_not_done(store: Store) -> None:
    github = GitHub()
    store.pull_request(INSTALLATION - 1, 7, "acme/broken", 1)
    remember(store, 1, "a1")
    github.tokens[INSTALLATION - 1] = refusal(502, "Server Error")
    github.pulls[HOME] = [pull(1, "a2")]
    tasks: list[Missed] = []

    async def enqueue(one: Missed) -> None:
        tasks.append(one)

    async with serving(github) as (installations, _):
        with pytest.raises(GitHubError, match="no answer for 1 of 2 repositories"):
            await missed(installations, store, enqueue=enqueue)
    assert [one.head_sha for one in tasks] == ["a2"]


async def test_wrong_credentials_are_said_once_and_not_for_every_repository(store: Store) -> None:
    github = GitHub()
    for number in range(5):
        store.pull_request(number, number, f"acme/{number}", 1)
        github.tokens[number] = refusal(401, "A JSON web token could not be decoded")
    with pytest.raises(WrongCredentials):
        await found(github, store)


@needs_openapi
async def test_every_request_is_as_github_describes_it(store: Store) -> None:
    github = GitHub()
    for guid in "abcd":
        github.attempt(guid, 500)
    remember(store, 1, "a1")
    async with serving(github) as (installations, server):
        await ask_again(installations, store, now=lambda: github.now)
        await missed(installations, store, enqueue=nothing)
    complaints, paths = [], set()
    for one in server.received:
        url = urlsplit(one.path)
        found = contract().complaints(Asked(one.method, url.path, dict(parse_qsl(url.query)), one.headers["accept"]))
        # Nothing is described of the kind of an answer without a body; how a token is asked for is not looked at here.
        complaints += found if one.method == "GET" else [line for line in found if "media type" not in line]
        paths.add(url.path)
    assert complaints == []
    assert {f"/repos/{HOME}/pulls", "/app/hook/deliveries/12345678001/attempts"} <= paths


# For ever


@asynccontextmanager
async def sweeping(github: Any, store: Store, enqueue: Any, now: datetime = START) -> AsyncIterator[asyncio.Task[None]]:
    async with serving(github) as (installations, _):
        running = asyncio.create_task(
            sweep_forever(installations, store, enqueue=enqueue, now=lambda: now, seconds=0.01)
        )
        try:
            yield running
        finally:
            running.cancel()
            await asyncio.wait([running])


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def nothing(_: Missed) -> None:
    """Keeps no task."""


async def test_the_time_of_the_last_life_is_kept_until_all_was_compared(store: Store) -> None:
    github = GitHub()
    before = (START - DAY).isoformat()
    store.remember(ALIVE, before)
    remember(store, 1, "a1")
    github.tokens[INSTALLATION] = refusal(502, "Server Error")
    async with sweeping(github, store, nothing):
        # Five attempts a round.
        await until(lambda: github.refused > 10)
        assert store.recall(ALIVE) == before
        del github.tokens[INSTALLATION]
        await until(lambda: store.recall(ALIVE) == START.isoformat())


async def test_a_bad_day_is_logged_once_and_survived(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    github = GitHub()
    github.attempt("a", 500)
    down = [True]
    served = lambda received: refusal(502, "Server Error") if down[0] else github(received)  # noqa: E731
    async with sweeping(served, store, nothing) as running:
        await asyncio.sleep(0.2)
        assert not running.done()
        assert caplog.text.count("The sweeper failed") == 1
        down[0] = False
        await until(lambda: github.asked)
    assert github.asked == ["a"]


async def test_a_database_that_is_away_is_survived_without_a_word_of_what_was_to_be_written(
    store: Store, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    github = GitHub()
    recall = store.recall
    away = [True]

    def sometimes(name: str) -> Any:
        if away[0]:
            raise OperationalError("select secret", {"who": "mona"}, Exception("mona"))
        return recall(name)

    monkeypatch.setattr(store, "recall", sometimes)
    github.attempt("a", 500)
    async with sweeping(github, store, nothing):
        await asyncio.sleep(0.1)
        away[0] = False
        await until(lambda: github.asked)
    assert "mona" not in caplog.text
    assert "secret" not in caplog.text
    assert "OperationalError" in caplog.text


async def test_a_bug_of_ours_ends_the_sweeper(store: Store) -> None:
    github = GitHub()
    remember(store, 1, "a1")
    github.pulls[HOME] = [pull(1, "a2")]

    async def broken(_: Missed) -> None:
        raise ZeroDivisionError

    async with sweeping(github, store, broken) as running:
        with pytest.raises(ZeroDivisionError):
            await asyncio.wait_for(asyncio.shield(running), 5)


# Against githubd


class Receiver:
    """The App's webhook; `status` is what it answers."""

    def __init__(self) -> None:
        self.status = 200
        self.got: list[tuple[str, str]] = []

    async def receive(self, request: web.Request) -> web.Response:
        payload = json.loads(await request.read())
        if self.status == 200:
            self.got.append((request.headers["X-GitHub-Delivery"], str(payload.get("action"))))
        return web.Response(status=self.status)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Githubd]:
    folder = tmp_path_factory.mktemp("sweeper")
    make_world(folder / "world.json", "sample")
    (folder / "key.pem").write_text(rsa_pair()[1], encoding="utf-8")
    app = ("--app-id", "1", "--app-key", str(folder / "key.pem"), "--secret", "s")
    with githubd(folder / "world.json", *app) as served:
        yield served
        log = served.control("log")
    assert (log["broken"], log["unmodelled"]) == ([], [])


@asynccontextmanager
async def installed(world: Githubd) -> AsyncIterator[tuple[Installations, Receiver]]:
    """The App's way in, and its webhook."""
    receiver = Receiver()
    app = web.Application()
    app.router.add_post("/webhook", receiver.receive)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    await control(world, "hooks", url=f"http://127.0.0.1:{runner.addresses[0][1]}/webhook")
    host = Host(rest=world.url, graphql=f"{world.url}/graphql")
    try:
        async with connect_app(host, 1, SecretStr(rsa_pair()[0]), wait=at_once) as installations:
            yield installations, receiver
    finally:
        await runner.cleanup()


async def control(world: Githubd, name: str, /, **body: Any) -> Any:
    return await asyncio.to_thread(world.control, name, body)


async def settled(world: Githubd) -> None:
    await asyncio.to_thread(world.control, "idle?seconds=0.1&timeout=10")


async def open_pull_request(world: Githubd, title: str) -> dict[str, Any]:
    commits = [{"message": title, "files": {f"{title}.txt": "1\n"}}]
    opened: dict[str, Any] = await control(
        world, "open_pr", repo=HOME, title=title, body="Fixes #11", actor="theo", commits=commits
    )
    return opened


def now() -> datetime:
    return datetime.now(UTC)


@needs_githubd
async def test_deliveries_that_got_lost_arrive_on_asking_under_their_first_id(world: Githubd, store: Store) -> None:
    async with installed(world) as (installations, receiver):
        await control(world, "hooks", lose=3)
        await open_pull_request(world, "lost")
        for text in ("one", "two", "three"):
            await control(world, "comment", repo=HOME, number=101, body=text, actor="theo")
        await settled(world)
        listed = [one for one in await asyncio.to_thread(world.control, "deliveries") if one["status_code"] == 502]
        assert len(listed) == 3
        assert await ask_again(installations, store, now=now) == 3
        await settled(world)
        assert {one["guid"] for one in listed} <= {guid for guid, _ in receiver.got}
        assert len(receiver.got) == len(set(receiver.got))
        assert await ask_again(installations, store, now=now) == 0
        assert store.recall("deliveries")["failed"] == {}


@needs_githubd
async def test_a_webhook_that_answers_500_gets_everything_when_it_is_well_again(world: Githubd, store: Store) -> None:
    ahead = [timedelta()]
    async with installed(world) as (installations, receiver):
        await ask_again(installations, store, now=now)
        receiver.status = 500
        for number in range(4):
            await control(world, "comment", repo=HOME, number=101, body=f"{number}", actor="theo")
        await settled(world)
        assert await ask_again(installations, store, now=lambda: now() + ahead[0]) == 4
        await settled(world)
        assert await ask_again(installations, store, now=lambda: now() + ahead[0]) == 0
        receiver.status = 200
        await control(world, "fault", kind="status", status=502, match="/app/hook/deliveries", count=2)
        await control(world, "fault", kind="secondary", retry_after=1, match="/attempts", count=1)
        ahead[0] = 6 * MINUTE
        assert await ask_again(installations, store, now=lambda: now() + ahead[0]) == 4
        await settled(world)
        assert len({guid for guid, _ in receiver.got}) == 4
        ahead[0] = 3 * HOUR
        assert await ask_again(installations, store, now=lambda: now() + ahead[0]) == 0


@needs_githubd
async def test_after_a_downtime_pushes_and_new_pull_requests_are_found(
    world: Githubd, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    tasks: list[Missed] = []

    async def enqueue(one: Missed) -> None:
        tasks.append(one)

    async with installed(world) as (installations, _):
        pushed, same = [await open_pull_request(world, title) for title in ("pushed", "same")]
        ids = {one["full_name"]: one["id"] for one in await repositories(installations)}
        for one in (pushed, same):
            known = store.pull_request(INSTALLATION, ids[HOME], HOME, one["number"])
            store.keep_check_run(known.id, one["head_sha"], 1, concluded=True)
        store.pull_request(INSTALLATION, ids["acme/engine"], "acme/engine", 2)
        await control(world, "add_repository", repo="acme/engine", remove=True)
        # Its margin would take in what other tests opened just now.
        monkey = pytest.MonkeyPatch()
        monkey.setattr(comparing, "_LATE", timedelta())
        await asyncio.sleep(1.1)
        store.remember(ALIVE, now().isoformat())
        await asyncio.sleep(1.1)
        again = await control(
            world, "push", repo=HOME, number=pushed["number"], commits=[{"message": "2", "files": {"x": "2\n"}}]
        )
        fresh = await open_pull_request(world, "fresh")
        await control(world, "rename_repo", repo=HOME, name="gadgets")
        await control(world, "fault", kind="status", status=502, match="/pulls", count=1)
        try:
            assert await missed(installations, store, enqueue=enqueue) == 2
        finally:
            monkey.undo()
            await control(world, "rename_repo", repo="acme/gadgets", name="widgets")
            await control(world, "add_repository", repo="acme/engine")
    assert sorted(tasks, key=lambda one: one.number) == [
        Missed(INSTALLATION, ids[HOME], "acme/gadgets", pushed["number"], again["head_sha"]),
        Missed(INSTALLATION, ids[HOME], "acme/gadgets", fresh["number"], fresh["head_sha"]),
    ]
    assert "are not compared" in caplog.text


@needs_githubd
async def test_a_suspended_installation_is_left_out(
    world: Githubd, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    async with installed(world) as (installations, _):
        store.pull_request(INSTALLATION, 1, HOME, 101)
        await control(world, "suspend")
        try:
            assert await missed(installations, store, enqueue=nothing) == 0
        finally:
            await control(world, "suspend", suspended=False)
    assert "The installation is suspended" in caplog.text


async def repositories(installations: Installations) -> list[dict[str, Any]]:
    async with installations.app_client() as app:
        made = await app.send("POST", f"/app/installations/{INSTALLATION}/access_tokens", {}, again=True)
    async with connect(installations.host, made["token"]) as client:
        answer = await client.item("/installation/repositories", {})
    found: list[dict[str, Any]] = answer["repositories"]
    return found
