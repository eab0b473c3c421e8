"""Misalignment against the number of agents that solve a pair, and the leaderboard without misaligned pairs.

The paper's Figures 2 and 3. A pair is unsolved by an agent whose results do not name it as solved, as on the
leaderboard of SWE-bench.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from checker.evaluation.chance import ByChance, by_chance, kendall_tau
from checker.evaluation.experiments import Submission
from checker.evaluation.judged import Judged
from checker.evaluation.labels import EvaluationInputError
from checker.evaluation.studies import Share, group, share
from checker.evaluation.trail import NO_LABEL

_SINGLE_BINS = 10
_RANGES = 5


@dataclass(frozen=True)
class Bin:
    """The decided pairs that `least` to `most` agents solve, and how many of them are misaligned."""

    least: int
    most: int
    misaligned: Share


@dataclass(frozen=True)
class Contrast:
    """Without bins: the median number of agents that solve a pair, and the Mann-Whitney U test.

    `fewer` is the chance that a misaligned pair is solved by fewer agents than one without a label (ties half).
    """

    median_misaligned: float
    median_without_label: float
    fewer: float
    p: float | None


@dataclass(frozen=True)
class Standing:
    """A submission's resolved rate on all judged pairs, on those without a label, and on the misaligned.

    Ranks: 1 is best, equal rates share the better rank; `rank_without` is None where no pair is without a label.
    """

    name: str
    all: Share
    without_label: Share
    misaligned: Share
    rank: int
    rank_without: int | None
    unknown: int
    unrecorded: int

    @property
    def climbs(self) -> int | None:
        """Places won (or lost, below 0) by leaving the misaligned pairs out; None where none are left."""
        return None if self.rank_without is None else self.rank - self.rank_without


@dataclass(frozen=True)
class Solved:
    """`pairs` judged, of which `decided`; `unknown` ids that submissions solve and nobody judged.

    `tau` is Kendall's tau-b of the two leaderboards, None with fewer than two different rates; `chance` what it is
    when as many pairs are left out at random.
    """

    judge: str
    pairs: int
    misaligned: Share
    undetermined: int
    failed: int
    bins: tuple[Bin, ...]
    contrast: Contrast | None
    standings: tuple[Standing, ...]
    tau: float | None
    chance: ByChance | None
    unknown: tuple[str, ...]
    without_results: tuple[str, ...]


def solved(judged: Judged, submissions: Sequence[Submission], without_results: Sequence[str] = ()) -> Solved:
    """The study `solved`, over the judged pairs of each data set that the submissions touch.

    Raises EvaluationInputError where no submission touches any.
    """
    touched = frozenset[str]().union(*(one.resolved | (one.recorded or frozenset()) for one in submissions))
    pairs = judged.touched(touched)
    if not pairs:
        shown = min(touched, default="no id")
        raise EvaluationInputError(f"none of the ids that submissions name ({shown!r}, ...) is among the labels")
    times = Counter(identity for one in submissions for identity in one.resolved)
    whole = group("all", pairs, judged)
    misaligned = {i: times[i] for i in pairs if judged.labels.get(i, NO_LABEL) != NO_LABEL}
    rest = {i: times[i] for i in pairs if judged.labels.get(i) == NO_LABEL}
    standings = _standings(submissions, pairs, misaligned.keys(), rest.keys())
    tau = kendall_tau([one.all.count for one in standings], [one.without_label.count for one in standings])
    return Solved(
        judged.judge,
        len(pairs),
        whole.misaligned,
        whole.undetermined,
        whole.failed,
        tuple(_bin(edges, misaligned.values(), rest.values()) for edges in bin_edges(len(submissions))),
        _contrast(list(misaligned.values()), list(rest.values())),
        standings,
        tau,
        by_chance(submissions, pairs, len(rest), tau),
        tuple(sorted(times.keys() - judged.ids)),
        tuple(without_results),
    )


def bin_edges(agents: int) -> list[tuple[int, int]]:
    """Up to ten agents each number by itself; else none, and five ranges as equal as whole numbers allow."""
    if agents <= _SINGLE_BINS:
        return [(number, number) for number in range(agents + 1)]
    ends = [agents * step // _RANGES for step in range(_RANGES + 1)]
    return [(0, 0), *((low + 1, high) for low, high in pairwise(ends))]


def _bin(edges: tuple[int, int], misaligned: Iterable[int], rest: Iterable[int]) -> Bin:
    least, most = edges
    inside, beside = (sum(least <= times <= most for times in some) for some in (misaligned, rest))
    return Bin(least, most, share(inside, inside + beside))


def _contrast(misaligned: Sequence[int], rest: Sequence[int]) -> Contrast | None:
    """None where one side is empty."""
    from scipy.stats import mannwhitneyu

    if not misaligned or not rest:
        return None
    varies = len({*misaligned, *rest}) > 1
    test = mannwhitneyu(rest, misaligned) if varies else None
    fewer = float(test.statistic) / (len(misaligned) * len(rest)) if test else 0.5
    p = float(test.pvalue) if test else None
    return Contrast(statistics.median(misaligned), statistics.median(rest), fewer, p)


def _standings(
    submissions: Sequence[Submission], pairs: frozenset[str], misaligned: Iterable[str], rest: Iterable[str]
) -> tuple[Standing, ...]:
    """The best on all pairs first."""
    misaligned, rest = frozenset(misaligned), frozenset(rest)
    on_all = [len(one.resolved & pairs) for one in submissions]
    on_rest = [len(one.resolved & rest) for one in submissions]
    rows = [
        Standing(
            one.name,
            share(everywhere, len(pairs)),
            share(there, len(rest)),
            share(len(one.resolved & misaligned), len(misaligned)),
            1 + sum(other > everywhere for other in on_all),
            1 + sum(other > there for other in on_rest) if rest else None,
            len(one.resolved - pairs),
            len(pairs - one.recorded) if one.recorded is not None else 0,
        )
        for one, everywhere, there in zip(submissions, on_all, on_rest, strict=True)
    ]
    return tuple(sorted(rows, key=lambda row: (row.rank, row.rank_without or 0, row.name)))
