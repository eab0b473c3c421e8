"""References that the pull request's texts make, and numbers in them that look like slips of one another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from checker.links import Reference, Relation, look_alike, references
from checker.pair import Pair, Related, Text, related_name
from checker.report import Signal, SignalKind
from checker.signals.chronology import mentions
from checker.signals.own import MOST_PER_KIND, PR_SIDE, is_merged_in, stated_numbers, texts_of
from checker.taxonomy import Artifact, Label

_CLAIMS = (Relation.CLOSES, Relation.LISTED)
_LEADING_NUMBER = re.compile(r"#?(\d{3,6})[\s:,-]")


def read_references(pair: Pair) -> Iterator[Signal]:
    """Closing and other references of the pull request, and what a later title says of it."""
    stated = stated_numbers(pair)
    pull_requests = pair.pull_request.claimed_pull_requests
    claimed = {r.number for t, r in _own_references(pair) if r.relation in _CLAIMS and not is_merged_in(t, pair)}
    several = len(claimed.difference(pull_requests)) > 1
    seen: set[tuple[str, int, Relation]] = set()
    for text, reference in _own_references(pair):
        key = (text.name, reference.number, reference.relation)
        if key not in seen and len(seen) < 4 * MOST_PER_KIND:
            seen.add(key)
            # A pull request's number is no issue, whatever is claimed of it.
            own = not is_merged_in(text, pair) and reference.number not in pull_requests
            yield _reference_signal(text, reference, stated, pair.repository, own=own, several=several)
    number = pair.pull_request.number
    for related, _ in mentions(pair):
        for reference in references(related.title, title=True):
            if reference.number in (number, *stated) and reference.relation in (
                Relation.REGRESSION_FROM,
                Relation.REVERTS,
            ):
                yield _relation_of_later(related, reference, pair.repository)


def read_look_alikes(pair: Pair) -> Iterator[Signal]:
    """Numbers that look like a typing error of one another, the bare number that a title may begin with among them."""
    places = {r.number: (text, r.quote) for text, r in reversed(list(_own_references(pair)))}
    title = pair.texts.get("pr/title")
    leading = _LEADING_NUMBER.match(title.body) if title else None
    if title and leading:
        places.setdefault(int(leading[1]), (title, title.body))
    stated = stated_numbers(pair)
    for pair_of_numbers in look_alike(sorted({*places, *stated})):
        odd = next((n for n in pair_of_numbers if n in places and n not in stated), None)
        if odd is not None and (not stated or stated & set(pair_of_numbers)):
            text, quote = places[odd]
            other = pair_of_numbers[0] if pair_of_numbers[1] == odd else pair_of_numbers[1]
            says = f"{text.name} names {odd}, which looks like {other}"
            yield Signal("", SignalKind.LOOK_ALIKE_NUMBER, text.name, quote, says, detail={"numbers": [odd, other]})
    if title and leading and stated and int(leading[1]) not in stated and not look_alike([int(leading[1]), *stated]):
        says = f"the title begins with {leading[1]}, which is not the stated issue"
        yield Signal(
            "", SignalKind.LOOK_ALIKE_NUMBER, title.name, title.body, says, detail={"numbers": [int(leading[1])]}
        )


def _own_references(pair: Pair) -> Iterator[tuple[Text, Reference]]:
    """What the pull request's title, body and commits name, but for its own number."""
    own = pair.pull_request.number
    for text in texts_of(pair, *PR_SIDE):
        is_markdown = text.artifact is not Artifact.PR_COMMITS
        for reference in references(text.body, title=text.name == "pr/title", markdown=is_markdown):
            if reference.number != own:
                yield text, _undone(text, reference)


def _undone(text: Text, reference: Reference) -> Reference:
    """In the quoted subject of a revert nothing is claimed: it is taken back."""
    is_revert = text.body.startswith('Revert "') and f"#{reference.number}" in text.body[:500].split("\n", 1)[0]
    return replace(reference, relation=Relation.REVERTS) if is_revert else reference


def _reference_signal(
    text: Text, reference: Reference, stated: frozenset[int], home: str | None, *, own: bool, several: bool
) -> Signal:
    where = f"{reference.repository or ''}#{reference.number}"
    claims = reference.relation in _CLAIMS and not reference.negated
    # Another repository's issue is none that this one's statement could be measured against.
    at_home = reference.repository in (None, home)
    beyond = claims and own and at_home and reference.number not in stated and (several or bool(stated))
    says = f"{text.name} says “{reference.relation.value} {where}”"
    if beyond:
        says += ", which is not the stated issue" if stated else ", one of several issues"
    labels = {
        Relation.FOLLOW_UP: (Label.FP,),
        Relation.REGRESSION_FROM: (Label.FP,),
        Relation.REVERTS: (Label.FP,),
    }.get(reference.relation, ())
    return Signal(
        id="",
        kind=SignalKind.CLOSING_REFERENCE if claims else SignalKind.OTHER_REFERENCE,
        source=text.name,
        quote=reference.quote,
        says=says,
        labels=(Label.SC,) if beyond else labels,
        weighty=beyond,
        detail={
            "number": reference.number,
            "repository": reference.repository,
            "relation": reference.relation.value,
            "hedged": reference.hedged,
            "negated": reference.negated,
            "own": own,
            "beyond": beyond,
        },
    )


def _relation_of_later(related: Related, reference: Reference, home: str | None) -> Signal:
    name = related_name(related, home)
    return Signal(
        id="",
        kind=SignalKind.OTHER_REFERENCE,
        source=name,
        quote=related.title,
        says=f"{name} names {reference.number} as {reference.relation.value}",
        labels=(Label.DP,),
        weighty=related.merged and not reference.hedged,
        detail={"number": reference.number, "relation": reference.relation.value, "hedged": reference.hedged},
    )
