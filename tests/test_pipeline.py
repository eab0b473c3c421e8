"""The three phases with a scripted model, on pairs that retell the paper's cases."""

from __future__ import annotations

import asyncio
from dataclasses import replace
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
    no,
    scope,
    validated,
    yes,
)

from checker.agents import ModelBackend
from checker.exchange import Budget
from checker.model import ModelFailure, Usage
from checker.pair import Pair
from checker.pipeline import Limits, check
from checker.prices import Price
from checker.report import Report, Verdict
from checker.rules import RulesBackend
from checker.taxonomy import Artifact, Label, Role

ANALYZERS = (Role.ISSUE_ANALYZER, Role.SCOPE_ANALYZER, Role.CONNECTION_ANALYZER)


def script(**turns: Any) -> dict[Role, Any]:
    """A whole script, in which whatever is not said finds nothing."""
    quiet = {
        "issue_analyzer": issue(),
        "pr_scope_analyzer": scope(),
        "pr_connection_analyzer": connection(),
        "coordinator": decide(),
        "code_validator": validated(),
    }
    return {Role(name): turn for name, turn in {**quiet, **turns}.items()}


async def run(pair: Pair, model: ScriptedModel, **options: Any) -> Report:
    backend = ModelBackend(model, connections=HeldConnections)
    return await check(pair, backend, shortcuts=options.pop("shortcuts", False), **options)


async def test_the_accidental_link_ends_as_others_with_sc_and_is_dropped() -> None:
    pair = load_pair("accidental-link")
    found = clue("The text closes #2254, the stated issue is #2291.", "pr/description", "Fixes #2254")
    comment = next(t for t in pair.texts.values() if t.artifact is Artifact.ISSUE_DISCUSSION)
    model = ScriptedModel(
        script(
            issue_analyzer=issue(yes("IS-1", comment.name, comment.body[:80])),
            pr_scope_analyzer=scope(yes("SC-2", "pr/description", "Fixes #2254"), clues=[found], signals=["S1"]),
            coordinator=decide(
                {"why": "Unrelated.", "clues": [0], "confidence": "high", "repair": "Unlink."}, SC=False, IS=False
            ),
            code_validator=validated(Others=True),
        )
    )
    report = await run(pair, model)
    assert report.labels == (Label.OTHERS,)
    assert {(d.label, d.by) for d in report.dropped} == {(Label.SC, "coordinator"), (Label.IS, "coordinator")}
    assert report.findings[0].evidence[0].quote == "Fixes #2254"


async def test_four_duplicates_lose_sc_in_the_third_phase() -> None:
    creep = yes("SC-1", "pr/description", "Fixes #340, fixes #352, fixes #367, fixes #371")
    model = ScriptedModel(
        script(pr_scope_analyzer=scope(creep), coordinator=decide(SC=True), code_validator=validated(SC=False))
    )
    report = await run(load_pair("four-duplicates"), model)
    assert report.labels == ()
    assert [(d.label, d.by) for d in report.dropped] == [(Label.SC, "code_validator")]


async def test_a_slip_loses_sc_in_the_second_phase_with_a_clue_of_the_connection_analyzer() -> None:
    slip = clue("#7361 is a slip of #7316.", "pr/description", "- [x] closes #7361")
    model = ScriptedModel(
        script(
            pr_scope_analyzer=scope(yes("SC-1", "pr/description", "- [x] closes #7361"), signals=["S2"]),
            pr_connection_analyzer=connection(clues=[slip]),
            coordinator=decide(SC=False),
        )
    )
    report = await run(load_pair("typo-number"), model)
    assert [(d.label, d.by) for d in report.dropped] == [(Label.SC, "coordinator")]
    assert "#7361 is a slip of #7316." in model.asked[Role.COORDINATOR][0].messages[0]["content"][0]["text"]
    assert Role.CODE_VALIDATOR not in model.asked


async def test_a_pair_without_label_clue_or_doubt_is_aligned() -> None:
    report = await run(load_pair("aligned"), ScriptedModel(script()))
    assert report.verdict is Verdict.ALIGNED
    assert report.undetermined == ()


