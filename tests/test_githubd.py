"""What is read of the hard cases of githubd, a double of GitHub that was written without sight of this collector.

PAICHECKER_GITHUBD names the folder that holds the package `githubd`, PAICHECKER_GITHUB_SCHEMA GitHub's schema.graphql.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from fakes import HERE
from githubd_server import githubd, make_world, needs_githubd

from checker import patches
from checker.github.address import Address, Host
from checker.github.client import connect
from checker.github.collect import Moment, collect
from checker.pair import Pair, write_pair
from checker.taxonomy import Artifact

_TOKEN = "ghp_mona_0000000000000000000000000000000"
_HOME = "acme/widgets"

pytestmark = needs_githubd


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A githubd with its sample world. Afterwards it must have found no defect of its own."""
    world = tmp_path_factory.mktemp("githubd") / "world.json"
    assert make_world(world, "sample", "--cases").count(f"{_HOME}#") == len(CASES)
    with githubd(world) as served:
        yield served.url
        log = served.control("log")
    assert (log["broken"], log["unmodelled"]) == ([], [])


def read(url: str, number: int, *, repository: str = _HOME, as_of: Moment = "now") -> tuple[Pair, int]:
    """The pair and the number of requests."""

    async def reading() -> tuple[Pair, int]:
        async with connect(Host(rest=url, graphql=f"{url}/graphql"), _TOKEN) as client:
            return await collect(client, Address(repository, number), as_of=as_of), client.requests

    return asyncio.run(reading())


# Linked issues of each case; (repository, number) where it is another repository.
CASES: dict[int, list[int | tuple[str, int]]] = {
    101: [11, 12],
    127: [13, 14],  # GitHub links 13 alone; the list after its keyword claims 14, too
    102: [("other/tools", 5), ("acme/vault", 3), 15],
    110: [62],
    128: [],
    109: [61],  # not linked by GitHub: the base is not the default branch
    111: [63],
    117: [],
    123: [],
    124: [83, 84],  # not linked by GitHub: a title and a commit message claim them
    12345: [12300],
    103: [],
    104: [21],
    105: [31],
    106: [32],
    107: [41],
    108: [52],
    129: [53],
    130: [],
    113: [75],
    131: [78],  # "does not fix": GitHub links it all the same
    112: [64],
    126: [85],
    114: [76],
    115: [81],
    118: [82],
    116: [86],
    120: [87],
    121: [88],
    119: [89],
    122: [91],
    125: [92],
    132: [],
}
_INCOMPLETE = {
    102: (Artifact.ISSUE_DESCRIPTION, Artifact.ISSUE_DISCUSSION, Artifact.ISSUE_TIMELINE),
    120: (Artifact.CODE_PATCH,),
}


@pytest.mark.parametrize("number", CASES)
def test_each_case_has_its_issues_and_lacks_nothing_unsaid(url: str, number: int) -> None:
    pair, requests = read(url, number)
    home = [(_HOME, one) if isinstance(one, int) else one for one in CASES[number]]
    assert [(issue.repository, issue.number) for issue in pair.issues] == home
    assert (pair.unread, pair.partial) == ((), _INCOMPLETE.get(number, ()))
    assert requests <= {102: 5, 115: 5, 121: 5, 116: 10}.get(number, 4)
    assert "SECRET" not in json.dumps(write_pair(pair))
    assert len(pair.pull_request.files) == len(_paths(pair)) or number == 120


def _paths(pair: Pair) -> set[str]:
    diffs = (pair.pull_request.code_patch, pair.pull_request.test_patch)
    return {file.path for diff in diffs for file in patches.parse(diff).files}


def test_a_private_repositorys_pull_request_is_read_with_its_own_issue(url: str) -> None:
    pair, _ = read(url, 2, repository="acme/engine")
    assert [(issue.repository, issue.number, issue.title) for issue in pair.issues] == [("acme/engine", 1, "Faster")]


def test_what_merged_around_a_pull_request_is_known_with_its_time(url: str) -> None:
    repaired, completed, reverted = read(url, 105)[0], read(url, 104)[0], read(url, 129)[0]
    later = repaired.pull_request.mentioned_by
    assert [(r.number, r.title, r.merged) for r in later] == [(106, "Fix regression from #105 in reload", True)]
    assert later[0].merged_at is not None
    assert repaired.pull_request.merged_at is not None
    assert later[0].merged_at > repaired.pull_request.merged_at
    assert [(r.number, r.merged) for r in completed.issues[0].mentioned_by] == [(103, True), (104, False)]
    assert [(r.number, r.title) for r in reverted.pull_request.mentioned_by] == [(130, 'Revert "Add Cache.size"')]


def test_an_issue_that_grew_is_described_as_first_written(url: str) -> None:
    issue = read(url, 107)[0].issues[0]
    assert issue.description == "CLI: option to sort\nPlease add `--sort`."
    assert issue.edited is not None
    assert issue.edited.startswith("CLI: options --sort and --reverse\n")
    between = read(url, 107, as_of=datetime(2025, 1, 22, tzinfo=UTC))[0].issues[0]
    assert between.edited == "CLI: option to sort\nPlease add `--sort name|size` **and** `--reverse`."


def test_commits_merged_in_from_another_branch_are_left_out(url: str) -> None:
    commits = read(url, 108)[0].pull_request.commits
    assert [c.message for c in commits] == ["Skip lines of spaces", "Merge branch 'develop' into topic-108"]
    assert len(read(url, 121)[0].pull_request.commits) == 260


def test_people_bots_and_places_of_a_long_discussion(url: str) -> None:
    pair, _ = read(url, 115)
    pull, issue = pair.pull_request, pair.issues[0]
    assert (len(pull.comments), len(issue.comments)) == (150, 150)
    assert sum(comment.is_bot for comment in pull.comments) == 6
    assert {c.association for c in issue.comments} == {"NONE", "CONTRIBUTOR", "MEMBER"}
    assert [(c.path, c.line, c.is_bot) for c in pull.reviews] == [
        (None, None, False),
        ("src/widgets/parser.py", 17, False),
        ("src/widgets/parser.py", 17, False),
        ("src/widgets/parser.py", 3, True),
    ]
    ghost = read(url, 114)[0]
    writers = {ghost.issues[0].author, ghost.pull_request.author, *(c.author for c in ghost.pull_request.comments)}
    assert writers == {"ghost"}


def test_renames_binaries_and_names_with_umlauts_stand_in_the_diff(url: str) -> None:
    pair, _ = read(url, 119)
    assert _paths(pair) == {"NOTES", "docs/manual.md", "docs/ünï cödé & more.md", "logo.png", "tests/test_parser.py"}
    assert _paths(pair) == {file.path for file in pair.pull_request.files}


def test_a_hundred_collects_over_a_bad_wire_give_no_wrong_pair_and_do_not_hang(url: str) -> None:
    bench = [sys.executable, str(HERE.parent / "bench" / "collect_faults.py"), "--number", "100"]
    done = subprocess.run(
        [*bench, "--githubd-url", url, "--token", _TOKEN], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["wrong"] == []
    assert found["right"] + found["incomplete and saying so"] + sum(found["failures"].values()) == 100
    assert found["right"] > 80
    assert found["requests"] > 100 * found["requests without faults"]
