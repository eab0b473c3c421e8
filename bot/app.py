"""The server: what it is made of, in which order it starts, and which addresses it answers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from bot import jobs
from bot.auth import Installations, connect_app
from bot.engine import Engine
from bot.missed import Missed
from bot.settings import NotConfigured, Settings, SettingsError, load, prepare
from bot.setup_page import Setup, setup_routes
from bot.store import Store, open_store
from bot.sweeper import sweep_forever
from bot.tasks import Kind, Task
from bot.webhooks import Webhook
from bot.work import Work, threaded
from checker import __version__
from checker.github.client import GitHubError

log = logging.getLogger(__name__)

WEBHOOK = "/webhook"
# One process works on one database: wherever it is started again, it takes up what it left.
_EXECUTOR = "paichecker"
_KEEP = timedelta(days=30)
_DAY = 86_400
Say = Callable[[str], None]


class Server:
    """Answers `/webhook`, `/healthz`, `/readyz`, and `/setup` until the App is configured."""

    def __init__(self, settings: Settings | NotConfigured) -> None:
        self._settings = settings
        self._webhook: Webhook | None = None
        self._store: Store | None = None
        self.setup = Setup()

    @property
    def application(self) -> web.Application:
        """The routes."""
        application = web.Application()
        application.router.add_post(WEBHOOK, self._take)
        application.router.add_get("/", self._home)
        application.router.add_get("/healthz", self._healthz)
        application.router.add_get("/readyz", self._readyz)
        if isinstance(self._settings, NotConfigured):
            pages = setup_routes(
                self.setup,
                host=self._settings.github,
                public_url=self._settings.public_url,
                credentials_file=self._settings.credentials_file,
            )
            application.add_routes(pages)
        return application

    def open(self, webhook: Webhook, store: Store) -> None:
        """From now on deliveries are taken."""
        self._webhook, self._store = webhook, store

    def close(self) -> None:
        """Deliveries are to come again."""
        self._webhook = self._store = None

    async def _take(self, request: web.Request) -> web.StreamResponse:
        if self._webhook is None:
            return web.Response(status=503, text="Not ready.")
        return await self._webhook.take(request)

    async def _home(self, _: web.Request) -> web.StreamResponse:
        """Whoever follows the App's website on GitHub."""
        return web.Response(
            text="PAIChecker: does a pull request do exactly what its linked issue asks? "
            "In a comment on a pull request, /paichecker help lists what can be said.\n"
        )

    async def _healthz(self, _: web.Request) -> web.StreamResponse:
        return web.json_response({"status": "alive", "version": __version__})

    async def _readyz(self, _: web.Request) -> web.StreamResponse:
        if self._store is None:
            return web.json_response({"status": "not ready: the App is not configured yet"}, status=503)
        try:
            async with asyncio.timeout(3):
                await threaded(self._store.alive)
        except (TimeoutError, sa.exc.SQLAlchemyError):
            return web.json_response({"status": "not ready: the database does not answer"}, status=503)
        return web.json_response({"status": "ready"})


@asynccontextmanager
async def listening(application: web.Application, host: str, port: int) -> AsyncIterator[int]:
    """Serves an application; its port. Addresses hold tokens at times, so none are logged.

    Nothing is unpacked: a delivery is verified as it came.
    """
    logging.getLogger("aiohttp.server").addFilter(_is_of_ours)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=10, auto_decompress=False)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        yield int(runner.addresses[0][1])
    except OSError as error:
        raise SettingsError(f"port {port} of {host} cannot be listened on ({error.strerror}); set PORT") from None
    finally:
        await runner.cleanup()


def _is_of_ours(record: logging.LogRecord) -> bool:
    """What strangers send that is no HTTP is no error of ours, and aiohttp repeats it in the log."""
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


