"""What the paper's live study reports, of this App: how much was checked and flagged, and what people said to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import Any

import sqlalchemy as sa

from bot import tables
from bot.checked import AnswerKind, Standing
from bot.feedback import DOWN, UP, in_repositories
from bot.store import Store
from checker.taxonomy import Label
from checker.wilson import wilson

Interval = tuple[float, float]


@dataclass(frozen=True)
class Words:
    """What the people of one standing said. `answered`: the pull requests on which one of them did.

    `confirmed`, `disputed`: last words, one for each pull request, label and person. `unclassified`: people, one for
    each pull request, who answered and left no such word; None for a single label, since they name none.
    """

    answered: int
    confirmed: int
    disputed: int
    unclassified: int | None

    @property
    def precision(self) -> float | None:
        """The share of `confirmed` in all that was confirmed or disputed; None where nothing was."""
        counted = self.confirmed + self.disputed
        return self.confirmed / counted if counted else None

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of `precision`."""
        counted = self.confirmed + self.disputed
        return wilson(self.confirmed, counted) if counted else None


@dataclass(frozen=True)
class Tally:
    """Pull requests that were checked, those flagged, and what was said to it."""

    sampled: int
    flagged: int
    maintainers: Words
    authors: Words


@dataclass(frozen=True)
class Thumbs:
    """Thumbs on our comments: those that stand now, and those that were taken back."""

    up: int
    down: int
    taken_back: int


@dataclass(frozen=True)
class Group:
    """The figures of one repository (None: of all) over all labels, and for each label."""

    repository: str | None
    whole: Tally
    labels: Mapping[Label, Tally]
    thumbs: Thumbs


@dataclass(frozen=True)
class Part:
    """The figures of the checks in one mode."""

    whole: Group
    repositories: tuple[Group, ...]


@dataclass(frozen=True)
class Study:
    """Checks that people could see, and shadow runs. `without_checks`: repositories asked for that have none."""

    since: date | None
    shown: Part
    shadow: Part
    without_checks: tuple[str, ...] = ()


def study(store: Store, *, repositories: Sequence[str] = (), since: date | None = None) -> Study:
    """The study of all repositories, or of these (owner/name).

    `since`: only checks that finished on this day (UTC) or later, answers to those, and thumbs first seen since.
    """
    start = datetime.combine(since, time(), UTC) if since else None
    cases = _cases(store, repositories, start)
    thumbs = _thumbs(store, repositories, start)
    checked = {case.repository.lower() for case in cases}
    return Study(
        since,
        _part([case for case in cases if not case.is_shadow], thumbs),
        _part([case for case in cases if case.is_shadow], {}),
        tuple(name for name in repositories if name.lower() not in checked),
    )


# Reading


@dataclass
class _Case:
    """A pull request as it was checked in one mode. `words`: the last ones, by label and login; `others`: who answered
    otherwise.
    """

    repository: str
    is_shadow: bool
    labels: set[str] = field(default_factory=set)
    words: dict[tuple[str, str], tuple[AnswerKind, Standing]] = field(default_factory=dict)
    others: dict[str, Standing] = field(default_factory=dict)


def _cases(store: Store, repositories: Sequence[str], start: datetime | None) -> list[_Case]:
    cases: dict[tuple[int, bool], _Case] = {}
    for check in store.select(_newest_checks(repositories, start)):
        cases[check.id, check.shadow] = _Case(check.repository, check.shadow, set(check.labels))
    for answer in store.select(_answers(repositories, start)):
        # A check that is gone was one that people saw: shadow runs get no answers but by chance.
        is_shadow = bool(answer.shadow)
        case = cases.setdefault((answer.pull_request, is_shadow), _Case(answer.repository, is_shadow))
        _hear(case, answer)
    return list(cases.values())


def _newest_checks(repositories: Sequence[str], start: datetime | None) -> sa.Select[Any]:
    """Of each pull request the newest finished run in each mode: a backfill in shadow hides no check that was seen."""
    runs, pulls = tables.runs, tables.pull_requests
    order = sa.func.row_number().over(
        partition_by=(runs.c.pull_request, runs.c.shadow),
        order_by=(runs.c.trigger.desc(), runs.c.started_at.desc(), runs.c.id),
    )
    finished = sa.select(runs.c.id, order.label("place")).where(runs.c.report.is_not(None))
    if start:
        finished = finished.where(runs.c.finished_at >= start)
    ranked = finished.subquery()
    query = sa.select(pulls.c.id, pulls.c.repository, runs.c.shadow, runs.c.report["labels"].label("labels"))
    query = query.select_from(runs).join(pulls).join(ranked, ranked.c.id == runs.c.id)
    return query.where(ranked.c.place == 1, in_repositories(repositories))


