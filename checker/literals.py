"""The literals that the code patch and the test patch share, and how each stands.

They underlie the label UL (Unspecified Literal): a test asserts an exact text or number that the code patch
newly writes as a constant and that the issue does not hold. A message is compared in its fixed parts, because a
test may assert the filled-in text, a regular expression, or only a piece of it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise, product
from typing import Literal

from checker.literal_grammars import GRAMMARS, LEXICAL
from checker.literal_readers import Found, read, suffix_of
from checker.literal_standing import Judge, Standing, holds, in_short, is_wording, words
from checker.literal_text import HOLE, is_pattern, split
from checker.patches import FilePatch, Line, LineKind, Patch

__all__ = ["LIMIT", "Place", "SharedLiteral", "Standing", "Wording", "is_legible", "shared_literals", "whole_wording"]

LIMIT = 50
"""So many shared literals are told at most: whoever reads them needs a few, and a generated patch has thousands."""

# Documentation asserts nothing and is asserted by nothing.
_PROSE = frozenset({".md", ".rst", ".adoc", ".markdown", ".lock", ".png", ".gif", ".jpg"})
_SHORTEST_WORD = 4
_SHORTEST = 3
# Bounds for hostile and generated patches; what people write stays far below.
_TEXTS = 2000
_WORDS = 200
_ALIKE = 64

_QUOTED_WORD = re.compile(r"(?:[\"'`]\W{0,4}|\b(?=\d))(\w+)")
_LONGEST_WORDING = 400
_FIRST_WORDS = re.compile(r"\w+\W+\w+")


@dataclass(frozen=True)
class Place:
    """A line of a new file. `quote` is the whole line, stripped, otherwise verbatim."""

    path: str
    line: int
    quote: str


@dataclass(frozen=True)
class Wording:
    """A wording that tests expect: exact, with placeholders (`{name}`, `%s`), or a regular expression."""

    text: str
    kind: Literal["exact", "placeholders", "pattern"] = "exact"


@dataclass(frozen=True)
class SharedLiteral:
    """A literal in both patches. A `fragment` is a part of the code's literal, between placeholders or line ends."""

    text: str
    kind: Literal["string", "number", "fragment"]
    standing: Standing
    code: Place
    test: Place


def shared_literals(code: Patch, test: Patch, request: str | None) -> tuple[SharedLiteral, ...]:
    """The literals that both patches newly write, the most convincing first; at most `LIMIT`.

    `request` is the issue's text, or None when it is unread: then nothing can stand as `IN_ISSUE`, and the caller
    says so. Each text occurs once for each standing it has. Numbers count from three characters, single words from
    four; words of three are told as `SHORT`. Source: the taxonomy's paragraphs on UL.
    """
    readable = [file for file in code.files if suffix_of(file.path) in GRAMMARS.keys() | LEXICAL]
    tests = _Side(written for written in _written(test.files) if written.found.kind != "comment")
    judge = Judge(code, test, request)
    shared: dict[tuple[str, Standing], SharedLiteral] = {}
    for match in _matches(_Side(_written(readable, tests.may_match)), tests):
        standing = judge.standing(match.text, match.code.found, match.test.found)
        if standing is Standing.UNSPECIFIED and match.is_short:
            standing = Standing.SHORT
        shared.setdefault((match.text, standing), _shared(match, standing))
        if len(shared) >= _TEXTS:
            break
    return tuple(sorted(shared.values(), key=_rank)[:LIMIT])


def whole_wording(literal: str, code: Patch, written: Place, test: Patch, asserted: Place) -> Wording:
    """The wording that a shared literal is a part of, as far as it stands on one line.

    `written` and `asserted`: where it stands in the code and in the test. A test's regular expression is given as it
    is; what the code fills in, or of which the test asserts a piece, as the code has it; else what the test asserts.
    Where nothing of this is found, or it is long, the literal alone.
    """
    in_test, in_code = _line_of(literal, test, asserted), _line_of(literal, code, written)
    if in_test is None:
        return in_code or Wording(literal)
    if is_pattern(in_test.text):
        return Wording(in_test.text, "pattern")
    if in_code is None:
        return in_test
    is_piece = in_test.text in in_code.text or "\\" in in_test.text
    return in_code if is_piece or in_code.kind == "placeholders" else in_test


def _line_of(literal: str, patch: Patch, place: Place) -> Wording | None:
    """The line of the literal's text in a patch that holds it."""
    for written in _written([file for file in patch.files if file.path == place.path], lambda new: place.quote in new):
        found = written.found
        if found.kind != "string" or all(line.number != place.line for line in written.lines):
            continue
        lines = (line.strip() for line in found.shown().splitlines())
        whole = next((line for line in lines if any(literal in part for part in split(line)[0])), "")
        if 0 < len(whole) <= _LONGEST_WORDING:
            return Wording(whole.replace(HOLE, ""), "placeholders" if split(whole)[1] else "exact")
    return None


def is_legible(file: FilePatch) -> bool:
    """Whether the literals of a file can be read: its language is known here, it is prose, or nothing was added."""
    suffix = suffix_of(file.path)
    return suffix in GRAMMARS.keys() | LEXICAL | _PROSE or not (file.is_binary or any(True for _ in file.added()))


