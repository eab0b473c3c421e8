"""Where a text names issues and pull requests, in the ways that GitHub turns into links.

https://docs.github.com/en/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FLAGS = re.IGNORECASE | re.ASCII
_NUMBER = r"[1-9][0-9]{0,6}"
_REPOSITORY = r"[\w-]{1,39}/[\w.-]{1,100}"

_WORTH_READING = re.compile(r"#[1-9]|\bgh-[1-9]|/(?:issues|pull)/[1-9]", re.IGNORECASE)
# Every alternative begins with a character of its own: that lets the search skip all others.
_CANDIDATE = re.compile(
    r"\[(?P<label>[^\[\]\n]{0,200})\]\((?P<target>[^\s()]{1,500})(?:[ ]\"[^\"\n]{0,200}\")?\)"
    r"|<a\s(?P<attributes>[^<>]{0,500})>(?P<inner>[^<>]{0,200})</a>"
    r"|(?P<url>https?://[^\s<>()\[\]\"'`|\0]+)"
    rf"|\#(?P<number>{_NUMBER})(?!\w|\.\d)"
    rf"|GH-(?<![\w-]GH-)(?P<gh>{_NUMBER})(?!\w)",
    _FLAGS,
)
_REPOSITORY_BEFORE = re.compile(rf"(?<![\w./-]){_REPOSITORY}\Z", _FLAGS)
_LONGEST_REPOSITORY = 141
# No reference: "C#9", "&#39;", "page/#1", "\#1", "id=#1". One for its writer, though not for GitHub: "fixes#1".
_PART_OF_A_WORD = re.compile(r"[\w&#=\\/]\Z", _FLAGS)
_GLUED = re.compile(r"(?:\d/|\b(?:issue|bug|pr|fix|fix(?:es|ed)|close[sd]?|resolve[sd]?))\Z", _FLAGS)
_COLOUR = re.compile(r"(?:colou?r|background|fill|stroke|border)[\w-]*[\"']?\s*[:=]\s*[\"']?\Z", _FLAGS)

_ADDRESS = re.compile(
    rf"https?://(?P<host>[^/\s]+)/(?P<repository>{_REPOSITORY})/(?:issues|pull)/(?P<number>{_NUMBER})(?!\w)",
    _FLAGS,
)
_RELATIVE_ADDRESS = re.compile(rf"(?:\.\./)+(?:issues|pull)/(?P<number>{_NUMBER})(?!\w)", _FLAGS)
_HREF = re.compile(r"href=[\"']?([^\s\"'>]+)", _FLAGS)
_LABEL_NUMBER = re.compile(rf"(?:{_REPOSITORY})?\#{_NUMBER}", _FLAGS)
_LABEL_OF_NUMBER_ALONE = re.compile(rf"\s*(?:(?:{_REPOSITORY})?\#|GH-|https?://\S+/){_NUMBER}\s*", _FLAGS)
# Forges whose addresses have GitHub's shape; any other host may be an Enterprise Server.
_OTHER_FORGES = frozenset({"bitbucket.org", "codeberg.org", "gitea.com", "gitlab.com"})


@dataclass(frozen=True, slots=True)
class Named:
    """One place, as offsets in the text, where an issue or pull request is named.

    `repository` is `owner/name`, or None where the text does not say. `is_bare`: the number or address stands
    there itself; else it is the target of a link with a wording of its own.
    """

    start: int
    end: int
    number: int
    repository: str | None
    is_bare: bool = True


def may_name(text: str) -> bool:
    """Whether it is worth looking: most texts hold no number at all."""
    return _WORTH_READING.search(text) is not None


def named(prose: str) -> Iterator[Named]:
    """All places in order. A link counts once, by its address: its label, `#1` too, may be another tracker's.

    A number of six digits counts (some repositories are that far), unless it is given as a colour; a longer one
    than seven does not.
    """
    for match in _CANDIDATE.finditer(prose):
        found = _numbered(match, prose) if match["number"] or match["gh"] else _addressed(match)
        if found is not None:
            yield found


def _numbered(match: re.Match[str], prose: str) -> Named | None:
    start = match.start()
    if match["gh"]:
        return Named(start, match.end(), int(match["gh"]), None)
    before = prose[max(0, start - _LONGEST_REPOSITORY) : start]
    number = int(match["number"])
    if repository := _REPOSITORY_BEFORE.search(before):
        return Named(start - len(repository[0]), match.end(), number, repository[0])
    if _PART_OF_A_WORD.search(before[-1:]) and not _GLUED.search(before[-10:]):
        return None
    return None if _COLOUR.search(before[-30:]) else Named(start, match.end(), number, None)


def _addressed(match: re.Match[str]) -> Named | None:
    if match["url"]:
        return _by_address(match["url"], match.start(), match.end())
    label = "label" if match["target"] else "inner"
    href = _HREF.search(match["attributes"] or "")
    target = match["target"] or (href[1] if href else "")
    number = _LABEL_NUMBER.search(match[label])
    start = match.start(label) + number.start() if number and number.start() else match.start()
    is_bare = _LABEL_OF_NUMBER_ALONE.fullmatch(match[label]) is not None
    if relative := _RELATIVE_ADDRESS.match(target):
        return Named(start, match.end(), int(relative["number"]), None, is_bare)
    return _by_address(target, start, match.end(), is_bare=is_bare)


def _by_address(url: str, start: int, end: int, *, is_bare: bool = True) -> Named | None:
    address = _ADDRESS.match(url)
    if address is None or address["host"].lower() in _OTHER_FORGES:
        return None
    return Named(start, end, int(address["number"]), address["repository"], is_bare)
