"""GitHub's published OpenAPI description, and what it has against a REST request.

The description's path stands in PAICHECKER_GITHUB_OPENAPI; without it what needs the description is skipped.

openapi-core finds the path and the method and checks each declared parameter. It lets three things pass that are looked
at here: parameters that nobody declared, limits that the description gives in words only ("max 100"), and media types.
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from openapi_core import Config, OpenAPI
from openapi_core.templating.paths.finders import APICallPathFinder
from openapi_core.testing import MockRequest

_GITHUB = "https://api.github.com"
_NAME = re.compile(r"\{(\w+)\}")
_LIMIT = re.compile(r"\(max (\d+)\)")
_MEDIA_TYPE = re.compile(r"`(application/[^`\s]+)`")
_JSON = "application/json"
# docs.github.com/rest/using-the-rest-api/getting-started-with-the-rest-api#media-types: of every resource that is JSON.
_GITHUB_JSON = "application/vnd.github+json"

OPENAPI_VARIABLE = "PAICHECKER_GITHUB_OPENAPI"
needs_openapi = pytest.mark.skipif(
    OPENAPI_VARIABLE not in os.environ,
    reason=f"{OPENAPI_VARIABLE} is not set; it is the path of generated/api.github.com.json in "
    "`npm pack @octokit/openapi`",
)


@dataclass(frozen=True)
class Asked:
    """One request as it went over the wire, its path still escaped."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    accept: str = _GITHUB_JSON

    @classmethod
    def of(cls, request: web.BaseRequest) -> Asked:
        assert len(request.query) == len(set(request.query)), f"a parameter was given twice: {request.rel_url}"
        return cls(request.method, request.rel_url.raw_path, dict(request.query), request.headers["accept"])


class Contract:
    """What is described of GitHub's REST."""

    def __init__(self, description: dict[str, Any]) -> None:
        # Holding the description itself against OpenAPI's schema takes ten seconds, and it is GitHub's to keep.
        self._api = OpenAPI.from_dict(description, config=Config(spec_validator_cls=None))
        self._long = list(_paths_of_many_segments(description))

    def complaints(self, asked: Asked) -> list[str]:
        """What is wrong with the request, in words; nothing if it is as described."""
        path = self._in_one_segment(asked.path)
        read = self._api.unmarshal_request(MockRequest(_GITHUB, asked.method, path, args=dict(asked.query)))
        if read.errors:
            return [f"{error} ({error.__cause__})" if error.__cause__ else str(error) for error in read.errors]
        operation = APICallPathFinder(self._api.spec).find(asked.method.lower(), f"{_GITHUB}{path}").operation
        found = operation.read_value()
        parameters = [parameter.read_value() for parameter in operation / "parameters"]
        return [
            *_undeclared(asked, parameters),
            *_past_limits(read.parameters.query, parameters),
            *_unknown_media(asked, found),
        ]

    def _in_one_segment(self, path: str) -> str:
        """OpenAPI has no parameter that spans slashes. GitHub marks its own; there the slashes are escaped."""
        for prefix, may_be_left_out in self._long:
            match = prefix.fullmatch(path)
            if match and (match["rest"] or may_be_left_out):
                return f"{match['prefix']}/{(match['rest'] or '/')[1:].replace('/', '%2F')}"
        return path


def _paths_of_many_segments(description: dict[str, Any]) -> Iterator[tuple[re.Pattern[str], bool]]:
    """What comes before a last parameter of many segments, and whether that may be left out (contents of the root)."""
    for template, methods in description["paths"].items():
        last = next((p for p in methods.get("get", {}).get("parameters", ()) if p.get("x-multi-segment")), None)
        if last and template.endswith(f"/{{{last['name']}}}"):
            before = _NAME.sub("[^/]+", template.rpartition("/")[0])
            said = methods["get"]["description"]
            yield re.compile(f"(?P<prefix>{before})(?P<rest>/.*)?"), f"omit the `{last['name']}` parameter" in said


def _undeclared(asked: Asked, parameters: list[dict[str, Any]]) -> list[str]:
    declared = {one["name"] for one in parameters if one["in"] == "query"}
    return [f"Unknown query parameter: {name}" for name in asked.query if name not in declared]


def _past_limits(given: Mapping[str, Any], parameters: list[dict[str, Any]]) -> Iterator[str]:
    for one in parameters:
        limit = _LIMIT.search(one.get("description", ""))
        if limit and given.get(one["name"], 0) > int(limit[1]):
            yield f"Query parameter too large: {one['name']} (max {limit[1]})"


def _unknown_media(asked: Asked, operation: dict[str, Any]) -> list[str]:
    answered = {kind for response in operation["responses"].values() for kind in response.get("content", ())}
    known = answered | set(_MEDIA_TYPE.findall(operation["description"]))
    if _JSON in answered:
        known.add(_GITHUB_JSON)
    return [] if asked.accept in known else [f"Unknown media type: {asked.accept}"]


@functools.cache
def contract() -> Contract:
    return Contract(json.loads(Path(os.environ[OPENAPI_VARIABLE]).read_text(encoding="utf-8")))
