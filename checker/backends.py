"""Which backend plays the roles: from a user's choice and the environment, or a sentence why it cannot."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from checker.agents import DEFAULT_MODEL, ModelBackend
from checker.anthropic_model import AnthropicModel
from checker.exchange import Budget
from checker.model import Model
from checker.pair import Pair
from checker.pipeline import Backend
from checker.prices import PRICES, Price, price_of, read_prices
from checker.replies import SqliteReplies
from checker.rules import RulesBackend
from checker.taxonomy import Role
from checker.tools import Connections, FileReader, PatchReader, RecordConnections

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

    from checker.github.client import Client

_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")


def has_usual_key(environment: Mapping[str, str]) -> bool:
    """Whether a model can be asked without more being said."""
    return any(environment.get(key) for key in _KEYS)


class UsageError(Exception):
    """What a user asked for cannot be done as asked. The message says why and what to do."""


@dataclass(frozen=True)
class BackendChoice:
    """What a user said about the backend. `models` are `NAME` or `ROLE=NAME`."""

    backend: str = "auto"
    models: tuple[str, ...] = ()
    replies: Path | None = None
    prices: Path | None = None
    budget_tokens: int = 200_000
    budget_dollars: float | None = None


def choose_backend(choice: BackendChoice, environment: Mapping[str, str]) -> Backend:
    """The backend. Raises UsageError."""
    default, models = _models(choice.models)
    _prices(choice.prices)
    has_key = has_usual_key(environment)
    if choice.backend == "anthropic" and not has_key:
        raise UsageError("--backend anthropic needs a key: set ANTHROPIC_API_KEY, or use --backend rules")
    if choice.backend == "rules" and choice.models:
        raise UsageError("--backend rules asks no model: leave --model out, or use --backend anthropic")
    if choice.models and not has_key:
        raise UsageError("--model needs a model's key: set ANTHROPIC_API_KEY, or leave --model out")
    if choice.backend == "rules" or not has_key:
        return RulesBackend()
    return model_backend(choice, environment, default, models)


def model_backend(
    choice: BackendChoice,
    environment: Mapping[str, str],
    default: str,
    models: Mapping[Role, str],
    *,
    model: Model | None = None,
    store: str = "replies.sqlite",
) -> ModelBackend:
    """A model in the roles: Anthropic's, unless another is given. `store` names the file that keeps its replies.

    Raises UsageError.
    """
    prices = _prices(choice.prices)
    unpriced = [name for name in {default, *models.values()} if price_of(name, prices) is None]
    if choice.budget_dollars is not None and unpriced:
        raise UsageError(
            f"--budget-dollars needs the price of {', '.join(sorted(unpriced))}: give it with --prices FILE"
        )
    return ModelBackend(
        model or AnthropicModel(client()),
        default_model=default,
        models=models,
        budget=Budget(choice.budget_tokens, choice.budget_dollars),
        prices=prices,
        store=_store((choice.replies or _cache_folder(environment)) / store),
    )


def client(
    api_key: str | None = None, base_url: str | None = None, said_by: str = "ANTHROPIC_BASE_URL"
) -> AsyncAnthropic:
    """A client; what is left out is read from the SDK's environment variables. Raises UsageError.

    It speaks through aiohttp, which takes a third less of the processor than what the SDK speaks through otherwise.
    """
    import httpx2
    from anthropic import AsyncAnthropic, DefaultAioHttpClient

    http = DefaultAioHttpClient()
    try:
        found = AsyncAnthropic(api_key=api_key, base_url=base_url, http_client=http)
    except httpx2.InvalidURL as error:
        raise UsageError(f"{said_by} is no address ({error})") from None
    if found.base_url.userinfo:
        # In an address and in a header it would come twice, which aiohttp refuses.
        http.auth = (found.base_url.username, found.base_url.password)
        found.base_url = found.base_url.copy_with(userinfo=b"")
    return found


@asynccontextmanager
async def asking(backends: Iterable[Backend]) -> AsyncIterator[None]:
    """The connections of the backends' models end where this does."""
    try:
        yield
    finally:
        for backend in backends:
            if isinstance(backend, ModelBackend) and isinstance(backend.model, AnthropicModel):
                await backend.model.close()


def with_live_tools(backend: Backend, client: Client, ids: Collection[str]) -> Backend:
    """The backend with the agents' tools over a live GitHub, for the pairs that were read from it."""
    if not isinstance(backend, ModelBackend):
        return backend
    from checker.github.tools import GitHubConnections, GitHubFiles

    def connections(pair: Pair) -> Connections:
        return GitHubConnections(client, pair) if pair.id in ids else RecordConnections(pair)

    def reader(pair: Pair) -> FileReader:
        return GitHubFiles(client, pair) if pair.id in ids else PatchReader(pair)

    return replace(backend, connections=connections, reader=reader)


def _store(path: Path) -> SqliteReplies:
    try:
        return SqliteReplies(path)
    except (OSError, sqlite3.Error) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(
            f"replies cannot be kept in {path.parent} ({why}); mend that, or name another folder"
        ) from None


def _cache_folder(environment: Mapping[str, str]) -> Path:
    """Where replies are kept unless a folder is named (XDG base directories)."""
    base = environment.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path(os.path.expanduser("~/.cache"))) / "paichecker"  # noqa: PTH111


def _models(choices: tuple[str, ...]) -> tuple[str, dict[Role, str]]:
    default, by_role = DEFAULT_MODEL, dict[Role, str]()
    for choice in choices:
        role, separator, name = choice.rpartition("=")
        if not name.strip():
            raise UsageError(f"--model {choice!r}: a model's name is missing")
        if not separator:
            default = name
        elif role not in set(Role):
            raise UsageError(f"--model {choice}: there is no role {role!r}; the roles are {', '.join(Role)}")
        else:
            by_role[Role(role)] = name
    return default, by_role


def _prices(path: Path | None) -> Mapping[str, Price]:
    if path is None:
        return PRICES
    try:
        return read_prices(path)
    except OSError as error:
        raise UsageError(f"--prices {path}: it cannot be read ({error.strerror})") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise UsageError(f"--prices {path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"--prices {path}: it is no JSON") from None
