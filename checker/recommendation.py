"""What to do with a pair of a data set: keep it, repair its statement, drop it, or let a person look.

What the issue leaves out (IS, UL) can be added to it, so the statement is amended with what the evidence shows. What
is wrong with the pull request itself (SC, DP, FP, Others) no wording mends. `docs/auditing.md` has the whole rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from checker.evidence import Evidence
from checker.links.prose import visible
from checker.literal_wording import expected_wording
from checker.literals import Wording
from checker.pair import Pair
from checker.report import Confidence, Finding, Report, SignalKind, Verdict
from checker.taxonomy import Artifact, Label

REPAIRABLE = frozenset({Label.IS, Label.UL})
ADDED = "Added to this statement from the discussion and the tests:"
# Where a sentence, a paragraph, a list's item, or a block of code ends.
_BORDER = re.compile(r"[.!?][)\"'*_`]*\s+|\n\s*\n|\n(?=[ \t]*(?:[-*#>|]|\d+[.)]|```))")
_REACH = 600
_LABEL = f"(?:{'|'.join(Label)})"
_QUESTION = re.compile(r"[^.!?\n]*\?")
# What `checker.verdict` says of each text that was not, or not wholly, read.
_GAP = re.compile(
    rf"(?P<labels>{_LABEL}(?: and {_LABEL})*) cannot be ruled out: "
    r"(?P<what>.+) \((?P<how>not read|read only in part)\)\."
)
_WRONG = {
    Label.SC: "the solution and its tests hold work that the statement does not ask for",
    Label.DP: "the reference solution is itself defective or incomplete",
    Label.FP: "only what an earlier solution left is to be solved",
    Label.OTHERS: "the solution does not answer the statement",
}
_EXPECTED = {
    "exact": "The exact wording expected",
    "placeholders": "The wording expected, with placeholders for what varies",
    "pattern": "The wording expected, as the regular expression that it must match",
}


class Action(StrEnum):
    """What a benchmark's builder may do with a pair."""

    KEEP = "keep"
    REPAIR = "repair"
    DROP = "drop"
    LOOK = "look"


@dataclass(frozen=True)
class Recommendation:
    """An action and its reason, one sentence. `statement`: the amended problem statement, of a repair only."""

    action: Action
    reason: str
    statement: str | None = None


def recommend(pair: Pair, report: Report) -> Recommendation:
    """The recommendation that follows from a report on the pair."""
    if report.verdict is Verdict.MISALIGNED:
        return _misaligned(pair, report)
    if report.verdict is Verdict.UNDETERMINED:
        return Recommendation(Action.LOOK, _open(report.undetermined) or "It could not be determined.")
    if not pair.issues:
        return Recommendation(Action.LOOK, "It names no issue, so there is nothing that the solution could answer.")
    if report.verdict is Verdict.ALIGNED:
        return Recommendation(Action.KEEP, "A model read everything that a label lives from, and none stands.")
    return Recommendation(Action.KEEP, "Rules found nothing; they see no intent, so a model may still find a label.")


def _open(doubts: Sequence[str]) -> str:
    """The doubts, those about what was not read in one sentence."""
    gaps = [gap for doubt in doubts if (gap := _GAP.fullmatch(doubt))]
    others = [doubt for doubt in doubts if not _GAP.fullmatch(doubt)]
    return " ".join([*([_gaps(gaps)] if gaps else []), *others])


def _gaps(gaps: Sequence[re.Match[str]]) -> str:
    named = {label for gap in gaps for label in gap["labels"].split(" and ")}
    *labels, last = [label.value for label in Label if label in named]
    parts = {how: [gap["what"] for gap in gaps if gap["how"] == how] for how in ("not read", "read only in part")}
    told = "; ".join(f"{how}: {', '.join(what)}" for how, what in parts.items() if what)
    return f"{', '.join(labels)}{' and ' * bool(labels)}{last} cannot be ruled out; {told}."


def _misaligned(pair: Pair, report: Report) -> Recommendation:
    wrong = [finding for finding in report.findings if finding.label not in REPAIRABLE]
    if not wrong:
        return _repair(pair, report)
    said = "; ".join(f"{finding.label}: {_WRONG[finding.label]}" for finding in wrong)
    if all(finding.confidence is Confidence.LOW for finding in wrong):
        return Recommendation(Action.LOOK, f"{said}; but with low confidence, so look before it is dropped.")
    return Recommendation(Action.DROP, f"{said}.")


