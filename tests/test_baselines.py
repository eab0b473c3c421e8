"""The baselines: one model, all artifacts at once, labels as they are given."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from anthropic_server import MessagesServer, message
from command_line import ALIGNED, MISALIGNED
from command_line import run as command
from fakes import (
    HeldConnections,
    ScriptedModel,
    ToolCalls,
    classified,
    connection,
    decide,
    given,
    issue,
    load_pair,
    scope,
    validated,
    yes,
)

from checker import signals, views
from checker.agents import LONGEST_TALK, ModelBackend
from checker.case import Case
from checker.evaluation.baselines import AS_GIVEN, BASELINES, classifier
from checker.exchange import Budget
from checker.model import ModelFailure
from checker.panel import Solo
from checker.pipeline import check
from checker.render import as_markdown, as_text
from checker.replay import replay
from checker.replies import SqliteReplies
from checker.report import Report, Verdict, read_report, write_report
from checker.taxonomy import PIPELINE, Artifact, Label, Role, Scenario
from checker.transcript import Transcript, file_name

NAME = "scope-creep-and-literal"
WORDS = "This PR also adds support for wildcards in `getIn`:"
CREEP = given("SC", "pr/description", WORDS, "SC-2")
FALSE = given("UL", "patch/test", "a line that no test holds at all", "UL-1")


def answer(method: str, *labels: dict[str, Any]) -> dict[str, Any]:
    return classified(*labels, **({"steps": "One, two."} if method == "cot" else {}))


async def ask(method: str, turns: Any, pair: str = NAME, **options: Any) -> tuple[Report, ScriptedModel]:
    model = ScriptedModel({Role.CLASSIFIER: turns})
    transcripts = options.pop("transcripts", None)
    backend = classifier(ModelBackend(model, **{"connections": HeldConnections, **options}), BASELINES[method])
    return await Solo(backend, AS_GIVEN, shortcuts=False, transcripts=transcripts)(load_pair(pair)), model


def names(request: str) -> set[str]:
    """The texts that a request shows."""
    return set(re.findall(r'<t[0-9a-f]{7} name="([^"]+)"', request))


async def names_shown_to_the_roles() -> set[str]:
    """All that the five roles together are shown of the pair of full size."""
    pair = load_pair("full-size")
    creep = yes("SC-2", "pr/description", pair.pull_request.body[:60])
    turns = [issue(), scope(creep), connection(), decide(SC=True), validated(SC=True)]
    model = ScriptedModel(dict(zip((role for role in Role if role in PIPELINE), turns, strict=True)))
    await check(pair, ModelBackend(model), shortcuts=False)
    return {name for role in PIPELINE for name in names(model.asked[role][0].messages[0]["content"][0]["text"])}


# What they are asked


@pytest.mark.parametrize("method", BASELINES)
async def test_one_request_holds_all_artifacts_and_no_fact_of_ours(method: str) -> None:
    _, model = await ask(method, answer(method), pair="full-size")
    assert {role: len(requests) for role, requests in model.asked.items()} == {Role.CLASSIFIER: 1}
    shown = model.asked[Role.CLASSIFIER][0].messages[0]["content"][0]["text"]
    assert names(shown) == await names_shown_to_the_roles()
    assert {"pr/description", "patch/code", "patch/test"} < names(shown)
    assert "take a stand" not in shown
    assert "S1:" not in shown


async def test_the_methods_differ_in_what_they_are_told_and_answer_and_in_nothing_else() -> None:
    asked = {method: (await ask(method, answer(method)))[1].asked[Role.CLASSIFIER][0] for method in BASELINES}
    assert len({request.system for request in asked.values()}) == len(BASELINES)
    assert len({request.messages[0]["content"][0]["text"] for request in asked.values()}) == 1
    assert {method for method, request in asked.items() if request.tools} == {"agent"}
    assert list(asked["zero-shot"].schema["properties"]) == ["labels"]
    assert list(asked["cot"].schema["properties"]) == ["steps", "labels"]


@pytest.mark.parametrize("method", BASELINES)
def test_no_prompt_of_a_baseline_holds_a_name_to_be_filled_in(method: str) -> None:
    assert "$" not in BASELINES[method].system
    assert "# Request" not in BASELINES[method].system


def test_the_made_up_cases_hold_each_label_and_one_pair_without() -> None:
    cases = re.findall(r"Answer: ([A-Za-z]+)", BASELINES["few-shot"].system)
    assert cases == ["SC", "DP", "IS", "FP", "UL", "Others", "no"]


async def test_the_agent_reads_with_typed_tools_until_it_answers() -> None:
    looks = ToolCalls([("get_issue", {"number": 310}), ("read_file", {"path": "no/such", "first": 1, "last": 9})])
    found = given("FP", "related/pr/318", load_pair("follow-up").texts["related/pr/318"].body[:80], "FP-2")
    report, model = await ask("agent", [looks, answer("agent", found)], pair="follow-up")
    first, second = model.asked[Role.CLASSIFIER]
    tools = [tool["name"] for tool in first.tools]
    assert tools == ["get_issue", "get_pull_request", "list_cross_references", "read_file"]
    results = second.messages[2]["content"]
    assert [result["is_error"] for result in results] == [False, True]
    assert report.labels == (Label.FP,)
    assert report.usage[0].calls == 2


async def test_the_agent_has_more_turns_than_a_role_and_not_without_end() -> None:
    looks = ToolCalls([("get_issue", {"number": 310})])
    report, _ = await ask("agent", [*[looks] * (2 * LONGEST_TALK), answer("agent", CREEP)])
    assert report.labels == (Label.SC,)
    endless, model = await ask("agent", looks)
    assert endless.verdict is Verdict.UNDETERMINED
    assert len(model.asked[Role.CLASSIFIER]) == 4 * LONGEST_TALK


# What becomes of the answer


@pytest.mark.parametrize("method", BASELINES)
async def test_labels_stand_as_given_and_the_report_says_which_quotes_do_not(method: str) -> None:
    report, model = await ask(method, answer(method, CREEP, FALSE))
    assert report.verdict is Verdict.MISALIGNED
    assert len(model.asked[Role.CLASSIFIER]) == 1, "a baseline is not asked to mend its quotes"
    creep, literal = report.findings
    assert (creep.label, creep.scenario, len(creep.evidence), creep.unproved) == (Label.SC, Scenario.SC_2, 1, ())
    assert (literal.label, literal.evidence) == (Label.UL, ())
    assert literal.unproved[0].text == "a line that no test holds at all"
    assert report.dropped == ()
    for text in (as_text(report), as_markdown(report)):
        assert "no quote proves it" in text
        assert "Not proved, it does not stand in patch/test" in text
    assert read_report(write_report(report)) == report


async def test_a_baseline_may_say_others_by_itself() -> None:
    report, _ = await ask("zero-shot", answer("zero-shot", given("Others", "pr/description", WORDS)))
    assert report.labels == (Label.OTHERS,)


async def test_a_label_given_twice_counts_once_and_a_scenario_of_another_label_not_at_all() -> None:
    again = given("SC", "pr/description", WORDS, "SC-1")
    report, _ = await ask("zero-shot", answer("zero-shot", CREEP, again, given("UL", "pr/description", WORDS, "SC-1")))
    assert [(f.label, f.scenario) for f in report.findings] == [(Label.SC, Scenario.SC_2), (Label.UL, None)]


async def test_nothing_found_in_a_pair_that_was_read_is_aligned_and_in_one_that_was_not_is_undetermined() -> None:
    read, _ = await ask("zero-shot", answer("zero-shot"), pair="aligned")
    assert (read.verdict, read.undetermined) == (Verdict.ALIGNED, ())
    pair = load_pair("aligned")
    unread = replace(pair, unread=(Artifact.ISSUE_DISCUSSION,))
    backend = classifier(ModelBackend(ScriptedModel({Role.CLASSIFIER: answer("cot")})), BASELINES["cot"])
    report = await check(unread, backend, plan=AS_GIVEN, shortcuts=False)
    assert report.verdict is Verdict.UNDETERMINED


@pytest.mark.parametrize("turns", ["prose", {"labels": [{"label": "XX"}]}, {}, ModelFailure("It is down.")])
async def test_no_usable_answer_is_undetermined_and_says_so(turns: Any) -> None:
    report, _ = await ask("zero-shot", turns, pair="aligned")
    assert report.verdict is Verdict.UNDETERMINED
    assert "The Classifier failed" in report.undetermined[0]


async def test_the_report_names_the_model_and_the_method() -> None:
    report, _ = await ask("cot", answer("cot"), default_model="m", models={Role.CLASSIFIER: "n", Role.COORDINATOR: "o"})
    assert report.backend == "n (cot)"
    assert report.usage[0].model == "n"


# What they share with the pipeline


async def test_replies_are_kept_and_a_budget_holds(tmp_path: Path) -> None:
    store = SqliteReplies(tmp_path / "replies.sqlite")
    await ask("zero-shot", answer("zero-shot", CREEP), store=store)
    again, silent = await ask("zero-shot", ModelFailure("never"), store=store)
    assert (again.labels, dict(silent.asked)) == ((Label.SC,), {})
    poor, _ = await ask("zero-shot", answer("zero-shot", CREEP), budget=Budget(10))
    assert poor.verdict is Verdict.UNDETERMINED
    assert "budget of 10 tokens" in poor.undetermined[0]


@pytest.mark.parametrize("method", BASELINES)
async def test_a_transcript_replays_to_the_letter(method: str, tmp_path: Path) -> None:
    turns = [ToolCalls([("get_issue", {"number": 310})]), answer(method, CREEP, FALSE)] if method == "agent" else None
    report, _ = await ask(method, turns or answer(method, CREEP, FALSE), transcripts=tmp_path)
    transcript = json.loads((tmp_path / f"{file_name(report.id)}.json").read_text())
    assert write_report(await replay(transcript)) == write_report(report)


def test_what_did_not_fit_into_the_request_is_said() -> None:
    pair = load_pair("full-size")
    case = Case(pair, signals.read(pair), Transcript(pair))
    views.everything(case)
    assert case.cuts[Role.CLASSIFIER]


# Through the command, over real HTTP


@pytest.mark.parametrize("method", BASELINES)
def test_the_command_asks_over_http_and_prints_the_labels(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, method: str
) -> None:
    with MessagesServer.scripted(message(json.dumps(answer(method, CREEP)))) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "not a key")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        options = ["--method", method, "--replies", str(tmp_path), "--format", "json"]
        status, out, err = command(capsys, "check", str(MISALIGNED), *options)
    report = json.loads(out)
    assert (status, report["labels"], err) == (1, ["SC"], "")
    assert len(server.received) == 1
    assert server.received[0].system == BASELINES[method].system


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "zero-shot"], "--method zero-shot asks a model: set ANTHROPIC_API_KEY"),
        (["--without", "phase-1"], "--without phase-1 asks a model: set ANTHROPIC_API_KEY"),
        (["--method", "guess"], "is none of paichecker, zero-shot, few-shot, cot, agent, command:..."),
        (["--method", "cot", "--without", "issue"], "--without leaves out a part of --method paichecker"),
        (["--without", "phase-9"], "invalid choice"),
        (["--model", "classifier=m"], "--model classifier=... is for the baselines"),
    ],
)
def test_a_usage_error_is_a_sentence(capsys: pytest.CaptureFixture[str], options: list[str], message: str) -> None:
    status, out, err = command(capsys, "check", str(ALIGNED), *options)
    assert (status, out) == (2, "")
    assert message in err
