"""`paichecker evaluate`: predictions against human labels, as the paper scores them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from checker.backends import UsageError
from checker.console import json_line, positive_int, put_out, require_eval

if TYPE_CHECKING:
    from checker.evaluation.phases import Phases

_MOST_ROUNDS = 100_000
_EPILOG = """\
files:
  --labels       a CSV with instance_id and labels: | between several, No Misalignment for none;
                 the column dataset, if there is one, says which pairs belong together
  --predictions  a CSV with instance_id and one column per method, labels as above, an empty cell
                 for no prediction; or the results of an audit, its folder or a file with one report
                 a line; or phases as the paper released them. All methods are compared.

how pairs are counted:
  Every labelled pair counts, of each data set that the predictions touch. Without a prediction a
  pair is never an exact match, and is misaligned in the binary figures. Undetermined counts as no
  misalignment, and is told apart. Macro figures are means over those of the six labels and
  No Misalignment that occur at all.

examples:
  paichecker evaluate --labels labels.csv --predictions predictions.csv
  paichecker evaluate --labels labels.csv --predictions audit-rules/ audit-model/ --format json > scores.json
  paichecker evaluate --labels labels.csv --predictions sample/results.jsonl --predicted-only
  paichecker evaluate --labels labels.csv --predictions audit-model/ --figures drawn/

docs/evaluation.md explains each figure. Needs the extra eval: in a checkout
pip install -c constraints.txt '.[eval]'.
"""


def add_evaluate(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The subcommand and its options."""
    about = "score predictions, or an audit, against human labels, and compare methods"
    parser = commands.add_parser(
        "evaluate", help=about, description=about, epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.set_defaults(run=_evaluate)
    parser.add_argument("--labels", type=Path, required=True, metavar="FILE", help="what people said")
    parser.add_argument(
        "--predictions", type=Path, required=True, nargs="+", metavar="FILE", help="what methods said, or audits"
    )
    parser.add_argument(
        "--format",
        choices=("text", "json", "csv"),
        default="text",
        help="text: tables in per cent; json, csv: fractions (text)",
    )
    parser.add_argument(
        "--predicted-only",
        action="store_true",
        help="the predictions are a sample: leave out labelled pairs that have no row",
    )
    parser.add_argument("--rounds", type=_rounds, default=1000, metavar="N", help="of the bootstrap (1,000)")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="K", help="of the bootstrap: the same draws for one K (0)"
    )
    parser.add_argument("--figures", type=Path, metavar="DIR", help="draw what each phase adds: phases.png, phases.svg")


def _rounds(text: str) -> int:
    rounds = positive_int(text)
    if rounds > _MOST_ROUNDS:
        raise argparse.ArgumentTypeError(f"{text} is more than {_MOST_ROUNDS:,}, which are enough for any interval")
    return rounds


def _evaluate(options: argparse.Namespace) -> int:
    require_eval("evaluate", "sklearn", "scipy", *(("matplotlib",) if options.figures else ()))
    from checker.evaluation.evaluate import evaluate
    from checker.evaluation.labels import EvaluationInputError, read_labels, read_predictions
    from checker.evaluation.render import as_csv, as_data, as_text

    try:
        truth, methods = read_labels(options.labels), read_predictions(options.predictions)
        only = options.predicted_only
        evaluation = evaluate(truth, methods, rounds=options.rounds, seed=options.seed, predicted_only=only)
    except EvaluationInputError as error:
        raise UsageError(str(error)) from None
    if options.figures:
        _draw({one.method: one.phases for one in evaluation.methods if one.phases}, options.figures)
    if options.format == "json":
        put_out(json_line(as_data(evaluation)))
    else:
        put_out(as_text(evaluation) if options.format == "text" else as_csv(evaluation))
    return 0


def _draw(courses: dict[str, Phases], folder: Path) -> None:
    from checker.evaluation.figures import draw_phases

    if not courses:
        raise UsageError("--figures: no predictions tell what stood after each phase; audit results with `dropped` do")
    try:
        draw_phases(courses, folder)
    except OSError as error:
        raise UsageError(f"--figures {folder}: it cannot be written to ({error.strerror})") from None
