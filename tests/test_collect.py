"""What is read of a pull request on GitHub, against a server that executes GitHub's published schema."""

from __future__ import annotations

import graphql
import pytest
from aiohttp import web
from github_loopback import World, read
from github_world import (
    HOME,
    Repository,
    acted,
    at,
    comment,
    commit,
    day,
    edit,
    needs_schema,
    person,
    referred,
    renamed,
    review,
    schema,
    sha,
    thread,
)

from checker import signals
from checker.github import documents
from checker.github.client import NotFoundError
from checker.github.collect import Moment
from checker.pair import Pair, Related, read_pair, write_pair
from checker.report import SignalKind
from checker.taxonomy import Artifact

pytestmark = needs_schema

ISSUE_PARTS = {Artifact.ISSUE_DESCRIPTION, Artifact.ISSUE_DISCUSSION, Artifact.ISSUE_TIMELINE}


def numbers(pair: Pair) -> list[tuple[str | None, int | None]]:
    return [(issue.repository, issue.number) for issue in pair.issues]


@pytest.fixture
def home() -> Repository:
    """A repository with one issue, 11."""
    repository = Repository(HOME)
    repository.issue(11, "Comments are not skipped", "Lines with `#` fail.")
    return repository


def _all_documents() -> list[str]:
    further = [
        documents.more(kind, connection)
        for kind, connections in documents.CONNECTIONS.items()
        for connection in connections
    ]
    return [documents.PULL_REQUEST, documents.ISSUE, documents.SEARCH, documents.PULL_REQUESTS, *further]


def test_every_document_is_valid_in_githubs_published_schema() -> None:
    assert len(_all_documents()) > 10
    for document in _all_documents():
        assert graphql.validate(schema(), graphql.parse(document)) == [], document


@pytest.fixture
def ordinary(home: Repository) -> World:
    """A merged pull request with everything that one has."""
    said = [comment("Same here.", 5, "sue", role="MEMBER"), comment("Stale.", 6, "stale", bot=True)]
    home.threads[11] |= {"author": person("rita"), "comments": said}
    home.pull(
        101,
        "Skip comments",
        "Fixes #11",
        author=person("theo"),
        mergedAt=at(9),
        mergeCommit={"oid": sha("merge")},
        links=[home.threads[11]],
        commits=[commit("Skip", sha("c", 1), day=3), commit("Test", sha("c", 2), day=4)],
        comments=[comment("Thanks", 7, "mona", role="OWNER")],
        reviews=[review("Looks good.", 8, author="wes", role="MEMBER"), review("", 8), review("A draft.", None)],
        reviewThreads=[
            thread("src/a.py", 17, comment("Why?", 7.5, "wes"), comment("Because.", 7.6, "theo")),
            thread("src/b.py", None, comment("Outdated", 7.2, "wes"), original=3),
        ],
        changes={"src/a.py": ("1\n", "2\n"), "tests/test_a.py": (None, "assert\n"), "old.py": ("x\n", None)},
    )
    return World(home)


async def test_an_ordinary_pull_request_is_read_whole_in_four_requests(ordinary: World) -> None:
    pair = await read(ordinary)
    assert len(ordinary.asked) == 4
    assert (pair.id, pair.repository, pair.unread, pair.partial) == ("acme__widgets-101", HOME, (), ())
    assert read_pair(write_pair(pair)) == pair


async def test_the_pull_request_has_its_people_times_places_and_changes(ordinary: World) -> None:
    pull = (await read(ordinary)).pull_request
    assert (pull.title, pull.body, pull.author) == ("Skip comments", "Fixes #11", "theo")
    assert (pull.created_at, pull.merged_at) == (day(4), day(9))
    assert (pull.base_sha, pull.head_sha) == (sha("base"), sha("c", 2))
    assert pull.url == "https://github.com/acme/widgets/pull/101"
    assert [(c.message, c.author, c.committed_at) for c in pull.commits] == [
        ("Skip", "theo", day(3)),
        ("Test", "theo", day(4)),
    ]
    assert [(f.path, f.status, f.additions, f.deletions) for f in pull.files] == [
        ("src/a.py", "modified", 1, 1),
        ("tests/test_a.py", "added", 1, 0),
        ("old.py", "removed", 0, 1),
    ]
    assert pull.code_patch.count("diff --git") == 2
    assert pull.test_patch.startswith("diff --git a/tests/test_a.py b/tests/test_a.py\n--- /dev/null\n")


