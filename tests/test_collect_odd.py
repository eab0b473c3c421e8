"""What is odd about a pull request: each oddity has a pair that is right, or says what it lacks, or a sentence."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web
from github_loopback import World, read
from github_world import HOME, Repository, comment, commit, needs_schema, person, referred, sha, thread

from checker import patches, pipeline
from checker.github import documents
from checker.github.client import GitHubError
from checker.report import Verdict
from checker.rules import RulesBackend
from checker.taxonomy import Artifact

pytestmark = needs_schema


@pytest.fixture
def home() -> Repository:
    """A repository with one issue, 11."""
    repository = Repository(HOME)
    repository.issue(11, "Comments are not skipped", "Lines with `#` fail.")
    return repository


def number_of(pair_issue: Any) -> tuple[str | None, int | None]:
    return pair_issue.repository, pair_issue.number


# People and states


async def test_a_locked_issue_is_read_as_any_other(home: Repository) -> None:
    home.threads[11] |= {"locked": True, "activeLockReason": "TOO_HEATED", "comments": [comment("Enough.")]}
    home.pull(101, body="Fixes #11")
    pair = await read(World(home))
    assert [c.body for c in pair.issues[0].comments] == ["Enough."]
    assert (pair.unread, pair.partial) == ((), ())


async def test_everything_of_a_deleted_account_is_a_ghosts(home: Repository) -> None:
    home.threads[11] |= {"author": None, "comments": [comment("Same.", author=None)]}
    nobody = commit("Skip", sha("c"))
    nobody["commit"]["author"] = None
    spoken = thread("a.py", 1, comment("Why?", author=None))
    home.pull(101, body="Fixes #11", author=None, commits=[nobody], reviewThreads=[spoken])
    pair = await read(World(home))
    issue, pull = pair.issues[0], pair.pull_request
    assert {issue.author, issue.comments[0].author, pull.author, pull.reviews[0].author} == {"ghost"}
    assert pull.commits[0].author is None


async def test_an_issue_that_was_transferred_or_made_a_discussion_is_none_of_this_repository(home: Repository) -> None:
    """GitHub answers its old number with NOT_FOUND in GraphQL; where it went is in no answer."""
    home.pull(101, body="Fixes #11. Fixes #12.")
    pair = await read(World(home))
    assert [number_of(issue) for issue in pair.issues] == [(HOME, 11)]
    assert (pair.unread, pair.partial) == ((), ())


async def test_a_transferred_issue_is_read_where_github_links_it_now(home: Repository) -> None:
    tools = Repository("acme/tools")
    home.pull(101, body="Fixes #12", links=[tools.issue(5, "Moved here", "Text.")])
    pair = await read(World(home, tools))
    assert [(number_of(issue), issue.description) for issue in pair.issues] == [
        (("acme/tools", 5), "Moved here\nText.")
    ]


async def test_a_branch_that_is_gone_after_the_merge_takes_nothing_with_it(home: Repository) -> None:
    """The head's branch and repository are never asked for: its commits stay under the pull request."""
    asked = documents.PULL_REQUEST
    assert not [word for word in ("headRef ", "headRefName", "headRepository") if word in asked]
    home.pull(101, body="Fixes #11", headRef=None, headRepository=None, commits=[commit("Skip", sha("c"))])
    pair = await read(World(home))
    assert pair.pull_request.head_sha == sha("c")
    assert pair.partial == ()


async def test_without_an_issue_there_is_a_pair_and_rules_find_nothing(home: Repository) -> None:
    home.pull(101, body="Small things.")
    pair = await read(World(home))
    report = await pipeline.check(pair, RulesBackend())
    assert (pair.issues, report.verdict) == ((), Verdict.NOTHING_FOUND)


# Links


async def test_a_cycle_of_links_ends(home: Repository) -> None:
    issue, pull = home.threads[11], home.pull(101, body="Fixes #11, follows #101 and acme/widgets#101")
    other = home.pull(102, body="Fixes #11 after #101")
    issue["timelineItems"] = [referred(pull), referred(other), referred(issue)]
    pull["timelineItems"] = [referred(pull), referred(other), referred(issue)]
    other["timelineItems"] = [referred(pull)]
    world = World(home)
    pair = await read(world)
    assert [number_of(one) for one in pair.issues] == [(HOME, 11)]
    assert len(world.asked) == 3


