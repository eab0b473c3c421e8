"""A GitHub on loopback whose every answer a test scripts; it has a thread of its own and records what came in."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from aiohttp import web

from checker.github.address import Host

TOKEN = "ghp_madeForTests0123456789"
# Nobody is asked to wait for long in a test that does not say so.
_READY_SECONDS = 10


@dataclass(frozen=True)
class Answer:
    """What goes over the wire. `fate`: `cut` closes without an answer, `half` amid the body, `silent` never answers."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "application/json; charset=utf-8"})
    fate: str = ""

    def also(self, **headers: str) -> Answer:
        """With further headers; an underscore in a name stands for a hyphen."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return replace(self, headers={**self.headers, **named})


CUT = Answer(fate="cut")
SILENT = Answer(fate="silent")


def given(value: Any, status: int = 200) -> Answer:
    """JSON."""
    return Answer(json.dumps(value).encode(), status)


def refusal(status: int, message: str) -> Answer:
    """As GitHub words an error of REST, and those of GraphQL that have a status of their own."""
    return given({"message": message, "documentation_url": "https://docs.github.com/rest"}, status)


def graphql(data: Any = None, *errors: Mapping[str, str]) -> Answer:
    """An answer of GraphQL, all of which have status 200."""
    return given({"data": data, "errors": list(errors)} if errors else {"data": data})


def page(words: str, status: int) -> Answer:
    """What stands between us and GitHub speaks HTML."""
    return Answer(f"<html><body>{words}</body></html>".encode(), status, {"content-type": "text/html"})


def diff(text: str) -> Answer:
    """A pull request's diff."""
    return Answer(text.encode(), 200, {"content-type": "application/vnd.github.diff; charset=utf-8"})


@dataclass(frozen=True)
class Received:
    """One request as it came in; `path` with its query."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def query(self) -> str:
        """The GraphQL document, or nothing."""
        return str(json.loads(self.body)["query"]) if self.body else ""

    @property
    def variables(self) -> dict[str, Any]:
        """The GraphQL document's variables."""
        variables: dict[str, Any] = json.loads(self.body)["variables"]
        return variables


class GitHubServer:
    """Answers each request by a function of it; a context manager. `received` are the requests as they came."""

    def __init__(self, answer: Callable[[Received], Answer]) -> None:
        self.received: list[Received] = []
        self._answer = answer
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    @classmethod
    def scripted(cls, *answers: Answer) -> Self:
        """The answers one after another; the last one repeats."""
        left = list(answers)
        return cls(lambda _: left.pop(0) if len(left) > 1 else left[0])

    @property
    def url(self) -> str:
        """The address of REST; GraphQL's is `/graphql` below it."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def host(self) -> Host:
        """Addresses of pages stay those of github.com."""
        return Host.from_environment({"GITHUB_API_URL": self.url})

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(_READY_SECONDS), "the server did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self._port = runner.addresses[0][1]
        self._ready.set()
        await self._end.wait()
        await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        received = Received(request.method, request.path_qs, headers, await request.read())
        self.received.append(received)
        answer = self._answer(received)
        if answer.fate == "silent":
            await self._end.wait()
        if answer.fate in ("cut", "half"):
            return await _broken_off(request, answer)
        return web.Response(body=answer.body, status=answer.status, headers=answer.headers)


async def _broken_off(request: web.Request, answer: Answer) -> web.StreamResponse:
    response = web.StreamResponse(status=answer.status, headers=answer.headers)
    if answer.fate == "half":
        response.content_length = 2 * len(answer.body)
        await response.prepare(request)
        await response.write(answer.body)
    assert request.transport is not None
    request.transport.close()
    return response
