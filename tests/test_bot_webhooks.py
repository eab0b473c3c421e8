"""The webhook over real HTTP: hostile deliveries, bad days, and what is kept where all is well."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import hmac
import json
import logging
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import psycopg
import pytest
from databases import KINDS, database
from dbos import DBOS
from deliveries import (
    SECRET,
    Hook,
    durable,
    headers_of,
    hook,
    raw_request,
    settings_in,
    settled,
    signature,
)
from demo_stage import Stage, keys, open_stage
from github_server import GitHubServer, refusal
from githubd_server import free_port

from bot import webhooks
from bot.app import Server, listening, serve
from bot.comment import MARKER
from bot.settings import NotConfigured, load
from bot.tasks import Task
from bot.webhooks import LARGEST

# Stands in every body; it must never be seen in an answer, or in the log.
WORDS = "the-words-of-somebody"
OPENED: dict[str, Any] = {
    "action": "opened",
    "installation": {"id": 7},
    "repository": {"id": 42, "full_name": "acme/widgets"},
    "sender": {"login": "mia", "type": "User"},
    "pull_request": {"number": 5, "title": WORDS, "head": {"sha": "c" * 40}},
}
PULL = "pull_request"
LARGE = {**OPENED, "more": [{"text": WORDS * 10} for _ in range(7_000)]}


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing of a body and no secret is logged at any level, and no error unless the test takes it."""
    caplog.set_level(logging.DEBUG)
    yield
    records = caplog.get_records("call")
    assert not revealed(records)
    assert [record.getMessage() for record in records if record.levelno >= logging.WARNING] == []


