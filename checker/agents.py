"""The five roles with a model: what each reads, which tools it holds, what it must return.

Each role is one conversation (`_Conversation`): a request, tool turns, an answer in its schema. An answer
that breaks the schema, or quotes what is not there, goes back to its author once.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from checker import prompting, views
from checker.answers import AnalyzerAnswer, CoordinatorAnswer, ValidatorAnswer, answer_type
from checker.case import Case
from checker.evidence import Evidence, Quote, Unproved, prove
from checker.exchange import Budget, Exchange
from checker.model import Json, Model, ModelFailure, Reply, Request
from checker.pair import Pair, Text
from checker.prices import PRICES, Price, price_of
from checker.replies import ReplyStore
from checker.report import AgentReport, Clue, CoordinatorReview, Finding, Review, RoleUsage
from checker.taxonomy import PIPELINE, Label, Role
from checker.tools import (
    Connections,
    FileReader,
    Found,
    PatchReader,
    RecordConnections,
    Refused,
    Toolbox,
    connection_tools,
    file_tools,
)

DEFAULT_MODEL = "claude-sonnet-5-5"
LONGEST_TOOL_RESULT = 6_000
LONGEST_TALK = 8

Answer = TypeVar("Answer", bound=BaseModel)
NO_TOOLS = Toolbox({})


@dataclass(frozen=True)
class ModelBackend:
    """The five roles as a model plays them. `models`: a model's name per role, else `default_model`.

    `connections` and `reader` make the agents' tools from a pair; by default they read what the pair holds.
    """

    model: Model
    default_model: str = DEFAULT_MODEL
    models: Mapping[Role, str] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    prices: Mapping[str, Price] = field(default_factory=lambda: PRICES)
    store: ReplyStore | None = None
    sample: int = 0
    connections: Callable[[Pair], Connections] = RecordConnections
    reader: Callable[[Pair], FileReader] = PatchReader
    reads_intent: bool = True

    @property
    def name(self) -> str:
        """The models in use, the default first."""
        used = {self.models.get(role, self.default_model) for role in PIPELINE}
        return ", ".join([self.default_model, *sorted(used - {self.default_model})])

    def open(self, case: Case) -> ModelSession:
        """The roles for one check."""
        exchange = Exchange(
            self.model,
            case.transcript,
            budget=self.budget,
            prices=self.prices,
            store=self.store,
            sample=self.sample,
        )
        models = {role: self.models.get(role, self.default_model) for role in Role}
        priced = {name: price for name in set(models.values()) if (price := price_of(name, self.prices))}
        connections, reader = self.connections(case.pair), self.reader(case.pair)
        case.transcript.settings |= {
            "can_read": connections.can_read,
            "can_search": connections.can_search,
            "can_list": reader.can_list,
            "models": {role.value: name for role, name in models.items()},
            "prices": {name: asdict(price) for name, price in sorted(priced.items())},
        }
        return ModelSession(case, exchange, models, connections, reader)


@dataclass(frozen=True)
class ModelSession:
    """One check's five roles, asked through an Exchange."""

    case: Case
    exchange: Exchange
    models: Mapping[Role, str]
    connections: Connections
    reader: FileReader

    async def analyze(self, role: Role, labels: tuple[Label, ...]) -> AgentReport:
        """Phase I: one analyzer, asked about some or all of its labels. Raises ModelFailure."""
        answer = await self.converse(
            role,
            views.analyzer(role, self.case, labels),
            answer_type(role, labels),
            lambda a: _analyzer_problems(a, self.case.texts),
            tools=self._tools(role),
        )
        report, clues = answer.report(role)
        return replace(report, clues=tuple(_clue(role, says, quotes, self.case.texts) for says, quotes in clues))

    async def coordinate(
        self, reports: tuple[AgentReport, ...], findings: tuple[Finding, ...], clues: tuple[Clue, ...]
    ) -> CoordinatorReview:
        """Phase II, over the analyzers' reports and nothing else. Raises ModelFailure."""
        answer = await self.converse(
            Role.COORDINATOR,
            views.coordinator(reports, findings, clues),
            CoordinatorAnswer,
            lambda a: _undecided(findings, (d.label for d in a.decisions)),
        )
        return answer.review()

    async def validate(self, findings: tuple[Finding, ...]) -> Review:
        """Phase III, over the patches and files at the head. Raises ModelFailure."""
        answer = await self.converse(
            Role.CODE_VALIDATOR,
            views.validator(self.case, findings),
            ValidatorAnswer,
            lambda a: _undecided(findings, (d.label for d in a.decisions)),
            tools=file_tools(self.reader),
        )
        return answer.review()

    async def converse(
        self,
        role: Role,
        request: str,
        wanted: type[Answer],
        problems: Callable[[Answer], list[str]],
        *,
        tools: Toolbox = NO_TOOLS,
        system: str | None = None,
        turns: int = LONGEST_TALK,
    ) -> Answer:
        """One role's whole conversation. `system`: what it is told, if not its own prompt. Raises ModelFailure."""
        talk = _Conversation(self, role, tools, prompting.load(role).system if system is None else system)
        return await talk.answer(request, wanted, problems, turns)

    def usage(self) -> tuple[RoleUsage, ...]:
        """What the roles cost so far."""
        return self.exchange.usage()

    def _tools(self, role: Role) -> Toolbox:
        """A tool that can find nothing costs turns: over a record without mentions none is held."""
        holds = role is Role.CONNECTION_ANALYZER and self.connections.can_read
        return connection_tools(self.connections) if holds else NO_TOOLS


