"""Issues: what a pull request is measured against has changed."""

from __future__ import annotations

from gidgethub import routing, sansio

from bot.events.payload import task
from bot.tasks import SOON, Kind, Task

router = routing.Router()


@router.register("issues", action="edited")
@router.register("issues", action="transferred")
@router.register("issues", action="deleted")
async def check_what_is_linked(event: sansio.Event, tasks: list[Task]) -> None:
    """The pull requests whose last check read this issue."""
    why = f"{event.data['action']} issue"
    tasks.append(task(event, Kind.ISSUE_CHANGED, why, number=event.data["issue"]["number"], delay=SOON))
