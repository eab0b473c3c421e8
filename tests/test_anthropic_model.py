"""The adapter to the Messages API through real HTTP: against `llmock`, and where it cannot, `anthropic_server`."""

from __future__ import annotations

import json
import logging
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from anthropic_server import Answer, MessagesServer, begin, end, error, message, stream, text
from fakes import HeldConnections, connection, decide, issue, load_pair, scope, validated, yes
from llmock.pytest_plugin import LLMock
from llmock.scenarios import Delay, Match, Reply, StreamFault, ToolCall, ToolFault

from checker.agents import ModelBackend
from checker.anthropic_model import AnthropicModel
from checker.backends import client as connect
from checker.exchange import Budget
from checker.model import BudgetExhausted, ModelFailure, Request, Usage
from checker.pipeline import check
from checker.replies import SqliteReplies
from checker.report import Report, Verdict, write_report
from checker.taxonomy import Label, Role

KEY = "sk-ant-a-secret-of-this-test"
TOOL = {"name": "look", "description": "Looks.", "input_schema": {"type": "object", "properties": {}}}
REQUEST = Request(
    model="claude-test",
    system="You are asked by a test.",
    messages=({"role": "user", "content": [{"type": "text", "text": "What stands here?"}]},),
    schema={"type": "object", "properties": {}, "additionalProperties": False},
)
LOST = Usage(input_tokens=REQUEST.estimated_tokens)
UNBILLED = Usage()


class Waits(list[float]):
    """Stands in for `asyncio.sleep`: keeps the seconds, and does not wait."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


class Book:
    """A meter that allows so many attempts, and keeps what is booked."""

    def __init__(self, attempts: int = 1_000) -> None:
        self._left = attempts
        self.booked: list[Usage] = []

    def allow(self, request: Request) -> None:
        if not self._left:
            raise BudgetExhausted("The test allows no more.")
        self._left -= 1

    def book(self, model: str, usage: Usage) -> None:
        self.booked.append(usage)


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def book() -> Book:
    return Book()


@pytest.fixture
async def model(llmock: LLMock, waits: Waits) -> AsyncIterator[AnthropicModel]:
    """The adapter, led to llmock by the SDK's own environment variables."""
    async with connect() as client:
        yield AnthropicModel(client, sleep=waits)


@contextmanager
def served(monkeypatch: pytest.MonkeyPatch, *answers: Answer) -> Iterator[MessagesServer]:
    with MessagesServer.scripted(*answers) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        yield server


async def test_an_answer_comes_back_with_its_text_stop_reason_model_and_usage(
    llmock: LLMock, model: AnthropicModel, book: Book
) -> None:
    llmock.reply("It stands.")
    reply = await model.ask(REQUEST, book)
    assert (reply.text, reply.stop_reason, reply.model) == ("It stands.", "end_turn", "claude-test")
    assert book.booked == [reply.usage]
    assert reply.usage.output_tokens > 0


