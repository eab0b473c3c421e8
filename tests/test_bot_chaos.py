"""The App is killed at random moments, and what a kill may meet is made to happen: nothing is lost, doubled or stale.

`bench/chaos.py` is the whole of it, with 50 kills over 200 deliveries.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from app_keys import rsa_pair
from bot_process import settings_for
from databases import KINDS, SERVER, store_of
from githubd_server import Githubd, githubd, needs_githubd

from bot import doing, examining
from bot.app import missed_task
from bot.auth import connect_app
from bot.comment import MARKER
from bot.demo import story
from bot.engine import Engine
from bot.missed import Missed
from bot.publishing import show_started
from bot.store import PullRequest
from bot.tasks import Kind, Task
from bot.work import Asked, Work

pytestmark = needs_githubd
_ROOT = Path(__file__).parent.parent
_SLUG, _INSTALLATION = "paichecker-test", 101
_REPOSITORY = f"{story.OWNER}/{story.NAME}"


@pytest.mark.parametrize("kind", KINDS)
def test_kills_at_random_moments_lose_double_and_age_nothing(kind: str, tmp_path: Path) -> None:
    if kind == "postgresql":
        _require_postgresql()
    arguments = ["--database", kind, "--kills", "4", "--deliveries", "24", "--pull-requests", "4", "--pace", "0.6"]
    run = subprocess.run(
        [sys.executable, "bench/chaos.py", *arguments, "--logs", str(tmp_path)],
        cwd=_ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(_ROOT), str(_ROOT / "tests")])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    found = json.loads(run.stdout.splitlines()[-1])
    assert (found["kills"], found["acknowledged"], found["finished"]) == (4, 24, 24)
    assert found["with one comment"] + found["disputed before it was shown"] == 4
    assert found["model calls"] > 0 == found["paid twice without a kill"]


def _require_postgresql() -> None:
    try:
        psycopg.connect(f"{SERVER}/postgres", connect_timeout=3).close()
    except psycopg.OperationalError:
        pytest.skip(f"no PostgreSQL answers at {SERVER}; PAICHECKER_TEST_POSTGRESQL names another server")


# What a kill can lead to, step by step: the steps of the durable work are called here in the order that is wanted.


class Killed(BaseException):
    """Nothing of ours catches it."""


def killed(*_: object, **__: object) -> None:
    """In place of what the App was about to do."""
    raise Killed


class Stage:
    """One pull request on githubd, and the App's steps on it."""

    def __init__(self, github: Githubd, work: Work, pull_request: PullRequest) -> None:
        self.github, self.work, self.pull_request = github, work, pull_request

    def push(self, message: str) -> str:
        """The new head."""
        commits = [{"message": message, "files": {"kettle/more.py": f"# {message}\n"}}]
        about = {"repo": _REPOSITORY, "number": self.pull_request.number, "commits": commits}
        return str(self.github.control("push", about)["head_sha"])

    async def ask(self, head: str) -> int:
        """As a delivery asks for a check; the number of the trigger."""
        task = missed_task(
            Missed(_INSTALLATION, self.pull_request.repository_id, _REPOSITORY, self.pull_request.number, head)
        )
        (asked,) = await doing.do(self.work, task)
        return asked.trigger

    async def judge(self, trigger: int) -> str | None:
        """A check, up to where it would publish; its run, or None where it was not made."""
        run = await examining.begin(self.work, self.pull_request.id, trigger, f"check-{trigger}")
        if run is not None:
            assert await examining.read_pair(self.work, run)
            await examining.judge(self.work, run)
        return run

    async def start(self, head: str) -> None:
        """As the step of a delivery that is done once more."""
        async with self.work.installations.client(_INSTALLATION, self.pull_request.repository_id) as client:
            await show_started(self.work, client, self.pull_request, head)

    def say(self, body: str) -> int:
        """A comment's number."""
        about = {"repo": _REPOSITORY, "number": self.pull_request.number, "body": body, "actor": story.AUTHOR}
        return int(self.github.control("comment", about)["id"])

    async def hear(self, comment: int, why: str = "created") -> list[Asked]:
        """As the step of a comment's delivery; the checks that it asks for."""
        about = {"repository_id": 1, "repository": _REPOSITORY, "number": self.pull_request.number}
        task = Task(Kind.COMMANDS, why, _INSTALLATION, why, story.AUTHOR, comment_id=comment, **about)
        return await doing.do(self.work, task)

    async def hear_and_be_killed(self, comment: int) -> None:
        """The same, and all was done but to keep that it was."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(self.work.store, "finish_commands", killed)
            with pytest.raises(Killed):
                await self.hear(comment)

    def outcomes(self, comment: int) -> tuple[int, int]:
        """Entries in the ledger, and answers that refuse."""
        entries = self.work.store.answers(self.pull_request.id)
        comments = self.github.control("state?mine=1")["comments"]
        return len(entries), sum(one["body"].startswith(f"<!-- paichecker:answer {comment}/") for one in comments)

    async def show_answers(self) -> None:
        """As a command does that was answered to."""
        async with self.work.installations.client(_INSTALLATION, self.pull_request.repository_id) as client:
            await examining.show_answers(self.work, client, self.pull_request.id)

    def comments(self) -> list[str]:
        comments = self.github.control("state?mine=1")["comments"]
        return [comment["body"] for comment in comments if comment["body"].startswith(MARKER)]

    def check_runs(self, head: str) -> list[tuple[str, str]]:
        """Status and title of each, the oldest first."""
        runs = self.github.control("state?mine=1")["check_runs"]
        return [(run["status"], run["title"]) for run in runs if run["head_sha"] == head]


@pytest.fixture(scope="module")
def github(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Githubd]:
    """Whatever is written there takes effect a moment later, so that two who write at once do not see each other."""
    folder = tmp_path_factory.mktemp("world")
    (folder / "public.pem").write_text(rsa_pair()[1])
    (folder / "world.json").write_text(json.dumps(_world()))
    with githubd(folder / "world.json", "--app-key", str(folder / "public.pem")) as served:
        served.control("fault", {"kind": "delay", "seconds": 0.2, "count": None, "method": "POST", "match": "/repos/"})
        yield served


def _world() -> dict[str, Any]:
    return {
        "app": {"slug": _SLUG, "owner": story.OWNER},
        "users": [{"login": story.OWNER, "type": "Organization"}],
        "installations": [{"id": _INSTALLATION, "account": story.OWNER}],
        "repositories": [
            {
                "owner": story.OWNER,
                "name": story.NAME,
                "id": 1,
                "installation": _INSTALLATION,
                "collaborators": {story.AUTHOR: "write"},
                "commits": [{"message": "Begin", "author": story.AUTHOR, "files": story.FILES}],
                "issues": [{"number": 1, "title": story.ISSUE_TITLE, "body": story.ISSUE, "author": story.REPORTER}],
            }
        ],
    }


@asynccontextmanager
async def _staged(github: Githubd, folder: Path) -> AsyncIterator[tuple[Stage, str]]:
    commits = [{"message": story.MESSAGE, "files": story.CHANGES}]
    about = {"repo": _REPOSITORY, "title": story.TITLE, "body": story.BODY.format(issue=1), "actor": story.AUTHOR}
    opened = github.control("open_pr", {**about, "commits": commits})
    settings = settings_for("", folder, GITHUB_API_URL=github.url)
    with store_of("sqlite", folder) as store:
        async with connect_app(settings.github, settings.app_id, settings.private_key) as installations:
            work = Work(store, installations, Engine(settings), _SLUG, settings.github.web, settings.mode)
            pull_request = store.pull_request(_INSTALLATION, 1, _REPOSITORY, opened["number"])
            yield Stage(github, work, pull_request), opened["head_sha"]


async def test_a_check_run_opened_after_its_trigger_was_covered_does_not_stay_open(
    github: Githubd, tmp_path: Path
) -> None:
    async with _staged(github, tmp_path) as (stage, head):
        trigger = await stage.ask(head)
        run = await stage.judge(trigger)
        assert run is not None
        assert not await examining.publish(stage.work, run)
        await stage.start(head)
        assert [status for status, _ in stage.check_runs(head)] == ["completed", "in_progress"]
        run = await stage.judge(trigger)
        assert run is not None
        assert not await examining.publish(stage.work, run)
        assert [status for status, _ in stage.check_runs(head)] == ["completed", "completed"]
        assert await stage.judge(trigger) is None


async def test_one_who_opens_a_check_run_waits_for_another_who_does(github: Githubd, tmp_path: Path) -> None:
    async with _staged(github, tmp_path) as (stage, head):
        await asyncio.gather(stage.start(head), stage.start(head))
        assert len(stage.check_runs(head)) == 1


async def test_an_older_check_does_not_conclude_the_newest_heads_check_run(github: Githubd, tmp_path: Path) -> None:
    async with _staged(github, tmp_path) as (stage, head):
        run = await stage.judge(await stage.ask(head))
        assert run is not None
        newest = stage.push("Once more")
        trigger = await stage.ask(newest)
        assert await examining.publish(stage.work, run)
        assert stage.check_runs(head) == [("completed", "Superseded by a newer push")]
        assert [status for status, _ in stage.check_runs(newest)] == ["in_progress"]
        run = await stage.judge(trigger)
        assert run is not None
        assert not await examining.publish(stage.work, run)
        assert [status for status, _ in stage.check_runs(newest)] == ["completed"]


async def test_a_head_that_was_never_checked_is_superseded_when_a_newer_one_is(github: Githubd, tmp_path: Path) -> None:
    async with _staged(github, tmp_path) as (stage, head):
        await stage.ask(head)
        newest = stage.push("At once")
        assert await stage.judge(await stage.ask(newest)) is not None
        assert stage.check_runs(head) == [("completed", "Superseded by a newer push")]


async def test_a_check_run_that_was_made_and_not_kept_is_superseded_though_the_head_has_moved_since(
    github: Githubd, tmp_path: Path
) -> None:
    async with _staged(github, tmp_path) as (stage, head):
        run = await stage.judge(await stage.ask(head))
        assert run is not None
        assert not await examining.publish(stage.work, run)
        about = {"key": f"recheck {head}", "why": "recheck", "who": None, "at": stage.work.now()}
        again = stage.work.store.trigger(stage.pull_request.id, **about)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(stage.work.store, "keep_check_run", killed)
            with pytest.raises(Killed):
                await stage.judge(again)
        assert [status for status, _ in stage.check_runs(head)] == ["completed", "in_progress"]
        stage.push("While the App was down")
        assert await stage.judge(again) is not None
        assert [status for status, _ in stage.check_runs(head)] == ["completed", "completed"]


async def test_an_issue_that_is_edited_while_it_is_read_for_the_first_time_is_read_again(
    github: Githubd, tmp_path: Path
) -> None:
    async with _staged(github, tmp_path) as (stage, head):
        run = await examining.begin(stage.work, stage.pull_request.id, await stage.ask(head), "check")
        assert run is not None
        about = {"repo": _REPOSITORY, "number": 1, "body": f"{story.ISSUE}\nAlso in 1.5."}
        keep = stage.work.store.keep_pair

        def edited_before(*arguments: Any) -> Any:
            github.control("edit_issue", about)
            return keep(*arguments)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(stage.work.store, "keep_pair", edited_before)
            assert await examining.read_pair(stage.work, run)
        assert "Also in 1.5." in str(stage.work.store.pair(run).issues[0].edited)


async def test_a_dispute_that_was_refused_is_not_counted_when_it_is_heard_once_more(
    github: Githubd, tmp_path: Path
) -> None:
    async with _staged(github, tmp_path) as (stage, head):
        comment = stage.say("/paichecker dispute SC It belongs together.")
        await stage.hear_and_be_killed(comment)
        run = await stage.judge(await stage.ask(head))
        assert run is not None
        assert not await examining.publish(stage.work, run)
        await stage.hear(comment)
        assert stage.outcomes(comment) == (0, 1)


async def test_a_dispute_that_was_counted_is_counted_once_though_another_check_was_made_meanwhile(
    github: Githubd, tmp_path: Path
) -> None:
    async with _staged(github, tmp_path) as (stage, head):
        run = await stage.judge(await stage.ask(head))
        assert run is not None
        assert not await examining.publish(stage.work, run)
        comment = stage.say("/paichecker dispute SC It belongs together.")
        await stage.hear_and_be_killed(comment)
        assert stage.outcomes(comment) == (1, 0)
        about = {"repo": _REPOSITORY, "number": stage.pull_request.number}
        github.control("edit_pr", {**about, "body": "This PR also adds rooibos to the table.\n\nFixes #1\n"})
        run = await stage.judge(await stage.ask(stage.push("Another evidence")))
        assert run is not None
        assert not await examining.publish(stage.work, run)
        await stage.hear(comment)
        assert stage.outcomes(comment) == (1, 0)


@pytest.mark.parametrize("moment", ["begin_commands", "trigger", "finish_commands"])
async def test_a_command_is_carried_out_though_the_app_was_killed_amid_it_and_the_comment_edited_since(
    github: Githubd, tmp_path: Path, moment: str
) -> None:
    async with _staged(github, tmp_path) as (stage, head):
        run = await stage.judge(await stage.ask(head))
        assert run is not None
        assert not await examining.publish(stage.work, run)
        comment = stage.say("/paichecker dispute SC It belongs together.\n/paichecker recheck")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(stage.work.store, moment, killed)
            with pytest.raises(Killed):
                await stage.hear(comment)
        body = "Well.\n\n/paichecker dispute SC It belongs together.\n\n/paichecker recheck"
        # Its time is in whole seconds.
        await asyncio.sleep(1)
        github.control("edit_comment", {"id": comment, "body": body, "actor": story.AUTHOR})
        (asked,) = await stage.hear(comment)
        assert await stage.hear(comment, "edited") == []
        assert {answer.label for answer in stage.work.store.answers(stage.pull_request.id)} == {"SC"}
        assert await stage.judge(asked.trigger) is not None
        github.control("edit_comment", {"id": comment, "body": f"{body}\n/paichecker help", "actor": story.AUTHOR})
        assert await stage.hear(comment, "edited") == []
        assert stage.outcomes(comment)[1] == 1


async def test_a_check_that_came_late_leaves_what_was_resolved_and_one_that_was_asked_for_says_what_changed(
    github: Githubd, tmp_path: Path
) -> None:
    async with _staged(github, tmp_path) as (stage, head):

        async def publish(trigger: int) -> str:
            run = await stage.judge(trigger)
            assert run is not None
            assert not await examining.publish(stage.work, run)
            return stage.comments()[-1]

        await publish(await stage.ask(head))
        about = {"repo": _REPOSITORY, "number": stage.pull_request.number}
        commits = [{"message": story.SPLIT_MESSAGE, "files": story.SPLIT}]
        head = github.control("push", {**about, "commits": commits})["head_sha"]
        github.control("edit_pr", {**about, "body": story.SPLIT_BODY.format(issue=1)})
        (asked,) = await stage.hear(stage.say("/paichecker recheck"))
        assert "resolved ~~**SC**~~" in await publish(asked.trigger)
        assert "resolved ~~**SC**~~" in await publish(await stage.ask(head))
        (asked,) = await stage.hear(stage.say("/paichecker recheck"))
        assert "Nothing that was read had changed." in await publish(asked.trigger)


async def test_an_answer_during_the_publishing_neither_doubles_the_comment_nor_brings_back_the_older_check(
    github: Githubd, tmp_path: Path
) -> None:
    async with _staged(github, tmp_path) as (stage, head):
        run = await stage.judge(await stage.ask(head))
        assert run is not None
        await stage.show_answers()
        assert not [comment for comment in stage.comments() if head in comment]
        await asyncio.gather(examining.publish(stage.work, run), stage.show_answers())
        assert len([comment for comment in stage.comments() if head in comment]) == 1
        newest = stage.push("Later")
        run = await stage.judge(await stage.ask(newest))
        assert run is not None
        await asyncio.gather(stage.show_answers(), examining.publish(stage.work, run), stage.show_answers())
        assert len([comment for comment in stage.comments() if newest in comment]) == 1
        assert not [comment for comment in stage.comments() if f"commit/{head}" in comment]
