"""Comments: on a pull request they may hold commands, on an issue they may change what is asked."""

from __future__ import annotations

from gidgethub import routing, sansio

from bot.events.payload import task
from bot.tasks import LATER, Kind, Task

router = routing.Router()


@router.register("issue_comment", action="created")
@router.register("issue_comment", action="edited")
async def read_the_comment(event: sansio.Event, tasks: list[Task]) -> None:
    """The comment itself is read from the API: it may have been edited since, or be gone."""
    issue = event.data["issue"]
    if "pull_request" in issue:
        comment = event.data["comment"]["id"]
        tasks.append(task(event, Kind.COMMANDS, event.data["action"], number=issue["number"], comment_id=comment))
    else:
        why = "a comment on a linked issue"
        tasks.append(task(event, Kind.ISSUE_CHANGED, why, number=issue["number"], delay=LATER))


@router.register("issue_comment", action="deleted")
async def note_the_deletion(event: sansio.Event, tasks: list[Task]) -> None:
    """A comment of ours that somebody deleted is not posted again."""
    issue = event.data["issue"]
    if "pull_request" in issue:
        comment = event.data["comment"]["id"]
        tasks.append(task(event, Kind.COMMENT_DELETED, "deleted", number=issue["number"], comment_id=comment))
    else:
        why = "a deleted comment on a linked issue"
        tasks.append(task(event, Kind.ISSUE_CHANGED, why, number=issue["number"], delay=LATER))
