"""Repositories: another name, another owner, private from now on, or gone."""

from __future__ import annotations

from gidgethub import routing, sansio

from bot.events.payload import task
from bot.tasks import Kind, Task

router = routing.Router()


@router.register("repository", action="renamed")
@router.register("repository", action="transferred")
async def take_the_new_name(event: sansio.Event, tasks: list[Task]) -> None:
    """Its number stays."""
    tasks.append(task(event, Kind.RENAMED, event.data["action"]))


@router.register("repository", action="privatized")
async def take_back_what_is_quoted_elsewhere(event: sansio.Event, tasks: list[Task]) -> None:
    """Pull requests of other repositories that read its issues are checked again, without them."""
    tasks.append(task(event, Kind.CLOSED_OFF, "privatized"))


@router.register("repository", action="deleted")
async def forget_the_repository(event: sansio.Event, tasks: list[Task]) -> None:
    """Nothing is kept of it."""
    tasks.append(task(event, Kind.FORGET, "repository deleted"))
