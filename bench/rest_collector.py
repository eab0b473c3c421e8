"""Two collectors over REST alone, to measure ours against.

The plain one asks for every list of a pull request by its own address, 100 a page, all lists at once, as the
documentation of each suggests (docs.github.com/rest). The thrifty one takes from a timeline what stands in it in full:
comments, reviews, commits; and the diff from the files' patches. REST shows no first versions of edited texts and no
sidebar links, so issues are those that title, description and commits claim.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from checker.github.address import Address
from checker.github.client import Client
from checker.links import Relation, references

Json = dict[str, Any]

_DIFF = "application/vnd.github.diff"
_CLOSES = (Relation.CLOSES, Relation.LISTED)


@dataclass(frozen=True)
class ReadIssue:
    """One linked issue as REST gives it."""

    issue: Json
    comments: list[Json]
    timeline: list[Json]


@dataclass(frozen=True)
class ReadPullRequest:
    """One pull request as REST gives it; `diff` is None where GitHub refuses it: `files` hold the patches."""

    pull: Json
    diff: str | None
    comments: list[Json]
    reviews: list[Json]
    review_comments: list[Json]
    commits: list[Json]
    files: list[Json]
    timeline: list[Json]
    issues: list[ReadIssue]
    merge_mentions: list[Json]


async def collect_by_rest(client: Client, address: Address) -> ReadPullRequest:
    """Reads a pull request with the issues that it claims to close in its own repository."""
    pull = f"/repos/{address.repository}/pulls/{address.number}"
    issue = f"/repos/{address.repository}/issues/{address.number}"
    lists = (f"{issue}/comments", f"{pull}/reviews", f"{pull}/comments", f"{pull}/commits", f"{pull}/files")
    found, diff, timeline, comments, reviews, review_comments, commits, files = await asyncio.gather(
        client.item(pull, {}),
        client.text(pull, _DIFF),
        _all(client, f"{issue}/timeline"),
        *(_all(client, path) for path in lists),
    )
    issues, mentions = await asyncio.gather(
        _issues(client, address, found, commits), _merge_mentions(client, address, found)
    )
    return ReadPullRequest(found, diff, comments, reviews, review_comments, commits, files, timeline, issues, mentions)


async def collect_thriftily(client: Client, address: Address) -> ReadPullRequest:
    """Reads the same in fewer requests; a file without a patch is one whose diff stays unread."""
    pull = f"/repos/{address.repository}/pulls/{address.number}"
    found, timeline, review_comments, files = await asyncio.gather(
        client.item(pull, {}),
        _all(client, f"/repos/{address.repository}/issues/{address.number}/timeline"),
        _all(client, f"{pull}/comments"),
        _all(client, f"{pull}/files"),
    )
    commits = [{"sha": one["sha"], "commit": one} for one in _events(timeline, "committed")]
    issues, mentions = await asyncio.gather(
        _issues(client, address, found, commits, thriftily=True), _merge_mentions(client, address, found)
    )
    comments, reviews = _events(timeline, "commented"), _events(timeline, "reviewed")
    return ReadPullRequest(found, None, comments, reviews, review_comments, commits, files, timeline, issues, mentions)


def _events(timeline: list[Json], kind: str) -> list[Json]:
    return [one for one in timeline if one["event"] == kind]


async def _all(client: Client, path: str) -> list[Json]:
    return await client.pages(f"{path}?per_page=100")


async def _issues(
    client: Client, address: Address, pull: Json, commits: list[Json], *, thriftily: bool = False
) -> list[ReadIssue]:
    claimed = _claimed(pull, commits)
    found = await asyncio.gather(*(_issue(client, address, number, thriftily=thriftily) for number in claimed))
    return [one for one in found if "pull_request" not in one.issue]


def _claimed(pull: Json, commits: list[Json]) -> list[int]:
    texts = [(pull["title"], True, True), (pull["body"] or "", False, True)]
    texts += [(one["commit"]["message"], False, False) for one in commits]
    found = (one for text, title, markdown in texts for one in references(text, title=title, markdown=markdown))
    return list(dict.fromkeys(one.number for one in found if one.relation in _CLOSES and one.repository is None))


async def _issue(client: Client, address: Address, number: int, *, thriftily: bool) -> ReadIssue:
    path = f"/repos/{address.repository}/issues/{number}"
    issue, timeline, comments = await asyncio.gather(
        client.item(path, {}),
        _all(client, f"{path}/timeline"),
        _nothing() if thriftily else _all(client, f"{path}/comments"),
    )
    return ReadIssue(issue, _events(timeline, "commented") if thriftily else comments, timeline)


async def _nothing() -> list[Json]:
    return []


async def _merge_mentions(client: Client, address: Address, pull: Json) -> list[Json]:
    if not pull["merged"]:
        return []
    words = f"repo:{address.repository} {pull['merge_commit_sha'][:12]}"
    found: list[Json] = (await client.item("/search/issues{?q,per_page}", {"q": words, "per_page": "50"}))["items"]
    return [one for one in found if one["number"] != address.number]
