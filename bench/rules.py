"""The rules over labelled records: time per pair, and precision and recall per label.

python bench/rules.py --records DIR [--labels FILE]

DIR holds records in the paper's format (*.jsonl, *.jsonl.gz); FILE is a CSV with the columns `instance_id` and
`labels` (several separated by `|`). Times are those of one pair from the parsed JSON to the report, one at a time.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import gzip
import json
import statistics
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from checker.datasets.paper import read_record
from checker.pipeline import check
from checker.report import Report, SignalKind
from checker.rules import RulesBackend
from checker.taxonomy import NO_MISALIGNMENT, Label


def records(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """File name and record, for all records of a folder."""
    for path in sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")]):
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        yield from ((path.name, json.loads(line)) for line in data.splitlines())


def human_labels(path: Path) -> dict[str, set[str]]:
    """Human labels by id; `No Misalignment` is the empty set."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["instance_id"]: set(row["labels"].split("|")) - {NO_MISALIGNMENT} for row in rows}


def measure(folder: Path) -> dict[str, list[tuple[Report, float]]]:
    """Reports with their seconds, by file."""
    measured: dict[str, list[tuple[Report, float]]] = {}
    for name, record in records(folder):
        started = time.perf_counter()
        report = asyncio.run(check(read_record(record), RulesBackend()))
        measured.setdefault(name, []).append((report, time.perf_counter() - started))
    return measured


def show_times(measured: Mapping[str, list[tuple[Report, float]]]) -> None:
    """Median and worst milliseconds over all files."""
    timed = [(seconds, report.id) for rows in measured.values() for report, seconds in rows]
    worst, worst_id = max(timed)
    median = statistics.median(seconds for seconds, _ in timed)
    print(f"{len(timed)} records, none failed; median {median * 1e3:.1f} ms, worst {worst * 1e3:.0f} ms ({worst_id})")


def show_labels(name: str, rows: list[tuple[Report, float]], labels: Mapping[str, set[str]]) -> None:
    """Verdicts, and precision, recall and F1 per label, over the records that people labelled."""
    judged = [(report, labels[report.id]) for report, _ in rows if report.id in labels]
    verdicts: dict[str, int] = {}
    for report, _ in judged:
        verdicts[report.verdict] = verdicts.get(report.verdict, 0) + 1
    print(f"\n{name}: {len(judged)} labelled; " + ", ".join(f"{n} {v}" for v, n in sorted(verdicts.items())))
    print("label    people  rules   both  precision  recall    F1")
    for label in Label:
        people = sum(label in truth for _, truth in judged)
        rules = sum(label in report.labels for report, _ in judged)
        both = sum(label in truth and label in report.labels for report, truth in judged)
        precision, recall = both / rules if rules else 0.0, both / people if people else 0.0
        f1 = 2 * both / (people + rules) if people + rules else 0.0
        print(f"{label:<8} {people:>6} {rules:>6} {both:>6} {precision:>10.2f} {recall:>7.2f} {f1:>5.2f}")
    signalled = [(any(s.kind is SignalKind.UNSPECIFIED_LITERAL for s in r.signals), Label.UL in t) for r, t in judged]
    both, said, true = (sum(map(f, signalled)) for f in (all, lambda x: x[0], lambda x: x[1]))
    if said and true:
        f1 = 2 * both / (said + true)
        print(f"literal signal against UL: precision {both / said:.3f}, recall {both / true:.3f}, F1 {f1:.3f}")
    exact = sum(set(report.labels) == truth for report, truth in judged)
    binary = sum(bool(report.labels) == bool(truth) for report, truth in judged)
    print(f"exact match {exact / len(judged):.1%}, binary accuracy {binary / len(judged):.1%}")


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=Path, required=True)
    parser.add_argument("--labels", type=Path)
    options = parser.parse_args()
    measured = measure(options.records)
    show_times(measured)
    if options.labels is not None:
        labels = human_labels(options.labels)
        for name, rows in measured.items():
            show_labels(name, rows, labels)


if __name__ == "__main__":
    main()
