"""An audit's folder as plain data. It may be read while the audit is still writing there."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from checker.audit_folder import FAILURES, RESULTS, SETTINGS, SPENDING, UNREADABLE
from checker.model import Usage
from checker.recommendation import Recommendation
from checker.report import Report

_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_REPORT = {field.name for field in fields(Report)}


class AuditResultsError(Exception):
    """The folder holds no results that can be read. The message says what is wrong where, and what to do."""


@dataclass(frozen=True)
class Settings:
    """What the audit was asked to do, as `audit.json` tells it; `source` is a file or a name on a hub.

    `pairs`: how many were to be judged; None where the folder does not say.
    """

    source: str
    method: str = "paichecker"
    without: str | None = None
    pairs: int | None = None
    sample: int | None = None
    stratify: str | None = None
    seed: int = 0
    version: str | None = None


@dataclass(frozen=True)
class Row:
    """One pair's outcome. `failed`: a role gave no answer, so the report is not whole and counts for no rate.

    `dollars` is None where a price is unknown, `tokens` where nobody counted; `seconds` is how long the check took.
    """

    report: Report
    repository: str | None
    advice: Recommendation
    tokens: Annotated[int, Field(ge=0)] | None
    dollars: _Amount | None
    seconds: _Amount
    failed: bool


@dataclass(frozen=True)
class Audit:
    """An audit as far as it has come. `spent`: tokens of all attempts that were booked, lost and repeated ones too.

    `updated` is the day of the last result; `is_running`: some process is writing to the folder.
    `unreadable`: records of the source that are no pairs.
    """

    settings: Settings
    judged: tuple[Row, ...]
    failed: tuple[Row, ...] = ()
    spent: int = 0
    updated: date | None = None
    is_running: bool = False
    unreadable: int = 0


_ROW: TypeAdapter[Row] = TypeAdapter(Row)
_SETTINGS: TypeAdapter[Settings] = TypeAdapter(Settings)
_USAGE: TypeAdapter[Usage] = TypeAdapter(Usage)


def read_audit(folder: Path) -> Audit:
    """The audit in a folder that `paichecker audit -o` wrote. Raises AuditResultsError."""
    if not (folder / RESULTS).is_file():
        raise AuditResultsError(
            f"{folder}: there are no results of an audit ({RESULTS}); paichecker audit -o writes them"
        )
    try:
        judged = tuple(_rows(folder / RESULTS, failed=False))
        done = {row.report.id for row in judged}
        failed = {row.report.id: row for row in _rows(folder / FAILURES, failed=True) if row.report.id not in done}
        updated = datetime.fromtimestamp((folder / RESULTS).stat().st_mtime, UTC).date()
        running = _is_running(folder / RESULTS)
        unreadable = sum(1 for _ in _objects(folder / UNREADABLE))
        return Audit(_settings(folder), judged, tuple(failed.values()), _spent(folder), updated, running, unreadable)
    except OSError as error:
        raise AuditResultsError(f"{folder}: it cannot be read ({error.strerror})") from None


def _settings(folder: Path) -> Settings:
    path = folder / SETTINGS
    try:
        return _SETTINGS.validate_json(path.read_bytes())
    except FileNotFoundError:
        return Settings(source=str(folder))
    except ValidationError:
        raise AuditResultsError(f"{path}: these are no settings of an audit; put back what stood there") from None


def _rows(path: Path, *, failed: bool) -> Iterator[Row]:
    for number, data in _objects(path):
        advice = {name: data.get(name) for name in ("action", "reason", "statement")}
        report = {name: value for name, value in data.items() if name in _REPORT}
        row = {name: data.get(name) for name in ("repository", "tokens", "dollars", "seconds")}
        try:
            yield _ROW.validate_python({**row, "report": report, "advice": advice, "failed": failed})
        except ValidationError as error:
            where = error.errors()[0]["loc"][-1]
            raise AuditResultsError(f"{path} line {number}: this is no row of an audit (field {where})") from None


def _objects(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The lines of a file; none where it is not there. A last line without its end is still being written."""
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith("\n"):
                return
            try:
                data = json.loads(line)
            except (ValueError, RecursionError):
                data = None
            if not isinstance(data, dict):
                raise AuditResultsError(f"{path} line {number}: this is no row of an audit; mend it, or take it out")
            yield number, data


def _spent(folder: Path) -> int:
    path = folder / SPENDING
    try:
        return sum(_USAGE.validate_python(data.get("usage")).tokens for _, data in _objects(path))
    except ValidationError:
        raise AuditResultsError(f"{path}: a line of it is no spending of an audit; mend it, or take it out") from None


def _is_running(path: Path) -> bool:
    """An audit holds the lock of its results until it ends."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
