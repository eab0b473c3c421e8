"""The reports of several checkers on one pair made into one: what has the votes stands, with what each proved.

Which labels stand is `checker.evaluation.voting`'s affair. Here absence is kept from passing for alignment: a
member whose report is undetermined gave no answer, and where it could have changed the outcome the panel's is
undetermined too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from checker.evaluation.voting import Tie, agree, cascade, vote
from checker.evidence import Evidence
from checker.report import Confidence, Dropped, Finding, Report, RoleUsage, Verdict, Vote
from checker.taxonomy import Label, Role

Item = TypeVar("Item")
_BY_PANEL = "panel"
_RANK = {Confidence.LOW: 0, Confidence.MEDIUM: 1, Confidence.HIGH: 2}


@dataclass(frozen=True)
class Rule:
    """How votes become labels. With `tie` a cascade of three, else a label needs `quorum` votes."""

    quorum: int = 2
    tie: Tie | None = None


@dataclass(frozen=True)
class Ballot:
    """One member's name and report."""

    member: str
    report: Report

    @property
    def answer(self) -> frozenset[Label] | None:
        """The labels that it gave; None where it could not say."""
        return None if self.report.verdict is Verdict.UNDETERMINED else frozenset(self.report.labels)

    @property
    def vote(self) -> Vote:
        """As the panel's report shows it. Whoever has doubts is open on every label that they do not give."""
        return Vote(self.member, self.report.verdict, self.report.labels, bool(self.report.undetermined))


def settled(first: Report, second: Report) -> bool:
    """Whether the third of a cascade need not be asked: the first two give the same labels, or have the same doubts.

    What nobody could read leaves all open alike; a third would say the same again.
    """
    one, two = Ballot("", first).answer, Ballot("", second).answer
    return agree(one, two) or (one is two is None and first.undetermined == second.undetermined)


def tally(ballots: Sequence[Ballot], name: str, rule: Rule) -> Report:
    """The panel's report. Of a cascade two ballots are enough where they are settled."""
    standing = _standing(ballots, rule)
    findings = tuple(_merged(label, ballots) for label in Label if label in standing)
    doubts = _doubts(ballots, standing, rule)
    first = ballots[0].report
    return Report(
        id=first.id,
        backend=name,
        verdict=_verdict(findings, doubts, ballots),
        findings=findings,
        dropped=tuple(_outvoted(label, ballots) for label in Label if label in _named(ballots) - standing),
        clues=_union(ballot.report.clues for ballot in ballots),
        undetermined=doubts,
        unread=first.unread,
        partial=first.partial,
        remarks=_union(ballot.report.remarks for ballot in ballots),
        signals=next((ballot.report.signals for ballot in ballots if ballot.report.signals), ()),
        usage=_added(used for ballot in ballots for used in ballot.report.usage),
        votes=tuple(ballot.vote for ballot in ballots),
    )


def _standing(ballots: Sequence[Ballot], rule: Rule) -> frozenset[Label]:
    answers = [ballot.answer for ballot in ballots]
    if rule.tie is None:
        return vote(answers, rule.quorum) or frozenset()
    first, second, third = (*answers, None)[:3]
    return cascade(first, second, third, rule.tie) or frozenset()


def _named(ballots: Sequence[Ballot]) -> frozenset[Label]:
    return frozenset(label for ballot in ballots for label in ballot.report.labels)


def _givers(label: Label, ballots: Sequence[Ballot]) -> list[Ballot]:
    return [ballot for ballot in ballots if label in ballot.report.labels]


def _merged(label: Label, ballots: Sequence[Ballot]) -> Finding:
    """The words of the most confident who gave it, the evidence of all, and a confidence from the votes alone."""
    givers = _givers(label, ballots)
    held = [finding for ballot in givers for finding in ballot.report.findings if finding.label is label]
    chosen = max(held, key=lambda finding: _RANK[finding.confidence])
    others = [finding for finding in held if finding is not chosen]
    return replace(
        chosen,
        confidence=_confidence(len(givers), len(ballots)),
        evidence=_distinct([*chosen.evidence, *(e for finding in others for e in finding.evidence)]),
        unproved=tuple(dict.fromkeys(quote for finding in held for quote in finding.unproved)),
        repair=chosen.repair or next((finding.repair for finding in others if finding.repair), ""),
    )


