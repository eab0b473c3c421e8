"""An evaluation as JSON (fractions), CSV (one row a method, fractions) and text (per cent, 100 columns)."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from checker.evaluation.compare import LEVEL, Comparison, Interval
from checker.evaluation.evaluate import Evaluated, Evaluation
from checker.evaluation.metrics import FIGURES, Scores
from checker.evaluation.phases import Phases
from checker.evaluation.trail import SEVEN
from checker.render import one_line

_COUNTS = ("without_prediction", "undecided", "contradictory")
_NAME_WIDTH = 30
_SHORT = {"No Misalignment": "no label"}


def as_data(evaluation: Evaluation) -> dict[str, Any]:
    """JSON-ready: `methods`, `comparisons` (every two methods) and `bootstrap`."""
    return {
        "methods": [_method_data(one) for one in evaluation.methods],
        "comparisons": [asdict(comparison) for comparison in evaluation.comparisons],
        "bootstrap": {"rounds": evaluation.rounds, "seed": evaluation.seed, "level": LEVEL},
    }


def _method_data(one: Evaluated) -> dict[str, Any]:
    labels = {
        label: {**asdict(of_label), "kappa": one.kappa[label], "f1_interval": _pair(one.intervals[f"f1 {label}"])}
        for label, of_label in one.scores.labels.items()
    }
    return {
        "method": one.method,
        **_scores_data(one.scores),
        "no_row": one.no_row,
        "unlabelled": one.unlabelled,
        "intervals": {name: _pair(one.intervals[name]) for name in FIGURES},
        "kappa_binary": one.kappa["binary"],
        "labels": labels,
        "decided": _scores_data(one.decided) if one.decided else None,
        "phases": asdict(one.phases) if one.phases else None,
        **{name: asdict(spent) for name, spent in one.spent.items()},
    }


def _scores_data(scores: Scores) -> dict[str, Any]:
    return {"n": scores.n, **scores.figures, **{name: getattr(scores, name) for name in _COUNTS}}


def _pair(interval: Interval) -> list[float]:
    return [interval.low, interval.high]


def as_csv(evaluation: Evaluation) -> str:
    """One row a method: counts, figures with the ends of their intervals, F1 and kappa per label, what it cost."""
    rows = [dict(_csv_cells(one)) for one in evaluation.methods]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _csv_cells(one: Evaluated) -> Iterator[tuple[str, object]]:
    yield "method", one.method
    yield "n", one.scores.n
    yield from ((name, getattr(one.scores, name)) for name in _COUNTS)
    for name in FIGURES:
        ends = one.intervals[name]
        yield from ((name, one.scores.figures[name]), (f"{name}_low", ends.low), (f"{name}_high", ends.high))
    yield "kappa_binary", one.kappa["binary"]
    for label in SEVEN:
        score = one.scores.labels.get(label)
        yield f"f1 {label}", score.f1 if score else None
        yield f"kappa {label}", one.kappa.get(label)
    for name in ("tokens", "dollars", "seconds"):
        spent = one.spent.get(name)
        yield name, spent.total if spent else None


def as_text(evaluation: Evaluation) -> str:
    """Tables for a terminal. Each block of lines is a table, or remarks on how pairs were counted."""
    blocks = [
        [_headline(evaluation)],
        _labels_table(evaluation.methods),
        _binary_table(evaluation.methods),
        _per_label("F1 per label", evaluation.methods, _f1),
        _per_label("kappa per label", evaluation.methods, lambda one, label: _fraction(one.kappa.get(label))),
        _compared(evaluation),
        _phase_table(evaluation.methods),
        _change_table(evaluation.methods),
        _cost_table(evaluation.methods),
        _decided_table(evaluation.methods),
        list(_remarks(evaluation.methods)),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _headline(evaluation: Evaluation) -> str:
    pairs = sorted({one.scores.n for one in evaluation.methods})
    how_many = f"{pairs[0]:,}" if len(pairs) == 1 else f"{pairs[0]:,} to {pairs[-1]:,}"
    methods = "1 method" if len(evaluation.methods) == 1 else f"{len(evaluation.methods)} methods"
    return (
        f"{how_many} labelled pair{'s' * (pairs != [1])}, {methods}. Figures in %; in brackets the middle "
        f"{LEVEL:.0%} of\n{evaluation.rounds:,} bootstrap rounds (seed {evaluation.seed})."
    )


def _labels_table(methods: Sequence[Evaluated]) -> list[str]:
    header = ("which labels?", "pairs", "exact match", "macro accuracy", "precision", "recall", "F1")
    names = ("macro_accuracy", "macro_precision", "macro_recall", "macro_f1")
    return aligned(
        header,
        [(one.method, f"{one.scores.n:,}", _with_ends(one, "exact_match"), *_figures(one, names)) for one in methods],
    )


def _binary_table(methods: Sequence[Evaluated]) -> list[str]:
    header = ("misaligned or not?", "accuracy", "precision", "recall", "F1", "kappa")
    names = ("binary_precision", "binary_recall", "binary_f1")
    return aligned(
        header,
        [
            (one.method, _with_ends(one, "binary_accuracy"), *_figures(one, names), _fraction(one.kappa["binary"]))
            for one in methods
        ],
    )


def _figures(one: Evaluated, names: Sequence[str]) -> list[str]:
    return [_per_cent(one.scores.figures[name]) for name in names]


def _f1(one: Evaluated, label: str) -> str:
    score = one.scores.labels.get(label)
    return _per_cent(score.f1) if score else "-"


def _per_label(title: str, methods: Sequence[Evaluated], cell: Callable[[Evaluated, str], str]) -> list[str]:
    header = (title, *(_SHORT.get(label, label) for label in SEVEN))
    return aligned(header, [(one.method, *(cell(one, label) for label in SEVEN)) for one in methods])


def _compared(evaluation: Evaluation) -> list[str]:
    """Every method against the best by exact match; all others stand in JSON."""
    best = max(evaluation.methods, key=lambda one: one.scores.figures["exact_match"]).method
    rows = [_compared_row(c, best) for c in evaluation.comparisons if best in (c.first, c.second)]
    if not rows:
        return []
    header = ("against A", "pairs", "exact: only A", "only this", "p", "binary: only A", "only this", "p")
    note = "Pairs that one alone has right; p: McNemar's exact test, adjusted (Holm) for all comparisons."
    return [*aligned(header, rows), f"A is {_clipped(best)}, the best by exact match.", note]


def _compared_row(c: Comparison, best: str) -> tuple[str, ...]:
    cells = []
    for test in (c.exact_match, c.binary):
        counts = (test.only_first, test.only_second)
        cells += [f"{n:,}" for n in (counts if c.first == best else counts[::-1])] + [_p(test.p_holm)]
    return (c.second if c.first == best else c.first, f"{c.n:,}", *cells)


def _phase_table(methods: Sequence[Evaluated]) -> list[str]:
    rows = [(one.method, f"{one.phases.n:,}", *_after(one.phases)) for one in methods if one.phases]
    header = ("after each phase", "pairs", "exact: I", "II", "III", "binary: I", "II", "III")
    return aligned(header, rows) if rows else []


def _after(phases: Phases) -> list[str]:
    return [_per_cent(getattr(one, name)) for name in ("exact_match", "binary_accuracy") for one in phases.after]


def _change_table(methods: Sequence[Evaluated]) -> list[str]:
    rows = [
        (one.method, *(str(n) for c in one.phases.changes for n in (c.to_correct, c.to_incorrect, c.stays_incorrect)))
        for one in methods
        if one.phases
    ]
    header = (
        "labels changed",
        "I-II: to right",
        "to wrong",
        "still wrong",
        "II-III: to right",
        "to wrong",
        "still wrong",
    )
    return aligned(header, rows) if rows else []


def _cost_table(methods: Sequence[Evaluated]) -> list[str]:
    names, forms = ("tokens", "dollars", "seconds"), ("{:,.0f}", "${:,.4f}", "{:,.2f} s")
    rows = []
    for one in methods:
        cells = []
        for name, form in zip(names, forms, strict=True):
            spent = one.spent.get(name)
            cells += [form.format(spent.total / spent.known), f"{spent.known:,}"] if spent else ["unknown", "0"]
        if one.spent:
            rows.append((one.method, *cells))
    header = ("mean of a pair", "tokens", "of pairs", "cost", "of pairs", "time", "of pairs")
    return aligned(header, rows) if rows else []


def _decided_table(methods: Sequence[Evaluated]) -> list[str]:
    rows = [
        (one.method, f"{one.decided.n:,}", *(_per_cent(one.decided.figures[name]) for name in FIGURES[:5]))
        for one in methods
        if one.decided and one.scores.undecided
    ]
    header = ("only where it decided", "pairs", "binary accuracy", "precision", "recall", "F1", "exact match")
    return aligned(header, rows) if rows else []


def _remarks(methods: Sequence[Evaluated]) -> Iterator[str]:
    """One sentence for each way of counting that touched some pair."""
    says = {
        "without_prediction": "without a prediction: never an exact match, misaligned in the binary figures",
        "no_row": "among these without a row in the file (--predicted-only leaves them out)",
        "undecided": "undetermined: counted as no misalignment",
        "contradictory": "with a label beside No Misalignment: misaligned, never an exact match",
        "unlabelled": "without people's labels: not scored",
    }
    for name, words in says.items():
        counts = [(one.method, _count(one, name)) for one in methods]
        told = ", ".join(f"{_clipped(method)}\xa0{n:,}" for method, n in counts if n)
        if told:
            yield f"Pairs {words}.\n{_wrapped(told)}"


def _count(one: Evaluated, name: str) -> int:
    return int(getattr(one.scores if name in _COUNTS else one, name))


def _wrapped(text: str) -> str:
    filled = textwrap.fill(text, 98, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    return filled.replace("\xa0", " ")


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]], longest: int = _NAME_WIDTH) -> list[str]:
    """A table: first column left, of at most `longest` characters, the others right, a rule below the header."""
    cells = [[_clipped(row[0], longest) if row is not header else row[0], *row[1:]] for row in (header, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in cells]
    return [lines[0], "-" * max(map(len, lines)), *lines[1:]]


def _clipped(name: str, longest: int = _NAME_WIDTH) -> str:
    """A method's name comes from a file: on one line, without what steers a terminal, and not too long."""
    name = one_line(name)
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def _with_ends(one: Evaluated, name: str) -> str:
    ends = one.intervals[name]
    return f"{_per_cent(one.scores.figures[name])} [{100 * ends.low:.1f}, {100 * ends.high:.1f}]"


def _per_cent(fraction: float) -> str:
    return f"{100 * fraction:.2f}"


def _fraction(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"
