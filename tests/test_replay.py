"""A transcript replays to the letter without a model, and a store of replies pays for nothing twice."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fakes import (
    HeldConnections,
    ScriptedModel,
    ToolCalls,
    clue,
    connection,
    decide,
    issue,
    load_pair,
    scope,
    validated,
    yes,
)

from checker import cli, prompting
from checker.agents import ModelBackend
from checker.exchange import Budget
from checker.model import Meter, Model, ModelFailure, Reply, Request, Usage
from checker.pair import Text
from checker.pipeline import Limits, check
from checker.prices import Price
from checker.replay import replay
from checker.replies import SqliteReplies
from checker.report import Report, write_report
from checker.rules import RulesBackend
from checker.taxonomy import PIPELINE, Artifact, Label, Role
from checker.tools import Found, Kind, Refused
from checker.transcript import Transcript

CREEP = yes("SC-2", "pr/description", "This PR also adds support for wildcards in `getIn`:")
LOOKS = ToolCalls([("get_issue", {"number": 99_999}), ("list_cross_references", {"number": 1}), ("get_issue", {})])
USUAL = Limits()
REQUEST = Request("m", "s", ({"role": "user", "content": [{"type": "text", "text": "?"}]},), {"type": "object"})


class Hanging:
    """A model that never answers one of the roles."""

    def __init__(self, model: Model, role: Role) -> None:
        self._model = model
        self._system = prompting.load(role).system
        self.reached = asyncio.Event()

    async def ask(self, request: Request, meter: Meter) -> Reply:
        """See `checker.model.Model`."""
        if request.system == self._system:
            meter.allow(request)
            self.reached.set()
            await asyncio.Event().wait()
        return await self._model.ask(request, meter)


class Stumbling:
    """A model whose first attempt at each request is paid and lost."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def ask(self, request: Request, meter: Meter) -> Reply:
        """See `checker.model.Model`."""
        meter.allow(request)
        meter.book(request.model, Usage(input_tokens=7))
        return await self._model.ask(request, meter)


def script(**turns: Any) -> dict[Role, Any]:
    """A pair that creeps; with tools, and an answer that had to be mended, on the way."""
    told = {
        "issue_analyzer": ["This is no JSON.", issue(clues=[clue("It is terse.", "pr/title", "no such words")])],
        "pr_scope_analyzer": scope(CREEP),
        "pr_connection_analyzer": [LOOKS, connection()],
        "coordinator": decide(SC=True),
        "code_validator": validated(SC=True),
    }
    return {Role(name): turn for name, turn in {**told, **turns}.items()}


def text(report: Report) -> str:
    return json.dumps(write_report(report), ensure_ascii=False)


def read(folder: Path) -> dict[str, Any]:
    (path,) = folder.iterdir()
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data


async def recorded(
    folder: Path, model: Model, *, limits: Limits = USUAL, **options: Any
) -> tuple[Report, dict[str, Any]]:
    backend = ModelBackend(model, **options)
    pair = load_pair("scope-creep-and-literal")
    report = await check(pair, backend, shortcuts=False, limits=limits, transcripts=folder)
    return report, await asyncio.to_thread(read, folder)


DOWN = ModelFailure("The server is down.")
CHECKS: Mapping[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a label, a tool loop and a repair": ({}, {}),
    "others": (
        {
            "pr_scope_analyzer": scope(CREEP, clues=[clue("Off.", "pr/description", CREEP["quotes"][0]["text"])]),
            "coordinator": decide({"why": "Off.", "clues": [0], "confidence": "low", "repair": ""}, SC=False),
            "code_validator": validated(Others=True),
        },
        {},
    ),
    "a quote that is not there": ({"pr_scope_analyzer": scope(yes("SC-2", "pr/description", "no such words"))}, {}),
    "an answer that is never mended": ({"coordinator": "No."}, {}),
    "tools without end": ({"code_validator": ToolCalls([("read_file", {"path": "x"})])}, {}),
    "a failure of an analyzer": ({"issue_analyzer": DOWN}, {}),
    "a failure of the last phase": ({"code_validator": DOWN}, {}),
    "a spent budget": ({}, {"budget": Budget(12_000)}),
    "a role with a model of its own, and a price": (
        {},
        {"models": {Role.COORDINATOR: "other"}, "prices": {"other": Price(1, 2, 3, 4)}},
    ),
}


