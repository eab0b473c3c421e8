"""What the App writes on GitHub. Each may be done twice and leaves one trace: what is there already is found first."""

from __future__ import annotations

from typing import Any

from bot.checks import NAME, Body, external_id
from checker.github.client import Client, GitHubError, NotFoundError

_GONE = 410


async def find_comment(client: Client, repository: str, number: int, *, begin: str, login: str) -> int | None:
    """The number of the first comment that begins like this and was written by the App."""
    for comment in await client.pages(f"/repos/{repository}/issues/{number}/comments?per_page=100"):
        author = (comment.get("user") or {}).get("login")
        if author == login and str(comment.get("body") or "").startswith(begin):
            return int(comment["id"])
    return None


async def create_comment(client: Client, repository: str, number: int, body: str) -> int:
    """A new comment. Sent once: look for it before it is sent again."""
    answer = await client.send("POST", f"/repos/{repository}/issues/{number}/comments", {"body": body}, again=False)
    return int(answer["id"])


async def edit_comment(client: Client, repository: str, comment: int, body: str) -> bool:
    """False where somebody deleted it."""
    try:
        await client.send("PATCH", f"/repos/{repository}/issues/comments/{comment}", {"body": body}, again=True)
    except GitHubError as error:
        if isinstance(error, NotFoundError) or error.status == _GONE:
            return False
        raise
    return True


async def read_comment(client: Client, repository: str, comment: int) -> dict[str, Any] | None:
    """A comment, or None where it is gone."""
    try:
        found: dict[str, Any] = await client.item(f"/repos/{repository}/issues/comments/{comment}", {})
    except GitHubError as error:
        if isinstance(error, NotFoundError) or error.status == _GONE:
            return None
        raise
    return found


async def react(client: Client, repository: str, comment: int, content: str) -> None:
    """A reaction; a second one of the same kind changes nothing (docs.github.com/rest/reactions)."""
    path = f"/repos/{repository}/issues/comments/{comment}/reactions"
    await client.send("POST", path, {"content": content}, again=True)


async def find_check_run(client: Client, repository: str, number: int, head_sha: str) -> int | None:
    """The App's newest check run for a head of this pull request. Two may have the same head."""
    path = f"/repos/{repository}/commits/{head_sha}/check-runs"
    found = await client.item(f"{path}{{?check_name,filter,per_page}}", {"check_name": NAME, "per_page": "100"})
    wanted = external_id(repository, number)
    numbers = [int(run["id"]) for run in found["check_runs"] if run.get("external_id") == wanted]
    return max(numbers, default=None)


async def create_check_run(client: Client, repository: str, body: Body) -> int:
    """A new check run. Sent once: look for it before it is sent again."""
    answer = await client.send("POST", f"/repos/{repository}/check-runs", body, again=False)
    return int(answer["id"])


async def edit_check_run(client: Client, repository: str, check_run: int, body: Body) -> None:
    """The head cannot be changed, and is left out."""
    sent = {name: value for name, value in body.items() if name != "head_sha"}
    await client.send("PATCH", f"/repos/{repository}/check-runs/{check_run}", sent, again=True)


async def permission(client: Client, repository: str, login: str) -> str:
    """`admin`, `write`, `read` or `none` (docs.github.com/rest/collaborators); who has no account any more has none."""
    try:
        found = await client.item(f"/repos/{repository}/collaborators{{/login}}/permission", {"login": login})
    except NotFoundError:
        return "none"
    return str(found.get("permission", "none"))


async def pull_request(client: Client, repository: str, number: int) -> dict[str, Any]:
    """The pull request as it is now."""
    found: dict[str, Any] = await client.item(f"/repos/{repository}/pulls/{number}", {})
    return found


async def settings_file(client: Client, repository: str, path: str) -> str | None:
    """The text of a file on the default branch; None where there is none."""
    try:
        return await client.text(f"/repos/{repository}/contents/{path}", "application/vnd.github.raw")
    except NotFoundError:
        return None
