"""The fixed parts of texts: what stays of a quoted text without quotes, escapes and placeholders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

HOLE = "\0"
_DELIMITERS = re.compile(r"""^[A-Za-z$@]{0,3}#*("{3}|'{3}|"|'|`)""")
_ESCAPE = re.compile(r"\\(?:([nrt0abfv])|\n[ \t]*|u\{?[0-9a-fA-F]{1,6}\}?|x[0-9a-fA-F]{2}|(.))", re.DOTALL)
_CONTROL = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
# What a regular expression leaves open, by which a test matches a message.
_PATTERN = re.compile(r"\.[*+]\??|\[[^\]\n]{1,20}\][*+]|\\[dwsDWS][*+]?|\([^()\n]{1,200}\)[?*]")
# A placeholder of %-format, of {}-format, or of a regular expression.
_PLACEHOLDER = re.compile(
    r"%(?:\([a-zA-Z_]{1,40}\))?[-+#0]{0,3}[0-9]{0,3}(?:\.[0-9]{1,3})?[lhz]{0,2}[diouxXeEfFgGcrsapqtvTw@]"
    r"|[#$]?\{[\w.\[\]]{0,40}(?:![rsa])?(?::[^{}\s\"']{0,20})?\}"
    rf"|{_PATTERN.pattern}|\0"
)
_REGEX_ESCAPE = re.compile(r"\\([^\w\s])")
# An unclosed quotation runs to the line's end, so that no text is scanned twice; an apostrophe opens none.
_QUOTED = re.compile(r"((?<!\w)'|[\"`])((?:(?!\1)[^\\\n]|\\.)*+)\1?+")
_EXPECTED_COMMENT = re.compile(r"# [ENWR](?::\d{1,4})?: (.*)")
_EXPECTED_MESSAGE = re.compile(r"^[\w./<>-]{1,200}(?::\d{1,6}){0,4}: (?:error|note|warning): (.*)")
_OUTPUT_SECTION = re.compile(r"^\[(?:out|stdout|stderr)[^\]\n]{0,40}\]")
_PART_LIMIT = 1000


def bare(source: str) -> str:
    """What stands between a string's quotes, its escapes resolved unless it is a raw string."""
    match = _DELIMITERS.match(source)
    if match is None:
        return source
    inner = source[match.end() :].rstrip("#").removesuffix(match[1])
    return inner if "r" in match[0].lower() else unescape(inner)


def unescape(text: str) -> str:
    r"""The usual escapes resolved: `\n` as a line end, `\"` as a quote; a code point's number is left out."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda m: _CONTROL[m[1]] if m[1] else _kept(m[2]), text)


def _kept(escaped: str | None) -> str:
    # Python keeps the backslash of an unknown escape; a regular expression's `\d` must stay a placeholder.
    return "" if escaped is None else f"\\{escaped}" if escaped.isalnum() else escaped


def is_pattern(text: str) -> bool:
    """Whether a text leaves something open as only a regular expression does."""
    return _PATTERN.search(text) is not None


def split(text: str) -> tuple[tuple[str, ...], bool]:
    """What is fixed in a text: its parts between placeholders and line ends; and whether there are placeholders.

    Parts without a letter or digit are left out; the anchors of a regular expression are stripped.
    """
    pieces = _PLACEHOLDER.split(text)
    parts = (_REGEX_ESCAPE.sub(r"\1", line).strip(" \t^$") for piece in pieces for line in piece.splitlines())
    return tuple(part[:_PART_LIMIT] for part in parts if any(map(str.isalnum, part))), len(pieces) > 1


class Quotation(NamedTuple):
    """A quoted text of a line, and where its quotation begins."""

    start: int
    text: str


def quotations(line: str) -> Iterator[Quotation]:
    """What is quoted in a line of an unknown language."""
    return (Quotation(match.start(), match[2]) for match in _QUOTED.finditer(line))


def expected_messages(text: str) -> Iterator[str | None]:
    """For each line of mypy's test cases the message that it expects, in a comment or below `[out]`."""
    in_output = False
    for line in text.split("\n"):
        if line.startswith("["):
            in_output = _OUTPUT_SECTION.match(line) is not None
            yield None
            continue
        message = _EXPECTED_MESSAGE.match(line) or _EXPECTED_COMMENT.search(line)
        yield message[1] if message is not None else line if in_output else None
