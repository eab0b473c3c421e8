"""The adapter to Anthropic's Messages API, and to any server that speaks it (`ANTHROPIC_BASE_URL`).

Retries are made here, not in the SDK, for three reasons: every attempt is booked on the check's budget; a
stream that ends early, breaks off or is not of the API's form is retried too (the SDK lets all three through);
and the wait that a server asks for is kept even when it is long, as long as the check's time allows it.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from checker.model import Meter, ModelFailure, Reply, Request, Usage

if TYPE_CHECKING:
    from anthropic import APIConnectionError, APIStatusError, AsyncAnthropic
    from anthropic.lib.streaming import AsyncMessageStream
    from anthropic.types import Message

_TRANSIENT = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_NO_ANSWER = {
    "max_tokens": "the answer was cut at the {limit} tokens it may have",
    "refusal": "the model refused to answer",
    "model_context_window_exceeded": "the request is larger than the model's context window",
}


@dataclass(frozen=True)
class _Lost:
    """An attempt that gave no answer but may be tried again; `wait` in seconds if the server named one."""

    why: str
    wait: float | None = None
    billed: bool = False
    unreached: bool = False


# After a whole round of attempts that reached nobody, the others waiting need not make theirs.
_CLOSED_SECONDS = 20
_CUT = _Lost("the stream ended before the answer did", billed=True)
_UNREADABLE = _Lost("the answer was broken off or was not of the API's form", billed=True)
# What the SDK raises while it puts a stream together whose events are no JSON, no UTF-8, or of another shape.
_MISSHAPEN = (ValueError, LookupError, AttributeError, TypeError)


class AnthropicModel:
    """Answers requests through the SDK. Credentials and base address are the SDK's own environment variables.

    `attempts` bounds the tries of one request, `call_seconds` the time of each. `longest_wait` (seconds)
    bounds a wait between tries: a server that asks for more is not waited for. `key_name` is where the key
    stands, for the person who can mend it.
    """

    def __init__(
        self,
        client: AsyncAnthropic,
        *,
        attempts: int = 5,
        call_seconds: float = 180,
        longest_wait: float = 60,
        key_name: str = "ANTHROPIC_API_KEY",
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._client = client.with_options(max_retries=0, timeout=call_seconds)
        self._attempts = attempts
        self._call_seconds = call_seconds
        self._longest_wait = longest_wait
        self._key_name = key_name
        self._sleep = sleep
        self._closed_until = 0.0

    @property
    def _server(self) -> str:
        """Host and port alone: an address may hold a password."""
        address = self._client.base_url
        return f"{address.host}:{address.port}" if address.port else str(address.host)

    async def close(self) -> None:
        """Ends the connections, in the event loop that asked."""
        await self._client.close()

    async def ask(self, request: Request, meter: Meter) -> Reply:
        """One finished turn; see `checker.model.Model`."""
        if time.monotonic() < self._closed_until:
            raise ModelFailure(f"{self._server} could not be reached a moment ago; it was not asked again.")
        lost = _Lost("it was not asked")
        for attempt in range(self._attempts):
            meter.allow(request)
            try:
                outcome = await self._attempt(request)
            except ModelFailure:  # refused, or never sent
                meter.book(request.model, Usage())
                raise
            if isinstance(outcome, Reply):
                meter.book(request.model, outcome.usage)
                return _usable(outcome, request)
            meter.book(request.model, Usage(input_tokens=request.estimated_tokens if outcome.billed else 0))
            lost = outcome
            if attempt + 1 < self._attempts:
                await self._pause(attempt, lost)
        if lost.unreached:
            self._closed_until = time.monotonic() + _CLOSED_SECONDS
        raise ModelFailure(
            f"{request.model} at {self._server} gave no answer in {self._attempts} attempts; the last: {lost.why}."
        )

    async def _pause(self, attempt: int, lost: _Lost) -> None:
        wait = lost.wait if lost.wait is not None else min(2.0**attempt, 30) * random.uniform(0.5, 1)  # noqa: S311
        if wait > self._longest_wait:
            raise ModelFailure(f"{lost.why}, and asks to wait {wait:.0f} s, longer than {self._longest_wait:.0f} s.")
        await self._sleep(wait)

    async def _attempt(self, request: Request) -> Reply | _Lost:
        """One try. What is worth another try comes back as _Lost; what is not is raised as ModelFailure."""
        import anthropic
        import httpx2

        asked = _parameters(request)
        try:
            async with asyncio.timeout(self._call_seconds), self._client.messages.stream(**asked) as stream:
                return await _read(stream)
        except (TimeoutError, anthropic.APITimeoutError):
            return _Lost(f"no whole answer within {self._call_seconds:g} s", billed=True)
        except anthropic.APIConnectionError as error:
            return _unreached(error, self._key_name)
        except (httpx2.RequestError, anthropic.APIResponseValidationError):
            return _UNREADABLE
        except anthropic.APIStatusError as error:
            return _refused(error, request, self._key_name)


def _parameters(request: Request) -> dict[str, Any]:
    parameters: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "system": [{"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}],
        "messages": _with_cache_mark(request.messages),
        "output_config": {"format": {"type": "json_schema", "schema": request.schema}},
    }
    return {**parameters, "tools": list(request.tools)} if request.tools else parameters


def _with_cache_mark(messages: tuple[Any, ...]) -> list[dict[str, Any]]:
    """In a conversation of several turns all that went before is cached; a first turn is not worth a write."""
    marked = [dict(message) for message in messages]
    if len(marked) > 1:
        last = [dict(block) for block in marked[-1]["content"]]
        last[-1]["cache_control"] = {"type": "ephemeral"}
        marked[-1]["content"] = last
    return marked


async def _read(stream: AsyncMessageStream[None]) -> Reply | _Lost:
    try:
        kinds = {event.type async for event in stream}
        if "message_start" not in kinds or stream.current_message_snapshot.stop_reason is None:
            return _CUT
        return _reply(stream.current_message_snapshot)
    except _MISSHAPEN:
        return _UNREADABLE


def _unreached(error: APIConnectionError, key_name: str) -> _Lost:
    import httpx2

    # The cause's own words may hold the whole header, and with it the key. A header that is none is a ValueError.
    if isinstance(error.__cause__, (httpx2.UnsupportedProtocol, ValueError)):
        raise ModelFailure(
            "The request cannot be sent; check that ANTHROPIC_BASE_URL is an address that begins with http, "
            f"and that {key_name} holds no line break."
        ) from None
    return _Lost(f"the connection failed ({error.__cause__ or error})", unreached=True)


def _refused(error: APIStatusError, request: Request, key_name: str) -> _Lost:
    status = error.status_code
    if status < 400:
        return _Lost(f"the stream ended in an error ({_detail(error)})", billed=True)
    if status in _TRANSIENT or status >= 500:
        return _Lost(f"the server answered {status}", _retry_after(error))
    if status in (401, 403):
        raise ModelFailure(f"The server refused the API key ({status}); check {key_name}.") from error
    if status == 404:
        raise ModelFailure(f"The server knows no model {request.model!r} (404); check --model.") from error
    raise ModelFailure(f"The server refused the request ({status}): {_detail(error)}") from error


def _detail(error: APIStatusError) -> str:
    """The server's own words, without the credential, which some servers repeat in them."""
    message = str(error.api_message or "no reason given.")
    sent = error.request.headers
    for secret in (sent.get("x-api-key"), sent.get("authorization", "").removeprefix("Bearer ")):
        if secret:
            message = message.replace(secret, "[key]")
    return message[:300]


