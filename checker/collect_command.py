"""`paichecker collect`: pairs from GitHub into a file, and what `check` shares with it."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from checker import render
from checker.backends import UsageError
from checker.datasets.files import InputProblem
from checker.datasets.paper import write_record
from checker.github.address import AddressError
from checker.pair import REPOSITORY_NAME, Pair, pair_id, write_pair

if TYPE_CHECKING:
    from checker.github.client import Client
    from checker.github.collect import Moment

_EPILOG = """\
The token is taken from --token-file, GITHUB_TOKEN or GH_TOKEN; GitHub asks for one also to read what is public. An
Enterprise Server is named by GITHUB_SERVER_URL (GITHUB_API_URL and GITHUB_GRAPHQL_URL follow from it).

examples:
  paichecker collect owner/repo#123 -o pair.jsonl
  paichecker collect https://github.com/owner/repo/pull/123 --as-of merge --format paper -o pairs.jsonl
  paichecker collect --repo owner/repo --state merged --since 2025-01-01 --sample 100 --seed 7 -o sample.jsonl

With --repo each pair is written as soon as it is read; a second run with the same -o goes on where the first stopped.
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
    parser.add_argument("--state", choices=("open", "merged"), default="merged", help="of --repo: which (merged)")
    parser.add_argument("--since", type=_day, metavar="DATE", help="of --repo: merged, or opened, from this day on")
    parser.add_argument("--sample", type=positive_int, metavar="N", help="of --repo: so many of them, drawn by --seed")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="K", help="of --sample: the same draw for the same K (0)"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="JSON lines; standard output without it")
    parser.add_argument("--format", choices=("pair", "paper"), default="pair", help="our record format, or the paper's")
    add_github_options(parser)


def add_github_options(parser: argparse.ArgumentParser) -> None:
    """What every command has that reads GitHub."""
    parser.add_argument(
        "--as-of", type=moment, default="now", metavar="WHEN", help="now, merge, or a time with its zone"
    )
    parser.add_argument("--token-file", type=Path, metavar="FILE", help="where the token for GitHub stands")
    parser.add_argument("--verbose", action="store_true", help="say how many requests were made")


def moment(text: str) -> Moment:
    """The value of --as-of."""
    if text == "now":
        return "now"
    if text == "merge":
        return "merge"
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise argparse.ArgumentTypeError(f"{text!r} is neither now, merge, nor a time such as 2024-05-01T12:00:00Z")
    return time


@asynccontextmanager
async def github(options: argparse.Namespace) -> AsyncIterator[Client]:
    """A client as the options and the environment say; waits and, if asked for, the count are told."""
    from checker.github.client import connect
    from checker.github.reading import Access, TokenError

    try:
        access = Access.from_environment(os.environ, options.token_file)
    except (TokenError, AddressError) as error:
        raise UsageError(str(error)) from None
    async with connect(access.host, access.token, wait=_wait) as client:
        yield client
        if options.verbose:
            print(f"paichecker: {client.requests} requests to {access.host.web}", file=sys.stderr)


async def _wait(seconds: float, why: str) -> None:
    if seconds >= 5:
        print(f"paichecker: {why}; waiting {seconds:.0f} s", file=sys.stderr)
    await asyncio.sleep(seconds)


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no day such as 2025-01-31") from None


def positive_int(text: str) -> int:
    """The value of an option that counts."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return int(text)


def _collect(options: argparse.Namespace) -> int:
    if bool(options.addresses) == bool(options.repo):
        raise UsageError("name ADDRESSes, or a repository with --repo (see paichecker collect --help)")
    if options.repo:
        return asyncio.run(_sample(options))
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
    if options.output is None:
        raise UsageError("--repo wants a file to write to: -o FILE")
    _put(options.output, "a", "")
    held = _ids_of(options.output)
    failed = False
    async with github(options) as client:
        try:
            found = await linked_pull_requests(client, options.repo, options.state, options.since)
        except GitHubError as error:
            raise UsageError(f"--repo {options.repo}: {error}") from None
        drawn = draw(found, options.sample, options.seed)
        wanted = [n for n in drawn if pair_id(options.repo, n).casefold() not in held]
        print(f"paichecker: {len(found)} found, {len(drawn)} drawn, {len(wanted)} to be read", file=sys.stderr)
        with progress_bar("collecting", len(wanted)) as progress:
            async for one in read_each(client, [f"{options.repo}#{n}" for n in wanted], options.as_of):
                progress.advance(progress.task_ids[0])
                failed = failed or isinstance(one, InputProblem)
                if isinstance(one, InputProblem):
                    tell(one)
                else:
                    _put(options.output, "a", _line(one, options))
    return 2 if failed else 0


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
        return await read_addresses(client, options.addresses, options.as_of)


def _write(pairs: Sequence[Pair], options: argparse.Namespace) -> None:
    if options.output is not None:
        _put(options.output, "w", "".join(_line(pair, options) for pair in pairs))
        return
    for pair in pairs:
        put_out(json_line(_record(pair, options)))


def progress_bar(doing: str, total: int) -> Progress:
    """A bar on a terminal for more than one pair, else nothing.

    rich would turn standard output, also that of `> file`, to the bar's own terminal; it is left alone.
    """
    console = Console(stderr=True)
    columns = (TextColumn(doing), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    progress = Progress(
        *columns,
        TimeRemainingColumn(),
        console=console,
        transient=True,
        redirect_stdout=False,
        disable=total < 2 or not console.is_terminal,
    )
    progress.add_task("", total=total)
    return progress


class OutputError(Exception):
    """What a command has to say could not be printed; the cause is an OSError."""


def put_out(text: str) -> None:
    """Prints at once. Raises OutputError, also where the reader has gone."""
    try:
        print(text, end="", flush=True)
    except OSError as error:
        raise OutputError from error


def json_line(data: Mapping[str, Any]) -> str:
    """One line for standard output; JSON has escapes of its own for what its encoding lacks."""
    is_utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return json.dumps(data, ensure_ascii=not is_utf8) + "\n"


def tell(problem: InputProblem) -> None:
    """Says what is wrong with one input, on one line of standard error."""
    print(f"paichecker: {render.one_line(str(problem))}", file=sys.stderr)


def _put(path: Path, mode: Literal["a", "w"], text: str) -> None:
    try:
        with path.open(mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"-o {path}: it cannot be written ({error.strerror})") from None
