"""How REST answers: errors in JSON, lists page by page (docs.github.com/rest)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from aiohttp import web

from bot.demo.access import Refusal
from bot.demo.objects import Json


class _Numbered(Protocol):
    id: int


_T = TypeVar("_T")
_N = TypeVar("_N", bound=_Numbered)


@web.middleware
async def refusals(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """GitHub answers errors in JSON."""
    try:
        return await handler(request)
    except Refusal as refusal:
        return _refused(refusal.status, refusal.message)
    except (web.HTTPNotFound, web.HTTPMethodNotAllowed):
        return _refused(404, "Not Found")


def _refused(status: int, message: str) -> web.Response:
    body = {"message": message, "documentation_url": "https://docs.github.com/rest", "status": str(status)}
    return web.json_response(body, status=status)


async def body_of(request: web.Request) -> Json:
    """The request's JSON; an empty body is an empty object."""
    try:
        body = json.loads(await request.read() or b"{}")
    except ValueError:
        raise Refusal(400, "Problems parsing JSON") from None
    if not isinstance(body, dict):
        raise Refusal(400, "Body should be a JSON object")
    return body


def number_of(request: web.Request, name: str, default: int) -> int:
    """A number of the query."""
    given = request.query.get(name, "")
    return int(given) if given.isdecimal() else default


def page_of(request: web.Request, items: Sequence[_T]) -> tuple[list[_T], dict[str, str]]:
    """The page that is asked for, and the header that names the next."""
    size, page = min(number_of(request, "per_page", 30), 100), max(number_of(request, "page", 1), 1)
    end = page * size
    return list(items[end - size : end]), next_link(request, page=page + 1) if end < len(items) else {}


def next_link(request: web.Request, **query: int) -> dict[str, str]:
    """The header that names the next page."""
    return {"Link": f'<{request.url.update_query(query)}>; rel="next"'}


def found(things: Iterable[_N], request: web.Request) -> _N:
    """The one whose id stands in the path."""
    for one in things:
        if one.id == int(request.match_info["id"]):
            return one
    raise Refusal(404, "Not Found")