def _retry_after(error: APIStatusError) -> float | None:
    """Seconds, as a 429 or 529 names them; a date or nonsense counts as none."""
    value = error.response.headers.get("retry-after", "")
    return float(value) if value.replace(".", "", 1).isdecimal() else None


def _reply(message: Message) -> Reply:
    usage = message.usage
    content = tuple(_block(block.model_dump(mode="json", exclude_none=True)) for block in message.content)
    # Half of a surrogate pair can be neither stored nor sent back: a UnicodeEncodeError, which is a ValueError.
    json.dumps(content, ensure_ascii=False).encode()
    counts = (
        usage.input_tokens or 0,
        usage.output_tokens or 0,
        usage.cache_read_input_tokens or 0,
        usage.cache_creation_input_tokens or 0,
    )
    if min(counts) < 0:
        raise ValueError("fewer than no tokens: a budget would never end")
    return Reply(content=content, stop_reason=message.stop_reason or "", usage=Usage(*counts), model=message.model)


def _block(block: dict[str, Any]) -> dict[str, Any]:
    """Without the SDK's own additions, so that the block can be sent back in a next turn."""
    return {key: value for key, value in block.items() if not key.startswith("parsed")}


def _usable(reply: Reply, request: Request) -> Reply:
    why = _NO_ANSWER.get(reply.stop_reason)
    if why is not None:
        raise ModelFailure(f"{request.model}: {why.format(limit=request.max_tokens)}.")
    return reply
