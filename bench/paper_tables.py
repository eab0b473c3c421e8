"""The paper's Tables 3 to 6 and Figure 6 for SWE-Gym, recomputed from its released files, beside its own figures.

python bench/paper_tables.py --data DIR [--figures DIR]

DIR holds labels.csv, predictions_swe_gym.csv, predictions_ablation_swe_gym.csv, phases_swe_gym.csv, tables.json. A
figure agrees if it rounds to the paper's, to as many decimals as the paper gives. Each deviation is listed with the
cause that the files themselves show; one that no rule here explains is called unexplained.
"""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from checker.evaluation.compare import figures_of, summands
from checker.evaluation.figures import draw_phases
from checker.evaluation.labels import Method, Truth, read_labels, read_predictions, with_last_phase
from checker.evaluation.metrics import FIGURES, Table, occurring, score, table
from checker.evaluation.phases import Phases, phases
from checker.evaluation.render import aligned
from checker.evaluation.trail import SEVEN

BACKBONES = {
    "gpt": ("GPT", "GPT-5.3 Codex"),
    "claude": ("Claude", "Claude-Sonnet 4.6"),
    "gemini": ("Gemini", "Gemini-3.1 Pro"),
    "qwen": ("Qwen", "Qwen-3.5 Plus"),
}
METHODS = {
    "zero-shot": ("ZS", "Zero-Shot"),
    "few-shot": ("FS", "Few-Shot"),
    "cot": ("CoT", "Chain-of-Thought"),
    "mini-swe-agent": ("MSA", "Mini-SWE-Agent"),
    "paichecker": ("Ours", "PAIChecker"),
}
ABLATIONS = {
    "w/o Phase II (Coordinator)": "without_part2_gemini",
    "w/o Phase III (Code Validator)": "without_part3_gemini",
    "w/o Issue Analyzer": "without_issue_analyzer_gemini",
    "w/o PR Scope Analyzer": "without_pr_scope_analyzer_gemini",
    "w/o PR Conn. Analyzer": "without_pr_connection_analyzer_gemini",
}
_BINARY = {"binary_accuracy": "BA", "binary_precision": "BP", "binary_recall": "BR", "binary_f1": "BF1"}
_LABELS = {
    "exact_match": "EM",
    "macro_accuracy": "macro_accuracy",
    "macro_precision": "macro_precision",
    "macro_recall": "macro_recall",
    "macro_f1": "macro_F1",
}
_SHORT = {"macro_accuracy": "mAcc", "macro_precision": "mP", "macro_recall": "mR", "macro_f1": "mF1"}
_SHORT |= {**_BINARY, "exact_match": "EM", **{f"f1 {label}": label for label in SEVEN}}
_SHORT["f1 No Misalignment"] = "no label"
_ONE_DECIMAL = ("macro_accuracy", *(f"f1 {label}" for label in SEVEN))


@dataclass(frozen=True)
class Cell:
    """One figure: ours and the paper's in per cent, and how many decimals the paper gives."""

    row: str
    name: str
    ours: float
    paper: float

    @property
    def decimals(self) -> int:
        """Tables 3 and 5 have two; Table 4 has one, seldom two, for macro accuracy and the labels."""
        given = len(str(self.paper).partition(".")[2])
        return max(given, 1 if self.name in _ONE_DECIMAL else 2)

    @property
    def agrees(self) -> bool:
        """Whether ours rounds to the paper's (a half either way)."""
        return bool(abs(self.ours - self.paper) <= 0.5 * 10**-self.decimals + 1e-9)


def swe_gym(truth: Truth) -> dict[str, frozenset[str]]:
    """The labels of the SWE-Gym pairs."""
    return {i: labels for i, labels in truth.labels.items() if truth.datasets[i] == "swe_gym"}


def figures(one: Table) -> dict[str, float]:
    """All figures of a row, in per cent."""
    scores = score(one)
    each = {f"f1 {label}": 100 * of_label.f1 for label, of_label in scores.labels.items()}
    return {**{name: 100 * value for name, value in scores.figures.items()}, **each}


def paper_row(tables: Mapping[str, Any], method: str) -> dict[str, float]:
    """What the paper gives for one method and backbone on SWE-Gym, by our names."""
    name, backbone = method.rsplit("_", 1)
    binary = _find(tables["table3_binary"], backbone=BACKBONES[backbone][0], method=METHODS[name][0])["swe_gym"]
    wanted = {"dataset": "SWE-Gym", "backbone": BACKBONES[backbone][1], "method": METHODS[name][1]}
    fine = _find(tables["table4_categorization"], **wanted)
    return {
        **{ours: binary[theirs] for ours, theirs in _BINARY.items()},
        **{ours: fine[theirs] for ours, theirs in _LABELS.items()},
        **{f"f1 {label}": fine[label] for label in SEVEN},
    }


def _find(rows: Sequence[Mapping[str, Any]], **wanted: str) -> Mapping[str, Any]:
    return next(row for row in rows if all(row[key] == value for key, value in wanted.items()))


