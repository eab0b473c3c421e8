"""The App's way in, over real HTTP: who signs, which token serves how long, and what is said where a door is closed."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

import jwt
import pytest
from app_keys import rsa_pair
from github_server import SILENT, Answer, GitHubServer, Received, given, page, refusal
from pydantic import SecretStr

from bot.auth import (
    PERMISSIONS,
    AuthError,
    ClockSkew,
    Gone,
    Installations,
    NotGranted,
    Suspended,
    WrongCredentials,
    connect_app,
    sign,
)
from checker.github.client import GitHubError

START = 1_700_000_000.0
HOUR = 3600
APP = 4711
SUSPENDED = "This installation has been suspended"
BAD = refusal(401, "Bad credentials")


def key() -> tuple[SecretStr, str]:
    """A private key, and its public half."""
    private, public = rsa_pair()
    return SecretStr(private), public


class GitHub:
    """Makes a token of each request for one, good for an hour by default; answers the rest as a test says."""

    def __init__(self) -> None:
        self.now = START
        self.lives = HOUR
        self.made = 0
        self.refusals: list[Answer] = []
        self.rest: Callable[[Received], Answer] = lambda _: given({"ok": True})
        self.waited: list[float] = []

    def __call__(self, received: Received) -> Answer:
        if "/access_tokens" not in received.path:
            return self.rest(received)
        if self.refusals:
            return self.refusals.pop(0)
        self.made += 1
        expires = datetime.fromtimestamp(self.now + self.lives, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return given({"token": f"ghs_number{self.made}", "expires_at": expires}, 201)

    async def wait(self, seconds: float, why: str) -> None:
        self.waited.append(seconds)


@asynccontextmanager
async def app(github: GitHub, **options: Any) -> AsyncIterator[tuple[Installations, GitHubServer]]:
    with GitHubServer(github) as server:
        connected = connect_app(server.host, APP, key()[0], now=lambda: github.now, wait=github.wait, **options)
        async with connected as installations:
            yield installations, server


def used(server: GitHubServer, *, but: str = "/access_tokens") -> list[str]:
    """The credentials of all requests but those for tokens."""
    return [one.headers["authorization"] for one in server.received if but not in one.path]


# The App itself


def test_the_apps_signature_is_dated_back_a_minute_and_holds_for_nine() -> None:
    private, public = key()
    signed = sign(APP, private, at=START + 0.9)
    assert jwt.get_unverified_header(signed)["alg"] == "RS256"
    claims = jwt.decode(signed, public, algorithms=["RS256"], options={"verify_exp": False})
    assert claims == {"iat": START - 60, "exp": START + 540, "iss": str(APP)}


async def test_the_app_asks_for_its_deliveries_under_its_own_signature() -> None:
    github = GitHub()
    github.rest = lambda _: given([{"id": 1}])
    async with app(github) as (installations, server), installations.app_client() as client:
        assert await client.pages("/app/hook/deliveries?per_page=100") == [{"id": 1}]
        github.now += HOUR
        await client.pages("/app/hook/deliveries?per_page=100")
    times = [
        jwt.decode(one.removeprefix("Bearer "), key()[1], algorithms=["RS256"], options={"verify_exp": False})["iat"]
        for one in used(server)
    ]
    assert times == [START - 60, START - 60 + HOUR]


async def test_a_signature_that_is_refused_is_not_tried_again() -> None:
    github = GitHub()
    github.rest = lambda _: refusal(401, "'Expiration time' claim ('exp') is too far in the future")
    async with app(github) as (installations, server), installations.app_client() as client:
        with pytest.raises(ClockSkew, match="set this machine's clock by NTP"):
            await client.item("/app", {})
        assert len(server.received) == 1


# Tokens


async def test_a_token_is_asked_for_with_one_repository_and_no_more_permissions_than_needed() -> None:
    async with app(GitHub()) as (installations, server):
        assert await installations.token(7, 42) == "ghs_number1"
    asked = server.received[0]
    assert (asked.method, asked.path) == ("POST", "/app/installations/7/access_tokens")
    assert json.loads(asked.body) == {"repository_ids": [42], "permissions": dict(PERMISSIONS)}
    signed = asked.headers["authorization"].removeprefix("Bearer ")
    assert jwt.decode(signed, key()[1], algorithms=["RS256"], options={"verify_exp": False})["iss"] == str(APP)


async def test_a_token_serves_until_five_minutes_before_its_end() -> None:
    github = GitHub()
    async with app(github) as (installations, _):
        first = await installations.token(7, 42)
        github.now += HOUR - 301
        assert await installations.token(7, 42) == first
        github.now += 1
        assert await installations.token(7, 42) == "ghs_number2"


async def test_repositories_and_installations_do_not_share_a_token() -> None:
    async with app(GitHub()) as (installations, _):
        tokens = [await installations.token(*one) for one in ((7, 42), (7, 43), (8, 42), (7, 42))]
    assert tokens == ["ghs_number1", "ghs_number2", "ghs_number3", "ghs_number1"]


async def test_a_token_that_is_nearly_over_when_it_comes_is_given_out_but_not_kept() -> None:
    github = GitHub()
    github.lives = 300
    async with app(github) as (installations, _):
        assert [await installations.token(7, 42) for _ in range(2)] == ["ghs_number1", "ghs_number2"]


async def test_fifty_who_wait_for_a_token_make_one_request() -> None:
    async with app(GitHub()) as (installations, server):
        tokens = await asyncio.gather(*(installations.token(7, 42) for _ in range(50)))
    assert set(tokens) == {"ghs_number1"}
    assert len(server.received) == 1


async def test_a_failure_is_told_to_all_who_wait_and_to_nobody_after_them() -> None:
    github = GitHub()
    github.refusals = [refusal(403, SUSPENDED)]
    async with app(github) as (installations, server):
        answers = await asyncio.gather(*(installations.token(7, 42) for _ in range(50)), return_exceptions=True)
        assert {type(one) for one in answers} == {Suspended}
        assert len(server.received) == 1
        assert await installations.token(7, 42) == "ghs_number1"


async def test_one_who_gives_up_waiting_does_not_take_the_token_from_the_others() -> None:
    async with app(GitHub()) as (installations, server):
        first = asyncio.create_task(installations.token(7, 42))
        second = asyncio.create_task(installations.token(7, 42))
        await asyncio.sleep(0)
        first.cancel()
        assert await second == "ghs_number1"
        assert first.cancelled()
        assert len(server.received) == 1


async def test_a_refresh_that_nobody_waits_for_any_more_ends_with_the_app() -> None:
    github = GitHub()
    github.refusals = [SILENT]
    async with app(github, call_seconds=1) as (installations, _):
        asked = asyncio.create_task(installations.token(7, 42))
        await asyncio.sleep(0.1)
        asked.cancel()
        installations.forget(7)
    assert not [task for task in asyncio.all_tasks() if "Installations._refresh" in str(task)]
    assert github.made == 0


async def test_an_uninstall_drops_all_tokens_of_the_installation_and_those_on_their_way() -> None:
    async with app(GitHub()) as (installations, _):
        await installations.token(7, 42)
        await installations.token(8, 42)
        coming = asyncio.create_task(installations.token(7, 43))
        await asyncio.sleep(0)
        installations.forget(7)
        assert await coming == "ghs_number3"
        again = [await installations.token(*one) for one in ((7, 42), (7, 43), (8, 42))]
    assert again == ["ghs_number4", "ghs_number5", "ghs_number2"]


@pytest.mark.parametrize(
    ("answer", "kind", "says"),
    [
        (refusal(403, SUSPENDED), Suspended, "suspended; who installed the App can take that back"),
        (refusal(404, "Not Found"), Gone, "not installed there any more"),
        (refusal(404, "Integration not found"), WrongCredentials, "the number is wrong, .* or the App was deleted"),
        (refusal(401, "A JSON web token could not be decoded"), WrongCredentials, "make a new private key there"),
        (refusal(401, "'Issued at' claim ('iat') must be an Integer"), ClockSkew, "clock by NTP"),
        (
            refusal(422, "There is at least one repository that does not exist or is not accessible to the parent ins"),
            Gone,
            "not part of the installation any more",
        ),
        (
            refusal(422, "The permissions requested are not granted to this installation."),
            NotGranted,
            "has not accepted all permissions",
        ),
        (refusal(403, "The organization has an IP allow list enabled"), AuthError, "403 .*IP allow list"),
        (refusal(401, "Bad credentials"), AuthError, "does not let the App in: 401"),
        (given({"hello": "world"}), AuthError, "answered without a token"),
        (given({"token": "ghs_secret", "expires_at": "soon"}), AuthError, "answered without a token"),
        (given(["ghs_secret"]), AuthError, "answered without a token"),
    ],
)
async def test_a_closed_door_has_a_type_and_a_sentence(answer: Answer, kind: type[AuthError], says: str) -> None:
    github = GitHub()
    github.refusals = [answer]
    async with app(github) as (installations, server):
        with pytest.raises(kind, match=says) as found:
            await installations.token(7, 42)
        assert type(found.value) is kind
        assert "ghs_" not in str(found.value)
        assert len(server.received) == 1


async def test_a_github_that_is_down_for_a_moment_is_asked_again() -> None:
    github = GitHub()
    github.refusals = [page("Unicorn!", 502), refusal(500, "Server Error")]
    async with app(github) as (installations, _):
        assert await installations.token(7, 42) == "ghs_number1"
    assert len(github.waited) == 2


async def test_a_github_that_stays_down_is_told_in_a_sentence() -> None:
    github = GitHub()
    github.refusals = [page("Unicorn!", 502)] * 5
    async with app(github) as (installations, _):
        with pytest.raises(GitHubError, match="no answer in 5 attempts"):
            await installations.token(7, 42)


# Clients


async def test_a_client_speaks_with_the_installations_token_in_rest_and_graphql() -> None:
    github = GitHub()
    github.rest = lambda received: given({"data": {"viewer": {}}} if received.path == "/graphql" else {"id": 1})
    async with app(github) as (installations, server), installations.client(7, 42) as client:
        assert await client.item("/repos/o/r", {}) == {"id": 1}
        await client.query("query Who { viewer { login } }")
        await client.text("/repos/o/r/pulls/1", "application/vnd.github.diff")
        assert client.requests == 3
    assert used(server) == ["Bearer ghs_number1"] * 3


async def test_a_client_outlives_its_token() -> None:
    github = GitHub()
    async with app(github) as (installations, server), installations.client(7, 42) as client:
        await client.item("/repos/o/r", {})
        github.now += HOUR
        await client.item("/repos/o/r", {})
    assert used(server) == ["Bearer ghs_number1", "Bearer ghs_number2"]


async def test_a_token_that_dies_in_the_middle_is_replaced_and_the_request_made_again() -> None:
    github = GitHub()
    github.rest = lambda received: BAD if "number1" in received.headers["authorization"] else given({"id": 9}, 201)
    async with app(github) as (installations, server), installations.client(7, 42) as client:
        assert await client.post("/repos/o/r/issues/1/comments", data={"body": "words"}) == {"id": 9}
    sent = [one for one in server.received if "comments" in one.path]
    assert [one.headers["authorization"] for one in sent] == ["Bearer ghs_number1", "Bearer ghs_number2"]
    assert [json.loads(one.body) for one in sent] == [{"body": "words"}] * 2


async def test_fifty_requests_that_are_refused_at_once_make_one_new_token() -> None:
    github = GitHub()
    github.rest = lambda received: BAD if "number1" in received.headers["authorization"] else given({"ok": True})
    async with app(github) as (installations, _), installations.client(7, 42) as client:
        await asyncio.gather(*(client.item(f"/repos/o/r/issues/{number}", {}) for number in range(50)))
    assert github.made == 2


async def test_a_late_refusal_of_the_old_token_does_not_drop_the_new_one() -> None:
    async with app(GitHub()) as (installations, _):
        old = await installations.token(7, 42)
        installations.forget(7, 42, token=old)
        new = await installations.token(7, 42)
        installations.forget(7, 42, token=old)
        assert await installations.token(7, 42) == new != old


async def test_a_token_that_is_too_new_to_be_known_is_tried_again_after_a_second() -> None:
    github = GitHub()
    answers = [BAD, BAD, given({"ok": True})]
    github.rest = lambda _: answers.pop(0)
    async with app(github) as (installations, server), installations.client(7, 42) as client:
        assert await client.item("/repos/o/r", {}) == {"ok": True}
    assert used(server) == ["Bearer ghs_number1", "Bearer ghs_number2", "Bearer ghs_number2"]
    assert github.waited == [1.0]


async def test_a_client_whose_every_token_is_refused_says_so_and_ends() -> None:
    github = GitHub()
    github.rest = lambda _: BAD
    async with app(github) as (installations, server), installations.client(7, 42) as client:
        with pytest.raises(AuthError, match=r"does not let the App in: 401 \(Bad credentials\)"):
            await client.item("/repos/o/r", {})
    assert len(used(server)) == 3


async def test_an_app_that_is_suspended_in_the_middle_is_told_so() -> None:
    github = GitHub()
    github.rest = lambda _: refusal(403, SUSPENDED)
    async with app(github) as (installations, _), installations.client(7, 42) as client:
        with pytest.raises(Suspended):
            await client.query("query Who { viewer { login } }")
        with pytest.raises(Suspended):
            await client.item("/repos/o/r", {})


async def test_an_app_that_is_uninstalled_in_the_middle_is_told_so() -> None:
    github = GitHub()
    github.rest = lambda _: BAD
    async with app(github) as (installations, _), installations.client(7, 42) as client:
        github.refusals = [refusal(404, "Not Found")]
        with pytest.raises(Gone):
            await client.item("/repos/o/r", {})


FORBIDDEN = (
    r"The App may not read or write this \(Resource not accessible by integration\)\. "
    r"What it may do, an owner of the account it is installed on grants in the installation's settings"
)


def _always(answer: Answer, _: Received) -> Answer:
    return answer


async def test_no_sentence_of_the_app_asks_for_a_persons_token() -> None:
    github = GitHub()
    for answer in (refusal(403, "Resource protected by organization SAML enforcement"), refusal(404, "Not Found")):
        github.rest = partial(_always, answer)
        async with app(github) as (installations, _), installations.client(7, 42) as client:
            for way in (client.item("/repos/o/r", {}), client.query("query Who { viewer { login } }")):
                with pytest.raises(GitHubError) as found:
                    await way
                assert "the token" not in str(found.value).lower()
                assert "GITHUB_TOKEN" not in str(found.value)
                assert "he App may not" in str(found.value)


async def test_what_a_token_may_not_do_is_no_matter_of_authentication() -> None:
    github = GitHub()
    github.rest = lambda _: refusal(403, "Resource not accessible by integration")
    async with app(github) as (installations, _), installations.client(7, 42) as client:
        with pytest.raises(GitHubError, match=FORBIDDEN) as found:
            await client.item("/repos/o/r", {})
    assert not isinstance(found.value, AuthError)


# Secrets


async def test_neither_key_nor_token_shows_in_logs_or_representations(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with app(GitHub()) as (installations, server), installations.client(7, 42) as client:
        await client.item("/repos/o/r", {})
        shown = repr(vars(installations)) + repr(vars(installations)["_tokens"]) + caplog.text
    signed = server.received[0].headers["authorization"].removeprefix("Bearer ")
    for secret in ("ghs_number1", "PRIVATE KEY", signed):
        assert secret not in shown
