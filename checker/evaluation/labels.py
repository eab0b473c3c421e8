"""Human labels and predictions, read from files: CSV, the results of an audit, and the paper's phases.

A prediction is a set of the taxonomy's labels with `No Misalignment` among them. None is no prediction.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from checker.evaluation.results import read_result
from checker.evaluation.trail import NO_LABEL, SEVEN, LabelSet, Prediction

_RESULTS, _FAILURES = "results.jsonl", "failures.jsonl"
# A column without a name is the row numbers that pandas writes, or follows a comma at the end.
_NO_METHODS = ("instance_id", "dataset", "")
_PHASE_COLUMNS = ("backbone", "coordinator", "validator")
_FIVE = ("SC", "DP", "IS", "FP", "UL")


class EvaluationInputError(Exception):
    """A file that cannot be scored as it stands: what, where, what to do."""


@dataclass(frozen=True)
class Truth:
    """What people said: labels by id, and the data set of each pair where the file has the column `dataset`."""

    labels: Mapping[str, LabelSet]
    datasets: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Method:
    """One method's predictions by id, from one file or from several that name other pairs."""

    name: str
    predictions: Mapping[str, Prediction]


def read_labels(path: Path) -> Truth:
    """Labels of people from a CSV with `instance_id` and `labels` (`|` between them), `dataset` optional."""
    if path.is_dir():
        raise EvaluationInputError(f"{path}: it is a folder; people's CSV is wanted here, with instance_id and labels")
    rows = list(csv_rows(path, ("instance_id", "labels")))
    labels = {row["instance_id"]: _whole(row["labels"], f"{path}:{line}, column labels") for line, row in rows}
    if not labels:
        raise EvaluationInputError(f"{path}: it holds no labelled pair")
    return Truth(labels, {row["instance_id"]: row.get("dataset", "") for _, row in rows})


def _whole(cell: str, where: str) -> LabelSet:
    """People's labels of one pair."""
    said = _cell(cell, where)
    if said is None:
        raise EvaluationInputError(f"{where}: it is empty; a pair without misalignment is No Misalignment")
    if said > NO_LABEL:
        raise EvaluationInputError(f"{where}: it holds No Misalignment beside another label; keep one of them")
    return said


def read_predictions(paths: Sequence[Path]) -> list[Method]:
    """All methods of all files, in order. A method named twice is joined if the files hold other pairs."""
    joined: dict[str, tuple[Path, Method]] = {}
    for path in paths:
        for method in _read_file(path):
            known = joined.get(method.name)
            if known is not None and known[1].predictions.keys() & method.predictions.keys():
                raise EvaluationInputError(
                    f"{path}: {known[0]} also holds a method {method.name!r} for the same pairs; rename the column "
                    "(or, for an audit, the file or folder)"
                )
            earlier = known[1].predictions if known else {}
            joined[method.name] = (path, Method(method.name, {**earlier, **method.predictions}))
    return [method for _, method in joined.values()]


def _read_file(path: Path) -> list[Method]:
    if path.is_dir() or path.name == _RESULTS:
        return [_read_audit(path if path.is_dir() else path.parent)]
    if holds_reports(path):
        method = _method(path.stem, _read_results(path), path)
        if all(one.labels is None for one in method.predictions.values()):
            raise EvaluationInputError(
                f"{path}: it holds no reports; an audit's results are wanted, or what check --format json prints"
            )
        return [method]
    header = next(csv.reader(io.StringIO(file_text(path))), [])
    return _read_phases(path) if set(_PHASE_COLUMNS) <= set(header) else _read_columns(path)


def holds_reports(path: Path) -> bool:
    """Whether this is an audit, by its folder or its results, or a file with one report a line, and no CSV."""
    return path.is_dir() or path.name == _RESULTS or file_text(path).lstrip()[:1] == "{"


def _read_audit(folder: Path) -> Method:
    """An audit's results, and as pairs without a prediction those of which it holds nothing but a failure."""
    failures = _read_results(folder / _FAILURES) if (folder / _FAILURES).exists() else {}
    failed = {identity: replace(one, labels=None, undecided=False, phases=()) for identity, one in failures.items()}
    return _method(folder.resolve().name, failed | _read_results(folder / _RESULTS), folder)


def _method(name: str, predictions: Mapping[str, Prediction], path: Path) -> Method:
    if not predictions:
        raise EvaluationInputError(f"{path}: it holds no result")
    return Method(name, predictions)


