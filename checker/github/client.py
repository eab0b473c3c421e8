"""The client: gidgethub over aiohttp, with every request counted, bounded in time, and tried again where that helps."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import aiohttp
import cachetools
import gidgethub.aiohttp
from gidgethub import HTTPException, sansio

from checker.github.address import Host
from checker.github.answer import Answer, Fault

_ATTEMPTS = 5
_JSON = "application/json"
# gidgethub asks for v3 by default, which GitHub's documentation names no longer.
RESOURCE = "application/vnd.github+json"
_CACHED_ANSWERS = 512
# What was named just now may not be readable for about a second.
_EARLY_PAUSES = (0.5, 1.0)

_T = TypeVar("_T")


class GitHubError(Exception):
    """GitHub could not be read. The message is a sentence for the person who asked; it never holds a token.

    `status`: what GitHub answered, where it answered and meant it.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class NotFoundError(GitHubError):
    """There is no such thing, or the token may not see it: GitHub answers both alike."""


class LimitError(GitHubError):
    """A rate limit asks to wait longer than allowed."""


@dataclass(frozen=True)
class Speaker:
    """Who speaks to GitHub, for sentences that tell who can mend what was refused."""

    name: str
    unknown: str
    forbidden: str


PERSON = Speaker(
    "the token",
    "set GITHUB_TOKEN to one that is valid",
    "The token may not read this{reason}. Where SSO is on, authorise the token for it.",
)
APP = Speaker(
    "the App",
    "who runs the App can look with `paichecker-bot doctor`",
    "The App may not read or write this{reason}. What it may do, an owner of the account it is installed on grants in "
    "the installation's settings; who runs the App sees what is missing with `paichecker-bot doctor`.",
)


Wait = Callable[[float, str], Awaitable[None]]


async def _sleep(seconds: float, why: str) -> None:
    await asyncio.sleep(seconds)


