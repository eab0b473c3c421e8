"""Installations: what was taken away is forgotten; suspended ones only lose their tokens."""

from __future__ import annotations

from dataclasses import replace

from gidgethub import routing, sansio

from bot.events.payload import task
from bot.tasks import Kind, Task

router = routing.Router()


@router.register("installation", action="deleted")
async def forget_the_installation(event: sansio.Event, tasks: list[Task]) -> None:
    """Everything that was kept for it goes."""
    tasks.append(task(event, Kind.FORGET, "uninstalled"))


@router.register("installation", action="suspend")
@router.register("installation", action="unsuspend")
@router.register("installation", action="new_permissions_accepted")
async def drop_its_tokens(event: sansio.Event, tasks: list[Task]) -> None:
    """They are good no more, or can do less than new ones."""
    tasks.append(task(event, Kind.TOKENS, event.data["action"]))


@router.register("installation_repositories", action="removed")
async def forget_repositories(event: sansio.Event, tasks: list[Task]) -> None:
    """Each repository that was taken out, and all tokens."""
    tasks.append(task(event, Kind.TOKENS, "repositories removed"))
    for number, repository in enumerate(event.data.get("repositories_removed") or ()):
        gone = task(event, Kind.FORGET, "repository removed")
        here = {"repository_id": repository["id"], "repository": repository["full_name"]}
        tasks.append(replace(gone, key=f"{gone.key}/{number}", **here))
