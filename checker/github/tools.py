"""The agents' read-only tools over a live GitHub, bound to the pair's repository.

Answers are kept with the check (`transcript.tool_calls`); what a tool read may be quoted as evidence.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

from checker.github import documents
from checker.github.client import Client, GitHubError, NotFoundError
from checker.pair import Pair, Text
from checker.taxonomy import Artifact
from checker.tools import LONGEST_READ, Found, Refused

_LONGEST_TEXT = 4_000
_MOST_LISTED = 50
_LONGEST_LINE = 400


class GitHubConnections:
    """See `checker.tools.Connections`."""

    can_read = True

    def __init__(self, client: Client, pair: Pair) -> None:
        self._client = client
        self._repository = pair.repository or ""

    async def issue(self, number: int) -> Found:
        """Title, state and text of an issue."""
        node = await self._read(number)
        if node["__typename"] != "Issue":
            raise Refused(f"{number} is a pull request; use get_pull_request.")
        text = self._text("issue", node)
        return Found((text,), f"issue {number}, {documents.state_of(node)}, quotable as {text.name}{_cut(node)}.")

    async def pull_request(self, number: int) -> Found:
        """Title, merge state and description of a pull request."""
        node = await self._read(number)
        if node["__typename"] != "PullRequest":
            raise Refused(f"{number} is an issue; use get_issue.")
        text = self._text("pr", node)
        merged = f"merged {node['mergedAt']}" if node["merged"] else f"{documents.state_of(node)}, not merged"
        about = f"pull request {number}, {merged}, quotable as {text.name}{_cut(node)}."
        return Found((text,), f"{about} It changes {node['changedFiles']} files: {_paths(node)}.")

    async def cross_references(self, number: int) -> Found:
        """What refers to an issue or a pull request, by its timeline: a title of each, and what was not listed."""
        node = await self._read(number)
        timeline = node["timelineItems"]
        sources = [event["source"] for event in timeline["nodes"] if event and event.get("source")]
        lines = list(
            dict.fromkeys(self._line(s) for s in sources if not s["repository"]["isPrivate"] or self._is_home(s))
        )
        shown = lines[:_MOST_LISTED]
        if timeline["pageInfo"]["hasNextPage"] or len(lines) > len(shown):
            shown.append("There is more; it was not listed.")
        return Found((), "\n".join(shown) or "Nothing refers to it.")

    def _line(self, source: dict[str, Any]) -> str:
        where = "" if self._is_home(source) else f" of {source['repository']['nameWithOwner']}"
        when = f" {source['mergedAt']}" if source.get("mergedAt") else ""
        kind = "issue" if source["__typename"] == "Issue" else "pull request"
        return f"{kind} {source['number']}{where} ({documents.state_of(source)}{when}): {source['title'][:200]}"

    def _is_home(self, node: dict[str, Any]) -> bool:
        return bool(node["repository"]["nameWithOwner"] == self._repository)

    async def _read(self, number: int) -> dict[str, Any]:
        owner, _, name = self._repository.partition("/")
        try:
            data, _ = await self._client.query(documents.ISSUE, owner=owner, name=name, number=number)
        except NotFoundError:
            raise Refused(f"There is no issue or pull request {number} in {self._repository}.") from None
        except GitHubError as error:
            raise Refused(f"{number} could not be read: {error}") from None
        node: dict[str, Any] | None = data["repository"]["issueOrPullRequest"]
        if node is None:
            raise Refused(f"There is no issue or pull request {number} in {self._repository}.")
        return node

    def _text(self, kind: str, node: dict[str, Any]) -> Text:
        body = f"{node['title']}\n{node['body'][:_LONGEST_TEXT]}"
        return Text(f"related/{kind}/{node['number']}", Artifact.ISSUE_TIMELINE, body, url=node["url"])


def _cut(node: dict[str, Any]) -> str:
    length = len(node["body"])
    return f", cut to {_LONGEST_TEXT:,} of its {length:,} characters" if length > _LONGEST_TEXT else ""


def _paths(node: dict[str, Any]) -> str:
    paths = [file["path"] for file in (node["files"] or {"nodes": []})["nodes"] if file]
    more = ", and others" if node["changedFiles"] > len(paths[:_MOST_LISTED]) else ""
    return ", ".join(paths[:_MOST_LISTED]) + more


class GitHubFiles:
    """See `checker.tools.FileReader`: files at the pull request's head, by the contents endpoint."""

    def __init__(self, client: Client, pair: Pair) -> None:
        self._client = client
        self._repository = pair.repository
        self._head = pair.pull_request.head_sha

    async def read(self, path: str, first: int, last: int) -> str:
        """Lines of a file at the head."""
        if self._head is None:
            raise Refused("The pull request's head is not known, so no file of it can be read.")
        if path.startswith("/") or not {"", ".", ".."}.isdisjoint(path.split("/")):
            raise Refused("Give a file's path from the root of the repository, without '.' and '..' in it.")
        url = f"/repos/{self._repository}/contents{{/path*}}?ref={self._head}"
        try:
            answered = await self._client.item(url, {"path": path.split("/")})
        except GitHubError as error:
            raise Refused(f"{path} could not be read: {error}") from None
        if not isinstance(answered, dict) or answered.get("type") != "file":
            raise Refused(f"{path} is a folder, a submodule or a link; only files can be shown.")
        lines = _lines(answered)
        begin = max(first, 1)
        wanted = range(begin, min(last, begin + LONGEST_READ - 1, len(lines)) + 1)
        shown = "\n".join(f"{number}\t{_shortened(lines[number - 1])}" for number in wanted)
        return f"{shown}\n{path} has {len(lines)} lines; {len(wanted)} are shown."


def _shortened(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} [cut: {len(line):,} characters]"


def _lines(answered: dict[str, Any]) -> list[str]:
    if answered.get("encoding") != "base64":  # docs.github.com/rest/repos/contents: past 1 MB, "none" and no content
        raise Refused("The file is larger than 1 MB and cannot be shown.")
    try:
        text = base64.b64decode(answered["content"]).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        text = "\0"
    if "\0" in text:
        raise Refused("The file is no text.")
    # As git counts lines: `splitlines` would also end them at form feeds and the like.
    return text.removesuffix("\n").replace("\r\n", "\n").split("\n")