class Client(gidgethub.aiohttp.GitHubAPI):
    """One GitHub as one token sees it. Made by `connect`. `requests` counts what went over the wire: also each
    attempt, what redirects led to, and what aiohttp sends again by itself on a connection that broke.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        host: Host,
        token: str | None,
        *,
        longest_wait: float,
        call_seconds: float,
        wait: Wait,
        speaker: Speaker = PERSON,
    ) -> None:
        cache: cachetools.LRUCache[Any, Any] = cachetools.LRUCache(_CACHED_ANSWERS)
        super().__init__(session, "paichecker", oauth_token=token, cache=cache, base_url=host.rest)
        self.host = host
        self.requests = 0
        self._longest_wait = longest_wait
        self._call_seconds = call_seconds
        self._wait = wait
        self._speaker = speaker

    async def _request(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b""
    ) -> tuple[int, Mapping[str, str], bytes]:
        """What gidgethub's own methods call."""
        answer = await self._ask(method, url, headers, body)
        return answer.status, answer.headers, answer.data

    async def _ask(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", *, again: bool = True
    ) -> Answer:
        """An answer that was meant: asked again after broken connections, 5xx, and limits that end soon enough.

        Without `again` only limits are waited for: what they refuse did not take effect.
        """
        fault: Fault | None = None
        for attempt in range(_ATTEMPTS):
            if fault:
                await self._pause(fault, attempt)
            found = await self._exchange(method, url, headers, body)
            if isinstance(found, Answer):
                return found
            fault = found
            if not again and fault.seconds is None:
                raise GitHubError(f"{self.host.web} may or may not have done what was asked: {fault.why}.")
        last = fault.why if fault else "it was not asked"
        raise GitHubError(f"{self.host.web} gave no answer in {_ATTEMPTS} attempts; the last time {last}.")

    async def _exchange(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Answer | Fault:
        try:
            async with asyncio.timeout(self._call_seconds):
                status, answered, data = await super()._request(method, url, headers, body)
        except TimeoutError:
            return Fault(f"nothing came in {self._call_seconds:.0f} s")
        except aiohttp.ClientConnectorCertificateError:
            raise GitHubError(
                f"{self.host.web} has a certificate that is not trusted here; SSL_CERT_FILE names further ones."
            ) from None
        except aiohttp.ClientError as error:
            return Fault(f"the connection failed ({type(error).__name__})")
        answer = Answer(status, answered, data, wants_json="json" in headers["accept"])
        return answer.fault() or answer

    async def _pause(self, fault: Fault, attempt: int) -> None:
        seconds = min(_backoff(attempt), self._longest_wait) if fault.seconds is None else fault.seconds
        if seconds > self._longest_wait:
            advice = "" if self.oauth_token else ", or set GITHUB_TOKEN: without one an hour has 60 requests"
            raise LimitError(
                f"{fault.why} and asks to wait {seconds:.0f} s; at most {self._longest_wait:.0f} s are waited. "
                f"Try later{advice}."
            )
        await self._wait(seconds, fault.why)

    async def early(self, read: Callable[[], Awaitable[_T]]) -> _T:
        """Reads what was named just now: where there is no such thing, twice more after short pauses."""
        for seconds in _EARLY_PAUSES:
            try:
                return await read()
            except NotFoundError:
                await self._wait(seconds, "there is no such thing yet")
        return await read()

    async def query(self, document: str, **variables: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """A GraphQL document's data and the errors beside it. Raises GitHubError where there are no data at all."""
        if not self.oauth_token:
            raise GitHubError(f"{self.host.web} shows pull requests only to a token's holder; set GITHUB_TOKEN to one.")
        headers = sansio.create_headers(self.requester, accept=_JSON, oauth_token=self.oauth_token)
        body = json.dumps({"query": document, "variables": variables}).encode()
        answer = await self._ask("POST", self.host.graphql, {**headers, "content-type": _JSON}, body)
        if answer.status != 200:
            raise self._closed_door(answer.status, answer.message)
        data, errors = answer.json.get("data"), answer.errors
        if data and (any(data.values()) or not errors):
            return data, errors
        raise self._query_failure(errors) if errors else self._closed_door(None, "")

    async def text(self, path: str, accept: str) -> str | None:
        """A REST resource in a media type that is text; None where GitHub refuses to render it (406, 422)."""
        headers = sansio.create_headers(self.requester, accept=accept, oauth_token=self.oauth_token)
        answer = await self._ask("GET", f"{self.host.rest}{path}", headers)
        if answer.status in (406, 422):
            return None
        if answer.status != 200:
            raise self._closed_door(answer.status, answer.message)
        return answer.data.decode("utf-8", "replace")

    async def item(self, path: str, variables: dict[str, Any]) -> Any:
        """One REST resource."""
        try:
            return await self.getitem(path, variables, accept=RESOURCE)
        except HTTPException as error:
            raise self._closed_door(int(error.status_code), str(error)) from None

    async def send(self, method: str, path: str, body: Mapping[str, Any], *, again: bool) -> Any:
        """Writes over REST, and gives what GitHub answers. `again`: sent a second time where it is not known whether
        the first one took effect.
        """
        headers = sansio.create_headers(self.requester, accept=RESOURCE, oauth_token=self.oauth_token)
        sent = json.dumps(body).encode()
        url = f"{self.host.rest}{path}"
        answer = await self._ask(method, url, {**headers, "content-type": _JSON}, sent, again=again)
        if answer.status >= 300:
            raise self._closed_door(answer.status, answer.message)
        return answer.json

    async def pages(self, path: str) -> list[dict[str, Any]]:
        """All items of a REST list, page by page."""
        try:
            return [item async for item in self.getiter(path, accept=RESOURCE)]
        except HTTPException as error:
            raise self._closed_door(int(error.status_code), str(error)) from None

    def _query_failure(self, errors: list[dict[str, Any]]) -> GitHubError:
        kinds = {str(error.get("type", "")) for error in errors}
        message = str(errors[0].get("message", "no reason given"))[:300].rstrip(".")
        if "NOT_FOUND" in kinds:
            return NotFoundError(
                f"{self.host.web} knows no such thing, or {self._speaker.name} may not see it: {message}."
            )
        if "FORBIDDEN" in kinds or "SAML" in message.upper():
            return GitHubError(self._speaker.forbidden.format(reason=f": {message}"))
        return GitHubError(f"GitHub refused the query: {message}.")

    def _closed_door(self, status: int | None, message: str) -> GitHubError:
        reason = f" ({message[:200].rstrip('.')})" if message else ""
        if status == 401:
            return GitHubError(
                f"{self.host.web} does not take {self._speaker.name}{reason}; {self._speaker.unknown}.", status
            )
        if status == 403:
            return GitHubError(self._speaker.forbidden.format(reason=reason), status)
        if status == 404:
            return NotFoundError(
                f"{self.host.web} knows no such thing, or {self._speaker.name} may not see it{reason}.", status
            )
        return GitHubError(f"GitHub answered {status or 'nothing that can be read'}{reason}.", status)


@asynccontextmanager
async def connect(
    host: Host,
    token: str | None,
    *,
    proxy: str | None = None,
    longest_wait: float = 90,
    call_seconds: float = 60,
    wait: Wait = _sleep,
    speaker: Speaker = PERSON,
) -> AsyncIterator[Client]:
    """A client with a session of its own.

    `proxy`: its address; not left to aiohttp, which would take names and passwords from ~/.netrc as well.
    `longest_wait`: seconds that one pause may take; `wait` makes it. `call_seconds`: how long one answer may take.
    """

    async def count(*_: object) -> None:
        client.requests += 1

    sent = aiohttp.TraceConfig()
    sent.on_request_headers_sent.append(count)
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(timeout=timeout, trace_configs=[sent], proxy=proxy) as session:
        client = Client(
            session, host, token, longest_wait=longest_wait, call_seconds=call_seconds, wait=wait, speaker=speaker
        )
        yield client


def _backoff(attempt: int) -> float:
    """Seconds before the given attempt, the first one being 0."""
    return float(2.0**attempt * random.uniform(0.125, 0.25))  # noqa: S311
