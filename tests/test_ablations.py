"""The ten ablations of Table 5: what each leaves out is not asked, and what it cannot judge stays open."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from fakes import (
    HeldConnections,
    ScriptedModel,
    classified,
    clue,
    connection,
    decide,
    given,
    issue,
    load_pair,
    scope,
    validated,
    yes,
)

from checker.agents import ModelBackend
from checker.evaluation.ablations import ABLATIONS
from checker.panel import Solo
from checker.pipeline import Plan, check
from checker.replay import replay
from checker.report import Report, Verdict, write_report
from checker.rules import RulesBackend
from checker.taxonomy import ANALYZERS, PIPELINE, Label, Role
from checker.transcript import file_name

PAPER_DATA = os.environ.get("PAICHECKER_PAPER_DATA")
NAME = "scope-creep-and-literal"
WORDS = "This PR also adds support for wildcards in `getIn`:"
CREEP = yes("SC-2", "pr/description", WORDS)
CLUE = clue("Another subject.", "pr/description", WORDS)


def script(**turns: Any) -> dict[Role, Any]:
    """A script in which SC stands through all phases, whoever gives it."""
    usual = {
        "issue_analyzer": issue(),
        "pr_scope_analyzer": scope(CREEP),
        "pr_connection_analyzer": connection(),
        "coordinator": decide(SC=True),
        "code_validator": validated(SC=True),
        "classifier": classified(given("SC", "pr/description", WORDS, "SC-2")),
    }
    return {Role(name): turn for name, turn in {**usual, **turns}.items()}


async def run(name: str, model: ScriptedModel, pair: str = NAME, **options: Any) -> Report:
    ablation = ABLATIONS[name]
    whole = ModelBackend(model, connections=HeldConnections)
    return await Solo(ablation.backend(whole), ablation.plan, shortcuts=False, **options)(load_pair(pair))


def keys(model: ScriptedModel) -> dict[Role, list[str]]:
    return {role: [request.key for request in requests] for role, requests in model.asked.items()}


async def whole_keys(plan: Plan | None = None) -> dict[Role, list[str]]:
    model = ScriptedModel(script())
    more = {} if plan is None else {"plan": plan}
    await check(load_pair(NAME), ModelBackend(model, connections=HeldConnections), shortcuts=False, **more)  # type: ignore[arg-type]
    return keys(model)


async def test_the_whole_plan_makes_the_same_requests_as_no_plan() -> None:
    assert await whole_keys(Plan()) == await whole_keys()
    assert (await whole_keys()).keys() == PIPELINE


@pytest.mark.parametrize("name", ABLATIONS)
async def test_each_variant_asks_whom_it_keeps_and_nobody_else(name: str) -> None:
    absent = ABLATIONS[name].absent
    model = ScriptedModel(script(issue_analyzer=issue(clues=[CLUE]), pr_connection_analyzer=connection(clues=[CLUE])))
    report = await run(name, model)
    kept = set(model.asked) - {Role.CLASSIFIER}
    # Without a label nothing is left for the validator.
    expected = PIPELINE - absent - (set() if report.labels else {Role.CODE_VALIDATOR})
    assert kept == expected
    assert (Role.CLASSIFIER in model.asked) == (name == "phase-1")
    assert f"Left out of this run: {', '.join(r.words for r in Role if r in absent)}." in report.remarks


@pytest.mark.parametrize("name", ABLATIONS)
async def test_what_a_variant_keeps_of_phase_one_is_asked_in_the_same_bytes(name: str) -> None:
    whole, model = await whole_keys(), ScriptedModel(script())
    await run(name, model)
    asked = keys(model)
    for role in ANALYZERS.keys() & asked.keys():
        assert asked[role] == whole[role]
    assert asked != whole


@pytest.mark.parametrize("name", ["issue", "connection", "issue+connection"])
async def test_the_coordinator_sees_no_trace_of_an_analyzer_that_was_left_out(name: str) -> None:
    model = ScriptedModel(script())
    await run(name, model)
    shown = model.asked[Role.COORDINATOR][0].messages[0]["content"][0]["text"]
    assert Role.SCOPE_ANALYZER.words in shown
    assert not any(role.words in shown for role in ABLATIONS[name].absent)


@pytest.mark.parametrize("name", [n for n, one in ABLATIONS.items() if one.absent < ANALYZERS.keys()])
async def test_a_label_that_nobody_was_asked_about_stays_open(name: str) -> None:
    quiet = script(pr_scope_analyzer=scope())
    report = await run(name, ScriptedModel(quiet), pair="full-size")
    assert report.verdict is Verdict.UNDETERMINED
    # UL is ruled out mechanically there, which asks nobody.
    unasked = [label for role in ABLATIONS[name].absent for label in ANALYZERS[role] if label is not Label.UL]
    said = next(doubt for doubt in report.undetermined if "nobody was asked" in doubt)
    assert all(label in said for label in unasked)


async def test_what_is_ruled_out_mechanically_needs_no_analyzer() -> None:
    report = await run("connection", ScriptedModel(script(pr_scope_analyzer=scope())), pair="aligned")
    assert not [doubt for doubt in report.undetermined if "nobody was asked" in doubt]


@pytest.mark.parametrize("name", ["coordinator", "coordinator+validator"])
async def test_without_the_coordinator_a_clue_that_nobody_weighed_leaves_the_pair_open(name: str) -> None:
    found = ScriptedModel(script(pr_scope_analyzer=scope(clues=[CLUE])))
    report = await run(name, found, pair=NAME)
    assert report.verdict is Verdict.UNDETERMINED
    assert "Others cannot be ruled out: nobody weighed the clues." in report.undetermined
    quiet = await run(name, ScriptedModel(script(pr_scope_analyzer=scope())), pair="aligned")
    assert quiet.verdict is Verdict.ALIGNED


@pytest.mark.parametrize(
    ("name", "dropping"),
    [("validator", {"code_validator": validated(SC=False)}), ("coordinator", {"coordinator": decide(SC=False)})],
)
async def test_a_phase_that_is_left_out_drops_nothing(name: str, dropping: dict[str, Any]) -> None:
    whole = ModelBackend(ScriptedModel(script(**dropping)), connections=HeldConnections)
    assert (await check(load_pair(NAME), whole, shortcuts=False)).labels == ()
    assert (await run(name, ScriptedModel(script(**dropping)))).labels == (Label.SC,)


# Without Phase I


async def test_without_phase_one_a_classifier_gives_the_labels_and_the_later_phases_may_drop_them() -> None:
    kept = await run("phase-1", ScriptedModel(script()))
    assert [(f.label, f.by, len(f.decisions)) for f in kept.findings] == [(Label.SC, Role.CLASSIFIER, 2)]
    dropped = await run("phase-1", ScriptedModel(script(coordinator=decide(SC=False))))
    assert [(d.label, d.by) for d in dropped.dropped] == [(Label.SC, "coordinator")]


async def test_without_phase_one_a_quote_that_does_not_stand_goes_back_once_and_then_drops_its_label() -> None:
    unproved = given("SC", "pr/description", "words that nobody wrote", "SC-2")
    model = ScriptedModel(script(classifier=classified(unproved)))
    report = await run("phase-1", model)
    assert len(model.asked[Role.CLASSIFIER]) == 2
    assert [(d.label, d.by) for d in report.dropped] == [(Label.SC, "evidence")]


async def test_without_phase_one_others_is_a_clue_until_the_coordinator_makes_it_a_label() -> None:
    answer = classified(given("Others", "pr/description", WORDS))
    silent = await run("phase-1", ScriptedModel(script(classifier=answer, coordinator=decide())))
    assert silent.labels == ()
    claim = {"why": "Another subject.", "clues": [0], "confidence": "high", "repair": ""}
    granted = script(classifier=answer, coordinator=decide(claim), code_validator=validated(Others=True))
    assert (await run("phase-1", ScriptedModel(granted))).labels == (Label.OTHERS,)


async def test_without_phase_one_a_classifier_that_fails_leaves_the_pair_undetermined() -> None:
    report = await run("phase-1", ScriptedModel(script(classifier="prose")))
    assert report.verdict is Verdict.UNDETERMINED
    assert any("The Classifier failed, so SC and DP and IS and FP and UL stay open" in d for d in report.undetermined)


def test_without_phase_one_rules_cannot_stand_in() -> None:
    with pytest.raises(ValueError, match="rules are none"):
        ABLATIONS["phase-1"].backend(RulesBackend())


async def test_rules_may_be_ablated_too() -> None:
    ablation = ABLATIONS["scope"]
    whole = await check(load_pair(NAME), RulesBackend())
    less = await Solo(ablation.backend(RulesBackend()), ablation.plan)(load_pair(NAME))
    assert set(whole.labels) == {Label.SC, Label.UL}
    assert less.labels == ()


# Records


@pytest.mark.parametrize("name", ABLATIONS)
async def test_a_variants_transcript_replays_to_the_letter(name: str, tmp_path: Path) -> None:
    report = await run(name, ScriptedModel(script()), transcripts=tmp_path)
    path = tmp_path / f"{file_name(report.id)}.json"
    assert write_report(await replay(json.loads(path.read_text()))) == write_report(report)


async def test_the_transcript_of_the_whole_pipeline_says_nothing_of_a_plan(tmp_path: Path) -> None:
    backend = ModelBackend(ScriptedModel(script()))
    report = await check(load_pair(NAME), backend, transcripts=tmp_path)
    assert "plan" not in json.loads((tmp_path / f"{file_name(report.id)}.json").read_text())["settings"]


@pytest.mark.skipif(PAPER_DATA is None, reason="PAICHECKER_PAPER_DATA names no folder of the paper's data")
def test_the_variants_are_those_of_table_5() -> None:
    rows = json.loads((Path(str(PAPER_DATA)) / "tables.json").read_text())["table5_ablation_gemini_swe_gym"]
    assert [row["variant"] for row in rows[1:]] == [ablation.in_table_5 for ablation in ABLATIONS.values()]
