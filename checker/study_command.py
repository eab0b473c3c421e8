"""`paichecker study`: what a data set's labels say: counts, misalignment by solved, leaderboard, overlap."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from checker.backends import UsageError
from checker.console import json_line, progress_bar, put_out, require_eval

if TYPE_CHECKING:
    from checker.evaluation.solved import Solved
    from checker.evaluation.study_render import Study

_LABELS = """\
labels:
  --labels  a CSV with instance_id and labels, and dataset if it holds several (people's labels);
            or an audit: its folder, its results.jsonl, or any file with one report a line.
            Who judged is said. Undetermined pairs, and those without an answer, are counted apart.
"""
_COUNTS = """
examples:
  paichecker study counts --labels labels.csv
  paichecker study counts --labels my-audit/ --format json > counts.json
"""
_SOLVED = """
experiments:
  --experiments  a split of the repository SWE-bench/experiments (evaluation/verified), one or
                 several submissions, run reports of the SWE-bench harness, or its log folders;
                 the same of SWE-bench-Live, SWE-PolyBench and Multi-SWE-bench.
                 A pair that a submission does not name as solved is unsolved.

examples:
  paichecker study solved --labels labels.csv --experiments experiments/evaluation/verified
  paichecker study solved --labels my-audit/ --experiments experiments/evaluation/{verified,bash-only}
  paichecker study solved --labels labels.csv --experiments runs/*.json --figures drawn/
"""
_OVERLAP = """
lists:
  --list    ids, one a line; a JSON list of them; or rows with instance_id: CSV, JSON list, JSONL.
  --column  of rows: yes or no (true, false, 1, 0). Rows are then all that the filter looked at;
            without it, a list is taken to have looked at every labelled pair of its data sets.

examples:
  paichecker study overlap --labels labels.csv --list flagged.txt other.json
  paichecker study overlap --labels my-audit/ --list annotations.csv --column filter_out
"""
_MORE = """
docs/studies.md explains each figure. Needs the extra eval: in a checkout
pip install -c constraints.txt '.[eval]'.
"""


def add_study(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The subcommand, its three studies and their options."""
    about = "counts of labels, misalignment by solved, leaderboard, overlap with another filter"
    parser = commands.add_parser("study", help=about, description=about)
    studies = parser.add_subparsers(required=True, metavar="STUDY")
    _add(studies, "counts", "pairs and labels per data set and repository (the paper's Tables 1, 2)", _COUNTS, _counts)
    about = "misalignment by the number of agents that solve a pair, leaderboard without (Figures 2, 3)"
    solved = _add(studies, "solved", about, _SOLVED, _solved)
    solved.add_argument("--experiments", type=Path, required=True, nargs="+", metavar="DIR", help="what agents solved")
    solved.add_argument("--figures", type=Path, metavar="DIR", help="draw solved and leaderboard: .png, .svg")
    overlap = _add(studies, "overlap", "overlap of misaligned pairs with what another filter flags", _OVERLAP, _overlap)
    overlap.add_argument("--list", type=Path, required=True, nargs="+", metavar="FILE", help="what the filter flags")
    overlap.add_argument("--column", metavar="NAME", help="which column of the list says yes or no")


def _add(
    studies: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    about: str,
    epilog: str,
    study: Callable[[argparse.Namespace], tuple[Study, str]],
) -> argparse.ArgumentParser:
    parser = studies.add_parser(
        name,
        help=about,
        description=about,
        epilog=_LABELS + epilog + _MORE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=_study, study=study, figures=None)
    parser.add_argument("--labels", type=Path, required=True, metavar="FILE", help="what people, or an audit, said")
    parser.add_argument(
        "--format",
        choices=("text", "json", "csv"),
        default="text",
        help="text: tables in per cent; json, csv: fractions (text)",
    )
    return parser


def _study(options: argparse.Namespace) -> int:
    require_eval("study", "sklearn", "scipy", *(("matplotlib",) if options.figures else ()))
    from checker.evaluation.labels import EvaluationInputError
    from checker.evaluation.study_render import as_csv, as_data

    try:
        study, text = options.study(options)
    except EvaluationInputError as error:
        raise UsageError(str(error)) from None
    if options.format == "json":
        put_out(json_line(as_data(study)))
    else:
        put_out(text if options.format == "text" else as_csv(study))
    return 0


def _counts(options: argparse.Namespace) -> tuple[Study, str]:
    from checker.evaluation.judged import read_judged
    from checker.evaluation.studies import counts
    from checker.evaluation.study_render import counts_text

    study = counts(read_judged(options.labels))
    return study, counts_text(study)


def _solved(options: argparse.Namespace) -> tuple[Study, str]:
    from checker.evaluation.experiments import read_experiments
    from checker.evaluation.judged import read_judged
    from checker.evaluation.solved import solved
    from checker.evaluation.study_render import solved_text

    experiments = read_experiments(options.experiments, _with_progress)
    study = solved(read_judged(options.labels), experiments.submissions, experiments.without_results)
    if options.figures:
        _draw(study, options.figures)
    return study, solved_text(study)


def _with_progress(places: Sequence[Path]) -> Iterator[Path]:
    with progress_bar("reading submissions", len(places)) as progress:
        for place in places:
            yield place
            progress.advance(progress.task_ids[0])


def _draw(study: Solved, folder: Path) -> None:
    from checker.evaluation.study_figures import draw_solved

    try:
        draw_solved(study, folder)
    except OSError as error:
        raise UsageError(f"--figures {folder}: it cannot be written to ({error.strerror})") from None


def _overlap(options: argparse.Namespace) -> tuple[Study, str]:
    from checker.evaluation.filter_lists import read_filter_list
    from checker.evaluation.judged import read_judged
    from checker.evaluation.overlap import overlap
    from checker.evaluation.study_render import overlap_text

    judged = read_judged(options.labels)
    study = tuple(overlap(judged, read_filter_list(path, options.column)) for path in options.list)
    return study, overlap_text(judged.judge, study)