async def test_a_renamed_repository_is_followed_and_has_its_new_name(home: Repository) -> None:
    home.pull(101, body="Fixes acme/gadgets#11, fixes #11")
    world = World(home)
    world.repositories["acme/gadgets"] = home
    pair = await read(world, repository="acme/gadgets")
    assert (pair.id, pair.repository) == ("acme__widgets-101", HOME)
    assert [number_of(one) for one in pair.issues] == [(HOME, 11)]


# Changes


async def test_submodules_and_binaries_stand_in_the_diff_with_what_there_is_of_them(home: Repository) -> None:
    submodule = (
        "diff --git a/vendor/lib b/vendor/lib\nindex 1111111..2222222 160000\n--- a/vendor/lib\n+++ b/vendor/lib\n"
        f"@@ -1 +1 @@\n-Subproject commit {'1' * 40}\n+Subproject commit {'2' * 40}\n"
    )
    differ = "Binary files a/logo.png and b/logo.png differ\n"
    binary = f"diff --git a/logo.png b/logo.png\nindex 1111111..2222222 100644\n{differ}"
    home.pull(
        101, body="Fixes #11", diff=submodule + binary, changes={"vendor/lib": ("1", "2"), "logo.png": ("1", "2")}
    )
    pair = await read(World(home))
    assert [file.path for file in patches.parse(pair.pull_request.code_patch).files] == ["vendor/lib", "logo.png"]
    assert pair.partial == ()


async def test_a_binary_among_many_files_has_no_patch_and_lacks_none(home: Repository) -> None:
    changes: dict[str, Any] = {f"{n}.py": ("1\n", "2\n") for n in range(300)}
    pull = home.pull(101, body="Fixes #11", changes=changes | {"logo.png": ("", "", None)})
    assert pull["files"][-1]["changes"] == 0
    pair = await read(World(home))
    assert len(pair.pull_request.files) == 301
    assert pair.partial == ()


async def test_past_three_thousand_files_the_patches_are_partial(home: Repository) -> None:
    """`/files` ends at 3,000 (docs.github.com/rest/pulls)."""
    pull = home.pull(101, body="Fixes #11", changes={f"{n}.py": ("1\n", "2\n") for n in range(3_000)})
    world = World(home)
    whole = await read(world)
    assert (len(world.asked), whole.partial) == (32, ())
    pull["changedFiles"] = 3_400
    pair = await read(world)
    assert len(pair.pull_request.files) == 3_000
    assert pair.partial == (Artifact.CODE_PATCH, Artifact.TEST_PATCH)


async def test_five_thousand_comments_are_all_read(home: Repository) -> None:
    said = [comment(f"comment {n}", 5 + n / 10_000) for n in range(5_000)]
    home.threads[11]["comments"] = said
    home.pull(101, body="Fixes #11", comments=said)
    world = World(home)
    pair = await read(world)
    assert len(pair.issues[0].comments) == len(pair.pull_request.comments) == 5_000
    assert (len(world.asked), pair.partial) == (3 + 2 * 49, ())


async def test_what_no_end_of_pages_is_seen_of_is_partial(home: Repository) -> None:
    """A server that always promises a further page is not followed for ever."""
    home.pull(101, body="Fixes #11", comments=[comment(f"{n}") for n in range(120)])
    world = World(home)
    page = {"nodes": [], "pageInfo": {"hasNextPage": True, "endCursor": "again"}}
    world.fault = lambda asked: web.json_response({"data": {"node": {"comments": page}}}) if "More" in asked else None
    pair = await read(world)
    assert (len(pair.pull_request.comments), pair.partial) == (100, (Artifact.PR_COMMENTS,))
    assert len(world.asked) == 3 + 100


# Closed doors


async def test_where_sso_is_on_the_way_in_is_told(home: Repository) -> None:
    home.pull(101)
    world = World(home)
    said = "Resource protected by organization SAML enforcement. You must grant your token access to this organization."
    refused = {"data": {"repository": None}, "errors": [{"type": "FORBIDDEN", "message": said}]}
    world.fault = lambda _: web.json_response(refused)
    with pytest.raises(GitHubError, match="Where SSO is on, authorise the token for it"):
        await read(world)
    assert len(world.asked) == 1


async def test_a_private_repositorys_author_is_read_by_whom_the_token_shows(home: Repository) -> None:
    home.private = True
    home.pull(101, body="Fixes #11", author=person("theo"))
    pair = await read(World(home))
    assert (pair.pull_request.author, [number_of(one) for one in pair.issues]) == ("theo", [(HOME, 11)])
