"""The whole conversation on one pull request, from its first delivery to the study, on two GitHubs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest
from app_keys import rsa_pair
from bot_githubd import PullRequest as OfGithubd
from bot_githubd import town
from bot_process import SECRET, SLUG, App, serving, settings_for, soon
from githubd_server import needs_githubd

from bot.auth import PERMISSIONS
from bot.comment import MARKER
from bot.demo import access, story
from bot.demo.github import GitHub
from bot.demo.objects import Comment, PullRequest
from bot.demo.setting import set_the_scene
from bot.demo.world import World
from bot.study import study
from bot.study_formats import as_text
from checker.taxonomy import Label

EVENTS = ("pull_request", "issues", "issue_comment", "check_run", "check_suite", "repository")
# Long enough for a maintainer's word to come before the check that a push asks for.
DELAY = 2


class Place(Protocol):
    """A GitHub where the story's pull request was opened, and what people do there."""

    app: App

    async def say(self, body: str) -> list[str]:
        """A maintainer's comment; how the App reacted to it, when all is done."""
        ...

    async def thumb(self) -> None:
        """A maintainer's thumb up on the App's comment."""
        ...

    async def split(self) -> None:
        """The author takes the further work out of the code, and out of the description; the App has heard of it."""
        ...

    async def merge(self) -> None: ...

    async def settle(self) -> None: ...

    async def comments(self) -> list[str]:
        """What the App wrote that begins with its marker."""
        ...

    async def check_runs(self) -> list[tuple[str, str | None, str]]:
        """Status, conclusion and title of each of the App's check runs, the oldest first."""
        ...


class OnGithubd:
    def __init__(self, pull_request: OfGithubd) -> None:
        self.app, self._pull = pull_request.town.app, pull_request

    async def say(self, body: str) -> list[str]:
        comment = self._pull.say(body)
        await self.settle()
        return self._pull.reactions(comment)

    async def thumb(self) -> None:
        self._pull.town.do("react", content="+1", comment=self._pull.comment()["id"], actor=story.MAINTAINER)

    async def split(self) -> None:
        self._pull.push()
        self._pull.do("edit_pr", body=story.SPLIT_BODY.format(issue=1))
        await asyncio.to_thread(self._pull.town.settle, delayed=False)

    async def merge(self) -> None:
        self._pull.do("merge", actor=story.MAINTAINER)
        await self.settle()

    async def settle(self) -> None:
        await asyncio.to_thread(self._pull.town.settle)

    async def comments(self) -> list[str]:
        return [one["body"] for one in self._pull.comments() if one["body"].startswith(MARKER)]

    async def check_runs(self) -> list[tuple[str, str | None, str]]:
        return [(run["status"], run["conclusion"], run["title"]) for run in self._pull.check_runs()]


class OnTheDemo:
    def __init__(self, github: GitHub, pull_request: PullRequest, app: App) -> None:
        self.app, self._github, self._pull = app, github, pull_request
        self._maintainer = github.world.account(story.MAINTAINER)

    def _ours(self) -> list[Comment]:
        app = self._github.world.account(f"{SLUG}[bot]", "Bot")
        return [one for one in self._pull.comments if one.author is app and one.body.startswith(MARKER)]

    async def say(self, body: str) -> list[str]:
        comment = await self._github.comment(self._pull, self._maintainer, body)
        await self.settle()
        return [reaction.content for reaction in comment.reactions]

    async def thumb(self) -> None:
        self._github.world.react(self._ours()[0], self._maintainer, "+1")

    async def split(self) -> None:
        await self._github.push(self._pull, story.SPLIT, story.SPLIT_MESSAGE)
        await self._github.edit(self._pull, self._pull.author, body=story.SPLIT_BODY.format(issue=1))
        await asyncio.to_thread(self.app.settle, delayed=False)

    async def merge(self) -> None:
        await self._github.merge(self._pull, self._maintainer)
        await self.settle()

    async def settle(self) -> None:
        await self._github.hooks.settled()
        await asyncio.to_thread(self.app.settle)

    async def comments(self) -> list[str]:
        return [one.body for one in self._ours()]

    async def check_runs(self) -> list[tuple[str, str | None, str]]:
        runs = self._pull.repository.check_runs
        return [(run.status, run.conclusion, str(run.output["title"])) for run in runs]


