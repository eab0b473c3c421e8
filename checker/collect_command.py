"""`paichecker collect`: pairs from GitHub into a file; by address, a repository's sample, or what records lack."""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, Literal

from checker.backends import UsageError
from checker.console import add_github_options, day, github, json_line, positive_int, progress_bar, put_out, tell
from checker.datasets.files import InputProblem, read_files
from checker.datasets.paper import write_record
from checker.pair import REPOSITORY_NAME, Pair, pair_id, write_pair

_EPILOG = """\
The token is taken from --token-file, GITHUB_TOKEN or GH_TOKEN; GitHub asks for one also to read what is public. An
Enterprise Server is named by GITHUB_SERVER_URL (GITHUB_API_URL and GITHUB_GRAPHQL_URL follow from it). HTTPS_PROXY and
NO_PROXY are heeded.

examples:
  paichecker collect owner/repo#123 -o pair.jsonl
  paichecker collect https://github.com/owner/repo/pull/123 --as-of merge --format paper -o pairs.jsonl
  paichecker collect --repo owner/repo --state merged --since 2025-01-01 --sample 100 --seed 7 -o sample.jsonl
  paichecker collect --complete records.jsonl -o whole.jsonl

With --repo and --complete each pair is written as soon as it is read; a second run with the same -o goes on where the
first stopped. --complete keeps what a record holds and reads what it names as missing or in part, as of the merge.
"""


