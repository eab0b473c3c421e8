"""Titles and bodies as they stood at a moment.

`userContentEdits` holds every version of a body once it was edited: `diff` is the whole text as of `editedAt`, or null
where somebody deleted that version. Titles are no part of it; a RenamedTitleEvent holds the title before.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

Json = dict[str, Any]


def first_title(node: Json) -> str:
    """The title before anybody renamed it."""
    return str(next((event["previousTitle"] for event in _renames(node)), node["title"]))


def title_at(node: Json, until: datetime) -> str:
    """The title at a moment: the one that the first later renaming replaced."""
    later = (event["previousTitle"] for event in _renames(node) if _time(event["createdAt"]) > until)
    return str(next(later, node["title"]))


def first_body(node: Json) -> tuple[str, bool]:
    """The body before anybody edited it, and whether it is known; if not, the oldest version that is."""
    edits = _edits(node)
    if not edits:
        return node["body"], True
    kept = next((edit["diff"] for edit in edits if edit["diff"] is not None), node["body"])
    return kept, node["includesCreatedEdit"] and edits[0]["diff"] is not None


def body_at(node: Json, until: datetime) -> tuple[str, bool]:
    """The body at a moment, and whether it is known; if not, the nearest older version, else the first."""
    edits = _edits(node)
    if not edits or _time(edits[-1]["editedAt"]) <= until:
        return node["body"], True
    past = [edit["diff"] for edit in edits if _time(edit["editedAt"]) <= until]
    if not past:
        return first_body(node)
    kept = next((text for text in reversed(past) if text is not None), None)
    return kept if kept is not None else first_body(node)[0], past[-1] is not None


def _renames(node: Json) -> list[Json]:
    events = [event for event in node["timelineItems"]["nodes"] if event["__typename"] == "RenamedTitleEvent"]
    return sorted(events, key=lambda event: _time(event["createdAt"]))


def _edits(node: Json) -> list[Json]:
    """Oldest first; GitHub lists the newest first, which counts for those of one second."""
    edits: list[Json] = node["userContentEdits"]["nodes"][::-1]
    edits.sort(key=lambda edit: _time(edit["editedAt"]))
    return edits


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