async def test_what_people_said_comes_in_the_order_of_time_with_role_and_place(ordinary: World) -> None:
    pair = await read(ordinary)
    pull, issue = pair.pull_request, pair.issues[0]
    assert [(c.body, c.author, c.association) for c in pull.comments] == [("Thanks", "mona", "OWNER")]
    assert [(c.body, c.path, c.line) for c in pull.reviews] == [
        ("Outdated", "src/b.py", 3),
        ("Why?", "src/a.py", 17),
        ("Because.", "src/a.py", 17),
        ("Looks good.", None, None),
    ]
    assert (issue.repository, issue.number, issue.author, issue.created_at) == (HOME, 11, "rita", day(4))
    assert (issue.description, issue.edited) == ("Comments are not skipped\nLines with `#` fail.", None)
    assert [(c.body, c.author, c.association, c.is_bot, c.created_at) for c in issue.comments] == [
        ("Same here.", "sue", "MEMBER", False, day(5)),
        ("Stale.", "stale", "NONE", True, day(6)),
    ]


async def test_issues_elsewhere_are_read_if_public_and_named_as_unread_if_not(home: Repository) -> None:
    tools = Repository("other/tools")
    tools.issue(5, "Totals", "We need totals.")
    vault = Repository("acme/vault", private=True)
    vault.issue(3, "SECRET", "SECRET")
    hidden = Repository("other/hidden", private=True, visible=False)
    hidden.issue(2, "SECRET", "SECRET")
    home.pull(101, body="Fixes #11, fixes other/tools#5, fixes acme/vault#3, and fixes other/hidden#2.")
    pair = await read(World(home, tools, vault, hidden))
    assert numbers(pair) == [(HOME, 11), ("other/tools", 5), ("acme/vault", 3), ("other/hidden", 2)]
    assert pair.issues[1].description == "Totals\nWe need totals."
    assert [issue.description for issue in pair.issues[2:]] == ["", ""]
    assert set(pair.partial) == ISSUE_PARTS
    assert "SECRET" not in str(write_pair(pair))


async def test_an_issue_is_linked_once_however_its_repository_is_written(home: Repository) -> None:
    home.private = True
    home.pull(101, body="Fixes #11. Closes Acme/Widgets#11.", links=[home.threads[11]])
    pair = await read(World(home))
    assert numbers(pair) == [(HOME, 11)]
    assert pair.partial == ()


async def test_what_refers_to_issue_and_pull_request_comes_with_its_merge_state_and_time(home: Repository) -> None:
    earlier = home.pull(90, "First half of skipping", mergedAt=at(3))
    later = home.pull(120, "Fix regression from #101", "Fixes #32", mergedAt=at(30))
    secret = Repository("acme/vault", private=True).issue(3, "SECRET")
    home.threads[11]["timelineItems"] = [referred(earlier), referred(earlier), referred(secret)]
    home.issue(32, "reload raises")
    home.pull(
        101,
        body="Fixes #11",
        mergedAt=at(9),
        timelineItems=[referred(later, 28), referred(home.threads[32], 27), None],
    )
    pair = await read(World(home), as_of="merge")
    assert numbers(pair) == [(HOME, 11)]
    assert pair.issues[0].mentioned_by == (
        Related(90, "First half of skipping", "pull_request", None, "merged", True, day(3), earlier["url"]),
    )
    assert pair.pull_request.mentioned_by == (
        Related(120, "Fix regression from #101", "pull_request", None, "merged", True, day(30), later["url"]),
        Related(32, "reload raises", "issue", None, "open", False, None, home.threads[32]["url"]),
    )


