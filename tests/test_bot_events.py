"""Which deliveries ask for what: each event by hand, and GitHub's own examples, all 329 of them."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from databases import database
from dbos import DBOS
from deliveries import SLUG, Example, Hook, durable, examples, hook, installed, needs_examples, settings_in, settled
from gidgethub import sansio
from github_server import Answer, GitHubServer, Received, given, refusal

from bot.events import tasks_of
from bot.tasks import LATER, SOON, Kind, Task, read_task

HEAD = "c" * 40
PEOPLE: dict[str, Any] = {
    "installation": {"id": 7},
    "repository": {"id": 42, "full_name": "acme/widgets"},
    "sender": {"login": "mia", "type": "User"},
}
PULL = {"number": 5, "head": {"sha": HEAD, "repo": {"id": 42}}}
FORK = {**PULL, "head": {"sha": HEAD, "repo": {"id": 43, "fork": True}}}
LOST_FORK = {**PULL, "head": {"sha": HEAD, "repo": None}}
ON_PULL = {"issue": {"number": 5, "pull_request": {"url": "x"}}, "comment": {"id": 99, "body": "/paichecker recheck"}}
ON_ISSUE = {"issue": {"number": 3}, "comment": {"id": 99, "body": "Also do that."}}
RUN = {"external_id": "acme/widgets#5", "head_sha": HEAD, "pull_requests": []}
TOLD = Task(Kind.CHECK, "d1", 7, "", "mia", False, 42, "acme/widgets")
CHECK = replace(TOLD, number=5, head_sha=HEAD)


async def asked(event: str, action: str | None, /, **payload: Any) -> list[Task]:
    body = {"action": action, **PEOPLE, **payload}
    present = {name: value for name, value in body.items() if value is not None}
    return await tasks_of(sansio.Event(present, event=event, delivery_id="d1"))


# Pull requests


@pytest.mark.parametrize("action", ["opened", "reopened", "ready_for_review"])
@pytest.mark.parametrize("pull", [PULL, FORK, LOST_FORK])
async def test_an_opened_pull_request_is_checked_at_once(action: str, pull: dict[str, Any]) -> None:
    assert await asked("pull_request", action, pull_request=pull) == [replace(CHECK, why=action)]


async def test_a_push_is_checked_after_a_while() -> None:
    assert await asked("pull_request", "synchronize", pull_request=FORK) == [
        replace(CHECK, why="synchronize", delay=SOON)
    ]


@pytest.mark.parametrize("what", ["title", "body", "base"])
async def test_an_edit_of_what_is_read_is_checked_after_a_while(what: str) -> None:
    assert await asked("pull_request", "edited", pull_request=PULL, changes={what: {"from": "x"}}) == [
        replace(CHECK, why="edited", delay=SOON)
    ]


@pytest.mark.parametrize("changes", [{}, None, {"maintainer_can_modify": True}])
async def test_any_other_edit_asks_for_nothing(changes: Any) -> None:
    assert await asked("pull_request", "edited", pull_request=PULL, changes=changes) == []


async def test_a_closed_pull_request_is_looked_at_once_more() -> None:
    assert await asked("pull_request", "closed", pull_request=PULL) == [
        replace(TOLD, kind=Kind.CLOSED, why="closed", number=5)
    ]


@pytest.mark.parametrize("action", ["labeled", "assigned", "locked", "converted_to_draft", "enqueued", "opened2", None])
async def test_other_events_of_a_pull_request_ask_for_nothing(action: str | None) -> None:
    assert await asked("pull_request", action, pull_request=PULL) == []


# Comments and issues


@pytest.mark.parametrize("action", ["created", "edited"])
@pytest.mark.parametrize("bot", [True, False])
async def test_a_comment_on_a_pull_request_is_read_for_commands(action: str, bot: bool) -> None:
    sender = {"login": "mia", "type": "Bot" if bot else "User"}
    assert await asked("issue_comment", action, **ON_PULL, sender=sender) == [
        replace(TOLD, kind=Kind.COMMANDS, why=action, number=5, comment_id=99, is_bot=bot)
    ]


async def test_of_a_comment_no_word_is_kept() -> None:
    (task,) = await asked("issue_comment", "created", **ON_PULL)
    assert "/paichecker" not in str(task.as_json())
    assert read_task(task.as_json()) == task


async def test_a_deleted_comment_on_a_pull_request_may_be_ours() -> None:
    assert await asked("issue_comment", "deleted", **ON_PULL) == [
        replace(TOLD, kind=Kind.COMMENT_DELETED, why="deleted", number=5, comment_id=99)
    ]


@pytest.mark.parametrize("action", ["created", "edited", "deleted"])
async def test_a_discussion_on_an_issue_is_waited_for(action: str) -> None:
    (task,) = await asked("issue_comment", action, **ON_ISSUE)
    assert (task.kind, task.number, task.delay, task.comment_id) == (Kind.ISSUE_CHANGED, 3, LATER, 0)


@pytest.mark.parametrize("action", ["edited", "transferred", "deleted"])
async def test_a_changed_issue_asks_for_those_that_are_linked_to_it(action: str) -> None:
    assert await asked("issues", action, issue={"number": 3}) == [
        replace(TOLD, kind=Kind.ISSUE_CHANGED, why=f"{action} issue", number=3, delay=SOON)
    ]


# Checks


@pytest.mark.parametrize(
    ("action", "more", "why"),
    [
        ("rerequested", {}, "rerequested"),
        ("requested_action", {"requested_action": {"identifier": "recheck"}}, "recheck button"),
    ],
)
async def test_a_button_on_our_check_run_checks_again_though_a_fork_names_no_pull_request(
    action: str, more: dict[str, Any], why: str
) -> None:
    assert await asked("check_run", action, check_run=RUN, **more) == [replace(CHECK, why=why)]


@pytest.mark.parametrize("requested", [{"identifier": "lgtm"}, {}, None])
async def test_another_button_asks_for_nothing(requested: Any) -> None:
    assert await asked("check_run", "requested_action", check_run=RUN, requested_action=requested) == []


@pytest.mark.parametrize("carried", ["", None, "5", "acme/widgets#0", "acme/widgets#5#6", "a/b#5\nx"])
async def test_a_check_run_that_carries_no_pull_request_asks_for_nothing(carried: str | None) -> None:
    assert await asked("check_run", "rerequested", check_run={**RUN, "external_id": carried}) == []


async def test_a_button_works_after_the_repository_was_renamed() -> None:
    run = {**RUN, "external_id": "acme/gadgets#5"}
    assert await asked("check_run", "rerequested", check_run=run) == [
        replace(TOLD, kind=Kind.HEAD_CHECK, why="rerequested", head_sha=HEAD)
    ]


async def test_a_suite_is_checked_again_by_its_head() -> None:
    assert await asked("check_suite", "rerequested", check_suite={"head_sha": HEAD}) == [
        replace(TOLD, kind=Kind.HEAD_CHECK, why="rerequested", head_sha=HEAD)
    ]


# Repositories and installations


@pytest.mark.parametrize(
    ("action", "kind", "why"),
    [
        ("renamed", Kind.RENAMED, "renamed"),
        ("transferred", Kind.RENAMED, "transferred"),
        ("privatized", Kind.CLOSED_OFF, "privatized"),
        ("deleted", Kind.FORGET, "repository deleted"),
    ],
)
async def test_a_repository_that_changes_is_followed_or_forgotten(action: str, kind: Kind, why: str) -> None:
    assert await asked("repository", action) == [replace(TOLD, kind=kind, why=why)]


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        ("deleted", Kind.FORGET),
        ("suspend", Kind.TOKENS),
        ("unsuspend", Kind.TOKENS),
        ("new_permissions_accepted", Kind.TOKENS),
    ],
)
async def test_an_installation_that_ends_is_forgotten_and_one_that_changes_loses_its_tokens(
    action: str, kind: Kind
) -> None:
    (task,) = await asked("installation", action, repository=None)
    assert (task.kind, task.installation, task.repository_id) == (kind, 7, 0)


async def test_repositories_that_are_taken_out_are_one_task_however_many_they_are() -> None:
    removed = [{"id": number, "full_name": f"acme/r{number}"} for number in range(1, 10_001)]
    (task,) = await asked("installation_repositories", "removed", repository=None, repositories_removed=removed)
    assert (task.kind, task.repositories) == (Kind.TAKEN_OUT, tuple(range(1, 10_001)))
    assert read_task(json.loads(json.dumps(task.as_json()))) == task


async def test_an_account_of_another_login_is_followed() -> None:
    changes = {"login": {"from": "acme"}}
    (task,) = await asked("installation_target", "renamed", repository=None, account={"login": "Apex"}, changes=changes)
    assert (task.kind, task.installation, task.former, task.repository) == (Kind.ACCOUNT_RENAMED, 7, "acme", "Apex")
    assert read_task(json.loads(json.dumps(task.as_json()))) == task
    enterprise = {"account": {"slug": "apex"}, "changes": {"slug": {"from": "acme"}}}
    assert await asked("installation_target", "renamed", repository=None, **enterprise) == []


# The name of an event is not signed, its body is


@pytest.mark.parametrize("event", ["repository", "installation"])
@pytest.mark.parametrize(
    "body",
    [ON_PULL, ON_ISSUE, {"issue": {"number": 3}}, {"pull_request": PULL}, {"check_run": RUN}, {"check_suite": {}}],
)
async def test_what_was_signed_as_the_end_of_something_small_ends_nothing_larger(
    event: str, body: dict[str, Any]
) -> None:
    with pytest.raises(TypeError, match="a body of another event"):
        await asked(event, "deleted", **body)


async def test_the_end_of_a_repository_does_not_end_its_installation() -> None:
    with pytest.raises(TypeError, match="a body of another event than installation"):
        await asked("installation", "deleted")


# What is not as documented


@pytest.mark.parametrize(
    "payload",
    [
        {"installation": {"id": "7"}},
        {"installation": {"id": True}},
        {"installation": {"id": 1 << 63}},
        {"installation": {"id": 7.5}},
        {"installation": [7]},
        {"repository": {"id": 42, "full_name": None}},
        {"repository": "acme/widgets"},
        {"sender": {"login": ["mia"]}},
        {"sender": "mia"},
        {"pull_request": {**PULL, "number": "5"}},
        {"pull_request": {**PULL, "number": float("inf")}},
        {"pull_request": {**PULL, "head": {"sha": {"$": 1}}}},
        {"pull_request": {**PULL, "head": None}},
        {"pull_request": {}},
        {"pull_request": []},
        {"pull_request": None},
        {"action": ["opened"]},
        {"action": {"opened": 1}},
    ],
)
async def test_a_value_of_another_type_is_refused_without_being_repeated(payload: dict[str, Any]) -> None:
    with pytest.raises((KeyError, TypeError, AttributeError)) as caught:
        await asked("pull_request", "opened", **{"pull_request": PULL, **payload})
    assert not any(word in repr(caught.value) for word in ("acme", "mia", HEAD, "$"))


@pytest.mark.parametrize("installation", [None, {}, {"id": 0}])
async def test_without_an_installation_there_is_nothing_to_do(installation: Any) -> None:
    assert await asked("pull_request", "opened", pull_request=PULL, installation=installation) == []


@pytest.mark.parametrize("sender", [None, {}])
async def test_a_sender_whose_account_is_gone_is_nobody(sender: Any) -> None:
    assert await asked("pull_request", "opened", pull_request=PULL, sender=sender) == [
        replace(CHECK, why="opened", who="")
    ]


# GitHub's own examples

# All other events and actions ask for nothing.
ASKS: dict[str, list[str]] = {
    "pull_request.opened": ["check"],
    "pull_request.reopened": ["check"],
    "pull_request.ready_for_review": ["check"],
    "pull_request.synchronize": ["check"],
    "pull_request.closed": ["closed"],
    "issue_comment.created": ["issue-changed"],
    "issue_comment.edited": ["issue-changed"],
    "issue_comment.deleted": ["issue-changed"],
    "issues.edited": ["issue-changed"],
    "issues.transferred": ["issue-changed"],
    "issues.deleted": ["issue-changed"],
    "check_suite.rerequested": ["head-check"],
    "repository.renamed": ["renamed"],
    "repository.transferred": ["renamed"],
    "repository.privatized": ["closed-off"],
    "installation.deleted": ["forget"],
    "installation.suspend": ["tokens"],
    "installation.unsuspend": ["tokens"],
    "installation.new_permissions_accepted": ["tokens"],
    "installation_repositories.removed": ["taken-out"],
}
ON_PULLS = {"created": ["commands"], "edited": ["commands"], "deleted": ["comment-deleted"]}


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Hook]:
    async with hook(settings_in(tmp_path)) as here:
        yield here


async def deliver(server: Hook, given: list[Example]) -> list[tuple[str, list[str]]]:
    """Each by its name, with what it asks for. All are answered 202."""
    found = []
    for example in given:
        status, _ = await server.deliver(example)
        assert status == 202, example.name
        found.append((example.name, server.kinds()))
    return found


def complaints(caplog: pytest.LogCaptureFixture, least: int = logging.WARNING) -> list[str]:
    return [f"{record.name}: {record.getMessage()}" for record in caplog.records if record.levelno >= least]


@needs_examples
async def test_of_329_examples_the_right_ones_start_work(server: Hook, caplog: pytest.LogCaptureFixture) -> None:
    given = [installed(example) for example in examples()]
    assert len(given) == 329
    assert len({example.event for example in given}) == 58
    assert await deliver(server, given) == [(example.name, ASKS.get(example.name, [])) for example in given]
    # Each row of the table has examples.
    assert ASKS.keys() <= {example.name for example in given}
    assert complaints(caplog) == []


@needs_examples
async def test_examples_as_they_are_start_work_where_they_name_an_installation(
    server: Hook, caplog: pytest.LogCaptureFixture
) -> None:
    given = examples()
    from_installations = [bool(example.payload.get("installation")) for example in given]
    assert sum(from_installations) == 133
    expected = [ASKS.get(e.name, []) if named else [] for e, named in zip(given, from_installations, strict=True)]
    assert [kinds for _, kinds in await deliver(server, given)] == expected
    assert complaints(caplog) == []


@needs_examples
async def test_what_the_app_does_itself_starts_nothing(server: Hook, caplog: pytest.LogCaptureFixture) -> None:
    own = {"login": f"{SLUG}[bot]", "type": "Bot", "id": 1}
    given = [installed(example).also(sender=own) for example in examples()]
    assert not any(kinds for _, kinds in await deliver(server, given))
    assert complaints(caplog) == []


@needs_examples
async def test_what_other_bots_do_starts_the_same_work_and_is_marked(server: Hook) -> None:
    bot = {"login": "renovate[bot]", "type": "Bot", "id": 1}
    for example in (installed(example).also(sender=bot) for example in examples()):
        await server.deliver(example)
        assert [task.kind.value for task in server.tasks] == ASKS.get(example.name, [])
        assert all(task.is_bot and task.who == "renovate[bot]" for task in server.tasks)
        server.tasks.clear()


def on_pull_requests() -> list[Example]:
    """The examples' comments, as if each were on a pull request."""
    found = [installed(example) for example in examples() if example.event == "issue_comment"]
    for example in found:
        example.payload["issue"]["pull_request"] = {
            "url": "https://api.github.com/repos/Codertocat/Hello-World/pulls/1"
        }
    return found


