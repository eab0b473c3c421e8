"""How a leaderboard changes when as many pairs are left out at random: what changes without misaligned pairs is
measured against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from checker.evaluation.experiments import Submission

ROUNDS = 1000
SEED = 0


@dataclass(frozen=True)
class Spread:
    """The mean over random draws, and the ends between which 95 % of them lie."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class ByChance:
    """Over `rounds` draws of `left_out` pairs: Kendall's tau-b of the leaderboards before and after, how many
    submissions change their rank, and the share of the draws whose tau is as low as the one observed.
    """

    left_out: int
    rounds: int
    seed: int
    tau: Spread
    moved: Spread
    as_low: float


def by_chance(
    submissions: Sequence[Submission], pairs: frozenset[str], left: int, tau: float | None
) -> ByChance | None:
    """What leaving out all but `left` of the pairs does at random; None where nothing is left out or no tau is known.

    Draws after which all submissions have one rate count with a tau of 0, for they order nothing.
    """
    import numpy as np
    from scipy.stats import rankdata

    if tau is None or not 0 < left < len(pairs):
        return None
    ids = sorted(pairs)
    resolved = np.array([[identity in one.resolved for identity in ids] for one in submissions], dtype=np.int64)
    dice = np.random.default_rng(SEED)
    kept = [dice.permutation(len(ids))[:left] for _ in range(ROUNDS)]
    before, drawn = resolved.sum(axis=1), np.array([resolved[:, some].sum(axis=1) for some in kept])
    taus = np.array([kendall_tau(before, after) or 0.0 for after in drawn])
    ranks, ranks_drawn = (rankdata(-counts, method="min", axis=-1) for counts in (before, drawn))
    moved = np.count_nonzero(ranks_drawn != ranks, axis=1)
    as_low = float(np.mean(taus <= tau + 1e-9))
    return ByChance(len(ids) - left, ROUNDS, SEED, _spread(taus), _spread(moved), as_low)


def kendall_tau(before: Sequence[int], after: Sequence[int]) -> float | None:
    """Kendall's tau-b of two orders; None where one of them has a single rank."""
    from scipy.stats import kendalltau

    return float(kendalltau(before, after).statistic) if len(set(before)) > 1 and len(set(after)) > 1 else None


def _spread(values: Any) -> Spread:
    import numpy as np

    low, high = np.percentile(values, (2.5, 97.5))
    return Spread(float(values.mean()), float(low), float(high))
