"""`paichecker audit`: a whole data set judged, resumably, into a folder of results with a summary at the end."""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from checker import __version__
from checker.account import Account
from checker.agents import ModelBackend
from checker.audit_folder import FAILURES, PARQUET, RESULTS, SPENDING, AuditFolder, AuditFolderError
from checker.audit_summary import Tally, Unfinished, dollars_said, summary, tokens_said
from checker.audit_workers import Work, prices_of, run, shared_account
from checker.backbones import described, read_backbones
from checker.backends import UsageError
from checker.console import add_backend_options, positive_amount, positive_int, progress_bar, put_out, say, tell
from checker.datasets.files import InputProblem, read_files, read_ids
from checker.datasets.sampling import draw
from checker.datasets.sources import STANDARD_INPUT
from checker.evaluation.outside import OutsideBackend
from checker.extras import advice
from checker.method_options import add_method_options
from checker.model import CannotKeep
from checker.pair import Pair
from checker.panel import Checker
from checker.prices import price_of
from checker.taxonomy import PIPELINE

AUDITED, BAD_INPUT, NOT_FINISHED = 0, 2, 4
_JOBS = 16

_EPILOG = """\
SOURCE is a file (JSON, JSON lines, CSV, each also gzipped, Parquet) in PAIChecker's own format, the paper's, or that of
SWE-bench, SWE-Gym, SWE-rebench, SWE-PolyBench or Multi-SWE-bench; or the name of a data set on the Hugging Face Hub,
with its split. What a data set lacks is unread; paichecker collect --complete reads it from GitHub beforehand.

The audit goes on where it was stopped, by whatever, when the same command is given again: what is finished is not
judged again, and no reply of a model is paid twice. --budget and --budget-tokens hold for all runs together.

in DIR:
  results.jsonl     one line a pair: verdict, labels, evidence, and what to do: keep, repair, drop, or look
  results.parquet   the same as a table (needs the extra parquet: docs/auditing.md)
  failures.jsonl    pairs whose check failed, and why; --retry-failed judges them again
  unreadable.jsonl  records that are no pairs: where they stand, and what is wrong
  audit.json, spending.jsonl, replies/    what a next run needs

exit status:
  0  every pair has a result       2  usage or input: the message says what to mend
  4  some pair has none yet: a check failed, or a budget is spent

examples:
  paichecker audit pairs.jsonl -o audit
  paichecker audit princeton-nlp/SWE-bench_Lite:test -o lite --sample 100 --stratify repo --seed 7
  ANTHROPIC_API_KEY=... paichecker audit swe-gym.parquet -o gym --jobs 64 --rate 1000 --budget 50
  paichecker audit swe-gym.parquet -o gym --jobs 64 --retry-failed
"""


