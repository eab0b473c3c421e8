"""The paper's figures (Tables 3 and 4) for one method: scikit-learn counts, all as fractions.

How pairs are counted: every pair is in the denominator. A pair without a prediction is never an exact match, holds
none of the seven labels, and is "misaligned" in the binary figures. A prediction that names a label beside
`No Misalignment` is taken at its word: misaligned, both labels said, and no exact match.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker.evaluation.labels import EvaluationInputError, Method, Truth
from checker.evaluation.trail import NO_LABEL, SEVEN, LabelSet, Prediction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FIGURES = (
    "binary_accuracy",
    "binary_precision",
    "binary_recall",
    "binary_f1",
    "exact_match",
    "macro_accuracy",
    "macro_precision",
    "macro_recall",
    "macro_f1",
)


@dataclass(frozen=True, eq=False)
class Table:
    """A method's predictions beside people's labels. Arrays: pairs x the seven labels."""

    name: str
    ids: tuple[str, ...]
    truth: NDArray[np.bool_]
    said: NDArray[np.bool_]
    given: NDArray[np.bool_]
    predictions: tuple[Prediction, ...]

    @property
    def exact(self) -> NDArray[np.bool_]:
        """Which pairs have exactly people's labels; people give every pair one, so no prediction is never exact."""
        import numpy as np

        exact: NDArray[np.bool_] = np.logical_and.reduce(self.truth == self.said, axis=1)
        return exact

    @property
    def truly_misaligned(self) -> NDArray[np.bool_]:
        """Which pairs people call misaligned."""
        return ~self.truth[:, -1]

    @property
    def said_misaligned(self) -> NDArray[np.bool_]:
        """Which pairs the method calls misaligned, those without a prediction among them."""
        said: NDArray[np.bool_] = self.said[:, :-1].any(axis=1) | ~self.said[:, -1]
        return said


@dataclass(frozen=True)
class LabelScore:
    """One label of the seven. `people`, `said` and `both` count pairs."""

    precision: float
    recall: float
    f1: float
    accuracy: float
    people: int
    said: int
    both: int


@dataclass(frozen=True)
class Scores:
    """One method's figures, by their names in `FIGURES`, and each label's that occurs in labels or predictions.

    `without_prediction`, `undecided` and `contradictory` count pairs (module docstring; `Prediction`).
    """

    n: int
    figures: Mapping[str, float]
    labels: Mapping[str, LabelScore]
    without_prediction: int
    undecided: int
    contradictory: int


def tabulate(truth: Truth, method: Method, *, predicted_only: bool = False) -> Table:
    """The labelled pairs of every data set that the predictions touch; with `predicted_only` those with a row.

    Raises EvaluationInputError where no labelled pair is among the predictions.
    """
    known = [identity for identity in truth.labels if identity in method.predictions]
    if not known:
        raise EvaluationInputError(f"method {method.name!r}: none of its pairs is labelled")
    touched = {truth.datasets.get(identity, "") for identity in known}
    all_ids = [identity for identity in truth.labels if truth.datasets.get(identity, "") in touched]
    ids = known if predicted_only else all_ids
    return table(method.name, {i: truth.labels[i] for i in ids}, method.predictions)


def table(name: str, truth: Mapping[str, LabelSet], predictions: Mapping[str, Prediction]) -> Table:
    """Exactly the pairs of `truth`; one that `predictions` does not hold has no prediction."""
    import numpy as np

    nothing = Prediction(None)
    rows = tuple(predictions.get(identity, nothing) for identity in truth)
    return Table(
        name,
        tuple(truth),
        np.array([_row(labels) for labels in truth.values()], dtype=np.bool_),
        np.array([_row(one.labels or frozenset()) for one in rows], dtype=np.bool_),
        np.array([one.labels is not None for one in rows], dtype=np.bool_),
        rows,
    )


def _row(labels: LabelSet) -> list[bool]:
    return [label in labels for label in SEVEN]


def score(table: Table) -> Scores:
    """All figures of one method."""
    from sklearn.metrics import accuracy_score, precision_recall_fscore_support

    people, said = table.truly_misaligned, table.said_misaligned
    precision, recall, f1, _ = precision_recall_fscore_support(people, said, average="binary", zero_division=0)
    labels = _label_scores(table)
    figures = {
        "binary_accuracy": accuracy_score(people, said),
        "binary_precision": precision,
        "binary_recall": recall,
        "binary_f1": f1,
        "exact_match": table.exact.mean(),
        **{f"macro_{name}": _mean(labels, name) for name in ("accuracy", "precision", "recall", "f1")},
    }
    return Scores(
        n=len(table.ids),
        figures={name: float(figures[name]) for name in FIGURES},
        labels=labels,
        without_prediction=int((~table.given).sum()),
        undecided=sum(one.undecided for one in table.predictions),
        contradictory=sum((one.labels or frozenset()) > NO_LABEL for one in table.predictions),
    )


def occurring(table: Table) -> NDArray[np.bool_]:
    """Which of the seven labels occur in people's labels or in predictions: those of the macro figures."""
    import numpy as np

    occurs: NDArray[np.bool_] = np.logical_or.reduce(table.truth | table.said, axis=0)
    return occurs


def _label_scores(table: Table) -> dict[str, LabelScore]:
    from sklearn.metrics import precision_recall_fscore_support

    precision, recall, f1, _ = precision_recall_fscore_support(table.truth, table.said, average=None, zero_division=0)
    same, both = (table.truth == table.said).mean(axis=0), (table.truth & table.said).sum(axis=0)
    people, said, occurs = table.truth.sum(axis=0), table.said.sum(axis=0), occurring(table)
    return {
        label: LabelScore(
            precision=float(precision[i]),
            recall=float(recall[i]),
            f1=float(f1[i]),
            accuracy=float(same[i]),
            people=int(people[i]),
            said=int(said[i]),
            both=int(both[i]),
        )
        for i, label in enumerate(SEVEN)
        if occurs[i]
    }


def _mean(labels: Mapping[str, LabelScore], name: str) -> float:
    return statistics.fmean(getattr(one, name) for one in labels.values())
