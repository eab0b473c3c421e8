"""The agents' tools over a live GitHub: what they read, what they refuse, and in which words."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from github_loopback import World
from github_world import HOME, Repository, at, needs_schema, referred

from checker.github.client import Client
from checker.github.tools import GitHubConnections, GitHubFiles
from checker.pair import Pair, PullRequest
from checker.taxonomy import Artifact
from checker.tools import LONGEST_READ, Refused, connection_tools

pytestmark = needs_schema

PAIR = Pair("acme__widgets-101", PullRequest("Fixes #11", number=101, head_sha="a" * 40), (), HOME)


@pytest.fixture
def home() -> Repository:
    repository = Repository(HOME)
    repository.issue(11, "Comments are not skipped", "Lines with `#` fail.")
    repository.pull(90, "First half", "Part of #11", mergedAt=at(3))
    return repository


@pytest.fixture
def world(home: Repository) -> World:
    return World(home)


@pytest.fixture
async def client(world: World) -> AsyncIterator[Client]:
    async with world.client() as client:
        yield client


async def test_an_issues_text_may_be_quoted_under_its_name(client: Client) -> None:
    found = await GitHubConnections(client, PAIR).issue(11)
    text = found.texts[0]
    assert (text.name, text.artifact) == ("related/issue/11", Artifact.ISSUE_TIMELINE)
    assert text.body == "Comments are not skipped\nLines with `#` fail."
    assert text.url == "https://github.com/acme/widgets/issues/11"
    assert found.note == "issue 11, open, quotable as related/issue/11."


async def test_a_pull_request_comes_with_its_merge_state_and_its_files(client: Client, home: Repository) -> None:
    home.pull(91, "Wide", "Open.", changes={f"{n:03}.py": ("1\n", "2\n") for n in range(60)})
    connections = GitHubConnections(client, PAIR)
    merged, wide = await connections.pull_request(90), await connections.pull_request(91)
    assert merged.texts[0].body == "First half\nPart of #11"
    assert merged.note == (f"pull request 90, merged {at(3)}, quotable as related/pr/90. It changes 1 files: a.py.")
    assert wide.note.startswith("pull request 91, open, not merged, quotable as related/pr/91. It changes 60 files: ")
    assert wide.note.endswith("048.py, 049.py, and others.")


async def test_a_long_text_says_that_it_is_cut(client: Client, home: Repository) -> None:
    home.issue(12, "Long", "x" * 5_000)
    found = await GitHubConnections(client, PAIR).issue(12)
    assert len(found.texts[0].body) == len("Long\n") + 4_000
    assert found.note.endswith("cut to 4,000 of its 5,000 characters.")


async def test_what_refers_to_an_issue_or_a_pull_request_is_listed_but_for_private_places(
    client: Client, home: Repository
) -> None:
    secret = Repository("acme/vault", private=True).issue(3, "SECRET")
    public = Repository("other/tools").issue(5, "Totals")
    sources = [home.threads[90], home.threads[90], secret, public]
    home.threads[11]["timelineItems"] = [None, *(referred(source) for source in sources)]
    home.threads[90]["timelineItems"] = [referred(home.threads[11])]
    connections = GitHubConnections(client, PAIR)
    to_issue, to_pull = await connections.cross_references(11), await connections.cross_references(90)
    assert to_issue.note.splitlines() == [
        f"pull request 90 (merged {at(3)}): First half",
        "issue 5 of other/tools (open): Totals",
    ]
    assert to_pull.note == "issue 11 (open): Comments are not skipped"


async def test_a_search_lists_what_holds_all_words_by_kind(client: Client, home: Repository) -> None:
    home.pull(91, "Skip comments", "As in #11.")
    home.issue(12, "Skipped tests")
    tools = connection_tools(GitHubConnections(client, PAIR))
    found = {
        kind: (await tools.call("search", {"words": "comments, skip!", **({"kind": kind} if kind else {})})).note
        for kind in ("", "issue", "pull_request")
    }
    issue, pull = "issue 11 (open): Comments are not skipped", "pull request 91 (open): Skip comments"
    assert found == {"": f"{issue}\n{pull}", "issue": issue, "pull_request": pull}
    assert (await tools.call("search", {"words": "haystack"})).note == 'Nothing holds all of these words: "haystack"'


async def test_a_search_cannot_leave_the_repository(client: Client, world: World, home: Repository) -> None:
    tools = connection_tools(GitHubConnections(client, PAIR))
    for words in (
        "repo:acme/vault secret",
        'x" OR repo:acme/vault "',
        "-repo:acme/widgets user:acme",
        "(a OR b) NOT c",
    ):
        await tools.call("search", {"words": words})
    for query in world.searches:
        outside = re.sub(r'"[^"]*"', "", query).split()
        assert outside == ["repo:acme/widgets"], query
    assert len(world.searches) == 4
    with pytest.raises(Refused, match="Give one word"):
        await tools.call("search", {"words": "::  --"})


async def test_a_folder_lists_its_entries_with_what_they_are(client: Client, home: Repository) -> None:
    tree = "https://api.github.com/repos/other/lib/git/trees/abc"
    entries = [
        {"path": "src/a.py", "type": "file", "git_url": "https://api.github.com/repos/acme/widgets/git/blobs/1"},
        {"path": "src/lib", "type": "file", "git_url": tree},
        {"path": "src/inner", "type": "dir", "git_url": tree},
    ]
    home.contents |= {"src": entries, "": entries[:1], "a.py": b"1", "many": entries[:1] * 250}
    files = GitHubFiles(client, PAIR)
    assert await files.folder("src") == "src/a.py (file)\nsrc/lib (submodule)\nsrc/inner (dir)"
    assert await files.folder("") == "src/a.py (file)"
    assert (await files.folder("many")).endswith("There are 250 entries; the first 200 are listed.")
    for path, said in (("a.py", "use read_file"), ("gone", "gone could not be read"), ("../x", "without '.'")):
        with pytest.raises(Refused, match=said):
            await files.folder(path)


@pytest.mark.parametrize("many", [60, 130])
async def test_a_list_that_is_cut_says_so(client: Client, home: Repository, many: int) -> None:
    home.threads[11]["timelineItems"] = [referred(home.issue(1000 + n)) for n in range(many)]
    lines = (await GitHubConnections(client, PAIR).cross_references(11)).note.splitlines()
    assert len(lines) == 51
    assert lines[-1] == "There is more; it was not listed."


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("get_issue", {"number": 90}, "90 is a pull request; use get_pull_request."),
        ("get_pull_request", {"number": 11}, "11 is an issue; use get_issue."),
        ("get_issue", {"number": 99}, "There is no issue or pull request 99 in acme/widgets."),
        ("list_cross_references", {"number": 99}, "There is no issue or pull request 99 in acme/widgets."),
        ("get_issue", {"number": "../../other"}, "get_issue: number: Input should be a valid integer"),
        ("get_issue", {"number": 11, "repository": "acme/vault"}, "Extra inputs are not permitted"),
    ],
)
async def test_what_cannot_be_asked_is_refused_in_words(
    client: Client, tool: str, arguments: dict[str, object], said: str
) -> None:
    with pytest.raises(Refused, match=said):
        await connection_tools(GitHubConnections(client, PAIR)).call(tool, arguments)


async def test_a_github_that_fails_is_a_refusal_too(client: Client, world: World) -> None:
    world.fault = lambda _: web.Response(status=502)
    with pytest.raises(Refused, match=r"^11 could not be read: .* gave no answer in 5 attempts"):
        await GitHubConnections(client, PAIR).issue(11)
    with pytest.raises(Refused, match=r"^a\.py could not be read: .* gave no answer in 5 attempts"):
        await GitHubFiles(client, PAIR).read("a.py", 1, 2)


async def test_a_file_is_read_at_the_head_and_its_lines_are_numbered(client: Client, home: Repository) -> None:
    home.contents["src/ünï #1?.py"] = b"one\r\ntwo \x0c two\nthree\n"
    read = await GitHubFiles(client, PAIR).read("src/ünï #1?.py", 2, 9)
    assert read == "2\ttwo \x0c two\n3\tthree\nsrc/ünï #1?.py has 3 lines; 2 are shown."


async def test_a_long_file_and_long_lines_are_bounded(client: Client, home: Repository) -> None:
    home.contents |= {"long.py": b"x\n" * 5_000, "wide.js": b"y" * 900_000}
    files = GitHubFiles(client, PAIR)
    for first in (-50, 1):
        shown = (await files.read("long.py", first, 10_000)).splitlines()
        assert shown[-1] == f"long.py has 5000 lines; {LONGEST_READ} are shown."
        assert shown[0] == "1\tx"
    wide = await files.read("wide.js", 1, 1)
    assert len(wide) < 600
    assert "[cut: 900,000 characters]" in wide


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("../../../acme/vault/contents/a.py", "without '.' and '..'"),
        ("/etc/passwd", "without '.' and '..'"),
        ("src/./a.py", "without '.' and '..'"),
        ("src//a.py", "without '.' and '..'"),
        ("", "without '.' and '..'"),
        ("src", "src is a folder, a submodule or a link"),
        ("vendor/lib", "vendor/lib is a folder, a submodule or a link"),
        ("logo.png", "The file is no text."),
        ("nul.txt", "The file is no text."),
        ("big.csv", "larger than 1 MB"),
        ("gone.py", "gone.py could not be read: https://github.com knows no such thing"),
        ("%2e%2e/a.py", "could not be read"),
    ],
)
async def test_what_is_no_readable_file_is_refused_in_words(
    client: Client, home: Repository, path: str, said: str
) -> None:
    home.contents |= {
        "src": [{"type": "file", "name": "a.py"}],
        "vendor/lib": {"type": "submodule"},
        "logo.png": b"\x89PNG\xff",
        "nul.txt": b"a\0b",
        "big.csv": b"1,2\n" * 300_000,
    }
    with pytest.raises(Refused) as refused:
        await GitHubFiles(client, PAIR).read(path, 1, 5)
    assert said in str(refused.value)
