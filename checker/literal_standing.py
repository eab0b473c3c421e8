"""How a literal that both patches share stands: what it does in the test, what in the code, and where else it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import groupby

from checker.literal_readers import Found, Step, read
from checker.literal_text import unescape
from checker.patches import LineKind, Patch


class Standing(StrEnum):
    """How a shared literal stands, from what may ground the label UL to what cannot.

    Only an `UNSPECIFIED` one is told as a signal for it. A `SHORT` one, a word of three letters, would be one but for
    its length, at which too many are shared by chance: it proves nothing, and rules nothing out.
    """

    UNSPECIFIED = "unspecified"
    SHORT = "short"
    FED_IN = "fed-in"
    PASSED_THROUGH = "passed-through"
    COMMENT = "comment"
    IN_ISSUE = "in-issue"
    EXISTED = "existed"


class Use(StrEnum):
    """What a test does with a literal."""

    ASSERTED = "asserted"
    FED_IN = "fed-in"
    UNCLEAR = "unclear"


# Calls by which a program reads something under a name.
_READING = re.compile(
    r"(?:^|[._])(?:get|getattr|hasattr|setattr|pop|has|starts_?with|ends_?with|split|strip|_?get_param|get_safe"
    r"|add_argument|replace|find|index|isinstance|environ|getenv|import_module|require|strn?cmp|strcasecmp"
    r"|encode|decode)$",
    re.IGNORECASE,
)
_ASSERTION = re.compile(
    r"assert|expect|should|raises|warns|throws?\b|match|equal|verify|\brequire\.|contain|tobe|\beq$|\bto$|\bensure"
    r"|(?:has|with)_?(?:message|error|text)",
    re.IGNORECASE,
)
_ASSERTED_NAME = re.compile(
    r"(?:^|_|\b)(?:\w?msg|messages?|match|expect|expected|expectation|exp|errmsg|warnings?|want|golden|snapshot"
    r"|exceptions?)\d?(?:_|\b|$)",
    re.IGNORECASE,
)
# Calls that hand their text on: what stands around them decides. Parameters of a test may be either.
_WRAPPER = re.compile(
    r"dedent|escape|compile|parametrize|warning|^str$|^b$|(?:(?:starts|ends)_?with|search|find|count|index|param|join"
    r"|format|error|exception|append|path|write|list|tuple|set|dict|dumps|includes?|index_?of|str\w{0,4}cmp|strstr|memcmp)$",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
# Where a string that is wrapped over two lines goes on.
_SPLICE = re.compile(r"['\"][ \t]*\\?\n\s*[frbuFRBU]{0,2}['\"]")
_REGEX_ESCAPE = re.compile(r"\\([^\w\s])")
_SPACE = re.compile(r"\s+")
_TRIES = 100


def words(text: str) -> list[str]:
    """The words and numbers of a text."""
    return _WORD.findall(text)


def is_wording(text: str) -> bool:
    """Whether a text is worded (two words or more, with a space) rather than a name or a value."""
    return " " in text and len(words(text)) > 1


def holds(text: str, part: str) -> bool:
    """Whether a text holds a part as words of its own. The first hundred occurrences count."""
    start = text.find(part)
    for _ in range(_TRIES):
        if start < 0:
            break
        end = start + len(part)
        if not (_runs_on(text[start - 1 : start], part[0]) or _runs_on(part[-1], text[end : end + 1])):
            return True
        start = text.find(part, start + 1)
    return False


def _runs_on(before: str, after: str) -> bool:
    return before.isalnum() and after.isalnum()


@dataclass(frozen=True)
class Judge:
    """Judges the literals of one pair of patches. `request` is the issue's text, None when unread."""

    code: Patch
    test: Patch
    request: str | None

    def standing(self, text: str, code: Found, test: Found) -> Standing:
        """How a text stands that a literal of the code and one of the test share."""
        use = use_of(test)
        is_worded = is_wording(text)
        if _is_comment(text, code, test):
            return Standing.COMMENT
        is_new_rendering = self._is_new_rendering(text, code)
        if holds(self._before, text) and not is_new_rendering:
            return Standing.EXISTED
        if holds(self._asked, _SPACE.sub(" ", _whole(text, test) if is_new_rendering else text)):
            return Standing.IN_ISSUE
        if use is Use.FED_IN or (use is Use.UNCLEAR and not is_worded):
            return Standing.FED_IN
        if not is_worded and (is_name(code) or is_name(test) or _is_compared(code)):
            return Standing.PASSED_THROUGH
        return Standing.UNSPECIFIED

    @cached_property
    def _before(self) -> str:
        """What stood in the shown lines before, its wrapped strings joined."""
        files = (*self.code.files, *self.test.files)
        lines = (line.text for file in files for line in file.lines if line.kind is not LineKind.ADDED)
        return _REGEX_ESCAPE.sub(r"\1", unescape(_SPLICE.sub("", "\n".join(lines))))

    def _is_new_rendering(self, text: str, code: Found) -> bool:
        """Whether a fragment, between its placeholders, is no fragment of a former message but only lies within one."""
        is_fragment = code.is_template and text in code.parts and is_wording(text)
        return is_fragment and holds(self._removed, text) and text not in self._former_parts

    @cached_property
    def _removed(self) -> str:
        return "\n".join(line.text for file in self.code.files for line in file.removed())

    @cached_property
    def _former_parts(self) -> frozenset[str]:
        """The fixed parts of the literals that stood in the code's hunks before."""
        parts: set[str] = set()
        for file in self.code.files:
            for _, lines in groupby(file.lines, key=lambda line: line.hunk):
                old = [line.text for line in lines if line.kind is not LineKind.ADDED]
                parts.update(part for found in read(file.path, "\n".join(old), range(len(old))) for part in found.parts)
        return frozenset(parts)

    @cached_property
    def _asked(self) -> str:
        return _SPACE.sub(" ", self.request or "")