@needs_examples
async def test_examples_of_comments_on_pull_requests_are_read_for_commands(server: Hook) -> None:
    given = on_pull_requests()
    assert await deliver(server, given) == [(e.name, ON_PULLS[e.payload["action"]]) for e in given]


def from_forks() -> list[Example]:
    """The examples' pull requests, each from a fork, and from one that is gone."""
    found = []
    for example in (installed(example) for example in examples() if example.event == "pull_request"):
        for number, repository in enumerate((None, {"id": 43, "full_name": "stranger/fork", "fork": True})):
            copied = example.also()
            copied.payload["pull_request"]["head"]["repo"] = repository
            found.append(replace(copied, number=10_000 + 2 * example.number + number))
    return found


@needs_examples
async def test_examples_from_forks_start_the_same_work(server: Hook) -> None:
    given = from_forks()
    assert await deliver(server, given) == [(example.name, ASKS.get(example.name, [])) for example in given]


@needs_examples
async def test_examples_of_our_own_check_runs_are_checked_again_and_those_of_others_are_not(server: Hook) -> None:
    given = [installed(example) for example in examples() if example.event == "check_run"]
    for example in given:
        example.payload["check_run"]["external_id"] = f"{example.payload['repository']['full_name']}#2"
    assert Counter(name for name, kinds in await deliver(server, given) if kinds == ["check"]) == {
        "check_run.rerequested": 2
    }