async def test_a_request_is_sent_as_a_stream_with_its_schema_and_a_cached_system_prompt(
    llmock: LLMock, model: AnthropicModel, book: Book
) -> None:
    await model.ask(REQUEST, book)
    sent = llmock.last_request.body
    assert sent["stream"] is True
    assert sent["output_config"] == {"format": {"type": "json_schema", "schema": REQUEST.schema}}
    assert sent["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert sent["messages"] == list(REQUEST.messages)
    assert "tools" not in sent


async def test_the_wait_that_a_rate_limit_asks_for_is_kept(
    llmock: LLMock, model: AnthropicModel, waits: Waits, book: Book
) -> None:
    llmock.rate_limit(retry_after=7).reply("At last.")
    assert (await model.ask(REQUEST, book)).text == "At last."
    assert waits == [7.0]
    assert book.booked[0] == UNBILLED


async def test_a_wait_longer_than_the_bound_is_not_waited_for(
    llmock: LLMock, model: AnthropicModel, waits: Waits, book: Book
) -> None:
    llmock.rate_limit(retry_after=3_600)
    with pytest.raises(ModelFailure, match="answered 429, and asks to wait 3600 s, longer than 60 s"):
        await model.ask(REQUEST, book)
    assert waits == []
    assert len(llmock.requests) == 1


@pytest.mark.parametrize("status", [408, 409, 500, 502, 503, 504, 529])
async def test_a_server_in_trouble_is_asked_again(
    llmock: LLMock, model: AnthropicModel, book: Book, status: int
) -> None:
    llmock.fail(status, times=2).reply("At last.")
    assert (await model.ask(REQUEST, book)).text == "At last."
    assert book.booked[:2] == [UNBILLED, UNBILLED]


async def test_waits_that_nobody_asked_for_grow(
    llmock: LLMock, model: AnthropicModel, waits: Waits, book: Book
) -> None:
    llmock.fail(500, times=4).reply("At last.")
    await model.ask(REQUEST, book)
    assert [0.5 * 2**n <= wait <= 2**n for n, wait in enumerate(waits)] == [True] * 4


async def test_attempts_are_bounded_and_the_last_reason_is_told(
    llmock: LLMock, model: AnthropicModel, book: Book
) -> None:
    llmock.outage(status=529)
    with pytest.raises(ModelFailure, match="gave no answer in 5 attempts; the last: the server answered 529"):
        await model.ask(REQUEST, book)
    assert len(llmock.requests) == 5


@pytest.mark.parametrize("kind", ["disconnect", "truncate", "malformed"])
@pytest.mark.parametrize("chunks", [0, 1, 4])
async def test_a_stream_that_breaks_off_is_booked_and_asked_for_again(
    llmock: LLMock, model: AnthropicModel, book: Book, kind: Any, chunks: int
) -> None:
    llmock.add(StreamFault(kind, after_chunks=chunks)).reply("A first answer.").reply("A second answer.")
    assert (await model.ask(REQUEST, book)).text == "A second answer."
    assert book.booked[0] == LOST


NO_STREAMS = {
    "nothing": b"",
    "HTML": b"<html>Welcome to the proxy</html>",
    "a whole message as JSON": json.dumps(begin()["message"]).encode(),
    "a list": b"event: message_start\ndata: []\n\n",
    "a message of another shape": stream({"type": "message_start", "message": 5}),
    "a delta of a block that never began": stream(begin(), text("x", index=3)[1]),
    "no UTF-8": stream(begin()) + b'event: content_block_start\ndata: "\xff"\n\n',
    "half of a surrogate pair": stream(begin(), *text("\ud83d"), *end()),
    "arguments of a tool that are no JSON": stream(
        begin(),
        {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "name": "look"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "look!"}},
        *end("tool_use"),
    ),
}


@pytest.mark.parametrize("body", NO_STREAMS.values(), ids=NO_STREAMS)
async def test_what_is_no_stream_of_the_api_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, waits: Waits, book: Book, body: bytes
) -> None:
    with served(monkeypatch, Answer(body), message("At last.")):
        async with connect() as client:
            reply = await AnthropicModel(client, sleep=waits).ask(REQUEST, book)
    assert reply.text == "At last."
    assert book.booked == [LOST, reply.usage]


async def test_a_body_that_cannot_be_decompressed_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, waits: Waits, book: Book
) -> None:
    with served(monkeypatch, Answer(b"no gzip", headers={"content-encoding": "gzip"}), message("At last.")):
        async with connect() as client:
            assert (await AnthropicModel(client, sleep=waits).ask(REQUEST, book)).text == "At last."


async def test_an_error_inside_a_stream_is_booked_and_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, waits: Waits, book: Book
) -> None:
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    with served(monkeypatch, Answer(stream(begin(), overloaded))) as server:
        async with connect() as client:
            with pytest.raises(
                ModelFailure, match=r"2 attempts; the last: the stream ended in an error \(Overloaded\)"
            ):
                await AnthropicModel(client, sleep=waits, attempts=2).ask(REQUEST, book)
    assert len(server.received) == 2
    assert book.booked == [LOST, LOST]


@pytest.mark.parametrize(
    ("reason", "says"),
    [
        ("max_tokens", "the answer was cut at the 8192 tokens it may have"),
        ("refusal", "the model refused to answer"),
        ("model_context_window_exceeded", "larger than the model's context window"),
    ],
)
async def test_a_stop_without_an_answer_is_a_failure_that_is_paid_and_not_repeated(
    llmock: LLMock, model: AnthropicModel, book: Book, reason: str, says: str
) -> None:
    llmock.add(Reply(text="Half of", finish_reason=reason))
    with pytest.raises(ModelFailure, match=says):
        await model.ask(REQUEST, book)
    assert len(llmock.requests) == len(book.booked) == 1
    assert book.booked[0].output_tokens > 0


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (401, r"refused the API key \(401\); check ANTHROPIC_API_KEY"),
        (403, r"refused the API key \(403\)"),
        (404, r"knows no model 'claude-test' \(404\); check --model"),
        (400, r"refused the request \(400\): Too many words"),
        (413, r"refused the request \(413\): Too many words"),
    ],
)
async def test_what_asking_again_cannot_mend_is_told_at_once(
    llmock: LLMock, model: AnthropicModel, book: Book, status: int, says: str
) -> None:
    llmock.fail(status, times=None, message="Too many words")
    with pytest.raises(ModelFailure, match=says):
        await model.ask(REQUEST, book)
    assert len(llmock.requests) == 1
    assert book.booked == [Usage()]


