"""A check run again from its transcript: every reply is at hand, no model is asked."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from checker.agents import ModelBackend
from checker.evaluation.baselines import BASELINES, classifier
from checker.evaluation.outside import OutsideAnswer, OutsideBackend, OutsideFailure
from checker.exchange import Budget
from checker.model import Meter, ModelFailure, Reply, Request, Usage
from checker.pair import Pair, Text, read_pair
from checker.pipeline import Backend, Limits, Plan, check
from checker.prices import Price
from checker.replies import read_reply
from checker.report import Report
from checker.rules import RulesBackend
from checker.taxonomy import Role
from checker.tools import Found, Kind, Refused

_UNBOUNDED = 10**12


class _Turn(TypedDict):
    key: str
    booked: list[Usage]
    reply: dict[str, Any] | None
    failure: str | None


class RecordedModel:
    """Answers each request as the transcript says it was answered, failures and lost attempts included."""

    def __init__(self, turns: list[_Turn]) -> None:
        self._turns: dict[str, deque[_Turn]] = defaultdict(deque)
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
            meter.book(request.model, usage)
        if turn["reply"] is not None:
            return read_reply(turn["reply"])
        if turn["failure"] is not None:
            raise ModelFailure(turn["failure"])
        raise TimeoutError


class _ToolCall(TypedDict):
    name: str
    input: dict[str, Any]
    refused: bool
    note: str
    texts: list[Text]


class RecordedTools:
    """The agents' tools as they answered then, so that a check over a live GitHub is replayed without one."""

    def __init__(self, calls: list[_ToolCall], settings: _Settings) -> None:
        self._calls = calls
        self.can_read = settings.get("can_read", False)
        self.can_search = settings.get("can_search", False)
        self.can_list = settings.get("can_list", False)

    async def issue(self, number: int) -> Found:
        """See `checker.tools.Connections`."""
        return self._answered("get_issue", number=number)

    async def pull_request(self, number: int) -> Found:
        """See `checker.tools.Connections`."""
        return self._answered("get_pull_request", number=number)

    async def cross_references(self, number: int) -> Found:
        """See `checker.tools.Connections`."""
        return self._answered("list_cross_references", number=number)

    async def search(self, words: str, kind: Kind) -> Found:
        """See `checker.tools.Connections`."""
        return self._answered("search", words=words, kind=kind)

    async def folder(self, path: str) -> str:
        """See `checker.tools.FileReader`."""
        return self._answered("list_folder", path=path).note

    async def read(self, path: str, first: int, last: int) -> str:
        """See `checker.tools.FileReader`."""
        return self._answered("read_file", path=path, first=first, last=last).texts[0].body

    def _answered(self, name: str, **arguments: Any) -> Found:
        # A model may leave out an argument that has a default.
        call = next((c for c in self._calls if c["name"] == name and {**arguments, **c["input"]} == arguments), None)
        if call is None:
            raise Refused("The transcript holds no such call.")
        if call["refused"]:
            raise Refused(call["note"])
        return Found(tuple(call["texts"]), call["note"])


class _Settings(TypedDict):
    shortcuts: bool
    limits: Limits
    models: NotRequired[dict[Role, str]]
    prices: NotRequired[dict[str, Price]]
    can_read: NotRequired[bool]
    can_search: NotRequired[bool]
    can_list: NotRequired[bool]
    plan: NotRequired[Plan]
    method: NotRequired[Literal["zero-shot", "few-shot", "cot", "agent"]]
    outside: NotRequired[OutsideAnswer | OutsideFailure]


class _Transcript(TypedDict):
    """What of a transcript a replay needs."""

    backend: str
    pair: dict[str, Any]
    settings: _Settings
    turns: list[_Turn]
    tool_calls: list[_ToolCall]


async def replay(transcript: Mapping[str, Any]) -> Report:
    """The report of a transcript, made anew from what it holds; the same to the letter if no code has changed.

    Raises `pydantic.ValidationError` where the transcript is damaged.
    """
    whole = TypeAdapter(_Transcript).validate_python(transcript)
    settings = whole["settings"]
    pair = read_pair(whole["pair"])
    return await check(
        pair,
        _backend(whole),
        shortcuts=settings["shortcuts"],
        limits=settings["limits"],
        plan=settings.get("plan", Plan()),
    )


def _backend(transcript: _Transcript) -> Backend:
    settings = transcript["settings"]
    if "outside" in settings:
        return OutsideBackend(transcript["backend"], _Recorded(settings["outside"]))
    if "models" not in settings:
        return RulesBackend()
    tools = RecordedTools(transcript["tool_calls"], settings)
    backend = ModelBackend(
        RecordedModel(transcript["turns"]),
        connections=lambda _: tools,
        reader=lambda _: tools,
        default_model=transcript["backend"].split(", ")[0],
        models=settings["models"],
        budget=Budget(_UNBOUNDED),
        prices=settings.get("prices", {}),
    )
    if "method" not in settings:
        return backend
    is_baseline = settings.get("plan", Plan()).as_given
    return classifier(backend, BASELINES[settings["method"]], proves=not is_baseline)


@dataclass(frozen=True)
class _Recorded:
    """What an outside agent answered then."""

    said: OutsideAnswer | OutsideFailure

    async def __call__(self, pair: Pair) -> OutsideAnswer:
        if isinstance(self.said, OutsideAnswer):
            return self.said
        raise ModelFailure(self.said["failure"])