@asynccontextmanager
async def working(settings: Settings) -> AsyncIterator[Work]:
    """Database, clients, engine and durable work, started and at the end stopped in order. Raises SettingsError."""
    store = await threaded(open_database, settings)
    try:
        async with connect_app(settings.github, settings.app_id, settings.private_key) as installations:
            engine = Engine(settings)
            work = Work(
                store=store,
                installations=installations,
                engine=engine,
                slug=settings.slug or await _slug(installations),
                web=settings.github.web,
                mode=settings.mode,
            )
            await jobs.start(work, settings.database_url.get_secret_value(), executor=_EXECUTOR)
            try:
                yield work
            finally:
                await threaded(jobs.stop)
                await engine.close()
    finally:
        store.close()


def open_database(settings: Settings | NotConfigured) -> Store:
    """Raises SettingsError where it does not answer."""
    prepare(settings)
    try:
        return open_store(settings.database_url.get_secret_value())
    except sa.exc.OperationalError as error:
        # The driver's words may hold the address with its password.
        reason = type(error.orig).__name__
        raise SettingsError(
            f"the database does not answer ({reason}); look at DATABASE_URL, and at the server"
        ) from None


async def _slug(installations: Installations) -> str:
    try:
        async with installations.app_client() as client:
            return str((await client.item("/app", {}))["slug"])
    except GitHubError as error:
        raise SettingsError(f"GitHub does not tell the App's name: {error} Or set PAICHECKER_APP_SLUG.") from None


async def serve(settings: Settings | NotConfigured, say: Say, *, until: asyncio.Event | None = None) -> None:
    """Runs until it is cancelled, or `until` is set. Without credentials it waits for the set-up first."""
    server = Server(settings)
    stop = until or asyncio.Event()
    async with listening(server.application, settings.host, settings.port):
        if isinstance(settings, NotConfigured):
            # Before anything is made on GitHub: what cannot be kept would be lost.
            (await threaded(open_database, settings)).close()
            say("This App is not set up yet. Open this address, once, within this run of the server:")
            say(f"  {server.setup.address(settings.public_url)}")
            await _first(stop.wait(), server.setup.configured.wait())
            if stop.is_set():
                return
            settings = _configured(server.setup)
            say("The App is set up.")
        async with working(settings) as work:
            server.open(Webhook(settings.webhook_secret, work.slug, jobs.enqueue), work.store)
            say(f"{work.slug} takes deliveries at {settings.public_url}{WEBHOOK}, checks by {_backend(settings)}.")
            # What runs beside it never ends by itself; where it does, that is a defect, and is raised.
            try:
                await _first(stop.wait(), _sweep(work), _forget_old(work))
            finally:
                server.close()


async def _first(*waits: Coroutine[Any, Any, Any]) -> None:
    """Until one of them ends; the others are given up."""
    tasks = [asyncio.create_task(one) for one in waits]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _sweep(work: Work) -> None:
    """What was missed while the App was down, and what failed to be delivered."""

    async def enqueue(missed: Missed) -> None:
        await jobs.enqueue(missed_task(missed))

    await sweep_forever(work.installations, work.store, enqueue=enqueue)


async def _forget_old(work: Work) -> None:
    """Once a day."""
    while True:
        await jobs.forget_old(work.now() - _KEEP)
        await asyncio.sleep(_DAY)


def missed_task(missed: Missed) -> Task:
    """A check of a head that no delivery told of; the same however often it is found."""
    return Task(
        kind=Kind.CHECK,
        key=f"missed-{missed.repository_id}-{missed.number}-{missed.head_sha}",
        installation=missed.installation,
        why="missed",
        repository_id=missed.repository_id,
        repository=missed.repository,
        number=missed.number,
        head_sha=missed.head_sha,
    )


def _configured(setup: Setup) -> Settings:
    settings = load(given=setup.credentials or {})
    if isinstance(settings, NotConfigured):
        raise SettingsError("the set-up gave no credentials")
    return settings


def _backend(settings: Settings) -> str:
    return settings.models[0] if settings.anthropic_api_key else "rules (no ANTHROPIC_API_KEY is set)"
