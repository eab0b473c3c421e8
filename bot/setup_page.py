"""First run: a page that lets GitHub make an App from our manifest, and keeps the credentials that GitHub gives for it.

docs.github.com, "Registering a GitHub App from a manifest". Token, code and state stand in addresses: a server of these
routes must not log addresses (aiohttp: `access_log=None`).
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import logging
import os
import re
import secrets
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import yaml
from aiohttp import web
from cachetools import TTLCache
from gidgethub import HTTPException
from pydantic import AfterValidator, BaseModel, Field, ValidationError
from yarl import URL

from bot.pages import Fragment, fill, page, policy
from bot.setting_values import private_key_of
from bot.settings import APP_ID, PRIVATE_KEY, SLUG, WEBHOOK_SECRET
from checker.github.address import Host
from checker.github.client import GitHubError, connect

SETUP, CALLBACK, WEBHOOK = "/setup", "/setup/callback", "/webhook"

_STATE_SECONDS = 3600
_MOST_STATES = 64
_CODE = re.compile(r"[A-Za-z0-9_-]{1,200}")
_ORGANIZATION = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}")
_LOOPBACK = re.compile(r"localhost|127\.[0-9.]+|::1")
_WHY = {
    "metadata": "every App has it; also asks who may write, before it takes an answer",
    "contents": "to read the changed code, and .github/paichecker.yml",
    "issues": "to read the issue that a pull request is linked to",
    "pull_requests": "to read pull requests, and to keep one comment on each up to date",
    "checks": "to show the result beside the other checks",
}
_AGAIN = "Open the address again that the server printed when it started."
_log = logging.getLogger(__name__)


class SetupError(Exception):
    """The App could not be made. The message is for the person before the page."""


class Setup:
    """Who may set up, and whether it is done. The token serves until then, a state once and for an hour.

    `credentials` are environment lines by name; `configured` is set once they were shown. Neither token nor credentials
    are in its repr.
    """

    def __init__(self, *, now: Callable[[], float] = time.monotonic) -> None:
        self.configured = asyncio.Event()
        self.credentials: Mapping[str, str] | None = None
        self.lock = asyncio.Lock()
        self._token = secrets.token_urlsafe(32)
        self._states: TTLCache[str, bool] = TTLCache(_MOST_STATES, _STATE_SECONDS, timer=now)

    def address(self, public_url: str) -> str:
        """The set-up page's address with the token: for the operator's terminal alone."""
        return f"{public_url}{SETUP}?token={self._token}"

    def admits(self, token: str) -> bool:
        """Whether this is the token, in constant time."""
        return hmac.compare_digest(token.encode(), self._token.encode())

    def new_state(self) -> str:
        """What GitHub will hand back."""
        state = secrets.token_urlsafe(32)
        self._states[state] = True
        return state

    def takes(self, state: str) -> bool:
        """Whether this state was given out within the hour; it will not be taken again."""
        return self._states.pop(state, False)


def manifest_of(public_url: str) -> dict[str, Any]:
    """app.yml with this server's addresses."""
    manifest: dict[str, Any] = yaml.safe_load(app_file())
    hook = {**manifest["hook_attributes"], "url": f"{public_url}{WEBHOOK}"}
    return {**manifest, "url": public_url, "redirect_url": f"{public_url}{CALLBACK}", "hook_attributes": hook}


def app_file() -> str:
    """The text of app.yml: in a wheel it lies inside the package, in a checkout at the top."""
    inside = Path(str(resources.files("bot"))) / "app.yml"
    return (inside if inside.is_file() else Path(__file__).parent.parent / "app.yml").read_text(encoding="utf-8")


def setup_routes(setup: Setup, *, host: Host, public_url: str, credentials_file: Path) -> list[web.RouteDef]:
    """`/setup` and `/setup/callback`. Both answer 410 once the App is configured."""
    pages = _Pages(setup, host, public_url, credentials_file)
    # A HEAD request would use up the code, and show nobody the answer.
    return [
        web.get(SETUP, pages.create, allow_head=False),
        web.get(CALLBACK, pages.created, allow_head=False),
    ]


