"""When the comment is posted: by default where something is open, or undecided for a reason that a reader can mend."""

from __future__ import annotations

from dataclasses import replace

import pytest
from checks_of_pairs import FINDS_NOTHING, WEB, checked, checked_pair, report, whole
from fakes import ScriptedModel, load_pair

from bot.checked import Checked
from bot.comment import render_comment, should_post
from bot.repo_config import CommentWhen
from checker.agents import ModelBackend
from checker.exchange import Budget
from checker.model import ModelFailure
from checker.report import Verdict
from checker.taxonomy import Artifact, Role


def undetermined(*doubts: str) -> Checked:
    return checked(report(Verdict.UNDETERMINED, undetermined=doubts))


def test_by_default_only_a_misaligned_pull_request_gets_a_comment() -> None:
    assert should_post(checked(whole()), CommentWhen.MISALIGNED, False)
    assert not should_post(checked(report(Verdict.ALIGNED)), CommentWhen.MISALIGNED, False)
    assert not should_post(checked(report(Verdict.NOTHING_FOUND)), CommentWhen.MISALIGNED, False)


@pytest.mark.parametrize("when", ["always", CommentWhen.MISALIGNED, "never"])
def test_an_existing_comment_is_always_brought_up_to_date(when: CommentWhen) -> None:
    assert should_post(checked(report(Verdict.ALIGNED)), when, True)


def test_always_and_never_are_taken_at_their_word() -> None:
    assert should_post(checked(report(Verdict.ALIGNED)), CommentWhen.ALWAYS, False)
    assert not should_post(checked(whole()), CommentWhen.NEVER, False)


async def test_a_pull_request_without_an_issue_gets_no_comment() -> None:
    assert not should_post(await checked_pair(replace(load_pair("aligned"), issues=())), CommentWhen.ALWAYS, False)


async def unread_pair(artifact: Artifact) -> Checked:
    pair = replace(load_pair("aligned"), unread=(artifact,))
    return await checked_pair(pair, ModelBackend(ScriptedModel(FINDS_NOTHING)))


async def test_the_engines_own_words_for_what_a_reader_can_mend_lead_to_a_comment() -> None:
    assert should_post(await unread_pair(Artifact.ISSUE_DISCUSSION), CommentWhen.MISALIGNED, False)
    assert should_post(await checked_pair("steering"), CommentWhen.MISALIGNED, False)
    unlinked = replace(load_pair("aligned"), issues=(), unread=(Artifact.ISSUE_DESCRIPTION,))
    assert should_post(await checked_pair(unlinked), CommentWhen.MISALIGNED, False)


@pytest.mark.parametrize("budget", [Budget(tokens=1), Budget(dollars=0.0000001)])
async def test_a_budget_that_ran_out_leads_to_a_comment_that_says_what_to_do(budget: Budget) -> None:
    now = await checked_pair("aligned", ModelBackend(ScriptedModel(FINDS_NOTHING), budget=budget))
    assert now.report.verdict is Verdict.UNDETERMINED
    assert should_post(now, CommentWhen.MISALIGNED, False)
    assert "raise the budget of a check" in render_comment(now, web=WEB)


async def test_an_outage_of_the_model_leads_to_none() -> None:
    failing = {**FINDS_NOTHING, Role.ISSUE_ANALYZER: ModelFailure("the model gave no answer in 3 attempts.")}
    now = await checked_pair("aligned", ModelBackend(ScriptedModel(failing)))
    assert now.report.verdict is Verdict.UNDETERMINED
    assert not should_post(now, CommentWhen.MISALIGNED, False)
    assert not should_post(
        undetermined("The check ended in an error; the log has the details."), CommentWhen.MISALIGNED, False
    )
