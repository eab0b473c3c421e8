"""How the words around a number say that a text stands to it.

The closing words are GitHub's:
https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Relation(StrEnum):
    """How a text stands to an issue or pull request that it names.

    CLOSES: a closing word right before the number, as GitHub accepts it (in a title it does not: still a claim).
    LISTED: claimed, but in a form that GitHub does not link: "fixes #1, #2", "fixes issue #3", "addresses #4".
    PART_OF: "part of", "towards", "partially fixes" (GitHub closes for the last one all the same).
    REFERS: "refs", "see", "related to", "cf.", "re:".
    FOLLOW_UP: "follow-up to", "continuation of", "supersedes"; not the inverse, "superseded by".
    REGRESSION_FROM: "regression from", "broken by", "caused by", "the bug was introduced in #1", "#1 broke".
    REVERTS: "reverts #1", `Revert "title (#1)"`.
    MENTIONS: any other, also the pull request's own number that a squash merge adds: "Fix title (#1)".
    """

    CLOSES = "closes"
    LISTED = "listed"
    PART_OF = "part-of"
    REFERS = "refers"
    FOLLOW_UP = "follow-up-to"
    REGRESSION_FROM = "regression-from"
    REVERTS = "reverts"
    MENTIONS = "mentions"


@dataclass(frozen=True, slots=True)
class Stance:
    """A relation, and whether the text denies it: "does not fix #1" (which GitHub closes all the same)."""

    relation: Relation = Relation.MENTIONS
    is_negated: bool = False

    @property
    def says_nothing(self) -> bool:
        """Whether it is a bare mention."""
        return self.relation is Relation.MENTIONS

    @property
    def of_the_next(self) -> Stance:
        """What a list passes on: GitHub links only the number right after the closing word."""
        return Stance(Relation.LISTED, self.is_negated) if self.relation is Relation.CLOSES else self


_FLAGS = re.IGNORECASE | re.ASCII
_CLOSING = r"(?:close[sd]?|fix(?:es|ed)?|resolve[sd]?)"
_CLAIMING = (
    rf"(?:{_CLOSING}|closing|fixing|resolving|solv(?:e[sd]?|ing)|address(?:es|ed|ing)?|implement(?:s|ed|ing)?"
    r"|(?:bug|hot)-?fix)"
)
_BUG = (
    r"(?:regress(?:ion|ed|es)|bugs?|issues?|errors?|fail(?:s|ed|ing|ures?)?|problems?|crash(?:es|ed)?"
    r"|br(?:oken?|eaks?|eakage))"
)
_THING = r"the|this|that|these|those|issues?|bugs?|tickets?|problems?|pr|prs|pull|requests?|number|github|upstream"
# Between the words and the number: a few nouns. After a claim they must not turn it into something else:
# "fixes the change in #1" claims nothing about #1, "regression from the change in #1" does.
_GAP = rf"\b(?:[\s:*_]+(?:{_THING}|our|my|an?|earlier|previous|merged|original|commits?|changes?|in|from)\b){{0,4}}"
_CLAIM_GAP = (
    rf"\b(?:[\s:*_]+(?:{_THING}|an?|all|both|also|for|of|several|following"
    r"|(?:describ|report|rais|mention)ed in)\b){0,4}"
)

# Each is followed by _GAP unless it brings its own. Where several begin at the same word, the first counts.
# A blank stands for any white space.
_PHRASES: tuple[tuple[Relation, str], ...] = (
    (Relation.PART_OF, rf"(?:partial(?:ly)?|partly|in part|mostly),? {_CLAIMING}{_CLAIM_GAP}"),
    (Relation.PART_OF, rf"(?:{_CLAIMING} (?:a )?)?part(?: \d{{1,3}})? of(?: {_CLAIMING})?"),
    (Relation.PART_OF, rf"(?:towards?|progress on|contributes to|works (?:on|towards))(?: {_CLAIMING})?"),
    (Relation.PART_OF, r"partial (?:fix|solution|implementation|work) (?:for|of|to|on)"),
    (
        Relation.PART_OF,
        r"(?:first|initial|next|second|another|one|small) (?:steps?|part|pass|piece|stage)"
        rf" (?:for|of|to|towards?|in|on)(?: {_CLAIMING})?",
    ),
    (Relation.REVERTS, r"revert(?:s|ed|ing)?(?: of)?"),
    (Relation.REGRESSION_FROM, r"caused by"),
    (
        Relation.REGRESSION_FROM,
        r"(?:regress(?:ion|ed)|br(?:oken?|eakage))(?: (?:was|is|that|which|got)){0,2}"
        r"(?: (?:caused|introduced|created))? (?:from|in|by|since|with|after|of|due to)",
    ),
    (
        Relation.FOLLOW_UP,
        r"follow(?:s|ing)?(?:[\s-]?up)?(?: (?:pr|fix|change|patch|issue))?(?: (?:to|of|on|for|from|after))?",
    ),
    (Relation.FOLLOW_UP, r"continu(?:ation|es|ing)(?: (?:of|from|on))?"),
    (Relation.FOLLOW_UP, r"supersed(?:es?|ing)|replaces|successor (?:to|of)|buil(?:ds?|t) (?:up)?on(?: top of)?"),
    (Relation.LISTED, rf"(?<!the\s){_CLAIMING}(?: and {_CLAIMING})?{_CLAIM_GAP}"),
    (Relation.REFERS, r"(?:ref(?:s|erences|erencing)?|see(?: also)?|relate[sd]?(?: to)?|cf|re|regarding|xref)"),
)


def _pattern(phrase: str) -> str:
    gap = "" if phrase.endswith(_CLAIM_GAP) else _GAP
    return f"((?:{phrase}){gap})".replace(" ", r"\s+")


_PHRASE = re.compile(rf"(?<!\w)(?:{'|'.join(_pattern(p) for _, p in _PHRASES)})[\s.:*_\[-]*\Z", _FLAGS)
_ACCEPTED = re.compile(rf"(?<!\w){_CLOSING}[*_]*(?::[*_]*\s*|\s+)[*_\[]*\Z", _FLAGS)
# `Revert "title (#1)"`, as GitHub words it, and "reverts 0123abc (#1)".
_REVERTED = re.compile(r"\brevert(?:s|ed)?\s+(?:\"[^\"\n]*|(?:commit\s+)?[0-9a-f]{7,40}\s+\()\Z", _FLAGS)
# "introduced in #1" accuses only if the sentence speaks of a bug: features are introduced as well.
_INTRODUCED = re.compile(
    rf"\b(?:(?:introduced|created)\s+(?:in|by|with|from)|since){_GAP}[\s:*_\[]*\Z".replace(" ", r"\s+"), _FLAGS
)
_BUG_WORD = re.compile(rf"\b{_BUG}\b", _FLAGS)
_AFTER = re.compile(
    r"[\s)\]*_]*(?:(?:has|have|which|that|also|was|is|are|will\s+be|should\s+be|gets?)\s+){0,3}"
    rf"(?:(?P<regression>broke|regressed|introduced\s+(?:\w+\s+){{0,3}}{_BUG}\b)"
    r"|(?P<claim>(?:fixed|closed|resolved)\s+(?:by|in|with)\s+this\b)|\(?(?P<part>partially|partly|in\s+part)\b)",
    _FLAGS,
)
_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|probably|possibly|presumably|apparently|might|may|could|likely|seems?|unsure|not sure"
    r"|suspect|i (?:think|guess|believe))\b|\?[\"')*_]*\s*\Z",
    _FLAGS,
)
_NEGATION = re.compile(
    r"(?:\b(?:not(?! only| just| sure| merely)|never|without|no longer|cannot)|n['’]t)"
    r"(?:\s+(?!but\b|and\b|that\b)\w+){0,3}\s*\Z",
    _FLAGS,
)
_WOULD = re.compile(r"\b(?:would|could|might|may)(?:\s+\w+){0,3}\s*\Z", _FLAGS)


def stance_before(before: str, *, is_bare: bool = False) -> Stance:
    """What the last words of `before` (part of one sentence) say of the number that follows them.

    `is_bare`: GitHub sees the number right there, so that a closing word closes. Time: the square of the length
    at worst; pass a few hundred characters.
    """
    phrase = _PHRASE.search(before)
    if phrase is None:
        return _stance_of_other_words(before)
    relation = next(relation for (relation, _), words in zip(_PHRASES, phrase.groups(), strict=True) if words)
    is_negated = _NEGATION.search(before, 0, phrase.start()) is not None
    if relation is Relation.LISTED:
        if is_bare and _ACCEPTED.search(before):
            return Stance(Relation.CLOSES, is_negated)
        if _WOULD.search(before, 0, phrase.start()):
            return Stance()
    return Stance(relation, is_negated)


def _stance_of_other_words(before: str) -> Stance:
    if _REVERTED.search(before):
        return Stance(Relation.REVERTS)
    introduced = _INTRODUCED.search(before)
    if introduced is not None and _BUG_WORD.search(before, 0, introduced.start()):
        return Stance(Relation.REGRESSION_FROM, _NEGATION.search(before, 0, introduced.start()) is not None)
    return Stance()


def stance_with(stance: Stance, after: str) -> Stance:
    """The stance once the words after the number are read: "#1 broke", "#1 is fixed by this", "#1 partially"."""
    words = _AFTER.match(after)
    if words is None:
        return stance
    if words["part"]:
        claims = stance.relation in (Relation.CLOSES, Relation.LISTED)
        return Stance(Relation.PART_OF, stance.is_negated) if claims else stance
    if not stance.says_nothing:
        return stance
    return Stance(Relation.REGRESSION_FROM if words["regression"] else Relation.LISTED)


def stance_of_lead(line: str) -> Stance:
    """What a line says of the list or number below it, if it ends in a colon or is a heading of such words."""
    text = line.strip(" \t\r*_")
    words = text.strip("#: \t*_")
    is_lead = text.endswith(":") or (text.startswith("#") and _PHRASE.match(words) is not None)
    return stance_before(words).of_the_next if is_lead else Stance()


def is_hedged(sentence: str) -> bool:
    """Whether a sentence says "maybe", "probably", "I think" and the like, or asks."""
    return _HEDGE.search(sentence) is not None