def _repair(pair: Pair, report: Report) -> Recommendation:
    named = " and ".join(dict.fromkeys(str(finding.label) for finding in report.findings))
    if not (pair.was_read(Artifact.ISSUE_DESCRIPTION) and pair.request.strip()):
        return Recommendation(Action.LOOK, f"{named} could be mended, but the statement to amend was not read.")
    additions = {finding: list(_additions(finding, pair, report)) for finding in report.findings}
    bare = next((finding for finding, added in additions.items() if not added), None)
    if bare is not None:
        return Recommendation(Action.LOOK, f"{bare.label} could be mended, but {_lacking(bare, report)}.")
    if all(finding.confidence is Confidence.LOW for finding in report.findings):
        return Recommendation(Action.LOOK, f"{named} could be mended; but with low confidence, so look beforehand.")
    added = dict.fromkeys(part for parts in additions.values() for part in parts)
    statement = "\n".join([pair.request.rstrip(), "", ADDED, "", "\n\n".join(added), ""])
    return Recommendation(Action.REPAIR, f"{named}: what the statement lacks can be added to it.", statement)


def _lacking(finding: Finding, report: Report) -> str:
    if any(_is_request(evidence, report) for evidence in finding.evidence):
        return "the evidence holds only that details were asked for, and no answer that could be added"
    return "the evidence holds no wording to add"


def _additions(finding: Finding, pair: Pair, report: Report) -> Iterator[str]:
    """What a finding adds: a model's own wording, the literal that tests assert, words of the discussion."""
    literals = list(_literals(finding, pair, report))
    if literals:
        yield from (f"- {_EXPECTED[wording.kind]}: “{wording.text}”" for wording in literals)
    elif finding.repair.strip() and _is_wording(finding, report):
        yield f"- {' '.join(finding.repair.split())}"
    said = [one for one in finding.evidence if finding.label is Label.IS and one.artifact is Artifact.ISSUE_DISCUSSION]
    if all(_is_request(evidence, report) for evidence in said):
        return
    for evidence in said:
        by = f"@{evidence.author}" if evidence.author else "The discussion"
        quoted = "\n".join(f"  > {line}" for line in _whole(evidence, pair).splitlines())
        yield f"- {by}:\n{quoted}"


def _whole(evidence: Evidence, pair: Pair) -> str:
    """The quote with the rest of the sentences in which it begins and ends; where they are too long, that is marked."""
    quote, text = evidence.quote.strip(), pair.texts.get(evidence.source)
    body = visible(text.body) if text is not None else quote
    at = body.find(quote)
    if at < 0:
        return quote
    first, last = max(0, at - _REACH), at + len(quote) + _REACH
    begins = [border.end() for border in _BORDER.finditer(body, first, at)] or [0] * (first == 0)
    end = _BORDER.search(body, at + len(quote) - 1, last)
    ends = end.end() if end else len(body) if last >= len(body) else None
    before, after = body[begins[-1] : at] if begins else "[…] ", body[at + len(quote) : ends] if ends else " […]"
    return f"{before}{quote}{after}".strip()


def _is_request(evidence: Evidence, report: Report) -> bool:
    """A request for details, or one question alone, supplies nothing; beside an answer it says what was answered."""
    asked = (signal for signal in report.signals if signal.kind is SignalKind.INFORMATION_REQUEST)
    if any(evidence.source == signal.source and evidence.quote in signal.quote for signal in asked):
        return True
    return evidence.artifact is Artifact.ISSUE_DISCUSSION and bool(_QUESTION.fullmatch(evidence.quote.strip()))


def _is_wording(finding: Finding, report: Report) -> bool:
    """A model writes the words to add; rules only say that some are to be added."""
    return any(used.role is finding.by for used in report.usage)


def _literals(finding: Finding, pair: Pair, report: Report) -> Iterator[Wording]:
    shown = {evidence.quote for evidence in finding.evidence}
    for signal in report.signals:
        if finding.label is Label.UL and signal.kind is SignalKind.UNSPECIFIED_LITERAL and signal.quote in shown:
            yield expected_wording(pair, signal)
