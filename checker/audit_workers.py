"""The processes of an audit: to prepare and read what a model is asked takes longer than one processor has.

Each process checks its share of the pairs at once; results come back here, so that one process writes. Processes
end with the one that started them, however that ends.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import multiprocessing
import os
import pickle
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from checker.account import FIGURES, Account, Allowance
from checker.agents import ModelBackend
from checker.audit import Outcome, audit, judge_with, row
from checker.audit_folder import REPLIES, SPENDING, write_line
from checker.backends import BackendChoice, UsageError, asking
from checker.method_options import choose_checker
from checker.model import CannotKeep
from checker.pair import Pair
from checker.panel import Checker
from checker.prices import PRICES, Price

_PAIRS_ALONE, _PAIRS_A_PROCESS = 31, 8
# A forked process has the libraries loaded already; to load them takes as long as to check fifty pairs.
_START: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
_PATIENCE = 1.0
Take = Callable[[Mapping[str, Any], bool], None]
"""What is done with a row, and whether its check failed."""


@dataclass(frozen=True)
class Work:
    """What every process of an audit needs to know."""

    options: argparse.Namespace
    folder: Path

    def checker(self) -> Checker:
        """The checker as the options say. Raises UsageError."""
        options = self.options
        choice = BackendChoice(
            options.backend, tuple(options.model), replies=self.folder / REPLIES, prices=options.prices
        )
        return choose_checker(options, os.environ, choice, shortcuts=not options.no_shortcuts)

    def allowance(self) -> Allowance:
        """The audit's limits."""
        return Allowance(self.options.budget_tokens, self.options.budget, self.options.rate)


def prices_of(checker: Checker) -> Mapping[str, Price]:
    """The prices by which a checker's models are booked."""
    return next((backend.prices for backend in checker.backends if isinstance(backend, ModelBackend)), PRICES)


def processes_for(jobs: int) -> int:
    """How many processes so many pairs at once are worth.

    Two a processor: while one reads a large diff, which takes half a second, the pairs of the other go on.
    """
    return 1 if jobs <= _PAIRS_ALONE else min(2 * (os.cpu_count() or 1), jobs // _PAIRS_A_PROCESS)


def run(work: Work, pairs: Iterator[Pair], account: Account, jobs: int, take: Take) -> bool:
    """Judges the pairs and hands each row on; whether no budget ended it. Raises UsageError and CannotKeep."""
    count = processes_for(jobs)
    if count == 1:
        return _alone(work.checker(), account, pairs, jobs, take)
    return _Processes(work, account, _shares(jobs, count)).run(pairs, take)


def shared_account(work: Work, prices: Mapping[str, Price], keep: Callable[[str], None]) -> Account:
    """An account that processes may share."""
    figures = _START.Array("d", FIGURES)
    return Account(work.allowance(), prices, keep, figures.get_obj(), figures.get_lock())


def _alone(checker: Checker, account: Account, pairs: Iterator[Pair], jobs: int, take: Take) -> bool:
    async def taken(outcome: Outcome) -> None:
        await asyncio.to_thread(take, row(outcome), outcome.failed)

    async def all_of_them() -> bool:
        async with asking(checker.backends):
            return await audit(pairs, judge_with(checker, account), jobs, taken)

    try:
        return asyncio.run(all_of_them())
    except BaseExceptionGroup as group:
        known, others = group.split(CannotKeep)
        if known is None or others is not None:
            raise
        raise known.exceptions[0] from None


def _shares(jobs: int, count: int) -> list[int]:
    return [jobs // count + (number < jobs % count) for number in range(count)]


class _Processes:
    """The processes under way, with a queue of pairs to them and one of rows from them."""

    def __init__(self, work: Work, account: Account, shares: list[int]) -> None:
        self._todo: multiprocessing.Queue[bytes | None] = _START.Queue(maxsize=2 * len(shares))
        self._done: multiprocessing.Queue[tuple[Mapping[str, Any], bool] | bool | CannotKeep] = _START.Queue()
        figures = (account.figures, account.lock)
        self._all = [
            _START.Process(target=_serve, args=(work, figures, share, self._todo, self._done), daemon=True)
            for share in shares
        ]
        self._fed = False

    def run(self, pairs: Iterator[Pair], take: Take) -> bool:
        # What is loaded by now stays: not looked through again by each process, and shared by all (gc.freeze).
        gc.collect()
        gc.freeze()
        for process in self._all:
            process.start()
        feeder = threading.Thread(target=self._feed, args=(pairs,), daemon=True)
        feeder.start()
        try:
            return self._receive(take)
        finally:
            self._todo.cancel_join_thread()
            for process in self._all:
                process.terminate()
                process.join()

    def _feed(self, pairs: Iterator[Pair]) -> None:
        try:
            for pair in pairs:
                # Pickled here: the queue does it in a thread of its own, and loses what cannot be.
                self._todo.put(pickle.dumps(pair))
            self._fed = True
        finally:
            for _ in self._all:
                self._todo.put(None)

    def _receive(self, take: Take) -> bool:
        ended: list[bool] = []
        while len(ended) < len(self._all):
            try:
                said = self._done.get(timeout=_PATIENCE)
            except queue.Empty:
                self._require_life()
                continue
            if isinstance(said, CannotKeep):
                raise said
            if isinstance(said, bool):
                ended.append(said)
            else:
                take(*said)
        if all(ended) and not self._fed:
            raise UsageError("an error of PAIChecker itself, told above, ended the reading of the source")
        return all(ended)

    def _require_life(self) -> None:
        broken = [process.exitcode for process in self._all if process.exitcode]
        if broken:
            raise UsageError(
                f"a process of the audit ended (status {broken[0]}), for want of memory perhaps; give the command "
                "again, with fewer --jobs"
            )


def _serve(work: Work, figures: Any, jobs: int, todo: Any, done: Any) -> None:
    """One process: pairs in, rows out, `done` told at the end whether no budget ended it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A pair makes and drops some 10,000 objects at once; to look for cycles 14 times as often takes 5 % of its time.
    gc.set_threshold(10_000)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    checker = work.checker()
    with (work.folder / SPENDING).open("ab", buffering=0) as spending:

        def keep(line: str) -> None:
            write_line(spending, line, to_disk=False)

        account = Account(work.allowance(), prices_of(checker), keep, *figures)
        pairs = map(pickle.loads, iter(todo.get, None))
        try:
            done.put(_alone(checker, account, pairs, jobs, lambda *said: done.put(said)))
        except CannotKeep as error:
            done.put(error)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None  # noqa: S101 - `_serve` runs in a process that was started
    wait([parent.sentinel])
    os._exit(1)
