"""The conversation that shows the App: a pull request, its comment, a maintainer's answers. The server is real."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import socket
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.app import serve
from bot.auth import PERMISSIONS
from bot.comment import MARKER
from bot.demo import story
from bot.demo.access import App
from bot.demo.github import GitHub
from bot.demo.objects import Comment, Issue, PullRequest, Repository
from bot.demo.setting import set_the_scene
from bot.demo.world import World
from bot.settings import Settings, SettingsError, load

_EVENTS = ("pull_request", "issues", "issue_comment", "check_run", "check_suite", "repository")
_LOOPBACK = "127.0.0.1"
# Passed on, so that a model plays the roles where there is a key.
_MODEL = ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "PAICHECKER_MODELS")
_LONGEST_WAIT = 600

Say = Callable[[str], None]


@dataclass(frozen=True)
class _Keys:
    private: str
    public: str

    @classmethod
    def make(cls) -> _Keys:
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        form, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return cls(key.private_bytes(serialization.Encoding.PEM, form, plain).decode(), public.decode())


@dataclass(frozen=True)
class Stage:
    """The GitHub with the story's beginning, and the App beside it."""

    github: GitHub
    repository: Repository
    issue: Issue
    say: Say

    def of_app(self, pull_request: PullRequest) -> list[Comment]:
        """What the App has written there."""
        login = f"{self.github.app.slug}[bot]"
        return [comment for comment in pull_request.comments if comment.author.login == login]

    async def until(self, what: str, holds: Callable[[], bool]) -> None:
        """Waits for something to be seen on GitHub."""
        try:
            async with asyncio.timeout(_LONGEST_WAIT):
                while not holds():  # noqa: ASYNC110 - what others do to plain data sets no event
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise SettingsError(f"the demo stopped: {what} did not come within {_LONGEST_WAIT} s") from None


async def walk(say: Say, *, stay: asyncio.Event | None = None) -> None:
    """The whole conversation, each step told. `stay`: then waits for this, with the pages left open."""
    async with _stage(say) as stage:
        pull_request = await _opened(stage)
        await _disputed(stage, pull_request)
        await _split(stage, pull_request)
        if stay is not None:
            address = f"{stage.github.world.web}/{story.OWNER}/{story.NAME}/pull/{pull_request.number}"
            say(f"\nAll of this is still there, to click through and answer: {address}\nCtrl+C ends it.")
            await stay.wait()


@asynccontextmanager
async def _stage(say: Say) -> AsyncIterator[Stage]:
    keys, secret, world = _Keys.make(), secrets.token_urlsafe(24), World()
    owner = world.account(story.OWNER, "Organization")
    app = App(
        slug="paichecker-demo",
        owner=owner,
        public_key=keys.public,
        webhook_secret=secret,
        permissions=dict(PERMISSIONS),
        events=_EVENTS,
    )
    github = GitHub(world, app)
    repository, issue = set_the_scene(world)
    github.access.install(repository)
    with tempfile.TemporaryDirectory() as folder:
        async with github.serve() as web:
            settings = _settings(web, keys, secret, Path(folder))
            github.hooks.url = f"{settings.public_url}/webhook"
            async with _serving(settings, say):
                yield Stage(github, repository, issue, say)
                await github.hooks.settled()


@asynccontextmanager
async def _serving(settings: Settings, say: Say) -> AsyncIterator[None]:
    """The real server, until it takes deliveries and then until the end."""
    ready, stop = asyncio.Event(), asyncio.Event()

    def told(line: str) -> None:
        say(line)
        ready.set()

    server = asyncio.create_task(serve(settings, told, until=stop))
    started = asyncio.create_task(ready.wait())
    await asyncio.wait((server, started), return_when=asyncio.FIRST_COMPLETED)
    if server.done():
        started.cancel()
        await server
    try:
        yield
    finally:
        stop.set()
        await server