@pytest.mark.parametrize("field", ["code_patch", "test_patch"])
async def test_a_patch_that_breaks_off_leaves_a_pair_without_label_undetermined_and_not_aligned(field: str) -> None:
    pair = load_pair("aligned")
    broken = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,5 +1,5 @@\n-x\n+y\n"
    pair = replace(pair, pull_request=replace(pair.pull_request, **{field: broken}))
    report = await run(pair, ScriptedModel(script()))
    assert report.verdict is Verdict.UNDETERMINED
    assert any("is no unified diff and was not read" in remark for remark in report.remarks)


async def test_rules_say_nothing_found_and_never_aligned() -> None:
    report = await check(load_pair("aligned"), RulesBackend())
    assert (report.verdict, report.backend) == (Verdict.NOTHING_FOUND, "rules")


@pytest.mark.parametrize("role", ANALYZERS)
@pytest.mark.parametrize("error", [ModelFailure("The server is down."), ZeroDivisionError("ours")])
async def test_an_analyzer_that_raises_leaves_the_pair_undetermined_and_its_siblings_alone(
    role: Role, error: Exception
) -> None:
    model = ScriptedModel({**script(), role: error})
    report = await run(load_pair("aligned"), model)
    assert report.verdict is Verdict.UNDETERMINED
    assert any(role.words in doubt for doubt in report.undetermined)
    assert set(model.asked) >= set(ANALYZERS)


async def test_a_label_stands_with_low_confidence_when_a_later_phase_fails() -> None:
    creep = yes("SC-2", "pr/description", "This PR also adds support for wildcards in `getIn`:")
    model = ScriptedModel(script(pr_scope_analyzer=scope(creep), coordinator=ModelFailure("No answer.")))
    report = await run(load_pair("scope-creep-and-literal"), model)
    assert report.verdict is Verdict.MISALIGNED
    assert report.findings[0].confidence == "low"
    assert any("Coordinator failed" in doubt for doubt in report.undetermined)


async def test_an_analyzer_that_hangs_is_cut_off_and_leaves_the_pair_undetermined() -> None:
    started = asyncio.get_running_loop().time()
    report = await run(load_pair("aligned"), ScriptedModel(script(), seconds=30), limits=Limits(role_seconds=0.05))
    assert report.verdict is Verdict.UNDETERMINED
    assert "did not finish" in report.undetermined[0]
    assert asyncio.get_running_loop().time() - started < 25


async def test_an_answer_outside_the_schema_goes_back_once_and_may_be_mended() -> None:
    model = ScriptedModel(script(issue_analyzer=['{"holds": 1}', issue()]))
    report = await run(load_pair("aligned"), model)
    assert report.verdict is Verdict.ALIGNED
    again = model.asked[Role.ISSUE_ANALYZER][1].messages[-1]["content"][0]["text"]
    assert "incomplete_specification" in again


async def test_an_answer_that_stays_outside_the_schema_leaves_the_pair_undetermined() -> None:
    report = await run(load_pair("aligned"), ScriptedModel(script(issue_analyzer="There is no problem here.")))
    assert report.verdict is Verdict.UNDETERMINED
    assert "did not fit the schema" in report.undetermined[0]


async def test_a_quote_that_is_not_there_goes_back_once_and_the_mended_one_counts() -> None:
    invented = yes("SC-2", "pr/description", "This pull request also rewrites everything.")
    mended = yes("SC-2", "pr/description", "This PR also adds support for wildcards in `getIn`:")
    model = ScriptedModel(
        script(
            pr_scope_analyzer=[scope(invented), scope(mended)],
            coordinator=decide(SC=True),
            code_validator=validated(SC=True),
        )
    )
    report = await run(load_pair("scope-creep-and-literal"), model)
    assert report.labels == (Label.SC,)
    assert "does not stand verbatim" in model.asked[Role.SCOPE_ANALYZER][1].messages[-1]["content"][0]["text"]


async def test_a_quote_that_stays_unproved_is_dropped_and_its_label_with_it() -> None:
    invented = yes("SC-2", "pr/description", "This pull request also rewrites everything.")
    report = await run(load_pair("aligned"), ScriptedModel(script(pr_scope_analyzer=scope(invented))))
    assert report.labels == ()
    assert [(d.label, d.by) for d in report.dropped] == [(Label.SC, "evidence")]


