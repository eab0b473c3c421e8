"""Which pairs each agent solved, from results of SWE-bench experiments in the layouts in which they are published.

The layouts are those of the repository SWE-bench/experiments and of the harness of SWE-bench (docs/studies.md).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from checker.evaluation.labels import EvaluationInputError, file_text

_LISTS = ("resolved", "resolved_ids")
_DETAILS = "per_instance_details.json"
_REPORT = "report.json"


@dataclass(frozen=True)
class Submission:
    """One agent's run: the pairs that it solved, and those with a recorded outcome, None where only solved ones are."""

    name: str
    resolved: frozenset[str]
    recorded: frozenset[str] | None = None


@dataclass(frozen=True)
class Experiments:
    """All submissions by name, and the folders in which no result was found."""

    submissions: tuple[Submission, ...]
    without_results: tuple[str, ...] = ()


def read_experiments(paths: Sequence[Path]) -> Experiments:
    """All submissions below the folders, or in files that are run reports. Raises EvaluationInputError.

    A folder is a submission, a folder of submissions, or the whole repository if this holds one split: a pair that a
    split does not hold would count as unsolved by its submissions.
    """
    found: list[tuple[Path, Submission]] = []
    empty: list[str] = []
    for path in paths:
        here = list(_submissions(path, empty))
        if not here:
            raise EvaluationInputError(
                f"{path}: no results of a submission are in it (results/results.json, {_DETAILS}, report.json of each "
                "instance, or run reports with resolved_ids)"
            )
        found += here
    places = Counter(place.resolve() for place, _ in found)
    if twice := next((place for place, times in places.items() if times > 1), None):
        raise EvaluationInputError(f"{twice}: it is named twice")
    names = Counter(one.name for _, one in found)
    unique = [_under(place, one) if names[one.name] > 1 else one for place, one in found]
    return Experiments(tuple(sorted(unique, key=lambda one: one.name)), tuple(empty))


def _under(place: Path, one: Submission) -> Submission:
    return replace(one, name=f"{place.resolve().parent.name}/{one.name}")


def _submissions(path: Path, empty: list[str]) -> Iterator[tuple[Path, Submission]]:
    if path.is_file():
        yield path, _run_report(path, path.stem, _json(path))
        return
    own = _submission(path)
    if own is not None:
        yield path, own
        return
    folders = _folders(_the_split(path))
    for folder in folders:
        one = _submission(folder)
        if one is None:
            empty.append(folder.name)
        else:
            yield folder, one
    for file in sorted(path.glob("*.json")):
        data = _parsed(file)
        if isinstance(data, Mapping) and any(name in data for name in _LISTS):
            yield file, _run_report(file, file.stem, data)


def _the_split(path: Path) -> Path:
    """The folder that holds the submissions: this one, or the one split that the repository holds."""
    path = path / "evaluation" if (path / "evaluation").is_dir() else path
    folders = _folders(path)
    if any(map(_is_submission, folders)):
        return path
    splits = [folder for folder in folders if any(map(_is_submission, _folders(folder)))]
    if len(splits) > 1:
        raise EvaluationInputError(
            f"{path}: it holds several splits ({', '.join(split.name for split in splits)}); name the folder of one, "
            "or of several that hold the same pairs"
        )
    return splits[0] if splits else path


def _folders(path: Path) -> list[Path]:
    try:
        return sorted(entry for entry in path.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    except OSError as error:
        raise EvaluationInputError(f"{path}: it cannot be read ({error.strerror})") from None


def _results_file(folder: Path) -> Path | None:
    places = (folder / "results" / "results.json", folder / _DETAILS, folder / "results.json")
    return next((place for place in places if place.is_file()), None)


def _reports(folder: Path) -> list[Path]:
    """One report for each instance, in the submission's `logs` or, as the harness writes them, in the folder itself."""
    return sorted(folder.glob(f"logs/*/{_REPORT}")) or sorted(folder.glob(f"*/{_REPORT}"))


def _is_submission(folder: Path) -> bool:
    return _results_file(folder) is not None or bool(_reports(folder))


def _submission(folder: Path) -> Submission | None:
    """The first of the layouts that the folder has."""
    file = _results_file(folder)
    name = folder.resolve().name
    if file is None:
        reports = _reports(folder)
        return _from_outcomes(name, [(path, _json(path)) for path in reports]) if reports else None
    data = _json(file)
    return _from_outcomes(name, [(file, data)]) if file.name == _DETAILS else _run_report(file, name, data)


def _run_report(path: Path, name: str, data: Mapping[str, Any]) -> Submission:
    """From lists of ids. An id that a list names twice counts once."""
    field = next((field for field in _LISTS if field in data), None)
    if field is None:
        raise EvaluationInputError(f"{path}: it names no solved instances (field resolved or resolved_ids)")
    submitted = data.get("submitted_ids")
    recorded = frozenset(_ids(path, "submitted_ids", submitted)) if submitted is not None else None
    return Submission(name, frozenset(_ids(path, field, data[field])), recorded)


def _ids(path: Path, field: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise EvaluationInputError(f"{path}: its field {field} is no list of ids")
    return value


def _from_outcomes(name: str, files: Sequence[tuple[Path, Mapping[str, Any]]]) -> Submission:
    """From objects that give each instance its outcome: `{id: {"resolved": true, ...}}`."""
    outcomes: dict[str, bool] = {}
    for path, data in files:
        for identity, outcome in data.items():
            solved = outcome.get("resolved") if isinstance(outcome, Mapping) else None
            if not isinstance(solved, bool):
                raise EvaluationInputError(f"{path}: it does not say whether {identity!r} is resolved (true or false)")
            outcomes[identity] = solved
    return Submission(name, frozenset(i for i, solved in outcomes.items() if solved), frozenset(outcomes))


def _json(path: Path) -> Mapping[str, Any]:
    data = _parsed(path)
    if not isinstance(data, Mapping):
        raise EvaluationInputError(f"{path}: it is no JSON object")
    return data


def _parsed(path: Path) -> Any:
    try:
        return json.loads(file_text(path))
    except (ValueError, RecursionError):
        raise EvaluationInputError(f"{path}: it is no JSON; mend it or take it away") from None
