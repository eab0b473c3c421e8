"""Bodies of check runs: when they are red, what they say, what they carry, and that GitHub's limits are kept."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from checks_of_pairs import AT, HEAD, WEB, checked, checked_pair, creep, literal, report, whole
from fakes import load_pair

from bot import checks
from bot.checked import Answer, AnswerKind, Standing, digest_of
from bot.checks import IGNORED, Head
from bot.repo_config import ConfigProblem, read_config
from checker.github.address import Address
from checker.report import Decision, Verdict
from checker.taxonomy import Label, Role

PULL_REQUEST = Head("ann/tool", 9, HEAD)
ALL = [
    checks.started(PULL_REQUEST, at=AT),
    checks.concluded(checked(whole()), web=WEB, fail_on=(Label.UL,), comment=f"{WEB}/ann/tool/pull/9#issuecomment-1"),
    checks.concluded(checked(report(Verdict.ALIGNED)), web=WEB),
    checks.skipped(PULL_REQUEST, IGNORED, at=AT),
    checks.superseded(PULL_REQUEST, by="0b8f6eff7739", at=AT),
    checks.failed(PULL_REQUEST, run="0f3a9c2e77b1d2e5", at=AT),
]


def conclusion(body: dict[str, Any]) -> str:
    assert body["status"] == "completed"
    return str(body["conclusion"])


def summary(body: dict[str, Any]) -> str:
    return str(body["output"]["summary"])


# Conclusions


def test_a_check_after_which_something_was_not_checked_is_green_no_more_and_red_as_before() -> None:
    for fail_on, expected in (((Label.SC,), "failure"), ((), "neutral")):
        body = checks.outdated(checks.concluded(checked(whole()), web=WEB, fail_on=fail_on), "too often")
        assert conclusion(body) == expected
    green = checks.concluded(checked(report(Verdict.ALIGNED)), web=WEB)
    assert (conclusion(green), conclusion(checks.outdated(green, "too often"))) == ("success", "neutral")
    told = "**What came after this check was not checked:** too often.\n\n"
    assert summary(checks.outdated(green, "too often")) == told + summary(green)


@pytest.mark.parametrize("verdict", list(Verdict))
def test_only_aligned_is_green_and_nothing_is_red_unless_asked_for(verdict: Verdict) -> None:
    findings = whole().findings if verdict is Verdict.MISALIGNED else ()
    body = checks.concluded(checked(report(verdict, findings=findings)), web=WEB)
    assert conclusion(body) == ("success" if verdict is Verdict.ALIGNED else "neutral")


@pytest.mark.parametrize(
    ("fail_on", "expected"), [((Label.SC,), "failure"), ((Label.UL, Label.DP), "failure"), ((Label.DP,), "neutral")]
)
def test_a_check_is_red_for_a_label_that_stands_under_fail_on(fail_on: tuple[Label, ...], expected: str) -> None:
    assert conclusion(checks.concluded(checked(whole()), web=WEB, fail_on=fail_on)) == expected


def test_a_finding_that_a_maintainer_disputed_is_not_red() -> None:
    dispute = Answer(
        AnswerKind.DISPUTE, "ann", Standing.MAINTAINER, AT, Label.SC, "Wanted.", digest_of(whole().findings[0])
    )
    body = checks.concluded(checked(whole()), web=WEB, fail_on=(Label.SC,), answers=(dispute,))
    assert conclusion(body) == "neutral"
    assert body["output"]["title"] == "Unspecified Literal"
    assert "fails the check" not in summary(body)
    by_author = replace(dispute, standing=Standing.AUTHOR)
    assert conclusion(checks.concluded(checked(whole()), web=WEB, fail_on=(Label.SC,), answers=(by_author,))) == (
        "failure"
    )


def test_where_all_was_disputed_the_title_says_that_nothing_is_open() -> None:
    found = creep()
    dispute = Answer(AnswerKind.DISPUTE, "ann", Standing.MAINTAINER, AT, None, "", digest_of(found))
    body = checks.concluded(
        checked(report(Verdict.MISALIGNED, findings=(found,))), web=WEB, answers=(dispute,), fail_on=(Label.SC,)
    )
    assert body["output"]["title"] == "Nothing is open; a maintainer disputed what was found"
    assert conclusion(body) == "neutral"
    assert body["output"]["text"] == ""


@pytest.mark.parametrize("body", ALL[3:], ids=["skipped", "superseded", "failed"])
def test_what_was_not_checked_is_neutral(body: dict[str, Any]) -> None:
    assert conclusion(body) == "neutral"


async def test_a_pull_request_without_an_issue_is_neutral_and_says_so() -> None:
    body = checks.concluded(await checked_pair(replace(load_pair("aligned"), issues=())), web=WEB)
    assert conclusion(body) == "neutral"
    assert body["output"]["title"] == "This pull request is linked to no issue"


# What they say


def test_labels_stand_in_the_title_and_details_below_the_summary() -> None:
    body = ALL[1]
    assert body["output"]["title"] == "Scope Creep, Unspecified Literal"
    assert "This repository fails the check for UL." in summary(body)
    assert "issuecomment-1)" in summary(body)
    assert body["details_url"].endswith("#issuecomment-1")
    assert "#### SC · Scope Creep" in body["output"]["text"]


def test_a_model_that_failed_is_explained_without_a_comment() -> None:
    doubt = "The Issue Analyzer failed, so IS stay open: the model gave no answer."
    body = checks.concluded(checked(report(Verdict.UNDETERMINED, undetermined=(doubt,))), web=WEB)
    assert "the model gave no answer" in summary(body)
    assert "details_url" not in body


def test_a_skipped_check_says_why() -> None:
    assert IGNORED in summary(checks.skipped(PULL_REQUEST, IGNORED, at=AT))


def test_what_the_configuration_skips_is_said_in_its_words() -> None:
    why = read_config(None, models=()).skips("ben", False, True, ["a.py"])
    assert why is not None
    assert f"was not checked: {why}." in summary(checks.skipped(PULL_REQUEST, why, at=AT))


def test_our_own_failure_names_the_run_whole_and_nothing_else() -> None:
    assert "run `0f3a9c2e77b1d2e5`" in summary(ALL[5])


def test_mistakes_in_the_configuration_are_shown_with_line_and_field() -> None:
    problems = read_config("comment: always\nfail_on: [SC, XX]\n", models=()).problems
    for body in (
        checks.concluded(checked(report(Verdict.ALIGNED)), web=WEB, problems=problems),
        checks.skipped(PULL_REQUEST, IGNORED, at=AT, problems=problems),
    ):
        assert "Line 2, fail_on: " in summary(body)
        assert "paichecker.yml" in summary(body)
    many = [ConfigProblem(n, "mode", "on or off") for n in range(1, 12)]
    assert "And 5 more." in summary(checks.skipped(PULL_REQUEST, IGNORED, at=AT, problems=many))


# What they carry


@pytest.mark.parametrize("body", ALL)
def test_every_check_run_leads_back_to_its_pull_request(body: dict[str, Any]) -> None:
    assert body["head_sha"] == HEAD
    assert checks.pull_request_of(body["external_id"]) == Address("ann/tool", 9)


@pytest.mark.parametrize(
    "carried",
    [
        None,
        "",
        "9",
        "ann/tool",
        "ann/tool#",
        "ann/tool#0",
        "ann/tool#9 ",
        "ann/tool#9\n",
        "a/b/c#9",
        "ann/tool#99999999999",
    ],
)
def test_an_external_id_that_is_not_ours_leads_nowhere(carried: str | None) -> None:
    assert checks.pull_request_of(carried) is None


@pytest.mark.parametrize("body", ALL[1:])
def test_every_concluded_check_can_be_asked_again_by_a_button(body: dict[str, Any]) -> None:
    (action,) = body["actions"]
    assert action["identifier"] == checks.RECHECK
    assert len(action["label"]) <= 20
    assert len(action["description"]) <= 40
    assert len(action["identifier"]) <= 20


def test_times_are_given_in_utc() -> None:
    elsewhere = datetime(2026, 3, 4, 17, 16, 17, 999, tzinfo=timezone(timedelta(hours=2)))
    assert checks.started(PULL_REQUEST, at=elsewhere)["started_at"] == "2026-03-04T15:16:17Z"
    assert ALL[1]["completed_at"] == "2026-03-04T15:16:17Z"


# Annotations


def annotated(*lines: tuple[str, int], role: Role = Role.CODE_VALIDATOR, **options: Any) -> list[dict[str, Any]]:
    decision = Decision(Label.UL, True, "It is written here.", lines)
    found = report(Verdict.MISALIGNED, findings=(literal(decisions=((role, decision),)),))
    output = checks.concluded(checked(found), web=WEB, **options)["output"]
    return list(output.get("annotations", []))


def test_only_lines_that_the_code_validator_named_are_annotated() -> None:
    assert annotated(("tool/cli.py", 88), role=Role.COORDINATOR) == []
    assert annotated(("tool/cli.py", 88)) == [
        {
            "path": "tool/cli.py",
            "start_line": 88,
            "end_line": 88,
            "annotation_level": "notice",
            "title": "UL · Unspecified Literal",
            "message": "It is written here.",
        }
    ]


def test_a_line_of_a_label_under_fail_on_is_a_warning() -> None:
    assert annotated(("a.py", 1), fail_on=(Label.UL,))[0]["annotation_level"] == "warning"


def test_annotations_are_each_given_once_at_most_fifty_and_only_at_lines() -> None:
    lines = [("", 3), ("a.py", 0), ("a.py", -1), ("b.py", 5), ("b.py", 5), *(("c.py", n) for n in range(1, 99))]
    made = annotated(*lines)
    assert len(made) == 50
    assert [(a["path"], a["start_line"]) for a in made[:3]] == [("b.py", 5), ("c.py", 1), ("c.py", 2)]


# Limits


@pytest.mark.parametrize("character", ["$", "@a", "𝔸", ":a", "\u202e", "\ud800"])
def test_no_text_makes_a_summary_too_long(character: str) -> None:
    text = character * 5_000
    problems = [ConfigProblem(n, text, text) for n in range(200)]
    long = [creep(text, reason=text, repair=text)] * 30
    for made in (
        report(Verdict.MISALIGNED, findings=tuple(long), undetermined=(text,) * 30),
        report(Verdict.UNDETERMINED, undetermined=(text,) * 30),
    ):
        output = checks.concluded(checked(made), web=WEB, fail_on=list(Label), problems=problems)["output"]
        assert len(output["summary"].encode()) <= checks.LONGEST
        assert len(output.get("text", "").encode()) <= checks.LONGEST
        assert len(output["title"]) <= 255
