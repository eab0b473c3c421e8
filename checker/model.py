"""What a model is to the engine: a request in, a reply out, and what it costs.

`Model` is the protocol that an adapter fills (`checker.anthropic_model`) and a scripted double in the tests.
Requests and replies are plain JSON-ready data, so that they can be hashed, stored and replayed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Protocol

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Usage:
    """Tokens of one or more calls. `input_tokens` excludes what was read from or written to the cache."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        """The sum, field by field."""
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
        )

    @property
    def prompt_tokens(self) -> int:
        """All tokens that went in, cached or not."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    @property
    def tokens(self) -> int:
        """All tokens, in and out."""
        return self.prompt_tokens + self.output_tokens


@dataclass(frozen=True)
class Request:
    """One turn as it is sent: everything that decides the answer, and nothing else.

    `messages` are those of Anthropic's Messages API; `tools` its tool definitions; `schema` the JSON schema
    of the final answer.
    """

    model: str
    system: str
    messages: tuple[Json, ...]
    schema: Json
    tools: tuple[Json, ...] = ()
    max_tokens: int = 8192

    @property
    def key(self) -> str:
        """SHA-256 over the whole request, hexadecimal."""
        return self._measured[0]

    @property
    def estimated_tokens(self) -> int:
        """Roughly the tokens that go in: four characters each, which English text and code come close to."""
        return self._measured[1] // 4

    @cached_property
    def _measured(self) -> tuple[str, int]:
        """Key, and length in characters. Both are asked for several times, and to write a request out takes longest."""
        content = {part.name: getattr(self, part.name) for part in fields(self)}
        text = json.dumps(content, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), len(text)


@dataclass(frozen=True)
class Reply:
    """One finished turn. `content` are the Messages API's blocks, kept whole so that a next turn can send them."""

    content: tuple[Json, ...]
    stop_reason: str
    usage: Usage = field(default_factory=Usage)
    model: str = ""

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        return "".join(block["text"] for block in self.content if block["type"] == "text")

    @property
    def tool_calls(self) -> tuple[Json, ...]:
        """The tool_use blocks: `id`, `name`, `input`."""
        return tuple(block for block in self.content if block["type"] == "tool_use")


class ModelFailure(Exception):
    """A model could not be asked, or gave no usable answer. The message is a sentence for the report's reader."""


class BudgetExhausted(ModelFailure):
    """The check may not spend more. The message says what ran out."""


class CannotKeep(ModelFailure):
    """What was paid for cannot be written down, so that no more should be asked. The message says where and why."""


class Meter(Protocol):
    """Where an adapter books every attempt, also those whose answer was lost."""

    def allow(self, request: Request) -> None:
        """Called before each attempt. Raises BudgetExhausted where the attempt would pass a limit."""

    def book(self, model: str, usage: Usage) -> None:
        """Called after each attempt, with an empty Usage where it cannot have been billed."""


class Model(Protocol):
    """Anything that answers a Request."""

    async def ask(self, request: Request, meter: Meter) -> Reply:
        """One finished turn. Raises ModelFailure when there is none; every attempt is booked on the meter."""
