"""One account over all checks of an audit: what they may spend, and how often they may ask."""

from __future__ import annotations

import asyncio
import json
import time

import pytest
from fakes import ScriptedModel, no

from checker import prompting
from checker.account import Account, AccountedModel, Allowance, AllowanceSpent
from checker.model import Meter, Reply, Request, Usage
from checker.prices import PRICES
from checker.taxonomy import Role

MODEL = "claude-sonnet-5-5"
REQUEST = Request(MODEL, prompting.load(Role.ISSUE_ANALYZER).system, (), {})
ANSWER = {"signals": [], "clues": [], "incomplete_specification": no()}


class Free:
    """A check's own meter that allows everything."""

    def __init__(self) -> None:
        self.booked: list[Usage] = []

    def allow(self, request: Request) -> None:
        pass

    def book(self, model: str, usage: Usage) -> None:
        self.booked.append(usage)


class Retrying:
    """Needs three attempts, of which the second may have been billed."""

    async def ask(self, request: Request, meter: Meter) -> Reply:
        for usage in (Usage(), Usage(500), Usage(1_000, 100)):
            meter.allow(request)
            meter.book(request.model, usage)
        return Reply((), "end_turn", usage)


class Slow:
    """Never answers."""

    async def ask(self, request: Request, meter: Meter) -> Reply:
        meter.allow(request)
        await asyncio.sleep(60)
        raise AssertionError


@pytest.fixture
def lines() -> list[str]:
    return []


def account(lines: list[str], **limits: float) -> Account:
    return Account(Allowance(**limits), PRICES, lines.append)  # type: ignore[arg-type]


async def test_every_attempt_is_booked_and_kept(lines: list[str]) -> None:
    held, meter = account(lines), Free()
    await AccountedModel(Retrying(), held).ask(REQUEST, meter)
    assert (held.tokens, len(lines)) == (1_600, 2)
    assert held.dollars == pytest.approx((1_500 * 2 + 100 * 10) / 1e6)
    assert meter.booked == [Usage(), Usage(500), Usage(1_000, 100)]
    again = account([])
    for line in lines:
        again.load(json.loads(line))
    assert (again.tokens, again.dollars) == (held.tokens, held.dollars)


async def test_a_request_that_would_pass_the_budget_is_not_made(lines: list[str]) -> None:
    model = ScriptedModel({Role.ISSUE_ANALYZER: ANSWER})
    held = account(lines, tokens=REQUEST.estimated_tokens + 1_500 + 1_100)
    await AccountedModel(model, held).ask(REQUEST, Free())
    await AccountedModel(model, held).ask(REQUEST, Free())
    with pytest.raises(AllowanceSpent, match="the audit's budget of"):
        await AccountedModel(model, held).ask(REQUEST, Free())
    assert len(model.asked[Role.ISSUE_ANALYZER]) == 3, "asked, and refused before it was sent"
    assert held.tokens == 2_200


async def test_what_is_in_flight_counts_against_the_budget(lines: list[str]) -> None:
    model = ScriptedModel({Role.ISSUE_ANALYZER: ANSWER}, seconds=0.05)
    expected = (REQUEST.estimated_tokens * 2 + 1_500 * 10) / 1e6
    held = account(lines, dollars=3.5 * expected)
    calls = [AccountedModel(model, held).ask(REQUEST, Free()) for _ in range(10)]
    ended = await asyncio.gather(*calls, return_exceptions=True)
    assert sum(isinstance(one, Reply) for one in ended) == 3
    assert sum(isinstance(one, AllowanceSpent) for one in ended) == 7


async def test_a_model_without_a_price_is_never_within_a_budget_of_dollars(lines: list[str]) -> None:
    unpriced = Request("mine", REQUEST.system, (), {})
    model = ScriptedModel({Role.ISSUE_ANALYZER: ANSWER})
    with pytest.raises(AllowanceSpent):
        await AccountedModel(model, account(lines, dollars=1_000)).ask(unpriced, Free())
    held = account(lines)
    await AccountedModel(model, held).ask(unpriced, Free())
    assert held.dollars is None


async def test_a_request_that_was_cut_off_may_have_been_billed(lines: list[str]) -> None:
    held = account(lines)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await AccountedModel(Slow(), held).ask(REQUEST, Free())
    assert held.tokens == REQUEST.estimated_tokens


@pytest.fixture
def clock() -> float:
    return time.monotonic()


async def test_requests_keep_to_the_rate(lines: list[str], clock: float) -> None:
    model = ScriptedModel({Role.ISSUE_ANALYZER: ANSWER})
    held = account(lines, per_minute=1_200)
    await asyncio.gather(*(AccountedModel(model, held).ask(REQUEST, Free()) for _ in range(11)))
    assert time.monotonic() - clock >= 0.5 - 0.01, "ten intervals of a twentieth of a second"


async def test_retries_take_turns_too(lines: list[str], clock: float) -> None:
    held = account(lines, per_minute=1_200)
    await AccountedModel(Retrying(), held).ask(REQUEST, Free())
    await AccountedModel(Retrying(), held).ask(REQUEST, Free())
    assert time.monotonic() - clock >= 0.15 - 0.01


async def test_pairs_are_begun_no_faster_than_their_requests_can_be_made(lines: list[str], clock: float) -> None:
    held = account(lines, per_minute=600)
    for _ in range(3):
        await held.admit()
    assert time.monotonic() - clock >= 0.4 - 0.01
    for _ in range(60):
        held.take_turn()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.4):
            await held.admit()


async def test_without_a_rate_nobody_waits(lines: list[str], clock: float) -> None:
    held = account(lines)
    for _ in range(100):
        await held.admit()
        await held.turn()
    assert time.monotonic() - clock < 0.5