class _Conversation:
    """The turns of one role until its answer stands."""

    def __init__(self, session: ModelSession, role: Role, tools: Toolbox, system: str) -> None:
        self._session = session
        self._role = role
        self._tools = tools
        self._messages: list[Json] = []
        self._system = system

    async def answer(
        self, request: str, wanted: type[Answer], problems: Callable[[Answer], list[str]], turns: int
    ) -> Answer:
        """The checked answer. Evidence that is still wrong after one repair is left to the pipeline to drop."""
        self._say([{"type": "text", "text": request}])
        repaired = False
        for _ in range(turns):
            reply = await self._turn(wanted)
            if reply.tool_calls:
                self._say(await self._results(reply))
                continue
            checked, complaints = _read(reply.text, wanted, problems)
            if checked is not None and (repaired or not complaints):
                return checked
            if repaired:
                raise ModelFailure(f"its answer did not fit the schema, also when asked again: {complaints[0]}")
            repaired = True
            self._say([{"type": "text", "text": _complain(complaints, checked is None, wanted)}])
        raise ModelFailure(f"it gave no answer within {turns} turns.")

    async def _turn(self, wanted: type[BaseModel]) -> Reply:
        request = Request(
            model=self._session.models[self._role],
            system=self._system,
            messages=tuple(self._messages),
            schema=_schema(wanted),
            tools=self._tools.definitions,
        )
        reply = await self._session.exchange.ask(self._role, request)
        self._messages.append({"role": "assistant", "content": list(reply.content)})
        return reply

    def _say(self, content: list[Json]) -> None:
        self._messages.append({"role": "user", "content": content})

    async def _results(self, reply: Reply) -> list[Json]:
        """Tools of one turn run at once; their results stand in the order of the calls."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._result(call)) for call in reply.tool_calls]
        return [task.result() for task in tasks]

    async def _result(self, call: Json) -> Json:
        try:
            found, failed = await self._tools.call(call["name"], call["input"]), False
        except Refused as refusal:
            found, failed = Found((), str(refusal)), True
        self._session.case.learn(text for text in found.texts if not text.name.startswith("file/"))
        said = found.note[:LONGEST_TOOL_RESULT]
        # A refusal is in our own words; what was found may hold a stranger's.
        note = said if failed or not said else prompting.enclose(said, "note")
        body = prompting.seal("\n".join(part for part in (note, _fenced(found.texts)) if part))
        self._session.case.transcript.tool_calls.append(
            {
                "role": self._role.value,
                "name": call["name"],
                "input": call["input"],
                "refused": failed,
                "note": found.note,
                "texts": [asdict(text) for text in found.texts],
            }
        )
        return {"type": "tool_result", "tool_use_id": call["id"], "content": body, "is_error": failed}


def _fenced(texts: tuple[Text, ...]) -> str:
    return prompting.fence(prompting.show(text, LONGEST_TOOL_RESULT) for text in texts) if texts else ""


@cache
def _schema(wanted: type[BaseModel]) -> Json:
    import anthropic

    schema: Json = _without_titles(anthropic.transform_schema(wanted))
    return schema


def _without_titles(schema: Any) -> Any:
    """Pydantic titles every field with its own name, which a model reads and pays for once more."""
    if isinstance(schema, list):
        return [_without_titles(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _without_titles(part) for key, part in schema.items() if key != "title" or not isinstance(part, str)}


def _read(text: str, wanted: type[Answer], problems: Callable[[Answer], list[str]]) -> tuple[Answer | None, list[str]]:
    try:
        answer = wanted.model_validate_json(text)
    except ValidationError as error:
        return None, [f"{'.'.join(map(str, e['loc'])) or 'answer'}: {e['msg']}" for e in error.errors()[:5]]
    return answer, problems(answer)


def _complain(complaints: list[str], broken: bool, wanted: type[BaseModel]) -> str:
    lines = ["Your answer cannot be used as it is:", *(f"- {complaint}" for complaint in complaints)]
    if broken:
        lines.append(f"Answer with one JSON object of this schema: {json.dumps(wanted.model_json_schema())}")
    else:
        lines.append("Copy the words to the letter from the text you name, or withdraw what they were to show.")
        lines.append("Give the whole answer again.")
    return "\n".join(lines)


def _analyzer_problems(answer: AnalyzerAnswer, texts: Mapping[str, Text]) -> list[str]:
    proofs = (prove(quote, texts) for quote in answer.quotes())
    unproved = [f"{p.quote.source}: {p.quote.text[:120]!r}: {p.reason}." for p in proofs if isinstance(p, Unproved)]
    return answer.problems() + unproved


def _undecided(findings: tuple[Finding, ...], decided: Iterable[str]) -> list[str]:
    missing = {finding.label.value for finding in findings} - {str(label) for label in decided}
    return [f"There is no decision on {label}." for label in sorted(missing)]


def _clue(role: Role, says: str, quotes: list[Quote], texts: Mapping[str, Text]) -> Clue:
    proofs = (prove(quote, texts) for quote in quotes)
    return Clue(role.value, says, tuple(proof for proof in proofs if isinstance(proof, Evidence)))
