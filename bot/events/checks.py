"""Check runs and suites: somebody presses a button. For forks GitHub names no pull request; ours carry it."""

from __future__ import annotations

from gidgethub import routing, sansio

from bot.checks import RECHECK, pull_request_of
from bot.events.payload import task
from bot.tasks import Kind, Task

router = routing.Router()


@router.register("check_run", action="rerequested")
async def check_again(event: sansio.Event, tasks: list[Task]) -> None:
    """GitHub's own button."""
    _check(event, tasks, "rerequested")


@router.register("check_run", action="requested_action")
async def check_again_by_button(event: sansio.Event, tasks: list[Task]) -> None:
    """Ours."""
    if (event.data.get("requested_action") or {}).get("identifier") == RECHECK:
        _check(event, tasks, "recheck button")


@router.register("check_suite", action="rerequested")
async def check_the_head_again(event: sansio.Event, tasks: list[Task]) -> None:
    """All checks of a head; which pull requests it belongs to, we know."""
    tasks.append(task(event, Kind.HEAD_CHECK, "rerequested", head_sha=event.data["check_suite"]["head_sha"]))


def _check(event: sansio.Event, tasks: list[Task], why: str) -> None:
    run = event.data["check_run"]
    address = pull_request_of(run.get("external_id"))
    if address is None:
        return
    if address.repository.lower() == event.data["repository"]["full_name"].lower():
        tasks.append(task(event, Kind.CHECK, why, number=address.number, head_sha=run["head_sha"]))
    else:
        # The repository has another name since; by its number we know which pull requests have this head.
        tasks.append(task(event, Kind.HEAD_CHECK, why, head_sha=run["head_sha"]))
