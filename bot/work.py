"""What all jobs work with. Made once, when the App starts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import ParamSpec, TypeVar
from weakref import WeakValueDictionary

from bot.auth import Installations
from bot.engine import Engine
from bot.settings import Mode
from bot.store import Store

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Work:
    """`slug`: the App's; on GitHub it writes as `<slug>[bot]`. `web`: GitHub's address, for links."""

    store: Store
    installations: Installations
    engine: Engine
    slug: str
    web: str
    mode: Mode
    now: Callable[[], datetime] = _now
    _turns: WeakValueDictionary[tuple[str, int], asyncio.Lock] = field(default_factory=WeakValueDictionary, repr=False)

    def turn(self, what: str, pull_request: int) -> asyncio.Lock:
        """Held while something of a pull request is looked for and written: commands are heard while a check runs."""
        return self._turns.setdefault((what, pull_request), asyncio.Lock())

    @property
    def login(self) -> str:
        """Whom REST names as the author of what the App writes."""
        return f"{self.slug}[bot]"

    def is_own(self, login: str | None, *, is_bot: bool) -> bool:
        """Whether this is the App; GraphQL leaves `[bot]` out."""
        return is_bot and login in (self.slug, self.login)


@dataclass(frozen=True)
class Asked:
    """A check that is to be made: of which pull request, for which trigger, in how many seconds."""

    installation: int
    pull_request: int
    partition: str
    trigger: int
    delay: int = 0


async def threaded(
    function: Callable[_Arguments, _Result], *arguments: _Arguments.args, **named: _Arguments.kwargs
) -> _Result:
    """A call that blocks (the database), beside the event loop."""
    return await asyncio.to_thread(function, *arguments, **named)
