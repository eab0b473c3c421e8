"""What a check says: signals, judgments, clues, decisions, and the report with its verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pydantic import TypeAdapter

from checker.evidence import Evidence, Quote
from checker.taxonomy import Artifact, Label, Role, Scenario

SCHEMA = "paichecker.report/1"
SIGNALS, STEERING = "signals", "steering text"
"""Authors of clues that are no role: a fact passed over in silence, and text that addresses a model."""


class Confidence(StrEnum):
    """How likely another careful reader is to judge the same."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Verdict(StrEnum):
    """The outcome of a check (taxonomy: verdicts)."""

    MISALIGNED = "misaligned"
    ALIGNED = "aligned"
    NOTHING_FOUND = "nothing_found"
    UNDETERMINED = "undetermined"


class SignalKind(StrEnum):
    """What can be found without a model."""

    CLOSING_REFERENCE = "closing-reference"
    OTHER_REFERENCE = "other-reference"
    LOOK_ALIKE_NUMBER = "look-alike-number"
    EARLIER_MERGED_PR = "earlier-merged-pull-request"
    LATER_MERGED_PR = "later-merged-pull-request"
    INFORMATION_REQUEST = "information-request"
    FURTHER_WORK = "further-work"
    UNSPECIFIED_LITERAL = "unspecified-literal"
    SHARED_LITERAL = "shared-literal"
    HIDDEN_TEXT = "hidden-text"
    STEERING_TEXT = "steering-text"


@dataclass(frozen=True)
class Signal:
    """A fact found without a model: where (`source`, a key of `Pair.texts`) and in which words (`quote`).

    `id` is unique in its report (`S1`, `S2`, ...). `labels` are those it may speak for. A signal that is
    `weighty` must not be passed over: a model that is silent about it cannot call the pair aligned.
    """

    id: str
    kind: SignalKind
    source: str
    quote: str
    says: str
    labels: tuple[Label, ...] = ()
    weighty: bool = False
    path: str | None = None
    line: int | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Judgment:
    """An analyzer's answer for one pattern. `quotes` are claims until they are proved."""

    label: Label
    holds: bool
    reason: str
    scenario: Scenario | None = None
    confidence: Confidence = Confidence.LOW
    quotes: tuple[Quote, ...] = ()
    repair: str = ""


@dataclass(frozen=True)
class Clue:
    """An oddity outside an analyzer's own patterns. `by` is a role's name, or `signals`."""

    by: str
    says: str
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True)
class AgentReport:
    """What one analyzer returned. With a `failure` (a sentence) it says nothing about its patterns.

    `addressed`: ids of the weighty signals that it took a stand on.
    """

    role: Role
    judgments: tuple[Judgment, ...] = ()
    clues: tuple[Clue, ...] = ()
    addressed: tuple[str, ...] = ()
    failure: str | None = None
    skipped: str | None = None


@dataclass(frozen=True)
class Decision:
    """Keep or drop one label that already stands. It cannot express more: that is the authority rule."""

    label: Label
    keep: bool
    reason: str
    lines: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Review:
    """What a later phase returned. `failure` is a sentence; then nothing was decided."""

    role: Role
    decisions: tuple[Decision, ...] = ()
    failure: str | None = None
    skipped: str | None = None


@dataclass(frozen=True)
class CoordinatorReview(Review):
    """The coordinator's review. `others` cites clues (by position) that none of the five labels explains."""

    others: OthersClaim | None = None


@dataclass(frozen=True)
class OthersClaim:
    """The one label that the coordinator may add, grounded on clues that were reported to it."""

    reason: str
    clues: tuple[int, ...]
    confidence: Confidence = Confidence.LOW
    repair: str = ""


@dataclass(frozen=True)
class Finding:
    """A label that stands, with proved evidence. `decisions` are the later phases' words on keeping it.

    `unproved`: quotes that do not stand where they were said to. Only a method whose labels are taken as given
    (a baseline, an outside agent) has any, and only there `evidence` may be empty.
    """

    label: Label
    scenario: Scenario | None
    confidence: Confidence
    reason: str
    by: Role
    evidence: tuple[Evidence, ...]
    repair: str = ""
    decisions: tuple[tuple[Role, Decision], ...] = ()
    unproved: tuple[Quote, ...] = ()


@dataclass(frozen=True)
class Dropped:
    """A label that was assigned and does not stand. `by` is a role, `evidence`, or `panel`."""

    label: Label
    by: str
    reason: str
    scenario: Scenario | None = None


@dataclass(frozen=True)
class RoleUsage:
    """What a role cost: calls, tokens, US dollars (None: the model's price is unknown)."""

    role: Role
    model: str
    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    dollars: float | None = 0.0

    @property
    def is_uncounted(self) -> bool:
        """Whether it was asked and nothing is known of what that took: an agent of others tells us no tokens."""
        return bool(self.calls) and self.dollars is None and not self.input_tokens + self.output_tokens


@dataclass(frozen=True)
class Vote:
    """What one member of a panel said. Of a member that is `open` only the labels count that it gave."""

    member: str
    verdict: Verdict
    labels: tuple[Label, ...] = ()
    open: bool = False


@dataclass(frozen=True)
class Report:
    """The outcome of one check. Only `findings` are claims about the pull request."""

    id: str
    backend: str
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    clues: tuple[Clue, ...] = ()
    undetermined: tuple[str, ...] = ()
    unread: tuple[Artifact, ...] = ()
    partial: tuple[Artifact, ...] = ()
    remarks: tuple[str, ...] = ()
    signals: tuple[Signal, ...] = ()
    usage: tuple[RoleUsage, ...] = ()
    votes: tuple[Vote, ...] = ()

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels that stand, in the order of `Label`."""
        return tuple(label for label in Label if any(f.label is label for f in self.findings))

    @property
    def dollars(self) -> float | None:
        """The whole cost in US dollars, or None if a model without a known price was used."""
        costs = [usage.dollars for usage in self.usage]
        return None if None in costs else sum(cost for cost in costs if cost is not None)


_ADAPTER: TypeAdapter[Report] = TypeAdapter(Report)


def write_report(report: Report) -> dict[str, Any]:
    """A report as JSON-ready data: `id`, `verdict`, `labels`, `signals` and the rest of its fields."""
    data = _ADAPTER.dump_python(report, mode="json")
    head = {"schema": SCHEMA, "id": data.pop("id"), "verdict": data.pop("verdict")}
    return {**head, "labels": [label.value for label in report.labels], **data}


def read_report(data: Mapping[str, Any]) -> Report:
    """The Report that `write_report` wrote. Raises `pydantic.ValidationError`, whose errors name the fields."""
    fields = {key: value for key, value in data.items() if key not in ("schema", "labels")}
    return _ADAPTER.validate_python(fields)