def _rank(literal: SharedLiteral) -> tuple[int, int, int, str]:
    standing = list(Standing).index(literal.standing)
    return standing, -len(words(literal.text)), -len(literal.text), literal.text


@dataclass(frozen=True)
class _Written:
    """A literal on added lines of a file."""

    found: Found
    path: str
    lines: tuple[Line, ...]

    def place(self, text: str) -> Place:
        beginning = _FIRST_WORDS.search(text)
        start = beginning[0] if beginning is not None else text
        line = next((line for line in self.lines if start in line.text), self.lines[0])
        return Place(self.path, line.number, line.text.strip())


@dataclass(frozen=True)
class _Match:
    text: str
    code: _Written
    test: _Written

    @property
    def is_short(self) -> bool:
        return self.code.found.kind != "number" and len(self.text) < _SHORTEST_WORD


def _shared(match: _Match, standing: Standing) -> SharedLiteral:
    found = match.code.found
    kind: Literal["string", "number", "fragment"] = "fragment"
    if found.kind == "number":
        kind = "number"
    elif found.parts == (match.text,) and not found.is_template:
        kind = "string"
    return SharedLiteral(match.text, kind, standing, match.code.place(match.text), match.test.place(match.text))


def _written(files: Sequence[FilePatch], may_matter: Callable[[str], bool] | None = None) -> Iterator[_Written]:
    """The literals on added lines of hunks, of those hunks whose new text may matter."""
    for file in files:
        for _, lines in groupby(file.lines, key=lambda line: line.hunk):
            new = [line for line in lines if line.kind is not LineKind.REMOVED]
            rows = {row for row, line in enumerate(new) if line.kind is LineKind.ADDED}
            if rows and (may_matter is None or may_matter("\n".join(new[row].text for row in sorted(rows)))):
                yield from _in_hunk(file.path, new, rows)


def _in_hunk(path: str, new: Sequence[Line], rows: set[int]) -> Iterator[_Written]:
    for found in read(path, "\n".join(line.text for line in new), rows):
        touched = range(max(found.row, 0), min(found.end_row + 1, len(new)))
        yield _Written(found, path, tuple(new[row] for row in touched if row in rows))


class _Side:
    """The literals of one patch: by their parts, and these parts by their pairs of neighbouring words."""

    def __init__(self, literals: Iterable[_Written]) -> None:
        self.by_part: dict[str, list[_Written]] = defaultdict(list)
        for written in literals:
            for part in written.found.parts:
                self.by_part[part].append(written)

    @cached_property
    def _by_pair(self) -> Mapping[tuple[str, str], Sequence[str]]:
        by_pair: dict[tuple[str, str], list[str]] = defaultdict(list)
        for part in self.by_part:
            for pair in dict.fromkeys(_pairs(part)):
                if len(by_pair[pair]) < _ALIKE:
                    by_pair[pair].append(part)
        return by_pair

    @cached_property
    def _single(self) -> frozenset[str]:
        return frozenset(found[0] for part in self.by_part if len(found := words(part)) == 1 and len(part) >= _SHORTEST)

    def may_match(self, text: str) -> bool:
        """Whether a text quotes a word that is a part of its own here, or has two neighbouring words of a part."""
        if not self._single.isdisjoint(_QUOTED_WORD.findall(text)):
            return True
        return not self._by_pair.keys().isdisjoint(pairwise(words(text)))

    def alike(self, part: str) -> Sequence[_Written]:
        """The literals with a part, the first of each sort that a judgement tells apart."""
        firsts = {in_short(written.found): written for written in reversed(self.by_part[part][:_ALIKE])}
        return list(firsts.values())

    def counterparts(self, part: str) -> Iterator[tuple[str, str]]:
        """The parts that share text with a part of the other side, each with the text they share."""
        if part in self.by_part:
            yield part, part
        for other in dict.fromkeys(other for pair in _pairs(part) for other in self._by_pair.get(pair, ())):
            text = _common(part, other)
            if other != part and is_wording(text):
                yield other, text


def _pairs(part: str) -> Iterator[tuple[str, str]]:
    return pairwise(words(part)[:_WORDS])


def _matches(code: _Side, tests: _Side) -> Iterator[_Match]:
    for part in code.by_part:
        for test_part, text in tests.counterparts(part):
            for written, test in product(code.alike(part), tests.alike(test_part)):
                is_number = written.found.kind == "number"
                if is_number == (test.found.kind == "number") and len(text) >= _SHORTEST:
                    yield _Match(text, written, test)


def _common(code: str, test: str) -> str:
    """What a part of the code's literal and a part of the test's share: one holds the other, or their ends overlap.

    Ends overlap where a placeholder's value stands before the code's part, and the test asserts a mere piece.
    """
    if holds(test, code):
        return code
    if holds(code, test):
        return test
    return max(_overlap(test, code), _overlap(code, test), key=len).strip()


def _overlap(first: str, second: str) -> str:
    """The end of `first` that is the beginning of `second`, in at least two words; empty where there is none."""
    beginning = _FIRST_WORDS.search(second)
    start = first.rfind(second[: beginning.end()]) if beginning is not None else -1
    return first[start:] if start >= 0 and second.startswith(first[start:]) else ""
