"""What need not be asked, because it is ruled out mechanically. What was not read rules nothing out.

Taxonomy, "Unread is not empty": a short cut holds only where the sources of candidates were read.
"""

from __future__ import annotations

from collections.abc import Mapping

from checker import patches
from checker.case import Case
from checker.links import references
from checker.literals import Standing, is_legible
from checker.report import SignalKind
from checker.signals import MOST_LITERALS, mentions
from checker.taxonomy import Artifact, Label

_CONNECTION_SOURCES = (Artifact.ISSUE_TIMELINE, Artifact.PR_TIMELINE, Artifact.MERGE_REFERENCES)
_TALK = (
    Artifact.PR_DESCRIPTION,
    Artifact.PR_COMMITS,
    Artifact.PR_COMMENTS,
    Artifact.PR_REVIEWS,
    Artifact.ISSUE_DISCUSSION,
)
_LITERAL_SOURCES = (Artifact.ISSUE_DESCRIPTION, Artifact.CODE_PATCH, Artifact.TEST_PATCH)
_HARMLESS = (Standing.IN_ISSUE.value, Standing.EXISTED.value)


def ruled_out(case: Case) -> Mapping[Label, str]:
    """Labels that cannot hold for this pair, each with the sentence that says why."""
    found: dict[Label, str] = {}
    if _no_connection(case):
        why = "nothing else refers to the issue, the pull request, or its merge commit, and no text names another one"
        found |= {Label.DP: why, Label.FP: why}
    if _no_literal(case):
        found[Label.UL] = "both patches share no literal that the issue lacks and that is new"
    if _no_discussion(case):
        found[Label.IS] = "nobody wrote anything in the issue's discussion"
    return found


def unshowable(case: Case) -> Mapping[Label, str]:
    """Labels that nothing at hand could show: asking is idle, and they stay open."""
    talk = any(text.artifact is Artifact.ISSUE_DISCUSSION for text in case.pair.texts.values())
    if talk or Artifact.ISSUE_DISCUSSION not in case.pair.unread:
        return {}
    return {Label.IS: "the discussion, in which alone it could be shown, was not read"}


def _read(case: Case, artifacts: tuple[Artifact, ...]) -> bool:
    return all(case.was_read(artifact) for artifact in artifacts)


def _no_connection(case: Case) -> bool:
    """Any mention counts, also an issue's: it may lead to a merged change."""
    return _read(case, _CONNECTION_SOURCES) and not any(True for _ in mentions(case.pair)) and not _named(case)


def _named(case: Case) -> bool:
    """Whether somebody names another number: the pull request's own words may tell of an earlier or later change."""
    known = {*case.pair.issue_numbers, case.pair.pull_request.number}
    return any(
        reference.number not in known
        for text in case.pair.texts.values()
        if text.artifact in _TALK
        for reference in references(text.body, markdown=text.artifact is not Artifact.PR_COMMITS)
    )


def _no_literal(case: Case) -> bool:
    shared = case.signals_of(SignalKind.UNSPECIFIED_LITERAL, SignalKind.SHARED_LITERAL)
    pr = case.pair.pull_request
    legible = all(is_legible(file) for file in patches.parse(pr.code_patch).files)
    if len(shared) >= MOST_LITERALS:
        return False
    return legible and _read(case, _LITERAL_SOURCES) and all(s.detail["standing"] in _HARMLESS for s in shared)


def _no_discussion(case: Case) -> bool:
    texts = case.pair.texts.values()
    said = any(text.artifact is Artifact.ISSUE_DISCUSSION and not text.is_bot for text in texts)
    return _read(case, (Artifact.ISSUE_DESCRIPTION, Artifact.ISSUE_DISCUSSION)) and not said
