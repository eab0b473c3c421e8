"""What the doctor says of a live App, over real HTTP: against a scripted GitHub, and against githubd."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import graphql as graphql_core
import pytest
from app_keys import rsa_pair
from github_contract import Asked, contract, needs_openapi
from github_server import Answer, GitHubServer, Received, given, graphql, refusal
from github_world import needs_schema, schema
from githubd_server import Githubd, githubd, make_world, needs_githubd
from pydantic import SecretStr

from bot.auth import PERMISSIONS, connect_app
from bot.believed import CHECKS, PUBLIC, SURVEY, UNCHECKABLE, Outcome, Scene, look
from bot.doctor import examine
from bot.settings import Settings, load
from bot.store import Store, open_store
from checker.github.client import connect

PUBLIC_URL = "https://bot.example.com"
SECRETS = ("the-webhook-secret", "sk-the-model-key")
EVENTS = ["pull_request", "issues", "issue_comment", "check_run", "check_suite", "repository"]
HOME = "acme/widgets"
PULL = {
    "number": 7,
    "title": "Title",
    "body": "Fixes #1\r\nText",
    "createdAt": "2026-01-01T00:00:00Z",
    "state": "OPEN",
    "changedFiles": 1,
    "isCrossRepository": False,
    "baseRefName": "main",
    "headRefOid": "h",
    "includesCreatedEdit": False,
    "author": {"__typename": "User", "login": "mona"},
    "newest": {"nodes": []},
    "oldest": {"nodes": []},
    "timelineItems": {"nodes": []},
    "closingIssuesReferences": {"totalCount": 1},
    "commits": {"totalCount": 1, "nodes": [{"commit": {"oid": "h"}}]},
    "comments": {"nodes": [{"databaseId": 5}]},
    "mergeCommit": None,
}


def environment(folder: Path, url: str, **more: str) -> Settings:
    """Settings of an App at that GitHub."""
    given_ = {
        "PAICHECKER_APP_ID": "1",
        "PAICHECKER_PRIVATE_KEY": rsa_pair()[0],
        "PAICHECKER_WEBHOOK_SECRET": SECRETS[0],
        "PAICHECKER_DATA": str(folder),
        "PAICHECKER_PUBLIC_URL": PUBLIC_URL,
        "GITHUB_API_URL": url,
        "GITHUB_GRAPHQL_URL": f"{url}/graphql",
        **more,
    }
    settings = load(given_)
    assert isinstance(settings, Settings)
    return settings


class Clinic:
    """A GitHub on which all is well, to be made ill by a test."""

    def __init__(self) -> None:
        self.app: dict[str, Any] = {
            "name": "Our PAIChecker",
            "slug": "our-paichecker",
            "owner": {"login": "acme"},
            "html_url": "https://github.com/apps/our-paichecker",
            "permissions": dict(PERMISSIONS),
            "events": list(EVENTS),
        }
        self.hook: Any = {
            "url": f"{PUBLIC_URL}/webhook",
            "content_type": "json",
            "insecure_ssl": "0",
            "secret": "********",
        }
        account = {"login": "acme"}
        self.installations = [
            {"id": 101, "account": account, "suspended_at": None, "permissions": dict(PERMISSIONS), "events": EVENTS}
        ]
        self.deliveries: list[dict[str, Any]] = []
        self.left = 4000
        self.answers: dict[str, Answer] = {}
        self.pulls: list[dict[str, Any]] = [PULL]

    def __call__(self, received: Received) -> Answer:
        path = received.path.partition("?")[0]
        for pattern, answer in self.answers.items():
            if re.search(pattern, path):
                return answer
        return self._graphql(received) if path == "/graphql" else self._rest(path)

    def _graphql(self, received: Received) -> Answer:
        if "Hello-World" in received.query:
            return graphql({"repository": {"isPrivate": False, "issues": {"totalCount": 1}}})
        if received.query == SURVEY:
            pulls = {"nodes": self.pulls}
            return graphql({"repository": {"defaultBranchRef": {"name": "main"}, "pullRequests": pulls}})
        return graphql(None, {"type": "NOT_FOUND", "message": "Could not resolve"})

    def _rest(self, path: str) -> Answer:
        if path.endswith("/access_tokens"):
            return given({"token": "ghs_x", "expires_at": "2099-01-01T00:00:00Z"}, 201)
        limit = {"limit": 5000, "remaining": self.left}
        known: dict[str, Any] = {
            "/app": self.app,
            "/app/hook/config": self.hook,
            "/app/installations": self.installations,
            "/app/hook/deliveries": self.deliveries,
            "/installation/repositories": {"repositories": [{"id": 42, "full_name": HOME}]},
            "/rate_limit": {"resources": {"core": limit, "graphql": limit}},
            "/users/our-paichecker%5Bbot%5D": {"login": "our-paichecker[bot]", "type": "Bot"},
            f"/repos/{HOME}/collaborators/mona/permission": {"permission": "admin"},
            f"/repos/{HOME}/issues/comments/5/reactions": [],
            f"/repos/{HOME}/git/trees/main": {"tree": []},
        }
        return given(known[path]) if path in known else refusal(404, "Not Found")


class Visit:
    """What the doctor printed, and what it asked for."""

    def __init__(self, status: int, text: str, received: list[Received]) -> None:
        self.status = status
        self.text = text
        self.received = received

    def line(self, start: str) -> str:
        """The mark of a matter, and what is said of it."""
        return next(line for line in self.text.splitlines() if line[8:].startswith(start))


async def visit(github: Callable[[Received], Answer], folder: Path, **more: str) -> Visit:
    printed: list[str] = []
    with GitHubServer(github) as server:
        settings = environment(folder, server.url, **more)
        store = open_store(settings.database_url.get_secret_value())
        try:
            async with connect_app(settings.github, 1, settings.private_key, wait=at_once) as installations:
                status = await examine(settings, installations, store, printed.append)
        finally:
            store.close()
    text = "\n".join(printed)
    assert not any(secret in text for secret in (*SECRETS, "PRIVATE KEY", "ghs_x"))
    return Visit(status, text, server.received)


async def at_once(_: float, __: str) -> None:
    """Nobody waits in a test."""


@pytest.fixture
def clinic() -> Clinic:
    return Clinic()


# What is right


async def test_the_app_and_this_machine_are_told_in_readable_lines(clinic: Clinic, tmp_path: Path) -> None:
    # The pull request itself is not scripted here; githubd has whole ones.
    seen = await visit(clinic, tmp_path)
    assert seen.line("version:").startswith("ok      version: PAIChecker ")
    assert seen.line("backend:") == "ok      backend: rules, no model (set ANTHROPIC_API_KEY to use one)"
    assert seen.line("database:") == f"ok      database: SQLite in {tmp_path / 'paichecker.sqlite'}, migration 0002"
    assert seen.line("credentials:") == (
        "ok      credentials: GitHub takes them for Our PAIChecker (our-paichecker) of acme"
    )
    assert seen.line("permissions") == "ok      permissions and events: as in app.yml"
    assert seen.line("webhook:") == f"ok      webhook: GitHub delivers to {PUBLIC_URL}/webhook"
    assert seen.line("installations:") == "ok      installations: 1"
    assert seen.line("requests") == ("ok      requests left in this hour: 4000 of 5000 (core), 4000 of 5000 (graphql)")
    assert seen.line("believed, writes-as-bot").startswith("ok      believed, writes-as-bot: holds")


async def test_a_model_is_named_and_its_key_is_not(clinic: Clinic, tmp_path: Path) -> None:
    seen = await visit(
        clinic,
        tmp_path,
        ANTHROPIC_API_KEY=SECRETS[1],
        ANTHROPIC_BASE_URL="http://127.0.0.1:9/v1",
        PAICHECKER_MODELS="big, small",
    )
    assert seen.line("backend:") == "ok      backend: big at 127.0.0.1; repositories may choose big, small"


async def test_nothing_is_changed_on_github(clinic: Clinic, tmp_path: Path) -> None:
    seen = await visit(clinic, tmp_path)
    writes = {one.path for one in seen.received if one.method != "GET" and one.path != "/graphql"}
    assert writes == {"/app/installations/101/access_tokens"}


# What is wrong: each illness, the line it must be seen by, and the status


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (
            refusal(401, "A JSON web token could not be decoded"),
            "If PAICHECKER_APP_ID is the “App ID” on the App's page",
        ),
        (
            refusal(404, "Integration not found"),
            "the number is wrong, or that of an App on another GitHub, or the App was",
        ),
    ],
)
async def test_credentials_that_do_not_work_are_said_and_nothing_further_is_asked(
    clinic: Clinic, tmp_path: Path, answer: Answer, says: str
) -> None:
    clinic.answers["^/app"] = answer
    seen = await visit(clinic, tmp_path)
    assert seen.status == 2
    assert says in seen.line("GitHub:")
    assert len(seen.received) == 1


def _slug(clinic: Clinic) -> None:
    clinic.app["slug"] = "another"


def _permission_missing(clinic: Clinic) -> None:
    clinic.app["permissions"]["checks"] = "read"


def _permission_superfluous(clinic: Clinic) -> None:
    clinic.app["permissions"] |= {"contents": "write", "administration": "read"}


def _event_missing(clinic: Clinic) -> None:
    clinic.app["events"].remove("issues")


def _event_superfluous(clinic: Clinic) -> None:
    clinic.app["events"].append("push")


def _hook_elsewhere(clinic: Clinic) -> None:
    clinic.hook["url"] = "https://old.example.com/webhook"


def _hook_form(clinic: Clinic) -> None:
    clinic.hook["content_type"] = "form"


def _hook_unsigned(clinic: Clinic) -> None:
    del clinic.hook["secret"]


def _hook_insecure(clinic: Clinic) -> None:
    clinic.hook["insecure_ssl"] = "1"


def _hook_off(clinic: Clinic) -> None:
    clinic.answers["hook/config"] = refusal(404, "Not Found")


def _not_installed(clinic: Clinic) -> None:
    clinic.installations.clear()


def _suspended(clinic: Clinic) -> None:
    clinic.installations.insert(0, clinic.installations[0] | {"id": 102, "suspended_at": "2026-01-01T00:00:00Z"})
    clinic.answers["installations/102"] = refusal(403, "This installation has been suspended")


def _not_accepted(clinic: Clinic) -> None:
    clinic.installations[0]["permissions"] = {"metadata": "read", "contents": "read"}


def _failed(clinic: Clinic) -> None:
    at = datetime.now(UTC).isoformat()
    row = {"id": 1, "guid": "lost", "event": "issues", "delivered_at": at, "status_code": 502}
    clinic.deliveries += [row, row | {"id": 2, "guid": "came", "status_code": 202}]


def _few_left(clinic: Clinic) -> None:
    clinic.left = 499


def _no_limits(clinic: Clinic) -> None:
    clinic.answers["rate_limit"] = refusal(404, "Rate limiting is not enabled.")


def _installation_closed(clinic: Clinic) -> None:
    clinic.answers["access_tokens"] = refusal(422, "The permissions requested are not granted to this installation.")


def _no_pull_request(clinic: Clinic) -> None:
    clinic.pulls = []


def _steering_name(clinic: Clinic) -> None:
    clinic.app["name"] = "ok\nok      all is well\x1b[2J"


ILLNESSES: list[tuple[Callable[[Clinic], None], str, int]] = [
    (_permission_missing, "wrong   permissions: checks: write missing", 2),
    (_permission_superfluous, "look    permissions: contents: write, administration: read more than needed", 1),
    (_event_missing, "wrong   events: issues missing", 2),
    (_event_superfluous, "look    events: push not needed", 1),
    (_hook_elsewhere, "wrong   webhook: GitHub delivers to https://old.example.com/webhook", 2),
    (_hook_form, "wrong   webhook: deliveries are no JSON", 2),
    (_hook_unsigned, "wrong   webhook: deliveries are not signed", 2),
    (_hook_insecure, "look    webhook: certificates are not verified", 1),
    (_hook_off, "wrong   webhook: there is none", 2),
    (_not_installed, "look    installations: none", 1),
    (_suspended, "look    installation 102 of acme is suspended", 1),
    (
        _not_accepted,
        "look    installation 101 of acme has not accepted issues: read, pull_requests: write, checks: write",
        1,
    ),
    (_failed, "look    deliveries: 1 failed in a day: issues lost at ", 1),
    (_few_left, "look    requests left in this hour: 499 of 5000", 1),
    (_no_limits, "ok      requests left in this hour: no limit", 0),
    (_installation_closed, "wrong   installation 101 cannot be read: GitHub answered 422", 2),
    (_no_pull_request, "look    reading: no installation has a repository with a pull request", 1),
    (_steering_name, "ok      credentials: GitHub takes them for ok ok all is well\\u001b[2J (", 0),
]


@pytest.mark.parametrize(("fall_ill", "said", "status"), ILLNESSES, ids=lambda one: getattr(one, "__name__", None))
async def test_each_illness_has_its_line_and_counts(
    fall_ill: Callable[[Clinic], None], said: str, status: int, clinic: Clinic, tmp_path: Path
) -> None:
    fall_ill(clinic)
    seen = await visit(clinic, tmp_path)
    lines = seen.text.splitlines()
    at = next((index for index, line in enumerate(lines) if line.startswith(said)), None)
    assert at is not None, seen.text
    # What asks for something to be done says what.
    assert lines[at].startswith("ok ") or lines[at + 1].startswith(" " * 8)
    # And nothing else is ill, but the pull request, which is not scripted here.
    others = {line for line in lines if line.startswith(("look ", "wrong ")) and line[8:15] != "reading"}
    assert all(line.startswith(said) for line in others)
    marks = {"ok": 0, "look": 1, "wrong": 2, "-": 0}
    assert marks[said.split()[0]] == status
    assert seen.status == max(marks[line.split()[0]] for line in lines if not line.startswith(" "))


async def test_settings_that_call_the_app_otherwise_are_wrong(clinic: Clinic, tmp_path: Path) -> None:
    _slug(clinic)
    seen = await visit(clinic, tmp_path, PAICHECKER_APP_SLUG="our-paichecker")
    assert seen.line("credentials:").startswith("wrong ")
    assert "Set PAICHECKER_APP_SLUG to another" in seen.text


async def test_a_webhook_on_loopback_is_to_be_looked_at(clinic: Clinic, tmp_path: Path) -> None:
    clinic.hook["url"] = "http://localhost:8080/webhook"
    seen = await visit(clinic, tmp_path, PAICHECKER_PUBLIC_URL="http://localhost:8080")
    assert seen.line("webhook:") == "look    webhook: http://localhost:8080/webhook leads GitHub to itself"


async def test_a_database_at_another_migration_is_wrong(clinic: Clinic, tmp_path: Path) -> None:
    with GitHubServer(clinic) as server:
        settings = environment(tmp_path, server.url)
        store = open_store(settings.database_url.get_secret_value())
        with sqlite3.connect(tmp_path / "paichecker.sqlite") as database:
            database.execute("update alembic_version set version_num = '0000'")
        database.close()
        printed: list[str] = []
        async with connect_app(settings.github, 1, settings.private_key) as installations:
            assert await examine(settings, installations, store, printed.append) == 2
        store.close()
    assert "is at migration 0000, and this version needs 0002" in "\n".join(printed)


async def test_a_database_that_does_not_answer_is_said_without_its_password(clinic: Clinic, tmp_path: Path) -> None:
    with GitHubServer(clinic) as server:
        settings = environment(tmp_path, server.url, DATABASE_URL="postgresql://bot:hunter2@127.0.0.1:9/bot")
        store = Store(_engine_of(settings))
        printed: list[str] = []
        async with connect_app(settings.github, 1, settings.private_key) as installations:
            assert await examine(settings, installations, store, printed.append) == 2
        store.close()
    text = "\n".join(printed)
    assert "wrong   database: PostgreSQL at 127.0.0.1 does not answer (" in text
    assert "hunter2" not in text


def _engine_of(settings: Settings) -> Any:
    from bot.database import _engine

    return _engine(settings.database_url.get_secret_value())


@needs_openapi
async def test_every_rest_request_is_as_github_describes_it(clinic: Clinic, tmp_path: Path) -> None:
    clinic.pulls = [PULL | {"isCrossRepository": True, "changedFiles": 301}]
    large = {"tree": [{"path": "a b/c", "size": 2_000_000}]}
    clinic.answers["git/trees"] = given(large)
    seen = await visit(clinic, tmp_path)
    # What takes no parameters has nothing that could be wrong; how a token is asked for is not the doctor's matter.
    bare = {"/graphql", "/app", "/app/hook/config", "/rate_limit"}
    asked = [_asked(one) for one in seen.received if one.path not in bare and "/access_tokens" not in one.path]
    complaints = [(one.path, found) for one in asked if (found := contract().complaints(one))]
    assert complaints == []
    assert {f"/repos/{HOME}/contents", f"/repos/{HOME}/contents/a%20b/c"} <= {one.path for one in asked}


def _asked(received: Received) -> Asked:
    url = urlsplit(received.path)
    return Asked(received.method, url.path, dict(parse_qsl(url.query)), received.headers["accept"])


# What is believed


def test_page_and_code_know_the_same_facts() -> None:
    page = (Path(__file__).parent.parent / "docs/believed.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", page, re.MULTILINE)
    assert len(rows) == len({name for name, _ in rows})
    cells = {name: rest.split(" | ") for name, rest in rows}
    assert all(len(row) == 4 for row in cells.values())
    assert list(cells) == [*CHECKS, *UNCHECKABLE]
    assert {name for name, row in cells.items() if row[2].startswith("cannot: ")} == set(UNCHECKABLE)
    for name, why in UNCHECKABLE.items():
        assert cells[name][2] in (f"cannot: {why}", "cannot: the same")


async def test_every_fact_is_printed(clinic: Clinic, tmp_path: Path) -> None:
    for pulls in ([PULL], []):
        clinic.pulls = pulls
        seen = await visit(clinic, tmp_path)
        for name in (*CHECKS, *UNCHECKABLE):
            assert seen.line(f"believed, {name}: ")


@needs_schema
@pytest.mark.parametrize("document", [SURVEY, PUBLIC])
def test_the_documents_are_valid_in_githubs_schema(document: str) -> None:
    assert graphql_core.validate(schema(), graphql_core.parse(document)) == []


def edited(at: str, diff: str | None) -> dict[str, Any]:
    return {"nodes": [{"editedAt": at, "diff": diff}]}


def merged(*parents: str) -> dict[str, Any]:
    return {"mergeCommit": {"parents": {"nodes": [{"oid": oid} for oid in parents]}}}


def commits(count: int, last: str) -> dict[str, Any]:
    return {"commits": {"totalCount": count, "nodes": [{"commit": {"oid": last}}]}}


def renamed(title: str) -> dict[str, Any]:
    return {"timelineItems": {"nodes": [{"currentTitle": title}]}}


LATER = "2026-01-02T00:00:00Z"
_BEGUN = {"includesCreatedEdit": True}
_LINKED = {"closingIssuesReferences": {"totalCount": 1}}
_UNLINKED = {"closingIssuesReferences": {"totalCount": 0}}
SHOWN: list[tuple[str, dict[str, Any], Outcome]] = [
    ("edits-whole", {"newest": edited(LATER, "Fixes #1\nText")}, Outcome.HOLDS),
    ("edits-whole", {"newest": edited(LATER, "+ Text")}, Outcome.FALSE),
    ("edits-whole", {"newest": edited(LATER, None)}, Outcome.NOT_SEEN),
    ("edits-whole", {}, Outcome.NOT_SEEN),
    ("edits-begin", {**_BEGUN, "oldest": edited("2026-01-01T00:00:30Z", None)}, Outcome.HOLDS),
    ("edits-begin", {**_BEGUN, "oldest": edited(LATER, None)}, Outcome.FALSE),
    ("edits-begin", {"oldest": edited(LATER, None)}, Outcome.NOT_SEEN),
    ("titles-renamed", renamed("Title"), Outcome.HOLDS),
    ("titles-renamed", renamed("Other"), Outcome.FALSE),
    ("titles-renamed", {}, Outcome.NOT_SEEN),
    ("links-on-default", {"baseRefName": "1.x", **_UNLINKED}, Outcome.HOLDS),
    ("links-on-default", {"baseRefName": "1.x", **_LINKED}, Outcome.FALSE),
    ("links-on-default", _LINKED, Outcome.NOT_SEEN),
    ("commits-whole", commits(251, "h"), Outcome.HOLDS),
    ("commits-whole", commits(251, "x"), Outcome.FALSE),
    ("commits-whole", commits(250, "x"), Outcome.NOT_SEEN),
    ("merged-head", merged("b", "h"), Outcome.HOLDS),
    ("merged-head", merged("b", "x"), Outcome.FALSE),
    ("merged-head", merged("b"), Outcome.NOT_SEEN),
]


@asynccontextmanager
async def standing(github: Callable[[Received], Answer], **values: Any) -> AsyncIterator[Scene]:
    """A scene before a scripted GitHub."""
    with GitHubServer(github) as server:
        async with (
            connect_app(server.host, 1, SecretStr(rsa_pair()[0]), wait=at_once) as installations,
            connect(server.host, "ghs_x", wait=at_once) as client,
        ):
            app = {"slug": "our-paichecker", "events": EVENTS}
            yield replace(Scene(installations, client, HOME, "main", [PULL], app), **values)


@pytest.mark.parametrize(("name", "changed", "outcome"), SHOWN)
async def test_what_a_pull_request_shows(name: str, changed: dict[str, Any], outcome: Outcome, clinic: Clinic) -> None:
    async with standing(clinic, pulls=[PULL, {**PULL, "number": 8, **changed}]) as scene:
        sight = await look(name, scene)
    assert sight.outcome is outcome
    assert ("#8" in sight.by) == (outcome is not Outcome.NOT_SEEN)


DIFF = Answer(b"diff", 200, {"content-type": "text/plain"})
_FORK = {"isCrossRepository": True}
_MANY = {"changedFiles": 301}
ASKED: list[tuple[str, dict[str, Any], str, Answer, Outcome]] = [
    ("writes-as-bot", {}, "/users", given({"login": "our-paichecker[bot]", "type": "User"}), Outcome.FALSE),
    ("writes-as-bot", {}, "/users", refusal(404, "Not Found"), Outcome.FALSE),
    ("permission-told", {}, "/collaborators", given({"permission": "read"}), Outcome.HOLDS),
    ("permission-told", {}, "/collaborators", refusal(403, "Resource not accessible"), Outcome.FALSE),
    ("permission-told", {}, "/collaborators", refusal(502, "Server Error"), Outcome.NOT_SEEN),
    ("permission-told", {"author": None}, "/nothing", DIFF, Outcome.NOT_SEEN),
    ("reactions-read", {}, "/reactions", refusal(403, "Resource not accessible"), Outcome.FALSE),
    ("reactions-read", {"comments": {"nodes": []}}, "/nothing", DIFF, Outcome.NOT_SEEN),
    ("public-read", {}, "/nothing", DIFF, Outcome.HOLDS),
    ("public-read", {}, "/graphql", graphql(None, {"type": "NOT_FOUND", "message": "none"}), Outcome.FALSE),
    ("diff-refused", _MANY, "/pulls/7", refusal(406, "too many files"), Outcome.HOLDS),
    ("diff-refused", _MANY, "/pulls/7", DIFF, Outcome.FALSE),
    ("diff-refused", {}, "/nothing", DIFF, Outcome.NOT_SEEN),
    ("fork-read", _FORK, "/contents", given([]), Outcome.HOLDS),
    ("fork-read", _FORK, "/contents", refusal(404, "No commit found"), Outcome.FALSE),
    ("fork-read", _FORK | {"state": "CLOSED"}, "/nothing", DIFF, Outcome.NOT_SEEN),
    ("large-files", {}, "/nothing", DIFF, Outcome.NOT_SEEN),
]


@pytest.mark.parametrize(("name", "changed", "where", "answer", "outcome"), ASKED)
async def test_what_an_answer_shows(
    name: str, changed: dict[str, Any], where: str, answer: Answer, outcome: Outcome, clinic: Clinic
) -> None:
    clinic.answers[where] = answer
    async with standing(clinic, pulls=[{**PULL, **changed}]) as scene:
        assert (await look(name, scene)).outcome is outcome


@pytest.mark.parametrize(("encoding", "outcome"), [("none", Outcome.HOLDS), ("base64", Outcome.FALSE)])
async def test_a_large_file_shows_its_encoding(encoding: str, outcome: Outcome, clinic: Clinic) -> None:
    clinic.answers["git/trees"] = given({"tree": [{"path": "small", "size": 9}, {"path": "a/b", "size": 2_000_000}]})
    clinic.answers["contents/a/b"] = given({"encoding": encoding})
    async with standing(clinic) as scene:
        assert (await look("large-files", scene)).outcome is outcome


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (refusal(403, "This installation has been suspended"), Outcome.HOLDS),
        (refusal(403, "Go away"), Outcome.FALSE),
        (given({"token": "ghs_x", "expires_at": "2099-01-01T00:00:00Z"}, 201), Outcome.FALSE),
    ],
)
async def test_a_suspended_installation_shows_its_words(answer: Answer, outcome: Outcome, clinic: Clinic) -> None:
    clinic.answers["access_tokens"] = answer
    async with standing(clinic, suspended=102) as scene:
        assert (await look("suspended-words", scene)).outcome is outcome


async def test_an_app_that_subscribes_to_what_always_comes_shows_that_it_may(clinic: Clinic) -> None:
    async with standing(clinic, app={"events": ["installation"]}) as scene:
        assert (await look("always-delivered", scene)).outcome is Outcome.FALSE


# Against githubd


LOOPBACK = "http://127.0.0.1:9"


@contextmanager
def hospital(folder: Path, public_url: str) -> Iterator[Githubd]:
    """A githubd with an App that delivers there."""
    make_world(folder / "world.json", "sample")
    (folder / "key.pem").write_text(rsa_pair()[1], encoding="utf-8")
    hook = ("--webhook", f"{public_url}/webhook", "--secret", SECRETS[0])
    public = {"owner": "octocat", "name": "Hello-World", "issues": [{"number": 1, "title": "Hello"}]}
    with githubd(folder / "world.json", "--app-id", "1", "--app-key", str(folder / "key.pem"), *hook) as served:
        served.control("add_world", {"world": {"repositories": [public]}})
        yield served
        log = served.control("log")
    assert (log["broken"], log["unmodelled"]) == ([], [])


def _show_everything(served: Githubd) -> None:
    """Every fact that can be seen is to be seen on one repository."""
    big = {"message": "big", "files": {"big.txt": "0123456789\n" * 120_000}}
    served.control("push", {"repo": HOME, "branch": "main", "commits": [big]})
    files = {"message": "one", "files": {"a.txt": "1\n"}}
    body = {"repo": HOME, "title": "First", "body": "Fixes #11", "actor": "theo", "commits": [files]}
    opened = served.control("open_pr", body)
    for change in ({"body": "Fixes #11\nand more"}, {"title": "Second"}):
        served.control("edit_pr", {"repo": HOME, "number": opened["number"], **change})
    served.control("merge", {"repo": HOME, "number": opened["number"], "actor": "mona", "method": "merge"})
    served.control("install", {"account": "fern", "repositories": ["fern/widgets"]})
    served.control("suspend", {"installation": 102})
    served.control("idle?seconds=0.2&timeout=10")


async def ask(served: Githubd, folder: Path, public_url: str = LOOPBACK) -> tuple[int, str]:
    settings = environment(folder, served.url, PAICHECKER_PUBLIC_URL=public_url)
    store = open_store(settings.database_url.get_secret_value())
    printed: list[str] = []
    try:
        async with connect_app(settings.github, 1, settings.private_key, wait=at_once) as installations:
            return await examine(settings, installations, store, printed.append), "\n".join(printed)
    finally:
        store.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Githubd]:
    with hospital(tmp_path_factory.mktemp("doctor"), LOOPBACK) as running:
        _show_everything(running)
        yield running


@needs_githubd
async def test_an_app_that_lacks_nothing_is_well(tmp_path: Path) -> None:
    with hospital(tmp_path, PUBLIC_URL) as running:
        status, text = await ask(running, tmp_path, PUBLIC_URL)
    assert status == 0, text
    assert {line.split()[0] for line in text.splitlines()} == {"ok", "-"}


@needs_githubd
async def test_a_live_app_is_read_and_every_fact_that_can_be_seen_holds(served: Githubd, tmp_path: Path) -> None:
    status, text = await ask(served, tmp_path)
    assert status == 1, text
    assert re.search(r"^ok      reading acme/widgets#\d+: commits 1, linked issues 1$", text, re.MULTILINE), text
    assert "look    installation 102 of fern is suspended" in text
    assert re.search(r"^look    deliveries: \d+ failed in a day: ", text, re.MULTILINE)
    for name in CHECKS:
        assert f"ok      believed, {name}: holds" in text, text


@needs_githubd
async def test_a_bad_hour_of_github_is_waited_out(served: Githubd, tmp_path: Path) -> None:
    served.control("fault", {"kind": "status", "status": 502, "percent": 20})
    try:
        status, text = await ask(served, tmp_path)
    finally:
        served.control("clear_faults", {})
    assert status == 1, text
    assert "does not hold" not in text


@needs_githubd
async def test_a_github_that_is_down_is_said_in_one_line(served: Githubd, tmp_path: Path) -> None:
    served.control("fault", {"kind": "status", "status": 503, "count": None, "match": "^/app"})
    try:
        status, text = await ask(served, tmp_path)
    finally:
        served.control("clear_faults", {})
    assert status == 2
    assert text.splitlines()[-2].startswith("wrong   GitHub: https://github.com gave no answer in 5 attempts")


@needs_githubd
async def test_permissions_that_were_not_accepted_are_said_with_their_installation(
    served: Githubd, tmp_path: Path
) -> None:
    narrow = {name: level for name, level in PERMISSIONS.items() if name != "checks"}
    served.control("permissions", {"permissions": narrow, "installation": 101})
    try:
        status, text = await ask(served, tmp_path)
    finally:
        served.control("permissions", {"permissions": dict(PERMISSIONS), "installation": 101})
    assert status == 2
    assert "look    installation 101 of acme has not accepted checks: write" in text
    assert "wrong   installation 101 cannot be read: The installation has not accepted all permissions" in text
