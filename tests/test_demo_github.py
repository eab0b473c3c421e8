"""The demo's GitHub answers the App and the engine as GitHub does, and tells of what people do."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import subprocess
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import gidgethub
import gidgethub.apps
import jwt
import pytest
from demo_stage import SECRET, Json, Stage, app_jwt, keys, open_stage

from bot.demo import diff as demo_diff
from bot.demo import story
from bot.demo.objects import Comment, ReviewThread
from bot.demo.pages import rendered
from checker import pipeline
from checker.github import documents
from checker.github.address import Address
from checker.github.client import GitHubError, NotFoundError
from checker.github.collect import collect
from checker.github.sample import linked_pull_requests
from checker.github.tools import GitHubConnections, GitHubFiles
from checker.pair import Pair
from checker.rules import RulesBackend


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with open_stage() as made:
        yield made


# The App's identity


async def test_gidgethub_gets_a_token_and_it_opens_what_it_was_narrowed_to(stage: Stage) -> None:
    other = stage.world.create_repository(stage.repository.owner, "saucer", {"a": "a"}, private=True)
    stage.installation.repositories.append(other)
    client = await stage.client(None)
    signed = gidgethub.apps.get_jwt(app_id="1", private_key=keys()[0])
    path = f"/app/installations/{stage.installation.id}/access_tokens"
    asked = {"repository_ids": [other.id], "permissions": {"metadata": "read"}}
    answered = await client.post(path, data=asked, jwt=signed)
    assert [one["name"] for one in answered["repositories"]] == ["saucer"]
    narrowed = await stage.client(answered["token"])
    assert (await narrowed.item("/repos/teahouse/saucer", {}))["private"] is True
    listed = await narrowed.item("/installation/repositories", {})
    assert [one["full_name"] for one in listed["repositories"]] == ["teahouse/saucer"]


@pytest.mark.parametrize(
    "claims",
    [{"exp": int(time.time()) - 100}, {"exp": int(time.time()) + 3000}, {"iss": "2"}, {"iat": None}],
    ids=["too old", "too long", "another App", "no iat"],
)
async def test_a_jwt_that_github_would_not_take_is_refused(stage: Stage, claims: Json) -> None:
    assert (await stage.call("GET", "/app", token=app_jwt(**claims)))[0] == 401


async def test_a_jwt_signed_by_anybody_else_is_refused(stage: Stage) -> None:
    theirs = jwt.encode({"iat": 1, "exp": int(time.time()) + 60, "iss": "1"}, "x" * 32, "HS256")
    assert (await stage.call("GET", "/app", token=theirs))[0] == 401
    assert (await stage.call("GET", "/app"))[0] == 200


async def test_a_token_dies_after_an_hour_and_when_the_app_is_suspended(stage: Stage) -> None:
    token = stage.token()
    home = f"/repos/{stage.repository.full_name}"
    assert (await stage.call("GET", home, token=token))[0] == 200
    stage.installation.suspended_at = stage.world.now()
    status, answered = await stage.call("GET", home, token=token)
    assert (status, answered["message"]) == (403, "This installation has been suspended")
    path = f"/app/installations/{stage.installation.id}/access_tokens"
    assert (await stage.call("POST", path))[0] == 403
    stage.installation.suspended_at = None
    stage.world.clock = lambda: datetime.now(UTC) + timedelta(hours=1, seconds=1)
    assert (await stage.call("GET", home, token=token))[0] == 401


async def test_what_a_token_may_not_do_is_refused_in_githubs_way(stage: Stage) -> None:
    pull = await stage.pull_request()
    home = f"/repos/{stage.repository.full_name}"
    talk = f"{home}/issues/{pull.number}/comments"
    reads = stage.token(permissions={"pull_requests": "read"})
    assert (await stage.call("POST", talk, {"body": "x"}, token=reads))[0] == 403
    assert (await stage.call("POST", f"{home}/issues/{stage.issue.number}/comments", {"body": "x"}))[0] == 403
    assert (await stage.call("GET", f"{home}/collaborators/{story.AUTHOR}/permission", token="wrong"))[0] == 401
    elsewhere = stage.world.create_repository(stage.world.account("them"), "cup", {"a": "a"})
    run = {"name": "PAIChecker", "head_sha": elsewhere.head.oid}
    assert (await stage.call("POST", "/repos/them/cup/check-runs", run))[0] == 403
    stage.repository.private = True
    stage.installation.repositories.clear()
    assert (await stage.call("GET", home))[0] == 404
    ask = {"permissions": {"administration": "write"}}
    assert (await stage.call("POST", f"/app/installations/{stage.installation.id}/access_tokens", ask))[0] == 422


async def test_without_a_token_public_things_are_read_and_nothing_is_written(stage: Stage) -> None:
    await stage.pull_request()
    home = f"{stage.world.web}/api/v3/repos/{stage.repository.full_name}"
    async with stage.session.get(f"{home}/pulls/2") as response:
        assert response.status == 200
    for path in ("issues/2/comments", "check-runs"):
        async with stage.session.post(f"{home}/{path}", json={"body": "x"}) as response:
            assert response.status == 401
    async with stage.session.post(f"{stage.world.web}/api/graphql", json={"query": "{ __typename }"}) as response:
        assert response.status == 401


# What people do


async def test_a_delivery_is_signed_and_named_as_github_does(stage: Stage) -> None:
    await stage.pull_request()
    headers, body = stage.received[0]
    expected = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    assert headers["X-Hub-Signature-256"] == f"sha256={expected}"
    assert headers["X-GitHub-Hook-Installation-Target-ID"] == "1"
    assert headers["X-GitHub-Delivery"] == stage.github.hooks.deliveries[0].guid
    event = gidgethub.sansio.Event.from_http(headers, body, secret=SECRET)
    assert (event.event, event.data["installation"]["id"]) == ("pull_request", stage.installation.id)


async def test_each_deed_is_told(stage: Stage) -> None:
    github, author, maintainer = stage.github, stage.person(story.AUTHOR), stage.person(story.MAINTAINER)
    pull = await stage.pull_request()
    await github.push(pull, story.SPLIT, story.SPLIT_MESSAGE)
    assert (stage.payload()["before"], stage.payload()["after"]) == tuple(one.oid for one in pull.commits)
    comment = await github.comment(pull, maintainer, story.DISPUTE)
    assert stage.payload()["comment"]["author_association"] == "MEMBER"
    await github.edit_comment(comment, maintainer, story.RECHECK)
    assert stage.payload()["changes"] == {"body": {"from": story.DISPUTE}}
    await github.edit(pull, author, body=story.SPLIT_BODY.format(issue=1))
    await github.edit(stage.issue, maintainer, title="Another", body="words")
    await github.delete_comment(comment, maintainer)
    await github.merge(pull, maintainer)
    assert stage.events() == [
        "pull_request opened",
        "pull_request synchronize",
        "issue_comment created",
        "issue_comment edited",
        "pull_request edited",
        "issues edited",
        "issue_comment deleted",
        "pull_request closed",
        "issues closed",
    ]
    assert stage.payload(-2)["pull_request"]["merged_by"]["login"] == story.MAINTAINER
    assert stage.repository.head.files["kettle/brew.py"] == story.SPLIT["kettle/brew.py"]


async def test_what_the_app_writes_comes_back_as_webhooks(stage: Stage) -> None:
    pull = await stage.pull_request()
    home = f"/repos/{stage.repository.full_name}"
    _, made = await stage.call("POST", f"{home}/issues/{pull.number}/comments", {"body": "Hello"})
    await stage.call("PATCH", f"{home}/issues/comments/{made['id']}", {"body": "Hello again"})
    run = {"name": "PAIChecker", "head_sha": pull.head.oid, "status": "in_progress"}
    _, started = await stage.call("POST", f"{home}/check-runs", run)
    done = {"conclusion": "neutral", "output": {"title": "t", "summary": "s"}}
    _, finished = await stage.call("PATCH", f"{home}/check-runs/{started['id']}", done)
    assert (finished["status"], finished["completed_at"] is not None) == ("completed", True)
    await stage.github.hooks.settled()
    told = sorted(stage.events()[1:])
    assert told == ["check_run completed", "check_run created", "issue_comment created", "issue_comment edited"]
    assert {json.loads(body)["sender"]["login"] for _, body in stage.received[1:]} == {"paichecker-demo[bot]"}


async def test_a_strangers_pull_request_comes_from_a_fork_and_its_check_run_knows_no_pull_request(stage: Stage) -> None:
    pull = await stage.pull_request()
    shaped = stage.payload()["pull_request"]
    assert (shaped["head"]["repo"]["full_name"], shaped["head"]["repo"]["fork"]) == ("bo-assam/kettle", True)
    run = {"name": "PAIChecker", "head_sha": pull.head.oid, "external_id": "teahouse/kettle#2"}
    _, made = await stage.call("POST", f"/repos/{stage.repository.full_name}/check-runs", run)
    assert (made["pull_requests"], made["external_id"]) == ([], "teahouse/kettle#2")
    await stage.github.press(stage.repository.check_runs[0], stage.person(story.MAINTAINER), "recheck")
    assert stage.payload()["requested_action"] == {"identifier": "recheck"}


async def test_failed_deliveries_are_listed_and_delivered_again_under_their_name(stage: Stage) -> None:
    stage.status = 500
    pull = await stage.pull_request()
    stage.github.hooks.trouble.extend(["lose", "double"])
    stage.status = 202
    for words in ("lost", "doubled"):
        await stage.github.comment(pull, stage.person(story.STRANGER), words)
    assert stage.events() == ["pull_request opened", *["issue_comment created"] * 2]
    _, failed = await stage.call("GET", "/app/hook/deliveries?status=failure&per_page=1")
    assert [(one["status_code"], one["event"]) for one in failed] == [(502, "issue_comment")]
    cursor = stage.headers["Link"].split(";")[0].strip("<>")
    _, older = await stage.call("GET", cursor, token=app_jwt())
    assert [(one["status_code"], one["event"]) for one in older] == [(500, "pull_request")]
    for one in [*failed, *older]:
        assert (await stage.call("POST", f"/app/hook/deliveries/{one['id']}/attempts"))[0] == 202
    await stage.github.hooks.settled()
    assert [headers["X-GitHub-Delivery"] for headers, _ in stage.received[-2:]] == [
        one["guid"] for one in [*failed, *older]
    ]
    assert [one.redelivery for one in stage.github.hooks.deliveries[-2:]] == [True, True]


async def test_where_nobody_listens_the_delivery_is_recorded_as_failed(stage: Stage) -> None:
    stage.github.hooks.url = "http://127.0.0.1:9/webhook"
    await stage.pull_request()
    assert stage.github.hooks.deliveries[0].status == "failed to connect to host"


# What the App reads and writes


async def test_permissions_are_told_by_role(stage: Stage) -> None:
    stage.repository.roles["bo-assam"] = "triage"
    home = f"/repos/{stage.repository.full_name}/collaborators"
    held = {}
    for login in (story.MAINTAINER, story.AUTHOR, story.STRANGER):
        _, answered = await stage.call("GET", f"{home}/{login}/permission")
        held[login] = (answered["permission"], answered["role_name"])
    assert list(held.values()) == [("admin", "admin"), ("read", "triage"), ("read", "read")]
    assert (await stage.call("GET", f"{home}/nobody-at-all/permission"))[0] == 404


async def test_a_comment_has_its_limit_and_reactions_count_once(stage: Stage) -> None:
    pull = await stage.pull_request()
    home = f"/repos/{stage.repository.full_name}/issues"
    talk = f"{home}/{pull.number}/comments"
    assert (await stage.call("POST", talk, {"body": "x" * 65_537}))[0] == 422
    assert (await stage.call("POST", talk, {"body": " "}))[0] == 422
    status, made = await stage.call("POST", talk, {"body": "x" * 65_536})
    assert status == 201
    reactions = f"{home}/comments/{made['id']}/reactions"
    statuses = [(await stage.call("POST", reactions, {"content": content}))[0] for content in ("eyes", "eyes", "wink")]
    assert statuses == [201, 200, 422]
    stage.world.react(pull.comments[-1], stage.person(story.STRANGER), "-1")
    _, disliked = await stage.call("GET", f"{reactions}?content=-1")
    assert [one["user"]["login"] for one in disliked] == [story.STRANGER]


async def test_what_is_no_request_is_answered_in_json(stage: Stage) -> None:
    assert (await stage.call("GET", "/no/such/thing"))[1]["message"] == "Not Found"
    assert (await stage.call("DELETE", f"/repos/{stage.repository.full_name}"))[0] == 404
    assert (await stage.call("GET", f"/repos/{stage.repository.full_name}/issues/99"))[0] == 404
    assert (await stage.call("GET", f"/repos/{stage.repository.full_name}/pulls/1"))[0] == 404
    assert (await stage.call("GET", "/app/hook/deliveries/1"))[0] == 404
    path = f"/app/installations/{stage.installation.id}/access_tokens"
    assert (await stage.call("POST", path, ["no object"]))[0] == 400


async def test_lists_come_page_by_page(stage: Stage) -> None:
    pull = await stage.pull_request()
    for number in range(45):
        stage.world.comment(pull, stage.person(story.STRANGER), f"{number}")
    client = await stage.client(stage.token())
    listed = await client.pages(f"/repos/{stage.repository.full_name}/issues/{pull.number}/comments")
    assert [one["body"] for one in listed] == [f"{number}" for number in range(45)]
    await stage.github.close(pull, stage.person(story.MAINTAINER))
    home = f"/repos/{stage.repository.full_name}/pulls"
    assert [len((await stage.call("GET", f"{home}{query}"))[1]) for query in ("", "?state=closed")] == [0, 1]


async def test_files_are_read_at_any_commit_and_folders_listed(stage: Stage) -> None:
    pull = await stage.pull_request()
    home = f"/repos/{stage.repository.full_name}/contents"
    _, now = await stage.call("GET", f"{home}/kettle/brew.py")
    _, then = await stage.call("GET", f"{home}/kettle/brew.py?ref={pull.head.oid}")
    texts = [base64.b64decode(one["content"]).decode() for one in (now, then)]
    assert texts == [story.FILES["kettle/brew.py"], story.CHANGES["kettle/brew.py"]]
    _, raw = await stage.call("GET", f"{home}/README.md", accept="application/vnd.github.raw")
    assert raw == story.FILES["README.md"]
    _, root = await stage.call("GET", home)
    assert [(one["name"], one["type"]) for one in root] == [("README.md", "file"), ("kettle", "dir"), ("tests", "dir")]
    assert (await stage.call("GET", f"{home}/.github/paichecker.yml"))[0] == 404
    assert (await stage.call("GET", f"{home}/README.md?ref=nowhere"))[0] == 404


@pytest.mark.parametrize(
    "wrong",
    [
        {"head_sha": "0" * 40},
        {"status": "completed"},
        {"output": {"title": "t", "summary": "s" * 65_536}},
        {"output": {"title": "t"}},
        {"output": {"title": "t", "summary": "s", "annotations": [{}] * 51}},
        {"actions": [{"label": "l" * 21, "description": "d", "identifier": "i"}]},
        {"actions": [{"label": "l", "description": "d", "identifier": "i"}] * 4},
    ],
)
async def test_a_check_run_that_github_would_not_take_is_refused(stage: Stage, wrong: Json) -> None:
    pull = await stage.pull_request()
    body = {"name": "PAIChecker", "head_sha": pull.head.oid, **wrong}
    assert (await stage.call("POST", f"/repos/{stage.repository.full_name}/check-runs", body))[0] == 422
    assert stage.repository.check_runs == []


async def test_of_check_runs_of_one_name_the_newest_is_listed(stage: Stage) -> None:
    pull = await stage.pull_request()
    home = f"/repos/{stage.repository.full_name}"
    for _ in range(2):
        await stage.call("POST", f"{home}/check-runs", {"name": "PAIChecker", "head_sha": pull.head.oid})
    newest = stage.repository.check_runs[-1].id
    _, listed = await stage.call("GET", f"{home}/commits/{pull.head.oid}/check-runs?check_name=PAIChecker")
    assert (listed["total_count"], listed["check_runs"][0]["id"]) == (1, newest)
    assert (await stage.call("GET", f"{home}/commits/{pull.head.oid}/check-runs?filter=all"))[1]["total_count"] == 2
    async with stage.session.get(pull.url) as response:
        assert set(re.findall(r"/runs/(\d+)", await response.text())) == {str(newest)}


# What the engine reads


async def read(stage: Stage, number: int) -> Pair:
    client = await stage.client(stage.token())
    return await collect(client, Address(stage.repository.full_name, number))


async def test_the_engine_reads_the_story_as_the_world_holds_it(stage: Stage) -> None:
    maintainer = stage.person(story.MAINTAINER)
    pull = await stage.pull_request()
    await stage.github.comment(pull, maintainer, "Thank you!")
    about = {"repository": stage.repository, "author": maintainer, "issue": pull}
    moment = stage.world.now()
    said = Comment(id=1, body="Why 0?", created_at=moment, updated_at=moment, anchor="discussion_r", **about)
    pull.threads.append(ReviewThread(2, "kettle/brew.py", 10, 10, [said]))
    pair = await read(stage, pull.number)
    told, issue = pair.pull_request, pair.issues[0]
    assert (pair.unread, pair.partial, len(pair.issues)) == ((), (), 1)
    assert (told.title, told.body) == (story.TITLE, pull.body)
    assert (told.author, told.head_sha, told.base_sha) == (story.AUTHOR, pull.head.oid, stage.repository.head.oid)
    assert [one.body for one in told.comments] == ["Thank you!"]
    assert [(one.body, one.path, one.line, one.url) for one in told.reviews] == [
        ("Why 0?", "kettle/brew.py", 10, f"{pull.url}#discussion_r1")
    ]
    assert [(one.path, one.status, one.additions, one.deletions) for one in told.files] == [
        ("kettle/brew.py", "modified", 3, 1),
        ("tests/test_brew.py", "modified", 12, 0),
    ]
    assert '+        raise ValueError("Tea needs time: give more than zero minutes")' in told.code_patch
    assert "def test_the_table_knows_oolong" in told.test_patch
    assert (issue.title, issue.body, issue.author) == (story.ISSUE_TITLE, story.ISSUE, story.REPORTER)
    assert (issue.labels, told.labels) == (("bug",), ())
    assert [(one.body, one.association) for one in issue.comments] == [(story.ISSUE_COMMENT, "MEMBER")]
    assert [(one.number, one.kind, one.state) for one in issue.mentioned_by] == [(pull.number, "pull_request", "open")]


async def test_the_rules_find_scope_creep_and_a_literal_in_the_story_and_the_split_resolves_the_first(
    stage: Stage,
) -> None:
    pull = await stage.pull_request()
    labels = (await pipeline.check(await read(stage, pull.number), RulesBackend())).labels
    assert sorted(labels) == ["SC", "UL"]
    await stage.github.push(pull, story.SPLIT, story.SPLIT_MESSAGE)
    await stage.github.edit(pull, pull.author, body=story.SPLIT_BODY.format(issue=1))
    labels = (await pipeline.check(await read(stage, pull.number), RulesBackend())).labels
    assert sorted(labels) == ["UL"]


async def test_what_was_edited_renamed_and_merged_is_read_as_of_its_time(stage: Stage) -> None:
    pull = await stage.pull_request()
    maintainer = stage.person(story.MAINTAINER)
    await stage.github.edit(stage.issue, maintainer, title="New title", body="New body")
    await stage.github.merge(pull, maintainer)
    named = f"Broken by {pull.merge_commit.oid}"  # type: ignore[union-attr]
    other = stage.world.open_issue(stage.repository, stage.person(story.STRANGER), "It broke", named)
    pair = await read(stage, pull.number)
    issue = pair.issues[0]
    assert (issue.title, issue.body, issue.edited) == (story.ISSUE_TITLE, story.ISSUE, "New title\nNew body")
    assert pair.pull_request.merged_at == pull.merged_at
    assert [one.number for one in pair.pull_request.merge_mentioned_by] == [other.number]


async def test_an_edit_that_came_later_is_left_out(stage: Stage) -> None:
    pull = await stage.pull_request()
    as_of = stage.world.now()
    stage.world.clock = lambda: as_of + timedelta(minutes=5)
    await stage.github.edit(stage.issue, stage.issue.author, body="Five minutes")
    await stage.github.edit(pull, pull.author, title="Later", body="Later. Fixes #1")
    stage.world.clock = lambda: as_of + timedelta(minutes=9)
    await stage.github.edit(stage.issue, stage.issue.author, title="Nine", body="Nine minutes")
    client = await stage.client(stage.token())
    address = Address(stage.repository.full_name, pull.number)
    then = await collect(client, address, as_of=as_of)
    assert (then.issues[0].edited, then.pull_request.title, then.pull_request.body[:9]) == (
        None,
        story.TITLE,
        "`seconds`",
    )
    between = await collect(client, address, as_of=as_of + timedelta(minutes=6))
    assert between.issues[0].edited == f"{story.ISSUE_TITLE}\nFive minutes"


def test_a_diff_is_what_git_writes(tmp_path: Path) -> None:
    lines = "".join(f"{number}\n" for number in range(1, 10))
    before = {"kept": "a\n", "changed": lines, "removed": "x\ny\n", "without end": "a"}
    after = {"kept": "a\n", "changed": f"{lines}10\n", "added": "\x0cform\n", "without end": "a\nb", "empty": ""}
    for name, files in (("a", before), ("b", after)):
        (tmp_path / name).mkdir()
        for path, text in files.items():
            (tmp_path / name / path).write_text(text, encoding="utf-8")
    # Outside a repository git names the two folders; where a file is missing it names the other one twice.
    options = ["diff", "--no-index", "--no-renames", "--no-color", "--abbrev=7", "--no-prefix"]
    ran = subprocess.run(["git", *options, "a", "b"], cwd=tmp_path, capture_output=True, text=True, check=False)
    ours = demo_diff.diff(demo_diff.changes(before, after))
    assert without_headers(ours) == without_headers(ran.stdout)
    assert {one.path: one.sha for one in demo_diff.changes(before, after)}["removed"] == demo_diff.blob_sha("x\ny\n")
    assert [(one.path, one.change_type) for one in demo_diff.changes(before, after)] == [
        ("added", "ADDED"),
        ("changed", "MODIFIED"),
        ("empty", "ADDED"),
        ("removed", "DELETED"),
        ("without end", "MODIFIED"),
    ]


def without_headers(diff: str) -> list[str]:
    """Without the lines that name paths, and without the line that git shows after a hunk's numbers."""
    kept = [line for line in diff.split("\n") if not line.startswith(("diff --git", "--- ", "+++ "))]
    return [re.sub(r"^(@@ .* @@).*", r"\1", line) for line in kept]


