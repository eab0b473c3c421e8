"""What the App writes on GitHub. Each may be done twice and leaves one trace: what is there already is found first."""

from __future__ import annotations

import base64
import logging
from datetime import UTC, datetime
from typing import Any

from bot.checks import NAME, Body, pull_request_of
from bot.repo_config import NO_TEXT
from checker.github.client import Client, GitHubError, NotFoundError

_FORBIDDEN, _GONE = 403, 410
log = logging.getLogger(__name__)


async def find_comments(
    client: Client, repository: str, number: int, *, begin: str, login: str, since: datetime | None = None
) -> list[int]:
    """The numbers of the comments that begin like this and were written by the App, the oldest first.

    `since`: only those that were written or edited since.
    """
    late = f"&since={since.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if since else ""
    found = await client.pages(f"/repos/{repository}/issues/{number}/comments?per_page=100{late}")
    return [
        int(comment["id"])
        for comment in found
        if (comment.get("user") or {}).get("login") == login and str(comment.get("body") or "").startswith(begin)
    ]


async def find_comment(client: Client, repository: str, number: int, *, begin: str, login: str) -> int | None:
    """The first of them."""
    return next(iter(await find_comments(client, repository, number, begin=begin, login=login)), None)


async def create_comment(client: Client, repository: str, number: int, body: str) -> int | None:
    """A new comment. Sent once: look for it before it is sent again.

    None where GitHub refuses it: where a conversation is locked, Apps may not speak (github.com/renovatebot/renovate,
    issue 6215).
    """
    try:
        answer = await client.send("POST", f"/repos/{repository}/issues/{number}/comments", {"body": body}, again=False)
    except GitHubError as error:
        if error.status != _FORBIDDEN:
            raise
        log.info("a comment was refused: %s", error, extra={"repository": repository, "number": number})
        return None
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


async def delete_comment(client: Client, repository: str, comment: int) -> None:
    """One that is gone already is no fault."""
    try:
        await client.send("DELETE", f"/repos/{repository}/issues/comments/{comment}", {}, again=True)
    except GitHubError as error:
        if not (isinstance(error, NotFoundError) or error.status == _GONE):
            raise


async def read_comment(client: Client, repository: str, comment: int) -> dict[str, Any] | None:
    """A comment, or None where it is gone."""

    async def read() -> dict[str, Any] | None:
        found: dict[str, Any] = await client.item(f"/repos/{repository}/issues/comments/{comment}", {})
        return found

    try:
        return await client.early(read)
    except GitHubError as error:
        if isinstance(error, NotFoundError) or error.status == _GONE:
            return None
        raise


async def react(client: Client, repository: str, comment: int, content: str) -> None:
    """A reaction; a second one of the same kind changes nothing (docs.github.com/rest/reactions)."""
    path = f"/repos/{repository}/issues/comments/{comment}/reactions"
    await client.send("POST", path, {"content": content}, again=True)


async def find_check_run(client: Client, repository: str, number: int, head_sha: str) -> int | None:
    """The App's newest check run for a head of this pull request."""
    return max(await find_check_runs(client, repository, number, head_sha), default=None)


async def find_check_runs(client: Client, repository: str, number: int, head_sha: str) -> list[int]:
    """All of them. Two pull requests may have the same head, and the repository may have had another name."""
    path = f"/repos/{repository}/commits/{head_sha}/check-runs"
    found = await client.item(
        f"{path}{{?check_name,filter,per_page}}", {"check_name": NAME, "filter": "all", "per_page": "100"}
    )
    carried = [(int(run["id"]), pull_request_of(run.get("external_id"))) for run in found["check_runs"]]
    return [run for run, of in carried if of is not None and of.number == number]


async def create_check_run(client: Client, repository: str, body: Body) -> int:
    """A new check run. Sent once: look for it before it is sent again."""
    answer = await client.send("POST", f"/repos/{repository}/check-runs", body, again=False)
    return int(answer["id"])


async def edit_check_run(client: Client, repository: str, check_run: int, body: Body) -> None:
    """The head cannot be changed, and is left out."""
    sent = {name: value for name, value in body.items() if name != "head_sha"}
    await client.send("PATCH", f"/repos/{repository}/check-runs/{check_run}", sent, again=True)


async def is_readable(client: Client, repository: str, number: int) -> bool:
    """Whether an issue can be read: it was not deleted, nor moved to where we may not read."""
    try:
        await client.item(f"/repos/{repository}/issues/{number}", {})
    except GitHubError as error:
        if isinstance(error, NotFoundError) or error.status == _GONE:
            return False
        raise
    return True


async def permission(client: Client, repository: str, login: str) -> str:
    """`admin`, `write`, `read` or `none` (docs.github.com/rest/collaborators); who has no account any more has none."""
    try:
        found = await client.item(f"/repos/{repository}/collaborators{{/login}}/permission", {"login": login})
    except NotFoundError:
        return "none"
    return str(found.get("permission", "none"))


async def pull_request(client: Client, repository: str, number: int) -> dict[str, Any]:
    """The pull request as it is now."""

    async def read() -> dict[str, Any]:
        found: dict[str, Any] = await client.item(f"/repos/{repository}/pulls/{number}", {})
        return found

    return await client.early(read)


async def issue_text(client: Client, repository: str, number: int) -> str | None:
    """Title and body of an issue as they are now, as `checker.pair.Issue.edited`; None where it is gone."""
    try:
        found = await client.item(f"/repos/{repository}/issues/{number}", {})
    except GitHubError as error:
        if isinstance(error, NotFoundError) or error.status == _GONE:
            return None
        raise
    return f"{found['title']}\n{found['body'] or ''}"


async def settings_file(client: Client, repository: str, path: str) -> str | None:
    """The text of a file on the default branch; None where there is none, NO_TEXT where something else stands there.

    Not asked for as raw text: so much as 100 MB of it would be sent.
    """
    try:
        found = await client.item(f"/repos/{repository}/contents/{path}", {})
    except NotFoundError:
        return None
    if not isinstance(found, dict) or found.get("encoding") != "base64":
        return NO_TEXT
    return base64.b64decode(found["content"]).decode("utf-8", "replace")
