"""An agent that is not ours: the pair as JSON on its standard input, its labels as JSON on its standard output.

No shell is started, nothing of our environment is handed on but what is named, what it prints is bounded, and
its time is: whatever else comes back than `{"labels": [...]}` leaves the pair undetermined, with a sentence.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError
from typing_extensions import TypedDict

from checker.case import Case
from checker.model import ModelFailure
from checker.pair import Pair, write_pair
from checker.render import one_line
from checker.report import AgentReport, Clue, CoordinatorReview, Finding, Judgment, Review, RoleUsage
from checker.taxonomy import NO_MISALIGNMENT, Label, Role

LONGEST_ANSWER = 1_000_000
LONGEST_COMPLAINT = 2_000
LONGEST_RUN_SECONDS = 1_800
_CHUNK = 65_536
# What programs need to run at all; a key is handed on only by name (--agent-env).
HANDED_ON = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TMPDIR", "SHELL", "SYSTEMROOT")


class OutsideAnswer(BaseModel):
    """What an outside agent returns, in UTF-8. Fields beside these are ignored."""

    labels: list[str]
    reason: str = ""


class OutsideFailure(TypedDict):
    """What a transcript holds in place of an answer."""

    failure: str


def environment_for(environment: Mapping[str, str], named: tuple[str, ...]) -> dict[str, str]:
    """The part of an environment that an outside agent is given."""
    return {name: environment[name] for name in (*HANDED_ON, *named) if name in environment}


@dataclass(frozen=True)
class Command:
    """A program to start for each pair: its path and arguments, and the whole of its environment."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    seconds: float = LONGEST_RUN_SECONDS

    async def __call__(self, pair: Pair) -> OutsideAnswer:
        """Starts it, feeds it, and reads its answer. Raises ModelFailure; nothing it started outlives the call."""
        program = one_line(self.arguments[0])
        try:
            process = await asyncio.create_subprocess_exec(
                *self.arguments, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=self.environment, start_new_session=True
            )
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise ModelFailure(f"{program} cannot be started ({why}).") from None
        try:
            async with asyncio.timeout(self.seconds):
                out, complaint, status = await _dealt_with(process, json.dumps(write_pair(pair)).encode())
        except TimeoutError:
            raise ModelFailure(f"{program} gave no answer within {self.seconds:g} s.") from None
        finally:
            await _end(process)
        if status:
            said = f": {complaint}" if complaint else ", and said nothing on standard error"
            raise ModelFailure(f"{program} ended with status {status}{said}.")
        return _answer(program, out)


async def _dealt_with(process: Process, question: bytes) -> tuple[bytes, str, int]:
    """Its output, the end of what it said on standard error, its exit status. All three streams move at once."""
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None  # noqa: PT018, S101
    async with asyncio.TaskGroup() as group:
        group.create_task(_feed(process.stdin, question))
        out = group.create_task(_read(process.stdout, LONGEST_ANSWER))
        said = group.create_task(_tail(process.stderr, LONGEST_COMPLAINT))
    status = await process.wait()
    return out.result(), one_line(said.result().decode("utf-8", "replace")), status


async def _feed(stream: asyncio.StreamWriter, question: bytes) -> None:
    """An agent may answer without reading its question to the end."""
    with suppress(BrokenPipeError, ConnectionResetError):
        stream.write(question)
        await stream.drain()
        stream.close()
        await stream.wait_closed()


async def _read(stream: asyncio.StreamReader, most: int) -> bytes:
    """All of a stream, but of more than `most` bytes one more than that; the rest is read and let go."""
    held = b""
    while chunk := await stream.read(_CHUNK):
        held += chunk[: most + 1 - len(held)]
    return held


async def _tail(stream: asyncio.StreamReader, most: int) -> bytes:
    held = b""
    while chunk := await stream.read(_CHUNK):
        held = (held + chunk)[-most:]
    return held


async def _end(process: Process) -> None:
    """Kills the process and what it started: it leads a group of its own."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _answer(program: str, out: bytes) -> OutsideAnswer:
    if len(out) > LONGEST_ANSWER:
        raise ModelFailure(f"{program} answered with more than {LONGEST_ANSWER:,} bytes.")
    try:
        answer = OutsideAnswer.model_validate_json(out)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "answer"
        raise ModelFailure(
            f'{program} did not answer with one JSON object {{"labels": [...]}} ({where}: {first["msg"]}).'
        ) from None
    unknown = [label for label in answer.labels if label not in {*Label, NO_MISALIGNMENT}]
    if unknown:
        raise ModelFailure(f"{program} gave a label that there is not: {one_line(unknown[0])[:60]!r}.")
    if NO_MISALIGNMENT in answer.labels and len(set(answer.labels)) > 1:
        raise ModelFailure(f"{program} gave {NO_MISALIGNMENT} together with other labels.")
    return answer


@dataclass(frozen=True)
class OutsideBackend:
    """An outside agent in the classifier's place. `ask` is a Command, or what a transcript holds."""

    name: str
    ask: Callable[[Pair], Awaitable[OutsideAnswer]]
    reads_intent: bool = True

    def open(self, case: Case) -> OutsideSession:
        """The agent for one check."""
        return OutsideSession(case, self.ask, self.name)


@dataclass(frozen=True)
class OutsideSession:
    """One check by an outside agent; the later phases are not asked."""

    case: Case
    ask: Callable[[Pair], Awaitable[OutsideAnswer]]
    name: str

    async def analyze(self, role: Role, labels: tuple[Label, ...]) -> AgentReport:
        """The agent's labels. Raises ModelFailure."""
        settings = self.case.transcript.settings
        try:
            answer = await self.ask(self.case.pair)
        except ModelFailure as failure:
            settings["outside"] = OutsideFailure(failure=str(failure))
            raise
        settings["outside"] = answer.model_dump()
        wanted = [*labels, *([Label.OTHERS] if Label.OTHERS in answer.labels else [])]
        return AgentReport(role, tuple(Judgment(label, label in answer.labels, answer.reason) for label in wanted))

    async def coordinate(
        self, reports: tuple[AgentReport, ...], findings: tuple[Finding, ...], clues: tuple[Clue, ...]
    ) -> CoordinatorReview:
        """Keeps all: an outside agent's labels stand as given."""
        return CoordinatorReview(Role.COORDINATOR)

    async def validate(self, findings: tuple[Finding, ...]) -> Review:
        """Keeps all."""
        return Review(Role.CODE_VALIDATOR)

    def usage(self) -> tuple[RoleUsage, ...]:
        """One call at an unknown price: what an outside agent costs it tells whoever runs it."""
        return (RoleUsage(Role.CLASSIFIER, self.name, calls=1, dollars=None),)
