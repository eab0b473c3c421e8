"""Whether a comment answers ours: the block quotes that it holds, and whose words they are."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property

from markdown_it import MarkdownIt

_LINE_END = re.compile(r"\r\n?|\n")


def quoting(*ours: str) -> Callable[[str], bool]:
    """Tells of the text of a block quote whether some line of it, of three words or more, stands in one of our texts.

    Markup is set aside: mail programs and GitHub's own button quote the words as they are shown.
    """
    runs = {run for text in ours for run in _runs(_shown_words(text))}

    def is_ours(quote: str) -> bool:
        lines = (_runs(_shown_words(line)) for line in _LINE_END.split(quote))
        return any(line and runs.issuperset(line) for line in lines)

    return is_ours


class Quotes:
    """The block quotes of one comment, parsed when they are asked for. Lines count from 1."""

    def __init__(self, lines: Sequence[str], quotes_ours: Callable[[str], bool] | None) -> None:
        self._lines, self._quotes_ours = lines, quotes_ours
        self._ours: dict[int, bool] = {}

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        parser = MarkdownIt("commonmark").disable(["inline", "text_join"])
        spans: list[tuple[int, int]] = []
        for token in parser.parse("\n".join(self._lines)):
            is_outer = token.type == "blockquote_open" and token.map and (not spans or token.map[0] >= spans[-1][1])
            if is_outer and token.map:
                spans.append((token.map[0], token.map[1]))
        return spans

    def hold(self, number: int) -> bool:
        """Whether the line belongs to a quote, with or without a mark of its own."""
        last = self._last(number)
        return last >= 0 and number <= self._spans[last][1]

    def last_is_ours(self, number: int) -> bool:
        """Whether the quote that the line follows, or belongs to, is of our comment."""
        last = self._last(number) if self._quotes_ours else -1
        if last < 0 or self._quotes_ours is None:
            return False
        if last not in self._ours:
            quoted = (line for line in self._lines[slice(*self._spans[last])] if line.lstrip().startswith(">"))
            self._ours[last] = self._quotes_ours("\n".join(quoted))
        return self._ours[last]

    def _last(self, number: int) -> int:
        return bisect_right(self._spans, (number - 1, len(self._lines) + 1)) - 1


def _shown_words(text: str) -> list[str]:
    """The words of a text as Markdown shows them, without tags and addresses of links."""
    bare = html.unescape(_UNSHOWN.sub(" ", text))
    return re.findall(r"[^\W_]+", bare.lower())


_UNSHOWN = re.compile(r"\]\([^()\s]{0,2000}\)|<[^<>]{0,2000}>")


def _runs(words: list[str]) -> set[tuple[str, str, str]]:
    return set(zip(words, words[1:], words[2:], strict=False))