async def test_long_lists_are_read_to_their_end(stage: Stage) -> None:
    pull = await stage.pull_request()
    for number in range(120):
        stage.world.comment(pull, stage.person(story.STRANGER), f"{number}")
        stage.world.comment(stage.issue, stage.person(story.STRANGER), f"{number}")
    pair = await read(stage, pull.number)
    assert (len(pair.pull_request.comments), len(pair.issues[0].comments)) == (120, 121)


async def test_the_agents_tools_and_the_sample_read_it_too(stage: Stage) -> None:
    pull = await stage.pull_request()
    client = await stage.client(stage.token())
    pair = await read(stage, pull.number)
    shown = await GitHubFiles(client, pair).read("kettle/brew.py", 1, 1)
    assert '"""How long each tea steeps."""' in shown
    connections = GitHubConnections(client, pair)
    assert (await connections.search("oolong table", "any")).note.startswith("pull request 2 (open)")
    assert (await connections.cross_references(1)).note.startswith("pull request 2 (open)")
    about = {"message": "Say it", "branch": "say-it"}
    loose = stage.world.open_pull_request(stage.repository, pull.author, "Say it", "As `Fixes #1`", {"x": "x"}, **about)
    assert loose.closing() == []
    assert await linked_pull_requests(client, stage.repository.full_name, "open", None) == [pull.number]
    assert await linked_pull_requests(client, stage.repository.full_name, "merged", None) == []


