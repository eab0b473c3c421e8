"""The five roles without a model, on the signals alone: deterministic, free, and blind to intent.

Each rule says which signal it rests on. What rules do not find is `nothing_found`, never `aligned`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from checker.case import Case
from checker.evidence import Evidence, Quote, prove, quotable, whole_words
from checker.literal_wording import expected_wording
from checker.report import (
    AgentReport,
    Clue,
    Confidence,
    CoordinatorReview,
    Decision,
    Finding,
    Judgment,
    OthersClaim,
    Review,
    RoleUsage,
    Signal,
    SignalKind,
)
from checker.signals import stated_numbers
from checker.taxonomy import Artifact, Label, Role, Scenario

_REPAIRS_EARLIER = re.compile(
    r"\b(?:fix(?:e[sd]|ing)?|regression|revert\w*|follow[- ]?up|correct\w*|broke\w*|missing|also|again|really|"
    r"proper(?:ly)?)\b",
    re.IGNORECASE,
)
# What carries a change elsewhere, or tells of it, repairs nothing in it.
_CARRIES_ON = re.compile(r"\b(?:backport|cherry[- ]pick|release|bump|changelog|docs?|document)\w*\b", re.IGNORECASE)
ACCIDENTAL_LINK = "The pull request's own text closes another issue; only a commit merged into it names this one."
_WORD = re.compile(r"[A-Za-z_]\w{3,}")
_DUPLICATE = re.compile(r"\b(?:duplicates?|dup(?:e|licated)?|same (?:root cause|issue|problem|bug))\b", re.IGNORECASE)


@dataclass(frozen=True)
class RulesBackend:
    """The embedded default. It never reads intent."""

    name: str = "rules"
    reads_intent: bool = False

    def open(self, case: Case) -> RulesSession:
        """The roles for one check."""
        return RulesSession(case)


@dataclass(frozen=True)
class RulesSession:
    """The roles, each over its own signals."""

    case: Case

    async def analyze(self, role: Role, labels: tuple[Label, ...]) -> AgentReport:
        """Phase I: one judgment for each label asked about; every signal is taken a stand on."""
        judgments = tuple(_JUDGES[label](self.case) for label in labels)
        clues = _clues(self.case) if role is Role.SCOPE_ANALYZER else ()
        return AgentReport(role, judgments, clues, tuple(signal.id for signal in self.case.signals))

    async def coordinate(
        self, reports: tuple[AgentReport, ...], findings: tuple[Finding, ...], clues: tuple[Clue, ...]
    ) -> CoordinatorReview:
        """Phase II: slips, duplicates, and a pull request that was linked to this issue by accident."""
        unrelated = next((number for number, clue in enumerate(clues) if clue.says == ACCIDENTAL_LINK), None)
        if unrelated is None:
            drops = tuple(drop for finding in findings if (drop := self._drop(finding)) is not None)
            return CoordinatorReview(Role.COORDINATOR, drops)
        why = "the pull request closes another issue; it cannot be measured against this one"
        decisions = tuple(Decision(f.label, False, why) for f in findings if f.label not in (Label.UL, Label.DP))
        repair = "Remove the link to this issue, and link the issue that the pull request's own text closes."
        claim = OthersClaim(ACCIDENTAL_LINK, (unrelated,), Confidence.MEDIUM, repair)
        return CoordinatorReview(Role.COORDINATOR, decisions, others=claim)

    async def validate(self, findings: tuple[Finding, ...]) -> Review:
        """Phase III: without reading code every label is kept, as ambiguous code keeps it."""
        return Review(Role.CODE_VALIDATOR, skipped="rules read no code, so every label is kept.")

    def usage(self) -> tuple[RoleUsage, ...]:
        """Rules cost nothing."""
        return ()

    def _drop(self, finding: Finding) -> Decision | None:
        if finding.scenario is Scenario.SC_1:
            slip = self.case.signals_of(SignalKind.LOOK_ALIKE_NUMBER)
            slips = {number for signal in slip for number in signal.detail["numbers"]}
            if slip and _beyond(self.case) <= slips:
                return Decision(finding.label, False, f"{slip[0].says}: a slip of the pen, not a second issue")
            if _called_duplicates(self.case, finding):
                return Decision(finding.label, False, "the discussion calls the numbers duplicates of one problem")
        return None


def _beyond(case: Case) -> set[int]:
    """The numbers that the pull request claims to resolve beside the stated ones."""
    return {s.detail["number"] for s in case.signals_of(SignalKind.CLOSING_REFERENCE) if s.detail["beyond"]}


def _called_duplicates(case: Case, finding: Finding) -> bool:
    """All numbers beyond the stated one are named as duplicates in the issue's discussion or the PR's text."""
    claimed = _beyond(case)
    lines = [
        line
        for text in case.pair.texts.values()
        if text.artifact in (Artifact.ISSUE_DISCUSSION, Artifact.PR_DESCRIPTION, Artifact.PR_COMMENTS)
        for line in text.body.splitlines()
        if _DUPLICATE.search(line)
    ]
    return bool(claimed) and all(any(re.search(rf"\b{number}\b", line) for line in lines) for number in claimed)


def _scope_creep(case: Case) -> Judgment:
    beyond = [s for s in case.signals_of(SignalKind.CLOSING_REFERENCE) if s.detail["beyond"]]
    if beyond:
        numbers = sorted({s.detail["number"] for s in beyond})
        named = ", ".join(f"#{number}" for number in numbers)
        return _holds(
            Scenario.SC_1,
            f"The pull request's text claims to resolve {named} beside the stated issue.",
            beyond,
            Confidence.MEDIUM,
            f"Move what {named} asks for to a pull request of its own, or state it in the issue.",
        )
    further = case.signals_of(SignalKind.FURTHER_WORK)
    if further and Artifact.ISSUE_DESCRIPTION not in case.pair.unread:
        return _holds(
            Scenario.SC_2,
            "The pull request's text claims further work.",
            list(further),
            Confidence.LOW,
            "Move the further work to a pull request of its own, or state it in the issue.",
        )
    return Judgment(Label.SC, False, "No further issue and no further work is claimed.")


def _unspecified_literal(case: Case) -> Judgment:
    literals = [s for s in case.signals_of(SignalKind.UNSPECIFIED_LITERAL) if s.detail["in_issue"] == "no"]
    if literals:
        wordings = dict.fromkeys(expected_wording(case.pair, signal) for signal in literals[:3])
        texts = ", ".join(
            f"{'the pattern ' if wording.kind == 'pattern' else ''}“{wording.text}”" for wording in wordings
        )
        return _holds(
            Scenario.UL_1,
            "The test patch asserts a literal that the code patch writes anew and the issue does not hold.",
            literals[:3],
            Confidence.MEDIUM,
            f"State the expected wording in the issue: {texts}.",
        )
    return Judgment(Label.UL, False, "No new literal shared by both patches is known to be absent from the issue.")


def _incomplete_specification(case: Case) -> Judgment:
    requests = [s for s in case.signals_of(SignalKind.INFORMATION_REQUEST) if s.detail["answered"] != "no"]
    if requests:
        answers = [case.texts[a] for s in requests if (a := s.detail["answer"])]
        quotes = [Quote(t.name, quotable(t.body)) for t in answers[:1]]
        sure = any(s.detail["answered"] == "yes" for s in requests)
        return _holds(
            Scenario.IS_1,
            "Details were asked for in the discussion" + (", and the reporter supplied them." if sure else "."),
            [replace(s, quote=whole_words(s.quote, case.texts[s.source].body)) for s in requests[:2]],
            Confidence.MEDIUM if sure else Confidence.LOW,
            "Add to the issue's description what the answer supplies.",
            quotes,
        )
    return Judgment(Label.IS, False, "Nobody asked for details that the description lacks.")


def _defective(case: Case) -> Judgment:
    said = [s for s in case.signals_of(SignalKind.OTHER_REFERENCE) if s.labels == (Label.DP,) and s.weighty]
    later = [s for s in case.signals_of(SignalKind.LATER_MERGED_PR) if _continues(s, case)]
    if said:
        return _holds(
            Scenario.DP_1,
            "A later merged pull request names this one as the cause of what it repairs.",
            said,
            Confidence.MEDIUM,
            f"Judge the fix together with {said[0].source}.",
        )
    if later:
        return _holds(
            Scenario.DP_2,
            "A later merged pull request works on the same subject and refers here.",
            later,
            Confidence.LOW,
            f"Judge the fix together with {later[0].source}.",
        )
    return Judgment(Label.DP, False, "No later merged change is known to repair or complete this one.")


def _follow_up(case: Case) -> Judgment:
    earlier = list(case.signals_of(SignalKind.EARLIER_MERGED_PR))
    if earlier:
        return _holds(
            Scenario.FP_2,
            "An earlier merged pull request refers to the same issue.",
            earlier,
            Confidence.LOW,
            f"Link {earlier[0].source} as the first part of the solution.",
        )
    return Judgment(Label.FP, False, "No earlier merged pull request for the issue is known.")


def _continues(signal: Signal, case: Case) -> bool:
    """The later title speaks of a repair, or shares two words with this pull request's title."""
    title = case.pair.pull_request.title or ""
    if _CARRIES_ON.search(signal.quote):
        return False
    shared = {w.lower() for w in _WORD.findall(title)} & {w.lower() for w in _WORD.findall(signal.quote)}
    return len(shared) >= 2 or bool(_REPAIRS_EARLIER.search(signal.quote))


