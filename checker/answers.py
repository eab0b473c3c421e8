"""What each role must return. The JSON schema a model is given and the check of its answer are this one type.

The later phases' types can say *keep* or *drop*, and nothing that adds one of the five labels.
"""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from checker.evidence import Quote
from checker.report import (
    AgentReport,
    Confidence,
    CoordinatorReview,
    Decision,
    Judgment,
    OthersClaim,
    Review,
)
from checker.taxonomy import Label, Role, Scenario

_NAME_IN_FENCE = re.compile(r'name="([^"]+)"')


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class QuoteAnswer(_Answer):
    """Words copied from one of the given texts."""

    source: str = Field(description="name of the text, as given in its fence")
    text: str = Field(description="copied to the letter; one sentence or line")

    def quote(self) -> Quote:
        """With the source's bare name: readers now and then copy more of the fence than that."""
        inside = _NAME_IN_FENCE.search(self.source)
        return Quote(inside[1] if inside else self.source.strip(), self.text)


class ClueAnswer(_Answer):
    """An oddity outside the role's own patterns."""

    says: str = Field(description="one sentence")
    quotes: list[QuoteAnswer]


class SignalAnswer(_Answer):
    """The stand a role takes on a mechanical signal that it was given."""

    id: str = Field(description="e.g. S3")
    counts: bool = Field(description="whether it speaks for the pattern here")
    why: str = Field(description="at most 15 words")


class _Pattern(_Answer):
    why: str = Field(description="the decisive facts, one or two sentences; think here before `holds`")
    scenario: str | None  # null where the pattern does not hold
    holds: bool
    confidence: Confidence
    quotes: list[QuoteAnswer] = Field(description="empty if it does not hold")
    repair: str = Field(description="what the prompt asks for; empty if it does not hold")


class ScopeCreep(_Pattern):
    """SC."""

    scenario: Literal["SC-1", "SC-2", "SC-3", "SC-4"] | None


class DefectivePR(_Pattern):
    """DP."""

    scenario: Literal["DP-1", "DP-2"] | None


class IncompleteSpecification(_Pattern):
    """IS."""

    scenario: Literal["IS-1", "IS-2"] | None


class FollowUpPR(_Pattern):
    """FP."""

    scenario: Literal["FP-1", "FP-2"] | None


class UnspecifiedLiteral(_Pattern):
    """UL."""

    scenario: Literal["UL-1"] | None


class AnalyzerAnswer(_Answer):
    """What the three analyzers have in common."""

    signals: list[SignalAnswer] = Field(description='one entry for each fact marked "(take a stand)", no others')
    clues: list[ClueAnswer]

    def patterns(self) -> tuple[tuple[Label, _Pattern], ...]:
        """The judgments with their labels."""
        held = {name: getattr(self, name) for name in type(self).model_fields}
        return tuple((_LABELS[type(p)], p) for p in held.values() if isinstance(p, _Pattern))

    def quotes(self) -> list[Quote]:
        """All quotes that need proof."""
        answers = [q for _, p in self.patterns() if p.holds for q in p.quotes]
        answers += [q for clue in self.clues for q in clue.quotes]
        return [q.quote() for q in answers]

    def problems(self) -> list[str]:
        """What the schema cannot say, as sentences for the model."""
        return [
            f"{label.value} holds without {'a scenario' if not p.scenario else 'a quote'}."
            for label, p in self.patterns()
            if p.holds and not (p.scenario and p.quotes)
        ]

    def report(self, role: Role) -> tuple[AgentReport, list[tuple[str, list[Quote]]]]:
        """The answer as an AgentReport, and its clues with quotes that are still to be proved."""
        judgments = tuple(_judgment(label, pattern) for label, pattern in self.patterns())
        addressed = tuple(signal.id for signal in self.signals)
        clues = [(clue.says, [q.quote() for q in clue.quotes]) for clue in self.clues]
        return AgentReport(role, judgments, (), addressed), clues


class IssueAnswer(AnalyzerAnswer):
    """The Issue Analyzer's answer."""

    incomplete_specification: IncompleteSpecification


class ScopeAnswer(AnalyzerAnswer):
    """The PR Scope Analyzer's answer."""

    scope_creep: ScopeCreep
    unspecified_literal: UnspecifiedLiteral


class ScopeCreepAnswer(AnalyzerAnswer):
    """The PR Scope Analyzer's answer where UL is ruled out already."""

    scope_creep: ScopeCreep


class ConnectionAnswer(AnalyzerAnswer):
    """The PR Connection Analyzer's answer."""

    defective_pr: DefectivePR
    follow_up_pr: FollowUpPR


class LineAnswer(_Answer):
    """A place in a patch."""

    path: str
    line: int


class DecisionAnswer(_Answer):
    """Keep or drop one of the labels that were presented."""

    label: Label
    why: str = Field(description="one or two sentences")
    keep: bool


class LocatedDecisionAnswer(DecisionAnswer):
    """A decision with the lines that it rests on."""

    lines: list[LineAnswer] = Field(description="at most three; empty if none decides")


class OthersAnswer(_Answer):
    """A clear textual mismatch that none of the five labels explains."""

    why: str
    clues: list[int] = Field(description="numbers of the clues that show it")
    confidence: Confidence
    repair: str = Field(description="what a person should do about it, one sentence")


class CoordinatorAnswer(_Answer):
    """The Coordinator's answer."""

    decisions: list[DecisionAnswer]
    others: OthersAnswer | None

    def review(self) -> CoordinatorReview:
        """The answer as a review."""
        decisions = tuple(Decision(d.label, d.keep, d.why) for d in self.decisions)
        o = self.others
        claim = OthersClaim(o.why, tuple(o.clues), o.confidence, o.repair) if o else None
        return CoordinatorReview(Role.COORDINATOR, decisions, others=claim)


class ValidatorAnswer(_Answer):
    """The Code Validator's answer."""

    decisions: list[LocatedDecisionAnswer]

    def review(self) -> Review:
        """The answer as a review."""
        decisions = tuple(
            Decision(d.label, d.keep, d.why, tuple((at.path, at.line) for at in d.lines)) for d in self.decisions
        )
        return Review(Role.CODE_VALIDATOR, decisions)


_LABELS: dict[type[_Pattern], Label] = {
    ScopeCreep: Label.SC,
    DefectivePR: Label.DP,
    IncompleteSpecification: Label.IS,
    FollowUpPR: Label.FP,
    UnspecifiedLiteral: Label.UL,
}


def answer_type(role: Role, labels: tuple[Label, ...]) -> type[AnalyzerAnswer]:
    """What an analyzer must return when it is asked about these labels."""
    if role is Role.SCOPE_ANALYZER and Label.UL not in labels:
        return ScopeCreepAnswer
    return _ANSWERS[role]


_ANSWERS: dict[Role, type[AnalyzerAnswer]] = {
    Role.ISSUE_ANALYZER: IssueAnswer,
    Role.SCOPE_ANALYZER: ScopeAnswer,
    Role.CONNECTION_ANALYZER: ConnectionAnswer,
}


def _judgment(label: Label, pattern: _Pattern) -> Judgment:
    return Judgment(
        label=label,
        holds=pattern.holds,
        reason=pattern.why,
        scenario=Scenario(pattern.scenario) if pattern.scenario else None,
        confidence=pattern.confidence,
        quotes=tuple(q.quote() for q in pattern.quotes),
        repair=pattern.repair,
    )
