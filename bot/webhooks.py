"""The webhook: verified before anything is parsed, kept before it is answered.

docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import re
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

from aiohttp import web
from gidgethub import sansio
from pydantic import SecretStr

from bot.events import tasks_of
from bot.tasks import Task

log = logging.getLogger(__name__)

Enqueue = Callable[[Task], Awaitable[None]]

# GitHub sends no payload above 25 MB (docs.github.com/webhooks, "Payload cap").
LARGEST = 25 * 1024 * 1024
# Nearly all are smaller. Of larger ones a few are held at a time, for they are held before it is known who sends them.
_LARGE, _LARGE_AT_ONCE = 1024 * 1024, 4
# GitHub gives up on an answer after ten seconds.
_READING_SECONDS = 10
_KEEPING_SECONDS = 5
_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")


class Webhook:
    """Takes deliveries. `slug`: the App's; what it does itself comes back as deliveries, and is left alone."""

    def __init__(self, secret: SecretStr, slug: str, enqueue: Enqueue) -> None:
        self._secret = secret.get_secret_value().encode()
        self._own = f"{slug}[bot]"
        self._enqueue = enqueue
        self._room = asyncio.Semaphore(_LARGE_AT_ONCE)

    async def take(self, request: web.Request) -> web.Response:
        """202 where the delivery is kept or asks for nothing, 4xx where it is none, 503 where it cannot be kept now."""
        body = await self._verified(request)
        event = await _event(request, body)
        if event is None:
            return _answer(400, "This is no delivery of GitHub's.")
        return await self._keep(event)

    async def _verified(self, request: web.Request) -> bytearray:
        """The raw body, as it was signed. Raises HTTPException."""
        try:
            async with asyncio.timeout(_READING_SECONDS):
                body, signature = await self._read(request)
        except TimeoutError:
            raise web.HTTPRequestTimeout(text="The delivery did not end.") from None
        except (ConnectionError, web.RequestPayloadError):
            # aiohttp would wait for the rest of the body, and log what it lacks.
            request.protocol.force_close()
            raise web.HTTPBadRequest(text="The delivery was cut off.") from None
        given = request.headers.get("X-Hub-Signature-256", "")
        if not hmac.compare_digest(signature.encode(), given.encode("utf-8", "replace")):
            raise web.HTTPUnauthorized(text="The signature does not fit.")
        return body

    async def _read(self, request: web.Request) -> tuple[bytearray, str]:
        """The body, and the signature that it should have, which grows with it: so no large one holds up the others."""
        if (request.content_length or 0) > LARGEST:
            raise _too_large(request.content_length or 0)
        body, signature = bytearray(), hmac.new(self._secret, digestmod=hashlib.sha256)
        async with AsyncExitStack() as room:
            async for part in request.content.iter_chunked(1 << 16):
                if len(body) <= _LARGE < len(body) + len(part):
                    await room.enter_async_context(self._room)
                body += part
                signature.update(part)
                if len(body) > LARGEST:
                    raise _too_large(len(body))
        return body, f"sha256={signature.hexdigest()}"

    async def _keep(self, event: sansio.Event) -> web.Response:
        about = {"delivery": event.delivery_id, "event": event.event, "action": _action(event)}
        try:
            tasks = [] if self._is_own(event) else await tasks_of(event)
        except (KeyError, TypeError, AttributeError) as error:
            # It is signed, so GitHub's, and would come again if it were refused; the log must tell.
            log.error("a payload is not as documented: %r", error, extra=about)
            return _answer(202, "Not understood.")
        try:
            async with asyncio.timeout(_KEEPING_SECONDS):
                for task in tasks:
                    await self._enqueue(task)
        except TimeoutError:
            log.error("a delivery could not be kept: the database does not answer", extra=about)
            return _answer(503, "Not kept; deliver it again.")
        log.info("delivery taken" if tasks else "delivery not needed", extra=about)
        return _answer(202, "Taken." if tasks else "Nothing to do.")

    def _is_own(self, event: sansio.Event) -> bool:
        return (event.data.get("sender") or {}).get("login") == self._own


async def _event(request: web.Request, body: bytearray) -> sansio.Event | None:
    """Event and delivery id are not signed: they are only names here."""
    name, delivery = (request.headers.get(f"X-GitHub-{header}", "") for header in ("Event", "Delivery"))
    if not (_NAME.fullmatch(name) and _NAME.fullmatch(delivery)):
        return None
    try:
        data = await _parsed(body)
    except (ValueError, RecursionError):
        return None
    return sansio.Event(data, event=name, delivery_id=delivery) if isinstance(data, dict) else None


async def _parsed(body: bytearray) -> Any:
    """Raises ValueError, RecursionError. A large body is parsed beside the event loop.

    A thread alone would not help: the parser, in C, gives way to nobody until it calls something in Python.
    """
    if len(body) <= _LARGE:
        return json.loads(body, parse_constant=_refuse)
    return await asyncio.to_thread(json.loads, body, object_hook=_as_it_is, parse_constant=_refuse)


def _as_it_is(found: dict[str, Any]) -> dict[str, Any]:
    return found


def _refuse(constant: str) -> None:
    """NaN and the infinities are no JSON."""
    raise ValueError(constant)


def _action(event: sansio.Event) -> str | None:
    """For the log, where no text of a payload belongs."""
    action = event.data.get("action")
    return action if isinstance(action, str) and _NAME.fullmatch(action) else None


def _too_large(size: int) -> web.HTTPException:
    return web.HTTPRequestEntityTooLarge(LARGEST, size, text="Too large for a delivery.")


def _answer(status: int, text: str) -> web.Response:
    return web.Response(status=status, text=text)
