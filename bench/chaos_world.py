"""The world of `bench/chaos.py`: repositories on githubd, what people do there, and a slow model that is scripted."""

from __future__ import annotations

import hashlib
import json
import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from anthropic_server import Answer, Received, message

from bot.demo import story

SLUG, INSTALLATION = "paichecker", 101
AUTHOR = story.AUTHOR
# More than one, for one person may give twenty commands in an hour.
MAINTAINERS = tuple(f"{story.MAINTAINER}-{number}" for number in range(6))
_REPOSITORIES = ("kettle", "teapot")
_FOLLOWING = {"push": 34, "edit": 16, "edit issue": 12, "explain": 12, "dispute": 14, "recheck": 8, "say": 4}
_CLAIM = "This PR also adds `{tea}` to the table, because I drink it all day."
_BODY = "`seconds` now raises a `ValueError` when the time is zero or less.\n\n{claim}\n\nFixes #{issue}\n"

Control = Callable[[str, dict[str, Any]], Any]


def world(pull_requests: int) -> dict[str, Any]:
    """A world file of githubd: an issue for each pull request that will be opened."""
    people = dict.fromkeys(MAINTAINERS, "admin") | {AUTHOR: "write"}
    repositories = [
        {
            "owner": story.OWNER,
            "name": name,
            "installation": INSTALLATION,
            "collaborators": people,
            "commits": [{"message": "Start", "author": AUTHOR, "files": story.FILES}],
            "issues": [_issue(number) for number in _numbers(pull_requests) if _home(number) == name],
        }
        for name in _REPOSITORIES
    ]
    return {
        "app": {"slug": SLUG, "owner": story.OWNER},
        "users": [{"login": story.OWNER, "type": "Organization"}],
        "installations": [{"id": INSTALLATION, "account": story.OWNER}],
        "repositories": repositories,
    }


def _numbers(pull_requests: int) -> range:
    return range(1, pull_requests + 1)


def _home(number: int) -> str:
    return _REPOSITORIES[number % len(_REPOSITORIES)]


def _issue(number: int) -> dict[str, Any]:
    comment = {"author": MAINTAINERS[0], "body": story.ISSUE_COMMENT}
    title = f"{story.ISSUE_TITLE}, case {number}"
    return {"number": number, "title": title, "body": story.ISSUE, "author": story.REPORTER, "comments": [comment]}


@dataclass
class PullRequest:
    """What people have made of one pull request so far. `claims`: it says that it adds something beside the issue."""

    repository: str
    issue: int
    number: int
    claims: bool
    title: str
    body: str
    heads: list[str]
    issue_body: str = story.ISSUE
    revision: int = 0


@dataclass
class People:
    """They open pull requests and go on with them. `comments` are theirs, by kind: number and pull request of each."""

    control: Control
    deliveries: int
    pull_requests: int
    random: random.Random
    pulls: list[PullRequest] = field(default_factory=list)
    comments: dict[str, list[tuple[int, PullRequest]]] = field(default_factory=dict)

    def acts(self) -> Iterator[str]:
        """Does one thing after another, each of which makes one delivery; its name."""
        kinds, weights = zip(*_FOLLOWING.items(), strict=True)
        left = list(_numbers(self.pull_requests))
        for act in range(self.deliveries):
            # Opened over the first half, so that what follows meets pull requests in every state.
            if left and act >= (self.pull_requests - len(left)) * self.deliveries / (2 * self.pull_requests):
                self._open(left.pop(0))
                yield "open"
                continue
            kind = self.random.choices(kinds, weights)[0]
            self._follow(kind, self.random.choice(self.pulls))
            yield kind

    def _open(self, number: int) -> None:
        claims = number % 10 != 0
        repository = f"{story.OWNER}/{_home(number)}"
        title, body = story.TITLE, _body(number, 0, claims=claims)
        commits = [{"message": story.MESSAGE, "files": _files(number, 0, claims=claims)}]
        made = self.control(
            "open_pr", {"repo": repository, "title": title, "body": body, "actor": AUTHOR, "commits": commits}
        )
        self.pulls.append(PullRequest(repository, number, made["number"], claims, title, body, [made["head_sha"]]))

    def _follow(self, kind: str, pull: PullRequest) -> None:
        pull.revision += 1
        match kind:
            case "push":
                files = _files(pull.issue, pull.revision, claims=pull.claims)
                commits = [{"message": f"Round {pull.revision}", "files": files}]
                made = self.control("push", {"repo": pull.repository, "number": pull.number, "commits": commits})
                pull.heads.append(made["head_sha"])
            case "edit":
                pull.body = _body(pull.issue, pull.revision, claims=pull.claims)
                self.control("edit_pr", {"repo": pull.repository, "number": pull.number, "body": pull.body})
            case "edit issue":
                pull.issue_body = f"{story.ISSUE}\nStill so in 1.4.{pull.revision}.\n"
                self.control("edit_issue", {"repo": pull.repository, "number": pull.issue, "body": pull.issue_body})
            case _:
                self._comment(kind, pull)

    def _comment(self, kind: str, pull: PullRequest) -> None:
        says = {
            "explain": "/paichecker explain SC",
            "dispute": "Hm.\n\n/paichecker dispute SC It belongs together.",
            "recheck": "/paichecker recheck",
            "say": "Thanks, I will look at it.",
        }
        who = self.random.choice(MAINTAINERS)
        made = self.control(
            "comment", {"repo": pull.repository, "number": pull.number, "actor": who, "body": says[kind]}
        )
        self.comments.setdefault(kind, []).append((made["id"], pull))