@pytest.mark.parametrize(("turns", "options"), CHECKS.values(), ids=CHECKS)
async def test_a_transcript_replays_to_the_same_report_to_the_letter(
    tmp_path: Path, turns: dict[str, Any], options: dict[str, Any]
) -> None:
    report, transcript = await recorded(tmp_path, ScriptedModel(script(**turns)), **options)
    assert text(await replay(transcript)) == text(report)
    assert transcript["report"] == write_report(report)


class LiveConnections(HeldConnections):
    """Stands for a GitHub that can be asked during the check and is gone at the replay."""

    can_search = True

    async def pull_request(self, number: int) -> Found:
        body = "Add wildcards\nThis one added wildcards before."
        read = Text(f"related/pr/{number}", Artifact.ISSUE_TIMELINE, body, created_at=datetime(2024, 5, 1, tzinfo=UTC))
        return Found((read,), f"pull request {number}, merged.")

    async def search(self, words: str, kind: Kind) -> Found:
        return Found((), f"{kind} with {words}: pull request 700.")


class LiveFiles:
    """The same for files."""

    can_list = True

    async def folder(self, path: str) -> str:
        return f"{path}/path.ts (file)"

    async def read(self, path: str, first: int, last: int) -> str:
        if path == "gone.ts":
            raise Refused("gone.ts could not be read.")
        return f"{first}\tfirst line of {path}"


async def test_a_check_with_live_tools_replays_without_them(tmp_path: Path) -> None:
    searched = ("search", {"words": "wildcards"})
    earlier = ToolCalls([searched, ("get_pull_request", {"number": 700}), ("get_issue", {"number": 9_999})])
    files = ToolCalls(
        [("list_folder", {"path": "src"})]
        + [(("read_file"), {"path": p, "first": 1, "last": 3}) for p in ("src/path.ts", "gone.ts")]
    )
    follows = connection(follow_up=yes("FP-2", "related/pr/700", "This one added wildcards before."))
    turns = {
        "pr_connection_analyzer": [earlier, follows],
        "coordinator": decide(FP=True, SC=True),
        "code_validator": [files, validated(FP=True, SC=True)],
    }
    live = {"connections": LiveConnections, "reader": lambda _: LiveFiles()}
    report, transcript = await recorded(tmp_path, ScriptedModel(script(**turns)), **live)
    assert Label.FP in report.labels
    assert text(await replay(transcript)) == text(report)


async def test_lost_attempts_are_replayed_with_what_they_cost(tmp_path: Path) -> None:
    report, transcript = await recorded(tmp_path, Stumbling(ScriptedModel(script())))
    assert next((use.calls, use.input_tokens) for use in report.usage) == (2, 2 * 1_007)
    assert text(await replay(transcript)) == text(report)


async def test_the_checks_that_are_replayed_take_the_ways_that_they_are_named_for(tmp_path: Path) -> None:
    report, transcript = await recorded(tmp_path, ScriptedModel(script()))
    assert report.labels == (Label.SC,)
    assert [turn["role"] for turn in transcript["turns"]].count("issue_analyzer") == 2
    assert [call["refused"] for call in transcript["tool_calls"]] == [True, True, True]


