"""Text that a reader does not see, and text that addresses a model: both are told, neither is obeyed.

A pattern here costs an honest writer a doubtful verdict if it is too wide, so each wants more than a topic: talk
about models, prompts and markup is ordinary; an order to whoever checks this pull request is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_MOST = 8
_HTML_COMMENT = re.compile(r"<!--(.*?)(?:-->|\Z)", re.DOTALL)
# What Markdown shows as code: a fenced block (up to its closing fence or the end), or a span within one line.
_SHOWN_AS_CODE = re.compile(r"^[ \t]{0,3}(```|~~~).*?(?:^[ \t]{0,3}\1|\Z)|`[^`\n]+`", re.DOTALL | re.MULTILINE)

# Zero-width space, joiners, word joiner, invisible operators, soft hyphen, byte order mark.
_UNSEEN = "\u200b-\u200d\u2060-\u2064\u00ad\ufeff"
_UNSEEN_CHARACTER = re.compile(f"[{_UNSEEN}]")
# One of them hides something inside a Latin word, or as a run: copied pages bring them at the edges of words, German
# soft hyphens inside; emoji, Arabic, Persian, Indic and Thai need them. Tags make flags, which are short.
_HIDING = re.compile(
    f"(?<=[A-Za-z])[\u200b-\u200d\u2060-\u2064\ufeff](?=[A-Za-z])|[{_UNSEEN}]{{4}}"
    "|(?<![\U0001f3f4\U000e0000-\U000e007f])[\U000e0000-\U000e007f]|[\U000e0000-\U000e007f]{8}"
)
# Orders from right to left what is written from left to right; in a line of Hebrew or Arabic that is no news.
_REORDERING = re.compile("\u202e|[\u202b\u2067](?![^\n]{0,100}[\u0590-\u08ff])|\u202d(?=[^\n]{0,100}[\u0590-\u08ff])")

_CHECKERS = r"(?:reviewers?|checkers?|analy[sz]ers?|agents?|assistants?|models?)"
# Searched in lower case and without a boundary in front, since that is several times faster; see `_first`.
_ORDERS = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?:ignore|disregard|forget|override)\s+(?:(?:all|any|the|your|of)\s+){0,3}(?:previous|prior|above|earlier|"
        r"preceding|foregoing)\s+(?:(?:system|user)\s+)?(?:instructions?|prompts?|directions?|directives?)\b",
        r"(?:ignore|disregard|forget)\s+(?:all|everything)\s+(?:(?:of|the|your)\s+){0,2}(?:previous|prior|above|earlier|"
        r"preceding)\b",
        rf"(?:attention|dear|hey|note\s+(?:to|for)|if\s+you\s+are)[,:]?\s+(?:(?:all|any|an?|the|every)\s+){{0,2}}"
        rf"(?:(?:ai|llm|automated|language)[ -]{_CHECKERS}|ai\b|llm\b|paichecker\b)",
        rf"(?:ai|llm|automated)[ -](?:code[ -])?{_CHECKERS}\s?[,:][^.\n]{{0,60}}\b(?:approve|report|conclude|mark|"
        r"label|declare|classify|answer|output|return|ignore|skip|treat|you)\b",
        r"(?:ai|llm)[ -](?:code[ -])?(?:reviewers?|checkers?|analy[sz]ers?)\b[^.\n]{0,40}"
        r"(?:must|should|shall|please)\b[^.\n]{0,40}\b(?:approve|report|conclude|mark|label|declare|classify|ignore|"
        r"treat)\b",
        r"paichecker\b[^.\n]{0,40}\b(?:must|should|shall|please)\b",
        r"(?:report|answer|output|return|respond|conclude|declare|mark|label|classify|say)\b[^.\n]{0,40}"
        r"(?:\bno[ _]misalignments?\b|[\"']?\bholds\b[\"']?\s{0,9}[:=]\s{0,9}false)",
        r"(?:report|conclude|declare|mark|classify|treat|judge|consider)\s+(?:(?:this|the)\s+){0,2}(?:pr|pull\s+request|"
        r"pair|patch|issue|everything|it)\s+(?:as\s+|is\s+|to\s+be\s+)(?:fully\s+|perfectly\s+)?aligned\b",
    )
)
# What would forge a model's own turns. Where Markdown shows code, it is an example of an interface.
_FORGERIES = tuple(
    re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for pattern in (
        r"</?(?:tool_results?|tool_use|function_calls?|function_results?)\b[^>\n]{0,80}>",
        r"<\|(?:im_start|im_end|system|assistant|user|endoftext)\|>|\[/?INST\]|<</?SYS>>",
        # A sentence after the tag: in XML there stand values and further tags.
        r"<(?:system|assistant|instructions?|artifact|document)\b[^>\n]{0,40}>\s{0,9}[a-z']+,?(?:\s[a-z']+,?){3}",
        r"^[ \t]*(?:<!--[ \t]*)?(?:#{1,3}[ \t]*)?\[?(?:new\s+)?system\s+(?:note|message|override|instructions?)\]?"
        r"[ \t]*:",
        r"[\"']?\b(?:tool_use_id|tool_result)\b[\"']?\s{0,9}[:=]",
        r"^[ \t]*(?:<!--[ \t]*)?you\s+are\s+(?:now\s+)?an?\s+(?:helpful\s+)?(?:ai|llm|language[ -]model)\b",
    )
)


@dataclass(frozen=True)
class HiddenPassage:
    """A passage worth telling. `what` says it in words; `steers`: it seems to be meant for a model."""

    what: str
    quote: str
    steers: bool


def hidden_passages(body: str, *, is_code: bool = False) -> Iterator[HiddenPassage]:
    """At most a few passages of a text. Templates' HTML comments are plain hidden text.

    Code may rightly hold markup, invisible characters and prompts for models; there only orders to a checker and
    characters that reorder text are told.
    """
    if is_code:
        looked_for = (*_steering(body, _ORDERS), *_characters(body, _REORDERING, "characters that reorder text"))
    else:
        looked_for = (*_steering(body, _ORDERS), *_forgeries(body), *_unseen(body), *_comments(body))
    return iter(dict.fromkeys(looked_for[:_MOST]))


def _steering(body: str, patterns: tuple[re.Pattern[str], ...]) -> Iterator[HiddenPassage]:
    hidden_spans = [match.span() for match in _HTML_COMMENT.finditer(body)] if "<!--" in body else []
    for at in _first_matches(body, patterns):
        hidden = any(start <= at < end for start, end in hidden_spans)
        what = "a hidden passage that addresses a model" if hidden else "a passage that addresses a model"
        yield HiddenPassage(what, _line(body, at), steers=True)


def _first_matches(body: str, patterns: tuple[re.Pattern[str], ...]) -> Iterator[int]:
    """Where each pattern first matches the text as it looks, that is without characters that nobody sees."""
    seen, places = body, None
    if not body.isascii() and _UNSEEN_CHARACTER.search(body):
        seen = _UNSEEN_CHARACTER.sub("", body)
        places = [at for at, character in enumerate(body) if not _UNSEEN_CHARACTER.match(character)]
    lowered = _lowered(seen)
    for pattern in patterns:
        at = _first(pattern, lowered)
        if at is not None:
            yield places[at] if places else at


def _lowered(text: str) -> str:
    """In lower case, character by character, so that places stay the same (some capitals become two letters)."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _first(pattern: re.Pattern[str], lowered: str) -> int | None:
    """Where a pattern first matches at the beginning of a word, if it begins with one."""
    for match in pattern.finditer(lowered):
        before, first = lowered[match.start() - 1 : match.start()], match[0][:1]
        if not (_is_wordy(before) and _is_wordy(first)):
            return match.start()
    return None