def _holds(
    scenario: Scenario,
    reason: str,
    signals: list[Signal],
    confidence: Confidence,
    repair: str,
    more: list[Quote] | None = None,
) -> Judgment:
    quotes = [Quote(signal.source, signal.quote) for signal in signals] + (more or [])
    return Judgment(scenario.label, True, reason, scenario, confidence, tuple(dict.fromkeys(quotes)), repair)


def _clues(case: Case) -> tuple[Clue, ...]:
    """Slips of number, and a stated issue that only a merged-in commit closes while the text closes another."""
    slips = case.signals_of(SignalKind.LOOK_ALIKE_NUMBER)
    clues = [Clue(Role.SCOPE_ANALYZER.value, signal.says) for signal in slips]
    closing = case.signals_of(SignalKind.CLOSING_REFERENCE)
    own = [s for s in closing if s.detail["own"]]
    foreign = [s for s in closing if not s.detail["own"] and s.detail["number"] in stated_numbers(case.pair)]
    if own and foreign and all(s.detail["beyond"] for s in own) and not slips:
        quotes = [Quote(signal.source, signal.quote) for signal in (own[0], foreign[0])]
        proofs = (prove(quote, case.texts) for quote in quotes)
        evidence = tuple(proof for proof in proofs if isinstance(proof, Evidence))
        clues.append(Clue(Role.SCOPE_ANALYZER.value, ACCIDENTAL_LINK, evidence))
    return tuple(clues)


_JUDGES = {
    Label.SC: _scope_creep,
    Label.UL: _unspecified_literal,
    Label.IS: _incomplete_specification,
    Label.DP: _defective,
    Label.FP: _follow_up,
}
