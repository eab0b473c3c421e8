"""The end of an audit on a terminal: counts per verdict, label, action and repository, cost and time."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from checker.recommendation import Action
from checker.render import one_line
from checker.report import Verdict
from checker.taxonomy import Label

_MOST_REPOSITORIES = 10
_LONGEST_NAME = 40
_MOST_CAUSES = 3
_LONGEST_CAUSE = 160
_NEARLY_ALL = 0.9
_FAILED = re.compile(r" failed(?:, so .*? stay open)?: (.+)", re.DOTALL)


@dataclass
class Tally:
    """Counts over the rows of an audit's results."""

    pairs: int = 0
    unread: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    actions: Counter[str] = field(default_factory=Counter)
    repositories: Counter[str] = field(default_factory=Counter)
    misaligned: Counter[str] = field(default_factory=Counter)
    backends: Counter[str] = field(default_factory=Counter)

    def add(self, row: Mapping[str, Any]) -> None:
        """Counts one row."""
        repository = row.get("repository") or "(unknown)"
        self.pairs += 1
        self.unread += row["verdict"] == Verdict.UNDETERMINED and bool(row["unread"] or row["partial"])
        self.verdicts[row["verdict"]] += 1
        self.labels.update(row["labels"])
        self.actions[row["action"]] += 1
        self.repositories[repository] += 1
        self.misaligned[repository] += row["verdict"] == Verdict.MISALIGNED
        self.backends[row["backend"]] += 1


@dataclass(frozen=True)
class Unfinished:
    """Pairs without a result; of those that failed among them what their reports left open; unreadable records."""

    left: int = 0
    failures: Sequence[Sequence[str]] = ()
    unreadable: int = 0


def summary(tally: Tally, spent: str, unfinished: Unfinished, seconds: float, source: str) -> str:
    """The summary. `spent`: in all runs (`tokens_said`); `seconds`: of this run; `source`: as the person named it."""
    judges = one_line(", ".join(sorted(tally.backends)))
    lines = [f"{tally.pairs:,} pairs judged by {judges}" if tally.pairs else "No pair was judged", *_open(unfinished)]
    lines += _tables(tally) if tally.pairs else []
    lines += ["", *unread] if (unread := list(_unread(tally, source))) else []
    lines += ["", f"{spent} in all runs; {time_said(seconds)} in this run"]
    return "\n".join(lines) + "\n"


def _open(unfinished: Unfinished) -> Iterator[str]:
    if unfinished.left:
        failed = len(unfinished.failures)
        yield f"{unfinished.left:,} without a result" + (
            f", {failed:,} of them failed (failures.jsonl)" if failed else ""
        )
        causes = Counter(cause for said in unfinished.failures for cause in set(_causes(said)))
        for cause, count in causes.most_common(_MOST_CAUSES):
            yield f"  {count:>6,}  {cause}"
        if len(causes) > _MOST_CAUSES:
            yield f"          and {len(causes) - _MOST_CAUSES:,} other causes"
    if unfinished.unreadable:
        yield f"records that could not be read: {unfinished.unreadable:,} (unreadable.jsonl)"


def _causes(said: Iterable[str]) -> Iterator[str]:
    for sentence in said:
        found = _FAILED.search(sentence)
        if found:
            yield _short(found[1], _LONGEST_CAUSE)


def _unread(tally: Tally, source: str) -> Iterator[str]:
    """Where rules had to leave open nearly all in which no label stands, for want of texts: how to get these."""
    without_label = tally.pairs - tally.verdicts[Verdict.MISALIGNED]
    if set(tally.backends) == {"rules"} and tally.unread and tally.unread >= _NEARLY_ALL * without_label:
        yield (
            f"{tally.unread:,} of {tally.pairs:,} pairs are undetermined and were not read whole; "
            f"paichecker collect --complete {shlex.quote(one_line(source))} -o whole.jsonl reads the rest from GitHub"
        )


def _tables(tally: Tally) -> Iterator[str]:
    for title, names, counts in (
        ("verdict", Verdict, tally.verdicts),
        ("label", Label, tally.labels),
        ("action", Action, tally.actions),
    ):
        yield ""
        yield from _table(title, [(str(name), counts[name]) for name in names], tally.pairs)
    yield ""
    yield from _repositories(tally)


def dollars_said(dollars: float | None) -> str:
    """An amount, or that it is not known."""
    return "price unknown" if dollars is None else f"${dollars:,.2f}"


def tokens_said(tokens: int, dollars: float | None) -> str:
    """Tokens and their price. What no model of ours took, at an unknown price, is what an agent of others took."""
    known = tokens or dollars is not None
    return f"{tokens:,} tokens, {dollars_said(dollars)}" if known else "tokens and price unknown"


def time_said(seconds: float) -> str:
    """Hours, minutes and seconds, as far as there are any."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{seconds:.1f} s"


def _table(title: str, rows: Iterable[tuple[str, int]], whole: int) -> Iterator[str]:
    yield f"{title:<16}{'pairs':>8}{'share':>9}"
    for name, count in rows:
        yield f"  {name:<14}{count:>8,}{count / whole:>9.1%}"


def _repositories(tally: Tally) -> Iterator[str]:
    top = sorted(tally.repositories, key=lambda name: (-tally.misaligned[name], name))[:_MOST_REPOSITORIES]
    names = {name: _short(name) for name in top}
    width = max(map(len, names.values()), default=0) + 4
    more = len(tally.repositories) - len(top)
    yield f"{'repository':<{max(width, 14)}}{'pairs':>8}{'misaligned':>12}{'share':>9}"
    for name in top:
        pairs, bad = tally.repositories[name], tally.misaligned[name]
        yield f"  {names[name]:<{max(width, 14) - 2}}{pairs:>8,}{bad:>12,}{bad / pairs:>9.1%}"
    if more > 0:
        yield f"  and {more:,} more"


def _short(text: str, longest: int = _LONGEST_NAME) -> str:
    said = one_line(text)
    return said if len(said) <= longest else f"{said[: longest - 3]}..."
