"""What one check left behind: kept in the database, shown in the comment, and compared with at the next check."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from checker.pair import Pair
from checker.report import Finding, Report
from checker.taxonomy import Label


class Standing(StrEnum):
    """Who speaks: one who may write to the repository, the pull request's author, anybody else, a bot."""

    MAINTAINER = "maintainer"
    AUTHOR = "author"
    STRANGER = "stranger"
    BOT = "bot"


class AnswerKind(StrEnum):
    """What somebody said to a finding. UNCLASSIFIED: a maintainer answered, without a word that can be counted."""

    CONFIRM = "confirm"
    DISPUTE = "dispute"
    UNCLASSIFIED = "answered, unclassified"


@dataclass(frozen=True)
class Answer:
    """One entry of the feedback ledger. `label` is None where the answer is to the whole comment.

    `evidence`: the digest of the finding that was answered (`digest_of`).
    """

    kind: AnswerKind
    who: str
    standing: Standing
    at: datetime
    label: Label | None = None
    reason: str = ""
    evidence: str = ""


@dataclass(frozen=True)
class Checked:
    """One finished check of one head. `inputs`: what was read, by name, each as a digest (`inputs_of`)."""

    run: str
    repository: str
    number: int
    head_sha: str
    report: Report
    checked_at: datetime
    seconds: float
    inputs: Mapping[str, str] = field(default_factory=dict)


def inputs_of(pair: Pair) -> dict[str, str]:
    """Every quotable text of a pair by name (see `Pair.texts`), as a digest: equal where nothing changed."""
    return {name: _digest(text.body) for name, text in pair.texts.items()}


def digest_of(finding: Finding) -> str:
    """A finding's identity for answers: its label and the words that prove it, wherever they stand in a diff."""
    return _digest(json.dumps([finding.label, sorted((e.source, e.quote) for e in finding.evidence)]))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
