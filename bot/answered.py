"""What people have answered to the findings of a check: what stays open, what is confirmed, what is disputed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.checked import Answer, AnswerKind, Standing, digest_of
from checker.report import Finding


@dataclass(frozen=True)
class Answered:
    """A finding with the last word of a maintainer, and of the author, on this very evidence."""

    finding: Finding
    maintainer: Answer | None = None
    author: Answer | None = None

    @property
    def is_open(self) -> bool:
        """A maintainer's dispute closes a finding; the author's is shown, and leaves it to a maintainer."""
        return self.maintainer is None or self.maintainer.kind is not AnswerKind.DISPUTE


def answered(findings: Sequence[Finding], answers: Sequence[Answer]) -> tuple[Answered, ...]:
    """Each finding with its answers: those with the digest of its evidence, for its label or for the whole comment."""
    ordered = sorted(answers, key=lambda answer: answer.at)
    return tuple(
        Answered(finding, _last(finding, ordered, Standing.MAINTAINER), _last(finding, ordered, Standing.AUTHOR))
        for finding in findings
    )


def _last(finding: Finding, ordered: Sequence[Answer], standing: Standing) -> Answer | None:
    digest = digest_of(finding)
    words = [
        answer
        for answer in ordered
        if answer.standing is standing
        and answer.kind is not AnswerKind.UNCLASSIFIED
        and answer.evidence == digest
        and answer.label in (None, finding.label)
    ]
    return words[-1] if words else None
