"""The overlap of misaligned pairs with another filter's list, as the paper compares with SPICE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from checker.evaluation.compare import LEVEL, kappa
from checker.evaluation.filter_lists import FilterList
from checker.evaluation.judged import Judged
from checker.evaluation.labels import EvaluationInputError
from checker.evaluation.studies import Share, share
from checker.evaluation.trail import NO_LABEL, SEVEN


@dataclass(frozen=True)
class Overlap:
    """Misaligned here against flagged there, over the decided pairs that both looked at.

    `assumed`: the list tells only what it flags; it is taken to have looked at all pairs of the data sets it touches.
    `flagged` is the list's own size; `unknown` of its ids nobody judged, `undecided` were not decided. `per_label`:
    of the pairs with a label (or `No Misalignment`), how many the list flags. `odds_ratio`, its interval and `kappa`
    are None where they are not defined or not finite; `p` is Fisher's, exact and two-sided.
    """

    name: str
    assumed: bool
    flagged: int
    unknown: tuple[str, ...]
    undecided: int
    both: int
    only_here: int
    only_there: int
    neither: int
    jaccard: Share
    kappa: float | None
    odds_ratio: float | None
    odds_low: float | None
    odds_high: float | None
    p: float
    per_label: Mapping[str, Share]

    @property
    def n(self) -> int:
        """Pairs that both looked at."""
        return self.both + self.only_here + self.only_there + self.neither


def overlap(judged: Judged, other: FilterList) -> Overlap:
    """The study `overlap`. Raises EvaluationInputError where there is no pair that both looked at."""
    import numpy as np

    seen = judged.touched(other.flagged) if other.looked_at is None else other.looked_at
    shared = sorted(seen & judged.labels.keys())
    if not shared:
        raise EvaluationInputError(f"{other.name}: none of its pairs is among the labels that were decided")
    here = np.array([judged.labels[identity] != NO_LABEL for identity in shared])
    there = np.array([identity in other.flagged for identity in shared])
    both, only_here = int((here & there).sum()), int((here & ~there).sum())
    only_there, neither = int((~here & there).sum()), int((~here & ~there).sum())
    return Overlap(
        other.name,
        other.looked_at is None,
        len(other.flagged),
        tuple(sorted(other.flagged - judged.ids)),
        len(other.flagged & (judged.undetermined | judged.failed)),
        both,
        only_here,
        only_there,
        neither,
        share(both, both + only_here + only_there),
        kappa(here, there),
        *_odds(both, only_here, only_there, neither),
        _per_label(judged, shared, other.flagged),
    )


def _per_label(judged: Judged, shared: Sequence[str], flagged: frozenset[str]) -> dict[str, Share]:
    with_label = {label: [i for i in shared if label in judged.labels[i]] for label in SEVEN}
    return {label: share(sum(i in flagged for i in ids), len(ids)) for label, ids in with_label.items()}


def _odds(
    both: int, only_here: int, only_there: int, neither: int
) -> tuple[float | None, float | None, float | None, float]:
    """The odds ratio, the ends of its interval (all None where a cell is empty), and Fisher's p."""
    from scipy.stats import fisher_exact
    from scipy.stats.contingency import odds_ratio

    table = [[both, only_here], [only_there, neither]]
    p = float(fisher_exact(table).pvalue)
    if not all(map(all, table)):
        return None, None, None, p
    ratio = odds_ratio(table, kind="sample")
    ends = ratio.confidence_interval(LEVEL)
    return float(ratio.statistic), float(ends.low), float(ends.high), p