# The same through the durable queue, where GitHub knows nothing of what they tell


def unknown(_: Received) -> Answer:
    return refusal(404, "Not Found")


def unknown_but_tokens(received: Received) -> Answer:
    if received.path.endswith("/access_tokens"):
        return given({"token": "ghs_x", "expires_at": "2099-01-01T00:00:00Z"}, 201)
    return unknown(received)


@needs_examples
@pytest.mark.parametrize(("kind", "answer"), [("sqlite", unknown), ("postgresql", unknown_but_tokens)])
async def test_examples_are_done_without_an_error_where_github_knows_nothing_of_them(
    kind: str, answer: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, request: pytest.FixtureRequest
) -> None:
    logging.getLogger("dbos").addHandler(caplog.handler)
    request.addfinalizer(lambda: logging.getLogger("dbos").removeHandler(caplog.handler))
    sent = [installed(example) for example in examples()]
    sent += [replace(example, number=20_000 + example.number) for example in on_pull_requests()]
    with database(kind, tmp_path) as url, GitHubServer(answer) as github:
        async with durable(settings_in(tmp_path, DATABASE_URL=url, GITHUB_API_URL=github.url)) as server:
            for example in sent:
                assert (await server.deliver(example))[0] == 202
            await settled()
            done = Counter(one.status for one in await DBOS.list_workflows_async(load_input=False, load_output=False))
    assert set(done) == {"SUCCESS"}
    # Less than was asked for: the work of an installation that is gone was deleted with it.
    assert 20 < done["SUCCESS"] < sum(len(ASKS.get(example.name, [])) for example in sent)
    assert len(github.received) > 10
    assert complaints(caplog, logging.ERROR) == []
