"""A stranger's text as it may stand in what we post: it shows as itself, and does nothing."""

from __future__ import annotations

import re

from checker import render
from checker.render import one_line, plain

_JOINER = "\u2060"
# GitHub looks for these in the text that Markdown leaves, where no backslash stands any more: mentions, references,
# emoji, addresses, task boxes and alerts. Between the sign and what follows it, a word joiner ends the search.
_SIGNS = re.compile(rf"(\\\[|\\[@#:](?=[^\s{_JOINER}]))")
_PREFIXES = re.compile(r"(www)(?=\.)|(gh|ghsa|cve)(?=-)", re.IGNORECASE)
# A commit is found by seven digits, of which all may be letters.
_COMMIT = re.compile(r"[0-9a-f]{7,}", re.IGNORECASE)
_BACKTICKS = re.compile("`{3,100}")
_MANY_BACKTICKS = "`" * 100
_MOST_LINES = 12


def inert(text: str, most: int = 600) -> str:
    """One line of Markdown that shows the text, or its beginning of `most` characters, and is nothing else."""
    escaped = _SIGNS.sub(rf"\1{_JOINER}", render.inert(shortened(text, most)))
    escaped = _PREFIXES.sub(lambda match: match[0] + _JOINER, escaped)
    escaped = _COMMIT.sub(lambda match: _JOINER.join(re.findall(".{1,6}", match[0])), escaped)
    # A backslash does not keep GitHub from reading mathematics: docs.github.com, "Writing mathematical expressions".
    return escaped.replace(r"\$", "<span>$</span>")


def shortened(text: str, most: int) -> str:
    """The text on one line, cut with an ellipsis where it is longer than `most` characters."""
    line = one_line(text[: most * 2])
    return line if len(line) <= most and len(text) <= most * 2 else f"{line[: most - 1].rstrip()}…"


def first_sentence(text: str, most: int) -> str:
    """The first sentence, on one line and cut like `shortened`."""
    line = shortened(text, most)
    sentence = re.match(r".{20,}?[.!?](?=\s)", line)
    return sentence[0] if sentence else line


def quoted_prose(text: str, most: int) -> list[str]:
    """A block quote, line by line, of at most `most` characters in all."""
    return [f"> {inert(line, most)}".rstrip() for line in _lines(text, most)]


def quoted_code(text: str, most: int) -> list[str]:
    """A fenced block in a block quote. GitHub looks for nothing in it; no line of it begins a line of the comment."""
    lines = [_in_fence(plain(line)) for line in _lines(text, most)]
    fence = "`" * (1 + max((len(run) for line in lines for run in _BACKTICKS.findall(line)), default=2))
    return [f"> {line}".rstrip() for line in (fence, *lines, fence)]


def _in_fence(line: str) -> str:
    """Our marker stands only where we write it; and a fence of more than 255 backticks is closed by 255."""
    return line.replace(_MANY_BACKTICKS, _MANY_BACKTICKS + _JOINER).replace("<!--", f"<{_JOINER}!--")


def _lines(text: str, most: int) -> list[str]:
    cut = text[:most]
    lines = cut.expandtabs(4).splitlines()
    if len(text) > most or len(lines) > _MOST_LINES:
        lines = [*lines[:_MOST_LINES], "[…]"]
    return lines
