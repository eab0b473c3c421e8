"""The sentences that both forms of a report share: who judged, how it was made, what it cost, what a word means."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from checker.audit_folder import UNREADABLE
from checker.audit_report.pairs import LONGEST_NAME, cut
from checker.audit_report.rates import FEW, Cost, ModelCost, Rates, Share
from checker.audit_report.reading import Audit
from checker.audit_summary import time_said, tokens_said
from checker.recommendation import Action
from checker.render import RULES_NOTE
from checker.report import Verdict

VERDICT_MEANINGS = {
    Verdict.MISALIGNED: "a label stands",
    Verdict.UNDETERMINED: "no label stands, but something that could show one was not read, or a role failed; "
    "it is not to be taken for aligned",
    Verdict.NOTHING_FOUND: "no label by rules alone; they cannot see intent, so it is no proof of alignment",
    Verdict.ALIGNED: "a model read everything that a label lives from, and none stands",
}
ACTION_MEANINGS = {
    Action.DROP: "no wording mends it",
    Action.REPAIR: "the statement can be amended",
    Action.LOOK: "a person should look first",
    Action.KEEP: "nothing was found against it",
}
FAILED_MEANING = (
    "the check gave no whole answer; such a pair is in no count and no rate, and --retry-failed judges it again"
)
INTERVALS = (
    "Shares are of the judged pairs. In brackets: 95 % intervals (Wilson), as if the pairs were a random sample; "
    f"of fewer than {FEW} pairs read the count."
)


def title(audit: Audit) -> str:
    """The audit's name: its source without the folders of the machine it was read on."""
    source = audit.settings.source
    return f"Audit of {_name(PurePosixPath(source).name if source.startswith('/') else source)}"


def _name(text: str) -> str:
    return cut(text, LONGEST_NAME)


def judged_by(rates: Rates) -> str:
    """Who judged how many pairs."""
    if not rates.pairs:
        return "No pair has a result yet."
    said = f"{pairs_said(rates.pairs)} judged by {', '.join(map(_name, rates.backends))}"
    return f"{said} ({RULES_NOTE})." if "rules" in rates.backends else f"{said}."


def made(audit: Audit) -> Iterator[str]:
    """How the pairs were chosen and judged, and what is to be known before the figures are read."""
    settings = audit.settings
    if audit.is_running:
        yield "The audit was still running when this was written: the figures are of the pairs so far."
    left = (audit.settings.pairs or 0) - len(audit.judged) - len(audit.failed)
    if left > 0:
        yield f"{pairs_said(left)} of {audit.settings.pairs:,} were not judged yet: the same call of the audit goes on."
    if audit.failed:
        yield f"{pairs_said(len(audit.failed))} failed: {FAILED_MEANING}."
    if audit.unreadable:
        yield f"Records that could not be read: {audit.unreadable:,}. They are in no count; {UNREADABLE} tells of each."
    if settings.sample:
        by = ", each repository with its share" if settings.stratify else ""
        yield f"A sample of {settings.sample:,} pairs{by}, drawn with seed {settings.seed}."
    if settings.method != "paichecker":
        yield f"Method: {_name(settings.method)}."
    if settings.without:
        yield f"Left out of the method: {settings.without}."
    version = f"PAIChecker {settings.version}" if settings.version else "PAIChecker"
    yield version + (f"; last result {audit.updated.isoformat()}." if audit.updated else ".")


def cost_said(cost: Cost, spent: int) -> Iterator[str]:
    """What the pairs listed cost, what was spent beside, and the time."""
    if cost.models and not cost.tokens and cost.dollars is None:
        yield f"What the pairs listed cost is unknown: {_models(cost.models)}."
    elif cost.models:
        yield f"The pairs listed took {tokens_said(cost.tokens, cost.dollars)}: {_models(cost.models)}."
    else:
        yield "No model was asked."
    if spent > cost.tokens:
        yield f"All attempts, those of stopped and repeated checks too, took {spent:,} tokens."
    took = f"{_time(cost.seconds)} of checking, added up over pairs that ran at once"
    yield f"{took}; the pair in the middle took {_time(cost.median_seconds)}."


def _time(seconds: float) -> str:
    return time_said(seconds) if seconds >= 0.1 else "under 0.1 s"


def _models(models: tuple[ModelCost, ...]) -> str:
    return "; ".join(
        f"{_name(model.model)} {_number(model.calls, 'call')}, {tokens_said(model.tokens, model.dollars)}"
        for model in models
    )


def percent(share: Share) -> str:
    """A share with one decimal."""
    return f"{share.part:.1%}"


def interval(share: Share) -> str:
    """Its interval, in per cent."""
    low, high = share.interval
    return f"{100 * low:.1f}–{100 * high:.1f}"


def pairs_said(number: int) -> str:
    """So many pairs."""
    return _number(number, "pair")


def _number(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
