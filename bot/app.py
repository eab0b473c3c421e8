"""The server: what it is made of, in which order it starts, and which addresses it answers."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

import sqlalchemy as sa
from aiohttp import web

from bot import jobs
from bot.auth import Installations, connect_app
from bot.engine import Engine
from bot.settings import NotConfigured, Settings, SettingsError, load, prepare
from bot.setup_page import Setup, setup_routes
from bot.store import Store, open_store
from bot.webhooks import Webhook
from bot.work import Work, threaded
from checker import __version__
from checker.github.client import GitHubError

log = logging.getLogger(__name__)

WEBHOOK = "/webhook"
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

    async def _take(self, request: web.Request) -> web.StreamResponse:
        if self._webhook is None:
            return web.Response(status=503, text="Not ready.")
        return await self._webhook.take(request)

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
    """Serves an application; its port. Addresses hold tokens at times, so none are logged."""
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=10)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        yield int(runner.addresses[0][1])
    except OSError as error:
        raise SettingsError(f"port {port} of {host} cannot be listened on ({error.strerror}); set PORT") from None
    finally:
        await runner.cleanup()


@asynccontextmanager
async def working(settings: Settings) -> AsyncIterator[Work]:
    """Database, clients, engine and durable work, started and at the end stopped in order. Raises SettingsError."""
    prepare(settings)
    store = await threaded(_open, settings)
    try:
        async with connect_app(settings.github, settings.app_id, settings.private_key) as installations:
            work = Work(
                store=store,
                installations=installations,
                engine=Engine(settings),
                slug=settings.slug or await _slug(installations),
                web=settings.github.web,
                mode=settings.mode,
            )
            await jobs.start(work, settings.database_url.get_secret_value(), executor=_executor())
            try:
                yield work
            finally:
                await threaded(jobs.stop)
    finally:
        store.close()


def _open(settings: Settings) -> Store:
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


def _executor() -> str:
    """One process works on one database: whatever machine it comes back on, it takes up what it left."""
    return os.environ.get("PAICHECKER_WORKER") or "paichecker"


async def serve(settings: Settings | NotConfigured, say: Say, *, until: asyncio.Event | None = None) -> None:
    """Runs until it is cancelled, or `until` is set. Without credentials it waits for the set-up first."""
    server = Server(settings)
    stop = until or asyncio.Event()
    async with listening(server.application, settings.host, settings.port):
        if isinstance(settings, NotConfigured):
            say("This App is not set up yet. Open this address, once, within this run of the server:")
            say(f"  {server.setup.address(settings.public_url)}")
            settings = await _configured(server.setup)
            say("The App is set up.")
        async with working(settings) as work:
            server.open(Webhook(settings.webhook_secret, work.slug, jobs.enqueue), work.store)
            say(f"{work.slug} takes deliveries at {settings.public_url}{WEBHOOK}, checks by {_backend(settings)}.")
            await stop.wait()


async def _configured(setup: Setup) -> Settings:
    await setup.configured.wait()
    credentials: Mapping[str, str] = setup.credentials or {}
    settings = load({**credentials, **os.environ})
    if isinstance(settings, NotConfigured):
        raise SettingsError("the set-up gave no credentials")
    return settings


def _backend(settings: Settings) -> str:
    return settings.models[0] if settings.anthropic_api_key else "rules (no ANTHROPIC_API_KEY is set)"
