"""Counts of a data set, as the paper's Tables 1 and 2: pairs, labels, label sets, per data set and repository.

A pair that was not decided is in no rate of misalignment; it is counted apart. That holds for all studies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from checker.evaluation.compare import LEVEL
from checker.evaluation.judged import Judged
from checker.evaluation.trail import NO_LABEL, SEVEN, LabelSet
from checker.taxonomy import Scenario

SIX = SEVEN[:-1]


@dataclass(frozen=True)
class Share:
    """`count` of `of`, as a fraction, with the 95 % interval of Wilson. None for all three where `of` is 0."""

    count: int
    of: int
    fraction: float | None
    low: float | None
    high: float | None


def share(count: int, of: int) -> Share:
    """A part of a whole and how sure it is."""
    from scipy.stats import binomtest

    if of == 0:
        return Share(0, 0, None, None, None)
    ends = binomtest(count, of).proportion_ci(LEVEL, method="wilson")
    return Share(count, of, count / of, float(ends.low), float(ends.high))


@dataclass(frozen=True)
class Group:
    """Some pairs: those decided, how many of them misaligned, with each label, each scenario (None: not told).

    `misaligned` is of the decided pairs, `at_least` of all judged ones: a lower bound, as some are open.
    """

    name: str
    misaligned: Share
    at_least: Share
    labels: Mapping[str, int]
    scenarios: Mapping[str, int] | None
    undetermined: int
    failed: int

    @property
    def without_label(self) -> int:
        """Decided pairs in which no label stands."""
        return self.misaligned.of - self.misaligned.count


@dataclass(frozen=True)
class Counts:
    """All pairs, each data set (none where the file does not name them), each repository (the largest first).

    `labels` are shares of the decided pairs; a pair with two labels is in both. `combinations` are exact label sets.
    """

    judge: str
    all: Group
    datasets: tuple[Group, ...]
    repositories: tuple[Group, ...]
    labels: Mapping[str, Share]
    combinations: tuple[tuple[str, Share], ...]


def counts(judged: Judged) -> Counts:
    """The study `counts`."""
    whole = group("all", judged.ids, judged)
    sets = Counter(labels for labels in judged.labels.values() if labels != NO_LABEL)
    order = sorted(sets.items(), key=lambda item: (-item[1], joined(item[0])))
    by_dataset = _grouped(judged, {identity: judged.datasets.get(identity, "") for identity in judged.ids})
    by_repository = _grouped(judged, {identity: judged.repository(identity) for identity in judged.ids})
    return Counts(
        judged.judge,
        whole,
        by_dataset if judged.datasets else (),
        by_repository,
        {label: share(whole.labels[label], whole.misaligned.of) for label in SIX},
        tuple((joined(labels), share(count, whole.misaligned.of)) for labels, count in order),
    )


def joined(labels: LabelSet) -> str:
    """Labels in the paper's order, as a file writes them."""
    return "|".join(label for label in SEVEN if label in labels)


def _grouped(judged: Judged, names: Mapping[str, str]) -> tuple[Group, ...]:
    members: dict[str, set[str]] = {}
    for identity, name in names.items():
        members.setdefault(name, set()).add(identity)
    order = sorted(members, key=lambda name: (-len(members[name]), name))
    return tuple(group(name, members[name], judged) for name in order)


def group(name: str, ids: Iterable[str], judged: Judged) -> Group:
    """Some judged pairs under a name."""
    ids = set(ids)
    decided = ids & judged.labels.keys()
    misaligned = [identity for identity in decided if judged.labels[identity] != NO_LABEL]
    labels = Counter(label for identity in misaligned for label in judged.labels[identity])
    told = judged.scenarios
    found = Counter(one for identity in misaligned for one in told[identity]) if told is not None else None
    return Group(
        name,
        share(len(misaligned), len(decided)),
        share(len(misaligned), len(ids)),
        {label: labels[label] for label in SIX},
        {one.value: found[one.value] for one in Scenario} if found is not None else None,
        len(ids & judged.undetermined),
        len(ids & judged.failed),
    )
