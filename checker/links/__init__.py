"""References to issues and pull requests in a text, and how the text says it stands to each.

`prose` masks what is no prose, `naming` finds the numbers, `relations` reads the words around one; here they are put
together, with what only order shows: lists, bullets and the lines above them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from checker.links.naming import Named, may_name, named
from checker.links.prose import commit_prose, markdown_prose, title_prose
from checker.links.relations import Relation, Stance, is_hedged, stance_before, stance_of_lead, stance_with

__all__ = ["Reference", "Relation", "look_alike", "references"]

MOST_REFERENCES = 5_000
_QUOTE_LENGTH = 200
_REACH = 160  # characters before a number in which words may say how the text stands to it
_REACH_AFTER = 80

_BULLET = r"(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?"
_ITEM_START = re.compile(rf"\s*{_BULLET}[*_\[]*")
_LINE_START = re.compile(r"[ \t*_\[]*")
_LIST_LEFT = re.compile(rf"\n(?=\S)(?!{_BULLET})")
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")
_LONGEST_SEPARATOR = 40
_SEPARATOR = re.compile(
    r"[\s,;&/+*_]*(?:\(?(?:and|or|also|plus|as well as)\b[\s,:*_]*){0,2}"
    rf"(?:(?:the\s+)?(?:issues?|bugs?|tickets?|prs?|pull requests?)\b[\s*_:]*)?(?:{_BULLET})?[*_\[]*",
    re.IGNORECASE,
)
# Sentences end at a stop (but not that of "e.g.", "i.e.", "cf."), at a blank line and before a bullet.
_BREAK = re.compile(
    r"[.!?](?<!\b[ei]\.[ge]\.)(?<!\b[Cc]f\.)(?<!\bvs\.)(?<!\b[Nn]o\.)(?<!\b[Rr]efs\.)[\"')*_]*\s+(?=[^a-z\s])"
    rf"|\n[ \t\r]*\n|\n[ \t]*{_BULLET}"
)


@dataclass(frozen=True, slots=True)
class Reference:
    """One issue or pull request named in a text.

    `repository` is `owner/name` where the text names one, also if it is the text's own; else None. `quote` is
    the line, verbatim but stripped, or 200 characters of it around the number. `hedged`: the sentence says
    "maybe", "probably" or asks. `negated`: "does not fix #1" (which GitHub closes all the same).
    """

    number: int
    repository: str | None
    relation: Relation
    quote: str
    hedged: bool
    negated: bool


def references(text: str, *, title: bool = False, markdown: bool = True) -> tuple[Reference, ...]:
    """The issues and pull requests that a text names, in textual order, each as often as it is named.

    `markdown`: a description or comment; code, block quotes and HTML comments in it name nothing. Without it: a
    commit message, where only HTML comments (from templates) are passed over. `title`: a title, in which GitHub
    reads no closing words; they claim what they claim, and are given as in a description.

    Never raises. Time grows linearly with the text; after 5,000 references (`MOST_REFERENCES`) reading stops.
    """
    if not may_name(text):
        return ()
    prose = title_prose if title else markdown_prose if markdown else commit_prose
    return tuple(islice(_Reading(text, prose(text)).references(), MOST_REFERENCES))


def look_alike(numbers: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Pairs of numbers one of which may be a typing error of the other, each once, the one given first first.

    Two neighbouring digits swapped (54167, 54617), one digit wrong (4504, 4904), or one digit lost (451, 4511),
    in numbers of at least three digits. A wrong *last* digit is left out: 1234 and 1237 are more often
    neighbours, filed together, than errors. Time grows linearly with the numbers.
    """
    seen: set[int] = set()
    pairs: list[tuple[int, int]] = []
    for number in dict.fromkeys(numbers):
        slips = dict.fromkeys(int(slip) for slip in _slips(str(number)) if slip[0] != "0")
        pairs += [(slip, number) for slip in slips if slip in seen]
        seen.add(number)
    return tuple(pairs)


def _slips(digits: str) -> Iterator[str]:
    """What may be typed for a number, and what it may be typed for."""
    if len(digits) < 3:
        return
    for at, digit in enumerate(digits):
        before, after = digits[:at], digits[at + 1 :]
        if len(digits) > 3:
            yield before + after
        if after:
            yield from (before + other + after for other in "0123456789" if other != digit)
        if after and after[0] != digit:
            yield before + after[0] + digit + after[1:]
        yield from (before + other + digit + after for other in "0123456789")
    yield from (digits + other for other in "0123456789")


