"""The agents' read-only tools over a live GitHub, bound to the pair's repository.

Answers are kept with the check (`transcript.tool_calls`); what a tool read may be quoted as evidence.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from checker.github import documents
from checker.github.client import Client, GitHubError, NotFoundError
from checker.pair import Pair, Text
from checker.patches import Side, side_of
from checker.taxonomy import Artifact
from checker.tools import LONGEST_READ, Found, Kind, Refused

_LONGEST_TEXT = 4_000
_MOST_LISTED = 50
_LONGEST_LINE = 400
_LONGEST_SEARCH = 200
_MOST_ENTRIES = 200
_KINDS: dict[Kind, tuple[str, ...]] = {"any": (), "issue": ("is:issue",), "pull_request": ("is:pr",)}


class GitHubConnections:
    """See `checker.tools.Connections`."""

    can_read = can_search = True

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
        return Found((text,), f"{about} It changes {node['changedFiles']} files: {_paths(node)}.{_tests(node)}")

    async def search(self, words: str, kind: Kind) -> Found:
        """The first fifty of this repository's issues and pull requests that hold all of the words, by title."""
        wanted = _words(words)
        if not wanted:
            raise Refused("Give one word or more to search for: letters and digits.")
        query = " ".join([f"repo:{self._repository}", *_KINDS[kind], *wanted])
        try:
            data, errors = await self._client.query(documents.SEARCH, words=query)
        except GitHubError as error:
            raise Refused(f"The search failed: {error}") from None
        found = data["search"]
        lines = [self._line(node) for node in found["nodes"] if node and self._is_home(node)]
        if errors or found["pageInfo"]["hasNextPage"]:
            lines.append("There is more; it was not listed.")
        return Found((), "\n".join(lines) or f"Nothing holds all of these words: {' '.join(wanted)}")

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


def _words(text: str) -> list[str]:
    """Plain words in quotes: what a model asks for must not become a qualifier, which could name other repositories
    (docs.github.com, "Understanding the search syntax").
    """
    return [f'"{word}"' for word in re.findall(r"\w[\w.-]*", text[:_LONGEST_SEARCH])]


def _cut(node: dict[str, Any]) -> str:
    length = len(node["body"])
    return f", cut to {_LONGEST_TEXT:,} of its {length:,} characters" if length > _LONGEST_TEXT else ""


def _files(node: dict[str, Any]) -> list[str]:
    return [file["path"] for file in (node["files"] or {"nodes": []})["nodes"] if file]


def _tests(node: dict[str, Any]) -> str:
    tests = [path for path in _files(node) if side_of(path) is Side.TEST]
    return f" {len(tests)} of them are tests." if tests else ""


def _paths(node: dict[str, Any]) -> str:
    paths = _files(node)
    more = ", and others" if node["changedFiles"] > len(paths[:_MOST_LISTED]) else ""
    return ", ".join(paths[:_MOST_LISTED]) + more


class GitHubFiles:
    """See `checker.tools.FileReader`: files at the pull request's head, by the contents endpoint."""

    can_list = True

    def __init__(self, client: Client, pair: Pair) -> None:
        self._client = client
        self._repository = pair.repository
        self._head = pair.pull_request.head_sha

    async def read(self, path: str, first: int, last: int) -> str:
        """Lines of a file at the head."""
        answered = await self._contents(path.split("/"))
        if not isinstance(answered, dict) or answered.get("type") != "file":
            raise Refused(f"{path} is a folder, a submodule or a link; only files can be shown.")
        lines = _lines(answered)
        begin = max(first, 1)
        wanted = range(begin, min(last, begin + LONGEST_READ - 1, len(lines)) + 1)
        shown = "\n".join(f"{number}\t{_shortened(lines[number - 1])}" for number in wanted)
        return f"{shown}\n{path} has {len(lines)} lines; {len(wanted)} are shown."

    async def folder(self, path: str) -> str:
        """The entries of a folder at the head."""
        answered = await self._contents(path.split("/") if path else [])
        if not isinstance(answered, list):
            raise Refused(f"{path} is no folder; use read_file.")
        entries = [f"{entry['path']} ({_type(entry)})" for entry in answered]
        more = [f"There are {len(entries)} entries; the first {_MOST_ENTRIES} are listed."]
        return "\n".join(entries[:_MOST_ENTRIES] + (more if len(entries) > _MOST_ENTRIES else []))

    async def _contents(self, path: list[str]) -> Any:
        if self._head is None:
            raise Refused("The pull request's head is not known, so no file of it can be read.")
        if not {"", ".", ".."}.isdisjoint(path):
            raise Refused("Give a path from the root of the repository, without '.' and '..' in it.")
        url = f"/repos/{self._repository}/contents{{/path*}}?ref={self._head}"
        try:
            return await self._client.item(url, {"path": path})
        except GitHubError as error:
            raise Refused(f"{'/'.join(path) or 'The root'} could not be read: {error}") from None


def _type(entry: dict[str, Any]) -> str:
    """In a listing a submodule is called a file that has no size of its own (docs.github.com/rest/repos/contents)."""
    is_submodule = entry["type"] == "file" and "/git/trees/" in str(entry.get("git_url"))
    return "submodule" if is_submodule else str(entry["type"])


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
