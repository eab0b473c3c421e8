"""The agents' typed, read-only tools: protocols, their definitions for a model, and one over a record alone.

No shell, no addresses: a tool takes numbers and paths, and answers from the pair's own repository.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from checker import patches
from checker.model import Json
from checker.pair import Pair, Related, Text, related_name
from checker.patches import LineKind
from checker.taxonomy import Artifact

LONGEST_READ = 200
# Characters of related titles that the PR Connection Analyzer is shown without asking.
RELATED_SHOWN = 5_000


@dataclass(frozen=True)
class Found:
    """What a tool read. `texts` may be quoted in evidence under their names; `note` is said beside them."""

    texts: tuple[Text, ...]
    note: str = ""


Kind = Literal["any", "issue", "pull_request"]


class Refused(Exception):
    """A tool cannot do what was asked; the message tells the model why and what it may ask instead."""


class Connections(Protocol):
    """Reads other issues and pull requests of the pair's repository, and what refers to them."""

    @property
    def can_read(self) -> bool:
        """Whether there is anything to be read at all."""

    async def issue(self, number: int) -> Found:
        """An issue's title, state and text. Raises Refused."""

    async def pull_request(self, number: int) -> Found:
        """A pull request's title, merge state, description and files. Raises Refused."""

    async def cross_references(self, number: int) -> Found:
        """Titles and states of what refers to an issue or a pull request. Raises Refused."""

    @property
    def can_search(self) -> bool:
        """Whether `search` finds more than a role is shown anyway."""

    async def search(self, words: str, kind: Kind) -> Found:
        """Titles and states of what holds all of the words. Raises Refused."""


class FileReader(Protocol):
    """Reads files as they are at the pull request's head."""

    @property
    def can_list(self) -> bool:
        """Whether folders can be listed."""

    async def folder(self, path: str) -> str:
        """What a folder holds, one entry a line; the root is an empty path. Raises Refused."""

    async def read(self, path: str, first: int, last: int) -> str:
        """Lines `first` to `last` of a file, numbered. Raises Refused."""


class RecordConnections:
    """Connections over what the pair itself holds; whatever else is asked for is said to be unread."""

    can_search = False

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        mentions = [r for issue in pair.issues for r in issue.mentioned_by]
        mentions += [*pair.pull_request.mentioned_by, *pair.pull_request.merge_mentioned_by]
        self._related = {(related.kind, related.number): related for related in mentions}

    @property
    def can_read(self) -> bool:
        """A record holds titles, and a role is shown them anyway, up to RELATED_SHOWN."""
        return sum(len(related.title) for related in self._related.values()) > RELATED_SHOWN

    async def issue(self, number: int) -> Found:
        """See Connections."""
        if number in self._pair.issue_numbers:
            return Found((), f"Issue {number} is one of the linked issues; its text is given above.")
        return self._lookup("issue", number)

    async def pull_request(self, number: int) -> Found:
        """See Connections."""
        if number == self._pair.pull_request.number:
            return Found((), f"Pull request {number} is the one being checked.")
        return self._lookup("pull_request", number)

    async def cross_references(self, number: int) -> Found:
        """See Connections."""
        held = {i.number: i.mentioned_by for i in self._pair.issues if i.number is not None}
        if self._pair.pull_request.number is not None:
            held[self._pair.pull_request.number] = self._pair.pull_request.mentioned_by
        if number not in held:
            raise Refused(f"What refers to {number} was not read. Read: {sorted(held)}.")
        related = held[number]
        return Found(
            tuple(self._text(r) for r in related),
            "; ".join(self._describe(r) for r in related) or "Nothing refers to it.",
        )

    async def search(self, words: str, kind: Kind) -> Found:
        """See Connections."""
        raise Refused("Only this record is at hand; nothing can be searched.")

    def _lookup(self, kind: Literal["issue", "pull_request"], number: int) -> Found:
        related = self._related.get((kind, number))
        if related is None:
            raise Refused(f"{kind} {number} was not read, and cannot be: only this record is at hand.")
        return Found((self._text(related),), f"{self._describe(related)} Its description was not read.")

    def _describe(self, related: Related) -> str:
        return describe(related, self._pair.repository)

    def _text(self, related: Related) -> Text:
        return self._pair.texts[related_name(related, self._pair.repository)]


