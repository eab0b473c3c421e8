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
# GitHub gives up on an answer after ten seconds.
_KEEPING_SECONDS = 5
_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")


class Webhook:
    """Takes deliveries. `slug`: the App's; what it does itself comes back as deliveries, and is left alone."""

    def __init__(self, secret: SecretStr, slug: str, enqueue: Enqueue) -> None:
        self._secret = secret.get_secret_value().encode()
        self._own = f"{slug}[bot]"
        self._enqueue = enqueue

    async def take(self, request: web.Request) -> web.Response:
        """202 where the delivery is kept or asks for nothing, 4xx where it is none, 503 where it cannot be kept now."""
        body = await _body(request)
        if body is None:
            return _answer(413, "Too large for a delivery.")
        if not self._is_signed(body, request.headers.get("X-Hub-Signature-256", "")):
            return _answer(401, "The signature does not fit.")
        event = _event(request, body)
        if event is None:
            return _answer(400, "This is no delivery of GitHub's.")
        return await self._keep(event)

    async def _keep(self, event: sansio.Event) -> web.Response:
        tasks = [] if self._is_own(event) else await _tasks(event)
        if tasks is None:
            return _answer(202, "Not understood.")
        about = {"delivery": event.delivery_id, "event": event.event, "action": event.data.get("action")}
        try:
            async with asyncio.timeout(_KEEPING_SECONDS):
                for task in tasks:
                    await self._enqueue(task)
        except TimeoutError:
            log.error("a delivery could not be kept: the database does not answer", extra=about)
            return _answer(503, "Not kept; deliver it again.")
        log.info("delivery taken" if tasks else "delivery not needed", extra=about)
        return _answer(202, "Taken." if tasks else "Nothing to do.")

    def _is_signed(self, body: bytes, signature: str) -> bool:
        expected = f"sha256={hmac.new(self._secret, body, hashlib.sha256).hexdigest()}"
        return hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace"))

    def _is_own(self, event: sansio.Event) -> bool:
        return (event.data.get("sender") or {}).get("login") == self._own


async def _body(request: web.Request) -> bytes | None:
    """The raw body; None for one that is too large, of which no more is read than is allowed."""
    if (request.content_length or 0) > LARGEST:
        return None
    parts, size = [], 0
    async for part in request.content.iter_chunked(1 << 16):
        size += len(part)
        if size > LARGEST:
            return None
        parts.append(part)
    return b"".join(parts)


def _event(request: web.Request, body: bytes) -> sansio.Event | None:
    """Event and delivery id are not signed: they are only names here."""
    name, delivery = (request.headers.get(f"X-GitHub-{header}", "") for header in ("Event", "Delivery"))
    if not (_NAME.fullmatch(name) and _NAME.fullmatch(delivery)):
        return None
    try:
        data: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return sansio.Event(data, event=name, delivery_id=delivery) if isinstance(data, dict) else None


async def _tasks(event: sansio.Event) -> list[Task] | None:
    """None for a payload that lacks what its kind always has: signed, so GitHub's; it is told in the log."""
    try:
        return await tasks_of(event)
    except (KeyError, TypeError, AttributeError) as error:
        about = {"delivery": event.delivery_id, "event": event.event}
        log.error("a payload is not as documented: %r is missing", error, extra=about)
        return None


def _answer(status: int, text: str) -> web.Response:
    return web.Response(status=status, text=text)
