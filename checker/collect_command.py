"""`paichecker collect`: pairs from GitHub into a file, and what `check` shares with it."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from checker import render
from checker.backends import UsageError
from checker.datasets.files import InputProblem
from checker.datasets.paper import write_record
from checker.github.address import AddressError
from checker.pair import Pair, write_pair

if TYPE_CHECKING:
    from checker.github.client import Client
    from checker.github.collect import Moment

_EPILOG = """\
The token is taken from --token-file, GITHUB_TOKEN or GH_TOKEN; GitHub asks for one also to read what is public. An
Enterprise Server is named by GITHUB_SERVER_URL (GITHUB_API_URL and GITHUB_GRAPHQL_URL follow from it).

examples:
  paichecker collect owner/repo#123 -o pair.jsonl
  paichecker collect https://github.com/owner/repo/pull/123 --as-of merge --format paper -o pairs.jsonl
"""


def add_collect(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The subcommand and its options."""
    about = "read pull requests with their issues from GitHub into a file"
    parser = commands.add_parser(
        "collect", help=about, description=about, epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.set_defaults(run=_collect)
    parser.add_argument("addresses", nargs="+", metavar="ADDRESS", help="owner/repo#123, or the pull request's page")
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


def _collect(options: argparse.Namespace) -> int:
    if options.output is not None:
        _put(options.output, "a", "")  # before anything is asked: what cannot be written would be read for nothing
    found = asyncio.run(_read(options))
    pairs = [item for item in found if isinstance(item, Pair)]
    problems = [item for item in found if isinstance(item, InputProblem)]
    for problem in problems:
        print(f"paichecker: {render.one_line(str(problem))}", file=sys.stderr)
    if pairs:
        _write(pairs, options)
    return 2 if problems else 0


async def _read(options: argparse.Namespace) -> list[Pair | InputProblem]:
    from checker.github.reading import read_addresses

    async with github(options) as client:
        return await read_addresses(client, options.addresses, options.as_of)


def _write(pairs: Sequence[Pair], options: argparse.Namespace) -> None:
    write = write_pair if options.format == "pair" else write_record
    records = [write(pair) for pair in pairs]
    if options.output is not None:
        _put(options.output, "w", "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))
        return
    # JSON has escapes of its own for what an encoding lacks.
    is_utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    for record in records:
        put_out(json.dumps(record, ensure_ascii=not is_utf8) + "\n")


class OutputError(Exception):
    """What a command has to say could not be printed; the cause is an OSError."""


def put_out(text: str) -> None:
    """Prints at once. Raises OutputError, also where the reader has gone."""
    try:
        print(text, end="", flush=True)
    except OSError as error:
        raise OutputError from error


def _put(path: Path, mode: Literal["a", "w"], text: str) -> None:
    try:
        with path.open(mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"-o {path}: it cannot be written ({error.strerror})") from None