def add_audit(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The subcommand and its options."""
    about = "audit a data set: which pairs to keep, to repair, to drop"
    parser = commands.add_parser(
        "audit", help=about, description=about, epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.set_defaults(run=_audit)
    parser.add_argument("source", metavar="SOURCE", help="a file, or org/name:split on the Hugging Face Hub")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR", help="the folder of the audit")
    parser.add_argument("--sample", type=positive_int, metavar="N", help="only so many pairs, drawn by --seed")
    parser.add_argument("--stratify", choices=("repo",), help="of --sample: each repository has its share")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="K", help="of --sample: the same draw for the same K (0)"
    )
    parser.add_argument("--jobs", type=positive_int, default=_JOBS, metavar="N", help=f"pairs at once ({_JOBS})")
    parser.add_argument("--rate", type=positive_int, metavar="N", help="so many requests to a model a minute at most")
    parser.add_argument("--budget", type=positive_amount, metavar="DOLLARS", help="for the whole audit")
    parser.add_argument("--budget-tokens", type=positive_int, metavar="N", help="for the whole audit")
    parser.add_argument("--retry-failed", action="store_true", help="judge again the pairs whose check failed")
    add_backend_options(parser)
    add_method_options(parser)


def _audit(options: argparse.Namespace) -> int:
    if options.source == STANDARD_INPUT:
        raise UsageError("an audit reads its source again when it goes on; name a file instead of -")
    if options.stratify and not options.sample:
        raise UsageError("--stratify says how to draw a sample; give --sample N too")
    wanted = _wanted(options)
    if not wanted:
        return _nothing_to_audit(options.source)
    try:
        with AuditFolder(options.output) as folder:
            return _audit_into(folder, wanted, options)
    except AuditFolderError as error:
        raise UsageError(str(error)) from None
    except CannotKeep as error:
        raise UsageError(f"{error}; mend this, and the same command goes on") from None


def _nothing_to_audit(source: str) -> int:
    for found in read_files([source]):
        if isinstance(found, InputProblem):
            tell(found)
    return BAD_INPUT


def _audit_into(folder: AuditFolder, wanted: frozenset[str], options: argparse.Namespace) -> int:
    work = Work(options, folder.path)
    checker = work.checker()
    _require_prices(checker, options)
    folder.agree(_settings(checker, options) | {"pairs": len(wanted)})
    account = shared_account(work, prices_of(checker), folder.note)
    for line in folder.rows(SPENDING):
        try:
            account.load(line)
        except TypeError:
            raise AuditFolderError(
                f"{folder.path / SPENDING}: a line of it is no spending of an audit; mend it"
            ) from None
    under_way = _Run(folder, account, wanted, is_priced=not _asks_outside(checker))
    under_way.load(retry_failed=options.retry_failed)
    begun = time.monotonic()
    try:
        finished = under_way.all(work)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(under_way.stopped()) from None
    folder.settle(under_way.done)
    unreadable = folder.keep_unreadable(under_way.problems, whole=under_way.read_whole)
    if not finished:
        say("the budget is spent; a higher one goes on where this run stopped")
    if not folder.write_parquet():
        say(f"{PARQUET} wants pyarrow: {advice('parquet')}")
    left = len(wanted - under_way.done)
    unfinished = Unfinished(left, [row["undetermined"] for row in folder.rows(FAILURES)], unreadable)
    spent = tokens_said(account.tokens, under_way.dollars)
    put_out(summary(under_way.tally, spent, unfinished, time.monotonic() - begun, options.source))
    return BAD_INPUT if under_way.problems else NOT_FINISHED if left else AUDITED


def _asks_outside(checker: Checker) -> bool:
    return any(isinstance(backend, OutsideBackend) for backend in checker.backends)


def _require_prices(checker: Checker, options: argparse.Namespace) -> None:
    if _asks_outside(checker) and (options.budget is not None or options.budget_tokens is not None):
        raise UsageError(
            "--budget and --budget-tokens cannot hold for --method command:..., which tells us neither tokens nor "
            "dollars: leave them out, and give the agent a limit of its own"
        )
    models = [backend for backend in checker.backends if isinstance(backend, ModelBackend)]
    names = {backend.models.get(role, backend.default_model) for backend in models for role in PIPELINE}
    unpriced = sorted(name for name in names if price_of(name, prices_of(checker)) is None)
    if options.budget is not None and unpriced:
        raise UsageError(f"--budget needs the price of {', '.join(unpriced)}: give it with --prices FILE")


def _settings(checker: Checker, options: argparse.Namespace) -> dict[str, Any]:
    """What must stay the same from run to run, or the results would not belong together."""
    path = Path(options.source)
    return {
        "schema": "paichecker.audit.settings/1",
        "source": str(path.resolve()) if path.exists() else options.source,
        "backend": checker.name,
        "models": sorted(options.model),
        "backbones": described(options.panel, options.samples, read_backbones(options.backbones)),
        "method": options.method,
        "without": options.without,
        "shortcuts": not options.no_shortcuts,
        "sample": options.sample,
        "stratify": options.stratify,
        "seed": options.seed,
        "version": __version__,
    }


def _wanted(options: argparse.Namespace) -> frozenset[str]:
    return draw(dict(read_ids(options.source)), options.sample, options.seed, stratified=bool(options.stratify))


@dataclass
class _Run:
    """One run of an audit: what earlier ones did, and what is still to do."""

    folder: AuditFolder
    account: Account
    wanted: frozenset[str]
    is_priced: bool = True
    done: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    tally: Tally = field(default_factory=Tally)
    problems: list[InputProblem] = field(default_factory=list)
    read_whole: bool = False
    counting: threading.Lock = field(default_factory=threading.Lock)

    @property
    def dollars(self) -> float | None:
        """What all runs cost, None where that is unknown: an agent of others tells us no price."""
        return self.account.dollars if self.is_priced else None

    def load(self, *, retry_failed: bool) -> None:
        """What is finished, and what failed and is not to be tried again."""
        for line in self.folder.rows(RESULTS):
            self.done.add(line["id"])
            self.tally.add(line)
        if not retry_failed:
            self.failed = {line["id"] for line in self.folder.rows(FAILURES)} - self.done

    def all(self, work: Work) -> bool:
        """Judges what is left; whether no budget ended it."""
        left = self.wanted - self.done - self.failed
        with progress_bar("auditing", len(self.wanted)) as progress:
            progress.update(progress.task_ids[0], completed=len(self.wanted) - len(left))

            def take(line: Mapping[str, Any], failed: bool) -> None:
                self._keep(line, failed=failed)
                progress.update(progress.task_ids[0], advance=1, description=self._so_far())

            return run(work, self._pairs(work.options.source, left), self.account, work.options.jobs, take)

    def _pairs(self, source: str, left: Collection[str]) -> Iterator[Pair]:
        for found in read_files([source]):
            if isinstance(found, InputProblem):
                self.problems.append(found)
                tell(found)
            elif found.id in left:
                yield found
        self.read_whole = True

    def stopped(self) -> str:
        """What a person is told who stops the audit."""
        # Counted in the file: the stop may have come between a row's writing and its counting.
        done = {line["id"] for line in self.folder.rows(RESULTS)} & self.wanted
        return f"stopped: {len(done):,} of {len(self.wanted):,} pairs have a result; the same command goes on"

    def _keep(self, line: Mapping[str, Any], *, failed: bool) -> None:
        self.folder.add(FAILURES if failed else RESULTS, line)
        with self.counting:
            if failed:
                self.failed.add(line["id"])
            else:
                self.done.add(line["id"])
                self.tally.add(line)

    def _so_far(self) -> str:
        labels = ", ".join(f"{label} {count}" for label, count in self.tally.labels.most_common())
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"{labels or 'no label'}{failed}, {dollars_said(self.dollars)}"