@dataclass(frozen=True)
class _Pages:
    setup: Setup
    host: Host
    public_url: str
    credentials_file: Path

    async def create(self, request: web.Request) -> web.StreamResponse:
        """The form that posts the manifest to GitHub."""
        if self.setup.credentials is not None:
            return _closed()
        token = request.query.get("token", "")
        if not self.setup.admits(token):
            return _sentence(
                403, "This page needs its token", "Open the address that the server printed when it started."
            )
        organization = request.query.get("organization", "").strip()
        if organization and not _ORGANIZATION.fullmatch(organization):
            return _sentence(400, "No such organization", "Give its name as in the address of its page on GitHub.")
        body = fill(
            "create.html",
            warnings=_warnings(self.public_url),
            action=self._action(organization),
            manifest=json.dumps(manifest_of(self.public_url)),
            owner=f"for {organization}" if organization else "on GitHub",
            webhook=f"{self.public_url}{WEBHOOK}",
            open=Fragment("open" if organization else ""),
            token=token,
            organization=organization,
            permissions=_permissions(),
        )
        web_origin = str(URL(self.host.web).origin())
        # Some servers refuse a form that comes from nowhere: GitHub is told the origin, never the address.
        return _page(200, "Set up PAIChecker", body, forms=f"'self' {web_origin}", referrer="strict-origin")

    def _action(self, organization: str) -> str:
        where = f"/organizations/{organization}" if organization else ""
        return f"{self.host.web}{where}/settings/apps/new?state={self.setup.new_state()}"

    async def created(self, request: web.Request) -> web.StreamResponse:
        """What GitHub sends the browser to, with a code for the credentials."""
        async with self.setup.lock:
            if self.setup.credentials is not None:
                return _closed()
            code = request.query.get("code", "")
            if not self.setup.takes(request.query.get("state", "")) or not _CODE.fullmatch(code):
                return _sentence(400, "This answer was not expected", f"It is too old, or was used before. {_AGAIN}")
            try:
                made = await _convert(self.host, code)
            except SetupError as error:
                return _sentence(502, "The App could not be set up", f"{error} {_AGAIN}")
            self.setup.credentials = made.lines()
            response = _page(200, "Your App is made", self._created(made))
        # Whoever waits may end this server, so the page goes out first.
        try:
            await response.prepare(request)
            await response.write_eof()
        finally:
            self.setup.configured.set()
        _log.info("GitHub made the App %s, number %d.", made.slug, made.id)
        return response

    def _created(self, made: _Made) -> Fragment:
        lines = made.lines()
        try:
            store(self.credentials_file, lines)
        except OSError as error:
            _log.warning("The credentials could not be stored (%s).", error.strerror)
            stored = fill("not_stored.html", file=str(self.credentials_file), why=error.strerror or "no reason given")
        else:
            stored = fill("stored.html", file=str(self.credentials_file))
        shown = "\n".join(f"{name}={value}" for name, value in lines.items())
        install = f"{made.html_url}/installations/new"
        return fill("created.html", slug=made.slug, install=install, lines=shown, stored=stored)


class _Made(BaseModel, hide_input_in_errors=True):
    """GitHub's answer, as far as it is needed: docs.github.com/rest/apps, "Create a GitHub App from a manifest"."""

    id: Annotated[int, Field(gt=0)]
    slug: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]*$")]
    html_url: Annotated[str, Field(pattern=r"^https?://[^\s\"'<>]+$")]
    pem: Annotated[str, Field(repr=False), AfterValidator(private_key_of)]
    webhook_secret: Annotated[str, Field(repr=False, pattern=r"^[!-~]+$")]

    def lines(self) -> dict[str, str]:
        """As the environment would hold them, one line each."""
        key = base64.b64encode(self.pem.encode()).decode()
        return {APP_ID: str(self.id), SLUG: self.slug, WEBHOOK_SECRET: self.webhook_secret, PRIVATE_KEY: key}


async def _convert(host: Host, code: str) -> _Made:
    """Raises SetupError."""
    try:
        async with connect(host, None, longest_wait=10, call_seconds=20) as client:
            answer = await client.post("/app-manifests/{code}/conversions", {"code": code}, data=b"")
        return _Made.model_validate(answer)
    except HTTPException as error:
        known = {404: "GitHub does not know this code.", 422: "GitHub refused the manifest."}
        raise SetupError(known.get(int(error.status_code), f"GitHub answered {int(error.status_code)}.")) from None
    except GitHubError as error:
        raise SetupError(str(error)) from None
    except ValidationError as error:
        missing = ", ".join(sorted({str(item["loc"][0]) for item in error.errors(include_input=False) if item["loc"]}))
        raise SetupError(f"GitHub's answer cannot be used ({missing}). Delete the App on GitHub.") from None


def store(path: Path, lines: Mapping[str, str]) -> None:
    """Writes the credentials whole or not at all, for this process's user alone (mode 0600). Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # mkstemp opens with O_EXCL and 0600.
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".credentials-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(dict(lines), file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def _warnings(public_url: str) -> Fragment:
    url = URL(public_url)
    if _LOOPBACK.fullmatch(url.host or ""):
        return fill("warn_loopback.html", url=public_url)
    return fill("warn_http.html", url=public_url) if url.scheme == "http" else Fragment("")


def _permissions() -> Fragment:
    asked: Mapping[str, str] = yaml.safe_load(app_file())["default_permissions"]
    rows = (fill("permission.html", name=name.replace("_", " "), level=asked[name], why=_WHY[name]) for name in asked)
    return Fragment("".join(rows))


def _closed() -> web.Response:
    return _sentence(410, "PAIChecker is set up", "There is nothing left to do here.")


def _sentence(status: int, title: str, says: str) -> web.Response:
    return _page(status, title, fill("sentence.html", title=title, says=says))


def _page(
    status: int, title: str, body: Fragment, *, forms: str = "'none'", referrer: str = "no-referrer"
) -> web.Response:
    headers = {
        "Cache-Control": "no-store",
        "Content-Security-Policy": policy(forms),
        "Referrer-Policy": referrer,
        "X-Content-Type-Options": "nosniff",
    }
    return web.Response(status=status, text=page(title, body), content_type="text/html", headers=headers)
