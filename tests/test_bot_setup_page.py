"""The first run over real HTTP: who gets in, what GitHub is asked, what is kept, and when the door closes."""

from __future__ import annotations

import asyncio
import base64
import html
import json
import logging
import os
import re
import socket
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from app_keys import elliptic_key, rsa_pair
from github_server import Answer, GitHubServer, Received, given, page, refusal

from bot.auth import Gone, Suspended, connect_app
from bot.settings import Settings, load
from bot.setup_page import Setup, manifest_of, setup_routes
from checker.github.address import Host

PUBLIC = "https://bot.acme.dev"
SECRET = "0123456789abcdef0123456789abcdef01234567"
MADE = {
    "id": 12345,
    "slug": "paichecker-acme",
    "html_url": "https://github.com/apps/paichecker-acme",
    "pem": rsa_pair()[0],
    "webhook_secret": SECRET,
    "client_id": "Iv1.1",
    "client_secret": "client-secret-nobody-needs",
}
Browser = TestClient[web.Request, web.Application]


class FirstRun:
    """A server without credentials, and what a browser sees of it."""

    def __init__(self, folder: Path, answer: Callable[[Received], Answer], public_url: str = PUBLIC) -> None:
        self.now = 0.0
        self.setup = Setup(now=lambda: self.now)
        self.file = folder / "data" / "credentials.json"
        self.github = GitHubServer(answer)
        self.public_url = public_url

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[Browser]:
        app = web.Application()
        with self.github:
            host = Host(rest=self.github.url)
            app.add_routes(setup_routes(self.setup, host=host, public_url=self.public_url, credentials_file=self.file))
            # The access log would show tokens and codes; the documentation of the routes says so.
            async with TestServer(app) as server, TestClient(server) as browser:
                yield browser

    @property
    def address(self) -> str:
        return self.setup.address("")

    async def state(self, browser: Browser) -> str:
        """The state in the form."""
        text = await (await browser.get(self.address)).text()
        found = re.search(r"settings/apps/new\?state=([\w-]+)", text)
        assert found is not None
        return found[1]


def converts(received: Received) -> Answer:
    """As GitHub does, for any code."""
    assert re.fullmatch(r"/app-manifests/[\w-]+/conversions", received.path)
    assert received.method == "POST"
    assert "authorization" not in received.headers
    return given(MADE, 201)


@pytest.fixture
def run(tmp_path: Path) -> FirstRun:
    return FirstRun(tmp_path, converts)


async def text_of(browser: Browser, path: str, status: int) -> str:
    """The page's text; what holds for all pages is looked at here."""
    answer = await browser.get(path)
    assert answer.status == status
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Referrer-Policy"] in ("no-referrer", "strict-origin")
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "script" not in policy
    assert "unsafe" not in policy
    text = await answer.text()
    assert "<script" not in text
    return html.unescape(text)


# Who gets in


@pytest.mark.parametrize("query", ["", "?token=", "?token=wrong", "?token=%ff", "?token=%ed%b3%bf", "?Token={}"])
async def test_without_the_token_nothing_is_shown(run: FirstRun, query: str) -> None:
    async with run() as browser:
        token = run.address.partition("token=")[2]
        text = await text_of(browser, "/setup" + query.format(token), 403)
    assert "Open the address that the server printed when it started." in text
    assert "manifest" not in text


async def test_the_form_sends_github_the_manifest_with_our_addresses(run: FirstRun) -> None:
    async with run() as browser:
        answer = await browser.get(run.address)
        form = await answer.text()
    action = re.search(r'method="post" action="([^"]*)"', form)
    manifest = re.search(r'name="manifest" value="([^"]*)"', form)
    assert action is not None
    assert manifest is not None
    assert re.fullmatch(r"https://github\.com/settings/apps/new\?state=[\w-]{43}", action[1])
    sent = json.loads(html.unescape(manifest[1]))
    assert sent == manifest_of(PUBLIC)
    assert sent["url"] == PUBLIC
    assert sent["hook_attributes"] == {"url": f"{PUBLIC}/webhook", "active": True}
    assert sent["redirect_url"] == f"{PUBLIC}/setup/callback"
    assert "form-action 'self' https://github.com;" in answer.headers["Content-Security-Policy"]


