"""A model to script. It answers in the Messages API's blocks and knows the roles by their prompts."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from checker import prompting
from checker.model import Meter, ModelFailure, Reply, Request, Usage
from checker.pair import Pair, read_pair
from checker.taxonomy import PIPELINE, Role
from checker.tools import RecordConnections

HERE = Path(__file__).parent


def load_pair(name: str) -> Pair:
    """A pair of `tests/cases` or `examples`, by file name."""
    path = HERE / "cases" / f"{name}.json"
    if not path.exists():
        path = HERE.parent / "examples" / f"{name}.json"
    return read_pair(json.loads(path.read_text(encoding="utf-8")))


def no(why: str = "Nothing of the kind is said.") -> dict[str, Any]:
    """A pattern that does not hold."""
    return {"why": why, "holds": False, "confidence": "high", "quotes": [], "repair": "", "scenario": None}


def yes(scenario: str, source: str, text: str, why: str = "It is said.") -> dict[str, Any]:
    """A pattern that holds, with one quote."""
    held = {"why": why, "holds": True, "confidence": "high", "repair": "Say so.", "scenario": scenario}
    return {**held, "quotes": [{"source": source, "text": text}]}


def issue(
    pattern: dict[str, Any] | None = None, *, clues: list[Any] | None = None, signals: Any = ()
) -> dict[str, Any]:
    """An Issue Analyzer's answer."""
    return {"signals": _stands(signals), "clues": clues or [], "incomplete_specification": pattern or no()}


def scope(
    creep: dict[str, Any] | None = None,
    literal: dict[str, Any] | None = None,
    *,
    clues: list[Any] | None = None,
    signals: Any = (),
    asked_ul: bool = True,
) -> dict[str, Any]:
    """A PR Scope Analyzer's answer; without `asked_ul` in the shape for UL ruled out."""
    answer = {"signals": _stands(signals), "clues": clues or [], "scope_creep": creep or no()}
    return {**answer, "unspecified_literal": literal or no()} if asked_ul else answer


def connection(
    defective: dict[str, Any] | None = None,
    follow_up: dict[str, Any] | None = None,
    *,
    clues: list[Any] | None = None,
    signals: Any = (),
) -> dict[str, Any]:
    """A PR Connection Analyzer's answer."""
    answer = {"signals": _stands(signals), "clues": clues or []}
    return {**answer, "defective_pr": defective or no(), "follow_up_pr": follow_up or no()}


def clue(says: str, source: str, text: str) -> dict[str, Any]:
    """A clue with one quote."""
    return {"says": says, "quotes": [{"source": source, "text": text}]}


def decide(others: dict[str, Any] | None = None, **keep: bool) -> dict[str, Any]:
    """A Coordinator's answer: `decide(SC=False)`."""
    decisions = [{"label": label, "why": f"{label} looked at.", "keep": kept} for label, kept in keep.items()]
    return {"decisions": decisions, "others": others}


def validated(**keep: bool) -> dict[str, Any]:
    """A Code Validator's answer: `validated(UL=True)`."""
    decisions = [{"label": label, "why": f"{label} read.", "keep": kept, "lines": []} for label, kept in keep.items()]
    return {"decisions": decisions}


def given(label: str, source: str, text: str, scenario: str | None = None, why: str = "It is said.") -> dict[str, Any]:
    """One label of a classifier's answer."""
    quotes = [{"source": source, "text": text}]
    return {"why": why, "label": label, "scenario": scenario, "confidence": "medium", "quotes": quotes}


def classified(*labels: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A classifier's answer."""
    return {**more, "labels": list(labels)}


def _stands(ids: Any) -> list[dict[str, Any]]:
    return [{"id": signal, "counts": False, "why": "looked at"} for signal in ids]


class ToolCalls(list[tuple[str, Any]]):
    """A turn that calls tools: (name, input) each."""


class ScriptedModel:
    """Each role's turns in order: a dict is an answer, ToolCalls calls tools, a str is prose, an error is raised.

    The last turn of a role repeats. `asked` records the requests. `seconds`: how long each turn takes.
    """

    def __init__(self, script: Mapping[Role, Any], *, seconds: float = 0, usage: Usage | None = None) -> None:
        self._script = {role: deque(_turns(turns)) for role, turns in script.items()}
        self._seconds = seconds
        self._usage = usage or Usage(1_000, 100)
        self.asked: dict[Role, list[Request]] = defaultdict(list)

    async def ask(self, request: Request, meter: Meter) -> Reply:
        """See `checker.model.Model`."""
        # Beside the five roles' prompts there are only those of the baselines.
        role = next((role for role in PIPELINE if prompting.load(role).system == request.system), Role.CLASSIFIER)
        self.asked[role].append(request)
        meter.allow(request)
        await asyncio.sleep(self._seconds)
        turns = self._script[role]
        turn = turns.popleft() if len(turns) > 1 else turns[0]
        if isinstance(turn, Exception):
            raise turn
        meter.book(request.model, self._usage)
        stop_reason = "tool_use" if isinstance(turn, ToolCalls) else "end_turn"
        return Reply(_blocks(turn), stop_reason, self._usage, request.model)


class HeldConnections(RecordConnections):
    """Over a record, but held by the PR Connection Analyzer also where all that they hold was shown to it."""

    can_read = True


def _turns(turns: Any) -> list[Any]:
    return turns if isinstance(turns, list) and not isinstance(turns, ToolCalls) else [turns]


def _blocks(turn: Any) -> tuple[dict[str, Any], ...]:
    if isinstance(turn, ToolCalls):
        return tuple(
            {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}
            for number, (name, given) in enumerate(turn)
        )
    return ({"type": "text", "text": turn if isinstance(turn, str) else json.dumps(turn)},)


__all__ = ["ModelFailure", "ScriptedModel", "ToolCalls", "load_pair"]
