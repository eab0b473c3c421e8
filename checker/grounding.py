"""Where claims become findings: quotes are proved, decisions are intersected, silence is noticed."""

from __future__ import annotations

from dataclasses import replace

from checker.case import Case
from checker.evidence import Evidence, Unproved, prove
from checker.report import (
    SIGNALS,
    STEERING,
    AgentReport,
    Clue,
    Dropped,
    Finding,
    Judgment,
    OthersClaim,
    Review,
    Signal,
    SignalKind,
)
from checker.taxonomy import JUDGES, LABELS, Label, Role


def findings(reports: tuple[AgentReport, ...], case: Case) -> tuple[tuple[Finding, ...], tuple[Dropped, ...]]:
    """The labels that Phase I assigned and proved, and those that it assigned and did not."""
    kept: list[Finding] = []
    dropped: list[Dropped] = []
    for report in reports:
        for judgment in report.judgments:
            if judgment.holds and judgment.label in JUDGES[report.role]:
                outcome = _grounded(judgment, report.role, case)
                (kept if isinstance(outcome, Finding) else dropped).append(outcome)  # type: ignore[arg-type]
    return tuple(kept), tuple(dropped)


def as_given(reports: tuple[AgentReport, ...], case: Case) -> tuple[tuple[Finding, ...], tuple[Dropped, ...]]:
    """The labels as a method gave them, proved or not; quotes that do not stand where it says are named as such."""
    held = ((judgment, report.role) for report in reports for judgment in report.judgments if judgment.holds)
    return tuple(_as_given(judgment, role, case) for judgment, role in held), ()


def _as_given(judgment: Judgment, role: Role, case: Case) -> Finding:
    proofs = [prove(quote, case.texts) for quote in judgment.quotes]
    return Finding(
        label=judgment.label,
        scenario=judgment.scenario,
        confidence=judgment.confidence,
        reason=judgment.reason,
        by=role,
        evidence=tuple(dict.fromkeys(proof for proof in proofs if isinstance(proof, Evidence))),
        unproved=tuple(proof.quote for proof in proofs if isinstance(proof, Unproved)),
    )


def _grounded(judgment: Judgment, role: Role, case: Case) -> Finding | Dropped:
    proofs = [prove(quote, case.texts) for quote in judgment.quotes]
    evidence = tuple(proof for proof in proofs if isinstance(proof, Evidence))
    if not evidence:
        reasons = [f"{p.quote.source}: {p.reason}" for p in proofs if isinstance(p, Unproved)] or ["no quote was given"]
        return Dropped(
            judgment.label, "evidence", f"no quote could be proved ({'; '.join(reasons)})", judgment.scenario
        )
    if not any(_can_show(e, judgment.label) for e in evidence):
        wanted = ", ".join(artifact.words for artifact in LABELS[judgment.label].grounds)
        return Dropped(
            judgment.label, "evidence", f"no quote stands where it could show this ({wanted})", judgment.scenario
        )
    return Finding(
        label=judgment.label,
        scenario=judgment.scenario,
        confidence=judgment.confidence,
        reason=judgment.reason,
        by=role,
        evidence=tuple(dict.fromkeys(evidence)),
        repair=judgment.repair,
    )


def _can_show(evidence: Evidence, label: Label) -> bool:
    """A literal is new only on a line that the test patch adds."""
    is_ground = evidence.artifact in LABELS[label].grounds
    return is_ground and (label is not Label.UL or evidence.is_added)


def intersect(stand: tuple[Finding, ...], review: Review) -> tuple[tuple[Finding, ...], tuple[Dropped, ...]]:
    """What a later phase leaves standing. A label on which it is silent, or of two minds, is kept."""
    kept: list[Finding] = []
    dropped: list[Dropped] = []
    for finding in stand:
        decisions = [decision for decision in review.decisions if decision.label is finding.label]
        if decisions and not any(decision.keep for decision in decisions):
            dropped.append(Dropped(finding.label, review.role.value, decisions[0].reason, finding.scenario))
        else:
            keeps = tuple((review.role, decision) for decision in decisions if decision.keep)
            kept.append(replace(finding, decisions=finding.decisions + keeps[:1]))
    return tuple(kept), tuple(dropped)


def others(claim: OthersClaim, clues: tuple[Clue, ...]) -> tuple[tuple[Finding, ...], tuple[Dropped, ...]]:
    """The label that the coordinator may add, if the clues that it cites were proved."""
    cited = [clues[number] for number in claim.clues if 0 <= number < len(clues)]
    # A stranger's words to a model are no mismatch between pull request and issue.
    evidence = tuple(dict.fromkeys(e for clue in cited if clue.by != STEERING for e in clue.evidence))
    if not evidence:
        reason = f"{claim.reason} (no clue that it cites has a proved quote)"
        return (), (Dropped(Label.OTHERS, "evidence", reason),)
    found = Finding(Label.OTHERS, None, claim.confidence, claim.reason, Role.COORDINATOR, evidence, claim.repair)
    return (found,), ()


def passed_over(reports: tuple[AgentReport, ...], case: Case) -> tuple[Clue, ...]:
    """Weighty signals on which the analyzer concerned was silent, and text that addresses a model, as clues."""
    silent = [
        signal
        for report in reports
        if not report.failure and not report.skipped
        for signal in case.signals_for(_asked(report))
        if signal.weighty and signal.id not in report.addressed
    ]
    steering = case.signals_of(SignalKind.STEERING_TEXT)
    return (*(_clue(signal, case, SIGNALS) for signal in silent), *(_clue(s, case, STEERING) for s in steering))


def _asked(report: AgentReport) -> tuple[Label, ...]:
    return tuple(judgment.label for judgment in report.judgments)


def _clue(signal: Signal, case: Case, by: str) -> Clue:
    text = case.texts[signal.source]
    evidence = Evidence(text.name, text.artifact, signal.quote, text.author, text.url, signal.path, signal.line)
    return Clue(by, f"{signal.id}: {signal.says}", (evidence,))