def _answers(repositories: Sequence[str], start: datetime | None) -> sa.Select[Any]:
    """The answers, the oldest first, each with what the check that it is to had found."""
    answers, runs, pulls = tables.answers, tables.runs, tables.pull_requests
    columns = [answers.c[name] for name in ("pull_request", "kind", "label", "who", "standing")]
    found = runs.c.report["labels"].label("found")
    query = sa.select(*columns, pulls.c.repository, runs.c.shadow, found).select_from(answers).join(pulls)
    query = query.outerjoin(runs, runs.c.id == answers.c.run).where(in_repositories(repositories))
    if start:
        query = query.where(sa.func.coalesce(runs.c.finished_at, answers.c.at) >= start)
    return query.order_by(answers.c.at, answers.c.id)


def _hear(case: _Case, answer: Any) -> None:
    """A label that was ever shown and answered counts, also where the newest check no longer has it."""
    kind, standing = AnswerKind(answer.kind), Standing(answer.standing)
    # What is said to a comment that flags nothing is no answer to a finding.
    labels = [answer.label] if answer.label else answer.found or []
    case.labels.update(labels)
    if kind is not AnswerKind.UNCLASSIFIED:
        case.words.update({(label, answer.who): (kind, standing) for label in labels})
    elif labels:
        case.others[answer.who] = standing


def _thumbs(store: Store, repositories: Sequence[str], start: datetime | None) -> dict[str, Counter[str]]:
    """How many thumbs, by repository and by what became of them."""
    table, pulls = tables.thumbs, tables.pull_requests
    became = sa.case((table.c.gone_at.is_(None), table.c.content), else_=_TAKEN_BACK).label("became")
    query = sa.select(pulls.c.repository, became, sa.func.count().label("number")).select_from(table).join(pulls)
    query = query.where(in_repositories(repositories)).group_by(pulls.c.repository, became)
    if start:
        query = query.where(table.c.seen_at >= start)
    counted: dict[str, Counter[str]] = {}
    for row in store.select(query):
        counted.setdefault(row.repository, Counter())[row.became] = row.number
    return counted


_TAKEN_BACK = "taken back"


# Counting


def _part(cases: list[_Case], thumbs: Mapping[str, Counter[str]]) -> Part:
    by_repository: dict[str, list[_Case]] = {name: [] for name in thumbs}
    for case in cases:
        by_repository.setdefault(case.repository, []).append(case)
    groups = (_group(name, by_repository[name], thumbs.get(name, Counter())) for name in sorted(by_repository))
    return Part(_group(None, cases, sum(thumbs.values(), Counter())), tuple(groups))


def _group(repository: str | None, cases: Sequence[_Case], thumbs: Counter[str]) -> Group:
    labels = {label: _tally(cases, label) for label in Label}
    given = Thumbs(thumbs[UP], thumbs[DOWN], thumbs[_TAKEN_BACK])
    return Group(repository, _tally(cases, None), labels, given)


def _tally(cases: Sequence[_Case], label: Label | None) -> Tally:
    flagged = [case for case in cases if (label in case.labels if label else case.labels)]
    maintainers, authors = (_words(flagged, label, who) for who in (Standing.MAINTAINER, Standing.AUTHOR))
    return Tally(len(cases), len(flagged), maintainers, authors)


def _words(cases: Iterable[_Case], label: Label | None, standing: Standing) -> Words:
    answered, kinds = 0, Counter[AnswerKind]()
    for case in cases:
        said = [kind for (of, _), (kind, by) in case.words.items() if by is standing and label in (None, of)]
        if label is None:
            clear = {who for _, who in case.words}
            said += [AnswerKind.UNCLASSIFIED for who, by in case.others.items() if by is standing and who not in clear]
        answered += bool(said)
        kinds.update(said)
    unclassified = None if label else kinds[AnswerKind.UNCLASSIFIED]
    return Words(answered, kinds[AnswerKind.CONFIRM], kinds[AnswerKind.DISPUTE], unclassified)
