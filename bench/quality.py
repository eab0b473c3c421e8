"""How well prompts and readers do on labelled pairs: every phase, with intervals, and the rules beside them.

python bench/quality.py run FILE... --replies DIR --reports OUT.jsonl [--wait SECONDS] [--model NAME]
python bench/quality.py score OUT.jsonl --labels FILE_OR_FOLDER [--rules FILE...]
python bench/quality.py export OUT.jsonl --replies DIR --answered-by WHOM

`run` asks whatever answers at ANTHROPIC_BASE_URL, all pairs at once, and waits as long as told: behind the address
may be a model, or a desk at which people answer. Replies are kept and used again. `score` compares the reports with
labels: a CSV with the columns `instance_id` and `labels`, or a folder of JSON files with `id` and `labels`. `export`
writes a store's replies as text, one a line, in the order of their keys.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import os
import random
import sqlite3
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from checker.agents import DEFAULT_MODEL, ModelBackend
from checker.anthropic_model import AnthropicModel
from checker.backends import client
from checker.datasets.files import read_files
from checker.exchange import Budget
from checker.pair import Pair
from checker.pipeline import Limits, check
from checker.replies import SqliteReplies
from checker.report import Report, read_report, write_report
from checker.rules import RulesBackend
from checker.taxonomy import NO_MISALIGNMENT, Label

_ROUNDS = 10_000


@dataclass(frozen=True)
class Judged:
    """A report beside the labels that people gave."""

    report: Report
    truth: frozenset[str]

    @property
    def labels(self) -> frozenset[str]:
        """The labels that stand in the end."""
        return frozenset(label.value for label in self.report.labels)

    @property
    def first(self) -> frozenset[str]:
        """The labels after Phase I: those that stand or were dropped later, but for what the coordinator added."""
        later = {d.label.value for d in self.report.dropped if d.by != "evidence"}
        return frozenset((self.labels | later) - {Label.OTHERS.value})


def read_labels(path: Path) -> dict[str, frozenset[str]]:
    """Labels by id; none is the empty set."""
    if path.is_dir():
        entries = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(path.glob("*.json"))]
        return {entry["id"]: frozenset(entry["labels"]) for entry in entries}
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["instance_id"]: frozenset(row["labels"].split("|")) - {NO_MISALIGNMENT} for row in rows}


def read_pairs(files: Sequence[str], ids: Sequence[str] = ()) -> list[Pair]:
    """All pairs of the files; what cannot be read ends the run."""
    pairs = []
    for found in read_files(files, frozenset(ids)):
        if not isinstance(found, Pair):
            sys.exit(str(found))
        pairs.append(found)
    return pairs


async def run(options: argparse.Namespace) -> None:
    """Asks about all pairs at once and writes the reports in order."""
    if not os.environ.get("ANTHROPIC_API_KEY"):
        sys.exit("set ANTHROPIC_API_KEY, and ANTHROPIC_BASE_URL if somebody else than Anthropic is to answer")
    backend = ModelBackend(
        AnthropicModel(client(), call_seconds=options.wait),
        default_model=options.model,
        budget=Budget(tokens=10**7),
        store=SqliteReplies(options.replies / "replies.sqlite"),
    )
    limits = Limits(options.wait, options.wait)
    pairs = read_pairs(options.files, options.id)
    shortcuts = not options.no_shortcuts
    reports = await asyncio.gather(*(check(p, backend, limits=limits, shortcuts=shortcuts) for p in pairs))
    lines = [json.dumps(write_report(report), ensure_ascii=False) + "\n" for report in reports]
    options.reports.write_text("".join(lines), encoding="utf-8")


def interval(values: Sequence[float], figure: Callable[[Iterable[float]], float] = statistics.fmean) -> str:
    """A mean with its 95 % bootstrap interval, in per cent."""
    draw = random.Random(0)
    means = sorted(figure(draw.choices(values, k=len(values))) for _ in range(_ROUNDS))
    low, high = means[int(0.025 * _ROUNDS)], means[int(0.975 * _ROUNDS)]
    return f"{100 * figure(values):5.1f} % [{100 * low:.0f}, {100 * high:.0f}]"


def show(title: str, judged: Sequence[tuple[frozenset[str], frozenset[str]]]) -> None:
    """Exact match and binary accuracy of (said, true) label sets, and the confusion per label."""
    exact = interval([float(said == truth) for said, truth in judged])
    binary = interval([float(bool(said) == bool(truth)) for said, truth in judged])
    print(f"\n{title}: n = {len(judged)}, exact match {exact}, binary accuracy {binary}")
    print("| label | people | said | both | precision | recall |\n| --- | --- | --- | --- | --- | --- |")
    for label in Label:
        said = sum(label in s for s, _ in judged)
        true = sum(label in t for _, t in judged)
        both = sum(label in s and label in t for s, t in judged)
        precision = f"{both / said:.2f}" if said else "–"
        print(f"| {label} | {true} | {said} | {both} | {precision} | {f'{both / true:.2f}' if true else '–'} |")


def show_phases(judged: Sequence[Judged]) -> None:
    """What the later phases repaired and broke, label by label."""
    counts: Counter[str] = Counter()
    for one in judged:
        for dropped in one.report.dropped:
            right = dropped.label.value not in one.truth
            counts[f"{dropped.by} dropped {'rightly' if right else 'wrongly'}"] += 1
        if Label.OTHERS in one.report.labels:
            counts[f"coordinator added Others {'rightly' if 'Others' in one.truth else 'wrongly'}"] += 1
    print("\n" + "; ".join(f"{what} {n}" for what, n in sorted(counts.items())))


def show_cost(judged: Sequence[Judged]) -> None:
    """Calls and tokens per pair, and the quotes that were proved."""
    calls = [sum(u.calls for u in one.report.usage) for one in judged]
    tokens = [sum(u.input_tokens + u.output_tokens for u in one.report.usage) for one in judged]
    quotes = sum(len(f.evidence) for one in judged for f in one.report.findings)
    print(f"calls per pair: mean {statistics.fmean(calls):.1f}")
    print(f"tokens per pair: mean {statistics.fmean(tokens):,.0f}, median {statistics.median(tokens):,.0f}")
    print(f"proved quotes under labels that stand: {quotes}")


def score(options: argparse.Namespace) -> None:
    """Prints the tables."""
    labels = read_labels(options.labels)
    lines = options.reports.read_text(encoding="utf-8").splitlines()
    reports = [read_report(json.loads(line)) for line in lines]
    judged = [Judged(report, labels[report.id]) for report in reports if report.id in labels]
    show("after Phase I", [(one.first, one.truth - {"Others"}) for one in judged])
    show("in the end", [(one.labels, one.truth) for one in judged])
    show_phases(judged)
    show_cost(judged)
    for one in judged:
        if one.labels != one.truth:
            said, truth = ", ".join(sorted(one.labels)) or "none", ", ".join(sorted(one.truth)) or "none"
            print(f"  miss {one.report.id}: said {said}; people {truth}; {one.report.verdict}")
    if options.rules:
        pairs = [p for p in read_pairs(options.rules) if p.id in {one.report.id for one in judged}]
        ruled = [asyncio.run(check(pair, RulesBackend())) for pair in pairs]
        show("rules on the same pairs", [(frozenset(r.labels), labels[r.id]) for r in ruled])


def export(options: argparse.Namespace) -> None:
    """Writes the rows of a reply store as JSON lines."""
    with closing(sqlite3.connect(options.replies / "replies.sqlite")) as connection:
        rows = connection.execute("select pair, request, sample, reply from replies order by 1, 2, 3").fetchall()
    by = {"model": options.answered_by}
    entries = ({"pair": p, "request": r, "sample": s, "reply": json.loads(reply) | by} for p, r, s, reply in rows)
    lines = [json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries]
    options.out.write_text("".join(lines), encoding="utf-8")


def main() -> None:
    """Parses and runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    runs = commands.add_parser("run")
    runs.add_argument("files", nargs="+")
    runs.add_argument("--id", action="append", default=[])
    runs.add_argument("--replies", type=Path, required=True)
    runs.add_argument("--reports", type=Path, required=True)
    runs.add_argument("--wait", type=float, default=3600)
    runs.add_argument("--model", default=DEFAULT_MODEL)
    runs.add_argument("--no-shortcuts", action="store_true")
    runs.set_defaults(run=lambda options: asyncio.run(run(options)))
    scores = commands.add_parser("score")
    scores.add_argument("reports", type=Path)
    scores.add_argument("--labels", type=Path, required=True)
    scores.add_argument("--rules", nargs="*", default=[])
    scores.set_defaults(run=score)
    exports = commands.add_parser("export")
    exports.add_argument("out", type=Path)
    exports.add_argument("--replies", type=Path, required=True)
    exports.add_argument("--answered-by", required=True, help="who gave the replies, as it is to be told")
    exports.set_defaults(run=export)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
