"""What the readers of foreign columns share: the pull request that an id names, and the columns carried along."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

BESIDE = "beside"
"""The key of `Pair.extra` under which `checker.datasets.paper.write_record` finds what to write beside."""
NO_NUMBER = "The pull request's number is unknown: the record names none, and its id is not owner__name-NUMBER."
_LONGEST = 200


def instance(instance_id: str) -> tuple[str | None, int | None]:
    """Repository and pull request's number out of `owner__name-number`."""
    place, _, digits = instance_id.rpartition("-")
    owner, _, name = place.partition("__")
    is_number = digits.isascii() and digits.isdecimal() and len(digits) < 20
    return (f"{owner}/{name}", int(digits)) if owner and name and is_number else (None, None)


def beside(record: Mapping[str, Any], read: Collection[str]) -> dict[str, Any]:
    """For `Pair.extra`: the short values of columns that the pair has no place for, such as `version`.

    Lists of tests and Dockerfiles are a hundred times as long as all that a check reads; they stay where they are.
    """
    kept = {key: value for key, value in record.items() if key not in read and _is_short(value)}
    return {BESIDE: kept} if kept else {}


def _is_short(value: Any) -> bool:
    return isinstance(value, (bool, int, float)) or (isinstance(value, str) and len(value) <= _LONGEST)