@asynccontextmanager
async def on_githubd(folder: Path) -> AsyncIterator[Place]:
    with town(folder, delay=DELAY) as there:
        yield OnGithubd(there.repository().open())


@asynccontextmanager
async def on_the_demo(folder: Path) -> AsyncIterator[Place]:
    world = World()
    app = access.App(
        slug=SLUG,
        owner=world.account(story.OWNER, "Organization"),
        public_key=rsa_pair()[1],
        webhook_secret=SECRET,
        permissions=dict(PERMISSIONS),
        events=EVENTS,
    )
    github = GitHub(world, app)
    repository, issue = set_the_scene(world)
    github.access.install(repository)
    async with AsyncExitStack() as stack:
        web = await stack.enter_async_context(github.serve())
        stack.enter_context(soon(DELAY))
        running = stack.enter_context(serving(settings_for(web, folder)))
        github.hooks.url = running.webhook
        about: dict[str, Any] = {"message": story.MESSAGE, "branch": story.BRANCH}
        body = story.BODY.format(issue=issue.number)
        author = world.account(story.AUTHOR)
        pull = await github.open_pull_request(repository, author, story.TITLE, body, story.CHANGES, **about)
        yield OnTheDemo(github, pull, running)


@pytest.mark.parametrize("on", [on_the_demo, pytest.param(on_githubd, marks=needs_githubd)])
async def test_the_whole_conversation(on: Any, tmp_path: Path) -> None:
    async with on(tmp_path) as place:
        await opened(place)
        await disputed(place)
        await rechecked(place)
        await answered_and_merged(place)
        the_study(place.app)


async def opened(place: Place) -> None:
    await place.settle()
    (comment,) = await place.comments()
    assert "differ in two points" in comment
    assert "| **SC** |" in comment
    assert "| **UL** |" in comment
    assert "because I drink it all day" in comment
    assert await place.check_runs() == [("completed", "neutral", "Scope Creep, Unspecified Literal")]


async def disputed(place: Place) -> None:
    assert await place.say("/paichecker dispute SC The tea table is no feature.") == ["+1"]
    (comment,) = await place.comments()
    assert "differ in one point" in comment
    assert "| **SC** |" not in comment
    assert "Disputed by wanda-ferns (maintainer): The tea table is no feature." in comment.replace("\\", "")
    assert await place.check_runs() == [("completed", "neutral", "Unspecified Literal")]


async def rechecked(place: Place) -> None:
    """What the push and the edit ask for is done by the recheck, which does not wait."""
    await place.split()
    assert await place.say("/paichecker recheck") == ["eyes"]
    (comment,) = await place.comments()
    assert "**Since the last check**" in comment
    assert "resolved ~~**SC**~~; kept **UL**" in comment
    assert "Changed meanwhile: the pull request's description, " in comment
    assert "the code patch" in comment
    assert [title for _, _, title in await place.check_runs()] == ["Unspecified Literal"] * 2
    assert len(place.app.store.select(runs())) == 2


async def answered_and_merged(place: Place) -> None:
    assert await place.say("/paichecker confirm UL") == ["+1"]
    (comment,) = await place.comments()
    assert "medium, confirmed" in comment
    # The comment is written anew, and still tells what the recheck changed.
    assert "resolved ~~**SC**~~; kept **UL**" in comment
    await place.thumb()
    await place.merge()
    assert len(await place.comments()) == 1
    assert all(status == "completed" for status, _, _ in await place.check_runs())


def the_study(app: App) -> None:
    found = study(app.store)
    whole, labels = found.shown.whole.whole, found.shown.whole.labels
    assert (whole.sampled, whole.flagged) == (1, 1)
    assert (labels[Label.SC].maintainers.disputed, labels[Label.SC].maintainers.confirmed) == (1, 0)
    assert (labels[Label.UL].maintainers.disputed, labels[Label.UL].maintainers.confirmed) == (0, 1)
    assert found.shown.whole.thumbs.up == 1
    assert found.shadow.whole.whole.sampled == 0
    assert f"{story.OWNER}/" in as_text(found)


def runs() -> Any:
    import sqlalchemy as sa

    from bot import tables

    return sa.select(tables.runs.c.id).where(tables.runs.c.report.is_not(None))
