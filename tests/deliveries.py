"""Deliveries as GitHub sends them, signed, to the real server; and the payloads that octokit publishes.

The payloads' path stands in PAICHECKER_WEBHOOK_EXAMPLES; without it what needs them is skipped.
"""

from __future__ import annotations

import asyncio
import copy
import functools
import hashlib
import hmac
import io
import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import sqlalchemy as sa
from app_keys import rsa_pair
from dbos import DBOS
from pydantic import SecretStr

from bot import jobs
from bot.app import WEBHOOK, Server, listening, working
from bot.settings import Settings, load
from bot.store import Store
from bot.tasks import Task
from bot.webhooks import Enqueue, Webhook

Json = dict[str, Any]
SECRET = "sEcReT-of-the-webhook"
SLUG = "paichecker-tests"

EXAMPLES_VARIABLE = "PAICHECKER_WEBHOOK_EXAMPLES"
needs_examples = pytest.mark.skipif(
    EXAMPLES_VARIABLE not in os.environ,
    reason=f"{EXAMPLES_VARIABLE} is not set; it is the path of api.github.com/index.json in "
    "`npm pack @octokit/webhooks-examples`",
)


@dataclass(frozen=True)
class Example:
    """One payload. `number`: its place among all of them."""

    number: int
    event: str
    payload: Json

    @property
    def name(self) -> str:
        """Event and action."""
        return f"{self.event}.{self.payload.get('action')}"

    @property
    def delivery(self) -> str:
        """An id of its own."""
        return f"example-{self.number}"

    def also(self, **more: Any) -> Example:
        """A copy whose payload holds these too, or instead."""
        return Example(self.number, self.event, {**copy.deepcopy(self.payload), **more})


def examples() -> list[Example]:
    """All of them, to be changed at will."""
    return [Example(number, event, copy.deepcopy(payload)) for number, (event, payload) in enumerate(_examples())]


@functools.cache
def _examples() -> list[tuple[str, Json]]:
    kinds = json.loads(Path(os.environ[EXAMPLES_VARIABLE]).read_text(encoding="utf-8"))
    return [(kind["name"], payload) for kind in kinds for payload in kind["examples"]]


def installed(example: Example) -> Example:
    """With an installation, as an App gets it; most of the payloads are those of a repository's own webhook."""
    return example if example.payload.get("installation") else example.also(installation={"id": 101})


def signature(body: bytes, kind: str = "sha256", secret: str = SECRET) -> str:
    """As the header has it."""
    return f"{kind}={hmac.new(secret.encode(), body, kind).hexdigest()}"


def headers_of(body: bytes, event: str = "ping", **changed: str | None) -> dict[str, str]:
    """A delivery's headers. An underscore in a name stands for a hyphen; None leaves one out."""
    given: Mapping[str, str | None] = {
        "Content-Type": "application/json",
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": hashlib.sha256(body).hexdigest()[:32],
        "X-Hub-Signature-256": signature(body),
        **{name.replace("_", "-"): value for name, value in changed.items()},
    }
    return {name: value for name, value in given.items() if value is not None}


class Hook:
    """The server's end of deliveries. `tasks`: what was kept."""

    def __init__(self, port: int, session: aiohttp.ClientSession) -> None:
        self.port = port
        self.address = f"http://127.0.0.1:{port}{WEBHOOK}"
        self.tasks: list[Task] = []
        self._session = session

    async def send(self, body: Any, event: str = "ping", **changed: str | None) -> tuple[int, str]:
        """Status and text of the answer. `body`: bytes as they are, or what is written as JSON."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = headers_of(raw, event, **changed)
        async with self._session.post(self.address, data=io.BytesIO(raw), headers=headers) as answer:
            return answer.status, await answer.text()

    async def deliver(self, example: Example) -> tuple[int, str]:
        """The same for an example."""
        return await self.send(example.payload, example.event, X_GitHub_Delivery=example.delivery)

    async def keep(self, task: Task) -> None:
        """Notes a task."""
        self.tasks.append(task)

    def kinds(self) -> list[str]:
        """Of the tasks since this was asked the last time."""
        taken = [task.kind.value for task in self.tasks]
        self.tasks.clear()
        return taken

    async def raw(self, sent: bytes, *, then: str = "wait") -> str:
        """The first line that is answered to bytes on a connection of their own, or nothing.

        `then`: `end` says that no more will come.
        """
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(sent)
            if then == "end":
                writer.write_eof()
            async with asyncio.timeout(20):
                return (await reader.readline()).decode()
        except ConnectionError:
            return ""
        finally:
            writer.close()


def raw_request(body: bytes, sent: bytes | None = None, **changed: str | None) -> bytes:
    """A delivery as it goes over the wire. `sent`: other bytes in place of the body that headers speak of."""
    given: Json = {"Content_Length": str(len(body)), **changed}
    headers = {"Host": "tests", **headers_of(body, **given)}
    lines = [f"POST {WEBHOOK} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1") + (body if sent is None else sent)


@asynccontextmanager
async def hook(settings: Settings, enqueue: Enqueue | None = None) -> AsyncIterator[Hook]:
    """The server with its webhook open; without `enqueue` tasks are noted."""
    server = Server(settings)
    async with listening(server.application, "127.0.0.1", 0) as port, aiohttp.ClientSession() as session:
        here = Hook(port, session)
        store = Store(sa.create_engine("sqlite://"))
        server.open(Webhook(SecretStr(SECRET), SLUG, enqueue or here.keep), store)
        yield here
        store.close()


@asynccontextmanager
async def durable(settings: Settings) -> AsyncIterator[Hook]:
    """The server with the real durable work behind it."""
    async with working(settings), hook(settings, jobs.enqueue) as here:
        yield here


def settings_in(folder: Path, **more: str) -> Settings:
    """An App with its database in this folder."""
    settings = load(
        {
            "PAICHECKER_APP_ID": "1",
            "PAICHECKER_APP_SLUG": SLUG,
            "PAICHECKER_PRIVATE_KEY": rsa_pair()[0],
            "PAICHECKER_WEBHOOK_SECRET": SECRET,
            "PAICHECKER_DATA": str(folder),
            **more,
        }
    )
    assert isinstance(settings, Settings)
    return settings


async def settled() -> None:
    """Returns when all that was kept is done, or waits for its time; within a minute."""
    async with asyncio.timeout(60):
        while await DBOS.list_workflows_async(  # noqa: ASYNC110 - DBOS tells nobody
            status=["ENQUEUED", "PENDING", "DELAYED"], limit=1, load_input=False, load_output=False
        ):
            await asyncio.sleep(0.1)
