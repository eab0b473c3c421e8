"""Installations: what was taken away is forgotten; suspended ones only lose their tokens."""

from __future__ import annotations

from gidgethub import routing, sansio

from bot.events.payload import require_whole, task
from bot.tasks import Kind, Task

router = routing.Router()


@router.register("installation", action="deleted")
async def forget_the_installation(event: sansio.Event, tasks: list[Task]) -> None:
    """Everything that was kept for it goes."""
    require_whole(event, repository=False)
    tasks.append(task(event, Kind.FORGET, "uninstalled"))


@router.register("installation", action="suspend")
@router.register("installation", action="unsuspend")
@router.register("installation", action="new_permissions_accepted")
async def drop_its_tokens(event: sansio.Event, tasks: list[Task]) -> None:
    """They are good no more, or can do less than new ones."""
    tasks.append(task(event, Kind.TOKENS, event.data["action"]))


@router.register("installation_target", action="renamed")
async def take_the_new_login(event: sansio.Event, tasks: list[Task]) -> None:
    """That of who owns the repositories. An enterprise has none."""
    former = ((event.data.get("changes") or {}).get("login") or {}).get("from")
    login = event.data["account"].get("login")
    if former and login:
        tasks.append(task(event, Kind.ACCOUNT_RENAMED, "renamed", repository=login, former=former, repository_id=0))


@router.register("installation_repositories", action="removed")
async def forget_repositories(event: sansio.Event, tasks: list[Task]) -> None:
    """One task for all of them: there may be thousands, and GitHub waits."""
    gone = tuple(repository["id"] for repository in event.data["repositories_removed"])
    tasks.append(task(event, Kind.TAKEN_OUT, "repositories removed", repositories=gone))