def add_collect(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The subcommand and its options."""
    about = "read pull requests with their issues from GitHub into a file"
    parser = commands.add_parser(
        "collect", help=about, description=about, epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.set_defaults(run=_collect)
    parser.add_argument("addresses", nargs="*", metavar="ADDRESS", help="owner/repo#123, or the pull request's page")
    parser.add_argument(
        "--repo", metavar="OWNER/NAME", help="instead: this repository's pull requests with a linked issue"
    )
    parser.add_argument("--complete", metavar="FILE", help="instead: this file's pairs, with what they lack read")
    parser.add_argument("--state", choices=("open", "merged"), default="merged", help="of --repo: which (merged)")
    parser.add_argument("--since", type=day, metavar="DATE", help="of --repo: merged, or opened, from this day on")
    parser.add_argument("--sample", type=positive_int, metavar="N", help="of --repo: so many of them, drawn by --seed")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="K", help="of --sample: the same draw for the same K (0)"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="JSON lines; standard output without it")
    parser.add_argument("--format", choices=("pair", "paper"), default="pair", help="our record format, or the paper's")
    add_github_options(parser)


def _collect(options: argparse.Namespace) -> int:
    if sum(map(bool, (options.addresses, options.repo, options.complete))) != 1:
        raise UsageError("name ADDRESSes, or --repo, or --complete, one of the three (see paichecker collect --help)")
    if options.repo or options.complete:
        return asyncio.run(_sample(options) if options.repo else _complete(options))
    if options.output is not None:
        _put(options.output, "a", "")  # before anything is asked: what cannot be written would be read for nothing
    found = asyncio.run(_read(options))
    pairs = [item for item in found if isinstance(item, Pair)]
    problems = [item for item in found if isinstance(item, InputProblem)]
    for problem in problems:
        tell(problem)
    if pairs:
        _write(pairs, options)
    return 2 if problems else 0


async def _sample(options: argparse.Namespace) -> int:
    """Draws, leaves out what the file holds already, and adds each pair as soon as it is read."""
    from checker.github.client import GitHubError
    from checker.github.reading import read_each
    from checker.github.sample import draw, linked_pull_requests

    if not re.fullmatch(REPOSITORY_NAME, options.repo):
        raise UsageError(f"--repo {options.repo}: write it as owner/name")
    held = _held(options)
    async with github(options) as client:
        try:
            found = await linked_pull_requests(client, options.repo, options.state, options.since)
        except GitHubError as error:
            raise UsageError(f"--repo {options.repo}: {error}") from None
        drawn = draw(found, options.sample, options.seed)
        wanted = [n for n in drawn if pair_id(options.repo, n).casefold() not in held]
        print(f"paichecker: {len(found)} found, {len(drawn)} drawn, {len(wanted)} to be read", file=sys.stderr)
        each = read_each(client, [f"{options.repo}#{n}" for n in wanted], options.as_of or "now")
        return await _add_each(each, len(wanted), options)


async def _complete(options: argparse.Namespace) -> int:
    """Adds each pair of the file, filled from GitHub; what cannot be read is told, and tried again by the next run."""
    from checker.github.complete import complete_each

    held = _held(options)
    _refuse_the_same(options.complete, options.output)
    read = list(read_files([options.complete]))
    problems = [item for item in read if isinstance(item, InputProblem)]
    for problem in problems:
        tell(problem)
    pairs = [item for item in read if isinstance(item, Pair)]
    wanted = [pair for pair in pairs if pair.id.casefold() not in held]
    print(f"paichecker: {len(pairs)} pairs, {len(wanted)} to be completed", file=sys.stderr)
    async with github(options) as client:
        if wanted and not client.oauth_token:
            web = client.host.web
            raise UsageError(
                f"{web} shows pull requests only to a token's holder: set GITHUB_TOKEN, or --token-file FILE"
            )
        status = await _add_each(complete_each(client, wanted, options.as_of or "merge"), len(wanted), options)
    return 2 if problems else status


def _refuse_the_same(source: str, target: Path) -> None:
    if Path(source).exists() and target.samefile(source):
        raise UsageError(f"-o {target}: it is the file that is completed; name another one")


async def _add_each(each: AsyncIterator[Pair | InputProblem], total: int, options: argparse.Namespace) -> int:
    failed = False
    with progress_bar("collecting", total) as progress:
        async for one in each:
            progress.advance(progress.task_ids[0])
            failed = failed or isinstance(one, InputProblem)
            if isinstance(one, InputProblem):
                tell(one)
            else:
                _put(options.output, "a", _line(one, options))
    return 2 if failed else 0


def _held(options: argparse.Namespace) -> set[str]:
    """The ids of the pairs that the output holds; tells before anything is asked where it cannot be written."""
    if options.output is None:
        raise UsageError(f"--{'repo' if options.repo else 'complete'} wants a file to write to: -o FILE")
    _put(options.output, "a", "")
    return _ids_of(options.output)


def _ids_of(path: Path) -> set[str]:
    """The ids, in small letters, of the pairs that a file holds; a last line that a stop cut short is taken away."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        _put(path, "w", "".join(lines[:-1]))
        lines.pop()
    try:
        records = [json.loads(line) for line in lines if line.strip()]
        return {str(record.get("id", record.get("instance_id"))).casefold() for record in records}
    except (ValueError, AttributeError):
        raise UsageError(f"-o {path}: it holds something else than pairs; name another file") from None


def _line(pair: Pair, options: argparse.Namespace) -> str:
    return json.dumps(_record(pair, options), ensure_ascii=False) + "\n"


def _record(pair: Pair, options: argparse.Namespace) -> dict[str, Any]:
    return write_pair(pair) if options.format == "pair" else write_record(pair)


async def _read(options: argparse.Namespace) -> list[Pair | InputProblem]:
    from checker.github.reading import read_addresses

    async with github(options) as client:
        return await read_addresses(client, options.addresses, options.as_of or "now")


def _write(pairs: Sequence[Pair], options: argparse.Namespace) -> None:
    if options.output is not None:
        _put(options.output, "w", "".join(_line(pair, options) for pair in pairs))
        return
    for pair in pairs:
        put_out(json_line(_record(pair, options)))


def _put(path: Path, mode: Literal["a", "w"], text: str) -> None:
    try:
        with path.open(mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"-o {path}: it cannot be written ({error.strerror})") from None