async def test_search_takes_free_words_and_timelines_tell_who_closed_and_merged(stage: Stage) -> None:
    pull = await stage.pull_request()
    await stage.github.merge(pull, stage.person(story.MAINTAINER))
    client = await stage.client(stage.token())
    about = "labels(first: 100) { nodes { name } }"
    timeline = (
        "timelineItems(first: 9, itemTypes: [CLOSED_EVENT%s]) { nodes { ... on ClosedEvent { actor { login } } %s } }"
    )
    merged = "... on MergedEvent { actor { login } }"
    document = f"""query($words: String!) {{ search(type: ISSUE, query: $words, first: 5) {{ nodes {{ __typename
      ... on Issue {{ number {about} {timeline % ("", "")} }}
      ... on PullRequest {{ number {about} pr: {timeline % (", MERGED_EVENT", merged)} }} }} }} }}"""
    data, errors = await client.query(document, words=f'repo:{stage.repository.full_name} "zero or less" OOLONG')
    assert errors == []
    by = {"actor": {"login": story.MAINTAINER}}
    assert data["search"]["nodes"] == [
        {"__typename": "PullRequest", "number": 2, "labels": {"nodes": []}, "pr": {"nodes": [by, by]}}
    ]
    data, _ = await client.query(document, words=f"repo:{stage.repository.full_name} is:issue rings")
    assert data["search"]["nodes"] == [
        {"__typename": "Issue", "number": 1, "labels": {"nodes": [{"name": "bug"}]}, "timelineItems": {"nodes": [by]}}
    ]
    with pytest.raises(GitHubError, match="does not know label:bug"):
        await client.query(document, words="label:bug")
    with pytest.raises(GitHubError, match="exceeds the limit of 100"):
        await client.query(document.replace("first: 5", "first: 101"), words="kettle")


