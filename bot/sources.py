"""The names of a pair's texts (`checker.pair.Pair.texts`) in words, and where on GitHub each can be read."""

from __future__ import annotations

import re
from urllib.parse import quote

from bot.checked import Checked
from bot.inert import inert
from checker.evidence import Evidence

_ELSEWHERE = r"(?:([^/]+/[^/]+)/)?"
_ISSUE = rf"issue/{_ELSEWHERE}(\d+|unnumbered-\d+)(?:-again-\d+)?"
# The first that fits: a repository may be called `7/comment`, but rarely is.
_WORDS = (
    (rf"{_ISSUE}/edited", "issue {1}{of}, as edited"),
    (rf"{_ISSUE}/comment/(\d+)", "comment {2} on issue {1}{of}"),
    (_ISSUE, "issue {1}{of}"),
    (rf"related/pr/{_ELSEWHERE}(\d+)", "pull request {1}{of}"),
    (rf"related/issue/{_ELSEWHERE}(\d+)", "issue {1}{of}"),
    (r"pr/title()", "the pull request's title"),
    (r"pr/description()", "the pull request's description"),
    (r"pr/comment/()(\d+)", "comment {1} on the pull request"),
    (r"pr/review/()(\d+)", "review comment {1}"),
    (r"commit/()(\d+)", "the message of commit {1}"),
    (r"patch/code()", "the code patch"),
    (r"patch/test()", "the test patch"),
)
_NAMES = tuple((re.compile(pattern), words) for pattern, words in _WORDS)
_IN_SENTENCE = re.compile(r"(?<![\w/.-])(?:issue|related|pr|commit|patch)/[\w./-]*\w")
_SIGNAL = re.compile(r"(?:^|(?<=: ))S\d+: ")
_PLAIN = re.compile(r"[\w./-]*(?:#[\w-]+)?", re.ASCII)
_GITHUB = "https://github.com"


def in_words(name: str) -> str:
    """`issue/7/comment/2` as "comment 2 on issue 7"; a name of no known form as it is. Not inert."""
    for pattern, words in _NAMES:
        match = pattern.fullmatch(name)
        if match is not None:
            groups = match.groups()
            return words.format(*groups, of=f" of {groups[0]}" if groups[0] else "")
    return name


def sentence(text: str) -> str:
    """A sentence of a role for people: names of texts in words, and no numbers of signals. Not inert."""
    return _IN_SENTENCE.sub(lambda match: in_words(match[0]), _SIGNAL.sub("", text))


def place(evidence: Evidence, checked: Checked, web: str) -> str:
    """Where a quote stands, in Markdown, linked where it can be read."""
    if evidence.path is not None:
        where = f"{in_words(evidence.source)}, {evidence.path}, line {evidence.line}"
        # Only an added line is sure to stand in the head; a removed one has a number in the file before.
        return linked(where, line_address(checked, web, evidence.path, evidence.line) if evidence.is_added else None)
    return linked(in_words(evidence.source), _readable(evidence, web))


def linked(text: str, address: str | None) -> str:
    """Inert text, as a link where there is an address."""
    return f"[{inert(text, 300)}]({address})" if address else inert(text, 300)


def line_address(checked: Checked, web: str, path: str, line: int | None) -> str | None:
    """The permanent address of a line in the head that was checked; None for what is no path of a repository."""
    if not path or len(path) > 500 or {"", ".", ".."} & set(path.split("/")) or line is None or line < 1:
        return None
    address = quote(path, errors="replace")
    return f"{web}/{checked.repository}/blob/{checked.head_sha}/{address}#L{line}"


def _readable(evidence: Evidence, web: str) -> str | None:
    """The address of a text on this GitHub. A link to another pull request would leave "mentioned this" there, which
    the next check of that one would read; github.com leads past that by another host name.
    """
    url = evidence.url or ""
    if not url.startswith(f"{web}/") or _PLAIN.fullmatch(url.removeprefix(f"{web}/")) is None:
        return None
    elsewhere = evidence.source.startswith("related/") and web == _GITHUB
    return url.replace(_GITHUB, "https://redirect.github.com", 1) if elsewhere else url
