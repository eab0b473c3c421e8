"""Collects of one pull request over a bad wire: wrong pairs, failures by sentence, requests, seconds.

python bench/collect_faults.py --githubd-url URL --token TOKEN [--address acme/widgets#115] [--number 1000]

URL is that of githubd, a double of GitHub that makes faults to order. The right pair is read first, without faults.
A pair is wrong if a part of it differs from the right one's and is named neither in `unread` nor in `partial`.
The hour's limits are lifted, and pauses are counted but not slept: a run says what happens, not how long it would take.
The last line is JSON. The exit status is 1 if a pair was wrong or a collect took longer than `--longest` seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from checker import patches
from checker.github.address import Address, Host, parse_address
from checker.github.client import Client, GitHubError, connect
from checker.github.collect import collect
from checker.pair import Pair
from checker.taxonomy import Artifact

_CALL_SECONDS = 1.0
_AT_ONCE = 8
# Percent of all requests each; a delay of 3 s is longer than one call may take here, and so a connection that hangs.
FAULTS: tuple[dict[str, Any], ...] = (
    {"kind": "delay", "seconds": 0.1, "percent": 4},
    {"kind": "delay", "seconds": 3, "percent": 1},
    {"kind": "cut", "percent": 5},
    {"kind": "status", "status": 502, "percent": 5},
    {"kind": "secondary", "status": 403, "retry_after": 60, "percent": 3},
    {"kind": "secondary", "status": 403, "retry_after": None, "percent": 3},
    {"kind": "secondary", "status": 429, "retry_after": None, "percent": 3},
    {"kind": "truncate", "percent": 5},
)


@dataclass
class Tally:
    """What came of the collects."""

    right: int = 0
    incomplete: int = 0
    wrong: list[str] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    paused: float = 0.0

    async def pause(self, seconds: float, why: str) -> None:
        """Counts a pause instead of making it."""
        self.paused += seconds


def parts(pair: Pair) -> dict[Artifact, Any]:
    """A pair's content by artifact; diffs by their lines, as headers differ between a whole diff and its files."""
    pr, issues = pair.pull_request, pair.issues
    return {
        Artifact.ISSUE_DESCRIPTION: [(issue.repository, issue.number, issue.title, issue.body) for issue in issues],
        Artifact.ISSUE_DISCUSSION: [(issue.comments, issue.edited) for issue in issues],
        Artifact.ISSUE_TIMELINE: [issue.mentioned_by for issue in issues],
        Artifact.PR_DESCRIPTION: (pr.title, pr.body, pr.author, pr.merged_at, pr.head_sha),
        Artifact.PR_COMMITS: pr.commits,
        Artifact.PR_COMMENTS: pr.comments,
        Artifact.PR_REVIEWS: pr.reviews,
        Artifact.PR_TIMELINE: pr.mentioned_by,
        Artifact.MERGE_REFERENCES: pr.merge_mentioned_by,
        Artifact.CODE_PATCH: [(file.path, file.lines) for file in patches.parse(pr.code_patch).files],
        Artifact.TEST_PATCH: [(file.path, file.lines) for file in patches.parse(pr.test_patch).files],
    }


def differing(pair: Pair, right: Pair) -> list[Artifact]:
    """The parts that differ although the pair says that they were read whole."""
    found, wanted = parts(pair), parts(right)
    return [part for part in Artifact if pair.was_read(part) and found[part] != wanted[part]]


async def _one(client: Client, address: Address, right: Pair, tally: Tally) -> None:
    begun = time.perf_counter()
    try:
        pair = await collect(client, address)
    except GitHubError as error:
        tally.failures[re.sub(r"\d+", "N", str(error))] += 1
    else:
        if differs := differing(pair, right):
            tally.wrong.append(", ".join(differs))
        elif (pair.unread, pair.partial) == (right.unread, right.partial):
            tally.right += 1
        else:
            tally.incomplete += 1
    tally.seconds.append(time.perf_counter() - begun)


async def _control(url: str, name: str, body: dict[str, Any]) -> None:
    async with aiohttp.ClientSession() as session, session.post(f"{url}/_ctl/{name}", json=body) as answer:
        answer.raise_for_status()


async def _run(options: argparse.Namespace) -> dict[str, Any]:
    host = Host(rest=options.githubd_url, graphql=f"{options.githubd_url}/graphql")
    address, tally, gate = parse_address(options.address, host), Tally(), asyncio.Semaphore(_AT_ONCE)
    async with connect(host, options.token, call_seconds=_CALL_SECONDS, wait=tally.pause) as client:
        for resource in ("core", "graphql"):  # else a thousand collects use up the hour's own limit
            await _control(options.githubd_url, "limits", {"resource": resource, "limit": 1_000_000})
        right = await collect(client, address)
        ordinary = client.requests
        for fault in FAULTS:
            await _control(options.githubd_url, "fault", fault)

        async def one() -> None:
            async with gate:
                await _one(client, address, right, tally)

        begun = time.perf_counter()
        await asyncio.gather(*(one() for _ in range(options.number)))
        seconds = time.perf_counter() - begun
        await _control(options.githubd_url, "clear_faults", {})
    return {
        "collects": options.number,
        "right": tally.right,
        "incomplete and saying so": tally.incomplete,
        "wrong": tally.wrong,
        "failures": dict(tally.failures.most_common()),
        "requests without faults": ordinary,
        "requests": client.requests - ordinary,
        "seconds": round(seconds, 1),
        "longest seconds": round(max(tally.seconds), 1),
        "paused seconds": round(tally.paused),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--githubd-url", required=True)
    parser.add_argument("--token", required=True)
    parser.add_argument("--address", default="acme/widgets#115")
    parser.add_argument("--number", type=int, default=1_000)
    parser.add_argument("--longest", type=float, default=60, help="seconds that one collect may take")
    options = parser.parse_args(arguments)
    found = asyncio.run(_run(options))
    for name, value in found.items():
        print(f"{name}: {value}", file=sys.stderr)
    print(json.dumps(found))
    return 1 if found["wrong"] or found["longest seconds"] > options.longest else 0


if __name__ == "__main__":
    sys.exit(main())
