"""The end of an audit on a terminal: counts per verdict, label, action and repository, cost and time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from checker.account import Account
from checker.recommendation import Action
from checker.render import one_line
from checker.report import Verdict
from checker.taxonomy import Label

_MOST_REPOSITORIES = 10
_LONGEST_NAME = 40


@dataclass
class Tally:
    """Counts over the rows of an audit's results."""

    pairs: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    actions: Counter[str] = field(default_factory=Counter)
    repositories: Counter[str] = field(default_factory=Counter)
    misaligned: Counter[str] = field(default_factory=Counter)
    backends: Counter[str] = field(default_factory=Counter)

    def add(self, row: Mapping[str, Any]) -> None:
        """Counts one row."""
        repository = row["repository"] or "(unknown)"
        self.pairs += 1
        self.verdicts[row["verdict"]] += 1
        self.labels.update(row["labels"])
        self.actions[row["action"]] += 1
        self.repositories[repository] += 1
        self.misaligned[repository] += row["verdict"] == Verdict.MISALIGNED
        self.backends[row["backend"]] += 1


def summary(tally: Tally, account: Account, failed: int, left: int, seconds: float) -> str:
    """The summary. `left`: pairs without a result, the failed among them; `seconds`: of this run."""
    lines = [f"{tally.pairs:,} pairs judged by {one_line(', '.join(sorted(tally.backends))) or 'nobody'}"]
    if left:
        lines.append(f"{left:,} without a result" + (f", {failed:,} of them failed (failures.jsonl)" if failed else ""))
    for title, names, counts in (
        ("verdict", Verdict, tally.verdicts),
        ("label", Label, tally.labels),
        ("action", Action, tally.actions),
    ):
        lines += ["", *_table(title, [(str(name), counts[name]) for name in names], tally.pairs)]
    lines += ["", *_repositories(tally)]
    lines += [
        "",
        f"{account.tokens:,} tokens, {dollars_said(account.dollars)} in all runs; {time_said(seconds)} in this",
    ]
    return "\n".join(lines) + "\n"


def dollars_said(dollars: float | None) -> str:
    """An amount, or that it is not known."""
    return "price unknown" if dollars is None else f"${dollars:,.2f}"


def time_said(seconds: float) -> str:
    """Hours, minutes and seconds, as far as there are any."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{seconds:.1f} s"


def _table(title: str, rows: Iterable[tuple[str, int]], whole: int) -> Iterator[str]:
    yield f"{title:<16}{'pairs':>8}{'share':>9}"
    for name, count in rows:
        yield f"  {name:<14}{count:>8,}{count / whole if whole else 0:>9.1%}"


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


def _short(name: str) -> str:
    said = one_line(name)
    return said if len(said) <= _LONGEST_NAME else f"{said[: _LONGEST_NAME - 3]}..."
