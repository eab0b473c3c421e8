"""What is recommended follows from labels, confidence, and whether the statement can be amended."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from fakes import load_pair

from checker.evidence import Evidence
from checker.pair import Comment, Pair
from checker.pipeline import check
from checker.recommendation import ADDED, Action, recommend
from checker.report import Confidence, Finding, Report, RoleUsage, Signal, SignalKind, Verdict
from checker.rules import RulesBackend
from checker.taxonomy import Artifact, Label, Role, Scenario

PAIR = load_pair("aligned")
SAID = Evidence("issue/1/comment/1", Artifact.ISSUE_DISCUSSION, "Only version 3\nfails.", author="ann")


def finding(label: Label, confidence: Confidence = Confidence.HIGH, *evidence: Evidence, repair: str = "") -> Finding:
    scenario = next((s for s in Scenario if s.label is label), None) if label is not Label.OTHERS else None
    role = Role.ISSUE_ANALYZER if label is Label.IS else Role.SCOPE_ANALYZER
    return Finding(label, scenario, confidence, "It is said.", role, evidence or (SAID,), repair)


def report(*findings: Finding, by_model: bool = True) -> Report:
    usage = (RoleUsage(Role.ISSUE_ANALYZER, "m"), RoleUsage(Role.SCOPE_ANALYZER, "m")) if by_model else ()
    return Report("a", "m", Verdict.MISALIGNED, findings, usage=usage)


@pytest.mark.parametrize("label", [Label.SC, Label.DP, Label.FP, Label.OTHERS])
def test_what_is_wrong_with_the_pull_request_drops_the_pair(label: Label) -> None:
    advice = recommend(PAIR, report(finding(label), finding(Label.IS)))
    assert (advice.action, advice.statement) == (Action.DROP, None)
    assert advice.reason.startswith(f"{label}: ")


def test_nothing_is_dropped_on_low_confidence_alone() -> None:
    low = finding(Label.SC, Confidence.LOW)
    assert recommend(PAIR, report(low)).action is Action.LOOK
    assert recommend(PAIR, report(low, finding(Label.DP))).action is Action.DROP


def test_what_the_issue_lacks_is_added_to_the_statement() -> None:
    repairs = report(finding(Label.IS, repair="It fails\n in version 3 only."), finding(Label.UL, repair="Say 'x'."))
    advice = recommend(PAIR, repairs)
    assert advice.action is Action.REPAIR
    assert advice.statement is not None
    assert advice.statement.startswith(PAIR.request.rstrip())
    added = advice.statement.removeprefix(PAIR.request.rstrip())
    assert added == (
        "\n\nAdded to this statement from the discussion and the tests:\n\n- It fails in version 3 only.\n\n"
        "- @ann:\n  > Only version 3\n  > fails.\n\n- Say 'x'.\n"
    )


ASKED = Evidence("issue/1/comment/0", Artifact.ISSUE_DISCUSSION, "Hi. Which version do you use?", author="bob")
REQUEST = Signal("s1", SignalKind.INFORMATION_REQUEST, ASKED.source, ASKED.quote, "bob asks", (Label.IS,))


def test_a_request_for_details_alone_repairs_nothing() -> None:
    asked = replace(report(finding(Label.IS, Confidence.MEDIUM, ASKED), by_model=False), signals=(REQUEST,))
    advice = recommend(PAIR, asked)
    assert (advice.action, advice.statement) == (Action.LOOK, None)
    assert advice.reason == (
        "IS could be mended, but the evidence holds only that details were asked for, "
        "and no answer that could be added."
    )
    with_literal = replace(asked, findings=(*asked.findings, finding(Label.UL, repair="Say 'x'.")))
    assert recommend(PAIR, with_literal).action is Action.LOOK


def test_a_question_alone_repairs_nothing_though_no_signal_tells_of_it() -> None:
    question = Evidence("issue/1/comment/0", Artifact.ISSUE_DISCUSSION, "@bob, how difficult is this?")
    assert recommend(PAIR, report(finding(Label.IS, Confidence.HIGH, question))).action is Action.LOOK


def test_an_answer_is_quoted_with_its_author_after_what_was_asked() -> None:
    answered = report(finding(Label.IS, Confidence.MEDIUM, ASKED, SAID), by_model=False)
    advice = recommend(PAIR, replace(answered, signals=(REQUEST,)))
    assert advice.statement is not None
    assert advice.statement.endswith(
        "\n\n- @bob:\n  > Hi. Which version do you use?\n\n- @ann:\n  > Only version 3\n  > fails.\n"
    )


BODY = (
    "Thank you for looking. We use version 3.1 of it, and\nit fails whenever the basket is empty! Version 2 is fine.\n"
    "\n- no other cart\n- see " + "0123456789" * 100
)


@pytest.mark.parametrize(
    ("quote", "added"),
    [
        ("version 3.1 of it", "  > We use version 3.1 of it, and\n  > it fails whenever the basket is empty!"),
        (
            "empty! Version",
            "  > We use version 3.1 of it, and\n  > it fails whenever the basket is empty! Version 2 is fine.",
        ),
        ("Version 2 is fine.", "  > Version 2 is fine."),
        ("other cart", "  > - no other cart"),
        ("see 01234567890", "  > - see 01234567890 […]"),
        ("is said nowhere", "  > is said nowhere"),
    ],
)
def test_no_half_sentence_is_added_to_a_statement(quote: str, added: str) -> None:
    issue = replace(PAIR.issues[0], comments=(Comment(BODY, "ann"),))
    pair = replace(PAIR, issues=(issue,))
    source = next(name for name, text in pair.texts.items() if text.body == BODY)
    said = Evidence(source, Artifact.ISSUE_DISCUSSION, quote, author="ann")
    advice = recommend(pair, report(finding(Label.IS, Confidence.HIGH, said)))
    assert advice.statement is not None
    assert advice.statement.endswith(f"- @ann:\n{added}\n")


def test_the_answer_to_a_request_is_quoted_whole() -> None:
    pair = load_pair("incomplete-specification")
    found = asyncio.run(check(pair, RulesBackend()))
    advice = recommend(pair, replace(found, findings=tuple(f for f in found.findings if f.label is Label.IS)))
    assert advice.statement is not None
    answer = next(c.body for c in pair.issues[0].comments if c.body.startswith("Sorry for being brief."))
    assert "\n".join(f"  > {line}" for line in answer.splitlines()) in advice.statement


def test_low_confidence_alone_repairs_nothing() -> None:
    low = finding(Label.IS, Confidence.LOW)
    assert recommend(PAIR, report(low)).action is Action.LOOK
    assert "low confidence" in recommend(PAIR, report(low)).reason
    assert recommend(PAIR, report(low, finding(Label.UL, repair="Say 'x'."))).action is Action.REPAIR


def test_what_rules_say_to_do_is_no_wording_to_add() -> None:
    advice = recommend(PAIR, report(finding(Label.IS, repair="Add what the answer supplies."), by_model=False))
    assert advice.statement is not None
    assert "Add what the answer supplies" not in advice.statement
    assert "> Only version 3" in advice.statement


def test_rules_literals_stand_in_the_amended_statement_word_for_word() -> None:
    pair = load_pair("scope-creep-and-literal")
    found = asyncio.run(check(pair, RulesBackend()))
    literal = replace(found, findings=tuple(f for f in found.findings if f.label is Label.UL))
    advice = recommend(pair, literal)
    assert advice.statement is not None
    assert advice.statement.endswith("- The exact wording expected: “Field path has an unbalanced bracket”\n")


@pytest.mark.parametrize(
    ("asserted", "added", "repair"),
    [
        (
            '    assert str(error) == "no index 3 for ABBR"',
            "- The wording expected, with placeholders for what varies: “no index {index} for {key}”",
            "“no index {index} for {key}”",
        ),
        (
            '    with pytest.raises(ValueError, match="no index .* for ABBR"):',
            "- The wording expected, as the regular expression that it must match: “no index .* for ABBR”",
            "the pattern “no index .* for ABBR”",
        ),
    ],
)
def test_of_a_message_that_is_filled_in_the_whole_wording_is_added(asserted: str, added: str, repair: str) -> None:
    def patch(path: str, line: str) -> str:
        return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,0 +1,1 @@\n+{line}\n"

    pair = load_pair("scope-creep-and-literal")
    code, test = (
        patch("a.py", '    raise ValueError(f"no index {index} for {key}")'),
        patch("tests/test_a.py", asserted),
    )
    pair = replace(pair, pull_request=replace(pair.pull_request, code_patch=code, test_patch=test))
    found = asyncio.run(check(pair, RulesBackend()))
    (literal,) = (f for f in found.findings if f.label is Label.UL)
    assert literal.repair == f"State the expected wording in the issue: {repair}."
    advice = recommend(pair, replace(found, findings=(literal,)))
    assert advice.statement is not None
    assert advice.statement.endswith(f"{ADDED}\n\n{added}\n")


@pytest.mark.parametrize("gap", ["unread", "partial"])
def test_a_statement_that_was_not_read_cannot_be_amended(gap: str) -> None:
    pair: Pair = replace(PAIR, **{gap: (Artifact.ISSUE_DESCRIPTION,)})  # type: ignore[arg-type]
    assert recommend(pair, report(finding(Label.IS))).action is Action.LOOK


def test_a_label_without_any_wording_asks_for_a_look() -> None:
    test = Evidence("patch/test", Artifact.TEST_PATCH, "assert x == 'y'")
    assert recommend(PAIR, report(finding(Label.UL, Confidence.HIGH, test))).action is Action.LOOK


@pytest.mark.parametrize(
    ("verdict", "action"),
    [(Verdict.ALIGNED, Action.KEEP), (Verdict.NOTHING_FOUND, Action.KEEP), (Verdict.UNDETERMINED, Action.LOOK)],
)
def test_a_pair_without_a_label(verdict: Verdict, action: Action) -> None:
    advice = recommend(PAIR, Report("a", "m", verdict, undetermined=("IS cannot be ruled out.",)))
    assert advice.action is action
    assert ("IS cannot be ruled out." in advice.reason) is (verdict is Verdict.UNDETERMINED)
    assert ("no intent" in advice.reason) is (verdict is Verdict.NOTHING_FOUND)


def test_what_was_not_read_is_listed_in_one_sentence() -> None:
    gaps = ("reviews (not read)", "commit messages (read only in part)", "conversation (not read)")
    doubts = (*(f"SC and UL cannot be ruled out: the {gap}." for gap in gaps), "DP cannot be ruled out: it (not read).")
    advice = recommend(PAIR, Report("a", "m", Verdict.UNDETERMINED, undetermined=(*doubts, "Text addresses a model.")))
    assert advice.reason == (
        "SC, DP and UL cannot be ruled out; not read: the reviews, the conversation, it; "
        "read only in part: the commit messages. Text addresses a model."
    )


def test_what_a_check_did_not_read_is_listed_in_one_sentence() -> None:
    pair = replace(PAIR, unread=(Artifact.PR_REVIEWS, Artifact.ISSUE_DISCUSSION), partial=(Artifact.PR_COMMITS,))
    found = asyncio.run(check(pair, RulesBackend()))
    assert len(found.undetermined) == 3
    assert recommend(pair, found).reason == (
        "SC and IS cannot be ruled out; not read: the reviews, the issue's discussion; "
        "read only in part: the commit messages."
    )


def test_a_pair_without_an_issue_asks_for_a_look() -> None:
    assert recommend(replace(PAIR, issues=()), Report("a", "m", Verdict.NOTHING_FOUND)).action is Action.LOOK
