"""One module for each kind of event; each handler turns a delivery into tasks, and does nothing else.

docs.github.com/webhooks/webhook-events-and-payloads
"""

from __future__ import annotations

from gidgethub import routing, sansio

from bot.events import checks, installations, issue_comments, issues, pull_requests, repositories
from bot.tasks import Task

router = routing.Router(
    pull_requests.router,
    issue_comments.router,
    issues.router,
    checks.router,
    repositories.router,
    installations.router,
)


async def tasks_of(event: sansio.Event) -> list[Task]:
    """What a verified delivery asks for; nothing for most, and for those that come from no installation."""
    tasks: list[Task] = []
    await router.dispatch(event, tasks)
    return [task for task in tasks if task.installation]
