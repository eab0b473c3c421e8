"""Who the App is towards GitHub: its own JWT, and tokens of installations, each narrowed to one repository.

docs.github.com, "Generating a JSON Web Token (JWT) for a GitHub App", "Create an installation access token for an app".
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from typing import cast

import aiohttp
import jwt
from cachetools import TLRUCache
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from gidgethub import HTTPException
from pydantic import SecretStr

from checker.github.address import Host
from checker.github.answer import Answer, Fault
from checker.github.client import APP, RESOURCE, Client, GitHubError, Wait

# What app.yml asks for; a test holds them together.
PERMISSIONS: Mapping[str, str] = MappingProxyType(
    {"metadata": "read", "contents": "read", "issues": "read", "pull_requests": "write", "checks": "write"}
)

Clock = Callable[[], float]

_CLOCK_SKEW = 60
_JWT_SECONDS = 9 * 60
# A token that is given out lives at least this long.
_MARGIN = 5 * 60
_MOST_TOKENS = 4096
# A token that was made just now may not be known everywhere yet.
_SETTLING = 1.0
_SUSPENDED = "has been suspended"
_NO_APP = "ntegration not found"
_WRONG_KEY = (
    "the private key in the settings is none of the App whose number they give. If PAICHECKER_APP_ID is the “App ID” "
    "on the App's page, make a new private key there, and give it as PAICHECKER_PRIVATE_KEY; else correct the number"
)
_WRONG_NUMBER = (
    "the number is wrong, or that of an App on another GitHub, or the App was deleted. Compare PAICHECKER_APP_ID with "
    "the “App ID” on the App's page; if there is no such page any more, take the credentials out of the settings and "
    "out of the data folder, and start the server to set up a new App"
)


class AuthError(GitHubError):
    """GitHub does not let the App in."""


class ClockSkew(AuthError):
    """The clock of this machine is wrong."""


class WrongCredentials(AuthError):
    """Number and private key do not belong to an App of this GitHub."""


class Suspended(AuthError):
    """The installation is suspended: nothing may be read or written until its owner takes that back."""


class Gone(AuthError):
    """The App is installed there no more, or the repository is no longer part of the installation."""


class NotGranted(AuthError):
    """The installation has not accepted a permission that the App needs."""


@dataclass(frozen=True)
class _Token:
    value: str = field(repr=False)
    expires_at: float


_Key = tuple[int, int]
_Refresh = asyncio.Task[_Token]


def sign(app_id: int, private_key: SecretStr, *, at: float) -> str:
    """The App's JWT: good for nine minutes from `at` (seconds since 1970), of the ten that GitHub allows."""
    claims = {"iat": int(at) - _CLOCK_SKEW, "exp": int(at) + _JWT_SECONDS, "iss": str(app_id)}
    return jwt.encode(claims, _parsed(private_key.get_secret_value()), algorithm="RS256")


@lru_cache(maxsize=1)
def _parsed(pem: str) -> RSAPrivateKey:
    """Reading a key takes forty times as long as signing with it."""
    return cast(RSAPrivateKey, load_pem_private_key(pem.encode(), password=None))


@dataclass(frozen=True)
class _Limits:
    """As `checker.github.client.connect` has them."""

    longest_wait: float
    call_seconds: float
    wait: Wait


@dataclass(frozen=True)
class _Signer:
    """Gives the credential of the moment. `refused` takes back one that GitHub did not take; None: it cannot change."""

    credential: Callable[[], Awaitable[str]]
    refused: Callable[[str], None] | None = None