async def test_an_organization_gets_the_app_if_it_is_named(run: FirstRun) -> None:
    async with run() as browser:
        text = await text_of(browser, f"{run.address}&organization=acme", 200)
        assert "https://github.com/organizations/acme/settings/apps/new?state=" in text
        assert "Create the App for acme" in text
        hostile = f"{run.address}&organization=%22%3E%3Cscript%3E"
        assert "Give its name as in the address" in await text_of(browser, hostile, 400)


@pytest.mark.parametrize(
    ("public_url", "warned"),
    [
        (PUBLIC, ""),
        ("http://bot.acme.dev", "is not encrypted"),
        ("http://localhost:8080", "GitHub cannot reach"),
        ("http://127.0.0.1:8080", "GitHub cannot reach"),
        ("http://[::1]:8080", "GitHub cannot reach"),
    ],
)
async def test_an_address_that_will_not_do_is_warned_about(tmp_path: Path, public_url: str, warned: str) -> None:
    run = FirstRun(tmp_path, converts, public_url)
    async with run() as browser:
        text = await text_of(browser, run.address, 200)
    assert (warned in text) if warned else ('class="warn"' not in text)


# The way back from GitHub


async def test_the_credentials_are_stored_for_their_owner_alone_and_shown(run: FirstRun) -> None:
    async with run() as browser:
        state = await run.state(browser)
        assert not run.setup.configured.is_set()
        text = await text_of(browser, f"/setup/callback?code=a1b2&state={state}", 200)
        assert run.setup.configured.is_set()
        assert [one.path for one in run.github.received] == ["/app-manifests/a1b2/conversions"]
    key = base64.b64encode(MADE["pem"].encode()).decode()  # type: ignore[attr-defined]
    lines = {
        "PAICHECKER_APP_ID": "12345",
        "PAICHECKER_APP_SLUG": "paichecker-acme",
        "PAICHECKER_WEBHOOK_SECRET": SECRET,
        "PAICHECKER_PRIVATE_KEY": key,
    }
    assert "\n".join(f"{name}={value}" for name, value in lines.items()) in text
    assert "https://github.com/apps/paichecker-acme/installations/new" in text
    assert "client-secret" not in text
    assert run.setup.credentials == lines
    assert json.loads(run.file.read_text(encoding="utf-8")) == lines
    assert stat.S_IMODE(run.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(run.file.parent.stat().st_mode) == 0o700
    assert [path.name for path in run.file.parent.iterdir()] == ["credentials.json"]


async def test_what_was_stored_or_shown_starts_the_app(run: FirstRun) -> None:
    async with run() as browser:
        await browser.get(f"/setup/callback?code=a1b2&state={await run.state(browser)}")
    for environment in ({"PAICHECKER_DATA": str(run.file.parent)}, dict(run.setup.credentials or {})):
        found = load(environment)
        assert isinstance(found, Settings)
        assert (found.app_id, found.slug) == (12345, "paichecker-acme")
        assert found.webhook_secret.get_secret_value() == SECRET
        assert found.private_key.get_secret_value() == MADE["pem"]


async def test_once_configured_both_pages_are_closed(run: FirstRun) -> None:
    async with run() as browser:
        state, later = await run.state(browser), await run.state(browser)
        address = f"/setup/callback?code=a1b2&state={state}"
        await text_of(browser, address, 200)
        for path in (address, f"/setup/callback?code=a1b2&state={later}", run.address, "/setup"):
            text = await text_of(browser, path, 410)
            assert SECRET not in text
        assert len(run.github.received) == 1


async def test_two_who_come_back_at_once_make_one_app(run: FirstRun) -> None:
    async with run() as browser:
        states = [await run.state(browser) for _ in range(2)]
        answers = await asyncio.gather(*(browser.get(f"/setup/callback?code=a&state={state}") for state in states))
        assert sorted(answer.status for answer in answers) == [200, 410]
        assert len(run.github.received) == 1


@pytest.mark.parametrize(
    "query", ["", "?code=a1", "?code=a1&state=", "?code=a1&state=made-up", "?state={}", "?code=..%2Fapp&state={}"]
)
async def test_an_answer_that_was_not_expected_asks_github_nothing(run: FirstRun, query: str) -> None:
    async with run() as browser:
        text = await text_of(browser, "/setup/callback" + query.format(await run.state(browser)), 400)
        assert "Open the address again" in text
        assert run.github.received == []
    assert not run.setup.configured.is_set()


async def test_a_state_serves_once_and_for_an_hour(tmp_path: Path) -> None:
    run = FirstRun(tmp_path, lambda _: refusal(404, "Not Found"))
    async with run() as browser:
        state = await run.state(browser)
        run.now += 3599
        await text_of(browser, f"/setup/callback?code=a1&state={state}", 502)
        await text_of(browser, f"/setup/callback?code=a1&state={state}", 400)
        late = await run.state(browser)
        run.now += 3600
        await text_of(browser, f"/setup/callback?code=a1&state={late}", 400)
        assert len(run.github.received) == 1


async def test_a_look_ahead_with_head_does_not_use_up_the_code(run: FirstRun) -> None:
    async with run() as browser:
        address = f"/setup/callback?code=a1b2&state={await run.state(browser)}"
        assert (await browser.head(address)).status == 405
        await text_of(browser, address, 200)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (refusal(404, "Not Found"), "GitHub does not know this code."),
        (refusal(422, "Validation Failed"), "GitHub refused the manifest."),
        (refusal(403, "Forbidden"), "GitHub answered 403."),
        (refusal(429, "Too many").also(retry_after="100"), "asks to wait 100 s"),
        (given({**MADE, "webhook_secret": None}, 201), "GitHub's answer cannot be used (webhook_secret)."),
        (given({**MADE, "webhook_secret": "a\nPAICHECKER_APP_ID=6"}, 201), "cannot be used (webhook_secret)."),
        (given({**MADE, "pem": elliptic_key()}, 201), "cannot be used (pem)."),
        (given({**MADE, "slug": "<b>", "html_url": "javascript:alert(1)"}, 201), "cannot be used (html_url, slug)."),
        (given([], 201), "GitHub's answer cannot be used ()."),
    ],
)
async def test_what_github_refuses_is_told_and_may_be_tried_again(tmp_path: Path, answer: Answer, says: str) -> None:
    answers = [answer, given(MADE, 201)]
    run = FirstRun(tmp_path, lambda _: answers.pop(0))
    async with run() as browser:
        text = await text_of(browser, f"/setup/callback?code=a1&state={await run.state(browser)}", 502)
        assert says in text
        assert SECRET not in text
        assert not run.file.exists()
        assert run.setup.credentials is None
        await text_of(browser, f"/setup/callback?code=a2&state={await run.state(browser)}", 200)


