"""Repositories: another name, another owner, private from now on, or gone."""

from __future__ import annotations

from gidgethub import routing, sansio

from bot.events.payload import require_whole, task
from bot.tasks import Kind, Task

router = routing.Router()


@router.register("repository", action="renamed")
@router.register("repository", action="transferred")
async def take_the_new_name(event: sansio.Event, tasks: list[Task]) -> None:
    """Its number stays."""
    tasks.append(task(event, Kind.RENAMED, event.data["action"], former=_former(event)))


def _former(event: sansio.Event) -> str:
    """Its name until now; empty where the delivery does not tell it."""
    owner, _, name = event.data["repository"]["full_name"].partition("/")
    changes = event.data.get("changes") or {}
    was = (changes.get("repository") or {}).get("name", {}).get("from", name)
    accounts = (changes.get("owner") or {}).get("from") or {}
    by = next((account["login"] for account in accounts.values() if account), owner)
    return f"{by}/{was}" if changes else ""


@router.register("repository", action="privatized")
async def take_back_what_is_quoted_elsewhere(event: sansio.Event, tasks: list[Task]) -> None:
    """Pull requests of other repositories that read its issues are checked again, without them."""
    tasks.append(task(event, Kind.CLOSED_OFF, "privatized"))


@router.register("repository", action="deleted")
async def forget_the_repository(event: sansio.Event, tasks: list[Task]) -> None:
    """Nothing is kept of it."""
    require_whole(event, repository=True)
    tasks.append(task(event, Kind.FORGET, "repository deleted"))
