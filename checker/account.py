"""What a whole audit may spend and how often it may ask: one account over all models, checks and processes of it."""

from __future__ import annotations

import asyncio
import json
import math
import threading
import time
from collections.abc import Callable, Mapping, MutableSequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from typing import Any

from checker.model import BudgetExhausted, Meter, Model, Reply, Request, Usage
from checker.prices import Price, price_of

# An answer is short beside its request; calls in flight may pass a limit by what theirs are longer than this.
_EXPECTED_OUTPUT = 1_500
# While more than this waits for its turn no further pair is begun: a role's time must not run out in a queue.
_LONGEST_QUEUE = 5.0
_CALLS_AT_LEAST = 2
_TOKENS, _DOLLARS, _RESERVED_TOKENS, _RESERVED_DOLLARS, _NEXT, _NEXT_PAIR = range(6)
FIGURES = 6
"""How many numbers an account is made of; processes that share them share the account."""


class AllowanceSpent(BudgetExhausted):
    """The audit, not this check, may spend no more: what could not be asked is left for a later run."""


@dataclass(frozen=True)
class Allowance:
    """Limits of a whole audit, its earlier runs included: tokens, US dollars, and requests a minute."""

    tokens: int | None = None
    dollars: float | None = None
    per_minute: int | None = None


@dataclass
class Account:
    """Books every attempt of every check; `keep` is given each as a line for the audit's books.

    `figures` and `lock` may be shared by processes (`multiprocessing.Array`): times are of `time.monotonic`.
    """

    allowance: Allowance
    prices: Mapping[str, Price]
    keep: Callable[[str], None] = lambda _: None
    figures: MutableSequence[float] = field(default_factory=lambda: [0.0] * FIGURES)
    lock: AbstractContextManager[Any] = field(default_factory=threading.Lock)

    @property
    def tokens(self) -> int:
        """Tokens spent in all runs."""
        return int(self.figures[_TOKENS])

    @property
    def dollars(self) -> float | None:
        """US dollars spent in all runs; None once a model without a known price was asked."""
        dollars = self.figures[_DOLLARS]
        return None if math.isnan(dollars) else dollars

    def load(self, line: Mapping[str, Any]) -> None:
        """Adds what an earlier run booked."""
        self._add(str(line["model"]), Usage(**line["usage"]))

    def book(self, model: str, usage: Usage) -> None:
        """Adds an attempt."""
        if usage.tokens:
            self._add(model, usage)
            self.keep(json.dumps({"model": model, "usage": asdict(usage)}) + "\n")

    def _add(self, model: str, usage: Usage) -> None:
        dollars = self._price(model, usage)
        with self.lock:
            self.figures[_TOKENS] += usage.tokens
            self.figures[_DOLLARS] += dollars

    def _price(self, model: str, usage: Usage) -> float:
        price = price_of(model, self.prices)
        return price.dollars(usage) if price else math.nan

    def reserve(self, model: str, usage: Usage) -> None:
        """Sets aside what an attempt is expected to cost. Raises AllowanceSpent where that would pass a limit."""
        dollars, most, figures = self._price(model, usage), self.allowance, self.figures
        with self.lock:
            tokens_then = figures[_TOKENS] + figures[_RESERVED_TOKENS] + usage.tokens
            dollars_then = figures[_DOLLARS] + figures[_RESERVED_DOLLARS] + dollars
            if most.tokens is not None and tokens_then > most.tokens:
                raise AllowanceSpent(f"The next request would pass the audit's budget of {most.tokens:,} tokens.")
            # Not `>`: what has no price (NaN) is never within a budget.
            if most.dollars is not None and not dollars_then <= most.dollars:
                raise AllowanceSpent(f"The next request would pass the audit's budget of ${most.dollars:.2f}.")
            figures[_RESERVED_TOKENS] += usage.tokens
            figures[_RESERVED_DOLLARS] += dollars

    def release(self, model: str, usage: Usage) -> None:
        """Gives back what was set aside."""
        dollars = self._price(model, usage)
        with self.lock:
            self.figures[_RESERVED_TOKENS] -= usage.tokens
            self.figures[_RESERVED_DOLLARS] -= dollars

    async def turn(self) -> None:
        """Waits until the rate allows one more request."""
        wait = self.take_turn()
        if wait > 0:
            await asyncio.sleep(wait)

    def take_turn(self) -> float:
        """Takes the next place in the queue, also for an attempt that is not made to wait; seconds until it comes."""
        now = time.monotonic()
        with self.lock:
            turn = max(now, self.figures[_NEXT])
            self.figures[_NEXT] = turn + self._interval
        return turn - now

    async def admit(self) -> None:
        """Waits until a further pair's requests would not stand long in the queue."""
        while (wait := self._until_admission()) > 0:  # noqa: ASYNC110 - other processes move the time
            await asyncio.sleep(min(wait, 1.0))

    def _until_admission(self) -> float:
        if not self._interval:
            return 0.0
        now = time.monotonic()
        with self.lock:
            at = max(self.figures[_NEXT] - _LONGEST_QUEUE, self.figures[_NEXT_PAIR])
            if at <= now:
                self.figures[_NEXT_PAIR] = now + _CALLS_AT_LEAST * self._interval
        return at - now

    @property
    def _interval(self) -> float:
        return 60 / self.allowance.per_minute if self.allowance.per_minute else 0.0


@dataclass(frozen=True)
class AccountedModel:
    """A model whose every attempt is booked on an account, and waits its turn."""

    model: Model
    account: Account

    async def ask(self, request: Request, meter: Meter) -> Reply:
        """See `checker.model.Model`. Raises AllowanceSpent."""
        await self.account.turn()
        both = _Both(self.account, meter, request)
        try:
            return await self.model.ask(request, both)
        finally:
            both.lose()


class _Both:
    """Books one request's attempts on the check's own meter and on the audit's account."""

    def __init__(self, account: Account, meter: Meter, request: Request) -> None:
        self._account = account
        self._meter = meter
        self._model = request.model
        self._expected = Usage(input_tokens=request.estimated_tokens, output_tokens=_EXPECTED_OUTPUT)
        self._attempts = 0
        self._is_under_way = False

    def allow(self, request: Request) -> None:
        self._meter.allow(request)
        self._account.reserve(self._model, self._expected)
        self._is_under_way = True
        self._attempts += 1
        if self._attempts > 1:
            self._account.take_turn()

    def book(self, model: str, usage: Usage) -> None:
        self._settle(usage)
        self._meter.book(model, usage)

    def lose(self) -> None:
        """An attempt that was cut off was sent, so it may have been billed."""
        if self._is_under_way:
            self._settle(Usage(input_tokens=self._expected.input_tokens))

    def _settle(self, usage: Usage) -> None:
        self._is_under_way = False
        self._account.release(self._model, self._expected)
        self._account.book(self._model, usage)