def _whole(text: str, test: Found) -> str:
    """What the test asserts around a text: of a new rendering the old words are no news, in the issue neither."""
    return next((part for part in test.parts if text in part), text)


def is_bare(found: Found) -> bool:
    """Whether a string is a statement of its own: documentation."""
    return found.trail[:1] == (Step("bare"),)


def _is_comment(text: str, code: Found, test: Found) -> bool:
    """Whether a match lies in comments or documentation.

    What a test asserts together with its comment marker is generated output: the hunk began inside a template.
    """
    if code.kind == "comment":
        return use_of(test) is not Use.ASSERTED or text[0].isalnum()
    return is_bare(code) or is_bare(test)


def is_name(found: Found) -> bool:
    """Whether something is found under this literal: a key, an attribute, an option."""
    step = found.trail[0] if found.trail else Step("")
    return step.what in ("key", "index", "import") or (step.what == "call" and _READING.search(step.name) is not None)


def _is_compared(found: Found) -> bool:
    return found.trail[:1] == (Step("compare"),)


def use_of(found: Found) -> Use:
    """What the test does with a literal: the first step outwards that tells."""
    uses = (_use_by(step) for step in found.trail)
    return next((use for use in uses if use is not None), Use.UNCLEAR)


def _use_by(step: Step) -> Use | None:
    match step.what:
        case "expected" | "assert" | "compare":
            return Use.ASSERTED
        case "keyword" | "target" | "value":
            return Use.ASSERTED if _ASSERTED_NAME.search(step.name) else None
        case "line":
            return Use.ASSERTED if _ASSERTION.search(step.name) else None
        case "call" if _ASSERTION.search(step.name):
            return Use.ASSERTED
        case "call":
            return None if _WRAPPER.search(step.name) else Use.FED_IN
        case _:
            return None


def in_short(found: Found) -> tuple[object, ...]:
    """What the judgement of a literal depends on: of literals alike in this, one will do."""
    return found.kind, use_of(found), is_name(found), is_bare(found), _is_compared(found)
