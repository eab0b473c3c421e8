"""Which pairs each agent solved, from results of experiments in the layouts in which they are published.

The layouts are those of the repositories SWE-bench/experiments, multi-swe-bench/experiments and SWE-PolyBench, and of
the harnesses of SWE-bench, SWE-bench-Live, SWE-PolyBench and Multi-SWE-bench (docs/studies.md).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from checker.evaluation.labels import EvaluationInputError, file_text
from checker.pair import pair_id

_LISTS = ("resolved", "resolved_ids", "success_ids")
_DETAILS = "per_instance_details.json"
# One for each instance: of a submission with its logs, of a harness's own folder. SWE-PolyBench names the file by the
# instance, whose id ends in a number.
_REPORTS = ("logs/*/report.json", "*/report.json", "logs/*_result.json", "*__*-*[0-9]_result.json")
_MULTI_SWE_BENCH = re.compile(r"(?P<repository>[^/:]+/[^/:]+):pr-(?P<number>[0-9]{1,18})")

Places = Callable[[Sequence[Path]], Iterable[Path]]
"""Passes on the places of submissions while they are read, for instance to show how far this has come."""


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


def read_experiments(paths: Sequence[Path], each: Places = iter) -> Experiments:
    """All submissions below the folders, or in files that are run reports. Raises EvaluationInputError.

    A folder is a submission, a folder of submissions, or the whole repository if this holds one split: a pair that a
    split does not hold would count as unsolved by its submissions.
    """
    empty: list[str] = []
    try:
        results = [found for path in paths for found in _places(path, empty)]
        places, files = [place for place, _ in results], dict(results)
        found = [(place, _submission(place, files[place])) for place in each(places)]
    except OSError as error:
        raise EvaluationInputError(f"{error.filename}: it cannot be read ({error.strerror})") from None
    times = Counter(place.resolve() for place in places)
    if twice := next((place for place, count in times.items() if count > 1), None):
        raise EvaluationInputError(f"{twice}: it is named twice")
    names = Counter(one.name for _, one in found)
    unique = [_under(place, one) if names[one.name] > 1 else one for place, one in found]
    return Experiments(tuple(sorted(unique, key=lambda one: one.name)), tuple(empty))


def _under(place: Path, one: Submission) -> Submission:
    return replace(one, name=f"{place.resolve().parent.name}/{one.name}")


def _places(path: Path, empty: list[str]) -> list[tuple[Path, list[Path]]]:
    """The folders and files below a path each of which is one submission, with the files of its results; notes the
    folders that are none."""
    if files := [path] if path.is_file() else _results(path):
        return [(path, files)]
    found = []
    for folder in _folders(_the_split(path)):
        if files := _results(folder):
            found.append((folder, files))
        else:
            empty.append(folder.name)
    found += [(file, [file]) for file in sorted(path.glob("*.json")) if _is_run_report(_parsed(file))]
    if not found:
        raise EvaluationInputError(
            f"{path}: no results of a submission are in it (results/results.json, {_DETAILS}, report.json or "
            "_result.json of each instance, or run reports with resolved_ids)"
        )
    return found


def _is_run_report(data: Any) -> bool:
    return isinstance(data, Mapping) and any(name in data for name in _LISTS)


def _the_split(path: Path) -> Path:
    """The folder that holds the submissions: this one, or the one split that the repository holds."""
    path = path / "evaluation" if (path / "evaluation").is_dir() else path
    folders = _folders(path)
    if any(map(_results, folders)):
        return path
    splits = [folder for folder in folders if any(map(_results, _folders(folder)))]
    if len(splits) > 1:
        raise EvaluationInputError(
            f"{path}: it holds several splits ({', '.join(split.name for split in splits)}); name the folder of one, "
            "or of several that hold the same pairs"
        )
    return splits[0] if splits else path


def _folders(path: Path) -> list[Path]:
    return sorted(entry for entry in path.iterdir() if entry.is_dir() and not entry.name.startswith("."))


def _results(folder: Path) -> list[Path]:
    """The files of the first of the layouts that a folder has; none where it is no submission."""
    for file in (folder / "results" / "results.json", folder / _DETAILS, folder / "results.json"):
        if file.is_file():
            return [file]
    return next((found for pattern in _REPORTS if (found := sorted(folder.glob(pattern)))), [])


def _submission(place: Path, files: Sequence[Path]) -> Submission:
    if place.is_file():
        return _run_report(place, place.stem, _json(place))
    name = place.resolve().name
    if files[0].name == "results.json":
        return _run_report(files[0], name, _json(files[0]))
    return _from_outcomes(name, ((file, _json(file)) for file in files))


def _run_report(path: Path, name: str, data: Mapping[str, Any]) -> Submission:
    """From lists of ids. An id that a list names twice counts once."""
    field = next((field for field in _LISTS if field in data), None)
    if field is None:
        raise EvaluationInputError(f"{path}: it names no solved instances (field {' or '.join(_LISTS)})")
    submitted = data.get("submitted_ids")
    recorded = frozenset(_ids(path, "submitted_ids", submitted)) if submitted is not None else None
    return Submission(name, frozenset(_ids(path, field, data[field])), recorded)


def _ids(path: Path, field: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise EvaluationInputError(f"{path}: its field {field} is no list of ids")
    return [_id(one) for one in value]


def _id(name: str) -> str:
    """An id as the data sets have it. Multi-SWE-bench's own harness calls a pair `org/repo:pr-7` in its reports."""
    match = _MULTI_SWE_BENCH.fullmatch(name)
    return pair_id(match["repository"], int(match["number"])) if match else name


def _from_outcomes(name: str, files: Iterable[tuple[Path, Mapping[str, Any]]]) -> Submission:
    """From objects that give each instance its outcome: `{id: {"resolved": true, ...}}`, or one with `instance_id`."""
    outcomes: dict[str, bool] = {}
    for path, data in files:
        own = data.get("instance_id")
        for identity, outcome in ({own: data} if isinstance(own, str) else data).items():
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