class _SignedClient(Client):
    """A client whose every request carries the credential of the moment; one that GitHub refuses is replaced.

    `requests` counts attempts.
    """

    def __init__(
        self, session: aiohttp.ClientSession, host: Host, first: str, signer: _Signer, limits: _Limits
    ) -> None:
        super().__init__(
            session,
            host,
            first,
            longest_wait=limits.longest_wait,
            call_seconds=limits.call_seconds,
            wait=limits.wait,
            speaker=APP,
        )
        self._signer = signer

    async def _ask(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", *, again: bool = True
    ) -> Answer:
        credential = await self._signer.credential()
        answer = await self._signed(credential, method, url, headers, body, again=again)
        if answer.status == 401 and self._signer.refused is not None:
            self._signer.refused(credential)
            credential = await self._signer.credential()
            answer = await self._signed(credential, method, url, headers, body, again=again)
            if answer.status == 401:
                await self._wait(_SETTLING, "GitHub does not know a new token yet")
                answer = await self._signed(credential, method, url, headers, body, again=again)
        is_out = (answer.status, True) in ((403, _SUSPENDED in answer.message), (404, _NO_APP in answer.message))
        if answer.status == 401 or is_out:
            raise _refusal(answer.status, answer.message, self.host)
        return answer

    async def _signed(
        self, credential: str, method: str, url: str, headers: Mapping[str, str], body: bytes, *, again: bool
    ) -> Answer:
        signed = {**headers, "authorization": f"Bearer {credential}"}
        return await super()._ask(method, url, signed, body, again=again)

    async def _exchange(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Answer | Fault:
        self.requests += 1
        return await super()._exchange(method, url, headers, body)


class Installations:
    """Clients and tokens of one App. Made by `connect_app`.

    Tokens are kept until five minutes before they expire. However many ask for one at once, GitHub is asked once;
    where that fails it fails for all of them, and the next one asks again.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        host: Host,
        app_id: int,
        private_key: SecretStr,
        *,
        now: Clock,
        limits: _Limits,
    ) -> None:
        self.host = host
        self._session = session
        self._app_id = app_id
        self._private_key = private_key
        self._now = now
        self._limits = limits
        self._tokens: TLRUCache[_Key, _Token] = TLRUCache(_MOST_TOKENS, _last_use, timer=now)
        self._refreshing: dict[_Key, _Refresh] = {}
        self._under_way: set[_Refresh] = set()

    async def token(self, installation_id: int, repository_id: int) -> str:
        """A token for this repository alone, with no more than PERMISSIONS. Raises AuthError, GitHubError."""
        key = (installation_id, repository_id)
        known = self._tokens.get(key)
        if known is not None:
            return known.value
        task = self._refreshing.get(key)
        if task is None:
            task = self._refreshing[key] = asyncio.create_task(self._refresh(key))
            self._under_way.add(task)
            task.add_done_callback(lambda done: self._landed(key, done))
        # One who waits may give up without taking the token away from the others.
        return (await asyncio.shield(task)).value

    def forget(self, installation_id: int, repository_id: int | None = None, *, token: str | None = None) -> None:
        """Drops what is kept of an installation, or of one repository; with `token` only if it is that one still."""
        for key in [*self._tokens, *self._refreshing]:
            if key[0] != installation_id or repository_id not in (None, key[1]):
                continue
            kept = self._tokens.get(key)
            if token is None:
                self._refreshing.pop(key, None)
            if kept is not None and token in (None, kept.value):
                self._tokens.pop(key, None)

    @asynccontextmanager
    async def client(self, installation_id: int, repository_id: int) -> AsyncIterator[Client]:
        """A client for one repository. It outlives its token: each request carries a good one. Raises AuthError."""

        async def credential() -> str:
            return await self.token(installation_id, repository_id)

        def refused(token: str) -> None:
            self.forget(installation_id, repository_id, token=token)

        signer = _Signer(credential, refused)
        yield _SignedClient(self._session, self.host, await credential(), signer, self._limits)

    @asynccontextmanager
    async def app_client(self) -> AsyncIterator[Client]:
        """A client that speaks as the App itself: `/app`, `/app/hook/deliveries`, `/app/installations`."""
        yield self._as_app()

    def _as_app(self) -> _SignedClient:
        def signed() -> str:
            return sign(self._app_id, self._private_key, at=self._now())

        async def credential() -> str:
            return signed()

        return _SignedClient(self._session, self.host, signed(), _Signer(credential), self._limits)

    async def _refresh(self, key: _Key) -> _Token:
        installation_id, repository_id = key
        wanted = {"repository_ids": [repository_id], "permissions": dict(PERMISSIONS)}
        try:
            path = f"/app/installations/{installation_id}/access_tokens"
            answer = await self._as_app().post(path, data=wanted, accept=RESOURCE)
            return _Token(answer["token"], datetime.fromisoformat(answer["expires_at"]).timestamp())
        except HTTPException as error:
            raise _refusal(int(error.status_code), str(error), self.host) from None
        except (KeyError, TypeError, ValueError):
            raise AuthError(
                f"{self.host.web} answered without a token; is GITHUB_API_URL the address of its API?"
            ) from None

    def _landed(self, key: _Key, done: _Refresh) -> None:
        self._under_way.discard(done)
        is_wanted = self._refreshing.get(key) is done
        if is_wanted:
            del self._refreshing[key]
        if not done.cancelled() and done.exception() is None and is_wanted:
            self._tokens[key] = done.result()

    async def close(self) -> None:
        """Gives up what is under way."""
        under_way = list(self._under_way)
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


def _last_use(_: _Key, token: _Token, now: float) -> float:
    return token.expires_at - _MARGIN


async def _sleep(seconds: float, why: str) -> None:
    await asyncio.sleep(seconds)


@asynccontextmanager
async def connect_app(
    host: Host,
    app_id: int,
    private_key: SecretStr,
    *,
    now: Clock = time.time,
    longest_wait: float = 90,
    call_seconds: float = 60,
    wait: Wait = _sleep,
) -> AsyncIterator[Installations]:
    """The App's clients over one session. `now`: seconds since 1970; the rest as in `checker.github.client.connect`."""
    # No cookie of one installation goes to another.
    session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None), cookie_jar=aiohttp.DummyCookieJar())
    async with session:
        limits = _Limits(longest_wait, call_seconds, wait)
        installations = Installations(session, host, app_id, private_key, now=now, limits=limits)
        try:
            yield installations
        finally:
            await installations.close()


def _refusal(status: int, message: str, host: Host) -> AuthError:
    """GitHub's words for each of these were seen in others' threads; where they differ the status decides."""
    said = f" ({message[:200].rstrip('.')})" if message else ""
    if status == 401 and "claim" in message:
        return ClockSkew(f"{host.web} refuses the App's signature for its time{said}; set this machine's clock by NTP.")
    if status == 401 and "decoded" in message:
        return WrongCredentials(f"{host.web} cannot verify the App's signature{said}: {_WRONG_KEY}.")
    if _NO_APP in message:
        return WrongCredentials(f"{host.web} knows no App of this number{said}: {_WRONG_NUMBER}.")
    if status == 403 and _SUSPENDED in message:
        return Suspended("The installation is suspended; who installed the App can take that back in its settings.")
    if status == 404:
        return Gone("The App is not installed there any more.")
    if status == 422 and "permission" in message:
        return NotGranted(f"The installation has not accepted all permissions{said}; its owner is asked to by e-mail.")
    if status == 422:
        return Gone(f"The repository is not part of the installation any more{said}.")
    return AuthError(f"{host.web} does not let the App in: {status}{said}.")
