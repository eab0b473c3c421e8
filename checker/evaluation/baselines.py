"""The paper's baselines: one model, all artifacts in one prompt, labels back (zero-shot, few-shot, cot, agent).

They are given what the three analyzers share out among them, without the facts found by a program, and their
labels stand as given (`pipeline.Plan.as_given`). The same question, with proof of quotes, stands in for Phase I
in the ablation without it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from checker import prompting, views
from checker.agents import LONGEST_TALK, NO_TOOLS, ModelBackend, ModelSession
from checker.answers import QuoteAnswer
from checker.case import Case
from checker.evidence import Evidence, Quote, Unproved, prove
from checker.pipeline import Plan
from checker.report import AgentReport, Clue, Confidence, Judgment
from checker.taxonomy import Label, Role, Scenario
from checker.tools import Toolbox, connection_tools, file_tools

AS_GIVEN = Plan(roles=frozenset({Role.CLASSIFIER}), as_given=True)
# One agent does what three analyzers and a validator do, one after another.
_LONGEST_ERRAND = 4 * LONGEST_TALK
_SCENARIO = Literal["SC-1", "SC-2", "SC-3", "SC-4", "DP-1", "DP-2", "IS-1", "IS-2", "FP-1", "FP-2", "UL-1"]


class LabelAnswer(BaseModel):
    """One label that the pair has."""

    model_config = ConfigDict(extra="forbid")
    why: str = Field(description="the decisive facts, one or two sentences")
    label: Label
    scenario: _SCENARIO | None = Field(description="null for Others")
    confidence: Confidence
    quotes: list[QuoteAnswer]

    def judgment(self) -> Judgment:
        """The answer as the pipeline takes it; a scenario of another label is dropped."""
        scenario = Scenario(self.scenario) if self.scenario else None
        fits = scenario if scenario and scenario.label is self.label else None
        quotes = tuple(quote.quote() for quote in self.quotes)
        return Judgment(self.label, True, self.why, fits, self.confidence, quotes)


class ClassifierAnswer(BaseModel):
    """The labels of one pair."""

    model_config = ConfigDict(extra="forbid")
    labels: list[LabelAnswer] = Field(description="each at most once; empty if pull request and issue are aligned")


class ReasonedAnswer(BaseModel):
    """The steps, and the labels of one pair that follow from them."""

    model_config = ConfigDict(extra="forbid")
    steps: str = Field(description="the steps that you were asked for, in order; think here before `labels`")
    labels: list[LabelAnswer] = Field(description="each at most once; empty if pull request and issue are aligned")


@dataclass(frozen=True)
class Method:
    """One baseline: the prompt file beside the question that all share, the shape of its answer, its tools."""

    name: str
    prompt: str
    answer: type[ClassifierAnswer] | type[ReasonedAnswer] = ClassifierAnswer
    holds_tools: bool = False

    @property
    def system(self) -> str:
        """What it is told before the pair."""
        return prompting.assemble("baseline_question.md", self.prompt, "shared.md").system


ZERO_SHOT = Method("zero-shot", "baseline_zero_shot.md")
BASELINES = {
    method.name: method
    for method in (
        ZERO_SHOT,
        Method("few-shot", "baseline_few_shot.md"),
        Method("cot", "baseline_cot.md", ReasonedAnswer),
        Method("agent", "baseline_agent.md", holds_tools=True),
    )
}


@dataclass(frozen=True)
class ClassifierBackend(ModelBackend):
    """A model that answers all labels at once. `proves`: a quote that does not stand goes back to it once."""

    method: Method = ZERO_SHOT
    proves: bool = False

    @property
    def name(self) -> str:
        """The models in use; for a baseline the model and the baseline's name."""
        own = self.models.get(Role.CLASSIFIER, self.default_model)
        return super().name if self.proves else f"{own} ({self.method.name})"

    def open(self, case: Case) -> ClassifierSession:
        """The classifier for one check, and the later phases' roles."""
        roles = super().open(case)
        case.transcript.settings["method"] = self.method.name
        held = {field.name: getattr(roles, field.name) for field in fields(roles)}
        return ClassifierSession(**held, method=self.method, proves=self.proves)


def classifier(backend: ModelBackend, method: Method, *, proves: bool = False) -> ClassifierBackend:
    """The same backbone, store and budget, asked in another way."""
    held = {field.name: getattr(backend, field.name) for field in fields(ModelBackend)}
    return ClassifierBackend(**held, method=method, proves=proves)


@dataclass(frozen=True)
class ClassifierSession(ModelSession):
    """One check's classifier; what comes after Phase I is as in ModelSession."""

    method: Method
    proves: bool

    async def analyze(self, role: Role, labels: tuple[Label, ...]) -> AgentReport:
        """One answer on all labels; of the five only those asked about are reported. Raises ModelFailure."""
        answer = await self.converse(
            role,
            prompting.load(role).render(**views.everything(self.case)),
            self.method.answer,
            lambda a: self._unproved(a.labels) if self.proves else [],
            tools=self._tools_held(),
            system=self.method.system,
            turns=_LONGEST_ERRAND if self.method.holds_tools else LONGEST_TALK,
        )
        return self._report(role, answer.labels, labels)

    def _tools_held(self) -> Toolbox:
        if not self.method.holds_tools:
            return NO_TOOLS
        files = file_tools(self.reader)
        return connection_tools(self.connections) | files if self.connections.can_read else files

    def _unproved(self, given: list[LabelAnswer]) -> list[str]:
        proofs = (prove(quote.quote(), self.case.texts) for one in given for quote in one.quotes)
        return [f"{p.quote.source}: {p.quote.text[:120]!r}: {p.reason}." for p in proofs if isinstance(p, Unproved)]

    def _report(self, role: Role, given: list[LabelAnswer], asked: tuple[Label, ...]) -> AgentReport:
        """Of several answers on one label the first counts. Others is a clue too: the Coordinator may act on it."""
        held = {one.label: one.judgment() for one in reversed(given)}
        judgments = [held.get(label, Judgment(label, False, "It was not given.")) for label in asked]
        others = held.get(Label.OTHERS)
        if others is None:
            return AgentReport(role, tuple(judgments))
        return AgentReport(role, (*judgments, others), (Clue(role.value, others.reason, self._proved(others.quotes)),))

    def _proved(self, quotes: tuple[Quote, ...]) -> tuple[Evidence, ...]:
        proofs = (prove(quote, self.case.texts) for quote in quotes)
        return tuple(proof for proof in proofs if isinstance(proof, Evidence))
