"""Requests and seconds of our collector beside two over REST alone, for three sizes of pull request.

python bench/collect_requests.py --githubd DIR --schema FILE [--delay 0.1] [--rounds 5]

DIR holds the package githubd, a double of GitHub, which is started here; FILE is schema.graphql of
`npm pack @octokit/graphql-schema`. Each answer comes `--delay` seconds late, as over a network. The collectors take
turns, each with a new connection; seconds are medians, and in brackets is how many times ours it is. The exit status
is 1 if they did not read the same comments, files and the rest.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
from rest_collector import ReadPullRequest, collect_by_rest, collect_thriftily

from checker import patches
from checker.github.address import Address, Host
from checker.github.client import Client, connect
from checker.github.collect import collect
from checker.pair import Pair

# Name, comments (of the issue and of the pull request each), files.
SIZES = (("small", 3, 2), ("medium", 40, 20), ("large", 400, 800))
_REPOSITORY = "acme/widgets"
_TOKEN = "reader-token"
_START_SECONDS = 60
Counts = dict[str, int]
Reader = Callable[[Client, Address], Awaitable[Counts]]


def world() -> dict[str, Any]:
    """A world file: a merged pull request 101, 102, 103 of each size, which fixes issue 1, 2, 3."""
    sizes = list(enumerate(SIZES, 1))
    repository = {
        "owner": "acme",
        "name": "widgets",
        "issues": [_issue(n, comments) for n, (_, comments, _) in sizes] + [_mention(n) for n, _ in sizes],
        "pulls": [_pull(n, comments, files) for n, (_, comments, files) in sizes],
    }
    return {"tokens": {_TOKEN: "reader"}, "repositories": [repository]}


def _issue(number: int, comments: int) -> dict[str, Any]:
    return {"number": number, "title": "Totals", "body": "Totals are off.", "author": "rita", **_said(comments)}


def _mention(number: int) -> dict[str, Any]:
    return {"number": 200 + number, "title": "Slower", "body": f"Since {_sha(number)[:12]}", "author": "rita"}


def _pull(number: int, comments: int, files: int) -> dict[str, Any]:
    thread = {"path": "0.py", "line": 1, "comments": [{"author": "wes", "body": "Why?"}]}
    return {
        "number": 100 + number,
        "title": "Count once",
        "body": f"Fixes #{number}",
        "author": "theo",
        "merged_at": "2024-03-01T00:00:00Z",
        "merge_commit_sha": _sha(number),
        "commits": [{"message": f"Step {step}", "author": "theo"} for step in range(3)],
        "reviews": [{"author": "wes", "state": "APPROVED", "body": "Good."}],
        "threads": [thread],
        "files": [{"path": f"{n}.py", "patch": "@@ -1 +1 @@\n-1\n+2"} for n in range(files)],
        **_said(comments),
    }


def _said(comments: int) -> dict[str, Any]:
    return {"comments": [{"author": "sue", "body": f"Comment {n}. " + "It is off. " * 20} for n in range(comments)]}


def _sha(number: int) -> str:
    return f"{number:x}" * 40


async def ours(client: Client, address: Address) -> Counts:
    """What our collector read, by number."""
    pair = await collect(client, address)
    return _counts_of_pair(pair)


def _counts_of_pair(pair: Pair) -> Counts:
    pull, issue = pair.pull_request, pair.issues[0]
    diff = patches.parse(pull.code_patch).files + patches.parse(pull.test_patch).files
    return {
        "comments": len(pull.comments),
        "reviews": len(pull.reviews),
        "commits": len(pull.commits),
        "files": len(pull.files),
        "patches": len(diff),
        "issues": len(pair.issues),
        "comments of the issue": len(issue.comments),
        "references": len(pull.mentioned_by) + len(issue.mentioned_by),
        "references to the merge": len(pull.merge_mentioned_by),
    }


async def by_rest(client: Client, address: Address) -> Counts:
    """What the plain collector read, by number."""
    return _counts_of_rest(await collect_by_rest(client, address))


async def thriftily(client: Client, address: Address) -> Counts:
    """What the thrifty collector read, by number."""
    return _counts_of_rest(await collect_thriftily(client, address))


def _counts_of_rest(read: ReadPullRequest) -> Counts:
    issue = read.issues[0]
    reviews = [one for one in read.reviews if one["body"]] + read.review_comments
    diff = read.diff.count("diff --git ") if read.diff is not None else sum("patch" in one for one in read.files)
    references = [one for one in read.timeline + issue.timeline if one["event"] == "cross-referenced"]
    return {
        "comments": len(read.comments),
        "reviews": len(reviews),
        "commits": len(read.commits),
        "files": len(read.files),
        "patches": diff,
        "issues": len(read.issues),
        "comments of the issue": len(issue.comments),
        "references": len(references),
        "references to the merge": len(read.merge_mentions),
    }


READERS: tuple[Reader, ...] = (ours, by_rest, thriftily)


@contextmanager
def githubd(package: Path, schema: Path) -> Iterator[str]:
    """The double with our world, in a process of its own; its address."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        file = Path(folder, "world.json")
        file.write_text(json.dumps(world()), encoding="utf-8")
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        arguments = ["--world", str(file), "--port", str(port), "--schema", str(schema)]
        environment = {**os.environ, "PYTHONPATH": str(package)}
        command = [sys.executable, "-m", "githubd", *arguments]
        with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
            try:
                yield f"http://127.0.0.1:{port}"
            finally:
                process.terminate()