async def test_a_role_that_was_cut_off_replays_as_cut_off_and_its_request_counts_as_paid(tmp_path: Path) -> None:
    model = Hanging(ScriptedModel(script()), Role.ISSUE_ANALYZER)
    report, transcript = await recorded(tmp_path, model, limits=Limits(role_seconds=2))
    assert "it did not finish within the 2 s" in report.undetermined[0]
    assert report.usage[0].input_tokens > 1_000
    assert text(await replay(transcript)) == text(report)


async def test_a_check_by_rules_replays_too(tmp_path: Path) -> None:
    report = await check(load_pair("follow-up"), RulesBackend(), transcripts=tmp_path)
    assert text(await replay(await asyncio.to_thread(read, tmp_path))) == text(report)


async def test_a_replay_whose_requests_have_changed_says_so(tmp_path: Path) -> None:
    _, transcript = await recorded(tmp_path, ScriptedModel(script()))
    turns = [{**turn, "key": "of another prompt"} for turn in transcript["turns"]]
    report = await replay({**transcript, "turns": turns})
    assert sum("prompts or code have changed" in doubt for doubt in report.undetermined) == 3


async def test_a_transcript_is_whole_and_for_its_owner_only(tmp_path: Path) -> None:
    await recorded(tmp_path / "new" / "folder", ScriptedModel(script()))
    (path,) = (tmp_path / "new" / "folder").iterdir()
    assert path.suffix == ".json"
    assert path.stat().st_mode & 0o777 == 0o600


async def test_an_id_that_looks_like_a_path_stays_inside_the_folder(tmp_path: Path) -> None:
    pair = replace(load_pair("aligned"), id="../../a/b c")
    assert Transcript(pair).write(tmp_path).parent == tmp_path


async def test_a_check_that_is_broken_off_leaves_its_transcript(tmp_path: Path) -> None:
    model = Hanging(ScriptedModel(script()), Role.COORDINATOR)
    running = asyncio.create_task(recorded(tmp_path, model))
    await model.reached.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    transcript = await asyncio.to_thread(read, tmp_path)
    assert transcript["report"] is None
    assert [turn["reply"] is None for turn in transcript["turns"] if turn["role"] == "coordinator"] == [True]


@pytest.mark.parametrize("form", ["json", "text", "markdown"])
def test_the_command_replay_prints_what_the_command_check_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    kept = tmp_path / "kept"
    pair = str(Path(__file__).parent / "cases" / "follow-up.json")
    with pytest.raises(SystemExit) as checked:
        cli.main(["check", pair, "--backend", "rules", "--transcripts", str(kept), "--format", form])
    printed = capsys.readouterr().out
    with pytest.raises(SystemExit) as replayed:
        cli.main(["replay", *map(str, kept.iterdir()), "--format", form])
    assert capsys.readouterr().out == printed != ""
    assert replayed.value.code == checked.value.code


def test_the_command_replay_prints_the_report_of_a_model_to_the_letter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report, _ = asyncio.run(recorded(tmp_path, ScriptedModel(script())))
    with pytest.raises(SystemExit) as replayed:
        cli.main(["replay", *map(str, tmp_path.iterdir()), "--format", "json"])
    assert capsys.readouterr().out == text(report) + "\n"
    assert replayed.value.code == cli.SOME_MISALIGNED


@pytest.mark.parametrize("content", ["", "{", "[]", '{"turns": []}', '{"schema": "paichecker.pair/1"}'])
def test_what_is_no_transcript_is_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str
) -> None:
    path = tmp_path / "file.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        cli.main(["replay", str(path)])
    assert ended.value.code == cli.BAD_INPUT
    assert capsys.readouterr().err.startswith(f"paichecker: {path}: ")


def test_a_folder_for_transcripts_that_cannot_be_made_stops_before_anything_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit) as ended:
        cli.main(["check", "--examples", "--transcripts", str(tmp_path / "file")])
    assert ended.value.code == cli.BAD_INPUT
    assert capsys.readouterr() == (
        "",
        f"paichecker: --transcripts {tmp_path / 'file'}: it cannot be written to (File exists)\n",
    )


