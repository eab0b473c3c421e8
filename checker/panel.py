"""One way of checking a pair, ready to be asked: a pipeline with its backend, or a panel of several with one vote."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from checker.pair import Pair
from checker.pipeline import Backend, Limits, Plan, check
from checker.report import Report
from checker.tally import Ballot, Rule, settled, tally

Equip = Callable[[Backend], Backend]
_WHOLE, _USUAL, _TWO_VOTES = Plan(), Limits(), Rule()


class Checker(Protocol):
    """Anything that makes a report of a pair. It raises no more than `pipeline.check` does."""

    @property
    def name(self) -> str:
        """As its reports give it."""

    @property
    def backends(self) -> tuple[Backend, ...]:
        """Who plays the roles in it, one a member."""

    async def __call__(self, pair: Pair) -> Report:
        """Checks one pair."""

    def over(self, equip: Equip) -> Checker:
        """The same over other backends, each made from the one that is there: live tools, an account, a watch."""


@dataclass(frozen=True)
class Solo:
    """`pipeline.check` with everything but the pair given."""

    backend: Backend
    plan: Plan = _WHOLE
    shortcuts: bool = True
    limits: Limits = _USUAL
    transcripts: Path | None = None

    @property
    def name(self) -> str:
        """The backend's name."""
        return self.backend.name

    @property
    def backends(self) -> tuple[Backend, ...]:
        """See Checker."""
        return (self.backend,)

    async def __call__(self, pair: Pair) -> Report:
        """Checks one pair."""
        return await check(
            pair,
            self.backend,
            plan=self.plan,
            shortcuts=self.shortcuts,
            limits=self.limits,
            transcripts=self.transcripts,
        )

    def over(self, equip: Equip) -> Solo:
        """See Checker."""
        return replace(self, backend=equip(self.backend))


@dataclass(frozen=True)
class Panel:
    """Several checkers under their names, and the rule by which their reports become one. All are asked at once.

    In a cascade (`rule.tie`) there are three, and the third is asked only where the first two are not settled.
    """

    members: tuple[tuple[str, Checker], ...]
    rule: Rule = _TWO_VOTES

    @property
    def name(self) -> str:
        """Who is asked, and what it takes."""
        names = [name for name, _ in self.members]
        if self.rule.tie is None:
            return f"panel, {self.rule.quorum} of {len(names)}: {', '.join(names)}"
        decides = {"third": "which decides", "vote": "by vote"}[self.rule.tie]
        return f"cascade: {names[0]}, {names[1]}, else {names[2]} ({decides})"

    @property
    def backends(self) -> tuple[Backend, ...]:
        """See Checker."""
        return tuple(backend for _, member in self.members for backend in member.backends)

    async def __call__(self, pair: Pair) -> Report:
        """Asks the members and counts their votes."""
        at_once = len(self.members) if self.rule.tie is None else 2
        ballots = await _asked(self.members[:at_once], pair)
        if at_once < len(self.members) and not settled(ballots[0].report, ballots[1].report):
            ballots += await _asked(self.members[at_once:], pair)
        return tally(ballots, self.name, self.rule)

    def over(self, equip: Equip) -> Panel:
        """See Checker."""
        return replace(self, members=tuple((name, member.over(equip)) for name, member in self.members))


async def _asked(members: Sequence[tuple[str, Checker]], pair: Pair) -> list[Ballot]:
    """The members' ballots, in their order."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_asked_one(member, pair)) for _, member in members]
    return [Ballot(name, task.result()) for (name, _), task in zip(members, tasks, strict=True)]


async def _asked_one(member: Checker, pair: Pair) -> Report:
    return await member(pair)
