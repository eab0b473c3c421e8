"""The command `paichecker`: what a person types, what is printed, and the exit status."""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import logging
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from pydantic import ValidationError
from rich.progress import Progress

from checker import __version__, render, transcript
from checker.audit_command import add_audit
from checker.backends import BackendChoice, UsageError, asking, with_live_tools
from checker.collect_command import add_collect
from checker.console import (
    OutputError,
    add_backend_options,
    add_github_options,
    github,
    json_line,
    positive_amount,
    positive_int,
    progress_bar,
    put_out,
    tell,
)
from checker.datasets.files import InputProblem, read_files
from checker.evaluate_command import add_evaluate
from checker.github.address import looks_like_address
from checker.method_options import METHOD_EXAMPLES, add_method_options, choose_checker
from checker.pair import Pair
from checker.panel import Checker
from checker.replay import replay
from checker.report import Report, Verdict, write_report
from checker.report_command import add_report
from checker.study_command import add_study

NONE_MISALIGNED, SOME_MISALIGNED, BAD_INPUT, SOME_UNDETERMINED = 0, 1, 2, 3

_EPILOG = """\
exit status:
  0  no misalignment was found        2  usage or input: the message says what to mend
  1  some pair is misaligned          3  some pair is undetermined, none misaligned

examples:
  paichecker check --examples                         the bundled pairs, with rules, no key needed
  paichecker check owner/repo#123                     a pull request on GitHub (token: GITHUB_TOKEN)
  paichecker check pair.json                          one pair, as text
  paichecker check pairs.jsonl.gz --format json       one report a line
  paichecker check pairs.jsonl --id astropy__astropy-13033
  ANTHROPIC_API_KEY=... paichecker check pair.json --model coordinator=claude-opus-5-5
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point: parses, runs, exits."""
    options = _parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal of another encoding shows what it cannot write as a code point.
        sys.stdout.reconfigure(errors="backslashreplace")
    logging.basicConfig(format="paichecker: %(message)s", level=logging.WARNING)
    try:
        status = options.run(options)
    except UsageError as error:
        print(f"paichecker: {error}", file=sys.stderr)
        status = BAD_INPUT
    except KeyboardInterrupt as stop:
        print(f"paichecker: {str(stop) or options.stopped}", file=sys.stderr)
        status = 130
    except OutputError as error:
        # What is still in the buffer would raise again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = _report_output_error(error)
    sys.exit(status)


def _report_output_error(error: OutputError) -> int:
    """A reader that has gone (`| head -1`) is told nothing; the status is the one that a shell gives to SIGPIPE."""
    if isinstance(error.__cause__, BrokenPipeError):
        return 128 + 13
    print(f"paichecker: the report cannot be written ({error.__cause__})", file=sys.stderr)
    return BAD_INPUT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="paichecker", description="Does a pull request do exactly what its linked issue asks?"
    )
    parser.add_argument("--version", action="version", version=f"paichecker {__version__}")
    parser.set_defaults(stopped="stopped")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_check(commands)
    add_collect(commands)
    add_audit(commands)
    add_report(commands)
    add_evaluate(commands)
    add_study(commands)
    _add_replay(commands)
    return parser


