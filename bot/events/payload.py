"""What all handlers take from a payload."""

from __future__ import annotations

from typing import Any

from gidgethub import sansio

from bot.tasks import Kind, Task


def task(event: sansio.Event, kind: Kind, why: str, **more: Any) -> Task:
    """A task with what every delivery tells: installation, repository and sender, each where it is told."""
    data = event.data
    sender = data.get("sender") or {}
    repository = data.get("repository") or {}
    return Task(
        kind=kind,
        key=event.delivery_id,
        installation=(data.get("installation") or {}).get("id", 0),
        why=why,
        who=sender.get("login", ""),
        is_bot=sender.get("type") == "Bot",
        repository_id=repository.get("id", 0),
        repository=repository.get("full_name", ""),
        **more,
    )
