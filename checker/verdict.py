"""From what stands, failed, and was not read to the report's verdict (taxonomy: verdicts)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from checker.case import Case
from checker.pair import Pair
from checker.report import (
    SIGNALS,
    STEERING,
    AgentReport,
    Clue,
    Confidence,
    Dropped,
    Finding,
    Report,
    Review,
    RoleUsage,
    SignalKind,
    Verdict,
)
from checker.taxonomy import JUDGES, LABELS, PIPELINE, Artifact, Label, Role

_REVIEWED_LABELS = tuple(label for label in Label if label is not Label.OTHERS)


def conclude(
    case: Case,
    *,
    backend: str,
    reads_intent: bool,
    out: Collection[Label],
    reports: tuple[AgentReport, ...],
    reviews: tuple[Review, ...],
    findings: tuple[Finding, ...],
    dropped: tuple[Dropped, ...],
    clues: tuple[Clue, ...],
    usage: tuple[RoleUsage, ...],
    roles: frozenset[Role] = PIPELINE,
) -> Report:
    """The report. With a label that stands the verdict is misaligned, whatever else failed or was unread.

    `out`: the labels that are ruled out mechanically (`checker.shortcuts.ruled_out`). `roles`: who took part.
    """
    standing = {finding.label for finding in findings}
    doubts = (
        *_failures(reports, reviews),
        *_unjudged(roles, out, clues),
        *_unread(case, out, standing),
        *_not_shown(case, dropped),
        *_unproved(dropped),
        *_blocks(clues),
    )
    return Report(
        id=case.pair.id,
        backend=backend,
        verdict=_verdict(findings, doubts, reads_intent=reads_intent),
        findings=tuple(_unreviewed(finding, reviews) for finding in findings),
        dropped=dropped,
        clues=clues,
        undetermined=doubts,
        unread=case.pair.unread,
        partial=case.pair.partial,
        remarks=(*_left_out(roles), *_remarks(case, reports, reviews)),
        signals=case.signals,
        usage=usage,
    )


def failed(pair: Pair, backend: str, why: str) -> Report:
    """A pair whose check could not begin. `why` ends the sentence."""
    doubt = f"The check ended in {why}; the log has the details."
    return Report(id=pair.id, backend=backend, verdict=Verdict.UNDETERMINED, undetermined=(doubt,))


def no_linked_issue(case: Case, backend: str) -> Report:
    """A pull request without an issue has nothing that it could be misaligned with: a result, not an error."""
    unread = Artifact.ISSUE_DESCRIPTION in case.pair.unread
    doubts = ("Whether the pull request is linked to an issue was not read.",) if unread else ()
    remark = "The pull request is linked to no issue; there is nothing to compare it with."
    return Report(
        id=case.pair.id,
        backend=backend,
        verdict=Verdict.UNDETERMINED if unread else Verdict.NOTHING_FOUND,
        undetermined=doubts,
        unread=case.pair.unread,
        partial=case.pair.partial,
        remarks=() if unread else (remark,),
        signals=case.signals,
    )


def _verdict(findings: tuple[Finding, ...], doubts: tuple[str, ...], *, reads_intent: bool) -> Verdict:
    if findings:
        return Verdict.MISALIGNED
    if doubts:
        return Verdict.UNDETERMINED
    return Verdict.ALIGNED if reads_intent else Verdict.NOTHING_FOUND


def _failures(reports: tuple[AgentReport, ...], reviews: tuple[Review, ...]) -> tuple[str, ...]:
    analyzers = (
        f"The {report.role.words} failed, so {' and '.join(JUDGES[report.role])} stay open: {report.failure}"
        for report in reports
        if report.failure
    )
    later = (f"The {review.role.words} failed: {review.failure}" for review in reviews if review.failure)
    return (*analyzers, *later)


def _unjudged(roles: frozenset[Role], out: Collection[Label], clues: tuple[Clue, ...]) -> tuple[str, ...]:
    """What a run without some of the roles cannot rule out."""
    judged = {label for role in roles for label in JUDGES.get(role, ())}
    labels = [str(label) for label in _REVIEWED_LABELS if label not in judged and label not in out]
    open_labels = [f"{' and '.join(labels)} cannot be ruled out: nobody was asked about them."] if labels else []
    weighed = not clues or Role.COORDINATOR in roles or Role.CLASSIFIER in roles
    return (*open_labels, *([] if weighed else ["Others cannot be ruled out: nobody weighed the clues."]))


def _left_out(roles: frozenset[Role]) -> tuple[str, ...]:
    absent = ", ".join(role.words for role in Role if role in PIPELINE - roles)
    return (f"Left out of this run: {absent}.",) if absent else ()


def _unread(case: Case, out: Collection[Label], standing: Collection[Label]) -> tuple[str, ...]:
    """One sentence for each artifact that an open label lives from and that was not, or not wholly, read."""
    open_labels: dict[str, list[Label]] = {}
    for label in _REVIEWED_LABELS:
        for artifact in LABELS[label].lives_from:
            if label not in out and label not in standing and not case.was_read(artifact):
                how = "not read" if artifact in case.pair.unread else "read only in part"
                open_labels.setdefault(f"{artifact.words} ({how})", []).append(label)
    return tuple(f"{' and '.join(labels)} cannot be ruled out: {what}." for what, labels in open_labels.items())


def _not_shown(case: Case, dropped: tuple[Dropped, ...]) -> tuple[str, ...]:
    """Texts that did not fit into what a role is shown: what it did not see it cannot rule out."""
    blind = {role: cuts for role, cuts in case.cuts.items() if role in JUDGES}
    if any(drop.by == Role.CODE_VALIDATOR for drop in dropped):
        blind |= {role: cuts for role, cuts in case.cuts.items() if role is Role.CODE_VALIDATOR}
    return tuple(f"The {role.words} was not shown all of {', '.join(sorted(cuts))}." for role, cuts in blind.items())


def _unproved(dropped: tuple[Dropped, ...]) -> tuple[str, ...]:
    labels = [str(drop.label) for drop in dropped if drop.by == "evidence" and drop.label is not Label.OTHERS]
    return tuple(f"{label} was assigned, but no quote could be proved that shows it." for label in labels)


def _blocks(clues: tuple[Clue, ...]) -> tuple[str, ...]:
    words = {SIGNALS: "Nobody took a stand on a fact that was found mechanically", STEERING: "Text addresses a model"}
    return tuple(f"{words[clue.by]}: {clue.says}." for clue in clues if clue.by in words)


def _unreviewed(finding: Finding, reviews: tuple[Review, ...]) -> Finding:
    """A label that a failed phase could not look at stands, but with low confidence."""
    failed = any(review.failure for review in reviews)
    return replace(finding, confidence=Confidence.LOW) if failed else finding


def _remarks(case: Case, reports: tuple[AgentReport, ...], reviews: tuple[Review, ...]) -> tuple[str, ...]:
    parts: tuple[AgentReport | Review, ...] = (*reports, *reviews)
    skipped = [f"{part.role.words}: {part.skipped}" for part in parts if part.skipped]
    described = [issue for issue in case.pair.issues if issue.description.strip()]
    several = [f"The request is the union of {len(described)} linked issues."] if len(described) > 1 else []
    hidden = len(case.signals_of(SignalKind.HIDDEN_TEXT))
    unseen = [f"HTML comments, which no reader sees, were not shown to the roles ({hidden})."] if hidden else []
    unparsed = [f"A part of the patches is no unified diff and was not read: {what}" for what in _unparsed(case)]
    return (*case.pair.remarks, *skipped, *several, *unseen, *unparsed)


def _unparsed(case: Case) -> list[str]:
    return [what for artifact in (Artifact.CODE_PATCH, Artifact.TEST_PATCH) for what in case.unparsed(artifact)]
