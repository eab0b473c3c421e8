"""A quote is proved against the text that it names, or it does not count.

White space and Unicode form (NFC) are set aside; everything else must agree to the letter.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from checker import patches
from checker.links.prose import visible
from checker.pair import Text
from checker.patches import LineKind
from checker.taxonomy import Artifact

LONGEST_QUOTE = 600
# Letters and digits that a quote of several words, or of one, must have to show anything.
_SHORTEST_QUOTE = 7
_SHORTEST_WORD = 10
_SPACE = re.compile(r"\s+")
# A run of more than 30 marks is no language's (the stream-safe limit of UAX #15); to compose it costs its square.
_RUN_OF_MARKS = re.compile(r"([^\x00-\x7f\w\s]{31,})")
_SENTENCE_END = re.compile(r"[.!?][)\"'*_`]*(?=\s)|\n[ \t]*(?=\n)")
_IN_WORD = re.compile(r"(?<=\w)\w")
_LINE_END, _WORD_END = re.compile(r"\n"), re.compile(r"\S(?=\s)")
_PATCHES = (Artifact.CODE_PATCH, Artifact.TEST_PATCH)


@dataclass(frozen=True)
class Quote:
    """What somebody claims to have read: `text`, in the text named `source` (a key of `Pair.texts`)."""

    source: str
    text: str


@dataclass(frozen=True)
class Evidence:
    """A proved quote: `quote` stands verbatim in `source`. `path` and `line` are set inside patches; `is_added`:
    a line that it touches there is one that the patch adds.
    """

    source: str
    artifact: Artifact
    quote: str
    author: str | None = None
    url: str | None = None
    path: str | None = None
    line: int | None = None
    is_added: bool = False


@dataclass(frozen=True)
class Unproved:
    """A quote that does not count, and why, in words that its author can act on."""

    quote: Quote
    reason: str


def quotable(body: str) -> str:
    """As much of a text's beginning as one quote can prove: all of it, or to the end of a sentence, line or word."""
    text = visible(body).strip()
    if len(_normal(text)) <= LONGEST_QUOTE:
        return text
    return _ended(text, LONGEST_QUOTE)


def whole_words(quote: str, body: str) -> str:
    """A passage of a text without the word that it ends amid, or the sentence, if that leaves enough of it."""
    at = body.find(quote)
    return _ended(quote, len(quote)) if at >= 0 and _IN_WORD.match(body, at + len(quote)) else quote


def _ended(text: str, most: int) -> str:
    for end in (_SENTENCE_END, _LINE_END, _WORD_END):
        ends = [match.end() for match in end.finditer(text, 0, most)]
        if ends and ends[-1] > most // 3:
            return text[: ends[-1]].strip()
    return text[:most]


def prove(quote: Quote, texts: Mapping[str, Text]) -> Evidence | Unproved:
    """Looks the quote up in the text that it names."""
    text = texts.get(quote.source)
    if text is None:
        return Unproved(quote, f"there is no text named {quote.source!r}")
    wanted = _normal(quote.text)
    if not _says_something(wanted, _normal_body(text.body)):
        return Unproved(quote, "it is too short to show anything; quote the whole sentence or line")
    if len(wanted) > LONGEST_QUOTE:
        return Unproved(quote, f"it is longer than {LONGEST_QUOTE} characters; quote the sentence that matters")
    if text.artifact in _PATCHES:
        return _prove_in_patch(quote, wanted, text)
    if wanted not in _normal_body(visible(text.body)):
        return Unproved(quote, f"it does not stand verbatim in {quote.source}")
    return Evidence(text.name, text.artifact, quote.text.strip(), text.author, text.url)


def _says_something(wanted: str, whole: str) -> bool:
    words = re.findall(r"\w+", wanted)
    letters = sum(map(len, words))
    return letters >= (_SHORTEST_QUOTE if len(words) >= 2 else _SHORTEST_WORD) or wanted == whole != ""


def _normal(text: str) -> str:
    return _SPACE.sub(" ", text if text.isascii() else _composed(text)).strip()


@lru_cache(maxsize=64)
def _normal_body(body: str) -> str:
    """Bodies are kept, for many quotes are proved against each; lines and quotes would only push them out."""
    return _normal(body)


def _composed(text: str) -> str:
    """The text in NFC, but for runs of marks that nobody writes, which are left as they are."""
    pieces = _RUN_OF_MARKS.split(text)
    pieces[::2] = [unicodedata.normalize("NFC", piece) for piece in pieces[::2]]
    return "".join(pieces)


def _prove_in_patch(quote: Quote, wanted: str, text: Text) -> Evidence | Unproved:
    """In a diff a quote may be given with or without the leading +, - or space of its lines."""
    for with_markers in (False, True):
        joined, starts, places = _patch_lines(text.body, with_markers)
        at = joined.find(wanted)
        if at >= 0:
            touched = places[bisect_right(starts, at) - 1 : bisect_right(starts, at + len(wanted) - 1)]
            path, line, _ = touched[0]
            is_added = any(kind is LineKind.ADDED for _, _, kind in touched)
            return Evidence(text.name, text.artifact, quote.text.strip(), None, text.url, path, line, is_added)
    # A header of the diff is no line of a file, but can be quoted: a rename, a mode.
    if any(wanted in _normal(line) for line in text.body.split("\n")):
        return Evidence(text.name, text.artifact, quote.text.strip(), None, text.url)
    return Unproved(quote, f"it does not stand verbatim in {quote.source}")


@lru_cache(maxsize=16)
def _patch_lines(diff: str, with_markers: bool) -> tuple[str, list[int], list[tuple[str, int, LineKind]]]:
    """The diff's lines as one normal text, with the offset at which each begins and where it stands.

    Hunks are parted by a newline, which no normal text holds: a quote cannot join what does not stand together.
    """
    pieces: list[str] = []
    starts: list[int] = []
    places: list[tuple[str, int, LineKind]] = []
    length, before = 0, None
    for file in patches.parse(diff).files:
        for line in file.lines:
            piece = _normal((line.kind.value if with_markers else "") + line.text)
            if piece:
                pieces.append((" " if before == (file.path, line.hunk) else "\n") + piece)
                before = (file.path, line.hunk)
                starts.append(length + 1)
                places.append((file.path, line.number, line.kind))
                length += len(piece) + 1
    return "".join(pieces), starts, places