@pytest.mark.parametrize("slow", [Delay(0.6), StreamFault("stall", after_chunks=2, stall_seconds=0.6)])
async def test_a_call_is_cut_off_after_its_seconds_booked_and_made_again(
    llmock: LLMock, waits: Waits, book: Book, slow: Any
) -> None:
    llmock.add(slow).reply("Too late.").reply("In time.")
    async with connect() as client:
        reply = await AnthropicModel(client, call_seconds=0.3, sleep=waits).ask(REQUEST, book)
    assert reply.text == "In time."
    assert book.booked == [LOST, reply.usage]


async def test_a_model_that_never_answers_in_time_is_a_failure_that_names_the_time(
    llmock: LLMock, waits: Waits, book: Book
) -> None:
    llmock.delay(0.4, times=2)
    async with connect() as client:
        with pytest.raises(ModelFailure, match=r"2 attempts; the last: no whole answer within 0\.1 s"):
            await AnthropicModel(client, attempts=2, call_seconds=0.1, sleep=waits).ask(REQUEST, book)


async def test_a_server_that_is_not_there_is_named_as_such(
    monkeypatch: pytest.MonkeyPatch, waits: Waits, book: Book
) -> None:
    with served(monkeypatch, message("Never asked.")):
        pass
    async with connect() as client:
        with pytest.raises(ModelFailure, match=r"3 attempts; the last: the connection failed \(Cannot connect to host"):
            await AnthropicModel(client, attempts=3, sleep=waits).ask(REQUEST, book)
    assert book.booked == [UNBILLED] * 3


async def test_no_attempt_is_made_that_the_meter_does_not_allow(llmock: LLMock, model: AnthropicModel) -> None:
    llmock.outage()
    with pytest.raises(BudgetExhausted):
        await model.ask(REQUEST, Book(attempts=2))
    assert len(llmock.requests) == 2


async def test_the_address_of_the_environment_is_asked_with_the_key_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, book: Book
) -> None:
    with served(monkeypatch, message("Here.")) as server:
        async with connect() as client:
            await AnthropicModel(client).ask(REQUEST, book)
    assert server.received[0].path.startswith("/v1/messages")
    assert server.received[0].headers["authorization"] == f"Bearer {KEY}"


async def test_cached_tokens_arrive_in_the_usage(monkeypatch: pytest.MonkeyPatch, book: Book) -> None:
    usage = {"input_tokens": 70, "cache_read_input_tokens": 500, "cache_creation_input_tokens": 30}
    answer = Answer(stream(begin(**usage), *text("Known."), *end(output_tokens=9)))
    with served(monkeypatch, answer):
        async with connect() as client:
            reply = await AnthropicModel(client).ask(REQUEST, book)
    assert reply.usage == Usage(70, 9, cache_read_tokens=500, cache_write_tokens=30)
    assert book.booked == [reply.usage]


async def test_counts_that_a_server_leaves_out_count_as_none(monkeypatch: pytest.MonkeyPatch, book: Book) -> None:
    start: dict[str, Any] = begin()
    start["message"]["usage"] = {}
    with served(monkeypatch, Answer(stream(start, *text("Free."), *end()))):
        async with connect() as client:
            reply = await AnthropicModel(client).ask(REQUEST, book)
    assert reply.usage == Usage(0, 5)


# A whole check. llmock tells the roles apart by the name of the model that each is asked as.


def as_role(role: Role) -> str:
    return f"claude-{role.value}"


def plays(llmock: LLMock, role: Role, *turns: Any) -> None:
    """Each turn is an answer, or the tools that are called at once."""
    for turn in turns:
        said = {"tool_calls": turn} if isinstance(turn, tuple) else {"text": json.dumps(turn)}
        llmock.add(Reply(match=Match(model=as_role(role)), **said))


