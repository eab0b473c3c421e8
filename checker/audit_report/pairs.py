"""The pairs of an audit as the page's data: strangers' text made plain, addresses checked, repeated sentences pooled.

The page's script sets it as text alone; what is done here is what text alone does not do: show what hides or
reorders, keep the size in bounds, and leave no address that is not one of a forge's pages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from checker.audit_report.reading import Row
from checker.evidence import Evidence
from checker.pair import pair_id
from checker.recommendation import ADDED, Action
from checker.render import not_proved, one_line, plain, sections
from checker.report import Finding, Verdict
from checker.taxonomy import Role

FAILED = "failed"
_LONGEST = 20_000
LONGEST_NAME = 200
_ADDRESS = re.compile(
    r"https://[a-z0-9][a-z0-9.-]*(?::\d{1,5})?/[\w.-]+/[\w.-]+/(?:pull|issues|commit|discussions|commits)/[\w./#-]+",
    re.ASCII,
)
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_ACTIONS_FIRST = {Action.DROP: 0, Action.REPAIR: 1, Action.LOOK: 2, Action.KEEP: 3}
_VERDICTS_FIRST = {Verdict.MISALIGNED: 0, Verdict.UNDETERMINED: 2, Verdict.NOTHING_FOUND: 3, Verdict.ALIGNED: 4}


def in_order(rows: Iterable[Row]) -> list[Row]:
    """Misaligned pairs first, what to drop before what to repair; then failed checks, then what is open."""

    def place(row: Row) -> tuple[int, int, str]:
        verdict = 1 if row.failed else _VERDICTS_FIRST[row.report.verdict]
        return verdict, _ACTIONS_FIRST[row.advice.action], row.report.id

    return sorted(rows, key=place)


def shown_repository(name: str | None) -> str:
    """A repository as the page names it."""
    return "(unknown)" if name is None else _line(name, LONGEST_NAME)


def address(url: str | None) -> str | None:
    """The address of a page of a repository, or None for whatever else it may be."""
    return url if url is not None and _ADDRESS.fullmatch(url) and len(url) < 500 else None


def pull_request(row: Row) -> str | None:
    """Where the pull request stands on GitHub, for ids as SWE-bench-like data sets write them."""
    number = row.report.id.rpartition("-")[2]
    if (
        row.repository is None
        or not (number.isascii() and number.isdigit())
        or not _REPOSITORY.fullmatch(row.repository)
    ):
        return None
    if row.report.id.lower() != pair_id(row.repository, int(number)).lower():
        return None
    return f"https://github.com/{row.repository}/pull/{int(number)}"


def as_data(rows: Iterable[Row]) -> str:
    """The pairs as JSON in ASCII that ends no script element, whatever they hold."""
    pool = _Pool()
    data = {"pairs": [_pair(row, pool) for row in in_order(rows)], "texts": pool.texts}
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


@dataclass
class _Pool:
    """Sentences that many pairs share, each once."""

    texts: list[str] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)

    def put(self, sentence: str) -> int:
        """The sentence's number."""
        if sentence not in self.places:
            self.places[sentence] = len(self.texts)
            self.texts.append(_line(sentence))
        return self.places[sentence]


def _pair(row: Row, pool: _Pool) -> dict[str, Any]:
    report = row.report
    told = [[title, [pool.put(item) for item in items]] for title, items in sections(report)]
    data = {
        "id": _line(report.id, LONGEST_NAME),
        "repository": shown_repository(row.repository),
        "verdict": FAILED if row.failed else report.verdict.value,
        "labels": list(report.labels),
        "action": "" if row.failed else row.advice.action.value,
        "by": pool.put(report.backend),
        "reason": pool.put("The check gave no whole answer." if row.failed else row.advice.reason),
        "url": pull_request(row),
        "findings": [_finding(finding) for finding in report.findings],
        "statement": None if row.failed else _statement(row.advice.statement),
        "sections": told,
    }
    return {name: value for name, value in data.items() if value not in (None, [], "")}


def _finding(finding: Finding) -> dict[str, Any]:
    kept = [f"{role.words}: keep; {decision.reason}" for role, decision in finding.decisions]
    scenario = f"{finding.scenario}: {finding.scenario.words}" if finding.scenario else ""
    return {
        "label": finding.label.value,
        "name": finding.label.words,
        "scenario": scenario,
        "confidence": finding.confidence.value,
        "by": Role(finding.by).words,
        "reason": _line(finding.reason),
        "quotes": [_quote(evidence) for evidence in finding.evidence],
        "notes": [_line(said) for said in (*not_proved(finding), *kept)],
        "repair": _line(finding.repair),
    }


def _quote(evidence: Evidence) -> dict[str, str]:
    place = f", {evidence.path}:{evidence.line}" if evidence.path else ""
    author = f", by {evidence.author}" if evidence.author else ""
    quote = {"text": _text(evidence.quote), "source": _line(f"{evidence.source}{place}{author}", 500)}
    url = address(evidence.url)
    return {**quote, "url": url} if url else quote


def _statement(statement: str | None) -> dict[str, str] | None:
    """An amended statement as what it was and what is added: the last mark is ours, other text may hold one before."""
    if statement is None:
        return None
    before, mark, added = statement.rpartition(f"\n{ADDED}\n")
    return {"before": _text(before.rstrip()), "added": _text((mark + added).strip())}


def _line(text: str, most: int = _LONGEST) -> str:
    return one_line(cut(text, most))


def _text(text: str) -> str:
    """Lines that stay lines."""
    return "\n".join(plain(line.expandtabs(4)) for line in cut(text).splitlines())


def cut(text: str, most: int = _LONGEST) -> str:
    """A text within bounds, which says what it leaves out."""
    left = len(text) - most
    return text if left <= 0 else f"{text[:most]} [… {left:,} more characters, in results.jsonl]"
