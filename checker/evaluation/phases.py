"""What each phase made better and worse (the paper's Table 6 and Figure 6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from checker.evaluation.metrics import Table
from checker.evaluation.trail import NO_LABEL, SEVEN, LabelSet

STEPS = (("I", "II"), ("II", "III"))


@dataclass(frozen=True)
class PhaseScore:
    """What stood after one phase, over all pairs with phases: fractions, and the pairs of which nothing is known."""

    phase: str
    exact_match: float
    binary_accuracy: float
    unknown: int


@dataclass(frozen=True)
class Changes:
    """Pairs whose labels one phase changed: to people's labels, away from them, or from one wrong set to another.

    As the paper counts: only pairs of which the later phase's answer is known; an unknown answer before it is
    incorrect.
    """

    step: tuple[str, str]
    to_correct: int
    to_incorrect: int
    stays_incorrect: int


@dataclass(frozen=True)
class Phases:
    """After each of the three phases, and between them, over the `n` pairs with a known course."""

    n: int
    after: tuple[PhaseScore, ...]
    changes: tuple[Changes, ...]


def phases(table: Table) -> Phases | None:
    """None where no prediction tells its phases."""
    courses = [
        (one.phases, frozenset(label for label, holds in zip(SEVEN, row, strict=True) if holds))
        for one, row in zip(table.predictions, table.truth, strict=True)
        if len(one.phases) == 3
    ]
    if not courses:
        return None
    after = tuple(
        _score(name, [(course[i], truth) for course, truth in courses]) for i, name in enumerate(["I", "II", "III"])
    )
    changes = tuple(
        _changes(step, [(course[i], course[i + 1], truth) for course, truth in courses]) for i, step in enumerate(STEPS)
    )
    return Phases(len(courses), after, changes)


def _score(phase: str, answers: list[tuple[LabelSet | None, LabelSet]]) -> PhaseScore:
    exact = sum(said == truth for said, truth in answers)
    binary = sum((said == NO_LABEL) == (truth == NO_LABEL) for said, truth in answers)
    unknown = sum(said is None for said, _ in answers)
    return PhaseScore(phase, exact / len(answers), binary / len(answers), unknown)


def _changes(step: tuple[str, str], answers: Iterable[tuple[LabelSet | None, LabelSet | None, LabelSet]]) -> Changes:
    changed = [(before, after, truth) for before, after, truth in answers if after is not None and before != after]
    return Changes(
        step,
        to_correct=sum(after == truth for _, after, truth in changed),
        to_incorrect=sum(before == truth for before, _, truth in changed),
        stays_incorrect=sum(truth not in (before, after) for before, after, truth in changed),
    )