def _settings(web: str, keys: _Keys, secret: str, folder: Path) -> Settings:
    port = _free_port()
    settings = load(
        {
            "PAICHECKER_APP_ID": "1",
            "PAICHECKER_APP_SLUG": "paichecker-demo",
            "PAICHECKER_PRIVATE_KEY": keys.private,
            "PAICHECKER_WEBHOOK_SECRET": secret,
            "PAICHECKER_DATA": str(folder),
            "PAICHECKER_HOST": _LOOPBACK,
            "PAICHECKER_PUBLIC_URL": f"http://{_LOOPBACK}:{port}",
            "PORT": str(port),
            "GITHUB_SERVER_URL": web,
            **{name: os.environ[name] for name in _MODEL if os.environ.get(name)},
        }
    )
    assert isinstance(settings, Settings)  # noqa: S101 - all credentials were given
    return settings


def _free_port() -> int:
    with socket.socket() as free:
        free.bind((_LOOPBACK, 0))
        return int(free.getsockname()[1])


async def _opened(stage: Stage) -> PullRequest:
    stage.say(
        f"\n1. {story.AUTHOR} opens “{story.TITLE}” for issue {stage.issue.number} of {story.OWNER}/{story.NAME}."
    )
    pull_request = await stage.github.open_pull_request(
        stage.repository,
        stage.github.world.account(story.AUTHOR),
        story.TITLE,
        story.BODY.format(issue=stage.issue.number),
        story.CHANGES,
        message=story.MESSAGE,
        branch=story.BRANCH,
    )
    runs = pull_request.repository.check_runs
    await stage.until("the check", lambda: any(run.status == "completed" for run in runs))
    if not stage.of_app(pull_request):
        raise SettingsError(
            f"the demo stopped: the check ended with “{runs[0].output['title']}”, and without a comment"
        )
    stage.say("   PAIChecker comments:\n")
    stage.say(_shown(stage.of_app(pull_request)[0].body))
    return pull_request


async def _disputed(stage: Stage, pull_request: PullRequest) -> None:
    stage.say(f"\n2. {story.MAINTAINER} answers: {story.DISPUTE}")
    comment = stage.of_app(pull_request)[0]
    before = comment.body
    await _says(stage, pull_request, story.DISPUTE)
    await stage.until("the answer to the dispute", lambda: comment.body != before)
    stage.say("   PAIChecker takes it back, in the same comment. It now begins:\n")
    stage.say(_shown(comment.body, 8))


async def _split(stage: Stage, pull_request: PullRequest) -> None:
    stage.say(f"\n3. {story.AUTHOR} takes the further work out, and {story.MAINTAINER} writes: {story.RECHECK}")
    comment = stage.of_app(pull_request)[0]
    before = comment.body
    github = stage.github
    await github.push(pull_request, story.SPLIT, story.SPLIT_MESSAGE)
    author = github.world.account(story.AUTHOR)
    await github.edit(pull_request, author, body=story.SPLIT_BODY.format(issue=stage.issue.number))
    await _says(stage, pull_request, story.RECHECK)
    await stage.until("the second check", lambda: comment.body != before)
    stage.say("   PAIChecker checks again, and says what changed:\n")
    stage.say(_shown(comment.body, 14))


async def _says(stage: Stage, pull_request: PullRequest, words: str) -> None:
    maintainer = stage.github.world.account(story.MAINTAINER)
    await stage.github.comment(pull_request, maintainer, words)


def _shown(body: str, most: int = 24) -> str:
    """The Markdown for a terminal: without the escapes and joiners that keep quoted text inert on GitHub."""
    body = re.sub(r"\\([^\w\s])", r"\1", body).replace("\u2060", "")
    lines = body.removeprefix(MARKER).strip().splitlines()
    more = [f"[{len(lines) - most} more lines]"] if len(lines) > most else []
    return "\n".join(f"   | {line}" for line in [*lines[:most], *more])
