"""Measure the literals that both patches share against human labels of UL.

    python bench/literals.py --records DIR --labels FILE [--complete]

`DIR` holds records of the SWE-bench kind (`*.jsonl`, `*.jsonl.gz`), `FILE` is a CSV file with `instance_id` and
`labels` (`|` between them). A pair is predicted UL when a shared literal stands unspecified. One half of the pairs,
by a hash of their id, serves development; the other is reported beside it. Data sets may leave files out of the
code patch (SWE-Gym: all that is not Python); `--complete` adds them from the record's `files`.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import json
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from checker.literals import Standing, shared_literals
from checker.patches import Patch, Side, parse, side_of


@dataclass(frozen=True)
class Outcome:
    """What was predicted for a pair, and what people said."""

    id: str
    predicted: bool
    labelled: bool
    milliseconds: float
    language: str

    @property
    def is_development(self) -> bool:
        """Which half the pair is in."""
        return hashlib.sha256(self.id.encode()).digest()[0] % 2 == 0


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a file, packed or not."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        yield from map(json.loads, lines)


def language(code: Patch) -> str:
    """The suffix that most files of the patch have."""
    suffixes = Counter(PurePosixPath(file.path).suffix for file in code.files)
    return suffixes.most_common(1)[0][0] if suffixes else ""


def completed(record: dict[str, Any]) -> Patch:
    """The code patch with the files of the code side that stand in `files` alone."""
    code, test = parse(record["patch"]), parse(record["test_patch"])
    known = {file.path for file in (*code.files, *test.files)}
    left_out = [
        f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n{file['patch']}\n"
        for file in record["files"]
        if (path := file["filename"]) not in known and file.get("patch") and side_of(path) is Side.CODE
    ]
    return Patch(code.files + parse("".join(left_out)).files)


def judge(record: dict[str, Any], labels: set[str], *, complete: bool) -> Outcome:
    """One record's outcome; the issue counts as unread where the record says that it is missing."""
    code, test = completed(record) if complete else parse(record["patch"]), parse(record["test_patch"])
    request = None if "problem_statement" in record.get("_missing", ()) else record["problem_statement"]
    start = time.process_time()
    shared = shared_literals(code, test, request)
    elapsed = (time.process_time() - start) * 1000
    predicted = any(literal.standing is Standing.UNSPECIFIED for literal in shared)
    return Outcome(record["instance_id"], predicted, "UL" in labels, elapsed, language(code))


def line(name: str, outcomes: list[Outcome]) -> str:
    """Precision, recall and F1 of some outcomes; 0 where a denominator is."""
    hits = sum(o.predicted and o.labelled for o in outcomes)
    predicted, labelled = sum(o.predicted for o in outcomes), sum(o.labelled for o in outcomes)
    precision, recall = hits / max(predicted, 1), hits / max(labelled, 1)
    f1 = 2 * hits / max(predicted + labelled, 1)
    counts = f"{hits} of {predicted} predicted, {labelled} labelled, {len(outcomes)} pairs"
    return f"{name:<12} P {precision:.3f}  R {recall:.3f}  F1 {f1:.3f}  ({counts})"


def report(name: str, outcomes: list[Outcome]) -> None:
    """Print the figures of one file."""
    print(f"\n{name}")
    print(line("development", [o for o in outcomes if o.is_development]))
    print(line("other half", [o for o in outcomes if not o.is_development]))
    print(line("total", outcomes))
    for suffix, count in Counter(o.language for o in outcomes).most_common(8):
        if count > 2:
            print(line(f"  {suffix or 'none'}", [o for o in outcomes if o.language == suffix]))
    times = [o.milliseconds for o in outcomes]
    print(f"median {statistics.median(times):.1f} ms, worst {max(times):.0f} ms of processor time")


def main() -> None:
    """Measure every file of the folder that has labelled records."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--records", type=Path, required=True)
    parser.add_argument("--labels", type=Path, required=True)
    parser.add_argument("--complete", action="store_true", help="complete the code patch from the record's files")
    arguments = parser.parse_args()
    with arguments.labels.open() as rows:
        labels = {row["instance_id"]: set(row["labels"].split("|")) for row in csv.DictReader(rows)}
    for path in sorted(arguments.records.glob("*.jsonl*")):
        known = (record for record in records(path) if record["instance_id"] in labels)
        outcomes = [judge(r, labels[r["instance_id"]], complete=arguments.complete) for r in known]
        if outcomes:
            report(path.name, outcomes)


if __name__ == "__main__":
    main()
