"""The wording that a signal of a literal tells of: whole, where the signal holds the part that both patches share."""

from __future__ import annotations

from checker import patches
from checker.literals import Place, Wording, whole_wording
from checker.pair import Pair
from checker.report import Signal


def expected_wording(pair: Pair, signal: Signal) -> Wording:
    """What tests expect, of a signal of kind `UNSPECIFIED_LITERAL` on the pair."""
    text = signal.detail["text"]
    if signal.detail["literal"] != "fragment":
        return Wording(text)
    code, test = (patches.parse(patch) for patch in (pair.pull_request.code_patch, pair.pull_request.test_patch))
    return whole_wording(
        text, code, Place(**signal.detail["code"]), test, Place(signal.path or "", signal.line or 0, signal.quote)
    )