@dataclass(frozen=True, slots=True)
class _Read:
    """A place that was read, and what was found there."""

    place: Named
    stance: Stance


class _Reading:
    """One text while it is read; in `shown` all that names nothing is masked."""

    def __init__(self, text: str, shown: str) -> None:
        self._text = text
        self._shown = shown
        self._breaks = [0, *(match.end() for match in _BREAK.finditer(shown)), len(shown)]
        self._hedged: dict[int, bool] = {}

    def references(self) -> Iterator[Reference]:
        """All in order. What was looked at for one is not looked at for the next: that keeps the time linear."""
        before = item = _Read(Named(0, 0, 0, None), Stance())
        for place in named(self._shown):
            line = self._line_start(place)
            is_item = line is not None and _ITEM_START.fullmatch(self._shown, line, place.start) is not None
            stance = self._in_list(before, place, is_item=is_item) or self._by_words(place, before.place.end)
            if line is not None and stance.says_nothing:
                stance = self._by_lead(line, place, before.place.end, is_item=is_item)
            if is_item and stance.says_nothing and not _LIST_LEFT.search(self._shown, item.place.end, place.start):
                stance = item.stance.of_the_next
            before = _Read(place, stance)
            item = before if is_item else item
            yield self._reference(before)

    def _line_start(self, place: Named) -> int | None:
        """Where the line begins, if that is near enough for nothing but a bullet to stand between."""
        floor = max(0, place.start - _LONGEST_SEPARATOR)
        newline = self._shown.rfind("\n", floor, place.start)
        return newline + 1 if newline >= 0 else 0 if floor == 0 else None

    def _in_list(self, before: _Read, place: Named, *, is_item: bool) -> Stance | None:
        """The stance of the reference before, if nothing but a separator stands between."""
        end = before.place.end
        if not 0 < end <= place.start <= end + _LONGEST_SEPARATOR:
            return None
        if not _SEPARATOR.fullmatch(self._shown, end, place.start):
            return None
        if not is_item and _BLANK_LINE.search(self._shown, end, place.start):
            return None
        return before.stance.of_the_next

    def _by_words(self, place: Named, floor: int) -> Stance:
        """By the words of the same sentence before the number, but after the reference before, and those after it."""
        sentence = self._breaks[bisect_right(self._breaks, place.start) - 1]
        before = self._shown[max(floor, sentence, place.start - _REACH) : place.start]
        after = self._shown[place.end : place.end + _REACH_AFTER]
        return stance_with(stance_before(before, is_bare=place.is_bare), after)

    def _by_lead(self, line: int, place: Named, floor: int, *, is_item: bool) -> Stance:
        """By the line above, if the reference begins its own line."""
        if not is_item and not _LINE_START.fullmatch(self._shown, line, place.start):
            return Stance()
        above = self._shown[max(floor, line - _REACH) : line].rstrip()
        return stance_of_lead(above.rpartition("\n")[2])

    def _reference(self, read: _Read) -> Reference:
        place, stance = read.place, read.stance
        return Reference(
            place.number,
            place.repository,
            stance.relation,
            self._quote(place.start),
            self._is_hedged(place.start),
            stance.is_negated,
        )

    def _is_hedged(self, at: int) -> bool:
        sentence = bisect_right(self._breaks, at)
        if sentence not in self._hedged:
            self._hedged[sentence] = is_hedged(self._shown[self._breaks[sentence - 1] : self._breaks[sentence]])
        return self._hedged[sentence]

    def _quote(self, at: int) -> str:
        start = self._text.rfind("\n", max(0, at - _QUOTE_LENGTH), at) + 1 or max(0, at - _QUOTE_LENGTH)
        newline = self._text.find("\n", at, at + _QUOTE_LENGTH)
        end = newline if newline >= 0 else min(len(self._text), at + _QUOTE_LENGTH)
        if end - start > _QUOTE_LENGTH:
            start = max(start, min(at - _QUOTE_LENGTH // 2, end - _QUOTE_LENGTH))
            end = start + _QUOTE_LENGTH
        return self._text[start:end].strip()
