"""Facts of docs/believed.md: what the App takes for true of GitHub, and how a live installation shows it.

Each check is known by its id in that page, and changes nothing on GitHub.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from bot.auth import AuthError, Installations, Suspended
from bot.redelivery import Attempt
from checker.github.client import Client, GitHubError, NotFoundError

Json = Mapping[str, Any]

# Pull requests that were changed last show most.
SURVEY = """
query ($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) {
    defaultBranchRef { name }
    pullRequests(first: 30, orderBy: {field: UPDATED_AT, direction: DESC}) {
      nodes {
        number title body createdAt state changedFiles isCrossRepository baseRefName headRefOid includesCreatedEdit
        author { __typename login }
        newest: userContentEdits(first: 1) { nodes { editedAt diff } }
        oldest: userContentEdits(last: 1) { nodes { editedAt } }
        timelineItems(last: 1, itemTypes: [RENAMED_TITLE_EVENT]) { nodes { ... on RenamedTitleEvent { currentTitle } } }
        closingIssuesReferences(first: 1) { totalCount }
        commits(last: 1) { totalCount nodes { commit { oid } } }
        comments(first: 1) { nodes { databaseId } }
        mergeCommit { parents(first: 3) { nodes { oid } } }
      }
    }
  }
}
"""
# GitHub's own example of a public repository.
PUBLIC = """
query { repository(owner: "octocat", name: "Hello-World") { isPrivate issues(first: 1) { totalCount } } }
"""

_GITHUB = "https://github.com"
_DIFF = "application/vnd.github.diff"
_DIFF_FILES, _LISTED_COMMITS = 300, 250
_CONTENTS_BYTES, _MOST_BYTES = 1_000_000, 100_000_000
_SAME = timedelta(minutes=1)


class Outcome(StrEnum):
    """Whether a fact holds, as far as could be seen; NOT_SEEN: nothing was there to see it by."""

    HOLDS = "holds"
    FALSE = "does not hold"
    NOT_SEEN = "not checked here"


@dataclass(frozen=True)
class Sight:
    """What came of a check; `by` says where, or what would have been needed."""

    outcome: Outcome
    by: str


@dataclass(frozen=True)
class Scene:
    """A live installation. `client` reads `repository` alone; `pulls` are SURVEY's; `suspended`: another installation.

    `app` is GitHub's answer about the App, `attempts` the deliveries of the last day.
    """

    installations: Installations
    client: Client
    repository: str
    default_branch: str | None
    pulls: Sequence[Json]
    app: Json = field(default_factory=dict)
    attempts: Sequence[Attempt] = ()
    suspended: int | None = None


async def look(name: str, scene: Scene) -> Sight:
    """Checks one fact. What GitHub refuses does not hold; what it does not answer is not seen."""
    try:
        return await CHECKS[name](scene)
    except GitHubError as error:
        is_meant = error.status is not None or isinstance(error, NotFoundError)
        return Sight(Outcome.FALSE if is_meant else Outcome.NOT_SEEN, str(error))


# What the pull requests of one answer show


@dataclass(frozen=True)
class _Shown:
    """A fact that each pull request shows to which it applies."""

    needed: str
    applies: Callable[[Json, Scene], object]
    holds: Callable[[Json], bool]

    async def __call__(self, scene: Scene) -> Sight:
        """One that does not show it is enough."""
        able = [pull for pull in scene.pulls if self.applies(pull, scene)]
        if not able:
            return _not_seen(f"none of the {len(scene.pulls)} latest pull requests {self.needed}")
        wrong = [pull for pull in able if not self.holds(pull)]
        outcome = Outcome.FALSE if wrong else Outcome.HOLDS
        return Sight(outcome, f"seen by {scene.repository}#{(wrong or able)[0]['number']}")


def _not_seen(needed: str) -> Sight:
    return Sight(Outcome.NOT_SEEN, needed)


def _newest_edit(pull: Json) -> str | None:
    nodes = pull["newest"]["nodes"]
    return nodes[0]["diff"] if nodes else None


def _is_whole(pull: Json) -> bool:
    return (_newest_edit(pull) or "").split() == (pull["body"] or "").split()


def _begins_at_creation(pull: Json) -> bool:
    first = datetime.fromisoformat(pull["oldest"]["nodes"][0]["editedAt"])
    return abs(first - datetime.fromisoformat(pull["createdAt"])) < _SAME


def _renaming(pull: Json) -> Sequence[Json]:
    nodes: Sequence[Json] = pull["timelineItems"]["nodes"]
    return nodes


def _on_another_base(pull: Json, scene: Scene) -> bool:
    return scene.default_branch is not None and pull["baseRefName"] != scene.default_branch


def _parents(pull: Json) -> list[str]:
    return [node["oid"] for node in (pull["mergeCommit"] or {"parents": {"nodes": ()}})["parents"]["nodes"]]


def _last_commit(pull: Json) -> str | None:
    nodes = pull["commits"]["nodes"]
    return nodes[0]["commit"]["oid"] if nodes else None


# What takes a request of its own


def _first(scene: Scene, applies: Callable[[Json], object]) -> Json | None:
    return next((pull for pull in scene.pulls if applies(pull)), None)


async def _always_delivered(scene: Scene) -> Sight:
    always = ("installation", "installation_repositories")
    if listed := [event for event in always if event in scene.app.get("events", ())]:
        return Sight(Outcome.FALSE, f"the App subscribes to {listed[0]}")
    came = any(attempt.event in always for attempt in scene.attempts)
    return Sight(Outcome.HOLDS, "seen by a delivery") if came else _not_seen("there was no such delivery lately")


async def _writes_as(scene: Scene) -> Sight:
    login = f"{scene.app['slug']}[bot]"
    account = await scene.client.item("/users/{login}", {"login": login})
    is_so = (account.get("login"), account.get("type")) == (login, "Bot")
    return Sight(Outcome.HOLDS if is_so else Outcome.FALSE, f"seen by the account {login}")


async def _suspended_words(scene: Scene) -> Sight:
    if scene.suspended is None:
        return _not_seen("no installation is suspended")
    by = f"seen by installation {scene.suspended}"
    try:
        # It makes no token: GitHub refuses before it looks at the repository.
        await scene.installations.token(scene.suspended, 1)
    except Suspended:
        return Sight(Outcome.HOLDS, by)
    except AuthError as error:
        return Sight(Outcome.FALSE, f"{by}: {error}")
    return Sight(Outcome.FALSE, by)


async def _permission_is_told(scene: Scene) -> Sight:
    pull = _first(scene, lambda pull: (pull["author"] or {}).get("__typename") == "User")
    if pull is None:
        return _not_seen("no person opened one of the latest pull requests")
    path = f"/repos/{scene.repository}/collaborators{{/login}}/permission"
    answer = await scene.client.item(path, {"login": pull["author"]["login"]})
    return Sight(Outcome.HOLDS if "permission" in answer else Outcome.FALSE, _by(scene, pull))


async def _reactions_are_told(scene: Scene) -> Sight:
    pull = _first(scene, lambda pull: pull["comments"]["nodes"])
    if pull is None:
        return _not_seen("none of the latest pull requests has a comment")
    comment = pull["comments"]["nodes"][0]["databaseId"]
    await scene.client.item(f"/repos/{scene.repository}/issues/comments/{comment}/reactions", {})
    return Sight(Outcome.HOLDS, _by(scene, pull))


async def _reads_public(scene: Scene) -> Sight:
    if scene.client.host.web != _GITHUB:
        return _not_seen("no public repository of this server is known")
    data, errors = await scene.client.query(PUBLIC)
    is_read = not errors and (data["repository"] or {}).get("isPrivate") is False
    return Sight(Outcome.HOLDS if is_read else Outcome.FALSE, "seen by octocat/Hello-World")


async def _large_diff_is_refused(scene: Scene) -> Sight:
    pull = _first(scene, lambda pull: pull["changedFiles"] > _DIFF_FILES)
    if pull is None:
        return _not_seen(f"none of the latest pull requests changes more than {_DIFF_FILES} files")
    text = await scene.client.text(f"/repos/{scene.repository}/pulls/{pull['number']}", _DIFF)
    return Sight(Outcome.HOLDS if text is None else Outcome.FALSE, _by(scene, pull))


async def _fork_is_read(scene: Scene) -> Sight:
    pull = _first(scene, lambda pull: pull["isCrossRepository"] and pull["state"] == "OPEN")
    if pull is None:
        return _not_seen("none of the latest pull requests is open and from a fork")
    await scene.client.item(f"/repos/{scene.repository}/contents{{?ref}}", {"ref": pull["headRefOid"]})
    return Sight(Outcome.HOLDS, _by(scene, pull))


async def _large_file_is_left_out(scene: Scene) -> Sight:
    if not scene.default_branch:
        return _not_seen("the repository is empty")
    path = f"/repos/{scene.repository}/git/trees{{/branch}}{{?recursive}}"
    tree = await scene.client.item(path, {"branch": scene.default_branch, "recursive": "1"})
    large = [e["path"] for e in tree["tree"] if _CONTENTS_BYTES < e.get("size", 0) < _MOST_BYTES]
    if not large:
        return _not_seen("the repository has no file between 1 and 100 MB")
    file = await scene.client.item(f"/repos/{scene.repository}/contents{{/path*}}", {"path": large[0].split("/")})
    return Sight(Outcome.HOLDS if file.get("encoding") == "none" else Outcome.FALSE, "seen by a file of that size")


def _by(scene: Scene, pull: Json) -> str:
    return f"seen by {scene.repository}#{pull['number']}"


CHECKS: Mapping[str, Callable[[Scene], Awaitable[Sight]]] = MappingProxyType(
    {
        "always-delivered": _always_delivered,
        "writes-as-bot": _writes_as,
        "suspended-words": _suspended_words,
        "permission-told": _permission_is_told,
        "reactions-read": _reactions_are_told,
        "public-read": _reads_public,
        "edits-whole": _Shown("has an edited text", lambda pull, _: _newest_edit(pull) is not None, _is_whole),
        "edits-begin": _Shown(
            "has its first version among its edits",
            lambda pull, _: pull["includesCreatedEdit"] and pull["oldest"]["nodes"],
            _begins_at_creation,
        ),
        "titles-renamed": _Shown(
            "was renamed",
            lambda pull, _: _renaming(pull),
            lambda pull: bool(_renaming(pull)[0]["currentTitle"] == pull["title"]),
        ),
        "links-on-default": _Shown(
            "has another base than the default branch",
            _on_another_base,
            lambda pull: pull["closingIssuesReferences"]["totalCount"] == 0,
        ),
        "commits-whole": _Shown(
            f"has more than {_LISTED_COMMITS} commits",
            lambda pull, _: pull["commits"]["totalCount"] > _LISTED_COMMITS,
            lambda pull: _last_commit(pull) == pull["headRefOid"],
        ),
        "merged-head": _Shown(
            "was merged by a merge commit",
            lambda pull, _: len(_parents(pull)) == 2,
            lambda pull: bool(_parents(pull)[1] == pull["headRefOid"]),
        ),
        "diff-refused": _large_diff_is_refused,
        "fork-read": _fork_is_read,
        "large-files": _large_file_is_left_out,
    }
)

UNCHECKABLE: Mapping[str, str] = MappingProxyType(
    {
        "events-backed": "only the making of an App shows it",
        "reactions-write": "it would leave a reaction",
        "not-notified": "what does not come cannot be seen",
        "acts-need-role": "it takes knowing who holds which role",
        "hidden-references": "it takes a repository that the App may not see",
        "hidden-links": "it takes a repository that the App may not see",
        "commit-search": "it would have to write a text that names a commit",
        "transferred": "it would have to transfer an issue",
        "renamed-found": "GitHub does not tell a repository's former names",
        "limits-in-words": "it would have to use up a limit",
    }
)