async def test_an_edited_and_renamed_issue_is_described_as_first_written(home: Repository) -> None:
    home.issue(
        41,
        "Options --sort and --reverse",
        "Third text",
        userContentEdits=[edit(23, "Third text"), edit(21, "Second text"), edit(18, "First text")],
        includesCreatedEdit=True,
        timelineItems=[renamed(24, "Options to sort"), renamed(22, "Option to sort")],
    )
    home.pull(101, body="Fixes #41", mergedAt=at(22.5))
    issue = (await read(World(home))).issues[0]
    assert (issue.title, issue.body) == ("Option to sort", "First text")
    assert issue.edited == "Options --sort and --reverse\nThird text"
    at_merge = (await read(World(home), as_of="merge")).issues[0]
    assert at_merge.description == issue.description
    assert at_merge.edited == "Options to sort\nSecond text"
    at_first = (await read(World(home), as_of=day(20))).issues[0]
    assert (at_first.description, at_first.edited) == (issue.description, None)


async def test_title_and_description_of_the_pull_request_are_those_of_the_moment(home: Repository) -> None:
    home.pull(
        101,
        "Skip comments and more",
        "Fixes #11. Later words.",
        mergedAt=at(9),
        userContentEdits=[edit(12, "Fixes #11. Later words."), edit(8, "Fixes #11."), edit(4, "Work in progress")],
        timelineItems=[renamed(12, "Skip comments"), renamed(6, "WIP")],
    )
    now, merge = await read(World(home)), await read(World(home), as_of="merge")
    assert (now.pull_request.title, now.pull_request.body) == ("Skip comments and more", "Fixes #11. Later words.")
    assert (merge.pull_request.title, merge.pull_request.body) == ("Skip comments", "Fixes #11.")


async def test_commits_merged_in_from_the_base_claim_nothing(home: Repository) -> None:
    home.issue(51), home.issue(52)
    base, own = sha("base"), commit("Skip blank lines, fixes #52", "a" * 40)
    foreign = [commit("Encoding. Fixes #51", "b" * 40, parents=(base,)), commit("Closes #11", "c" * 40)]
    merge = commit("Merge branch 'main'", "d" * 40, parents=("a" * 40, "c" * 40))
    home.pull(101, commits=[own, *foreign, merge, commit("Last", "e" * 40)])
    pair = await read(World(home))
    assert numbers(pair) == [(HOME, 52)]
    assert [c.message for c in pair.pull_request.commits] == [
        "Skip blank lines, fixes #52",
        "Merge branch 'main'",
        "Last",
    ]


async def test_five_digits_are_a_number_and_a_pull_requests_number_is_no_issue(home: Repository) -> None:
    home.issue(12345, "Five digits")
    home.pull(110)
    home.pull(101, body="Resolves: #12345, fixes #110, fixes #99999, fixes #101.")
    pair = await read(World(home))
    assert numbers(pair) == [(HOME, 12345)]
    assert pair.partial == ()
    assert pair.pull_request.claimed_pull_requests == (110,)
    beyond = [s.detail["number"] for s in signals.read(pair) if s.kind is SignalKind.CLOSING_REFERENCE and s.weighty]
    assert beyond == [99999]


async def test_labels_of_issue_and_pull_request_are_read(home: Repository) -> None:
    home.issue(12, labels=[{"name": "bug"}, {"name": "good first issue"}])
    home.pull(101, body="Fixes #12", labels=[{"name": "parser"}])
    pair = await read(World(home))
    assert (pair.issues[0].labels, pair.pull_request.labels) == (("bug", "good first issue"), ("parser",))


async def test_who_acted_as_a_maintainer_is_one_whatever_github_says_of_them(home: Repository) -> None:
    said = [comment("Do it so.", author=who, role=role) for who, role in (("mona", "NONE"), ("sue", "CONTRIBUTOR"))]
    said += [
        comment("Me too.", author="rita"),
        comment("Mine.", author="olga", role="OWNER"),
        comment("?", author=None),
    ]
    acts = [acted("ClosedEvent", "rita"), acted("LabeledEvent", "mona"), acted("AssignedEvent", "olga")]
    home.issue(12, comments=said, timelineItems=acts)
    merged = [acted("MergedEvent", "theo"), {**acted("LabeledEvent", "x"), "actor": None}]
    own = comment("Merging.", author="theo", role="CONTRIBUTOR")
    home.pull(101, body="Fixes #12", author=person("theo"), comments=[own], timelineItems=merged)
    pair = await read(World(home))
    assert [(c.author, c.association) for c in pair.issues[0].comments] == [
        ("mona", "COLLABORATOR"),
        ("sue", "CONTRIBUTOR"),
        ("rita", "NONE"),
        ("olga", "OWNER"),
        ("ghost", "NONE"),
    ]
    assert pair.pull_request.comments[0].association == "COLLABORATOR"


