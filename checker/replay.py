"""A check run again from its transcript: every reply is at hand, no model is asked."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from typing import Any

from checker.agents import ModelBackend
from checker.exchange import Budget
from checker.model import Meter, ModelFailure, Reply, Request, Usage
from checker.pair import read_pair
from checker.pipeline import Backend, Limits, check
from checker.prices import Price
from checker.replies import read_reply
from checker.report import Report
from checker.rules import RulesBackend
from checker.taxonomy import Role

_UNBOUNDED = 10**12


class RecordedModel:
    """Answers each request as the transcript says it was answered, failures and lost attempts included."""

    def __init__(self, turns: list[Mapping[str, Any]]) -> None:
        self._turns: dict[str, deque[Mapping[str, Any]]] = defaultdict(deque)
        for turn in turns:
            self._turns[turn["key"]].append(turn)

    async def ask(self, request: Request, meter: Meter) -> Reply:
        """See `checker.model.Model`. A request that was not made then is a ModelFailure that says so."""
        turns = self._turns.get(request.key)
        if not turns:
            raise ModelFailure(
                "the transcript holds no such request: prompts or code have changed since it was written."
            )
        turn = turns.popleft() if len(turns) > 1 else turns[0]
        for usage in turn["booked"]:
            meter.book(request.model, Usage(**usage))
        if turn["reply"] is not None:
            return read_reply(turn["reply"])
        if turn["failure"] is not None:
            raise ModelFailure(turn["failure"])
        raise TimeoutError


async def replay(transcript: Mapping[str, Any]) -> Report:
    """The report of a transcript, made anew from what it holds; the same to the letter if no code has changed."""
    settings = transcript["settings"]
    return await check(
        read_pair(transcript["pair"]),
        _backend(transcript),
        shortcuts=settings["shortcuts"],
        limits=Limits(**settings["limits"]),
    )


def _backend(transcript: Mapping[str, Any]) -> Backend:
    settings = transcript["settings"]
    if "models" not in settings:
        return RulesBackend()
    return ModelBackend(
        RecordedModel(transcript["turns"]),
        default_model=transcript["backend"].split(", ")[0],
        models={Role(role): name for role, name in settings["models"].items()},
        budget=Budget(_UNBOUNDED),
        prices={name: Price(**price) for name, price in settings["prices"].items()},
    )