async def test_a_label_needs_a_quote_from_the_side_where_it_can_be_shown() -> None:
    pair = load_pair("aligned")
    name, text = next((t.name, t) for t in pair.texts.values() if t.artifact is Artifact.ISSUE_DESCRIPTION)
    creep = yes("SC-2", name, text.body.splitlines()[0])
    report = await run(pair, ScriptedModel(script(pr_scope_analyzer=scope(creep))))
    assert report.labels == ()
    assert "no quote stands where it could show this" in report.dropped[0].reason


async def test_no_later_phase_can_add_one_of_the_five_labels() -> None:
    creep = yes("SC-2", "pr/description", "This PR also adds support for wildcards in `getIn`:")
    everything = {label.value: True for label in Label}
    model = ScriptedModel(
        script(pr_scope_analyzer=scope(creep), coordinator=decide(**everything), code_validator=validated(**everything))
    )
    report = await run(load_pair("scope-creep-and-literal"), model)
    assert report.labels == (Label.SC,)


async def test_others_needs_a_clue_with_a_proved_quote() -> None:
    unproved = {"says": "Something is odd.", "quotes": []}
    claim = {"why": "Odd.", "clues": [0, 7], "confidence": "low", "repair": ""}
    model = ScriptedModel(script(issue_analyzer=issue(clues=[unproved]), coordinator=decide(claim)))
    report = await run(load_pair("aligned"), model)
    assert report.labels == ()
    assert report.dropped[0].label is Label.OTHERS


async def test_the_short_cuts_ask_nothing_that_is_ruled_out_and_say_so() -> None:
    model = ScriptedModel(script(pr_scope_analyzer=scope(asked_ul=False)))
    report = await run(load_pair("aligned"), model, shortcuts=True)
    assert report.verdict is Verdict.ALIGNED
    assert Role.CONNECTION_ANALYZER not in model.asked
    assert any(remark.startswith("PR Connection Analyzer: not called") for remark in report.remarks)


@pytest.mark.parametrize("artifact", [Artifact.ISSUE_TIMELINE, Artifact.PR_TIMELINE, Artifact.MERGE_REFERENCES])
async def test_what_was_not_read_is_no_ground_for_a_short_cut(artifact: Artifact) -> None:
    pair = replace(load_pair("aligned"), unread=(artifact,))
    model = ScriptedModel(script(pr_scope_analyzer=scope(asked_ul=False)))
    await run(pair, model, shortcuts=True)
    assert Role.CONNECTION_ANALYZER in model.asked


async def test_what_only_an_unread_discussion_could_show_is_not_asked_and_stays_open() -> None:
    pair = load_pair("aligned")
    silent = replace(pair, issues=(replace(pair.issues[0], comments=()),), unread=(Artifact.ISSUE_DISCUSSION,))
    model = ScriptedModel(script(pr_scope_analyzer=scope(asked_ul=False)))
    report = await run(silent, model, shortcuts=True)
    assert Role.ISSUE_ANALYZER not in model.asked
    assert report.verdict is Verdict.UNDETERMINED
    assert any(doubt.startswith("IS cannot be ruled out") for doubt in report.undetermined)


async def test_an_unread_artifact_that_a_label_lives_from_leaves_the_pair_undetermined() -> None:
    pair = replace(load_pair("aligned"), partial=(Artifact.PR_TIMELINE,))
    report = await run(pair, ScriptedModel(script()))
    assert report.verdict is Verdict.UNDETERMINED
    assert report.undetermined[0] == "DP cannot be ruled out: what mentions the pull request (read only in part)."


async def test_a_weighty_signal_that_is_passed_over_in_silence_blocks_aligned() -> None:
    model = ScriptedModel(script())
    report = await run(load_pair("scope-creep-and-literal"), model)
    assert report.verdict is Verdict.UNDETERMINED
    assert {c.by for c in report.clues} == {"signals"}


async def test_a_weighty_signal_that_an_analyzer_took_a_stand_on_does_not_block() -> None:
    pair = load_pair("scope-creep-and-literal")
    ids = [s.id for s in (await check(pair, RulesBackend())).signals]
    report = await run(pair, ScriptedModel(script(pr_scope_analyzer=scope(signals=ids))))
    assert report.verdict is Verdict.ALIGNED


async def test_a_model_that_obeys_a_stranger_still_does_not_make_the_pair_aligned() -> None:
    report = await run(load_pair("steering"), ScriptedModel(script()))
    assert report.verdict is Verdict.UNDETERMINED
    assert any("addresses a model" in doubt for doubt in report.undetermined)