async def test_what_is_private_is_not_found_by_a_token_of_another_repository(stage: Stage) -> None:
    hidden = stage.world.create_repository(stage.world.account("them"), "vault", {"a": "a"}, private=True)
    stage.world.open_issue(hidden, hidden.owner, "A secret kettle", "")
    client = await stage.client(stage.token())
    with pytest.raises(NotFoundError):
        await client.query(documents.ISSUE, owner="them", name="vault", number=1)
    data, _ = await client.query(documents.SEARCH, words="kettle")
    assert "secret" not in str(data)


# Pages


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (
            "<details>\n<summary>More</summary>\n\n**b**\n\n</details>",
            "<details>\n<summary>More</summary>\n<p><strong>",
        ),
        ("<script>alert(1)</script>", "&lt;script&gt;"),
        ("x <img src=x onerror=alert(1)> y", "&lt;img src=x"),
        ("<details onclick=alert(1)>", "&lt;details onclick"),
        ("![i](https://example.org/i.png)", "!<a href="),
        ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
        ("<!-- a marker -->\n\nText", "<p>Text</p>"),
    ],
)
def test_of_html_a_few_tags_are_let_through_and_the_rest_is_text(written: str, shown: str) -> None:
    html = rendered(written)
    assert shown in html
    assert "<script" not in html
    assert "<img" not in html
    assert "marker" not in html


