"""The pairs that another filter flags: a text file of ids, a JSON list, JSONL or a CSV."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checker.evaluation.labels import EvaluationInputError, csv_rows, file_text

_ID = "instance_id"
_YES, _NO = ("true", "yes", "1", "1.0"), ("false", "no", "0", "0.0")


@dataclass(frozen=True)
class FilterList:
    """What a filter flags, and all that it looked at, None where the file does not tell."""

    name: str
    flagged: frozenset[str]
    looked_at: frozenset[str] | None = None


def read_filter_list(path: Path, column: str | None = None) -> FilterList:
    """Ids, one a line; or a JSON list of them; or rows with `instance_id` (CSV, JSON list, JSONL).

    With `column` rows are all that the filter looked at, and that column says yes or no. Raises EvaluationInputError.
    """
    rows = _rows(path)
    if not rows:
        raise EvaluationInputError(f"{path}: it names no pair")
    if column is None:
        return FilterList(path.name, frozenset(identity for identity, _ in rows))
    said = {identity: _flag(row, column, f"{path}, {identity}") for identity, row in rows}
    flagged = frozenset(identity for identity, flag in said.items() if flag)
    return FilterList(f"{path.name}: {column}", flagged, frozenset(said))


def _rows(path: Path) -> list[tuple[str, Mapping[str, Any]]]:
    text = file_text(path)
    if path.suffix == ".csv":
        return [(row[_ID], row) for _, row in csv_rows(path, (_ID,))]
    if text.lstrip()[:1] in ("[", "{"):
        return [_row(path, number, one) for number, one in enumerate(_values(path, text), 1)]
    lines = (line.split("#")[0].strip() for line in text.splitlines())
    return [(line, {}) for line in lines if line]


def _values(path: Path, text: str) -> list[Any]:
    """A JSON list's items, or one value a line."""
    try:
        if text.lstrip().startswith("["):
            return list(json.loads(text))
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        raise EvaluationInputError(f"{path}: it is no JSON list, and no JSON value a line") from None


def _row(path: Path, number: int, value: Any) -> tuple[str, Mapping[str, Any]]:
    if isinstance(value, str) and value:
        return value, {}
    identity = value.get(_ID) if isinstance(value, Mapping) else None
    if not isinstance(identity, str) or not identity:
        raise EvaluationInputError(f"{path}, item {number}: it is no id, and no object with {_ID}")
    return identity, value


def _flag(row: Mapping[str, Any], column: str, where: str) -> bool:
    if column not in row:
        raise EvaluationInputError(f"{where}: it has no column {column!r}")
    value = str(row[column]).strip().lower()
    if value not in (*_YES, *_NO):
        raise EvaluationInputError(
            f"{where}, column {column}: {row[column]!r} is neither yes nor no (true, 1; false, 0)"
        )
    return value in _YES
