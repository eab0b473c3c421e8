"""The demo's GitHub with the story on it, served, and an App beside it that notes what it is sent."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import aiohttp
import jwt
from aiohttp import web
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from multidict import CIMultiDict

from bot.demo import story
from bot.demo.access import App
from bot.demo.github import GitHub
from bot.demo.objects import PullRequest
from bot.demo.setting import set_the_scene
from bot.demo.world import World
from checker.github.address import Host
from checker.github.client import Client, connect

Json = dict[str, Any]
SECRET = "a secret of the tests"
PERMISSIONS = {"metadata": "read", "contents": "read", "issues": "read", "pull_requests": "write", "checks": "write"}
EVENTS = ("pull_request", "issues", "issue_comment", "check_run", "check_suite", "repository")


@functools.cache
def keys() -> tuple[str, str]:
    """Private and public, as PEM."""
    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = made.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    public = made.public_key()
    pem = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), pem.decode()


class Stage:
    """The demo's GitHub, served, with the story's people, and an App that notes what it is sent."""

    def __init__(self, github: GitHub, stack: AsyncExitStack) -> None:
        self.github, self.world, self._stack = github, github.world, stack
        self.repository, self.issue = set_the_scene(self.world)
        self.installation = github.access.install(self.repository)
        self.received: list[tuple[CIMultiDict[str], bytes]] = []
        self.status = 202
        self.session: aiohttp.ClientSession

    def person(self, login: str) -> Any:
        return self.world.accounts[login]

    async def hook(self, request: web.Request) -> web.Response:
        self.received.append((request.headers.copy(), await request.read()))
        return web.Response(status=self.status)

    def events(self) -> list[str]:
        return [f"{headers['X-GitHub-Event']} {json.loads(body)['action']}" for headers, body in self.received]

    def payload(self, number: int = -1) -> Json:
        return json.loads(self.received[number][1])  # type: ignore[no-any-return]

    async def pull_request(self, **more: Any) -> PullRequest:
        about = {"message": story.MESSAGE, "branch": story.BRANCH, **more}
        body = story.BODY.format(issue=self.issue.number)
        author = self.person(story.AUTHOR)
        return await self.github.open_pull_request(self.repository, author, story.TITLE, body, story.CHANGES, **about)

    def token(self, **narrowed: Any) -> str:
        return self.github.access.issue_token(self.installation.id, narrowed)[0]

    async def client(self, token: str | None) -> Client:
        host = Host.from_environment({"GITHUB_SERVER_URL": self.world.web})
        return await self._stack.enter_async_context(connect(host, token, longest_wait=0))

    async def call(self, method: str, path: str, body: Any = None, *, token: str = "", accept: str = "*/*") -> Any:
        """Status and JSON (or text) of a REST request; with the App's JWT where the path is the App's."""
        is_app = path.startswith("/app") or path.endswith("/installation")
        credentials = token or (app_jwt() if is_app else self.token())
        headers = {"authorization": f"Bearer {credentials}", "accept": accept}
        address = path if path.startswith("http") else f"{self.world.web}/api/v3{path}"
        async with self.session.request(method, address, json=body, headers=headers) as response:
            self.headers = response.headers
            text = await response.text()
            return response.status, json.loads(text) if "json" in response.content_type else text


@asynccontextmanager
async def open_stage() -> AsyncIterator[Stage]:
    """The stage, set; nothing of it is left afterwards."""
    async with AsyncExitStack() as stack:
        world = World()
        app = App(slug="paichecker-demo", owner=world.account("us"), public_key=keys()[1], webhook_secret=SECRET,
                  permissions=PERMISSIONS, events=EVENTS)  # fmt: skip
        stage = Stage(GitHub(world, app), stack)
        stage.session = await stack.enter_async_context(aiohttp.ClientSession())
        hooks = web.Application()
        hooks.router.add_post("/webhook", stage.hook)
        runner = web.AppRunner(hooks)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        await stack.enter_async_context(stage.github.serve())
        stage.github.hooks.url = f"http://127.0.0.1:{runner.addresses[0][1]}/webhook"
        yield stage


def app_jwt(**claims: Any) -> str:
    now = int(time.time())
    return jwt.encode({"iat": now - 60, "exp": now + 500, "iss": "1", **claims}, keys()[0], "RS256")
