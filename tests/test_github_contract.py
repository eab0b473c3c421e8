"""Each REST request is as GitHub's published OpenAPI description has it; what is not as described is refused."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from github_contract import Asked, contract, needs_openapi
from github_loopback import World
from github_world import HOME, Repository, at, needs_schema, sha

from checker.github.address import Address
from checker.github.client import Client
from checker.github.collect import collect
from checker.github.tools import GitHubConnections, GitHubFiles
from checker.pair import Pair, PullRequest
from checker.tools import Refused

pytestmark = [needs_openapi, needs_schema]

PAIR = Pair("acme__widgets-101", PullRequest("Fixes #11", number=101, head_sha="a" * 40), (), HOME)
DIFF = "application/vnd.github.diff"
PULL, CONTENTS = "/repos/acme/widgets/pulls/101", "/repos/acme/widgets/contents"


@pytest.fixture
def world() -> World:
    """An ordinary pull request, 101, and one with more files than a diff may have, 102."""
    home = Repository(HOME)
    home.issue(11)
    home.pull(101, body="Fixes #11", mergedAt=at(9), mergeCommit={"oid": sha("merge")})
    home.pull(102, body="Fixes #11", changes={f"{n}.py": ("1\n", "2\n") for n in range(301)})
    home.contents |= {"a.py": b"1\n", "src/deep down/ä.py": b"1\n", "src": [{"type": "file", "name": "a.py"}]}
    return World(home)


@pytest.fixture
async def client(world: World) -> AsyncIterator[Client]:
    async with world.client() as client:
        yield client


def rest(world: World) -> list[Asked]:
    return [Asked.of(request) for request in world.received if request.path != "/graphql"]


def complaints(world: World) -> list[tuple[str, list[str]]]:
    """Of each request that is not as described."""
    found = [(f"{asked.method} {asked.path}", contract().complaints(asked)) for asked in rest(world)]
    return [one for one in found if one[1]]


async def test_what_is_read_of_an_ordinary_pull_request_is_as_described(world: World, client: Client) -> None:
    await collect(client, Address(HOME, 101))
    assert [(asked.path, asked.accept) for asked in rest(world)] == [(PULL, DIFF)]
    assert complaints(world) == []


async def test_what_is_read_file_by_file_is_as_described(world: World, client: Client) -> None:
    await collect(client, Address(HOME, 102))
    assert [asked.query.get("page") for asked in rest(world)] == [None, "2", "3", "4"]
    assert complaints(world) == []


async def test_what_the_agents_read_is_as_described(world: World, client: Client) -> None:
    for path in ("a.py", "src/deep down/ä.py"):
        await GitHubFiles(client, PAIR).read(path, 1, 5)
    for path in ("src", "gone.py", "%2e%2e/a.py"):
        with pytest.raises(Refused):
            await GitHubFiles(client, PAIR).read(path, 1, 5)
    await GitHubConnections(client, PAIR).issue(11)
    assert len(rest(world)) == 5
    assert complaints(world) == []


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Asked("GET", "/repos/acme/widgets/pull/101"), "Path not found"),
        (Asked("GET", "/repos/acme/widgets/pulls/one-hundred"), "Path parameter error: pull_number"),
        (Asked("DELETE", f"{PULL}/files"), "Operation delete not found"),
        (Asked("GET", f"{PULL}/files", {"perpage": "100"}), "Unknown query parameter: perpage"),
        (Asked("GET", f"{PULL}/files", {"per_page": "many"}), "Query parameter error: per_page"),
        (Asked("GET", f"{PULL}/files", {"per_page": "101"}), "Query parameter too large: per_page"),
        (Asked("GET", PULL, {"per_page": "100"}), "Unknown query parameter: per_page"),
        (Asked("GET", "/search/issues"), "Missing required query parameter: q"),
        (Asked("GET", "/search/issues", {"q": "a", "sort": "size"}), "Invalid query parameter: sort"),
        (Asked("GET", f"{CONTENTS}/src/a.py", {"commit": "a" * 40}), "Unknown query parameter: commit"),
        (Asked("GET", "/repos/acme/widgets/content/src/a.py"), "Path not found"),
        (Asked("GET", f"{PULL}/files", accept=DIFF), f"Unknown media type: {DIFF}"),
        (Asked("GET", PULL, accept="application/vnd.github.v3+json"), "Unknown media type: application/vnd.github.v3"),
    ],
)
def test_a_request_that_is_not_as_described_is_refused(asked: Asked, said: str) -> None:
    assert len(contract().complaints(asked)) == 1
    assert contract().complaints(asked)[0].startswith(said)


@pytest.mark.parametrize("path", ["", "/", "/src", "/src/deep%20down/a.py"])
def test_contents_are_described_for_files_folders_and_the_root(path: str) -> None:
    asked = Asked("GET", f"{CONTENTS}{path}", {"ref": "a" * 40})
    assert contract().complaints(asked) == []