def _read_columns(path: Path) -> list[Method]:
    rows = list(csv_rows(path, ("instance_id",)))
    names = [name for name in (rows[0][1] if rows else {}) if name not in _NO_METHODS]
    if not names:
        raise EvaluationInputError(f"{path}: it has no row, or no column of a method beside instance_id")
    return [
        Method(
            name,
            {row["instance_id"]: Prediction(_cell(row[name], f"{path}:{line}, column {name}")) for line, row in rows},
        )
        for name in names
    ]


def _read_results(path: Path) -> dict[str, Prediction]:
    """One report a line. Of several lines about a pair the last counts: it was tried again.

    A last line that a stop cut short is no result yet.
    """
    *lines, torn = file_text(path).split("\n")
    predictions: dict[str, Prediction] = {}
    for number, line in enumerate([*lines, torn if _is_json(torn) else ""], 1):
        if not line.strip():
            continue
        try:
            identity, prediction = read_result(json.loads(line))
        except (ValueError, RecursionError) as error:
            reason = "it is no JSON" if isinstance(error, json.JSONDecodeError | RecursionError) else str(error)
            raise EvaluationInputError(f"{path}:{number}: {reason}") from None
        predictions[identity] = prediction
    return predictions


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _read_phases(path: Path) -> list[Method]:
    """The paper's released phases, one method per backbone: what stood after each phase.

    An analyzer's cell that is neither its label nor `NO_` and the label is no label. The last phase is `final`, or
    the validator's answer where that column is empty. What a model wrote outside the label names stays as it is,
    and is never right.
    """
    backbones: dict[str, dict[str, Prediction]] = {}
    for line, row in csv_rows(path, ("instance_id", *_PHASE_COLUMNS, *_FIVE), ("backbone", "instance_id")):
        first = frozenset(label for label in _FIVE if row[label] == label) or NO_LABEL
        second, validated = _names(row["coordinator"]), _names(row["validator"])
        last = _cell(row["final"], f"{path}:{line}, column final") if row.get("final") else validated
        prediction = Prediction(last, phases=(first, second, last))
        backbones.setdefault(row["backbone"], {})[row["instance_id"]] = prediction
    return [Method(name, predictions) for name, predictions in backbones.items()]


def with_last_phase(method: Method, last: Method) -> Method:
    """The method with another's predictions as what stood in the end, where one release holds no final answers."""
    merged = {
        identity: replace(one, labels=end.labels, phases=(*one.phases[:2], end.labels))
        for identity, one in method.predictions.items()
        if (end := last.predictions.get(identity)) is not None
    }
    return Method(method.name, merged)


def _names(cell: str) -> LabelSet | None:
    return frozenset(part.strip() for part in cell.split("|")) if cell.strip() else None


def _cell(cell: str, where: str) -> LabelSet | None:
    """The labels of a cell, None if it is empty."""
    names = _names(cell)
    unknown = sorted((names or frozenset()) - set(SEVEN))
    if unknown:
        raise EvaluationInputError(f"{where}: {unknown[0]!r} is no label; the labels are {', '.join(SEVEN)}")
    return names


def csv_rows(
    path: Path, needed: Sequence[str], key: Sequence[str] = ("instance_id",)
) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and row. Raises where a column lacks, a row is too short or long, or a key comes twice."""
    reader = csv.reader(io.StringIO(file_text(path), newline=""))
    header = [name.strip() for name in next(reader, [])]
    lacking = [name for name in needed if name not in header]
    if lacking:
        raise EvaluationInputError(f"{path}: its first line names no column {lacking[0]!r}")
    if len(set(header)) < len(header):
        raise EvaluationInputError(f"{path}: its first line names a column twice")
    seen: dict[tuple[str, ...], int] = {}
    for cells in reader:
        line = reader.line_num
        if not cells:
            continue
        if len(cells) != len(header):
            raise EvaluationInputError(f"{path}:{line}: it has {len(cells)} cells, the first line {len(header)}")
        row = dict(zip(header, (cell.strip() for cell in cells), strict=True))
        if (earlier := seen.setdefault(tuple(row[name] for name in key), line)) != line:
            raise EvaluationInputError(f"{path}:{line}: {row['instance_id']!r} stood in line {earlier} already")
        yield line, row


def file_text(path: Path) -> str:
    """A file of text in UTF-8, as it stands. Raises EvaluationInputError."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise EvaluationInputError(f"{path}: it is no text in UTF-8") from None
    except OSError as error:
        raise EvaluationInputError(f"{path}: it cannot be read ({error.strerror})") from None