def _add_check(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = "check pull requests against their issues, from GitHub or from files"
    parser = commands.add_parser(
        "check",
        help=about,
        description=about,
        epilog=_EPILOG + METHOD_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=_check, stopped="stopped; finished replies of a model are kept for the next run")
    parser.add_argument(
        "inputs",
        nargs="*",
        metavar="FILE|ADDRESS",
        help="pairs as JSON or JSONL, either gzipped, - for standard input; or owner/repo#123 or its page",
    )
    parser.add_argument("--examples", action="store_true", help="check the example pairs that come with PAIChecker")
    parser.add_argument("--id", action="append", default=[], metavar="ID", help="only this pair (repeatable)")
    add_backend_options(parser)
    parser.add_argument(
        "--format", choices=("text", "markdown", "json"), default="text", help="json: one report a line"
    )
    parser.add_argument("--transcripts", type=Path, metavar="DIR", help="keep the full record of each check here")
    parser.add_argument("--replies", type=Path, metavar="DIR", help="where a model's replies are kept (below ~/.cache)")
    parser.add_argument(
        "--budget-tokens",
        type=positive_int,
        default=200_000,
        metavar="N",
        help="for one check, of a panel for each member (200,000)",
    )
    parser.add_argument(
        "--budget-dollars", type=positive_amount, metavar="X", help="for one check, of a panel for each member"
    )
    parser.add_argument("--jobs", type=positive_int, default=1, metavar="N", help="check so many pairs at once (1)")
    add_github_options(parser)
    add_method_options(parser)


def _add_replay(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = "run a check again from its transcript: no model is asked, the report is the same to the letter"
    parser = commands.add_parser("replay", help="run a check again from its transcript", description=about)
    parser.set_defaults(run=_replay)
    parser.add_argument("transcripts", nargs="+", type=Path, metavar="TRANSCRIPT")
    parser.add_argument("--format", choices=("text", "markdown", "json"), default="text")


def _check(options: argparse.Namespace) -> int:
    if bool(options.inputs) == options.examples:
        said = (
            "leave out FILE and ADDRESS, or --examples" if options.examples else "name a FILE or ADDRESS, or --examples"
        )
        raise UsageError(f"{said} (see paichecker check --help)")
    choice = BackendChoice(
        backend=options.backend,
        models=tuple(options.model),
        replies=options.replies,
        prices=options.prices,
        budget_tokens=options.budget_tokens,
        budget_dollars=options.budget_dollars,
    )
    checker = choose_checker(
        options, os.environ, choice, shortcuts=not options.no_shortcuts, transcripts=options.transcripts
    )
    _make_folder(options.transcripts)
    addresses = [text for text in options.inputs if looks_like_address(text) and not Path(text).exists()]
    files = _example_files() if options.examples else [text for text in options.inputs if text not in addresses]
    found = list(read_files(files, options.id if files else ()))
    return asyncio.run(_read_and_check(found, addresses, checker, options))


async def _read_and_check(
    found: list[Pair | InputProblem], addresses: Sequence[str], checker: Checker, options: argparse.Namespace
) -> int:
    """What files held first, then the addresses; over GitHub's pairs the agents' tools are live."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(asking(checker.backends))
        if addresses:
            from checker.github.reading import read_addresses

            client = await stack.enter_async_context(github(options))
            read = await read_addresses(client, addresses, options.as_of or "now")
            ids = {pair.id for pair in read if isinstance(pair, Pair)}
            checker = checker.over(lambda backend: with_live_tools(backend, client, ids))
            held = {item.id for item in found if isinstance(item, Pair)}
            found += [item for item in read if not (isinstance(item, Pair) and item.id in held)]
        pairs = [item for item in found if isinstance(item, Pair)]
        problems = [item for item in found if isinstance(item, InputProblem)]
        for problem in problems:
            tell(problem)
        with progress_bar("checking", len(pairs)) as progress:
            reports = await _check_all(pairs, checker, options, progress)
    return BAD_INPUT if problems else _status(reports)


def _make_folder(folder: Path | None) -> None:
    """Before anything is asked: a check whose record cannot be written would be paid for nothing."""
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".paichecker"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise UsageError(f"--transcripts {folder}: it cannot be written to ({error.strerror})") from None


def _example_files() -> list[str]:
    from importlib import resources

    inside = Path(str(resources.files("checker"))) / "examples"
    folder = inside if inside.is_dir() else Path(__file__).parent.parent / "examples"
    return sorted(str(path) for path in folder.glob("*.json"))


async def _check_all(
    pairs: Sequence[Pair], checker: Checker, options: argparse.Namespace, progress: Progress
) -> list[Report]:
    """Reports are printed in the order of the input, each as soon as it and all before it are there."""
    reports: list[Report] = []
    misaligned = 0
    shares_screen = not progress.disable and sys.stdout.isatty()
    async for report in _in_order(pairs, checker, options.jobs):
        reports.append(report)
        misaligned += report.verdict is Verdict.MISALIGNED
        progress.update(progress.task_ids[0], advance=1, description=f"{misaligned} misaligned")
        if shares_screen:
            progress.stop()  # takes the bar away, which would stand in the report
        _show(report, options.format, first=len(reports) == 1)
        if shares_screen:
            progress.start()
    return reports


async def _in_order(pairs: Sequence[Pair], checker: Checker, jobs: int) -> AsyncIterator[Report]:
    gate = asyncio.Semaphore(jobs)

    async def one(pair: Pair) -> Report:
        async with gate:
            return await checker(pair)

    tasks = [asyncio.create_task(one(pair)) for pair in pairs]
    try:
        for task in tasks:
            yield await task
    finally:
        for task in tasks:
            task.cancel()


def _show(report: Report, form: str, *, first: bool) -> None:
    if form == "json":
        text = json_line(write_report(report))
    else:
        text = render.as_text(report) if form == "text" else render.as_markdown(report)
        text = text if first else f"\n{text}"
    put_out(text)


def _status(reports: Sequence[Report]) -> int:
    verdicts = {report.verdict for report in reports}
    if Verdict.MISALIGNED in verdicts:
        return SOME_MISALIGNED
    return SOME_UNDETERMINED if Verdict.UNDETERMINED in verdicts else NONE_MISALIGNED


def _replay(options: argparse.Namespace) -> int:
    reports: list[Report] = []
    for path in options.transcripts:
        report = _replayed(path)
        _show(report, options.format, first=not reports)
        reports.append(report)
    return _status(reports)


def _replayed(path: Path) -> Report:
    try:
        return asyncio.run(replay(_transcript(path)))
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise UsageError(f"{path}: this is no whole transcript (field {render.one_line(where)[:100]})") from None


def _transcript(path: Path) -> Mapping[str, object]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no JSON"
        raise UsageError(f"{path}: it cannot be read as a transcript ({reason})") from None
    if not isinstance(data, dict) or data.get("schema") != transcript.SCHEMA:
        raise UsageError(f"{path}: this is no transcript; --transcripts DIR writes them")
    return data
