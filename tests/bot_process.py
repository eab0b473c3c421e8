"""The real server, as its operator starts it, in a thread of this process: so a test may play GitHub beside it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from app_keys import rsa_pair
from dbos import DBOS
from githubd_server import free_port

from bot.app import serve
from bot.auth import Installations, connect_app
from bot.settings import Settings, load
from bot.store import Store, open_store

SECRET = "a secret of the tests"
SLUG = "paichecker-test"
LOGIN = f"{SLUG}[bot]"
_UNDER_WAY = ["ENQUEUED", "PENDING"]
_LONGEST_WAIT = 60


@dataclass
class App:
    """A running server. `store` is another connection to its database, `told` what it printed."""

    settings: Settings
    store: Store
    told: list[str] = field(default_factory=list)

    @property
    def webhook(self) -> str:
        return f"{self.settings.public_url}/webhook"

    @asynccontextmanager
    async def installations(self) -> AsyncIterator[Installations]:
        """Credentials of its own, as a second process would have them."""
        async with connect_app(self.settings.github, self.settings.app_id, self.settings.private_key) as installations:
            yield installations

    def unfinished(self, *, delayed: bool = True) -> list[str]:
        """The work that is kept and not done; with or without what waits for its time."""
        wanted = [*_UNDER_WAY, "DELAYED"] if delayed else _UNDER_WAY
        listed = DBOS.list_workflows(status=wanted, load_input=False, load_output=False)
        return [workflow.workflow_id for workflow in listed]

    def settle(self, *, idle: Callable[[], bool] = lambda: True, delayed: bool = True) -> None:
        """Returns when all that was asked for is done. `idle`: whether nothing is on its way from GitHub."""
        until("all work is done", lambda: idle() and not self.unfinished(delayed=delayed))


def until(what: str, holds: Callable[[], Any]) -> None:
    """Waits for something to be seen."""
    end = time.monotonic() + _LONGEST_WAIT
    while not holds():
        if time.monotonic() > end:
            pytest.fail(f"{what} did not come within {_LONGEST_WAIT} s")
        time.sleep(0.05)


def settings_for(github: str, folder: Path, **more: str) -> Settings:
    """Settings for a GitHub; `github` is its web address, `more` further variables of the environment."""
    port = free_port()
    settings = load(
        {
            "PAICHECKER_APP_ID": "1",
            "PAICHECKER_APP_SLUG": SLUG,
            "PAICHECKER_PRIVATE_KEY": rsa_pair()[0],
            "PAICHECKER_WEBHOOK_SECRET": SECRET,
            "PAICHECKER_DATA": str(folder),
            "PAICHECKER_HOST": "127.0.0.1",
            "PAICHECKER_PUBLIC_URL": f"http://127.0.0.1:{port}",
            "PORT": str(port),
            "GITHUB_SERVER_URL": github,
            **more,
        }
    )
    assert isinstance(settings, Settings)
    return settings


@contextmanager
def serving(settings: Settings) -> Iterator[App]:
    """The server, from when it takes deliveries until it has ended. What ends it early is raised here."""
    told: list[str] = []
    ready = threading.Event()
    loops: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def say(line: str) -> None:
        told.append(line)
        ready.set()

    async def run() -> None:
        stop = asyncio.Event()
        loops.append((asyncio.get_running_loop(), stop))
        await serve(settings, say, until=stop)

    with ThreadPoolExecutor(1, "the App") as thread:
        server = thread.submit(asyncio.run, run())
        server.add_done_callback(lambda _: ready.set())
        ready.wait()
        if server.done():
            server.result()
        store = open_store(settings.database_url.get_secret_value())
        try:
            yield App(settings, store, told)
        finally:
            store.close()
            loop, stop = loops[0]
            if not server.done():
                loop.call_soon_threadsafe(stop.set)
            server.result()


@contextmanager
def soon(seconds: int = 0) -> Iterator[None]:
    """What waits 20 seconds or ten minutes, so that what follows is one check with it, waits for so long."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("pull_requests.SOON", "issues.SOON", "issue_comments.LATER"):
            patch.setattr(f"bot.events.{name}", seconds)
        yield
