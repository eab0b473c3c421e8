"""Patterns of paths and logins as GitHub's workflow files write them, matched in linear time for each wildcard.

`*` stands for anything but a slash, `**` for any folders, `?` for one character, `[ab]` for one of several.
https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#filter-pattern-cheat-sheet
Differences: `**` inside a name is `*`, a pattern that ends in a slash takes all below it, and there is no `!`.
"""

from __future__ import annotations

import fnmatch
import re
from functools import lru_cache

_FOLDERS = None
"""A part that stands for any number of folders."""


def matches_path(pattern: str, path: str) -> bool:
    """Whether a path of the repository (`docs/index.md`) matches."""
    parts, names = _parts(pattern), path.split("/")
    # Where a part fails, only the last `**` may take one folder more: earlier ones could gain nothing by it.
    at, name, folders, resume = 0, 0, -1, 0
    while name < len(names):
        part = parts[at] if at < len(parts) else re.compile(r"(?!)")
        if part is _FOLDERS:
            folders, resume, at = at, name, at + 1
        elif part.fullmatch(names[name]):
            at, name = at + 1, name + 1
        elif folders >= 0:
            resume += 1
            at, name = folders + 1, resume
        else:
            return False
    return all(part is _FOLDERS for part in parts[at:])


def matches_login(pattern: str, login: str) -> bool:
    """Whether a login matches, in any case. Only `*` is special: `[bot]` ends the logins of Apps."""
    return fnmatch.fnmatchcase(login.lower(), pattern.lower().replace("[", "[[]"))


@lru_cache(maxsize=1024)
def _parts(pattern: str) -> tuple[re.Pattern[str] | None, ...]:
    whole = f"{pattern}**" if pattern.endswith("/") else pattern
    parts: list[re.Pattern[str] | None] = []
    for part in whole.removeprefix("./").removeprefix("/").split("/"):
        if part.startswith("**"):
            parts.append(_FOLDERS)
        if part != "**":
            # fnmatch writes atomic groups: what a `*` took is never tried again.
            parts.append(re.compile(fnmatch.translate(part)))
    return tuple(parts)
