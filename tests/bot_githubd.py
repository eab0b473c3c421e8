"""A repository with its people on githubd, and what they do there: each through its control plane."""

from __future__ import annotations

import itertools
import json
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from app_keys import rsa_pair
from bot_process import LOGIN, SECRET, SLUG, App, serving, settings_for, soon
from githubd_server import Githubd, githubd

from bot.comment import MARKER
from bot.demo import story
from bot.repo_config import PATH

Json = dict[str, Any]
MAINTAINER, AUTHOR, STRANGER, REPORTER = story.MAINTAINER, story.AUTHOR, story.STRANGER, story.REPORTER
INSTALLATION = 101
_END: Any = object()
Scenario = Callable[["Town"], Iterator[None]]
_numbers = itertools.count(1)


class Town:
    """A githubd with the App beside it."""

    def __init__(self, github: Githubd, app: App) -> None:
        self.github, self.app = github, app

    def do(self, name: str, /, **what: Any) -> Any:
        """A command of the control plane."""
        return self.github.control(name, what)

    def state(self) -> Json:
        found: Json = self.github.control("state")
        return found

    def settle(self, *, delayed: bool = True) -> None:
        """Until nothing is on its way, and all work is done; with or without what waits for its time."""
        self.app.settle(idle=self._is_idle, delayed=delayed)

    def _is_idle(self) -> bool:
        return bool(self.github.control("idle?seconds=0&timeout=0.01")["idle"])

    def requests(self, path: str, method: str | None = None) -> list[Json]:
        """What was asked of GitHub since the log was cleared."""
        found = self.github.control(f"log?path={path}")["requests"]
        return [one for one in found if method in (None, one["method"])]

    def repository(self, *, settings: str = "", forked_by: str = "", **more: Any) -> Repository:
        """A new one with the story's people and files. `settings`: its `.github/paichecker.yml`."""
        name = f"kettle-{next(_numbers)}"
        tree = {**story.FILES, **({PATH: settings} if settings else {})}
        begin = {"message": "Begin", "tree": tree, "date": "2025-01-01T12:00:00Z", "author": MAINTAINER}
        about = {
            "owner": story.OWNER,
            "name": name,
            "installation": INSTALLATION,
            "collaborators": {MAINTAINER: "admin"},
            "commits": [begin],
            **more,
        }
        fork = {"owner": forked_by, "name": name, "fork_of": f"{story.OWNER}/{name}"}
        self.do("add_world", world={"repositories": [about, *([fork] if forked_by else [])]})
        return Repository(self, f"{story.OWNER}/{name}")


class Repository:
    """One repository. `name`: owner/name."""

    def __init__(self, town: Town, name: str) -> None:
        self.town, self.name = town, name

    def do(self, command: str, /, **what: Any) -> Any:
        return self.town.do(command, repo=self.name, **what)

    def issue(self, title: str = story.ISSUE_TITLE, body: str = story.ISSUE, actor: str = REPORTER) -> int:
        return int(self.do("open_issue", title=title, body=body, actor=actor)["number"])

    def open(self, issue: int | None = None, **more: Any) -> PullRequest:
        """The story's pull request, for an issue that is opened where none is given; `more` as `open_pr` has it."""
        number = self.issue() if issue is None else issue
        about = {
            "title": story.TITLE,
            "body": story.BODY.format(issue=number),
            "actor": AUTHOR,
            "commits": [{"message": story.MESSAGE, "files": story.CHANGES}],
            **more,
        }
        return PullRequest(self, int(self.do("open_pr", **about)["number"]))

    def mentioned_by(self, number: int) -> list[int]:
        """The numbers of the issues and pull requests that GitHub shows as mentioning this one."""
        token = self.town.do("token", repositories=[self.name])["token"]
        path = f"/repos/{self.name}/issues/{number}/timeline?per_page=100"
        asked = urllib.request.Request(f"{self.town.github.url}{path}", headers={"authorization": f"Bearer {token}"})
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return [one["source"]["issue"]["number"] for one in json.load(answer) if one["event"] == "cross-referenced"]

    def check_runs(self) -> list[Json]:
        """All of them, the oldest first."""
        found = [run for run in self.town.state()["check_runs"] if run["repo"] == self.name]
        return sorted(found, key=lambda run: int(run["id"]))


