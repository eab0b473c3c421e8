"""What a study stands on: people's labels, or those of an audit, and who judged."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from checker.datasets.columns import instance
from checker.evaluation.labels import file_text, holds_reports, read_labels, read_predictions
from checker.evaluation.trail import LabelSet
from checker.report import Verdict
from checker.taxonomy import Scenario


@dataclass(frozen=True)
class Judged:
    """Labels by id, `No Misalignment` among them, of the pairs that were decided.

    `undetermined` and `failed` (no answer) are apart: they are neither misaligned nor without a label.
    `datasets` is empty, and `scenarios` None, where the file does not tell them.
    """

    judge: str
    labels: Mapping[str, LabelSet]
    undetermined: frozenset[str] = frozenset()
    failed: frozenset[str] = frozenset()
    datasets: Mapping[str, str] = field(default_factory=dict)
    repositories: Mapping[str, str] = field(default_factory=dict)
    scenarios: Mapping[str, frozenset[str]] | None = None

    @property
    def ids(self) -> frozenset[str]:
        """All pairs that were judged, decided or not."""
        return self.undetermined | self.failed | self.labels.keys()

    def touched(self, ids: frozenset[str]) -> frozenset[str]:
        """The judged pairs of all data sets of which these ids name a pair (`evaluate` counts the same way)."""
        touched = {self.datasets.get(identity, "") for identity in ids & self.ids}
        return frozenset(identity for identity in self.ids if self.datasets.get(identity, "") in touched)

    def repository(self, identity: str) -> str:
        """As the audit says, or as the id does; empty where neither names one."""
        return self.repositories.get(identity) or instance(identity)[0] or ""


def read_judged(path: Path) -> Judged:
    """People's labels from a CSV, or an audit (its folder, its results, one report a line).

    Raises EvaluationInputError.
    """
    if holds_reports(path):
        return _read_audit(path)
    truth = read_labels(path)
    named = {identity: name for identity, name in truth.datasets.items() if name}
    return Judged(f"people ({path.name})", truth.labels, datasets=named)


def _read_audit(path: Path) -> Judged:
    (method,) = read_predictions([path])
    answers = method.predictions.items()
    rows = {row.get("id", row.get("instance_id")): row for row in _reports(path)}
    decided = {i: one.labels for i, one in answers if one.labels is not None and not one.undecided}
    return Judged(
        _judge(method.name, rows.values()),
        decided,
        undetermined=frozenset(identity for identity, one in answers if one.undecided),
        failed=frozenset(identity for identity, one in answers if one.labels is None),
        repositories={i: row["repository"] for i, row in rows.items() if isinstance(row.get("repository"), str)},
        scenarios={i: _scenarios(row) for i, row in rows.items() if i in decided},
    )


def _reports(path: Path) -> Iterator[Mapping[str, Any]]:
    """Read once more for what predictions do not hold; what is no JSON now is a last line that a stop cut short."""
    for line in file_text(path / "results.jsonl" if path.is_dir() else path).split("\n"):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        yield row


def _judge(name: str, rows: Collection[Mapping[str, Any]]) -> str:
    """The backends that judged, and a warning where no model read the texts of some pairs."""
    shown = ", ".join(sorted({str(row.get("backend") or "unknown") for row in rows}))
    blind = sum(row.get("verdict") == Verdict.NOTHING_FOUND for row in rows)
    pairs = f"{blind:,} pair{'s' if blind > 1 else ''}"
    note = f"; in {pairs} rules found nothing, which is not alignment" if blind else ""
    return f"{shown} (audit {name}{note})"


def _scenarios(row: Mapping[str, Any]) -> frozenset[str]:
    known = set(Scenario)
    findings = row.get("findings")
    said = [one.get("scenario") for one in findings if isinstance(one, Mapping)] if isinstance(findings, list) else []
    return frozenset(scenario for scenario in said if scenario in known)