# The store of replies.


async def kept(store: SqliteReplies, model: Model, **options: Any) -> Report:
    backend = ModelBackend(model, store=store, **options)
    return await check(load_pair("scope-creep-and-literal"), backend, shortcuts=False)


async def test_a_second_run_of_the_same_check_asks_nothing_and_reports_the_same(tmp_path: Path) -> None:
    first = await kept(SqliteReplies(tmp_path / "r.sqlite"), ScriptedModel(script()))
    silent = ScriptedModel({})
    second = await kept(SqliteReplies(tmp_path / "r.sqlite"), silent)
    assert silent.asked == {}
    assert text(second) == text(first)


async def test_replies_at_hand_do_not_count_against_the_budget(tmp_path: Path) -> None:
    store = SqliteReplies(tmp_path / "r.sqlite")
    first = await kept(store, ScriptedModel(script()))
    assert text(await kept(store, ScriptedModel({}), budget=Budget(1))) == text(first)


async def test_only_the_role_whose_request_changed_is_asked_again(tmp_path: Path) -> None:
    store = SqliteReplies(tmp_path / "r.sqlite")
    await kept(store, ScriptedModel(script()))
    again = ScriptedModel(script())
    await kept(store, again, models={Role.CODE_VALIDATOR: "another"})
    assert set(again.asked) == {Role.CODE_VALIDATOR}


async def test_another_sample_is_asked_anew(tmp_path: Path) -> None:
    store = SqliteReplies(tmp_path / "r.sqlite")
    await kept(store, ScriptedModel(script()))
    again = ScriptedModel(script())
    await kept(store, again, sample=1)
    assert set(again.asked) == PIPELINE


async def test_a_role_that_failed_is_asked_again_and_the_others_are_not(tmp_path: Path) -> None:
    store = SqliteReplies(tmp_path / "r.sqlite")
    await kept(store, ScriptedModel(script(code_validator=DOWN)))
    again = ScriptedModel(script())
    report = await kept(store, again)
    assert set(again.asked) == {Role.CODE_VALIDATOR}
    assert not [doubt for doubt in report.undetermined if "failed" in doubt]


def test_a_reply_is_kept_for_its_pair_and_sample_and_the_first_one_stays(tmp_path: Path) -> None:
    store = SqliteReplies(tmp_path / "r.sqlite")
    first = Reply(({"type": "text", "text": "Zoë 🦉"},), "end_turn", Usage(1, 2, 3, 4), "m")
    store.put("pair", REQUEST, 0, first)
    store.put("pair", REQUEST, 0, replace(first, stop_reason="another"))
    assert store.get("pair", REQUEST, 0) == first
    assert store.get("another", REQUEST, 0) is None
    assert store.get("pair", REQUEST, 1) is None
    assert store.get("pair", replace(REQUEST, system="changed"), 0) is None


def test_the_store_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    store = SqliteReplies(tmp_path / "folder" / "r.sqlite")
    store.put("pair", REQUEST, 0, Reply((), "end_turn"))
    assert {path.stat().st_mode & 0o077 for path in (tmp_path / "folder").iterdir()} == {0}


def write_and_read(path: Path, mine: str) -> int:
    """What one of two processes does: replies of its own, and those that both write."""
    store = SqliteReplies(path)
    for number in range(40):
        request = replace(REQUEST, system=str(number))
        for pair in (mine, "shared"):
            store.put(pair, request, 0, Reply(({"type": "text", "text": pair},), "end_turn"))
    replies = [store.get(mine, replace(REQUEST, system=str(number)), 0) for number in range(40)]
    return sum(reply is not None and reply.text == mine for reply in replies)


def test_two_processes_may_use_one_store_at_once(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as processes:
        found = list(processes.map(write_and_read, [path] * 2, ["a", "b"]))
    assert found == [40, 40]
    assert write_and_read(path, "shared") == 40
