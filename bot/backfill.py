"""`paichecker-bot backfill`: the open pull requests of a repository that were there before the App."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from bot.auth import Installations, connect_app
from bot.examining import BACKFILL
from bot.jobs import outside
from bot.settings import Settings
from bot.tasks import Kind, Task
from checker.github.client import GitHubError, NotFoundError
from checker.github.sample import linked_pull_requests


class BackfillError(Exception):
    """The repository cannot be gone through. The message says why, and what to do."""


async def backfill(settings: Settings, repository: str, *, show: bool, say: Callable[[str], None]) -> None:
    """Asks for a check of every open pull request that GitHub links to an issue; the running server makes them.

    Without `show` they are recorded and nothing is posted. Raises BackfillError.
    """
    async with connect_app(settings.github, settings.app_id, settings.private_key) as installations:
        try:
            installation, repository_id, name = await _place(installations, repository)
            async with installations.client(installation, repository_id) as client:
                numbers = await linked_pull_requests(client, name, "open", None)
        except GitHubError as error:
            raise BackfillError(f"{repository}: {error}") from None
    day = f"{datetime.now(UTC):%Y-%m-%dT%H:%M}"
    async with outside(settings.database_url.get_secret_value()) as enqueue:
        for number in numbers:
            why = "backfill, shown" if show else BACKFILL
            key = f"backfill-{day}-{repository_id}-{number}"
            await enqueue(Task(Kind.CHECK, key, installation, why, "", False, repository_id, name, number))
    shown = "shown" if show else "recorded, and not shown (--show posts comments and check runs)"
    count = f"{name}: {len(numbers)} open pull requests with a linked issue"
    say(f"{count}. The running server checks them; they are {shown}.")


async def _place(installations: Installations, repository: str) -> tuple[int, int, str]:
    """Installation, and id and present name of a repository that the App is installed on."""
    async with installations.app_client() as app:
        try:
            installation = int((await app.item(f"/repos/{repository}/installation", {}))["id"])
        except NotFoundError:
            raise BackfillError(f"{repository}: the App is not installed there.") from None
        wanted = {"repositories": [repository.partition("/")[2]], "permissions": {"metadata": "read"}}
        answer = await app.send("POST", f"/app/installations/{installation}/access_tokens", wanted, again=True)
    found = answer["repositories"][0]
    return installation, int(found["id"]), str(found["full_name"])