def _confidence(votes: int, asked: int) -> Confidence:
    """All who were asked, more than half of them, or fewer."""
    if votes == asked:
        return Confidence.HIGH
    return Confidence.MEDIUM if votes * 2 > asked else Confidence.LOW


def _distinct(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Each quote once, white space aside."""
    found: dict[tuple[str, str], Evidence] = {}
    for one in evidence:
        found.setdefault((one.source, " ".join(one.quote.split())), one)
    return tuple(found.values())


def _outvoted(label: Label, ballots: Sequence[Ballot]) -> Dropped:
    givers = _givers(label, ballots)
    names = ", ".join(ballot.member for ballot in givers)
    finding = next(finding for finding in givers[0].report.findings if finding.label is label)
    reason = f"{len(givers)} of {len(ballots)} gave it ({names}): {finding.reason}"
    return Dropped(label, _BY_PANEL, reason, finding.scenario)


def _doubts(ballots: Sequence[Ballot], standing: frozenset[Label], rule: Rule) -> tuple[str, ...]:
    """What those who could not say might have changed, or a verdict that no one label has the votes for."""
    third_decides = rule.tie == "third" and len(ballots) == 3
    deciding, needed = (ballots[2:], 1) if third_decides else (ballots, rule.quorum)
    votes = {
        label: sum(ballot.vote.open or label in ballot.report.labels for ballot in deciding)
        for label in Label
        if label not in standing
    }
    open_labels = [str(label) for label, most in votes.items() if most >= needed]
    doubting = [ballot for ballot in deciding if ballot.vote.open]
    if open_labels:
        names = ", ".join(ballot.member for ballot in doubting)
        said = f"{' and '.join(open_labels)} cannot be ruled out: {names} left open what could have decided."
        return (said, *_their_doubts(doubting, len(ballots)))
    misaligned = sum(ballot.report.verdict is Verdict.MISALIGNED for ballot in deciding)
    if not standing and misaligned >= needed:
        return (f"{misaligned} of {len(ballots)} found the pair misaligned, but no label has {needed} votes.",)
    return ()


def _their_doubts(ballots: Sequence[Ballot], asked: int) -> tuple[str, ...]:
    """Each doubt once; those that not all share begin with the names of whose they are."""
    whose: dict[str, list[str]] = {}
    for ballot in ballots:
        for doubt in ballot.report.undetermined:
            whose.setdefault(doubt, []).append(ballot.member)
    return tuple(d if len(names) == asked else f"{', '.join(names)}: {d}" for d, names in whose.items())


def _verdict(findings: tuple[Finding, ...], doubts: tuple[str, ...], ballots: Sequence[Ballot]) -> Verdict:
    if findings:
        return Verdict.MISALIGNED
    if doubts:
        return Verdict.UNDETERMINED
    is_aligned = any(ballot.report.verdict is Verdict.ALIGNED for ballot in ballots)
    return Verdict.ALIGNED if is_aligned else Verdict.NOTHING_FOUND


def _union(parts: Iterable[tuple[Item, ...]]) -> tuple[Item, ...]:
    return tuple(dict.fromkeys(item for part in parts for item in part))


def _added(usages: Iterable[RoleUsage]) -> tuple[RoleUsage, ...]:
    """What the members' roles cost together, by role and model."""
    sums: dict[tuple[Role, str], RoleUsage] = {}
    for used in usages:
        key = (used.role, used.model)
        sums[key] = _sum(sums[key], used) if key in sums else used
    return tuple(sums.values())


def _sum(one: RoleUsage, other: RoleUsage) -> RoleUsage:
    known = one.dollars is not None and other.dollars is not None
    return replace(
        one,
        calls=one.calls + other.calls,
        input_tokens=one.input_tokens + other.input_tokens,
        cached_tokens=one.cached_tokens + other.cached_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        dollars=(one.dollars or 0.0) + (other.dollars or 0.0) if known else None,
    )
