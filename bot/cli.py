"""The command `paichecker-bot`: what an operator types, what is printed, and the exit status."""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from bot import logs
from bot.app import open_database, serve
from bot.auth import Installations, connect_app
from bot.doing import refresh_thumbs
from bot.settings import LogLevel, NotConfigured, Settings, SettingsError, load, unknown
from bot.store import Store
from bot.work import threaded
from checker import __version__
from checker.console import day
from checker.pair import REPOSITORY_NAME

if TYPE_CHECKING:
    _Commands = argparse._SubParsersAction[argparse.ArgumentParser]

_EPILOG = """\
Settings come from the environment (docs/settings.md). Without credentials of an App the server shows a set-up page.

examples:
  paichecker-bot demo                 the whole loop on this machine, without network or accounts
  paichecker-bot                      the server; the first time it prints where to set the App up
  paichecker-bot doctor               whether the live App works, and what to mend
  paichecker-bot backfill owner/repo  check what was open before the App came, without showing it
  paichecker-bot study --since 2026-01-01
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
    except BrokenPipeError:
        # The reader has gone (`| head -1`); what is still in the buffer would raise again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 128 + 13
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
    _add_doctor(commands)
    _add_backfill(commands)
    _add_study(commands)
    return parser


def _add_doctor(commands: _Commands) -> None:
    about = "look whether the App works: credentials, permissions, webhook, deliveries, database, and one real reading"
    doctor = commands.add_parser(
        "doctor", help=about, description=f"{about}. Status 0: all is well, 1: look, 2: it fails."
    )
    doctor.set_defaults(run=_doctor)


def _add_backfill(commands: _Commands) -> None:
    about = "check the open pull requests of a repository that were there before the App"
    more = "The running server checks them. They are recorded and not shown, unless --show is given."
    backfill = commands.add_parser("backfill", help=about, description=f"{about}. {more}")
    backfill.add_argument("repository", metavar="OWNER/NAME", type=_repository)
    backfill.add_argument("--show", action="store_true", help="post comments and check runs, as for new ones")
    backfill.set_defaults(run=_backfill)


def _add_study(commands: _Commands) -> None:
    about = "how often findings were confirmed and disputed, per label and repository, with intervals"
    study = commands.add_parser("study", help=about, description=f"{about} (docs/feedback.md)")
    study.add_argument("repositories", nargs="*", metavar="OWNER/NAME", type=_repository, help="only these")
    study.add_argument("--since", type=day, metavar="DATE", help="only checks from this day on (UTC)")
    study.add_argument("--format", choices=("text", "json", "csv"), default="text")
    study.set_defaults(run=_study)


def _repository(text: str) -> str:
    if not re.fullmatch(REPOSITORY_NAME, text):
        raise argparse.ArgumentTypeError(f"{text[:200]!r} is no repository; write owner/name")
    return text


def _serve(_: argparse.Namespace) -> int:
    settings = load()
    logs.set_up(settings.log_level)
    for sentence in unknown():
        print(f"paichecker-bot: {sentence}", file=sys.stderr)
    return asyncio.run(_until_stopped(lambda stop: serve(settings, _say, until=stop)))


def _demo(options: argparse.Namespace) -> int:
    from bot.demo.walk import walk

    async def shown(stop: asyncio.Event) -> None:
        walking = asyncio.create_task(walk(_say, stay=stop if options.open else None))
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait((walking, stopped), return_when=asyncio.FIRST_COMPLETED)
        if stop.is_set() and not options.open:
            walking.cancel()
        stopped.cancel()
        with suppress(asyncio.CancelledError):
            await walking

    return asyncio.run(_until_stopped(shown))


def _settings() -> Settings:
    settings = load()
    if isinstance(settings, NotConfigured):
        raise SettingsError("this App is not set up yet; start `paichecker-bot` and open the address that it prints")
    logs.set_up(LogLevel.WARNING)
    return settings


def _doctor(_: argparse.Namespace) -> int:
    from bot.doctor import examine

    return asyncio.run(_with_app(_settings(), lambda settings, app, store: examine(settings, app, store, _say)))


def _backfill(options: argparse.Namespace) -> int:
    from bot.backfill import BackfillError, backfill

    try:
        asyncio.run(backfill(_settings(), options.repository, show=options.show, say=_say))
    except BackfillError as error:
        raise SettingsError(str(error)) from None
    return 0


def _study(options: argparse.Namespace) -> int:
    from bot.study import study
    from bot.study_formats import as_csv, as_json, as_text

    form = {"text": as_text, "json": as_json, "csv": as_csv}[options.format]

    async def read(_: Settings, app: Installations, store: Store) -> int:
        await refresh_thumbs(app, store, options.repositories)
        print(form(await threaded(study, store, repositories=options.repositories, since=options.since)), end="")
        return 0

    return asyncio.run(_with_app(_settings(), read))


async def _with_app(settings: Settings, use: Callable[[Settings, Installations, Store], Awaitable[int]]) -> int:
    store = await threaded(open_database, settings)
    try:
        async with connect_app(settings.github, settings.app_id, settings.private_key) as app:
            return await use(settings, app, store)
    finally:
        store.close()


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