class PatchReader:
    """Files as far as the diff shows them: the lines around its changes, as they are at the head."""

    can_list = False

    def __init__(self, pair: Pair) -> None:
        pr = pair.pull_request
        self._files = {f.path: f for diff in (pr.code_patch, pr.test_patch) for f in patches.parse(diff).files}

    async def folder(self, path: str) -> str:
        """See FileReader."""
        raise Refused("Only the diff is at hand; no folder can be listed.")

    async def read(self, path: str, first: int, last: int) -> str:
        """See FileReader."""
        file = self._files.get(path)
        if file is None:
            held = ", ".join(plain_path(held) for held in list(self._files)[:100])
            raise Refused(f"{plain_path(path)} is not in the diff, and no more was read. In the diff: {held}.")
        kept = [li for li in file.lines if li.kind is not LineKind.REMOVED and first <= li.number <= last]
        if not kept:
            raise Refused(f"The diff shows none of lines {first} to {last} of {plain_path(path)}.")
        shown = kept[:LONGEST_READ]
        lines = "\n".join(f"{line.number}\t{line.text}" for line in shown)
        return f"{lines}\nOnly what the diff shows is at hand; of lines {first} to {last} these {len(shown)} are."


def plain_path(path: str) -> str:
    """A path as it may stand in a fence's label or a note: one line, no quotes."""
    return re.sub(r"[^\w./ @+-]", "?", path)[:200]


def describe(related: Related, home: str | None) -> str:
    """One line on a related pull request or issue."""
    kind = "pull request" if related.kind == "pull_request" else "issue"
    state = "merged" if related.merged else related.state or "state unread"
    when = f" at {related.merged_at:%Y-%m-%d %H:%M}" if related.merged_at else ""
    where = f" of {related.repository}" if related.repository else ""
    return f"{kind} {related.number}{where} ({state}{when}), quotable as {related_name(related, home)}."


class _Input(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Number(_Input):
    number: int = Field(description="the number, in this repository")


class _Words(_Input):
    words: str = Field(description="words that title, text or comments must all hold; no qualifiers")
    kind: Kind = "any"


class _Folder(_Input):
    path: str = Field(description="from the root of the repository; empty for the root itself")


class _Lines(_Input):
    path: str
    first: int
    last: int


@dataclass(frozen=True)
class Tool:
    """A tool as a model sees it (`definition`), and the function behind it."""

    definition: Json
    input_type: type[_Input]
    run: Callable[[Any], Awaitable[Found]]


class Toolbox:
    """The tools that one role holds. What a model asks for beside them is refused in words."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools

    @property
    def definitions(self) -> tuple[Json, ...]:
        """For the request's `tools`."""
        return tuple(tool.definition for tool in self._tools.values())

    def __or__(self, other: Toolbox) -> Toolbox:
        """The tools of both."""
        return Toolbox({**self._tools, **other._tools})

    async def call(self, name: str, arguments: object) -> Found:
        """Checks the arguments and runs the tool. Raises Refused."""
        tool = self._tools.get(name)
        if tool is None:
            raise Refused(f"There is no tool {name!r}. There are: {', '.join(self._tools) or 'none'}.")
        try:
            checked = tool.input_type.model_validate(arguments)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise Refused(f"{name}: {where}: {first['msg']}.") from None
        return await tool.run(checked)


def connection_tools(connections: Connections) -> Toolbox:
    """The PR Connection Analyzer's tools."""
    tools = {
        "get_issue": _tool("get_issue", "Reads an issue.", _Number, lambda a: connections.issue(a.number)),
        "get_pull_request": _tool(
            "get_pull_request",
            "Reads a pull request: merge state, description, files.",
            _Number,
            lambda a: connections.pull_request(a.number),
        ),
        "list_cross_references": _tool(
            "list_cross_references",
            "Lists what refers to an issue or a pull request.",
            _Number,
            lambda a: connections.cross_references(a.number),
        ),
    }
    if connections.can_search:
        about = "Searches the repository's issues and pull requests."
        tools["search"] = _tool("search", about, _Words, lambda a: connections.search(a.words, a.kind))
    return Toolbox(tools)


def file_tools(reader: FileReader) -> Toolbox:
    """The Code Validator's tools."""

    async def read(lines: _Lines) -> Found:
        shown = await reader.read(lines.path, lines.first, lines.last)
        return Found((Text(f"file/{plain_path(lines.path)}", Artifact.CODE_PATCH, shown),))

    async def listed(folder: _Folder) -> Found:
        return Found((), await reader.folder(folder.path))

    about = f"Reads lines of a file at the pull request's head, at most {LONGEST_READ}."
    tools = {"read_file": _tool("read_file", about, _Lines, read)}
    if reader.can_list:
        listing = "Lists a folder at the pull request's head."
        tools["list_folder"] = _tool("list_folder", listing, _Folder, listed)
    return Toolbox(tools)


def _tool(name: str, about: str, input_type: type[_Input], run: Callable[[Any], Awaitable[Found]]) -> Tool:
    return Tool({"name": name, "description": about, "input_schema": _input_schema(input_type)}, input_type, run)


@cache
def _input_schema(input_type: type[_Input]) -> Mapping[str, Any]:
    return input_type.model_json_schema()
