"""How sure a share is: Wilson's score interval."""

from __future__ import annotations

import math
from statistics import NormalDist

_Z = NormalDist().inv_cdf(0.975)


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % score interval of a proportion, for at least one trial.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference. Journal of the American
    Statistical Association 22 (1927), 209-212.
    """
    share, spread = successes / trials, _Z**2 / trials
    middle = share + spread / 2
    half = math.sqrt(spread * (share * (1 - share) + spread / 4))
    return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))