async def test_code_quotes_and_html_comments_link_nothing(home: Repository) -> None:
    for number in (71, 72, 73, 74):
        home.issue(number)
    home.pull(101, body="Not `Fixes #71`:\n\n```\nFixes #72\n```\n\n> Fixes #73\n\n<!-- Fixes #74 -->\n\nCloses #11")
    assert numbers(await read(World(home))) == [(HOME, 11)]


async def test_a_link_of_the_sidebar_needs_no_text_and_comes_before_what_texts_claim(home: Repository) -> None:
    home.issue(62), home.issue(63)
    home.pull(101, "Fix #63: usage", "Prints a usage line.", links=[home.threads[62]], commits=[commit("Closes #11")])
    assert numbers(await read(World(home))) == [(HOME, 62), (HOME, 63), (HOME, 11)]


async def test_on_another_base_than_the_default_branch_the_text_alone_links(home: Repository) -> None:
    home.pull(101, body="Fixes #11", baseRefOid=sha("release/1.x"))
    assert numbers(await read(World(home))) == [(HOME, 11)]


async def test_a_pull_request_without_an_issue_is_a_pair_without_one(home: Repository) -> None:
    home.pull(101, body="See #11. This does not fix #11.")
    pair = await read(World(home))
    assert (pair.issues, pair.unread, pair.partial) == ((), (), ())


async def test_a_deleted_account_is_called_ghost(home: Repository) -> None:
    home.threads[11]["author"] = None
    home.pull(101, body="Fixes #11", author=None, comments=[comment("I leave.", author=None)])
    pair = await read(World(home))
    assert pair.issues[0].author == pair.pull_request.author == pair.pull_request.comments[0].author == "ghost"


async def test_later_texts_are_left_out(home: Repository) -> None:
    said = [comment("early", 5), comment("at the merge", 9), comment("late", 9.1)]
    home.threads[11]["comments"] = said
    home.pull(
        101,
        body="Fixes #11",
        mergedAt=at(9),
        comments=said,
        reviews=[review("late", 10)],
        reviewThreads=[thread("a.py", 1, *said)],
    )
    expected: dict[Moment, list[str]] = {
        "now": ["early", "at the merge", "late"],
        "merge": ["early", "at the merge"],
        day(6): ["early"],
    }
    for moment, texts in expected.items():
        pair = await read(World(home), as_of=moment)
        assert [c.body for c in pair.issues[0].comments] == texts
        assert [c.body for c in pair.pull_request.comments] == texts
        assert [c.body for c in pair.pull_request.reviews if c.path] == texts
        assert len(pair.pull_request.reviews) == len(texts) + (moment == "now")
    assert pair.as_of == day(6)


async def test_what_names_the_merge_commit_is_found_by_search(home: Repository) -> None:
    merge = sha("merge")
    home.issue(80, "Slower since", f"Bisected to {merge[:12]}")
    home.pull(81, "Revert", "Reverts it", comments=[comment(f"See {merge[:12]}")])
    home.pull(101, f"Skip comments {merge[:12]}", mergedAt=at(9), mergeCommit={"oid": merge})
    world = World(home)
    pair = await read(world)
    assert [(r.kind, r.number) for r in pair.pull_request.merge_mentioned_by] == [("issue", 80), ("pull_request", 81)]
    world.fault = lambda asked: web.Response(status=502) if "query Search" in asked else None
    assert (await read(world)).unread == (Artifact.MERGE_REFERENCES,)


async def test_a_number_that_is_no_pull_request_is_said_in_a_sentence(home: Repository) -> None:
    for repository, number in ((HOME, 11), (HOME, 99), ("acme/nothing", 1)):
        with pytest.raises(NotFoundError, match="token may not see it"):
            await read(World(home), number, repository=repository)
