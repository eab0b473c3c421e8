"""Many pairs checked at once: each ends as a row of the audit's results, as a failure, or undone.

Who writes the rows down is the caller's affair (`checker.audit_folder`); what is recommended is
`checker.recommendation`'s.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from checker.account import Account, AccountedModel, AllowanceSpent
from checker.agents import ModelBackend
from checker.case import Case
from checker.model import CannotKeep
from checker.pair import Pair
from checker.panel import Checker
from checker.pipeline import Backend, Session
from checker.recommendation import recommend
from checker.report import AgentReport, Clue, CoordinatorReview, Finding, Report, Review, RoleUsage, write_report
from checker.taxonomy import Label, Role

SCHEMA = "paichecker.audit/1"
_Returned = TypeVar("_Returned")


@dataclass(frozen=True)
class Outcome:
    """One pair's check. `failed`: a role gave no answer. `cut`: only for the audit's budget; it is to be done again."""

    pair: Pair
    report: Report
    seconds: float
    failed: bool = False
    cut: bool = False


Judge = Callable[[Pair], Awaitable[Outcome]]


async def audit(pairs: Iterator[Pair], judge: Judge, jobs: int, take: Callable[[Outcome], Awaitable[None]]) -> bool:
    """Judges the pairs, `jobs` at once, and hands each outcome on; whether all were, and none was cut.

    Pairs are taken from the iterator, in a thread, only when there is room for them: memory stays flat.
    """
    reading, stopped = asyncio.Lock(), False

    async def work() -> None:
        nonlocal stopped
        while not stopped:
            async with reading:
                pair = await asyncio.to_thread(next, pairs, None)
            if pair is None or stopped:
                return
            outcome = await judge(pair)
            stopped = stopped or outcome.cut
            if not outcome.cut:
                await take(outcome)

    async with asyncio.TaskGroup() as group:
        for _ in range(jobs):
            group.create_task(work())
    return not stopped


def judge_with(checker: Checker, account: Account) -> Judge:
    """Asks the checker, with what it spends booked on the account. The judge raises CannotKeep."""

    def accounted(backend: Backend) -> Backend:
        if not isinstance(backend, ModelBackend):
            return backend
        return replace(backend, model=AccountedModel(backend.model, account))

    checker = checker.over(accounted)

    async def judge(pair: Pair) -> Outcome:
        await account.admit()
        watch = _Watch()
        begun = time.monotonic()
        report = await checker.over(watch.over)(pair)
        if watch.lost is not None:
            raise watch.lost
        seconds = time.monotonic() - begun
        return Outcome(pair, report, seconds, failed=watch.failed or not watch.opened, cut=watch.cut)

    return judge


def row(outcome: Outcome) -> dict[str, Any]:
    """One line of `results.jsonl`: the report without its signals, what it recommends, and what it cost."""
    report, pair = outcome.report, outcome.pair
    data = write_report(report)
    del data["signals"]
    advice = recommend(pair, report)
    is_uncounted = any(used.is_uncounted for used in report.usage)
    tokens = None if is_uncounted else sum(used.input_tokens + used.output_tokens for used in report.usage)
    head = {"schema": SCHEMA, "id": pair.id, "repository": pair.repository}
    cost = {"tokens": tokens, "dollars": report.dollars, "seconds": round(outcome.seconds, 3)}
    told = {"action": advice.action.value, "reason": advice.reason, "statement": advice.statement}
    data = {key: value for key, value in data.items() if key not in head}
    return {**head, "verdict": data.pop("verdict"), "labels": data.pop("labels"), **told, **cost, **data}


@dataclass
class _Watch:
    """Whether, in one check, a role of any backend gave no answer, and whether for the audit's budget; what is `lost`
    is an error that no further pair would be spared."""

    opened: bool = False
    failed: bool = False
    cut: bool = False
    lost: CannotKeep | None = None

    def over(self, backend: Backend) -> Backend:
        return _Watched(backend, self)

    async def answer(self, work: Coroutine[Any, Any, _Returned]) -> _Returned:
        answered = False
        try:
            returned = await work
            answered = True
        except AllowanceSpent:
            self.cut = True
            raise
        except CannotKeep as error:
            self.lost = error
            raise
        finally:
            self.failed = self.failed or not answered
        return returned


@dataclass(frozen=True)
class _Watched:
    backend: Backend
    watch: _Watch

    @property
    def name(self) -> str:
        return self.backend.name

    @property
    def reads_intent(self) -> bool:
        return self.backend.reads_intent

    def open(self, case: Case) -> Session:
        self.watch.opened = True
        return _WatchedSession(self.watch, self.backend.open(case))


@dataclass(frozen=True)
class _WatchedSession:
    watch: _Watch
    session: Session

    async def analyze(self, role: Role, labels: tuple[Label, ...]) -> AgentReport:
        return await self.watch.answer(self.session.analyze(role, labels))

    async def coordinate(
        self, reports: tuple[AgentReport, ...], findings: tuple[Finding, ...], clues: tuple[Clue, ...]
    ) -> CoordinatorReview:
        return await self.watch.answer(self.session.coordinate(reports, findings, clues))

    async def validate(self, findings: tuple[Finding, ...]) -> Review:
        return await self.watch.answer(self.session.validate(findings))

    def usage(self) -> tuple[RoleUsage, ...]:
        return self.session.usage()