def revealed(records: list[logging.LogRecord]) -> list[str]:
    """What should not stand in a log, and does."""
    whole = "".join(f"{record.getMessage()} {vars(record)}" for record in records)
    return [word for word in (WORDS, SECRET) if word in whole]


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What was logged as an error by the webhook, which then is taken from the log."""
    ours = [record for record in caplog.records if record.name == "bot.webhooks" and record.levelno >= logging.WARNING]
    assert not revealed(ours)
    for record in ours:
        caplog.records.remove(record)
    return [record.getMessage() for record in ours]


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Hook]:
    async with hook(settings_in(tmp_path)) as here:
        yield here


async def test_a_signed_delivery_is_kept_and_answered_202(server: Hook) -> None:
    assert await server.send(OPENED, PULL) == (202, "Taken.")
    assert server.kinds() == ["check"]


# Signatures

BODY = json.dumps(OPENED).encode()


@pytest.mark.parametrize(
    "given",
    [
        None,
        "",
        "sha256=",
        signature(BODY)[:-1],
        signature(BODY) + "0",
        signature(BODY).upper(),
        signature(BODY).removeprefix("sha256="),
        signature(BODY, "sha1"),
        signature(BODY, "sha1").replace("sha1", "sha256"),
        signature(BODY, "sha512"),
        signature(BODY, secret=""),
        signature(BODY, secret="another"),
        signature(BODY + b"\n"),
        f"{signature(BODY)}, {signature(BODY)}",
        "sha256=" + "٣" * 64,
        "sha256=" + "a" * 8000,
    ],
)
async def test_a_delivery_whose_signature_does_not_fit_is_refused(server: Hook, given: str | None) -> None:
    assert await server.send(BODY, PULL, X_Hub_Signature_256=given) == (401, "The signature does not fit.")
    assert server.kinds() == []


async def test_the_old_header_alone_is_no_signature(server: Hook) -> None:
    old = signature(BODY, "sha1")
    status, _ = await server.send(BODY, PULL, X_Hub_Signature_256=None, X_Hub_Signature=old)
    assert (status, server.kinds()) == (401, [])


@pytest.mark.parametrize("odd", [b"\xff\xfe\x80", b"\xc3\xa9", b"sha256=\xf0\x9f\x98\x80"])
async def test_bytes_that_are_no_text_are_no_signature(server: Hook, odd: bytes) -> None:
    answer = await server.raw(raw_request(BODY, X_Hub_Signature_256=odd.decode("latin-1")))
    assert answer.startswith("HTTP/1.1 401 ")


async def test_the_signature_is_of_the_bytes_as_they_came_and_not_of_their_meaning(server: Hook) -> None:
    same = json.dumps(OPENED, indent=1).encode()
    assert json.loads(same) == json.loads(BODY)
    assert (await server.send(same, PULL, X_Hub_Signature_256=signature(BODY)))[0] == 401
    assert (await server.send(same, PULL))[0] == 202


@pytest.mark.parametrize("body", [b"", b"no JSON", b"[" * 1_000_000, b'{"a": NaN}', b"\xff\xfe", BODY])
async def test_nothing_is_parsed_before_the_signature_was_verified(
    server: Hook, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parse(*_: object, **__: object) -> None:
        raise AssertionError("a body was parsed that nobody had signed")

    monkeypatch.setattr(json, "loads", parse)
    wrong = signature(body + b" ")
    # Names are not looked at either: who has no secret learns nothing about them.
    for names in ({}, {"X_GitHub_Event": "", "X_GitHub_Delivery": ""}):
        assert (await server.send(body, PULL, X_Hub_Signature_256=wrong, **names))[0] == 401


async def test_signatures_are_compared_in_constant_time(server: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []
    compare = hmac.compare_digest

    def noted(ours: bytes, given: bytes) -> bool:
        compared.append((ours, given))
        return compare(ours, given)

    monkeypatch.setattr(hmac, "compare_digest", noted)
    await server.send(BODY, PULL, X_Hub_Signature_256="sha256=0")
    assert compared == [(signature(BODY).encode(), b"sha256=0")]


# Bodies


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"no JSON",
        BODY[:-1],
        BODY + BODY,
        b"payload=%7B%22action%22%3A%22opened%22%7D",
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b"[]",
        json.dumps([OPENED]).encode(),
        b"null",
        b"5",
        b'"x"',
        b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"number": ' + b"9" * 5_000 + b"}",
        b'{"a": "\xff"}',
        b"\xef\xbb\xbf" + BODY[:-1],
    ],
)
async def test_a_signed_body_that_is_no_object_of_json_is_refused(server: Hook, body: bytes) -> None:
    assert await server.send(body, PULL) == (400, "This is no delivery of GitHub's.")
    assert server.kinds() == []


async def test_of_a_name_that_stands_twice_the_last_one_counts(server: Hook) -> None:
    twice = BODY.replace(b'{"action": "opened"', b'{"action": "closed", "action": "opened"')
    assert twice != BODY
    assert await server.send(twice, PULL) == (202, "Taken.")
    assert server.kinds() == ["check"]


@pytest.mark.parametrize(
    "odd",
    [
        {"installation": {"id": 10**400}},
        {"installation": {"id": 1e308}},
        {"repository": {"id": -1, "full_name": {"a": WORDS}}},
        {"sender": WORDS},
        {"sender": [WORDS]},
        {"action": [WORDS]},
        {"pull_request": WORDS},
    ],
)
async def test_a_signed_payload_that_is_not_as_documented_is_told_in_the_log_and_starts_nothing(
    server: Hook, odd: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    assert await server.send({**OPENED, **odd}, PULL) == (202, "Not understood.")
    assert server.kinds() == []
    (told,) = errors(caplog)
    assert told.startswith("a payload is not as documented: ")


@pytest.mark.parametrize("action", [WORDS + " and more", "x" * 101, 5, None])
async def test_an_action_that_is_no_word_does_not_reach_the_log(server: Hook, action: Any) -> None:
    # The fixture looks at the log.
    assert await server.send({**OPENED, "action": action}, PULL) == (202, "Nothing to do.")


async def test_an_event_that_nobody_asked_for_starts_nothing(server: Hook) -> None:
    assert await server.send(OPENED, "workflow_run") == (202, "Nothing to do.")
    assert await server.send({"zen": WORDS, "hook_id": 1}, "ping") == (202, "Nothing to do.")
    assert server.kinds() == []


# Sizes


async def test_a_body_that_says_it_is_too_large_is_not_read(server: Hook) -> None:
    begin = raw_request(b"", Content_Length=str(LARGEST + 1))
    assert (await server.raw(begin + b"x" * 1_000)).startswith("HTTP/1.1 413 ")


def chunked(*parts: bytes, end: bool = True) -> bytes:
    """As it goes over the wire without a length."""
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + (b"0\r\n\r\n" if end else b"")


async def test_a_body_that_does_not_say_so_is_read_no_further_than_is_allowed(server: Hook) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1 << 20
            yield bytes(1 << 20)

    async with (
        aiohttp.ClientSession() as session,
        session.post(server.address, data=endless(), headers=headers_of(b"")) as answer,
    ):
        assert answer.status == 413
    assert LARGEST < sent < 3 * LARGEST


async def test_a_body_in_parts_is_a_delivery(server: Hook) -> None:
    request = raw_request(
        BODY, chunked(BODY[:7], BODY[7:]), Content_Length=None, Transfer_Encoding="chunked", X_GitHub_Event=PULL
    )
    assert (await server.raw(request)).startswith("HTTP/1.1 202 ")
    assert server.kinds() == ["check"]


def largest() -> bytes:
    """A signed list of repositories is what may become so large."""
    one = {"id": 1, "node_id": "x" * 20, "name": "Hello-World", "full_name": "octo/Hello-World", "private": False}
    count = (LARGEST - 1_000) // (len(json.dumps(one)) + 2)
    return json.dumps({**OPENED, "repositories": [one] * count}).encode()


async def test_the_largest_delivery_is_taken(server: Hook) -> None:
    body = largest()
    assert LARGEST * 0.99 < len(body) <= LARGEST
    assert await server.send(body, PULL) == (202, "Taken.")


async def test_others_are_answered_while_the_largest_delivery_is_parsed() -> None:
    body = bytearray(largest())
    begin = time.perf_counter()
    json.loads(body)
    at_one_go = time.perf_counter() - begin
    # Of three, for this machine may have other things to do as well.
    assert min([await _standstill(webhooks._parsed(body)) for _ in range(3)]) < at_one_go / 3


async def _standstill(work: Coroutine[Any, Any, Any]) -> float:
    """How long the event loop stood still at most."""
    under_way, longest = asyncio.create_task(work), 0.0
    while not under_way.done():
        begin = time.perf_counter()
        await asyncio.sleep(0.001)
        longest = max(longest, time.perf_counter() - begin)
    return longest


# Connections


async def test_a_delivery_that_is_cut_off_is_none(server: Hook) -> None:
    assert await server.raw(raw_request(BODY, BODY[:-1], X_GitHub_Event=PULL), then="end") == ""
    lengthless = {"Content_Length": None, "Transfer_Encoding": "chunked", "X_GitHub_Event": PULL}
    assert await server.raw(raw_request(BODY, chunked(BODY, end=False), **lengthless), then="end") == ""
    assert server.kinds() == []


@pytest.mark.parametrize("body", [b"not packed at all", gzip.compress(BODY), gzip.compress(bytes(2 * LARGEST))])
async def test_nothing_is_unpacked_before_it_was_verified(server: Hook, body: bytes) -> None:
    given = raw_request(body, Content_Encoding="gzip", X_Hub_Signature_256=signature(BODY))
    assert (await server.raw(given)).startswith("HTTP/1.1 401 ")


@pytest.mark.parametrize(
    "odd",
    [
        {"Content_Length": "1x"},
        {"Content_Length": "-1"},
        {"Content_Length": "9" * 30},
        {"Content_Length": None, "Transfer_Encoding": "chunked"},
        {"Transfer_Encoding": "chunked"},
        {"X_GitHub_Delivery": "a" * 10_000},
        {"X_GitHub_Delivery": "a\r\n b"},
        {"X_GitHub_Delivery": "a\x00b"},
    ],
)
async def test_what_is_no_http_is_refused_and_not_told_in_the_log(server: Hook, odd: dict[str, str | None]) -> None:
    assert (await server.raw(raw_request(BODY, **odd))).startswith("HTTP/1.0 400 ")


async def test_a_client_that_never_ends_is_not_waited_for(server: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "_READING_SECONDS", 0.5)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    begin = time.monotonic()
    writer.write(raw_request(BODY, BODY[:1]))
    drip = asyncio.create_task(_drip(writer))
    answer = await reader.readline()
    drip.cancel()
    writer.close()
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert time.monotonic() - begin < 2


async def _drip(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b" ")
        await asyncio.sleep(0.05)


def test_a_client_is_waited_for_no_longer_than_github_waits() -> None:
    assert webhooks._READING_SECONDS <= 10
    assert webhooks._KEEPING_SECONDS <= 5


@asynccontextmanager
async def stalling(server: Hook, size: int, *, count: int) -> AsyncIterator[None]:
    """Clients that send so much of a body of 10 MB, signed or not, and then nothing."""
    connections = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(count)]
    for _, writer in connections:
        writer.write(raw_request(b"", bytes(size), Content_Length=str(10 << 20)))
        await writer.drain()
    await asyncio.sleep(0.3)
    yield
    for _, writer in connections:
        writer.close()


async def test_many_large_bodies_of_strangers_are_not_held_at_once(server: Hook) -> None:
    async with stalling(server, 2 << 20, count=webhooks._LARGE_AT_ONCE):
        large = asyncio.create_task(server.send(LARGE, PULL))
        # Ordinary deliveries are not kept waiting by them.
        assert await server.send(OPENED, PULL) == (202, "Taken.")
        await asyncio.wait([large], timeout=0.5)
        assert not large.done()
    assert await large == (202, "Taken.")


async def test_a_large_delivery_leaves_its_room_to_the_next(server: Hook) -> None:
    wrong = signature(b"")
    answers = [await server.send(LARGE, PULL, X_Hub_Signature_256=given) for given in [wrong] * 6 + [None] * 6]
    assert {status for status, _ in answers} == {401}
    assert await server.send(LARGE, PULL) == (202, "Taken.")


# Names, which are not signed


@pytest.mark.parametrize("odd", ["", " ", "a b", "a/b", "a" * 101, "a" * 8_000, "é", "a;b", "{}", "a\tb", None])
@pytest.mark.parametrize("header", ["X_GitHub_Delivery", "X_GitHub_Event"])
async def test_a_name_that_github_would_not_give_is_refused(server: Hook, header: str, odd: str | None) -> None:
    names: dict[str, Any] = {"X_GitHub_Event": PULL, header: odd}
    request = raw_request(BODY, **names).replace("é".encode("latin-1"), "é".encode())
    assert (await server.raw(request)).startswith("HTTP/1.1 400 ")
    assert server.kinds() == []


async def test_a_body_under_the_name_of_another_event_takes_nothing_away(
    server: Hook, caplog: pytest.LogCaptureFixture
) -> None:
    body = {**OPENED, "action": "deleted", "issue": {"number": 3}, "comment": {"id": 9, "body": WORDS}}
    for event in ("repository", "installation"):
        assert await server.send(body, event) == (202, "Not understood.")
    assert server.kinds() == []
    assert len(errors(caplog)) == 2


# Bad days


async def never(_: Task) -> None:
    await asyncio.Event().wait()


async def test_a_delivery_that_cannot_be_kept_is_answered_503(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(webhooks, "_KEEPING_SECONDS", 0.2)
    async with hook(settings_in(tmp_path), never) as server:
        assert await server.send(OPENED, PULL) == (503, "Not kept; deliver it again.")
        assert await server.send(OPENED, "workflow_run") == (202, "Nothing to do.")
    assert errors(caplog) == ["a delivery could not be kept: the database does not answer"]


async def test_before_the_app_is_set_up_deliveries_are_to_come_again(tmp_path: Path) -> None:
    settings = load({"PAICHECKER_DATA": str(tmp_path)})
    assert isinstance(settings, NotConfigured)
    async with listening(Server(settings).application, "127.0.0.1", 0) as port, aiohttp.ClientSession() as session:
        here = Hook(port, session)
        assert await here.send(OPENED, PULL) == (503, "Not ready.")
        assert await here.send(OPENED, PULL, X_Hub_Signature_256=None) == (503, "Not ready.")


async def test_the_webhook_answers_nothing_but_deliveries(server: Hook) -> None:
    async with aiohttp.ClientSession() as session:
        for method in ("GET", "PUT", "DELETE"):
            async with session.request(method, server.address) as answer:
                assert answer.status == 405


# With the real durable work


@asynccontextmanager
async def at_work(kind: str, folder: Path) -> AsyncIterator[tuple[Hook, str]]:
    """The server on this kind of database, whose address is the second; GitHub knows nothing."""
    with database(kind, folder) as url, GitHubServer.scripted(refusal(404, "Not Found")) as github:
        async with durable(settings_in(folder, DATABASE_URL=url, GITHUB_API_URL=github.url)) as server:
            yield server, url
            await settled()


async def kept() -> list[str]:
    """The ids of all tasks that were ever kept."""
    return sorted(one.workflow_id for one in await DBOS.list_workflows_async(load_input=False, load_output=False))


CLOSED = {**OPENED, "action": "closed"}


@pytest.mark.parametrize("kind", KINDS)
async def test_a_delivery_that_comes_many_times_is_kept_once(kind: str, tmp_path: Path) -> None:
    async with at_work(kind, tmp_path) as (server, _):
        first = await server.send(CLOSED, PULL, X_GitHub_Delivery="d1")
        await settled()
        at_once = await asyncio.gather(*(server.send(CLOSED, PULL, X_GitHub_Delivery="d1") for _ in range(20)))
        more = await asyncio.gather(*(server.send(CLOSED, PULL, X_GitHub_Delivery="d2") for _ in range(20)))
        assert {first, *at_once, *more} == {(202, "Taken.")}
        assert await kept() == ["7-d1-closed", "7-d2-closed"]


@contextmanager
def locked(kind: str, url: str) -> Iterator[None]:
    """Nobody else can write to the jobs."""
    with ExitStack() as stack:
        if kind == "sqlite":
            file = url.removeprefix("sqlite:///").removesuffix(".sqlite") + "-jobs.sqlite"
            connection = sqlite3.connect(file, isolation_level=None)
            stack.callback(connection.close)
            connection.execute("begin exclusive")
        else:
            server = stack.enter_context(psycopg.connect(url))
            server.execute("lock table dbos.workflow_status in access exclusive mode")
            stack.callback(server.rollback)
        yield


@pytest.mark.parametrize("kind", KINDS)
async def test_a_database_that_does_not_answer_is_told_to_github_in_time(
    kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with at_work(kind, tmp_path) as (server, url):
        with locked(kind, url):
            begin = time.monotonic()
            many = await asyncio.gather(*(server.send(CLOSED, PULL, X_GitHub_Delivery=f"d{n}") for n in range(30)))
            assert set(many) == {(503, "Not kept; deliver it again.")}
            assert time.monotonic() - begin < 7
            assert await server.send(OPENED, "workflow_run") == (202, "Nothing to do.")
        assert set(errors(caplog)) == {"a delivery could not be kept: the database does not answer"}
        # It comes again, asked for by the sweeper.
        async with asyncio.timeout(60):
            while (await server.send(CLOSED, PULL, X_GitHub_Delivery="d0"))[0] != 202:
                errors(caplog)
        await settled()
        assert "7-d0-closed" in await kept()


@pytest.mark.parametrize("kind", KINDS)
async def test_thousands_of_repositories_that_are_taken_out_are_kept_in_time_and_forgotten(
    kind: str, tmp_path: Path
) -> None:
    removed = [{"id": number, "full_name": f"acme/r{number}"} for number in range(1, 5_001)]
    body = {"action": "removed", "installation": {"id": 7}, "repositories_removed": removed}
    async with at_work(kind, tmp_path) as (server, _):
        begin = time.monotonic()
        assert await server.send(body, "installation_repositories", X_GitHub_Delivery="d1") == (202, "Taken.")
        assert time.monotonic() - begin < 2
        await settled()
        assert await kept() == ["7-d1-taken-out"]


async def test_a_server_that_stops_has_deliveries_come_again(tmp_path: Path) -> None:
    port, stop, ready = free_port(), asyncio.Event(), asyncio.Event()
    with GitHubServer.scripted(refusal(404, "Not Found")) as github:
        settings = settings_in(tmp_path, GITHUB_API_URL=github.url, PAICHECKER_HOST="127.0.0.1", PORT=str(port))
        running = asyncio.create_task(serve(settings, lambda _: ready.set(), until=stop))
        await ready.wait()
        async with aiohttp.ClientSession() as session:
            here, answers = Hook(port, session), set()
            stop.set()
            with contextlib.suppress(aiohttp.ClientConnectionError):
                for number in range(10_000):
                    answers.add((await here.send(CLOSED, PULL, X_GitHub_Delivery=f"d{number}"))[0])
        await running
    assert answers <= {202, 503}


# Out of order, with a GitHub that knows what it tells


async def _replayed(stage: Stage, server: Hook, order: Callable[[list[Any]], list[Any]]) -> None:
    for headers, body in order(list(stage.received)):
        more = {"X_GitHub_Delivery": headers["X-GitHub-Delivery"]}
        assert (await server.send(body, headers["X-GitHub-Event"], **more))[0] == 202
        await settled()


@pytest.mark.parametrize("order", [lambda told: told[::-1], lambda told: [told[1], told[0], told[1], told[0]]])
async def test_deliveries_out_of_order_end_in_one_comment_on_the_newest_head(
    order: Callable[[list[Any]], list[Any]], tmp_path: Path
) -> None:
    async with open_stage() as stage:
        pull = await stage.pull_request()
        old = pull.head.oid
        await stage.github.push(pull, {"docs/more.md": "more\n"}, "More")
        assert stage.events() == ["pull_request opened", "pull_request synchronize"]
        stage.github.hooks.url = None
        settings = settings_in(
            tmp_path,
            PAICHECKER_APP_SLUG=stage.github.app.slug,
            PAICHECKER_PRIVATE_KEY=keys()[0],
            GITHUB_SERVER_URL=stage.world.web,
        )
        async with durable(settings) as server:
            await _replayed(stage, server, order)
        (comment,) = [one for one in pull.comments if one.body.startswith(MARKER)]
        assert pull.head.oid in comment.body
        assert old not in comment.body
        runs = {run.head_sha: run for run in stage.repository.check_runs}
        assert {run.status for run in runs.values()} == {"completed"}
        assert runs[pull.head.oid].conclusion == "neutral"
