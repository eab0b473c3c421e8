"""The comment in all its forms, as golden files; its links; and that it fits into one comment of GitHub's.

`PAICHECKER_RENEW_GOLDEN=1 pytest tests/test_bot_comment.py` writes the golden files anew; read what has changed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from checks_of_pairs import (
    AT,
    FINDS_NOTHING,
    HEAD,
    WEB,
    checked,
    checked_pair,
    creep,
    incomplete,
    literal,
    report,
    whole,
)
from fakes import HERE, ScriptedModel, load_pair

from bot.checked import Answer, AnswerKind, Checked, Standing, digest_of
from bot.comment import LONGEST, MARKER, render_comment, should_post
from bot.repo_config import CommentWhen
from checker.agents import ModelBackend
from checker.evidence import Evidence
from checker.report import Finding, Verdict
from checker.taxonomy import Artifact, Label

GOLDEN = HERE / "golden"
RENEW = os.environ.get("PAICHECKER_RENEW_GOLDEN") == "1"


def agrees(name: str, now: Checked, before: Checked | None = None, answers: Sequence[Answer] = ()) -> str:
    body = render_comment(now, web=WEB, before=before, answers=answers)
    path = GOLDEN / f"comment-{name}.md"
    if RENEW:
        path.write_text(body, encoding="utf-8")
    assert body == path.read_text(encoding="utf-8")
    return body


def answer(
    kind: AnswerKind,
    finding: Finding,
    who: str = "ann",
    standing: Standing = Standing.MAINTAINER,
    reason: str = "",
    minutes: int = 0,
) -> Answer:
    at = AT + timedelta(minutes=minutes)
    return Answer(kind, who, standing, at, finding.label, reason, digest_of(finding))


# Golden files


@pytest.mark.parametrize(
    ("form", "pair"),
    [
        ("rules", "scope-creep-and-literal"),
        ("others", "accidental-link"),
        ("follow-up", "follow-up"),
        ("nothing-found", "aligned"),
        ("undetermined-steering", "steering"),
    ],
)
async def test_the_comment_of_a_real_check_is_as_its_golden_file(form: str, pair: str) -> None:
    agrees(form, await checked_pair(pair))


def test_a_comment_with_every_part_is_as_its_golden_file() -> None:
    agrees("whole", checked(whole()))


async def test_an_aligned_pull_request_gets_a_short_comment() -> None:
    now = await checked_pair("aligned", ModelBackend(ScriptedModel(FINDS_NOTHING)))
    assert "does what its issue asks" in agrees("aligned", now)


def test_what_could_not_be_read_is_said_with_what_would_help() -> None:
    doubts = ("DP and FP cannot be ruled out: what mentions the issue (read only in part).",)
    now = checked(report(Verdict.UNDETERMINED, undetermined=doubts, partial=(Artifact.ISSUE_TIMELINE,)))
    assert "**What would help:**" in agrees("undetermined-unread", now)


async def test_a_comment_is_brought_up_to_date_when_the_link_to_the_issue_is_gone() -> None:
    agrees("unlinked", await checked_pair(replace(load_pair("aligned"), issues=())))


# A recheck


BEFORE = replace(
    checked(
        report(Verdict.MISALIGNED, findings=(creep(), incomplete())),
        head_sha="0b8f6eff7739cabb5b123e20f17bcc3eb6819d84",
        inputs={"issue/7": "a", "pr/description": "b", "pr/comment/1": "c", "patch/code": "d"},
    ),
    run="earlier",
)
INPUTS = {"issue/7": "a", "issue/7/comment/1": "e", "pr/description": "f", "patch/code": "d"}


def test_a_recheck_says_what_is_new_kept_and_resolved_and_what_moved_it() -> None:
    now = checked(report(Verdict.MISALIGNED, findings=(creep(), literal())), inputs=INPUTS)
    body = agrees("recheck", now, BEFORE)
    assert "new **UL**; resolved ~~**IS**~~; kept **SC**" in body
    moved = "comment 1 on issue 7 (new), the pull request's description, comment 1 on the pull request (gone)"
    assert moved in body.replace("\\", "")


def test_a_pull_request_that_became_aligned_says_what_is_resolved() -> None:
    body = agrees("recheck-aligned", checked(report(Verdict.ALIGNED), inputs=INPUTS), BEFORE)
    assert body.index("does what its issue asks") < body.index("resolved ~~**SC**~~, ~~**IS**~~")


def test_a_recheck_that_changed_nothing_says_so() -> None:
    assert "Nothing that was read had changed." in render_comment(BEFORE, web=WEB, before=BEFORE)


def test_a_label_that_could_not_be_looked_at_again_is_not_called_resolved() -> None:
    outage = "The Issue Analyzer failed, so IS stay open: no answer."
    now = checked(report(Verdict.MISALIGNED, findings=(creep(),), undetermined=(outage,)))
    body = render_comment(now, web=WEB, before=BEFORE)
    assert "not found this time **IS**" in body
    assert "resolved" not in body.lower()


def test_a_label_kept_on_other_evidence_is_said_to_be() -> None:
    now = checked(report(Verdict.MISALIGNED, findings=(creep("And a flag --yaml, too."),)))
    assert "kept **SC** (on other quotes)" in render_comment(now, web=WEB, before=BEFORE)


# Answers


ANSWERS = (
    answer(AnswerKind.CONFIRM, creep(), reason=""),
    answer(AnswerKind.DISPUTE, creep(), "ben", Standing.AUTHOR, "The issue says “machine readable”."),
    answer(AnswerKind.DISPUTE, literal(), reason="The style guide of @ann/docs gives this wording, see #4."),
)


def test_confirmed_and_disputed_findings_say_by_whom() -> None:
    body = agrees("answered", checked(whole()), answers=ANSWERS)
    assert "differ in one point" in body
    assert "Confirmed by ann (maintainer)." in body
    assert "Disputed by ben (author)" in body


def test_a_finding_disputed_on_the_same_evidence_is_folded_and_not_raised_again() -> None:
    answers = [answer(AnswerKind.DISPUTE, finding) for finding in whole().findings]
    body = agrees("disputed", checked(whole()), answers=answers)
    assert "| **" not in body
    assert "####" not in body
    assert body.index("<summary>Disputed") < body.index("Disputed by ann (maintainer)")
    assert not should_post(checked(whole()), CommentWhen.MISALIGNED, False, answers)


def is_raised(finding: Finding, *answers: Answer) -> bool:
    now = checked(report(Verdict.MISALIGNED, findings=(finding,)))
    return f"| **{finding.label}** |" in render_comment(now, web=WEB, answers=answers)


def test_a_dispute_of_other_evidence_closes_nothing() -> None:
    assert is_raised(creep("And a flag --yaml, too."), answer(AnswerKind.DISPUTE, creep()))


@pytest.mark.parametrize("standing", [Standing.AUTHOR, Standing.STRANGER, Standing.BOT])
def test_only_a_maintainers_dispute_closes_a_finding(standing: Standing) -> None:
    assert is_raised(creep(), answer(AnswerKind.DISPUTE, creep(), standing=standing))
    assert not is_raised(creep(), answer(AnswerKind.DISPUTE, creep()))


def test_a_maintainers_last_word_counts_in_whatever_order_answers_come() -> None:
    words = (answer(AnswerKind.DISPUTE, creep()), answer(AnswerKind.CONFIRM, creep(), minutes=1))
    assert is_raised(creep(), *words)
    assert is_raised(creep(), *reversed(words))


def test_an_unclassified_answer_takes_nothing_back() -> None:
    later = answer(AnswerKind.UNCLASSIFIED, creep(), minutes=1)
    assert not is_raised(creep(), answer(AnswerKind.DISPUTE, creep()), later)


def test_an_answer_to_the_whole_comment_is_one_to_the_evidence_that_it_names() -> None:
    assert not is_raised(creep(), replace(answer(AnswerKind.DISPUTE, creep()), label=None))
    assert is_raised(creep(), replace(answer(AnswerKind.DISPUTE, creep()), label=Label.UL))


# Links


def test_a_line_is_linked_at_the_head_that_was_checked() -> None:
    body = render_comment(checked(whole()), web="http://127.0.0.1:8123")
    assert f"(http://127.0.0.1:8123/ann/tool/blob/{HEAD}/tests/test_cli.py#L41)" in body
    assert f"[tool/cli.py, line 88](http://127.0.0.1:8123/ann/tool/blob/{HEAD}/tool/cli.py#L88)" in body


def linked_to(evidence: Evidence, web: str = WEB) -> list[str]:
    body = render_comment(checked(report(Verdict.MISALIGNED, findings=(creep(evidence=(evidence,)),))), web=web)
    section = body[body.index("#### SC") : body.index("**What would mend it")]
    return re.findall(r"\]\(([^)]*)\)", section)


def test_another_pull_request_is_linked_so_that_no_mention_appears_there() -> None:
    url = f"{WEB}/ann/tool/pull/4"
    evidence = Evidence("related/pr/4", Artifact.ISSUE_TIMELINE, "Mend the exit status", None, url)
    assert linked_to(evidence) == ["https://redirect.github.com/ann/tool/pull/4"]
    elsewhere = "https://github.company.example"
    there = replace(evidence, url=f"{elsewhere}/ann/tool/pull/4")
    assert linked_to(there, elsewhere) == [f"{elsewhere}/ann/tool/pull/4"]


@pytest.mark.parametrize(
    "url",
    [
        None,
        "",
        "javascript:alert(1)",
        "https://evil.test/ann/tool",
        "https://github.com.evil.test/ann/tool",
        "https://github.com/ann/tool) [x](https://evil.test",
        "https://github.com/ann/tool?next=<b>",
        "https://github.com/ann/\ntool",
        "https://github.com/ann/\u202etool",
    ],
)
def test_only_a_plain_address_of_this_github_becomes_a_link(url: str | None) -> None:
    assert linked_to(Evidence("pr/description", Artifact.PR_DESCRIPTION, "This adds a flag.", None, url)) == []


@pytest.mark.parametrize("path", ["../../evil", "a/../../b", "a//b", "", "/etc", "x" * 600])
def test_what_is_no_path_of_a_repository_is_named_and_not_linked(path: str) -> None:
    assert linked_to(Evidence("patch/test", Artifact.TEST_PATCH, "assert flag", None, None, path, 3, True)) == []


def test_a_strange_path_is_escaped_in_its_address() -> None:
    path = 'a (b)/[c] "d"<é>#1?\ud800.py'
    evidence = Evidence("patch/test", Artifact.TEST_PATCH, "assert flag", None, None, path, 3, True)
    escaped = "a%20%28b%29/%5Bc%5D%20%22d%22%3C%C3%A9%3E%231%3F%3F.py"
    assert linked_to(evidence) == [f"{WEB}/ann/tool/blob/{HEAD}/{escaped}#L3"]


def test_a_line_that_is_not_sure_to_stand_in_the_head_is_not_linked() -> None:
    assert linked_to(Evidence("patch/code", Artifact.CODE_PATCH, "old line", None, None, "a.py", 3)) == []


# Length


def sized(quotes: int, length: int, character: str = "x", findings: int = 1) -> Checked:
    texts = [f"{number} {character * length}" for number in range(quotes)]
    evidence = tuple(Evidence("pr/description", Artifact.PR_DESCRIPTION, text) for text in texts)
    found = (creep(evidence=evidence, reason=f"Reason. {character * length}"),) * findings
    return checked(replace(whole(), findings=found))


def test_the_folded_parts_go_first_then_quotes_then_their_ends_then_all_but_the_table() -> None:
    told = {}
    for quotes, findings in [(1, 1), (49, 1), (51, 1), (60, 1), (1, 28), (2, 60)]:
        body = render_comment(sized(quotes, 1_190, findings=findings), web=WEB)
        left_out = re.search(r"Left out: (.*)\.\*", body)
        told[quotes, findings] = left_out[1] if left_out else ""
        assert len(body.encode()) <= LONGEST
    assert list(told.values()) == [
        "",
        "",
        "the folded parts",
        "the folded parts, and all quotes but the first of each point",
        "the folded parts, all quotes but the first of each point, and the ends of long quotes",
        "everything but the table",
    ]


def test_a_comment_that_is_too_long_for_github_is_as_its_golden_file() -> None:
    body = agrees("too-long", sized(2, 1_000, findings=60))
    assert "And 52 more." in body


@pytest.mark.parametrize("character", ["$", "@", "#a", ":a", "\u202e", "𝔸", "字", "a$", "`", "\n", "deadbeef"])
def test_no_text_makes_a_comment_too_long(character: str) -> None:
    undecided = checked(report(Verdict.UNDETERMINED, undetermined=(character * 2_000,) * 50))
    for now in (sized(12, 2_000, character, 12), undecided):
        far = replace(now, inputs={f"pr/{character * 900}{n}": "x" for n in range(20)})
        body = render_comment(far, web=WEB, before=BEFORE)
        assert len(body.encode()) <= LONGEST
        assert len(body.encode("utf-16-le")) // 2 <= LONGEST


def test_texts_of_a_megabyte_are_cut() -> None:
    assert len(render_comment(sized(3, 1_000_000), web=WEB)) < LONGEST


def test_the_same_check_is_always_rendered_the_same() -> None:
    first = render_comment(checked(whole()), web=WEB, before=BEFORE, answers=ANSWERS)
    again = render_comment(checked(whole()), web=WEB, before=BEFORE, answers=tuple(reversed(ANSWERS)))
    assert first == again
    assert first.startswith(f"{MARKER}\n### PAIChecker: ")
