"""`paichecker-bot doctor`: the live App against what it has to be, one line for each matter, with what to do."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

import sqlalchemy as sa
import yaml
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy.exc import OperationalError

from bot.auth import Installations
from bot.believed import CHECKS, SURVEY, UNCHECKABLE, Outcome, Scene, look
from bot.redelivery import Attempt, attempts_since, undelivered
from bot.settings import Settings
from bot.setup_page import WEBHOOK, app_file
from bot.store import Store
from checker import __version__
from checker.github.address import Address
from checker.github.client import APP, Client, GitHubError, NotFoundError, connect
from checker.github.collect import collect
from checker.render import one_line

Json = Mapping[str, Any]

_LEVELS = {"read": 1, "write": 2, "admin": 3}
_DAY = timedelta(days=1)
_MOST_SHOWN = 5
_MOST_REPOSITORIES = 10
# Heard where it comes: whether a manifest may list it is not known.
_WELCOME = frozenset({"installation_target"})
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Mark(StrEnum):
    """How a matter stands. UNSEEN: nothing was there to see it by; that is neither good nor bad."""

    OK = "ok"
    LOOK = "look"
    WRONG = "wrong"
    UNSEEN = "-"


_STATUS = {Mark.OK: 0, Mark.UNSEEN: 0, Mark.LOOK: 1, Mark.WRONG: 2}


@dataclass(frozen=True)
class Line:
    """One matter, and what to do about it."""

    mark: Mark
    what: str
    do: str = ""

    def __str__(self) -> str:
        """As it is printed: names come from GitHub, and steer no terminal."""
        below = f"\n{'':8}{one_line(self.do)}" if self.do else ""
        return f"{self.mark:<7} {one_line(self.what)}{below}"


async def examine(settings: Settings, installations: Installations, store: Store, out: Callable[[str], None]) -> int:
    """Prints what it finds, as it finds it. Returns 0: all is well; 1: something to look at; 2: it does not work.

    It changes nothing on GitHub.
    """
    worst = 0

    def say(line: Line) -> None:
        nonlocal worst
        worst = max(worst, _STATUS[line.mark])
        out(str(line))

    for line in (_version(), _backend(settings), await asyncio.to_thread(_database, settings, store)):
        say(line)
    try:
        async with installations.app_client() as app, AsyncExitStack() as stack:
            await _Examination(settings, installations, app, say, stack).run()
    except GitHubError as error:
        say(Line(Mark.WRONG, f"GitHub: {error}", "Nothing further can be looked at."))
    return worst


# This machine


def _version() -> Line:
    return Line(Mark.OK, f"version: PAIChecker {__version__} on Python {platform.python_version()}")


def _backend(settings: Settings) -> Line:
    if settings.anthropic_api_key is None:
        return Line(Mark.OK, "backend: rules, no model (set ANTHROPIC_API_KEY to use one)")
    where = urlsplit(settings.anthropic_base_url).hostname if settings.anthropic_base_url else "Anthropic"
    others = f"; repositories may choose {', '.join(settings.models)}" if settings.models[1:] else ""
    return Line(Mark.OK, f"backend: {settings.models[0]} at {where}{others}")


def _database(settings: Settings, store: Store) -> Line:
    file = settings.database_file
    # Of an address with a password only the host is told.
    host = sa.make_url(settings.database_url.get_secret_value()).host
    where = f"SQLite in {file}" if file else f"PostgreSQL at {host or 'a socket'}"
    config = Config()
    config.set_main_option("script_location", "bot:migrations")
    config.set_main_option("path_separator", "os")
    newest = ScriptDirectory.from_config(config).get_current_head()
    try:
        rows = store.select(sa.select(sa.column("version_num")).select_from(sa.table("alembic_version")))
    except OperationalError as error:
        why = type(error.orig).__name__
        do = "Look at DATABASE_URL, and at the server."
        return Line(Mark.WRONG, f"database: {where} does not answer ({why})", do)
    found = rows[0][0] if rows else None
    if found != newest:
        do = "Start the server once, it brings the tables up to date; if it is older than they are, upgrade it."
        return Line(Mark.WRONG, f"database: {where} is at migration {found}, and this version needs {newest}", do)
    return Line(Mark.OK, f"database: {where}, migration {found}")


# The App, as GitHub has it


def _credentials(app: Json, slug: str | None) -> Line:
    owner = (app.get("owner") or {}).get("login", "nobody")
    what = f"credentials: GitHub takes them for {app['name']} ({app['slug']}) of {owner}"
    if slug not in (None, app["slug"]):
        do = f"Set PAICHECKER_APP_SLUG to {app['slug']}: the App would not know its own comments."
        return Line(Mark.WRONG, f"{what}, but the settings call it {slug}", do)
    return Line(Mark.OK, what)


def _permissions(app: Json, manifest: Json) -> list[Line]:
    wanted, held = manifest["default_permissions"], app["permissions"]
    missing, more = _lacking(held, wanted), _lacking(wanted, held)
    events, wanted_events = set(app["events"]), set(manifest["default_events"])
    page = "On GitHub, in the App's settings under “Permissions & events”:"
    lines = []
    if missing:
        lines.append(Line(Mark.WRONG, f"permissions: {_listed(missing)} missing", f"{page} add what is missing."))
    if more:
        do = f"{page} take away what the App does not need."
        lines.append(Line(Mark.LOOK, f"permissions: {_listed(more)} more than needed", do))
    if lacking := sorted(wanted_events - events):
        lines.append(Line(Mark.WRONG, f"events: {', '.join(lacking)} missing", f"{page} subscribe to what is missing."))
    if superfluous := sorted(events - wanted_events - _WELCOME):
        do = f"{page} unsubscribe; the App answers them and does nothing."
        lines.append(Line(Mark.LOOK, f"events: {', '.join(superfluous)} not needed", do))
    return lines or [Line(Mark.OK, "permissions and events: as in app.yml")]


def _lacking(held: Mapping[str, str], wanted: Mapping[str, str]) -> dict[str, str]:
    """What is wanted and not held; who may write may read."""
    return {name: level for name, level in wanted.items() if _LEVELS.get(level, 9) > _LEVELS.get(held.get(name, ""), 0)}


def _listed(permissions: Mapping[str, str]) -> str:
    return ", ".join(f"{name}: {level}" for name, level in permissions.items())


def _webhook(config: Json, public_url: str) -> list[Line]:
    wanted, given = f"{public_url}{WEBHOOK}", config.get("url") or "nowhere"
    page = "On GitHub, in the App's settings under “Webhook”:"
    lines = []
    if given != wanted:
        do = f"{page} set it to {wanted}, or set PAICHECKER_PUBLIC_URL to where this server is reached."
        lines.append(Line(Mark.WRONG, f"webhook: GitHub delivers to {given}", do))
    elif urlsplit(given).hostname in _LOOPBACK:
        do = "Set PAICHECKER_PUBLIC_URL, and the webhook's address on GitHub, to where this server is reached."
        lines.append(Line(Mark.LOOK, f"webhook: {given} leads GitHub to itself", do))
    if config.get("content_type") != "json":
        lines.append(Line(Mark.WRONG, "webhook: deliveries are no JSON", f"{page} choose application/json."))
    if not config.get("secret"):
        do = f"{page} set the secret that PAICHECKER_WEBHOOK_SECRET holds; what is not signed is refused."
        lines.append(Line(Mark.WRONG, "webhook: deliveries are not signed", do))
    if str(config.get("insecure_ssl", "0")) != "0":
        lines.append(Line(Mark.LOOK, "webhook: certificates are not verified", f"{page} enable SSL verification."))
    return lines or [Line(Mark.OK, f"webhook: GitHub delivers to {given}")]


def _installations(found: Sequence[Json], manifest: Json, page: str) -> list[Line]:
    if not found:
        return [Line(Mark.LOOK, "installations: none", f"Install the App: {page}/installations/new")]
    lines = [Line(Mark.OK, f"installations: {len(found)}")]
    for one in found:
        who = f"installation {one['id']} of {(one.get('account') or {}).get('login', 'nobody')}"
        if one.get("suspended_at"):
            do = "Nothing is read or written there. Who installed the App can take that back in its settings."
            lines.append(Line(Mark.LOOK, f"{who} is suspended", do))
        if missing := _lacking(one["permissions"], manifest["default_permissions"]):
            do = "Checks fail there. GitHub has sent its owner an e-mail that asks to accept the permissions."
            lines.append(Line(Mark.LOOK, f"{who} has not accepted {_listed(missing)}", do))
    return lines


def _deliveries(attempts: Sequence[Attempt]) -> list[Line]:
    failed = undelivered(attempts)
    if not failed:
        return [Line(Mark.OK, f"deliveries: {len({one.guid for one in attempts})} in a day, none failed for good")]
    do = "The server asks for them again by itself. If they go on failing, look at its log, and at what is before it."
    newest: dict[str, Attempt] = {}
    for attempt in attempts:
        if attempt.guid in failed:
            newest.setdefault(attempt.guid, attempt)
    shown = [f"{one.event} {one.guid} at {one.at:%H:%M} ({one.status})" for one in newest.values()][:_MOST_SHOWN]
    more = f", and {len(failed) - len(shown)} more" if len(failed) > len(shown) else ""
    return [Line(Mark.LOOK, f"deliveries: {len(failed)} failed in a day: {'; '.join(shown)}{more}", do)]


def _limits(answer: Json) -> Line:
    resources = answer["resources"]
    parts = {name: resources[name] for name in ("core", "graphql") if name in resources}
    what = ", ".join(f"{one['remaining']} of {one['limit']} ({name})" for name, one in parts.items())
    if any(one["remaining"] * 10 < one["limit"] for one in parts.values()):
        return Line(Mark.LOOK, f"requests left in this hour: {what}", "Checks wait, or say what they could not read.")
    return Line(Mark.OK, f"requests left in this hour: {what}")


# What asks GitHub, in order


@dataclass(frozen=True)
class _Examination:
    settings: Settings
    installations: Installations
    app: Client
    say: Callable[[Line], None]
    stack: AsyncExitStack

    async def run(self) -> None:
        """Raises GitHubError where the App itself cannot be read."""
        manifest = yaml.safe_load(app_file())
        about = await self.app.item("/app", {})
        self._all(_credentials(about, self.settings.slug), *_permissions(about, manifest), *await self._hook())
        installed = await self.app.pages("/app/installations?per_page=100")
        self._all(*_installations(installed, manifest, str(about.get("html_url"))))
        attempts = await attempts_since(self.app, datetime.now(UTC) - _DAY)
        self._all(*_deliveries(attempts))
        suspended = next((one["id"] for one in installed if one.get("suspended_at")), None)
        scene = await self._scene([one["id"] for one in installed if not one.get("suspended_at")])
        if scene is None:
            do = "Open one, and ask the doctor again."
            self._all(Line(Mark.LOOK, "reading: no installation has a repository with a pull request", do))
        else:
            scene = replace(scene, app=about, attempts=attempts, suspended=suspended)
            self._all(await _reading(scene), await _limits_left(scene))
        await self._believed(scene)

    def _all(self, *lines: Line) -> None:
        for line in lines:
            self.say(line)

    async def _hook(self) -> list[Line]:
        try:
            return _webhook(await self.app.item("/app/hook/config", {}), self.settings.public_url)
        except NotFoundError:
            do = "On GitHub, in the App's settings under “Webhook”: make it active."
            return [Line(Mark.WRONG, "webhook: there is none", do)]

    async def _scene(self, installed: Iterable[int]) -> Scene | None:
        """The first repository with a pull request, those that were pushed to last before the others."""
        for installation in installed:
            try:
                for repository in await self._repositories(installation):
                    scene = await self._surveyed(installation, repository)
                    if scene.pulls:
                        return scene
            except GitHubError as error:
                do = "Checks fail there like this, too."
                self._all(Line(Mark.WRONG, f"installation {installation} cannot be read: {error}", do))
        return None

    async def _repositories(self, installation: int) -> list[Json]:
        """Of one page. The App's own tokens are for a repository each, so this takes another."""
        path = f"/app/installations/{installation}/access_tokens"
        made = await self.app.send("POST", path, {"permissions": {"metadata": "read"}}, again=True)
        async with connect(self.app.host, made["token"], speaker=APP) as client:
            answer = await client.item("/installation/repositories?per_page=100", {})
        found = sorted(answer["repositories"], key=lambda one: one.get("pushed_at") or "", reverse=True)
        return found[:_MOST_REPOSITORIES]

    async def _surveyed(self, installation: int, repository: Json) -> Scene:
        opened = self.installations.client(installation, repository["id"])
        client = await self.stack.enter_async_context(opened)
        owner, _, name = repository["full_name"].partition("/")
        data, _ = await client.query(SURVEY, owner=owner, name=name)
        found = data["repository"]
        branch, pulls = (found["defaultBranchRef"] or {}).get("name"), found["pullRequests"]["nodes"]
        return Scene(self.installations, client, repository["full_name"], branch, pulls)

    async def _believed(self, scene: Scene | None) -> None:
        for name in CHECKS:
            if scene is None:
                self._all(_not_checked(name, "there is no pull request to read"))
                continue
            sight = await look(name, scene)
            if sight.outcome is Outcome.NOT_SEEN:
                self._all(_not_checked(name, sight.by))
            elif sight.outcome is Outcome.HOLDS:
                self._all(Line(Mark.OK, f"believed, {name}: holds, {sight.by}"))
            else:
                do = f"docs/believed.md says under {name} what then goes wrong. Please open an issue."
                self._all(Line(Mark.LOOK, f"believed, {name}: does not hold, {sight.by}", do))
        self._all(*(_not_checked(name, why) for name, why in UNCHECKABLE.items()))


def _not_checked(name: str, why: str) -> Line:
    return Line(Mark.UNSEEN, f"believed, {name}: not checked here, {why}")


async def _reading(scene: Scene) -> Line:
    """A pull request as a check reads it."""
    address = Address(scene.repository, scene.pulls[0]["number"])
    try:
        pair = await collect(scene.client, address)
    except GitHubError as error:
        return Line(Mark.WRONG, f"reading {address}: {error}", "Checks fail like this, too.")
    what = f"reading {address}: commits {len(pair.pull_request.commits)}, linked issues {len(pair.issues)}"
    if gaps := (*pair.unread, *pair.partial):
        do = "A check of it says so, and rules nothing out by it. docs/github.md tells why parts may be missing."
        return Line(Mark.LOOK, f"{what}; not read whole: {', '.join(gaps)}", do)
    return Line(Mark.OK, what)


async def _limits_left(scene: Scene) -> Line:
    try:
        return _limits(await scene.client.item("/rate_limit", {}))
    except NotFoundError:
        # An Enterprise Server without limits answers so.
        return Line(Mark.OK, "requests left in this hour: no limit")
    except GitHubError as error:
        return Line(Mark.LOOK, f"requests left in this hour: {error}")