def cells_of(one: Table, paper: Mapping[str, float]) -> list[Cell]:
    """A row, figure by figure."""
    ours = figures(one)
    return [Cell(one.name, name, ours[name], paper[name]) for name in paper]


# Causes of deviations


def averaged(one: Table, cell: Cell) -> bool:
    """The paper's macro figures are often means of the labels' figures after these were rounded to one decimal."""
    if not cell.name.startswith("macro_"):
        return False
    rounded = [round(100 * getattr(of, cell.name.removeprefix("macro_")), 1) for of in score(one).labels.values()]
    return f"{sum(rounded) / len(rounded):.2f}" == f"{cell.paper:.2f}"


def implied(cell: Cell, paper: Mapping[str, float]) -> str | None:
    """The paper's own macro F1 is the mean of seven labels; a label's cell that does not fit is a slip of the table."""
    if not cell.name.startswith("f1 "):
        return None
    others = sum(paper[f"f1 {label}"] for label in SEVEN if f"f1 {label}" != cell.name)
    value = len(SEVEN) * paper["macro_f1"] - others
    slip = abs(value - cell.ours) < 0.1
    return f"the paper's own macro F1 of the row implies {value:.1f} for this cell, as here" if slip else None


def twins(one: Table, tables: Mapping[str, Table]) -> str | None:
    """Another column of the release with the very same predictions."""
    same = [name for name, other in tables.items() if name != one.name and np.array_equal(other.said, one.said)]
    if not same:
        return None
    return f"the released column repeats {same[0]}, pair by pair; the run that the paper scored is not released"


def one_pair_away(one: Table, paper: Mapping[str, float]) -> str | None:
    """Which single other prediction would give the most of the row's figures, if that is all that the paper says.

    Tries every pair with every set of one label, no prediction, and people's labels. A macro figure counts as
    reached also by the mean of rounded figures, so within 0.03.
    """
    names = [*FIGURES, *(f"f1 {label}" for label in SEVEN)]
    wide = {name: 0.03 if name.startswith("macro_") else 0.5 * 10 ** -Cell("", name, 0, 0).decimals for name in names}
    wanted, tolerance = np.array([paper[n] for n in names]), np.array([wide[n] + 1e-9 for n in names])
    before = int((abs(np.array([figures(one)[n] for n in names]) - wanted) <= tolerance).sum())
    columns, found = summands(one), []
    for what, changed in _alternatives(one):
        sums = columns.sum(axis=0) - columns + summands(changed)
        reached = (abs(100 * figures_of(sums, len(one.ids), occurring(one)) - wanted) <= tolerance).sum(axis=1)
        found += [(int(count), what, one.ids[i]) for i, count in enumerate(reached) if count > before]
    if not found:
        return None
    best = max(count for count, _, _ in found)
    said = sorted({what for count, what, _ in found if count == best})
    ids = sorted({i for count, _, i in found if count == best})
    return (
        f"one pair predicted otherwise gives {best} of the row's {len(names)} figures (now {before}): "
        f"{' or '.join(said)} for one of {len(ids)} pairs ({', '.join(ids[:5])}{', ...' if len(ids) > 5 else ''}); "
        "the release is newer"
    )


def _alternatives(one: Table) -> Iterator[tuple[str, Table]]:
    nothing = np.zeros_like(one.said)
    everywhere = np.ones_like(one.given)
    for index, label in enumerate(SEVEN):
        said = nothing.copy()
        said[:, index] = True
        yield label, Table(one.name, one.ids, one.truth, said, everywhere, one.predictions)
    yield "no prediction", Table(one.name, one.ids, one.truth, nothing, ~everywhere, one.predictions)


# Tables


def tables_three_and_four(tables: Mapping[str, Table], published: Mapping[str, Any]) -> None:
    """Prints rows, and deviations with their causes."""
    rows = {name: cells_of(one, paper_row(published, name)) for name, one in tables.items()}
    for title, part in (("Table 3", slice(0, 4)), ("Table 4", slice(4, 9)), ("Table 4, F1 per label", slice(9, 16))):
        print(f"\n{title}, SWE-Gym: here | in the paper; * deviates")
        names = [cell.name for cell in next(iter(rows.values()))[part]]
        header = ("", *(_SHORT[name] for name in names))
        print("\n".join(aligned(header, [(row, *map(_shown, cells[part])) for row, cells in rows.items()])))
    every = [cell for cells in rows.values() for cell in cells]
    agree = sum(cell.agrees for cell in every)
    rounding = [cell for cell in every if not cell.agrees and averaged(tables[cell.row], cell)]
    print(
        f"\nTables 3 and 4: {agree} of {len(every)} figures agree; {len(rounding)} macro figures deviate by rounding:"
    )
    print("the paper averages the labels' figures after rounding them to 0.1; so averaged they are the paper's.")
    print(f"The other {len(every) - agree - len(rounding)}, here | in the paper:")
    for name, cells in rows.items():
        _tell(name, [c for c in cells if not c.agrees and c not in rounding], tables, paper_row(published, name))


def _shown(cell: Cell) -> str:
    return f"{cell.ours:.2f}|{cell.paper:.{cell.decimals}f}{' ' if cell.agrees else '*'}"


