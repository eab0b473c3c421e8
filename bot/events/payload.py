"""What all handlers take from a payload."""

from __future__ import annotations

from typing import Any, get_origin, get_type_hints

from gidgethub import sansio

from bot.tasks import Kind, Task

_TYPES = {name: get_origin(kind) or kind for name, kind in get_type_hints(Task).items()}
# What databases hold in a whole number.
_MOST = 1 << 63
_SUBJECTS = frozenset({"issue", "comment", "pull_request", "check_run", "check_suite"})


def task(event: sansio.Event, kind: Kind, why: str, **more: Any) -> Task:
    """A task with what every delivery tells: installation, repository and sender, each where it is told.

    Raises TypeError where one of these is not of its type, without its value.
    """
    data = event.data
    sender = data.get("sender") or {}
    repository = data.get("repository") or {}
    told = {
        "key": event.delivery_id,
        "installation": (data.get("installation") or {}).get("id", 0),
        "who": sender.get("login", ""),
        "is_bot": sender.get("type") == "Bot",
        "repository_id": repository.get("id", 0),
        "repository": repository.get("full_name", ""),
        **more,
    }
    odd = [name for name, value in told.items() if not _is_a(_TYPES[name], value)]
    if odd:
        raise TypeError(f"of another type: {', '.join(odd)}")
    return Task(kind=kind, why=why, **told)


def _is_a(kind: type, value: object) -> bool:
    if isinstance(value, tuple):
        return kind is tuple and all(_is_a(int, one) for one in value)
    return type(value) is kind and not (isinstance(value, int) and value >= _MOST)


def require_whole(event: sansio.Event, *, repository: bool) -> None:
    """Raises TypeError where a payload that takes something away tells of something smaller.

    The name of the event is not signed: “deleted”, signed for a comment, is not to be taken for that of a repository.
    """
    smaller = _SUBJECTS if repository else _SUBJECTS | {"repository"}
    if smaller & event.data.keys():
        raise TypeError(f"a body of another event than {event.event}")
