"""Other merged pull requests around the issue and the pull request, and their order in time."""

from __future__ import annotations

from collections.abc import Iterator

from checker.pair import Pair, Related, related_name
from checker.report import Signal, SignalKind
from checker.signals.own import MOST_PER_KIND
from checker.taxonomy import Artifact, Label

MOST_RELATED = 40
"""So many other issues and pull requests are looked at, the nearest in number first."""


def read_chronology(pair: Pair) -> Iterator[Signal]:
    """What was merged before the issue was opened cannot have been for it (taxonomy: a re-filed issue)."""
    opened = min((issue.created_at for issue in pair.issues if issue.created_at), default=None)
    seen: set[int] = set()
    for related, artifact in _nearest(pair):
        earlier = is_earlier(related, pair)
        too_early = opened and related.merged_at and related.merged_at < opened
        if related.number in seen or earlier is None or too_early:
            continue
        if earlier and artifact is not Artifact.ISSUE_TIMELINE:
            continue
        seen.add(related.number)
        when = "before" if earlier else "after"
        subject = "the issue" if artifact is Artifact.ISSUE_TIMELINE else "this pull request"
        yield Signal(
            id="",
            kind=SignalKind.EARLIER_MERGED_PR if earlier else SignalKind.LATER_MERGED_PR,
            source=related_name(related, pair.repository),
            quote=related.title,
            says=f"pull request {related.number}, merged {when} this one, refers to {subject}",
            labels=(Label.FP,) if earlier else (Label.DP,),
            weighty=True,
            detail={"number": related.number, "refers_to": artifact.value},
        )


def mentions(pair: Pair) -> Iterator[tuple[Related, Artifact]]:
    """What refers to the issue, the pull request, or the merge commit, but for the pull request itself."""
    own = pair.pull_request
    sources = [(r, Artifact.ISSUE_TIMELINE) for issue in pair.issues for r in issue.mentioned_by]
    sources += [(r, Artifact.PR_TIMELINE) for r in own.mentioned_by]
    sources += [(r, Artifact.MERGE_REFERENCES) for r in own.merge_mentioned_by]
    at_home = (None, pair.repository)
    return (
        (r, a)
        for r, a in sources
        if not (r.kind == "pull_request" and r.number == own.number and r.repository in at_home)
    )


def other_merged(pair: Pair) -> tuple[tuple[Related, Artifact], ...]:
    """The other merged pull requests that refer to the issue, the pull request, or the merge commit."""
    return tuple((r, a) for r, a in mentions(pair) if r.kind == "pull_request" and r.merged)


def is_earlier(related: Related, pair: Pair) -> bool | None:
    """Whether it was merged before this pull request: by the times of merging, else by number; None if unknown."""
    own = pair.pull_request
    if related.merged_at and own.merged_at:
        return related.merged_at < own.merged_at
    # Numbers of two repositories have no order.
    if own.number is None or related.repository not in (None, pair.repository):
        return None
    return related.number < own.number


def _nearest(pair: Pair) -> list[tuple[Related, Artifact]]:
    """The other merged pull requests of this repository, at most a dozen: the nearest, in their own order."""
    merged = [(r, a) for r, a in other_merged(pair) if r.repository in (None, pair.repository)]
    own = pair.pull_request.number or 0
    near = sorted(merged, key=lambda one: abs(one[0].number - own))[: 2 * MOST_PER_KIND]
    return [one for one in merged if one in near]