def _is_wordy(character: str) -> bool:
    return character.isalnum() or character == "_"


def _forgeries(body: str) -> Iterator[HiddenPassage]:
    prose = _SHOWN_AS_CODE.sub(lambda match: " " * len(match[0]), body) if "`" in body or "~~~" in body else body
    for at in _first_matches(prose, _FORGERIES):
        yield HiddenPassage("a passage that imitates a model's own turns", _line(body, at), steers=True)


def _unseen(body: str) -> Iterator[HiddenPassage]:
    yield from _characters(body, _HIDING, "invisible characters")
    yield from _characters(body, _REORDERING, "characters that reorder text")


def _characters(body: str, pattern: re.Pattern[str], what: str) -> Iterator[HiddenPassage]:
    match = None if body.isascii() else pattern.search(body)
    if match is not None:
        yield HiddenPassage(f"{what} (U+{ord(match[0][0]):04X})", _line(body, match.start()), steers=True)


def _comments(body: str) -> Iterator[HiddenPassage]:
    if "<!--" not in body:
        return
    for match in _HTML_COMMENT.finditer(body):
        if match[1].strip():
            yield HiddenPassage(
                "an HTML comment, which a reader does not see", match[1].strip()[:200].strip(), steers=False
            )


def _line(body: str, at: int) -> str:
    start = max(body.rfind("\n", 0, at) + 1, at - 100)
    end = body.find("\n", at)
    return body[start : end if end >= 0 else len(body)][:240].strip()
