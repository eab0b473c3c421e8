"""Nothing is cut silently: further pages are read, and what does not come is named as partial or unread."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web
from github_loopback import World, read
from github_world import (
    HOME,
    Json,
    Repository,
    at,
    comment,
    commit,
    edit,
    needs_schema,
    referred,
    renamed,
    sha,
    thread,
)

from checker.taxonomy import Artifact

pytestmark = needs_schema

ISSUE_PARTS = {Artifact.ISSUE_DESCRIPTION, Artifact.ISSUE_DISCUSSION, Artifact.ISSUE_TIMELINE}


@pytest.fixture
def home() -> Repository:
    """A repository with one issue, 11."""
    repository = Repository(HOME)
    repository.issue(11, "Comments are not skipped", "Lines with `#` fail.")
    return repository


def failing(*words: str, status: int = 502) -> Any:
    """A fault for every request that holds all the words."""
    return lambda asked: web.Response(status=status) if all(word in asked for word in words) else None


async def test_a_first_version_that_somebody_deleted_makes_the_description_partial(home: Repository) -> None:
    home.threads[11] |= {"userContentEdits": [edit(9, "Now"), edit(4, None)], "body": "Now"}
    home.pull(101, body="Fixes #11")
    pair = await read(World(home))
    assert pair.issues[0].body == "Now"
    assert Artifact.ISSUE_DESCRIPTION in pair.partial


async def test_where_the_head_is_not_among_the_commits_they_are_partial_and_not_lost(home: Repository) -> None:
    home.pull(101, commits=[commit("One"), commit("Two, fixes #11")], headRefOid="f" * 40)
    pair = await read(World(home))
    assert [c.message for c in pair.pull_request.commits] == ["One", "Two, fixes #11"]
    assert [issue.number for issue in pair.issues] == [11]
    assert pair.partial == (Artifact.PR_COMMITS,)


async def test_every_page_of_every_list_is_read(home: Repository) -> None:
    said = [comment(f"comment {n}", 5 + n / 1000) for n in range(250)]
    home.threads[11] |= {
        "comments": said,
        "timelineItems": [renamed(5, "First"), *(referred(home.pull(1000 + n)) for n in range(230))],
        "userContentEdits": [edit(200 - n, f"version {n}") for n in range(150)],
        "includesCreatedEdit": True,
    }
    home.pull(
        101,
        body="Fixes #11",
        comments=said,
        commits=[commit(f"step {n}", sha("c", n)) for n in range(260)],
        reviewThreads=[thread(f"{n}.py", 1, *said[: 120 if n == 7 else 1]) for n in range(120)],
        timelineItems=[referred(home.issue(3000 + n)) for n in range(130)],
        changes={f"{n}.py": ("1\n", "2\n") for n in range(210)},
    )
    pair = await read(World(home))
    assert (pair.unread, pair.partial) == ((), ())
    issue, pull = pair.issues[0], pair.pull_request
    assert [c.body for c in issue.comments] == [c.body for c in pull.comments] == [f"comment {n}" for n in range(250)]
    assert (issue.title, issue.body, len(issue.mentioned_by)) == ("First", "version 149", 230)
    assert [c.message for c in pull.commits] == [f"step {n}" for n in range(260)]
    assert (len(pull.reviews), len(pull.mentioned_by), len(pull.files)) == (119 + 120, 130, 210)


@pytest.mark.parametrize(("comments", "files", "requests"), [(3, 2, 4), (40, 20, 4), (400, 800, 17)])
async def test_requests_grow_with_pages_and_not_with_comments_or_files(
    home: Repository, comments: int, files: int, requests: int
) -> None:
    said = [comment(f"comment {n}", 5 + n / 1000) for n in range(comments)]
    home.threads[11]["comments"] = said
    home.pull(
        101,
        body="Fixes #11",
        comments=said,
        changes={f"{n}.py": ("1\n", "2\n") for n in range(files)},
        mergedAt=at(9),
        mergeCommit={"oid": sha("merge")},
    )
    world = World(home)
    pair = await read(world)
    assert (len(pair.pull_request.comments), len(pair.pull_request.files)) == (comments, files)
    assert len(world.asked) == requests, world.asked


async def test_past_three_hundred_files_the_diff_is_read_file_by_file(home: Repository) -> None:
    home.pull(101, body="Fixes #11", changes={f"{n}.py": ("1\n", "2\n") for n in range(350)})
    pair = await read(World(home))
    assert pair.pull_request.code_patch.count("diff --git ") == pair.pull_request.code_patch.count("\n+2\n") == 350
    assert pair.partial == ()
    assert [file.path for file in pair.pull_request.files] == [f"{n}.py" for n in range(350)]


@pytest.mark.parametrize(("path", "part"), [("table.csv", Artifact.CODE_PATCH), ("tests/t.csv", Artifact.TEST_PATCH)])
async def test_a_patch_that_github_leaves_out_is_partial(home: Repository, path: str, part: Artifact) -> None:
    home.pull(101, body="Fixes #11", changes={"a.py": ("1\n", "2\n"), path: ("1\n", "2\n", None)})
    pair = await read(World(home))
    assert "a/a.py" in pair.pull_request.code_patch
    assert pair.partial == (part,)


async def test_a_diff_that_does_not_come_is_read_file_by_file_or_else_unread(home: Repository) -> None:
    home.pull(101, body="Fixes #11")
    world = World(home)
    whole = await read(world)
    world.fault = lambda asked: web.Response(status=503) if asked.endswith("/pulls/101") else None
    assert (await read(world)).pull_request == whole.pull_request
    world.fault = failing("/pulls/101")
    pair = await read(world)
    assert pair.unread == (Artifact.CODE_PATCH, Artifact.TEST_PATCH)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("More", "Issue", "timelineItems"), Artifact.ISSUE_TIMELINE),
        (("More", "Issue", "comments"), Artifact.ISSUE_DISCUSSION),
        (("More", "PullRequest", "timelineItems"), Artifact.PR_TIMELINE),
    ],
)
async def test_a_page_that_cannot_be_read_is_named_as_partial(
    home: Repository, words: tuple[str, ...], part: Artifact
) -> None:
    said = [comment(f"comment {n}") for n in range(150)]
    mentions = [referred(home.pull(1000 + n)) for n in range(150)]
    home.threads[11] |= {"comments": said, "timelineItems": mentions}
    home.pull(101, body="Fixes #11", timelineItems=mentions)
    world = World(home)
    for answer in (web.Response, _nothing, _holes):
        world.fault = lambda asked, a=answer: a(status=502) if all(w in asked.split("}")[0] for w in words) else None
        pair = await read(world)
        assert pair.partial == (part,), answer
        assert len(pair.issues[0].mentioned_by) == (100 if part is Artifact.ISSUE_TIMELINE else 150)


def _nothing(**_: Any) -> web.Response:
    """The node is gone: data, and an error beside it."""
    return web.json_response({"data": {"node": None}, "errors": [{"type": "NOT_FOUND", "message": "gone"}]})


def _holes(**_: Any) -> web.Response:
    """A page with a null where a node could not be resolved."""
    page = {"nodes": [None], "pageInfo": {"hasNextPage": False, "endCursor": None}}
    data: Json = {"node": {"comments": page, "timelineItems": page}}
    return web.json_response({"data": data, "errors": [{"message": "Something went wrong"}]})


async def test_an_issue_that_fails_to_be_read_is_not_taken_for_none(home: Repository) -> None:
    home.pull(101, body="Fixes #11")
    world = World(home)
    broken = {"data": {"repository": {"nameWithOwner": HOME, "isPrivate": False, "issueOrPullRequest": None}}}
    broken |= {"errors": [{"message": "Something went wrong while executing your query."}]}
    world.fault = lambda asked: web.json_response(broken) if "query Issue(" in asked else None
    pair = await read(world)
    assert [issue.number for issue in pair.issues] == [11]
    assert set(pair.partial) == ISSUE_PARTS