async def test_somebody_clicks_through_comments_and_presses_the_button(stage: Stage) -> None:
    pull = await stage.pull_request(branch="<b>bold</b>")
    action = {"label": "Check again", "description": "Checks again", "identifier": "recheck"}
    run = {"name": "PAIChecker", "head_sha": pull.head.oid, "actions": [action]}
    await stage.call("POST", f"/repos/{stage.repository.full_name}/check-runs", run)
    async with stage.session.get(stage.world.web) as response:
        assert story.TITLE in await response.text()
    form = {"as": story.STRANGER, "body": "<script>x</script> Hello"}
    async with stage.session.post(f"{pull.url}/comment", data=form) as response:
        text = await response.text()
    assert "&lt;script&gt;x" in text
    assert "<b>bold" not in text
    assert "Check again" in text
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    form = {"as": story.MAINTAINER, "action": "recheck"}
    async with stage.session.post(
        f"{stage.repository.check_runs[0].repository.url}/runs/{stage.repository.check_runs[0].id}", data=form
    ) as response:
        assert str(response.url) == pull.url
    assert stage.events()[-1] == "check_run requested_action"
    for page in (stage.issue.url, f"{stage.repository.url}/blob/{pull.head.oid}/kettle/brew.py"):
        async with stage.session.get(page) as response:
            assert response.status == 200
    home = f"{stage.repository.url}/runs/{stage.repository.check_runs[0].id}"
    async with stage.session.get(home) as response:
        assert "Check again" in await response.text()
    async with stage.session.post(home, data={"as": "nobody"}) as response:
        assert response.status == 400
    for page in ("/no/where", "/teahouse/kettle/pull/99"):
        async with stage.session.get(f"{stage.world.web}{page}") as response:
            assert response.status == 404
