"""One line of an audit's results, or one report, as a prediction. What it does not hold stays unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from checker.evaluation.trail import NO_LABEL, SEVEN, LabelSet, Prediction
from checker.report import Verdict
from checker.taxonomy import Label, Role

_NO_LABEL_STANDS = (Verdict.ALIGNED, Verdict.NOTHING_FOUND, Verdict.UNDETERMINED)


def read_result(data: Any) -> tuple[str, Prediction]:
    """Id and prediction. A result without a verdict (a check that failed) is no prediction.

    Raises ValueError, whose message ends the sentence "FILE:LINE: ".
    """
    if not isinstance(data, Mapping):
        raise ValueError("it is no JSON object")
    identity = data.get("id", data.get("instance_id"))
    if not isinstance(identity, str) or not identity:
        raise ValueError("it names no pair (field id)")
    labels = _labels(data)
    dollars, tokens = _number(data, "dollars", _spent(data)), _number(data, "tokens", _used(data))
    # Of an agent of others nobody counts the tokens.
    is_uncounted = bool(_usage(data)) and dollars is None and not tokens
    return identity, Prediction(
        labels,
        undecided=data.get("verdict") == Verdict.UNDETERMINED,
        phases=_phases(data, labels),
        dollars=dollars,
        tokens=None if is_uncounted else tokens,
        seconds=_number(data, "seconds", None),
    )


def _labels(data: Mapping[str, Any]) -> LabelSet | None:
    verdict = data.get("verdict")
    if verdict in _NO_LABEL_STANDS:
        return NO_LABEL
    if verdict != Verdict.MISALIGNED:
        return None
    said = data.get("labels")
    if not isinstance(said, list) or not said:
        raise ValueError("it is misaligned, but names no label (field labels)")
    unknown = [label for label in said if label not in SEVEN[:-1]]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no label of a misaligned pair (field labels)")
    return frozenset(said)


def _phases(data: Mapping[str, Any], labels: LabelSet | None) -> tuple[LabelSet | None, ...]:
    """What stood after each phase, from what the later phases dropped and what the coordinator added."""
    dropped = data.get("dropped")
    if labels is None or not isinstance(dropped, list):
        return ()
    third = labels - NO_LABEL
    second = third | _dropped_by(dropped, Role.CODE_VALIDATOR)
    first = (second | _dropped_by(dropped, Role.COORDINATOR)) - {Label.OTHERS.value}
    return tuple(stood or NO_LABEL for stood in (first, second, third))


def _dropped_by(dropped: list[Any], role: Role) -> LabelSet:
    return frozenset(d["label"] for d in dropped if isinstance(d, Mapping) and d.get("by") == role and "label" in d)


def _number(data: Mapping[str, Any], name: str, otherwise: float | None) -> float | None:
    value = data.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else otherwise


def _usage(data: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    usage = data.get("usage")
    return [u for u in usage if isinstance(u, Mapping)] if isinstance(usage, list) else None


def _spent(data: Mapping[str, Any]) -> float | None:
    return _total(_usage(data), ("dollars",))


def _used(data: Mapping[str, Any]) -> float | None:
    return _total(_usage(data), ("input_tokens", "output_tokens"))


def _total(usage: list[Mapping[str, Any]] | None, fields: tuple[str, ...]) -> float | None:
    """The sum over roles, None where one of them is unknown."""
    values = [_number(one, name, None) for one in usage or () for name in fields]
    if usage is None or None in values:
        return None
    return sum(value for value in values if value is not None)