def asked(llmock: LLMock, role: Role) -> list[dict[str, Any]]:
    return [record.body for record in llmock.requests if record.model == as_role(role)]


def backend(model: AnthropicModel, **options: Any) -> ModelBackend:
    models = {role: as_role(role) for role in Role}
    return ModelBackend(model, models=models, connections=HeldConnections, **options)


async def checked(model: AnthropicModel, name: str, **options: Any) -> Report:
    return await check(load_pair(name), backend(model, **options), shortcuts=False)


async def test_tools_of_one_turn_are_run_and_their_results_sent_back_under_their_ids(
    llmock: LLMock, model: AnthropicModel
) -> None:
    calls = (ToolCall("get_pull_request", {"number": 318}), ToolCall("get_issue", {"number": 99_999}))
    plays(llmock, Role.ISSUE_ANALYZER, issue())
    plays(llmock, Role.SCOPE_ANALYZER, scope())
    plays(
        llmock, Role.CONNECTION_ANALYZER, calls, (ToolCall("get_issue", {"number": 310}),), connection(signals=["S5"])
    )
    report = await checked(model, "follow-up")
    assert [use.calls for use in report.usage if use.role is Role.CONNECTION_ANALYZER] == [3]
    assert not [doubt for doubt in report.undetermined if "Connection Analyzer" in doubt]
    first, second, third = asked(llmock, Role.CONNECTION_ANALYZER)
    assert [tool["name"] for tool in first["tools"]] == ["get_issue", "get_pull_request", "list_cross_references"]
    uses, results = second["messages"][1]["content"], second["messages"][2]["content"]
    assert [use["name"] for use in uses] == ["get_pull_request", "get_issue"]
    assert [result["tool_use_id"] for result in results] == [use["id"] for use in uses]
    assert [result["is_error"] for result in results] == [False, True]
    assert "cache_control" in results[-1]
    assert "cache_control" not in third["messages"][2]["content"][-1]
    assert third["messages"][:2] == second["messages"][:2]


@pytest.mark.parametrize(
    ("kind", "says"),
    [("malformed_arguments", "get_issue: number: Field required."), ("unknown_tool", "There is no tool")],
)
async def test_a_tool_call_that_makes_no_sense_is_answered_in_words(
    llmock: LLMock, model: AnthropicModel, kind: Any, says: str
) -> None:
    plays(llmock, Role.ISSUE_ANALYZER, issue())
    plays(llmock, Role.SCOPE_ANALYZER, scope())
    plays(llmock, Role.CONNECTION_ANALYZER, (ToolCall("get_issue", {"number": 310}),), connection())
    llmock.add(ToolFault(kind))
    await checked(model, "follow-up")
    result = asked(llmock, Role.CONNECTION_ANALYZER)[1]["messages"][-1]["content"][0]
    assert (result["is_error"], result["content"].startswith(says)) == (True, True)


async def test_the_three_phases_reach_a_label_through_faults_on_the_way(llmock: LLMock, model: AnthropicModel) -> None:
    creep = yes("SC-2", "pr/description", "This PR also adds support for wildcards in `getIn`:")
    plays(llmock, Role.ISSUE_ANALYZER, issue())
    plays(llmock, Role.SCOPE_ANALYZER, scope(creep), scope(creep))
    plays(llmock, Role.CONNECTION_ANALYZER, connection())
    plays(llmock, Role.COORDINATOR, decide(SC=True))
    plays(
        llmock, Role.CODE_VALIDATOR, (ToolCall("read_file", {"path": "x", "first": 1, "last": 2}),), validated(SC=True)
    )
    llmock.add(StreamFault("disconnect", match=Match(model=as_role(Role.SCOPE_ANALYZER))))
    llmock.fail(529, model=as_role(Role.COORDINATOR))
    report = await checked(model, "scope-creep-and-literal")
    assert (report.verdict, report.labels) == (Verdict.MISALIGNED, (Label.SC,))
    assert [decision.keep for _, decision in report.findings[0].decisions] == [True, True]
    assert len(asked(llmock, Role.SCOPE_ANALYZER)) == 2


async def test_a_server_that_is_down_leaves_the_pair_undetermined(llmock: LLMock, model: AnthropicModel) -> None:
    llmock.outage(status=529)
    report = await checked(model, "aligned")
    assert report.verdict is Verdict.UNDETERMINED
    assert sum("the server answered 529" in doubt for doubt in report.undetermined) == 3


