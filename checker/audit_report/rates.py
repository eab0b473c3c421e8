"""What an audit comes to in numbers: counts and shares per verdict, action, label and repository, and what it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

from checker.audit_report.reading import Row
from checker.recommendation import Action
from checker.report import Verdict
from checker.taxonomy import LABELS, Artifact, Label
from checker.wilson import wilson

Name = TypeVar("Name")
FEW = 10
"""Of fewer pairs the count is to be read, not the share."""


@dataclass(frozen=True)
class Share:
    """`count` of `whole` pairs."""

    count: int
    whole: int

    @property
    def part(self) -> float:
        """The share as a fraction; 0 of nothing is 0."""
        return self.count / self.whole if self.whole else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % score interval; of nothing, everything is possible."""
        return wilson(self.count, self.whole) if self.whole else (0.0, 1.0)


@dataclass(frozen=True)
class LabelRate:
    """How often a label stands, and in how many other pairs something that it lives from was not wholly read."""

    label: Label
    found: Share
    unread: int


@dataclass(frozen=True)
class RepositoryRate:
    """One repository's pairs; `name` is None for those whose source does not say."""

    name: str | None
    verdicts: dict[Verdict, int]
    labels: dict[Label, int]
    misaligned: Share


@dataclass(frozen=True)
class Rates:
    """All numbers of an audit's judged pairs. `unread`: per artifact, in how many it was unread, or read in part."""

    pairs: int
    verdicts: dict[Verdict, int]
    actions: dict[Action, int]
    labels: tuple[LabelRate, ...]
    repositories: tuple[RepositoryRate, ...]
    unread: dict[Artifact, tuple[int, int]]
    backends: tuple[str, ...]


@dataclass(frozen=True)
class ModelCost:
    """What one model was asked; `dollars` is None where its price is unknown."""

    model: str
    calls: int
    tokens: int
    dollars: float | None


@dataclass(frozen=True)
class Cost:
    """What the pairs cost, failed ones included; seconds of checking, added up, and of the pair in the middle."""

    tokens: int
    dollars: float | None
    seconds: float
    median_seconds: float
    models: tuple[ModelCost, ...]


def rates(rows: Sequence[Row]) -> Rates:
    """The numbers of judged pairs; the repositories with the most misaligned pairs come first."""
    return Rates(
        pairs=len(rows),
        verdicts=_verdicts(rows),
        actions=_counted(Action, (row.advice.action for row in rows)),
        labels=tuple(_label(label, rows) for label in Label),
        repositories=_repositories(rows),
        unread={artifact: counts for artifact in Artifact if any(counts := _unread(artifact, rows))},
        backends=tuple(sorted({row.report.backend for row in rows})),
    )


def cost(rows: Sequence[Row]) -> Cost:
    """What all of these pairs' checks took."""
    seconds = [row.seconds for row in rows]
    return Cost(
        tokens=sum(row.tokens or 0 for row in rows),
        dollars=_sum(row.dollars for row in rows),
        seconds=sum(seconds),
        median_seconds=median(seconds) if seconds else 0.0,
        models=_models(rows),
    )


def _counted(names: Iterable[Name], found: Iterable[Name]) -> dict[Name, int]:
    counts = Counter(found)
    return {name: counts[name] for name in names}


def _verdicts(rows: Iterable[Row]) -> dict[Verdict, int]:
    return _counted(Verdict, (row.report.verdict for row in rows))


def _label(label: Label, rows: Sequence[Row]) -> LabelRate:
    without = [row.report for row in rows if label not in row.report.labels]
    needs = set(LABELS[label].lives_from)
    unread = sum(not needs.isdisjoint((*report.unread, *report.partial)) for report in without)
    return LabelRate(label, Share(len(rows) - len(without), len(rows)), unread)


def _repositories(rows: Sequence[Row]) -> tuple[RepositoryRate, ...]:
    groups: dict[str | None, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.repository, []).append(row)
    rated = [_repository(name, group) for name, group in groups.items()]
    return tuple(sorted(rated, key=lambda rate: (-rate.misaligned.count, -rate.misaligned.whole, rate.name or "")))


def _repository(name: str | None, rows: Sequence[Row]) -> RepositoryRate:
    verdicts = _verdicts(rows)
    labels = _counted(Label, (label for row in rows for label in row.report.labels))
    return RepositoryRate(name, verdicts, labels, Share(verdicts[Verdict.MISALIGNED], len(rows)))


def _unread(artifact: Artifact, rows: Iterable[Row]) -> tuple[int, int]:
    reports = [row.report for row in rows]
    return sum(artifact in report.unread for report in reports), sum(artifact in report.partial for report in reports)


def _models(rows: Iterable[Row]) -> tuple[ModelCost, ...]:
    used: dict[str, list[ModelCost]] = {}
    for row in rows:
        for one in row.report.usage:
            tokens = one.input_tokens + one.output_tokens
            used.setdefault(one.model, []).append(ModelCost(one.model, one.calls, tokens, one.dollars))
    return tuple(
        ModelCost(model, sum(c.calls for c in costs), sum(c.tokens for c in costs), _sum(c.dollars for c in costs))
        for model, costs in sorted(used.items())
    )


def _sum(amounts: Iterable[float | None]) -> float | None:
    """None once one amount is unknown."""
    listed = list(amounts)
    known = [amount for amount in listed if amount is not None]
    return sum(known) if len(known) == len(listed) else None