def _tell(name: str, cells: Sequence[Cell], tables: Mapping[str, Table], paper: Mapping[str, float]) -> None:
    """A row's deviations, those with the same cause together."""
    causes: dict[str, list[str]] = {}
    for cell in cells:
        cause = implied(cell, paper) or twins(tables[name], tables) or ""
        causes.setdefault(cause, []).append(f"{_SHORT[cell.name]} {cell.ours:.2f}|{cell.paper}")
    for cause, told in causes.items():
        why = cause or one_pair_away(tables[name], paper) or "unexplained"
        print(_filled(f"{name}: {', '.join(told)}", "", "  "))
        print(_filled(f"{why}.", "  - ", "    "))


def _filled(text: str, first: str, rest: str) -> str:
    return textwrap.fill(text, 100, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)


def table_five(
    truth: Mapping[str, frozenset[str]], methods: Mapping[str, Method], published: Mapping[str, Any]
) -> None:
    """Binary accuracy and exact match without one part."""
    print("\nTable 5, Gemini on SWE-Gym: here | in the paper; * deviates")
    rows = []
    for variant, column in {"PAIChecker (full)": "paichecker_gemini", **ABLATIONS}.items():
        paper = _find(published["table5_ablation_gemini_swe_gym"], variant=variant)
        ours = figures(table(column, truth, methods[column].predictions))
        names = {"binary_accuracy": "BA", "exact_match": "EM"}
        rows.append((variant, *(_shown(Cell(variant, n, ours[n], paper[short])) for n, short in names.items())))
    print("\n".join(aligned(("variant", "BA", "EM"), rows)))
    lacking = len(published["table5_ablation_gemini_swe_gym"]) - len(rows)
    print(f"The predictions of the other {lacking} variants are not released.")


def courses(
    truth: Mapping[str, frozenset[str]], released: Sequence[Method], methods: Mapping[str, Method]
) -> dict[str, Phases]:
    """What stood after each phase, by backbone. In the end stand the released predictions."""
    found = {}
    for backbone in BACKBONES:
        course = next(method for method in released if method.name == backbone)
        merged = with_last_phase(course, methods[f"paichecker_{backbone}"])
        result = phases(table(backbone, truth, merged.predictions))
        assert result is not None
        found[backbone] = result
    return found


def table_six(found: Mapping[str, Phases], published: Mapping[str, Any]) -> None:
    """Pairs that Phases II and III set right and wrong."""
    print("\nTable 6, SWE-Gym: pairs whose labels change to right, and to wrong; here | in the paper; * deviates")
    rows = []
    for (backbone, course), paper in zip(found.items(), published["table6_label_changes"], strict=True):
        row: tuple[str, ...] = (backbone,)
        for changes, step in zip(course.changes, ("I_II", "II_III"), strict=True):
            pairs = ((changes.to_correct, paper[step]["IC"]), (changes.to_incorrect, paper[step]["CI"]))
            row += tuple(f"{ours}|{theirs}{' ' if ours == theirs else '*'}" for ours, theirs in pairs)
        rows.append(row)
    print("\n".join(aligned(("", "I-II right", "I-II wrong", "II-III right", "II-III wrong"), rows)))
    print(
        "A change counts where the later answer is known; an unread earlier one counts as wrong, and so does a\n"
        "coordinator's answer outside the label names (SC,IS). The last phase is the released prediction, for the\n"
        "validator's own text is missing more often. The single pairs that deviate are unexplained: the files hold\n"
        "what was read out of the agents' texts, not the texts."
    )
    print("\nFigure 6: exact match and binary accuracy after each phase (%), and pairs without a known answer")
    rows = [
        (b, *(f"{100 * a.exact_match:.2f}" for a in c.after), *(f"{100 * a.binary_accuracy:.2f}" for a in c.after),
         *(str(a.unknown) for a in c.after))
        for b, c in found.items()
    ]  # fmt: skip
    print("\n".join(aligned(("", "exact I", "II", "III", "binary I", "II", "III", "unknown I", "II", "III"), rows)))


def main() -> None:
    """Recomputes and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="the paper's released files")
    parser.add_argument("--figures", type=Path, metavar="DIR", help="draw Figure 6: phases.png and phases.svg")
    options = parser.parse_args()
    published = json.loads((options.data / "tables.json").read_text(encoding="utf-8"))
    truth = swe_gym(read_labels(options.data / "labels.csv"))
    files = ("predictions_swe_gym.csv", "predictions_ablation_swe_gym.csv")
    methods = {method.name: method for method in read_predictions([options.data / name for name in files])}
    wanted = [f"{name}_{backbone}" for backbone in BACKBONES for name in METHODS]
    tables = {name: table(name, truth, methods[name].predictions) for name in wanted}
    tables_three_and_four(tables, published)
    table_five(truth, methods, published)
    found = courses(truth, read_predictions([options.data / "phases_swe_gym.csv"]), methods)
    table_six(found, published)
    if options.figures:
        print("\n" + "\n".join(f"drawn: {path}" for path in draw_phases(found, options.figures)))


if __name__ == "__main__":
    main()
