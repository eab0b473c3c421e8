"""`check(pair, ...) -> Report`: three analyzers, a coordinator, a code validator. Read this one first.

Text decides, code validates (the paper's Figure 5). Only Phase I can assign one of the five labels: what the
later phases return says *keep* or *drop*, and is intersected here with what stands.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from checker import grounding, signals, verdict
from checker.case import Case
from checker.model import ModelFailure
from checker.pair import Pair
from checker.report import (
    AgentReport,
    Clue,
    CoordinatorReview,
    Dropped,
    Finding,
    Report,
    Review,
    RoleUsage,
)
from checker.shortcuts import ruled_out, unshowable
from checker.taxonomy import JUDGES, PIPELINE, Label, Role
from checker.transcript import Transcript

logger = logging.getLogger(__name__)
Returned = TypeVar("Returned")


class Session(Protocol):
    """The roles at work on one case. A role that cannot answer raises `ModelFailure`."""

    async def analyze(self, role: Role, labels: tuple[Label, ...]) -> AgentReport:
        """Phase I, one analyzer."""

    async def coordinate(
        self, reports: tuple[AgentReport, ...], findings: tuple[Finding, ...], clues: tuple[Clue, ...]
    ) -> CoordinatorReview:
        """Phase II."""

    async def validate(self, findings: tuple[Finding, ...]) -> Review:
        """Phase III."""

    def usage(self) -> tuple[RoleUsage, ...]:
        """What the roles cost so far."""


class Backend(Protocol):
    """Who plays the roles: rules, a model, an outside agent. Without `reads_intent` nothing is ever called aligned."""

    @property
    def name(self) -> str:
        """As the report gives it."""

    @property
    def reads_intent(self) -> bool:
        """Whether it understands what a text means to do."""

    def open(self, case: Case) -> Session:
        """The roles for one check."""


@dataclass(frozen=True)
class Limits:
    """Seconds that one role, and a whole check, may take. What runs out leaves an undetermined report."""

    role_seconds: float = 300
    check_seconds: float = 600


@dataclass(frozen=True)
class Plan:
    """Which roles take part, and (`as_given`) whether labels stand also without a proved quote.

    The default is the whole pipeline; baselines and ablations (`checker.evaluation`) are other plans.
    """

    roles: frozenset[Role] = PIPELINE
    as_given: bool = False

    @property
    def settings(self) -> dict[str, Any]:
        """What a transcript says of it."""
        return {} if self == Plan() else {"plan": {"roles": sorted(self.roles), "as_given": self.as_given}}


async def check(
    pair: Pair,
    backend: Backend,
    *,
    shortcuts: bool = True,
    limits: Limits = Limits(),
    transcripts: Path | None = None,
    plan: Plan = Plan(),
) -> Report:
    """Checks one pair. `transcripts`: a directory for the record of the check, written whatever happens."""
    started = asyncio.get_running_loop().time()
    transcript = Transcript(pair, backend.name, {"shortcuts": shortcuts, "limits": asdict(limits), **plan.settings})
    try:
        # A large patch takes a second to read; the event loop may be serving others meanwhile.
        case = Case(pair, await asyncio.to_thread(signals.read, pair), transcript)
    except Exception as error:  # a fault of ours on one pair must not end the check of others
        logger.exception("reading the signals of %s failed", pair.id)
        return verdict.failed(pair, backend.name, f"an error of PAIChecker itself ({type(error).__name__})")
    run = _Run(case, backend, backend.open(case), limits, plan, started)
    try:
        transcript.report = await run.report(shortcuts=shortcuts)
        return transcript.report
    finally:
        if transcripts is not None:
            await asyncio.to_thread(transcript.write, transcripts)


@dataclass(frozen=True)
class _Run:
    """One check under way."""

    case: Case
    backend: Backend
    session: Session
    limits: Limits
    plan: Plan
    started: float

    async def report(self, *, shortcuts: bool) -> Report:
        if not self.case.pair.issues:
            return verdict.no_linked_issue(self.case, self.backend.name)
        out = ruled_out(self.case)
        idle = {**out, **unshowable(self.case)} if shortcuts else {}
        reports = await self._phase_one(idle)
        ground = grounding.as_given if self.plan.as_given else grounding.findings
        findings, dropped = ground(reports, self.case)
        clues = (*(clue for report in reports for clue in report.clues), *grounding.passed_over(reports, self.case))
        coordination, findings, gone = await self._phase_two(reports, findings, clues)
        dropped += gone
        validation, findings, gone = await self._phase_three(findings)
        return verdict.conclude(
            self.case,
            backend=self.backend.name,
            reads_intent=self.backend.reads_intent,
            out=out,
            reports=reports,
            reviews=(coordination, validation),
            findings=findings,
            dropped=dropped + gone,
            clues=clues,
            usage=self.session.usage(),
            roles=self.plan.roles,
        )

    async def _phase_one(self, idle: Mapping[Label, str]) -> tuple[AgentReport, ...]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._analyzer(role, idle)) for role in JUDGES if role in self.plan.roles]
        return tuple(task.result() for task in tasks)

    async def _analyzer(self, role: Role, idle: Mapping[Label, str]) -> AgentReport:
        asked = tuple(label for label in JUDGES[role] if label not in idle)
        for label in (label for label in JUDGES[role] if label in idle):
            self.case.transcript.note(f"{role.words}: not asked about {label}: {idle[label]}.")
        if not asked:
            return AgentReport(role, skipped=f"not called: {idle[JUDGES[role][0]]}.")
        returned = await self._guarded(role, self.session.analyze(role, asked))
        return returned if isinstance(returned, AgentReport) else AgentReport(role, failure=returned)

    async def _phase_two(
        self, reports: tuple[AgentReport, ...], findings: tuple[Finding, ...], clues: tuple[Clue, ...]
    ) -> tuple[Review, tuple[Finding, ...], tuple[Dropped, ...]]:
        if Role.COORDINATOR not in self.plan.roles:
            return Review(Role.COORDINATOR), findings, ()
        if not findings and not clues:
            return Review(Role.COORDINATOR, skipped="not called: no label and no clue."), (), ()
        returned = await self._guarded(Role.COORDINATOR, self.session.coordinate(reports, findings, clues))
        if isinstance(returned, str):
            return Review(Role.COORDINATOR, failure=returned), findings, ()
        kept, dropped = grounding.intersect(findings, returned)
        if returned.others is not None:
            others, refused = grounding.others(returned.others, clues)
            return returned, kept + others, dropped + refused
        return returned, kept, dropped

    async def _phase_three(
        self, findings: tuple[Finding, ...]
    ) -> tuple[Review, tuple[Finding, ...], tuple[Dropped, ...]]:
        if Role.CODE_VALIDATOR not in self.plan.roles:
            return Review(Role.CODE_VALIDATOR), findings, ()
        if not findings:
            return Review(Role.CODE_VALIDATOR, skipped="not called: no label stands."), (), ()
        returned = await self._guarded(Role.CODE_VALIDATOR, self.session.validate(findings))
        if isinstance(returned, str):
            return Review(Role.CODE_VALIDATOR, failure=returned), findings, ()
        kept, dropped = grounding.intersect(findings, returned)
        return returned, kept, dropped

    async def _guarded(self, role: Role, work: Coroutine[Any, Any, Returned]) -> Returned | str:
        """What the role returned, or the sentence that says how it failed: its siblings go on."""
        left = self.started + self.limits.check_seconds - asyncio.get_running_loop().time()
        seconds = min(self.limits.role_seconds, left)
        if seconds <= 0:
            work.close()
            return "the check's time was over before it could begin."
        try:
            async with asyncio.timeout(seconds):
                return await work
        except TimeoutError:
            return f"it did not finish within the {self.limits.role_seconds:.0f} s of a role or the check's time."
        except ModelFailure as failure:
            return str(failure)
        except Exception as error:  # a fault of ours in one role must neither end the others nor pass for "aligned"
            logger.exception("%s failed on %s", role.words, self.case.pair.id)
            return f"it ended in an error of PAIChecker itself ({type(error).__name__}); the log has the details."