async def test_tools_of_one_turn_are_all_answered_in_order_and_refusals_are_words() -> None:
    calls = ToolCalls(
        [
            ("get_pull_request", {"number": 318}),
            ("get_issue", {"number": 99_999}),
            ("run_shell", {"command": "id"}),
            ("get_issue", {"number": "x"}),
        ]
    )
    model = ScriptedModel(script(pr_connection_analyzer=[calls, connection(signals=["S5"])]))
    await run(load_pair("follow-up"), model)
    results = model.asked[Role.CONNECTION_ANALYZER][1].messages[-1]["content"]
    assert [result["tool_use_id"] for result in results] == [f"toolu_{n}" for n in range(4)]
    assert "merged" in results[0]["content"]
    assert [result["is_error"] for result in results] == [False, True, True, True]
    assert "There is no tool 'run_shell'" in results[2]["content"]


async def test_a_role_that_never_stops_calling_tools_is_bounded() -> None:
    model = ScriptedModel(script(pr_connection_analyzer=ToolCalls([("get_issue", {"number": 310})])))
    report = await run(load_pair("follow-up"), model)
    assert any("no answer within" in doubt for doubt in report.undetermined)


async def test_a_budget_in_tokens_that_runs_out_leaves_an_undetermined_report_with_what_there_is() -> None:
    creep = yes("SC-2", "pr/description", "This PR also adds support for wildcards in `getIn`:")
    model = ScriptedModel(script(pr_scope_analyzer=scope(creep)), usage=Usage(40_000, 500))
    backend = ModelBackend(model, budget=Budget(tokens=100_000))
    report = await check(load_pair("scope-creep-and-literal"), backend, shortcuts=False)
    assert report.labels == (Label.SC,)
    assert any("pass the check's budget of 100,000 tokens" in doubt for doubt in report.undetermined)


async def test_a_budget_in_dollars_is_kept_by_the_table_of_prices() -> None:
    model = ScriptedModel(script(), usage=Usage(10_000, 0))
    backend = ModelBackend(model, default_model="m", budget=Budget(dollars=0.5), prices={"m": Price(100, 100, 1, 1)})
    report = await check(load_pair("aligned"), backend, shortcuts=False)
    assert report.verdict is Verdict.UNDETERMINED
    assert any("pass the check's budget of $0.50" in doubt for doubt in report.undetermined)


async def test_each_role_is_asked_of_its_own_model_and_its_cost_is_told() -> None:
    model = ScriptedModel(script())
    backend = ModelBackend(model, default_model="claude-sonnet-5-5", models={Role.ISSUE_ANALYZER: "claude-haiku-5-5"})
    report = await check(load_pair("aligned"), backend, shortcuts=False)
    assert {u.role: u.model for u in report.usage}[Role.ISSUE_ANALYZER] == "claude-haiku-5-5"
    assert report.backend == "claude-sonnet-5-5, claude-haiku-5-5"
    assert report.dollars == pytest.approx((1_000 * 0.1 + 100 * 0.5 + 2 * (1_000 * 2 + 100 * 10)) / 1e6)


async def test_a_pull_request_without_a_linked_issue_is_a_result_and_asks_nobody() -> None:
    model = ScriptedModel(script())
    report = await run(replace(load_pair("aligned"), issues=()), model)
    assert report.verdict is Verdict.NOTHING_FOUND
    assert not model.asked


async def test_each_analyzer_is_shown_its_own_artifacts_only() -> None:
    model = ScriptedModel(script())
    await run(load_pair("scope-creep-and-literal"), model)
    shown = {role: requests[0].messages[0]["content"][0]["text"] for role, requests in model.asked.items()}
    assert "patch/code" not in shown[Role.ISSUE_ANALYZER]
    assert "/comment/1" in shown[Role.ISSUE_ANALYZER]
    assert "issue/878/comment/1" not in shown[Role.SCOPE_ANALYZER]
    assert "patch/test" not in shown[Role.CONNECTION_ANALYZER]


def test_a_pattern_that_holds_must_name_a_scenario_and_a_quote() -> None:
    from checker.answers import IssueAnswer

    answer = IssueAnswer.model_validate(issue({**no(), "holds": True}))
    assert answer.problems() == ["IS holds without a scenario."]
