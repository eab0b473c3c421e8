"""What of a text is its author's prose: code, quotes and HTML comments are masked, every offset is kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

# GitHub's limit of a body or comment. A longer text is none of GitHub's, and markdown-it needs 10 µs a line.
_MARKDOWN_LIMIT = 65_536

HIDDEN = "\0"
_MASKED = re.compile(r"[^\r\n]")
_LINE_END = re.compile(r"\r\n?|\n")
_TICKS = re.compile(r"(?<!\\)`+")
_MARKED_LINE = re.compile(r"^[ \t]*(?:(?P<fence>```+|~~~+)|(?P<quote>>))[^\n]*|`[^\n]*", re.MULTILINE)
_ELEMENT = re.compile(r"<(?P<slash>/?)(?P<name>pre|code|blockquote)\b[^<>]{0,200}>", re.IGNORECASE)
_HIDING_BLOCKS = {"fence", "code_block", "blockquote_open"}

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Block:
    """A part of the text that is hidden whole, or in which inline code may stand."""

    start: int
    end: int
    hides: bool


def markdown_prose(text: str) -> str:
    """A description or comment without code (fenced, indented, inline), block quotes and HTML comments.

    Each character of these is `HIDDEN` in the result (of a comment: a blank), except line ends. Blocks are those
    of CommonMark; in a text longer than GitHub takes (65,536 characters) only fences, quotes and inline code
    within one line are found.
    """
    return _without_elements(_without_comments(_without_code(text)))


def visible(text: str) -> str:
    """A text without the HTML comments that no reader sees; `<!--` in code is no comment, an unclosed one is shown."""
    pieces, position = [], 0
    for start, end in comment_spans(text):
        pieces += [text[position:start], "<!-- -->"]
        position = end
    return "".join([*pieces, text[position:]])


def comment_spans(text: str) -> list[Span]:
    """Where HTML comments stand that Markdown does not show as code."""
    return _comments_of(_without_code(text)) if "<!--" in text else []


def title_prose(text: str) -> str:
    """A title without inline code: the only markup that GitHub renders there."""
    return _masked(text, _code_spans(text, 0, len(text)))


def commit_prose(text: str) -> str:
    """A commit message, which is plain text, without the HTML comments that squash merges bring from templates."""
    return _without_comments(text)


@lru_cache(maxsize=1)
def _block_parser() -> MarkdownIt:
    return MarkdownIt("commonmark").disable(["inline", "text_join"])


def _without_code(text: str) -> str:
    hidden: list[Span] = []
    for block in _parsed_blocks(text) if len(text) <= _MARKDOWN_LIMIT else _marked_lines(text):
        hidden += [(block.start, block.end)] if block.hides else _code_spans(text, block.start, block.end)
    return _masked(text, hidden)


def _parsed_blocks(text: str) -> Iterator[_Block]:
    starts = [0, *(end.end() for end in _LINE_END.finditer(text)), len(text)]
    for token in _block_parser().parse(text):
        hides = token.type in _HIDING_BLOCKS or _is_open_comment(token)
        if token.map and (hides or token.type == "inline"):
            yield _Block(starts[token.map[0]], starts[min(token.map[1], len(starts) - 1)], hides)


def _is_open_comment(token: Token) -> bool:
    """A comment that nobody closes hides the rest of the text, if it begins a block."""
    content = token.content.lstrip()
    return token.type == "html_block" and content.startswith("<!--") and "-->" not in content


def _marked_lines(text: str) -> Iterator[_Block]:
    """The same for overlong texts: fences, quotes, and lines from their first backtick on."""
    fence, fence_start = "", 0
    for mark in _MARKED_LINE.finditer(text):
        if fence:
            if mark["fence"] and mark["fence"].startswith(fence):
                yield _Block(fence_start, mark.end(), hides=True)
                fence = ""
        elif mark["fence"]:
            fence, fence_start = mark["fence"], mark.start()
        else:
            yield _Block(mark.start(), mark.end(), hides=mark["quote"] is not None)
    if fence:
        yield _Block(fence_start, len(text), hides=True)


def _code_spans(text: str, start: int, end: int) -> list[Span]:
    """Inline code of one block: a run of backticks up to the next run of the same length."""
    ticks = list(_TICKS.finditer(text, start, end))
    last = {len(tick[0]): at for at, tick in enumerate(ticks)}
    spans: list[Span] = []
    opened: re.Match[str] | None = None
    for at, tick in enumerate(ticks):
        if opened is None:
            opened = tick if last[len(tick[0])] > at else None
        elif len(tick[0]) == len(opened[0]):
            spans.append((opened.start(), tick.end()))
            opened = None
    return spans


def _without_comments(text: str) -> str:
    return _masked(text, _comments_of(text), " ")


def _comments_of(text: str) -> list[Span]:
    last_close = text.rfind("-->")
    spans: list[Span] = []
    start = text.find("<!--")
    while 0 <= start < last_close:
        end = text.find("-->", start + 4)
        if end < 0:
            break
        spans.append((start, end + 3))
        start = text.find("<!--", end + 3)
    return spans


def _without_elements(text: str) -> str:
    """Without the HTML elements that stand for code and quotes; one that is never closed hides nothing."""
    spans: list[Span] = []
    depth, outer, start = 0, "", 0
    for tag in _ELEMENT.finditer(text):
        name = tag["name"].lower()
        if depth == 0 and not tag["slash"]:
            depth, outer, start = 1, name, tag.start()
        elif depth and name == outer:
            depth += -1 if tag["slash"] else 1
            if depth == 0:
                spans.append((start, tag.end()))
    return _masked(text, spans)


def _masked(text: str, spans: list[Span], filler: str = HIDDEN) -> str:
    """The text with the spans (may be nested) overwritten."""
    if not spans:
        return text
    pieces: list[str] = []
    position = 0
    for start, end in sorted(spans):
        if end > position:
            start = max(start, position)
            pieces += [text[position:start], _MASKED.sub(filler, text[start:end])]
            position = end
    return "".join([*pieces, text[position:]])
