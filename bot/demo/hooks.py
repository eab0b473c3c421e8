"""Webhooks: signed deliveries to the App, what became of each, and delivering one again.

As docs.github.com/webhooks says: answered within ten seconds or recorded as failed, and never sent again by itself.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import time as clock
import uuid
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

import aiohttp

from bot.demo.access import App, Installation
from bot.demo.objects import Json, Repository
from bot.demo.shapes import time
from bot.demo.world import World

_SECONDS = 10
# Delivered to an App whether it asks for them or not.
_ALWAYS = ("ping", "installation", "installation_repositories")
Trouble = Literal["lose", "double"]


@dataclass(eq=False, kw_only=True)
class Delivery:
    """One attempt. A `status_code` of 0 is one that is still under way."""

    id: int
    guid: str
    event: str
    action: str | None
    installation: Installation
    repository: Repository | None
    delivered_at: datetime
    body: bytes = field(repr=False)
    headers: Json = field(repr=False)
    redelivery: bool = False
    duration: float = 0.0
    status_code: int = 0
    status: str = "pending"
    answer: str = ""

    def shape(self) -> Json:
        """hook-delivery-item of GitHub's OpenAPI document."""
        about = {
            name: getattr(self, name) for name in ("id", "guid", "redelivery", "duration", "status", "event", "action")
        }
        where = {"installation_id": self.installation.id, "repository_id": self.repository and self.repository.id}
        times = {"delivered_at": time(self.delivered_at), "throttled_at": None}
        return {**about, "status_code": self.status_code, **where, **times}

    def whole(self) -> Json:
        """hook-delivery."""
        request = {"headers": self.headers, "payload": json.loads(self.body)}
        return {**self.shape(), "url": "", "request": request, "response": {"headers": {}, "payload": self.answer}}


class Hooks:
    """The deliveries to one App. `url`: where to; nothing is sent without. `trouble`: what befalls the next ones."""

    def __init__(self, world: World, app: App) -> None:
        self.url: str | None = None
        self.deliveries: list[Delivery] = []
        self.trouble: deque[Trouble] = deque()
        self._world = world
        self._app = app
        self._under_way: set[asyncio.Task[None]] = set()

    async def deliver(
        self, event: str, payload: Json, installation: Installation | None, repository: Repository | None
    ) -> None:
        """Sends an event that the App is subscribed to, and waits for the answer."""
        if installation is None or self.url is None or event not in (*self._app.events, *_ALWAYS):
            return
        id_ = self._world.next_id()
        body = json.dumps(payload).encode()
        guid = str(uuid.uuid5(uuid.NAMESPACE_URL, f"delivery/{id_}"))
        delivery = Delivery(
            id=id_, guid=guid, event=event, action=payload.get("action"), installation=installation,
            repository=repository, delivered_at=self._world.now(), body=body, headers=self._headers(event, guid, body),
        )  # fmt: skip
        trouble = self.trouble.popleft() if self.trouble else None
        if trouble == "lose":
            delivery.status, delivery.status_code = "failed to connect to host", 502
            self.deliveries.append(delivery)
            return
        for _ in range(2 if trouble == "double" else 1):
            await self._send(delivery)

    def later(self, event: str, payload: Json, installation: Installation | None, repository: Repository) -> None:
        """The same, without waiting: what the App itself did."""
        self._start(asyncio.create_task(self.deliver(event, payload, installation, repository)))

    def redeliver(self, old: Delivery) -> None:
        """Sends a delivery again, under its old name."""
        about = {**old.__dict__, "id": self._world.next_id(), "delivered_at": self._world.now(), "redelivery": True}
        self._start(asyncio.create_task(self._send(Delivery(**about))))

    async def settled(self) -> None:
        """Returns when nothing is under way."""
        while self._under_way:
            await asyncio.wait(self._under_way)

    def _start(self, task: asyncio.Task[None]) -> None:
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    def _headers(self, event: str, guid: str, body: bytes) -> Json:
        def signature(kind: str) -> str:
            return f"{kind}={hmac.new(self._app.webhook_secret.encode(), body, kind).hexdigest()}"

        return {
            "Accept": "*/*",
            "Content-Type": "application/json",
            "User-Agent": "GitHub-Hookshot/demo",
            "X-GitHub-Delivery": guid,
            "X-GitHub-Event": event,
            "X-GitHub-Hook-ID": "1",
            "X-GitHub-Hook-Installation-Target-ID": str(self._app.id),
            "X-GitHub-Hook-Installation-Target-Type": "integration",
            "X-Hub-Signature": signature("sha1"),
            "X-Hub-Signature-256": signature("sha256"),
        }

    async def _send(self, delivery: Delivery) -> None:
        if delivery not in self.deliveries:
            self.deliveries.append(delivery)
        begin = clock.monotonic()
        try:
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_SECONDS)) as session,
                session.post(self.url or "", data=delivery.body, headers=delivery.headers) as response,
            ):
                delivery.status_code, delivery.answer = response.status, await response.text(errors="replace")
                delivery.status = "OK" if response.ok else f"Invalid HTTP Response: {response.status}"
        except TimeoutError:
            delivery.status, delivery.status_code = "timed out", 504
        except aiohttp.ClientError:
            delivery.status, delivery.status_code = "failed to connect to host", 502
        delivery.duration = round(clock.monotonic() - begin, 2)
