"""Finished checks for the tests of what the App shows: real ones of the bundled pairs, and one made by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from fakes import connection, decide, issue, load_pair, scope, validated

from bot.checked import Checked, inputs_of
from checker.evidence import Evidence
from checker.pair import Pair
from checker.pipeline import Backend, check
from checker.report import Clue, Confidence, Decision, Dropped, Finding, Report, RoleUsage, Verdict
from checker.rules import RulesBackend
from checker.taxonomy import Artifact, Label, Role, Scenario

WEB = "https://github.com"
HEAD = "6b51bc9385815d32c82b92ee5fc8615fa28dc77d"
AT = datetime(2026, 3, 4, 15, 16, 17, tzinfo=UTC)

FINDS_NOTHING = {
    Role.ISSUE_ANALYZER: issue(),
    Role.SCOPE_ANALYZER: scope(asked_ul=False),
    Role.CONNECTION_ANALYZER: connection(),
    Role.COORDINATOR: decide(),
    Role.CODE_VALIDATOR: validated(),
}
"""A script for a model by which every role answers and nothing is found."""


async def checked_pair(pair: Pair | str, backend: Backend | None = None) -> Checked:
    """A real check of a pair, by rules unless another backend is given."""
    pair = load_pair(pair) if isinstance(pair, str) else pair
    report = await check(pair, backend or RulesBackend())
    number, head_sha = pair.pull_request.number or 0, pair.pull_request.head_sha or ""
    return checked(report, pair.repository or "", number, head_sha, inputs_of(pair))


def checked(
    report: Report,
    repository: str = "ann/tool",
    number: int = 9,
    head_sha: str = HEAD,
    inputs: dict[str, str] | None = None,
) -> Checked:
    """A report as the check that left it behind."""
    return Checked("0f3a9c2e77b1", repository, number, head_sha, report, AT, 11.6, inputs or {})


def report(verdict: Verdict, **fields: Any) -> Report:
    """A model's report on ann/tool#9."""
    return Report("ann__tool-9", "claude-sonnet-5-5", verdict, **fields)


def creep(text: str = "This also adds a --json flag.", **fields: Any) -> Finding:
    """Scope creep, shown by the pull request's description."""
    evidence = Evidence("pr/description", Artifact.PR_DESCRIPTION, text, "ben", f"{WEB}/ann/tool/pull/9")
    made = Finding(
        Label.SC,
        Scenario.SC_2,
        Confidence.HIGH,
        "The description announces a --json flag. The issue asks only that the exit status be mended.",
        Role.SCOPE_ANALYZER,
        (evidence,),
        "Move the --json flag to a pull request of its own, or ask for it in the issue.",
    )
    return replace(made, **fields)


def literal(**fields: Any) -> Finding:
    """A literal, shown by an added line of the test patch, and looked at by both later phases."""
    line = 'assert str(error) == "no such profile: default"'
    evidence = Evidence("patch/test", Artifact.TEST_PATCH, line, None, None, "tests/test_cli.py", 41, True)
    kept = Decision(Label.UL, True, "The message stands on an added line.", (("tool/cli.py", 88), ("tool/cli.py", 90)))
    decisions = ((Role.COORDINATOR, Decision(Label.UL, True, "The quote carries it.")), (Role.CODE_VALIDATOR, kept))
    made = Finding(
        Label.UL,
        Scenario.UL_1,
        Confidence.MEDIUM,
        "The test wants the words “no such profile: default”, which the issue does not give.",
        Role.SCOPE_ANALYZER,
        (evidence,),
        "Add to the issue: the command fails with “no such profile: NAME”.",
        decisions,
    )
    return replace(made, **fields)


def incomplete() -> Finding:
    """An incomplete specification, shown by the discussion of an issue elsewhere."""
    url = f"{WEB}/ann/docs/issues/3#issuecomment-12"
    evidence = Evidence("issue/ann/docs/3/comment/2", Artifact.ISSUE_DISCUSSION, "On Windows, exit with 3.", "eve", url)
    reason = "The status for Windows was given only in the discussion."
    repair = "Add the status for Windows to the issue."
    return Finding(Label.IS, Scenario.IS_1, Confidence.LOW, reason, Role.ISSUE_ANALYZER, (evidence,), repair)


def whole() -> Report:
    """A misaligned report in which every part is set."""
    return report(
        Verdict.MISALIGNED,
        findings=(creep(), literal()),
        dropped=(
            Dropped(Label.IS, "coordinator", "The maintainer only completes an issue of their own.", Scenario.IS_1),
            Dropped(Label.FP, "evidence", "no quote could be proved (related/pr/4: it does not stand there)"),
        ),
        clues=(Clue("pr_scope_analyzer", "pr/description names 12, which looks like 21"),),
        undetermined=("DP cannot be ruled out: what mentions the merge commit (not read).",),
        unread=(Artifact.MERGE_REFERENCES,),
        partial=(Artifact.PR_COMMENTS,),
        remarks=("The request is the union of 2 linked issues.",),
        usage=(
            RoleUsage(Role.SCOPE_ANALYZER, "claude-sonnet-5-5", 2, 12_345, 1_000, 678, 0.0471),
            RoleUsage(Role.CODE_VALIDATOR, "claude-sonnet-5-5", 1, 4_000, 0, 200, 0.015),
        ),
    )
