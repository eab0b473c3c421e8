"""A GitHub on loopback: it executes GitHub's published GraphQL schema over the dicts of `github_world`.

Written from the schema and GitHub's documentation. REST is there as far as it is read: a pull request's diff, its
files, contents.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import graphql
from aiohttp import web
from aiohttp.test_utils import TestServer
from github_world import HOME, Json, Repository, diff_of, schema

from checker.github.address import Address, Host
from checker.github.client import Client, connect
from checker.github.collect import Moment, collect
from checker.pair import Pair

# A request that GitHub answers otherwise: given its GraphQL document or its path, a response or None.
Fault = Callable[[str], web.Response | None]

_MOST_DIFF_FILES = 300


class World:
    """The repositories, and what goes wrong. `asked` holds each request: a document's name or a path.

    `searches` holds what was searched for.
    `received` holds the requests as they came.
    """

    def __init__(self, *repositories: Repository) -> None:
        self.repositories = {one.name.lower(): one for one in repositories}
        self.fault: Fault = lambda _: None
        self.asked: list[str] = []
        self.searches: list[str] = []
        self.received: list[web.Request] = []

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        """A client of this GitHub that waits for nothing."""
        app = web.Application(middlewares=[self._noted])
        app.router.add_post("/graphql", self._graphql)
        pull = "/repos/{owner}/{name}/pulls/{number}"
        app.add_routes([web.get(pull, self._diff), web.get(f"{pull}/files", self._files)])
        app.router.add_get("/repos/{owner}/{name}/contents{path:(/.*)?}", self._contents)
        async with TestServer(app) as server:
            base = str(server.make_url("")).rstrip("/")
            async with connect(Host(rest=base, graphql=f"{base}/graphql"), "a-token", wait=_no_wait) as client:
                yield client

    def _threads(self) -> list[Json]:
        return [thread for one in self.repositories.values() for thread in one.threads.values()]

    @web.middleware
    async def _noted(self, request: web.Request, handler: Any) -> Any:
        """Each request is written down, and may go wrong."""
        self.received.append(request)
        document = (await request.json())["query"] if request.path == "/graphql" else request.path
        self.asked.append(document.split("(")[0].split()[-1])
        return self.fault(document) or await handler(request)

    async def _graphql(self, request: web.Request) -> web.Response:
        asked = await request.json()
        made = {"variable_values": asked["variables"], "field_resolver": _resolve}
        result = await graphql.graphql(schema(), asked["query"], self, **made)
        errors = [{**error.formatted, "type": (error.extensions or {}).get("type")} for error in result.errors or []]
        return web.json_response({"data": result.data, **({"errors": errors} if errors else {})})

    def _found(self, request: web.Request) -> tuple[Repository, Json]:
        asked = request.match_info
        repository = self.repositories[f"{asked['owner']}/{asked['name']}".lower()]
        return repository, repository.threads.get(int(asked.get("number", 0)), {})

    async def _diff(self, request: web.Request) -> web.Response:
        """docs.github.com/rest/pulls: the diff media type; past 300 files or 20,000 lines it is refused."""
        _, pull = self._found(request)
        assert request.headers["accept"] == "application/vnd.github.diff"
        if len(pull["files"]) > _MOST_DIFF_FILES or any(one["patch"] is None for one in pull["files"]):
            return web.json_response({"message": "Sorry, the diff exceeded the maximum number of files"}, status=406)
        return web.Response(text=pull.get("diff") or diff_of(pull), content_type="application/vnd.github.diff")

    async def _files(self, request: web.Request) -> web.Response:
        _, pull = self._found(request)
        size, page = int(request.query.get("per_page", 30)), int(request.query.get("page", 1))
        shown = pull["files"][(page - 1) * size : page * size]
        following = request.url.update_query(page=page + 1)
        more = page * size < len(pull["files"])
        answer = [{key: value for key, value in one.items() if value is not None} for one in shown]
        return web.json_response(answer, headers={"link": f'<{following}>; rel="next"'} if more else {})

    async def _contents(self, request: web.Request) -> web.Response:
        """docs.github.com/rest/repos/contents: a folder is a list; past 1 MB there is no content."""
        repository, _ = self._found(request)
        held = repository.contents.get(request.match_info["path"].strip("/"))
        if held is None:
            return web.json_response({"message": "Not Found"}, status=404)
        if isinstance(held, bytes):
            small = len(held) <= 1_000_000
            text = base64.encodebytes(held).decode() if small else ""
            held = {"type": "file", "encoding": "base64" if small else "none", "content": text}
        return web.json_response(held)


async def read(world: World, number: int = 101, *, repository: str = HOME, as_of: Moment = "now") -> Pair:
    """The pair of one pull request."""
    async with world.client() as client:
        return await collect(client, Address(repository, number), as_of=as_of)


async def _no_wait(seconds: float, why: str) -> None:
    """The tests do not sleep."""


def _resolve(source: Any, info: graphql.GraphQLResolveInfo, **arguments: Any) -> Any:
    """A dict's value by the field's name; lists become connections; the few fields that look something up."""
    special = _LOOKED_UP.get((info.parent_type.name, info.field_name))
    value = special(source, **arguments) if special else source[info.field_name]
    is_list = graphql.get_named_type(info.return_type).name.endswith("Connection")
    return _page(value, arguments) if is_list and value is not None else value


def _page(nodes: list[Any], asked: Mapping[str, Any]) -> Json:
    """One page; a cursor is the number of nodes before the next."""
    assert 1 <= asked["first"] <= 100, "GitHub gives at most 100 nodes a page"
    kinds = {kind.replace("_", "").lower() for kind in asked.get("itemTypes", ())}
    kept = [one for one in nodes if one is None or not kinds or one["__typename"].lower() in kinds]
    begin = int(asked.get("after") or 0)
    end = begin + asked["first"]
    return {"nodes": kept[begin:end], "pageInfo": {"hasNextPage": end < len(kept), "endCursor": str(end)}}


def _not_found(what: str) -> graphql.GraphQLError:
    return graphql.GraphQLError(f"Could not resolve to {what}.", extensions={"type": "NOT_FOUND"})


def _repository(world: World, owner: str, name: str, **_: Any) -> Json:
    found = world.repositories.get(f"{owner}/{name}".lower())
    if found is None or not found.visible:
        raise _not_found(f"a Repository with the name '{owner}/{name}'")
    return found.node


def _thread_of(source: Json, number: int, kinds: tuple[str, ...] = ("Issue", "PullRequest")) -> Json:
    found = source["_repository"].threads.get(number)
    if found is None or found["__typename"] not in kinds:
        raise _not_found(f"an issue or pull request with the number of {number}")
    return found  # type: ignore[no-any-return]


def _node(world: World, id: str) -> Json:  # noqa: A002
    inner = [one for pull in world._threads() for one in pull.get("reviewThreads") or []]
    return next(one for one in [*world._threads(), *inner] if one["id"] == id)


def _search(world: World, query: str, **_: Any) -> list[Json]:
    """`repo:owner/name`, `is:issue` or `is:pr`, and words, each of which a title, body or comment must hold."""
    world.searches.append(query)
    repository, *words = query.replace('"', "").lower().split()
    kind = {"is:issue": "Issue", "is:pr": "PullRequest"}.get(words[0]) if words else None
    return [
        one
        for one in world._threads()
        if f"repo:{one['repository']['nameWithOwner']}" == repository
        and kind in (None, one["__typename"])
        and all(word in _words_of(one).lower() for word in words[bool(kind) :])
    ]


def _words_of(thread: Json) -> str:
    return " ".join([thread["title"], thread["body"], *(one["body"] for one in thread["comments"])])


_LOOKED_UP: Mapping[tuple[str, str], Callable[..., Any]] = {
    ("Query", "repository"): _repository,
    ("Query", "node"): _node,
    ("Query", "search"): _search,
    ("Repository", "issueOrPullRequest"): _thread_of,
    ("Repository", "pullRequest"): lambda source, number: _thread_of(source, number, ("PullRequest",)),
}
