"""What is scored: one method's prediction for one pair, what stood after each phase, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass

from checker.taxonomy import NO_MISALIGNMENT, Label

LabelSet = frozenset[str]
SEVEN: tuple[str, ...] = (*(label.value for label in Label), NO_MISALIGNMENT)
"""The labels of macro figures, `No Misalignment` among them (the paper's Table 4)."""
NO_LABEL: LabelSet = frozenset({NO_MISALIGNMENT})


@dataclass(frozen=True)
class Prediction:
    """What a method said about a pair. `labels` is None where it gave no prediction.

    `undecided`: the check said that it could not decide; against people's labels it counts as no misalignment
    (the taxonomy), and is counted apart. `phases`: what stood after Phases I, II, III, where that is known.
    Dollars, tokens (read and written) and seconds are None where they are unknown.
    """

    labels: LabelSet | None
    undecided: bool = False
    phases: tuple[LabelSet | None, ...] = ()
    dollars: float | None = None
    tokens: float | None = None
    seconds: float | None = None

    @property
    def says_misaligned(self) -> bool:
        """The binary reading: any label, or no prediction at all, is misaligned (the paper's way of counting)."""
        return self.labels != NO_LABEL