def _tea(number: int, revision: int) -> str:
    return f"oolong{number}r{revision}"


def _body(number: int, revision: int, *, claims: bool) -> str:
    claim = _CLAIM.format(tea=_tea(number, revision)) if claims else f"Tried with kettle 1.4.{revision}."
    return _BODY.format(claim=claim, issue=number)


def _files(number: int, revision: int, *, claims: bool) -> dict[str, str]:
    brew = story.SPLIT["kettle/brew.py"].replace("Seconds to wait", f"Seconds (round {revision}) to wait")
    tea = f'"{_tea(number, revision)}": 3, "herbal"'
    return {"kettle/brew.py": brew.replace('"herbal"', tea) if claims else brew}


@dataclass(frozen=True)
class Call:
    """One request to the model: what it asks, as a digest; when it came, and when it was answered (monotonic)."""

    key: str
    came: float
    answered: float


class Script:
    """A model that finds scope creep where a pull request claims it, and takes its time.

    `calls` are those that it worked on: a provider bills them, also where nobody waits for the answer any more.
    """

    def __init__(self, seconds: float) -> None:
        self.calls: list[Call] = []
        self._seconds = seconds
        self._lock = threading.Lock()

    def answer(self, received: Received) -> Answer:
        """For `MessagesServer`."""
        came = time.monotonic()
        time.sleep(self._seconds)
        asked = json.dumps(received.body, sort_keys=True)
        with self._lock:
            self.calls.append(Call(hashlib.sha256(asked.encode()).hexdigest(), came, time.monotonic()))
        return message(json.dumps(_reply(received.body)))


def _reply(body: dict[str, Any]) -> dict[str, Any]:
    text = body["messages"][0]["content"][0]["text"]
    wanted = body["output_config"]["format"]["schema"]["properties"]
    if "decisions" in wanted:
        decision: dict[str, Any] = {"label": "SC", "why": "The text claims it.", "keep": True}
        if "others" in wanted:
            return {"decisions": [decision], "others": None}
        return {"decisions": [{**decision, "lines": []}]}
    stands = [{"id": name, "counts": True, "why": "as said"} for name in re.findall(r"(S\d+) \(take a stand\)", text)]
    patterns = {name: _pattern(name, text) for name in wanted if name not in ("signals", "clues")}
    return {"signals": stands, "clues": [], **patterns}


def _pattern(name: str, text: str) -> dict[str, Any]:
    claim = re.search(r"^This PR also adds .*$", text, re.MULTILINE)
    if name != "scope_creep" or claim is None:
        nothing = {"why": "Nothing shows it.", "scenario": None, "holds": False, "confidence": "high"}
        return {**nothing, "quotes": [], "repair": ""}
    source = re.findall(r'name="([^"]+)"', text[: claim.start()])[-1]
    holds = {"why": "It adds a tea that nobody asked for.", "scenario": "SC-2", "holds": True, "confidence": "high"}
    return {**holds, "quotes": [{"source": source, "text": claim[0]}], "repair": "Split the tea off."}
