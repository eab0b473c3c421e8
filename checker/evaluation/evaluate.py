"""`evaluate(truth, methods)`: every figure, interval and comparison at once, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from checker.evaluation.compare import Comparison, Interval, compare, intervals, kappas
from checker.evaluation.labels import Method, Truth
from checker.evaluation.metrics import Scores, Table, score, tabulate
from checker.evaluation.phases import Phases, phases

ROUNDS, SEED = 1000, 0


@dataclass(frozen=True)
class Spent:
    """What the pairs cost together, and of how many pairs it is known."""

    total: float
    known: int


@dataclass(frozen=True)
class Evaluated:
    """One method. `rows`: the pairs that its files name; `unlabelled`: those of them that nobody labelled.

    `decided`: the figures over the pairs with a prediction that the check did not leave undetermined, None where
    those are all or none.
    """

    method: str
    scores: Scores
    decided: Scores | None
    intervals: Mapping[str, Interval]
    kappa: Mapping[str, float | None]
    phases: Phases | None
    spent: Mapping[str, Spent]
    no_row: int
    unlabelled: int


@dataclass(frozen=True)
class Evaluation:
    """All methods, in the order of their files, and every two of them compared."""

    methods: tuple[Evaluated, ...]
    comparisons: tuple[Comparison, ...]
    rounds: int
    seed: int


def evaluate(
    truth: Truth,
    methods: Sequence[Method],
    *,
    rounds: int = ROUNDS,
    seed: int = SEED,
    predicted_only: bool = False,
) -> Evaluation:
    """Scores every method on the pairs of `metrics.tabulate`. Raises EvaluationInputError where there are none."""
    tables = [tabulate(truth, method, predicted_only=predicted_only) for method in methods]
    evaluated = tuple(_one(method, one, rounds, seed) for method, one in zip(methods, tables, strict=True))
    return Evaluation(evaluated, compare(tables), rounds, seed)


def _one(method: Method, table: Table, rounds: int, seed: int) -> Evaluated:
    return Evaluated(
        method=method.name,
        scores=score(table),
        decided=_decided(table),
        intervals=intervals(table, rounds, seed),
        kappa=kappas(table),
        phases=phases(table),
        spent=_spent(table),
        no_row=len(set(table.ids) - method.predictions.keys()),
        unlabelled=len(method.predictions.keys() - set(table.ids)),
    )


def _decided(table: Table) -> Scores | None:
    """The same figures where the method took a stand."""
    import numpy as np

    stands = table.given & np.array([not one.undecided for one in table.predictions])
    if stands.all() or not stands.any():
        return None
    kept = np.flatnonzero(stands)
    return score(
        Table(
            table.name,
            tuple(table.ids[i] for i in kept),
            table.truth[kept],
            table.said[kept],
            table.given[kept],
            tuple(table.predictions[i] for i in kept),
        )
    )


def _spent(table: Table) -> dict[str, Spent]:
    values = {
        name: [value for one in table.predictions if (value := getattr(one, name)) is not None]
        for name in ("tokens", "dollars", "seconds")
    }
    return {name: Spent(sum(known), len(known)) for name, known in values.items() if known}
