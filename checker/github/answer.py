"""One answer of GitHub's, and what it means for asking again: a limit that was met, or a fault on the way."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

# A limit may show in the body only, at times under status 200 (docs.github.com, "Rate limits for the REST API" and
# "Rate limits and query limits for the GraphQL API"). GraphQL's type is documented as the first, seen as the second.
_LIMIT_TYPES = frozenset({"RATE_LIMITED", "RATE_LIMIT"})
_LIMIT_WORDS = ("secondary rate limit", "abuse detection", "submitted too quickly", "api rate limit")
_COOLING = 60.0
# GraphQL gives up on a query after some seconds, at times under status 200.
_GAVE_UP = "something went wrong while executing your query"


@dataclass(frozen=True)
class Fault:
    """Why to ask again, and after how many seconds; None: after a short while."""

    why: str
    seconds: float | None = None


@dataclass(frozen=True)
class Answer:
    """Status, headers and body. `wants_json`: whether the request asked for JSON."""

    status: int
    headers: Mapping[str, str]
    data: bytes
    wants_json: bool

    @cached_property
    def _parsed(self) -> Any:
        """The body's JSON, and None where it is none."""
        try:
            return json.loads(self.data)
        except (ValueError, RecursionError):
            return None

    @property
    def json(self) -> dict[str, Any]:
        """The body as an object; empty where it is none."""
        return self._parsed if isinstance(self._parsed, dict) else {}

    @property
    def errors(self) -> list[dict[str, Any]]:
        """GraphQL's errors."""
        errors = self.json.get("errors")
        return [error for error in errors if isinstance(error, dict)] if isinstance(errors, list) else []

    @property
    def message(self) -> str:
        """What GitHub says instead of a resource; a resource may have a field of that name, too."""
        is_resource = self.status < 400 and "documentation_url" not in self.json
        return "" if is_resource else str(self.json.get("message", ""))

    def fault(self) -> Fault | None:
        """None for an answer that was meant."""
        if self._is_limit():
            return Fault(f"GitHub limits the requests ({self.status})", self._cooling())
        trouble = self._trouble()
        return Fault(trouble) if trouble else None

    def _is_limit(self) -> bool:
        if self.status == 429 or any(error.get("type") in _LIMIT_TYPES for error in self.errors):
            return True
        if self.status == 403 and (self._is_used_up or "retry-after" in self.headers):
            return True
        said = self._said()
        return self.status in (200, 403) and any(words in said for words in _LIMIT_WORDS)

    @property
    def _is_used_up(self) -> bool:
        return self.headers.get("x-ratelimit-remaining") == "0"

    def _cooling(self) -> float:
        """Seconds to wait: primary limits are reset at a time, secondary ones cool down."""
        if self.headers.get("retry-after", "").isdecimal():
            return float(self.headers["retry-after"])
        if self._is_used_up and self.headers.get("x-ratelimit-reset", "").isdecimal():
            return max(1.0, float(self.headers["x-ratelimit-reset"]) - time.time())
        return _COOLING

    def _said(self) -> str:
        return " ".join([self.message, *(str(error.get("message", "")) for error in self.errors)]).lower()

    def _trouble(self) -> str | None:
        kind = self.headers.get("content-type", "")
        if self.status >= 500:
            return f"GitHub answered {self.status}"
        if self.status == 200 and "html" in kind:
            return "the answer was a page"
        # The raw text of any file comes as `application/vnd.github.raw+json`.
        says_json = "json" in kind and "raw" not in kind
        if self._is_cut(is_json=says_json or (self.wants_json and self.status == 200)):
            return "the answer was cut short"
        if _GAVE_UP in self._said() and not any((self.json.get("data") or {}).values()):
            return "GitHub gave up on the query"
        return None

    def _is_cut(self, *, is_json: bool) -> bool:
        return is_json and self._parsed is None and (self.status == 200 or bool(self.data))
