"""The command `paichecker-bot`: what an operator types, what is printed, and the exit status."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Coroutine, Sequence
from typing import Any

from bot import logs
from bot.app import serve
from bot.settings import SettingsError, load
from checker import __version__

_EPILOG = """\
Settings come from the environment (docs/settings.md). Without credentials of an App the server shows a set-up page.

examples:
  paichecker-bot demo                 the whole loop on this machine, without network or accounts
  paichecker-bot                      the server; the first time it prints where to set the App up
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point: parses, runs, exits."""
    options = _parser().parse_args(arguments)
    try:
        status = options.run(options)
    except SettingsError as error:
        print("\n".join(f"paichecker-bot: {line}" for line in str(error).splitlines()), file=sys.stderr)
        status = 2
    except KeyboardInterrupt:
        status = 130
    sys.exit(status)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="paichecker-bot",
        description="PAIChecker as a GitHub App: a delivery in, one comment out.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"paichecker-bot {__version__}")
    parser.set_defaults(run=_serve)
    commands = parser.add_subparsers(metavar="COMMAND")
    about = "show the whole loop on this machine: a pull request, the comment, a maintainer's answers"
    demo = commands.add_parser("demo", help=about, description=about)
    demo.add_argument("--open", action="store_true", help="leave it running, to click through in a browser")
    demo.set_defaults(run=_demo)
    return parser


def _serve(_: argparse.Namespace) -> int:
    settings = load()
    logs.set_up(settings.log_level)
    return asyncio.run(_until_stopped(lambda stop: serve(settings, _say, until=stop)))


def _demo(options: argparse.Namespace) -> int:
    from bot.demo.walk import walk

    return asyncio.run(_until_stopped(lambda stop: walk(_say, stay=stop if options.open else None)))


async def _until_stopped(run: Any) -> int:
    """SIGTERM and SIGINT let what is under way end."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    running: Coroutine[Any, Any, None] = run(stop)
    await running
    return 0


def _say(line: str) -> None:
    print(line, flush=True)
