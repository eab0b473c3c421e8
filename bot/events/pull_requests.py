"""Pull requests: opened ones are checked at once, pushes and edits after a while, closed ones are asked for thumbs."""

from __future__ import annotations

from gidgethub import routing, sansio

from bot.events.payload import task
from bot.tasks import SOON, Kind, Task

router = routing.Router()

# A changed base changes what is closed and what is changed.
_MATTERS = ("title", "body", "base")


@router.register("pull_request", action="opened")
@router.register("pull_request", action="reopened")
@router.register("pull_request", action="ready_for_review")
async def check_at_once(event: sansio.Event, tasks: list[Task]) -> None:
    """Somebody waits for the answer."""
    tasks.append(_check(event))


@router.register("pull_request", action="synchronize")
async def check_the_push(event: sansio.Event, tasks: list[Task]) -> None:
    """Another push may follow."""
    tasks.append(_check(event, delay=SOON))


@router.register("pull_request", action="edited")
async def check_the_edit(event: sansio.Event, tasks: list[Task]) -> None:
    """Only edits of what is read."""
    if any(name in (event.data.get("changes") or {}) for name in _MATTERS):
        tasks.append(_check(event, delay=SOON))


@router.register("pull_request", action="closed")
async def look_at_thumbs(event: sansio.Event, tasks: list[Task]) -> None:
    """GitHub tells of no reactions; this is the last occasion to look."""
    tasks.append(task(event, Kind.CLOSED, "closed", number=event.data["pull_request"]["number"]))


def _check(event: sansio.Event, delay: int = 0) -> Task:
    pull_request = event.data["pull_request"]
    head = pull_request["head"]["sha"]
    number = pull_request["number"]
    return task(event, Kind.CHECK, event.data["action"], number=number, head_sha=head, delay=delay)
