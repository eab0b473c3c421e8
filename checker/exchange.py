"""Between the roles and a model: the reply store, the budget, the account of costs, the transcript."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from checker.model import BudgetExhausted, Model, ModelFailure, Reply, Request, Usage
from checker.prices import PRICES, Price, price_of
from checker.replies import ReplyStore, write_reply
from checker.report import RoleUsage
from checker.taxonomy import Role
from checker.transcript import Transcript, Turn

# An answer is short beside its request; calls in flight may pass a limit by what theirs are longer than this.
_EXPECTED_OUTPUT = 1_500


@dataclass(frozen=True)
class Budget:
    """What one check may spend, lost attempts included. `dollars` needs a price for every model."""

    tokens: int = 200_000
    dollars: float | None = None


@dataclass
class _RoleMeter:
    """Books the attempts of one role, whose calls come one after another (see `checker.model.Meter`)."""

    account: Exchange
    turn: Turn
    pending: Usage = field(default_factory=Usage)

    def allow(self, request: Request) -> None:
        self.pending = Usage(input_tokens=request.estimated_tokens, output_tokens=_EXPECTED_OUTPUT)
        try:
            self.account.require_budget()
        except BudgetExhausted:
            self.pending = Usage()
            raise

    def book(self, model: str, usage: Usage) -> None:
        self.pending = Usage()
        self.turn.booked.append(usage)

    def lose(self) -> None:
        """What was in flight when the role was cut off was sent, so it may have been billed."""
        if self.pending.tokens:
            self.book(self.turn.request.model, Usage(input_tokens=self.pending.input_tokens))


class Exchange:
    """One check's dealings with its model. `sample` tells repeated askings of the same question apart."""

    def __init__(
        self,
        model: Model,
        transcript: Transcript,
        *,
        budget: Budget,
        prices: Mapping[str, Price] = PRICES,
        store: ReplyStore | None = None,
        sample: int = 0,
    ) -> None:
        self._model = model
        self._transcript = transcript
        self._budget = budget
        self._prices = prices
        self._store = store
        self._sample = sample
        self._open: list[_RoleMeter] = []

    async def ask(self, role: Role, request: Request) -> Reply:
        """The stored reply to this request, or the model's, which is then stored. Raises ModelFailure."""
        turn = Turn(role, request)
        self._transcript.turns.append(turn)
        reply = await self._stored(request)
        if reply is not None:
            turn.stored = True
            turn.booked.append(reply.usage)
        else:
            reply = await self._asked(turn)
        turn.reply = write_reply(reply)
        if not turn.stored:
            await self._keep(request, reply)
        return reply

    async def _stored(self, request: Request) -> Reply | None:
        if self._store is None:
            return None
        return await asyncio.to_thread(self._store.get, self._transcript.pair.id, request, self._sample)

    async def _keep(self, request: Request, reply: Reply) -> None:
        if self._store is not None:
            await asyncio.to_thread(self._store.put, self._transcript.pair.id, request, self._sample, reply)

    async def _asked(self, turn: Turn) -> Reply:
        meter = _RoleMeter(self, turn)
        self._open.append(meter)
        try:
            return await self._model.ask(turn.request, meter)
        except ModelFailure as failure:
            turn.failure = str(failure)
            raise
        except asyncio.CancelledError:
            meter.lose()
            raise
        finally:
            self._open.remove(meter)

    def require_budget(self) -> None:
        """Raises BudgetExhausted where what was spent and what is in flight pass a limit."""
        usages = [(t.request.model, u) for t in self._transcript.turns if not t.stored for u in t.booked]
        usages += [(meter.turn.request.model, meter.pending) for meter in self._open]
        tokens = sum(usage.tokens for _, usage in usages)
        if tokens > self._budget.tokens:
            raise BudgetExhausted(f"The next request would pass the check's budget of {self._budget.tokens:,} tokens.")
        if self._budget.dollars is None:
            return
        costs = [self._dollars(model, usage) for model, usage in usages]
        if None in costs:
            raise BudgetExhausted("A budget in dollars was set, but a model has no price; name it with --prices.")
        if sum(cost for cost in costs if cost is not None) > self._budget.dollars:
            raise BudgetExhausted(f"The next request would pass the check's budget of ${self._budget.dollars:.2f}.")

    def _dollars(self, model: str, usage: Usage) -> float | None:
        price = price_of(model, self._prices)
        return price.dollars(usage) if price else None

    def usage(self) -> tuple[RoleUsage, ...]:
        """What each role's answers cost, lost attempts included, whether they were paid now or before."""
        return tuple(used for role in Role if (used := self._usage_of(role)) is not None)

    def _usage_of(self, role: Role) -> RoleUsage | None:
        turns = [turn for turn in self._transcript.turns if turn.role is role and turn.booked]
        total = sum((usage for turn in turns for usage in turn.booked), Usage())
        if not turns:
            return None
        model = turns[0].request.model
        return RoleUsage(
            role=role,
            model=model,
            calls=len(turns),
            input_tokens=total.prompt_tokens,
            cached_tokens=total.cache_read_tokens,
            output_tokens=total.output_tokens,
            dollars=self._dollars(model, total),
        )