async def test_lost_attempts_stand_in_the_reports_usage_and_use_up_the_budget(
    llmock: LLMock, model: AnthropicModel
) -> None:
    llmock.add(StreamFault("truncate", times=None))
    report = await checked(model, "aligned", budget=Budget(tokens=20_000))
    spent = sum(use.input_tokens for use in report.usage)
    assert any("budget of 20,000 tokens" in doubt for doubt in report.undetermined)
    assert 10_000 < spent < 25_000
    assert {use.output_tokens for use in report.usage} == {0}


def everything_in(folder: Path) -> str:
    return "".join(path.read_text("utf-8", "replace") for path in folder.rglob("*") if path.is_file())


async def test_cached_tokens_are_told_and_priced_in_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = {"input_tokens": 1_000, "cache_read_input_tokens": 4_000, "cache_creation_input_tokens": 2_000}
    with served(monkeypatch, message(json.dumps(issue()), **usage)):
        async with connect() as client:
            one = ModelBackend(AnthropicModel(client), default_model="claude-sonnet-5-5")
            report = await check(load_pair("aligned"), one, shortcuts=False)
    use = next(use for use in report.usage if use.role is Role.ISSUE_ANALYZER)
    assert (use.input_tokens, use.cached_tokens, use.output_tokens) == (7_000, 4_000, 5)
    assert use.dollars == pytest.approx((1_000 * 2 + 4_000 * 0.1 + 2_000 * 2.5 + 5 * 10) / 1e6)


LEAKS = {
    "a key that is refused": error(401, "authentication_error", f"invalid x-api-key {KEY}"),
    "a request that is refused": error(400, "invalid_request_error", f"{KEY} may not ask this"),
    "an error inside a stream": Answer(stream(begin(), {"type": "error", "error": {"message": f"{KEY} is blocked"}})),
    "an answer": message(json.dumps(issue())),
}


@pytest.mark.parametrize("answer", LEAKS.values(), ids=LEAKS)
async def test_the_key_stands_in_no_report_transcript_store_or_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path, waits: Waits, answer: Answer
) -> None:
    caplog.set_level(logging.DEBUG)
    with served(monkeypatch, answer) as server:
        async with connect() as client:
            store = SqliteReplies(tmp_path / "replies" / "replies.sqlite")
            asker = ModelBackend(AnthropicModel(client, attempts=2, sleep=waits), store=store)
            report = await check(load_pair("aligned"), asker, transcripts=tmp_path / "transcripts")
    assert server.received[0].headers["authorization"] == f"Bearer {KEY}"
    written = everything_in(tmp_path)
    assert report.id in written
    assert KEY not in json.dumps(write_report(report)) + caplog.text + written


@pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY}\r\nx-more: header"])
async def test_a_key_that_is_no_header_is_refused_in_words_that_do_not_hold_it(
    monkeypatch: pytest.MonkeyPatch, book: Book, key: str
) -> None:
    with served(monkeypatch, message("Never asked.")) as server:
        async with connect(key) as client:
            with pytest.raises(ModelFailure, match="ANTHROPIC_API_KEY holds no line break") as raised:
                await AnthropicModel(client).ask(REQUEST, book)
    assert KEY not in str(raised.value)
    assert server.received == []


async def test_a_name_and_a_password_in_the_address_are_sent_in_place_of_the_key_and_told_nowhere(
    monkeypatch: pytest.MonkeyPatch, book: Book
) -> None:
    with served(monkeypatch, message("Here."), error(404, "not_found_error", "none")) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url.replace("//", "//ann:p%40ss@"))
        async with connect() as client:
            await AnthropicModel(client).ask(REQUEST, book)
            with pytest.raises(ModelFailure) as raised:
                await AnthropicModel(client).ask(REQUEST, book)
    assert server.received[0].headers["authorization"] == f"Basic {b64encode(b'ann:p@ss').decode()}"
    assert "ss@" not in str(raised.value)


async def test_an_answer_that_counts_fewer_than_no_tokens_is_none(
    monkeypatch: pytest.MonkeyPatch, waits: Waits, book: Book
) -> None:
    with served(monkeypatch, message("Here.", input_tokens=-5_000), message("Here again.")):
        async with connect() as client:
            reply = await AnthropicModel(client, sleep=waits).ask(REQUEST, book)
    assert reply.text == "Here again."
    assert all(usage.tokens >= 0 for usage in book.booked)
