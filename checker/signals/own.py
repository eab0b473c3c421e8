"""What the pull request's own texts are: title, description, and the commits that no merge brought in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checker.pair import Pair, Text
from checker.taxonomy import Artifact

PR_SIDE = (Artifact.PR_DESCRIPTION, Artifact.PR_COMMITS)
# Enough to judge by; a pair with more is a bulk change, and the rest would only fill prompts.
MOST_PER_KIND = 12
_MERGED_IN = re.compile(r"\(#(\d{1,9})\)\s*(?:\n|\Z)")


def texts_of(pair: Pair, *artifacts: Artifact) -> Iterator[Text]:
    """The quotable texts of these artifacts, in reading order."""
    return (text for text in pair.texts.values() if text.artifact in artifacts)


def stated_numbers(pair: Pair) -> frozenset[int]:
    """The numbers of the issues whose descriptions make up the request. Without any, that of the first issue."""
    described = [issue.number for issue in pair.issues if issue.description.strip()]
    numbers = described or [issue.number for issue in pair.issues[:1]]
    return frozenset(number for number in numbers if number is not None)


def is_merged_in(text: Text, pair: Pair) -> bool:
    """A merge, or another pull request's squashed commit that a merge brought in: no claim of this pull request."""
    if text.artifact is not Artifact.PR_COMMITS:
        return False
    subject = text.body[:500].split("\n", 1)[0]
    squashed = _MERGED_IN.search(subject)
    own = (pair.pull_request.number, *pair.issue_numbers)
    return subject.startswith(("Merge ", "Merged ")) or (squashed is not None and int(squashed[1]) not in own)