class PullRequest:
    """One pull request, with what the App wrote there."""

    def __init__(self, repository: Repository, number: int) -> None:
        self.repository, self.town, self.number = repository, repository.town, number

    @property
    def name(self) -> str:
        return f"{self.repository.name}#{self.number}"

    @property
    def head(self) -> str:
        issues = self.town.state()["issues"]
        return str(next(one["head_sha"] for one in issues if one["issue"] == self.name))

    def do(self, command: str, /, **what: Any) -> Any:
        return self.repository.do(command, number=self.number, **what)

    def say(self, body: str, actor: str = MAINTAINER) -> int:
        """A comment; its id."""
        return int(self.do("comment", body=body, actor=actor)["id"])

    def push(self, files: Mapping[str, str | None] = story.SPLIT, message: str = story.SPLIT_MESSAGE) -> str:
        """One more commit; the new head."""
        return str(self.do("push", commits=[{"message": message, "files": files}])["head_sha"])

    def comments(self) -> list[Json]:
        """The App's comments there that nobody deleted, the oldest first."""
        found = self.town.state()["comments"]
        return [one for one in found if (one["issue"], one["author"], one["deleted"]) == (self.name, LOGIN, False)]

    def comment(self) -> Json:
        """The one comment with the findings."""
        (only,) = (one for one in self.comments() if one["body"].startswith(MARKER))
        return only

    def answers(self) -> list[str]:
        """The App's other comments."""
        return [one["body"] for one in self.comments() if not one["body"].startswith(MARKER)]

    def reactions(self, comment: int) -> list[str]:
        """How the App reacted to a comment."""
        found = self.town.state()["reactions"]
        on = f"{self.name} comment {comment}"
        return [one["content"] for one in found if (one["on"], one["user"]) == (on, LOGIN)]

    def check_runs(self) -> list[Json]:
        """Those of the App that name this pull request."""
        return [run for run in self.repository.check_runs() if run["external_id"] == self.name]

    def check_run(self) -> Json:
        """The newest one of its head."""
        head = self.head
        return [run for run in self.check_runs() if run["head_sha"] == head][-1]


def selected(request: pytest.FixtureRequest, scenarios: Sequence[Scenario]) -> list[Scenario]:
    """Those that this run of pytest asks for, by the parameter of their test."""
    wanted = [item.callspec.params.values() for item in request.session.items if hasattr(item, "callspec")]
    return [one for one in scenarios if any(one in values for values in wanted)]


def side_by_side(there: Town, scenarios: Iterable[Scenario]) -> dict[Scenario, Future[None]]:
    """Plays all at once, each in repositories of its own: wherever they yield, until all that they asked for is done.

    What came of each; where it failed, the rest of it was not played.
    """
    playing = {scenario: scenario(there) for scenario in scenarios}
    outcomes: dict[Scenario, Future[None]] = {}
    with ThreadPoolExecutor(1) as stage:
        while playing:
            for scenario, acts in list(playing.items()):
                act = stage.submit(next, acts, _END)
                if act.exception() or act.result() is _END:
                    outcomes[scenario] = act
                    del playing[scenario]
            there.settle()
    return outcomes


@contextmanager
def town(folder: Path, *arguments: str, delay: int = 0, **environment: str) -> Iterator[Town]:
    """A githubd with nothing in it, and the App beside it. `delay`: how long pushes and edits wait, in seconds."""
    world = folder / "world.json"
    app = {"slug": SLUG, "owner": story.OWNER}
    users = [{"login": story.OWNER, "type": "Organization"}]
    people = [{"login": login} for login in (MAINTAINER, AUTHOR, STRANGER, REPORTER)]
    installations = [{"id": INSTALLATION, "account": story.OWNER}]
    world.write_text(json.dumps({"app": app, "users": users + people, "installations": installations}))
    key = folder / "app.pub.pem"
    key.write_text(rsa_pair()[1])
    with githubd(world, "--app-key", str(key), "--secret", SECRET, *arguments) as github:
        addresses = {"GITHUB_API_URL": github.url, "GITHUB_GRAPHQL_URL": f"{github.url}/graphql"}
        with soon(delay), serving(settings_for("", folder, **addresses, **environment)) as app_:
            github.control("hooks", {"url": app_.webhook})
            yield Town(github, app_)
