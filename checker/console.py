"""What the commands share: the client of GitHub from options and environment, and what is said on which stream."""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from checker import render
from checker.agents import DEFAULT_MODEL
from checker.backends import UsageError
from checker.datasets.files import InputProblem
from checker.extras import advice
from checker.github.address import AddressError
from checker.taxonomy import Role

if TYPE_CHECKING:
    from checker.github.client import Client
    from checker.github.collect import Moment


def add_github_options(parser: argparse.ArgumentParser) -> None:
    """What every command has that reads GitHub."""
    parser.add_argument(
        "--as-of", type=moment, metavar="WHEN", help="now (the default), merge, or a time with its zone"
    )
    parser.add_argument("--token-file", type=Path, metavar="FILE", help="where the token for GitHub stands")
    parser.add_argument("--verbose", action="store_true", help="say how many requests were made")


def add_backend_options(parser: argparse.ArgumentParser) -> None:
    """What every command has that judges."""
    parser.add_argument(
        "--backend",
        choices=("auto", "rules", "anthropic"),
        default="auto",
        help="who plays the five roles; auto: a model if ANTHROPIC_API_KEY is set, else rules",
    )
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="[ROLE=]NAME",
        help=f"the model ({DEFAULT_MODEL}), or that of one role ({', '.join(Role)}); repeatable",
    )
    parser.add_argument("--prices", type=Path, metavar="FILE", help="your own prices per million tokens, as JSON")
    parser.add_argument("--no-shortcuts", action="store_true", help="ask a model also what is ruled out mechanically")


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
    async with connect(access.host, access.token, proxy=access.proxy, wait=_wait) as client:
        yield client
        if options.verbose:
            print(f"paichecker: {client.requests} requests to {access.host.web}", file=sys.stderr)


async def _wait(seconds: float, why: str) -> None:
    if seconds >= 5:
        print(f"paichecker: {why}; waiting {seconds:.0f} s", file=sys.stderr)
    await asyncio.sleep(seconds)


def positive_amount(text: str) -> float:
    """The value of an option that is an amount, such as of dollars."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no amount above 0")
    return value


def day(text: str) -> date:
    """The value of an option that is a day."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no day such as 2025-01-31") from None


def positive_int(text: str) -> int:
    """The value of an option that counts."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return int(text)


def require_eval(command: str, *modules: str) -> None:
    """Raises UsageError where the extra `eval` is not installed."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"{command} needs {', '.join(missing)}: {advice('eval')}")


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


def say(sentence: str) -> None:
    """Says something on standard error."""
    print(f"paichecker: {sentence}", file=sys.stderr)


def tell(problem: InputProblem) -> None:
    """Says what is wrong with one input, on one line of standard error."""
    print(f"paichecker: {render.one_line(str(problem))}", file=sys.stderr)