async def _control(url: str, name: str, body: dict[str, Any]) -> None:
    async with aiohttp.ClientSession() as session, session.post(f"{url}/_ctl/{name}", json=body) as answer:
        answer.raise_for_status()


async def _prepare(url: str, delay: float) -> None:
    """Lifts the hour's limits, and makes every answer late."""
    await _wait_for(url)
    for resource in ("core", "graphql", "search"):
        await _control(url, "limits", {"resource": resource, "limit": 1_000_000})
    await _control(url, "fault", {"kind": "delay", "seconds": delay, "percent": 100})


async def _wait_for(url: str) -> None:
    last = time.monotonic() + _START_SECONDS
    while True:
        try:
            return await _control(url, "clear_faults", {})
        except aiohttp.ClientConnectionError:
            if time.monotonic() > last:
                raise
            await asyncio.sleep(0.1)


async def _once(url: str, read: Reader, number: int) -> tuple[Counts, int, float]:
    """What was read of a pull request, in how many requests and seconds."""
    host = Host(rest=url, graphql=f"{url}/graphql")
    begun = time.perf_counter()
    async with connect(host, _TOKEN) as client:
        counts = await read(client, Address(_REPOSITORY, number))
    return counts, client.requests, time.perf_counter() - begun


async def _size(url: str, index: int, rounds: int) -> tuple[str, bool]:
    """A line of the table, and whether all read the same."""
    name, comments, files = SIZES[index]
    turns = [[await _once(url, read, 101 + index) for read in READERS] for _ in range(rounds)]
    counts = [one[0] for one in turns[0]]
    requests = [one[1] for one in turns[0]]
    seconds = [statistics.median(turn[side][2] for turn in turns) for side in range(len(READERS))]
    same = all(one == counts[0] for one in counts)
    if not same:
        print(f"{name}: {counts}", file=sys.stderr)
    cells = [*_beside(requests, "d"), *_beside(seconds, ".2f")]
    return f"| {name}: {comments} comments, {files} files | {' | '.join(cells)} |", same


def _beside(figures: Sequence[float], form: str) -> list[str]:
    """Ours, and the others with how many times ours they are."""
    mine, *others = figures
    return [f"{mine:{form}}", *(f"{one:{form}} ({one / mine:.1f})" for one in others)]


async def _run(url: str, delay: float, rounds: int) -> bool:
    await _prepare(url, delay)
    print("| size | requests | plain REST | thrifty REST | seconds | plain REST | thrifty REST |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    same = True
    for index in range(len(SIZES)):
        line, agrees = await _size(url, index, rounds)
        print(line, flush=True)
        same &= agrees
    return same


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--githubd", type=Path, required=True, metavar="DIR")
    parser.add_argument("--schema", type=Path, required=True, metavar="FILE")
    parser.add_argument("--delay", type=float, default=0.1)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    with githubd(options.githubd, options.schema) as url:
        return 0 if asyncio.run(_run(url, options.delay, options.rounds)) else 1


if __name__ == "__main__":
    sys.exit(main())
