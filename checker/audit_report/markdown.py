"""An audit as short GitHub Markdown: for an issue, or beside a data set. Nothing in it pings, refers or renders.

It has no links either: GitHub would tell each pull request that is linked to, in projects that never asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checker.audit_report import telling
from checker.audit_report.pairs import in_order
from checker.audit_report.rates import FEW, Rates, Share, cost, rates
from checker.audit_report.reading import Audit, Row
from checker.render import VERDICT_WORDS, inert, one_line
from checker.report import Finding, Verdict
from checker.taxonomy import Label

_LONGEST = 60_000  # GitHub takes 65,536 characters for an issue or a comment
_LONGEST_QUOTE = 240
_MOST_REPOSITORIES = 20


def as_markdown(audit: Audit) -> str:
    """The same facts as the page's, with one quote a finding; at most about 60,000 characters."""
    numbers = rates(audit.judged)
    made = (*telling.made(audit), *telling.cost_said(cost((*audit.judged, *audit.failed)), audit.spent))
    lines = [f"# {inert(telling.title(audit))}", "", inert(telling.judged_by(numbers)), ""]
    lines += [*(f"- {inert(sentence)}" for sentence in made), ""]
    lines += _tables(numbers)
    head = "\n".join(lines)
    return f"{head}\n{_misaligned(audit.judged, _LONGEST - len(head))}".rstrip() + "\n"


def _tables(numbers: Rates) -> list[str]:
    whole = numbers.pairs
    actions = [(a.value, numbers.actions[a], meaning) for a, meaning in telling.ACTION_MEANINGS.items()]
    verdicts = [(VERDICT_WORDS[v], numbers.verdicts[v], meaning) for v, meaning in telling.VERDICT_MEANINGS.items()]
    return [
        *_counts("action", actions, whole),
        *_counts("verdict", verdicts, whole),
        *_labels(numbers),
        *_repositories(numbers),
        *_unread(numbers),
        f"*{inert(telling.INTERVALS)}*",
        "",
    ]


def _counts(head: str, rows: Iterable[tuple[str, int, str]], whole: int) -> list[str]:
    cells = [(name, f"{count:,}", telling.percent(Share(count, whole)), words) for name, count, words in rows]
    return _table((head, "pairs", "share", "means"), cells)


def _labels(numbers: Rates) -> list[str]:
    rows = [
        (_name(rate.label), f"{rate.found.count:,}", _share(rate.found), f"{rate.unread:,}") for rate in numbers.labels
    ]
    return _table(("label", "pairs", "share", "other pairs in which not all was read"), rows)


def _repositories(numbers: Rates) -> list[str]:
    shown, others = numbers.repositories[:_MOST_REPOSITORIES], numbers.repositories[_MOST_REPOSITORIES:]
    rows = [
        (
            inert((rate.name or "(unknown)")[:200]),
            f"{rate.misaligned.whole:,}",
            f"{rate.misaligned.count:,}",
            _share(rate.misaligned),
            f"{rate.verdicts[Verdict.UNDETERMINED]:,}",
            ", ".join(f"{label} {count:,}" for label, count in rate.labels.items() if count),
        )
        for rate in shown
    ]
    table = _table(("repository", "pairs", "misaligned", "share", "undetermined", "labels"), rows)
    return [*table, f"{len(others):,} more repositories.", ""] if others else table


def _unread(numbers: Rates) -> list[str]:
    rows = [(artifact.words, f"{no:,}", f"{part:,}") for artifact, (no, part) in numbers.unread.items()]
    return _table(("artifact", "not read", "in part"), rows) if rows else []


def _misaligned(rows: Iterable[Row], room: int) -> str:
    """The misaligned pairs, as many as there is room for."""
    listed = [_pair(row) for row in in_order(rows) if row.report.verdict is Verdict.MISALIGNED]
    said = f"## Misaligned pairs: {len(listed):,}\n\n"
    for number, text in enumerate(listed):
        if len(said) + len(text) > room:
            return f"{said}\n{len(listed) - number:,} more stand in the page and in `results.jsonl`."
        said += text
    return said


def _pair(row: Row) -> str:
    found = "".join(line for finding in row.report.findings for line in _finding(finding))
    return f"- **{inert(_short(row.report.id))}**: {row.advice.action}. {inert(_short(row.advice.reason))}\n{found}"


def _finding(finding: Finding) -> Iterator[str]:
    scenario = f", {finding.scenario}: {finding.scenario.words}" if finding.scenario else ""
    yield f"  - {_name(finding.label)}{scenario} ({finding.confidence} confidence). {inert(_short(finding.reason))}\n"
    if not finding.evidence:
        yield "    No quote proves it.\n"
    for evidence in finding.evidence[:1]:
        yield f"    “{inert(_short(evidence.quote))}” ({inert(_short(evidence.source))})\n"
    if finding.repair:
        yield f"    Repair: {inert(_short(finding.repair))}\n"


def _name(label: Label) -> str:
    return label.value if label is Label.OTHERS else f"{label} {label.words}"


def _share(share: Share) -> str:
    few = ", few" if share.whole < FEW else ""
    return f"{telling.percent(share)} ({telling.interval(share)}{few})"


def _short(text: str) -> str:
    said = one_line(text[:_LONGEST_QUOTE])
    return said if len(text) <= _LONGEST_QUOTE else f"{said.rpartition(' ')[0] or said} …"


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """A table; its cells are inert or our own words."""
    lines = [heads, ("---",) * len(heads), *rows]
    return [*(f"| {' | '.join(cells)} |" for cells in lines), ""]
