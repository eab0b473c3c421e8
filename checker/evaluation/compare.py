"""How sure a figure is, and how two methods differ: bootstrap intervals, McNemar's exact test, Cohen's kappa."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker.evaluation.metrics import FIGURES, Table, occurring
from checker.evaluation.trail import SEVEN

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEVEL = 0.95
_BLOCK = 128


@dataclass(frozen=True)
class Interval:
    """The middle 95 % of a figure over resampled pairs (percentile bootstrap)."""

    low: float
    high: float


@dataclass(frozen=True)
class McNemar:
    """The pairs that only the first, or only the second, has right, and the exact two-sided p value.

    `p_holm` is adjusted after Holm for all comparisons of the same kind in one evaluation.
    """

    only_first: int
    only_second: int
    p: float
    p_holm: float


@dataclass(frozen=True)
class Comparison:
    """Two methods over the `n` pairs that both are scored on, and their agreement on what is misaligned."""

    first: str
    second: str
    n: int
    exact_match: McNemar
    binary: McNemar
    kappa: float | None


def intervals(table: Table, rounds: int, seed: int) -> dict[str, Interval]:
    """An interval for every figure of `FIGURES` and `f1 LABEL` for every label of the macro figures.

    Pairs are drawn with replacement, as many as there are; the same seed draws the same pairs for every method on
    the same pairs. Macro figures keep the labels of the whole sample in every round.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    n, occurs = len(table.ids), occurring(table)
    columns = summands(table)
    names = (*FIGURES, *(f"f1 {label}" for label, there in zip(SEVEN, occurs, strict=True) if there))
    blocks = []
    for start in range(0, rounds, _BLOCK):
        size = min(_BLOCK, rounds - start)
        drawn = rng.integers(0, n, size=(size, n)) + n * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        blocks.append(figures_of(times.astype(np.float32) @ columns, n, occurs))
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(np.concatenate(blocks), [tail, 1 - tail], axis=0)
    return {name: Interval(float(low[i]), float(high[i])) for i, name in enumerate(names)}


def summands(table: Table) -> NDArray[np.float32]:
    """Pairs x what is summed over the drawn pairs. Sums stay far below 2**24, up to which float32 is exact."""
    import numpy as np

    people, said = table.truly_misaligned, table.said_misaligned
    binary = np.stack([people & said, people, said, people == said, table.exact], axis=1)
    per_label = [table.truth & table.said, table.truth, table.said, table.truth == table.said]
    return np.concatenate([binary, *per_label], axis=1).astype(np.float32)


def figures_of(sums: NDArray[np.float32], n: int, occurs: NDArray[np.bool_]) -> Floats:
    """Rounds x figures, from rounds x sums (`summands`), in the order of `FIGURES` and then F1 per label."""
    import numpy as np

    sums = sums.astype(np.float64)
    both, people, said, same, exact = sums[:, :5].T
    each = sums[:, 5:].reshape(len(sums), 4, len(SEVEN))[:, :, occurs]
    label_both, label_people, label_said, label_same = each.transpose(1, 0, 2)
    f1 = _ratio(2 * label_both, label_people + label_said)
    figures = (
        same / n,
        _ratio(both, said),
        _ratio(both, people),
        _ratio(2 * both, people + said),
        exact / n,
        (label_same / n).mean(axis=1),
        _ratio(label_both, label_said).mean(axis=1),
        _ratio(label_both, label_people).mean(axis=1),
        f1.mean(axis=1),
    )
    return np.column_stack([*figures, f1])


def _ratio(part: Floats, whole: Floats) -> Floats:
    """0 where the denominator is."""
    import numpy as np

    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def compare(tables: Sequence[Table]) -> tuple[Comparison, ...]:
    """Every two methods that share pairs, in order."""
    found = []
    for index, first in enumerate(tables):
        for second in tables[index + 1 :]:
            a, b = _common(first, second)
            if len(a):
                found.append((first, second, a, b))
    exact = [_discordant(f.exact[a], s.exact[b]) for f, s, a, b in found]
    binary = [_discordant(_right(f)[a], _right(s)[b]) for f, s, a, b in found]
    pairs = zip(found, _tested(exact), _tested(binary), strict=True)
    return tuple(
        Comparison(f.name, s.name, len(a), e, m, kappa(f.said_misaligned[a], s.said_misaligned[b]))
        for (f, s, a, b), e, m in pairs
    )


def _common(first: Table, second: Table) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
    """Where the pairs of both stand in each."""
    import numpy as np

    where = {identity: index for index, identity in enumerate(second.ids)}
    places = [(index, where[identity]) for index, identity in enumerate(first.ids) if identity in where]
    both = np.array(places, dtype=np.int_).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _right(table: Table) -> NDArray[np.bool_]:
    right: NDArray[np.bool_] = table.said_misaligned == table.truly_misaligned
    return right


def _discordant(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> tuple[int, int]:
    return int((first & ~second).sum()), int((~first & second).sum())


def _tested(counts: Sequence[tuple[int, int]]) -> list[McNemar]:
    raw = [mcnemar(*count) for count in counts]
    return [McNemar(*count, p, adjusted) for count, p, adjusted in zip(counts, raw, holm(raw), strict=True)]


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact two-sided p value of McNemar's test: a fair coin thrown once for each pair that one alone has right."""
    from scipy.stats import binomtest

    thrown = only_first + only_second
    return float(binomtest(only_first, thrown, 0.5).pvalue) if thrown else 1.0


def holm(values: Sequence[float]) -> list[float]:
    """p values adjusted for their number (Holm 1979): the chance of a single false alarm among all stays."""
    adjusted, worst = [0.0] * len(values), 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        worst = max(worst, min(1.0, (len(values) - rank) * values[index]))
        adjusted[index] = worst
    return adjusted


def kappas(table: Table) -> Mapping[str, float | None]:
    """Agreement with people: `binary`, and each label of the macro figures."""
    binary = {"binary": kappa(table.truly_misaligned, table.said_misaligned)}
    occurs = occurring(table)
    each = {label: kappa(table.truth[:, i], table.said[:, i]) for i, label in enumerate(SEVEN) if occurs[i]}
    return {**binary, **each}


def kappa(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> float | None:
    """Cohen's kappa of two judges, None where both always say the same one thing and chance explains it all."""
    from sklearn.metrics import cohen_kappa_score

    if first.all() == second.all() and first.any() == second.any() and first.any() == first.all():
        return None
    return float(cohen_kappa_score(first, second))