async def test_a_github_that_stumbles_is_asked_again(tmp_path: Path) -> None:
    answers = [page("Unicorn!", 502), given(MADE, 201)]
    run = FirstRun(tmp_path, lambda _: answers.pop(0))
    async with run() as browser:
        await text_of(browser, f"/setup/callback?code=a1&state={await run.state(browser)}", 200)


async def test_credentials_that_cannot_be_stored_are_shown_all_the_same(run: FirstRun) -> None:
    run.file.parent.write_text("a file where the folder should be", encoding="utf-8")
    async with run() as browser:
        text = await text_of(browser, f"/setup/callback?code=a1&state={await run.state(browser)}", 200)
        assert "This server could not store them" in text
        assert f"PAICHECKER_WEBHOOK_SECRET={SECRET}" in text
        assert run.setup.configured.is_set()


async def test_half_a_file_of_credentials_is_never_left_behind(run: FirstRun) -> None:
    run.file.mkdir(parents=True)
    async with run() as browser:
        text = await text_of(browser, f"/setup/callback?code=a1&state={await run.state(browser)}", 200)
    assert "(Is a directory)" in text
    assert [path.name for path in run.file.parent.iterdir()] == ["credentials.json"]


async def test_neither_token_nor_state_nor_credentials_are_logged(
    run: FirstRun, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with run() as browser:
        state = await run.state(browser)
        await browser.get(f"/setup/callback?code=the-code&state={state}")
    # The test's own server writes an access log; what runs these routes is told not to.
    ours = "".join(record.getMessage() for record in caplog.records if record.name != "aiohttp.access")
    assert "GitHub made the App paichecker-acme, number 12345." in ours
    for secret in (run.address.partition("token=")[2], state, "the-code", SECRET, "PRIVATE KEY"):
        assert secret not in ours
        assert secret not in repr(run.setup)


# A GitHub that was written without sight of this page

_GITHUBD = "PAICHECKER_GITHUBD"


@pytest.fixture
def githubd(tmp_path: Path) -> Iterator[str]:
    world = tmp_path / "world.json"
    environment = {**os.environ, "PYTHONPATH": os.environ[_GITHUBD]}
    make = [sys.executable, "-m", "githubd.worlds", "sample", "-o", str(world)]
    subprocess.run(make, env=environment, check=True, capture_output=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    serve = [sys.executable, "-m", "githubd", "--world", str(world), "--port", str(port)]
    with subprocess.Popen(serve, env=environment, stdout=subprocess.DEVNULL) as server:
        end = time.monotonic() + 60
        while time.monotonic() < end and server.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def asking(address: str) -> aiohttp.ClientSession:
    """Whoever is not the App."""
    return aiohttp.ClientSession(address, raise_for_status=True)


@pytest.mark.skipif(_GITHUBD not in os.environ, reason=f"{_GITHUBD} (the folder of the package githubd) is not set")
async def test_the_way_through_githubd_ends_with_an_app_that_is_let_in_until_it_is_put_out(
    tmp_path: Path, githubd: str
) -> None:
    setup, app = Setup(), web.Application()
    host = Host(web=githubd, rest=githubd, graphql=f"{githubd}/graphql")
    app.add_routes(setup_routes(setup, host=host, public_url=PUBLIC, credentials_file=tmp_path / "credentials.json"))
    async with TestServer(app) as server, TestClient(server) as browser, asking(githubd) as outside:
        form = html.unescape(await (await browser.get(setup.address(""))).text())
        action = re.search(r'method="post" action="(.*?)"', form)
        assert action is not None
        sent = {"manifest": json.dumps(manifest_of(PUBLIC))}
        answer = await outside.post(action[1], data=sent, allow_redirects=False)
        back = answer.headers["Location"]
        assert back.startswith(f"{PUBLIC}/setup/callback?code=")
        assert (await browser.get(back.removeprefix(PUBLIC))).status == 200
        found = load({"PAICHECKER_DATA": str(tmp_path)})
        assert isinstance(found, Settings)
        repository = (await (await outside.get("/repos/acme/widgets")).json())["id"]
        async with connect_app(host, found.app_id, found.private_key) as installations:
            async with installations.app_client() as client:
                assert (await client.item("/app", {}))["slug"] == found.slug
                installation = (await client.item("/repos/acme/widgets/installation", {}))["id"]
            async with installations.client(installation, repository) as client:
                listed = await client.item("/installation/repositories", {})
                assert [one["full_name"] for one in listed["repositories"]] == ["acme/widgets"]
                await outside.post("/_ctl/expire_tokens", json={})
                assert (await client.item("/repos/acme/widgets", {}))["id"] == repository
                await outside.post("/_ctl/suspend", json={"installation": installation})
                with pytest.raises(Suspended):
                    await client.item("/repos/acme/widgets", {})
                await outside.post("/_ctl/suspend", json={"installation": installation, "suspended": False})
                await outside.post("/_ctl/uninstall", json={"installation": installation})
                with pytest.raises(Gone):
                    await client.item("/repos/acme/widgets", {})
            with pytest.raises(Gone):
                await installations.token(installation, repository + 1)
