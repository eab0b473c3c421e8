"""A stranger's text as it may stand in what we post: it shows as itself, and does nothing."""

from __future__ import annotations

import re

from checker import render
from checker.render import one_line, plain

_JOINER = "\u2060"
_BACKTICKS = re.compile("`{3,100}")
_MANY_BACKTICKS = "`" * 100
_MOST_LINES = 12


def inert(text: str, most: int = 600) -> str:
    """One line of Markdown that shows the text, or its beginning of `most` characters, and is nothing else."""
    return _without_marker(render.inert(shortened(text, most)))


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
    """A fence of more than 255 backticks is closed by 255."""
    return _without_marker(line.replace(_MANY_BACKTICKS, _MANY_BACKTICKS + _JOINER))


def _without_marker(line: str) -> str:
    """Our marker stands only where we write it."""
    return line.replace("<!--", f"<{_JOINER}!--")


def _lines(text: str, most: int) -> list[str]:
    cut = text[:most]
    lines = cut.expandtabs(4).splitlines()
    if len(text) > most or len(lines) > _MOST_LINES:
        lines = [*lines[:_MOST_LINES], "[…]"]
    return lines
