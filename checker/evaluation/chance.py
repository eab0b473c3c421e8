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

    if tau is None or not 0 < left < len(pairs):
        return None
    ids = sorted(pairs)
    resolved = np.array([[identity in one.resolved for identity in ids] for one in submissions], dtype=np.int64)
    dice = np.random.default_rng(SEED)
    kept = [dice.permutation(len(ids))[:left] for _ in range(ROUNDS)]
    before, drawn = resolved.sum(axis=1), [resolved[:, some].sum(axis=1) for some in kept]
    taus = np.array([_tau_b(before, after) for after in drawn])
    moved = np.array([np.count_nonzero(_ranks(before) != _ranks(after)) for after in drawn])
    as_low = float(np.mean(taus <= tau + 1e-9))
    return ByChance(len(ids) - left, ROUNDS, SEED, _spread(taus), _spread(moved), as_low)


def _tau_b(before: Any, after: Any) -> float:
    """Kendall's tau-b; 0 where all are alike."""
    import numpy as np

    first, second = (np.sign(counts[None, :] - counts[:, None]) for counts in (before, after))
    unequal = np.count_nonzero(first) * np.count_nonzero(second)
    return float((first * second).sum() / np.sqrt(unequal)) if unequal else 0.0


def _ranks(counts: Any) -> Any:
    return (counts[None, :] > counts[:, None]).sum(axis=1)


def _spread(values: Any) -> Spread:
    import numpy as np

    low, high = np.percentile(values, (2.5, 97.5))
    return Spread(float(values.mean()), float(low), float(high))
