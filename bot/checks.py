"""Bodies of check runs, one for every head (docs.github.com/rest/checks/runs). Each fits both creating and updating.

A check is red only for a label that the repository itself put under `fail_on`: never for a failure of ours.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from bot import comment_parts as parts
from bot.answered import Answered, answered
from bot.checked import Answer, Checked
from bot.comment_parts import Extent
from bot.inert import inert, shortened
from bot.repo_config import PATH, ConfigProblem
from checker.github.address import Address
from checker.pair import REPOSITORY_NAME
from checker.report import Report, Verdict
from checker.taxonomy import Label, Role

NAME = "PAIChecker"
RECHECK = "recheck"
"""The identifier of the button's action, as `check_run.requested_action` gives it back."""

LONGEST = 65_535
"""GitHub's limit for a summary or a text; held to in UTF-8 bytes."""

_MOST_ANNOTATIONS = 50
_MOST_PROBLEMS = 6
_ACTIONS = [{"label": "Check again", "description": "Read everything anew and check again", "identifier": RECHECK}]
_EXTERNAL_ID = re.compile(rf"({REPOSITORY_NAME})#([1-9][0-9]{{0,8}})")
_EXTENTS = (Extent(), Extent("all quotes but the first of each point", quotes=1, quote_characters=200))

Body = dict[str, Any]
Conclusion = Literal["success", "neutral", "failure"]


@dataclass(frozen=True)
class Head:
    """The commit of a pull request that a check run belongs to."""

    repository: str
    number: int
    sha: str


IGNORED = "a maintainer asked for that; `/paichecker resume` takes it back"
"""Why a pull request that was set aside is not checked: a clause, as `RepositoryConfig.skips` gives others."""


def external_id(repository: str, number: int) -> str:
    """What a check run carries to find its pull request, which GitHub does not name for forks."""
    return f"{repository}#{number}"


def pull_request_of(carried: str | None) -> Address | None:
    """The pull request named by an `external_id`; None for one that is not ours."""
    match = _EXTERNAL_ID.fullmatch(carried or "")
    return Address(match[1], int(match[2])) if match else None


def started(head: Head, *, at: datetime) -> Body:
    """The check is under way."""
    summary = "The pull request is being read and compared with its linked issue."
    output = {"title": "Checking …", "summary": summary}
    return {**_identity(head), "status": "in_progress", "started_at": _time(at), "output": output}


def concluded(
    checked: Checked,
    *,
    web: str,
    fail_on: Collection[Label] = (),
    answers: Sequence[Answer] = (),
    problems: Sequence[ConfigProblem] = (),
    comment: str | None = None,
) -> Body:
    """A finished check. `comment`: the address of our comment, where there is one."""
    report = checked.report
    points = answered(report.findings, answers)
    standing = [point for point in points if point.is_open]
    red = [label for label in Label if label in fail_on and any(p.finding.label is label for p in standing)]
    body = _completed(
        Head(checked.repository, checked.number, checked.head_sha),
        conclusion="failure" if red else "success" if report.verdict is Verdict.ALIGNED else "neutral",
        title=_title(report, standing),
        summary=_summary(report, points, red, problems, comment),
        at=checked.checked_at,
    )
    body["output"] |= _details(standing, checked, web, red)
    return {**body, "details_url": comment} if comment else body


def skipped(head: Head, why: str, *, at: datetime, problems: Sequence[ConfigProblem] = ()) -> Body:
    """The pull request is not checked, on purpose. `why`: IGNORED, or what `RepositoryConfig.skips` gives."""
    blocks = [f"This pull request was not checked: {why}.", *_configuration(problems)]
    return _completed(head, conclusion="neutral", title="Not checked", summary="\n\n".join(blocks), at=at)


def outdated(body: Body, why: str) -> Body:
    """A finished check, after which something came that is not checked. Green becomes grey; red stays."""
    output = body["output"]
    summary = f"**What came after this check was not checked:** {why}.\n\n{output['summary']}"
    conclusion = "neutral" if body["conclusion"] == "success" else body["conclusion"]
    return {**body, "conclusion": conclusion, "output": {**output, "summary": summary}}


def superseded(head: Head, *, by: str, at: datetime) -> Body:
    """A newer head is checked instead. `by`: its SHA."""
    summary = f"A newer push, `{by[:7]}`, is checked instead."
    return _completed(head, conclusion="neutral", title="Superseded by a newer push", summary=summary, at=at)


def emptied(head: Head) -> Body:
    """For a finished check of which nothing may stay, as what it tells of can be read no longer. To update only."""
    summary = "What this check told of can be read no longer. A newer check says what stands."
    return {**_identity(head), "output": {"title": "Taken back", "summary": summary, "text": summary}}


def failed(head: Head, *, run: str, at: datetime) -> Body:
    """PAIChecker itself failed; `run` leads whoever operates it to the log."""
    summary = (
        "PAIChecker itself failed here. This says nothing about the pull request. "
        f"Ask for another check with the button; if that fails too, tell who runs this App: run `{run}`."
    )
    return _completed(head, conclusion="neutral", title="PAIChecker failed", summary=summary, at=at)


def _identity(head: Head) -> Body:
    return {"name": NAME, "head_sha": head.sha, "external_id": external_id(head.repository, head.number)}


def _completed(head: Head, *, conclusion: Conclusion, title: str, summary: str, at: datetime) -> Body:
    return {
        **_identity(head),
        "status": "completed",
        "conclusion": conclusion,
        "completed_at": _time(at),
        "output": {"title": title, "summary": summary, "text": ""},
        "actions": _ACTIONS,
    }


def _time(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _title(report: Report, standing: Sequence[Answered]) -> str:
    labels = ", ".join(dict.fromkeys(point.finding.label.words for point in standing))
    headline = parts.headline(report, standing)
    return labels or f"{headline[:1].upper()}{headline[1:]}"


def _summary(
    report: Report,
    points: Sequence[Answered],
    red: Sequence[Label],
    problems: Sequence[ConfigProblem],
    comment: str | None,
) -> str:
    headline = parts.headline(report, points)
    blocks = [
        f"**{headline[:1].upper()}{headline[1:]}.**",
        parts.table(points, 8),
        parts.explanation(report, ()),
        f"This repository fails the check for {' and '.join(red)}." if red else "",
        f"[Read and answer the comment]({comment})." if comment else "",
        *_configuration(problems),
    ]
    return "\n\n".join(block for block in blocks if block)


def _configuration(problems: Sequence[ConfigProblem]) -> Iterator[str]:
    """The mistakes in the repository's configuration, each with line and field."""
    if not problems:
        return
    lines = [
        f"- Line {problem.line}, {inert(problem.field, 60)}: {inert(problem.message, 200)}"
        for problem in problems[:_MOST_PROBLEMS]
    ]
    further = [f"- And {len(problems) - _MOST_PROBLEMS} more."] if len(problems) > _MOST_PROBLEMS else []
    head = f"**Please mend `{PATH}`. Until then, what is wrong in it does not count:**"
    yield "\n".join([head, "", *lines, *further])


def _details(standing: Sequence[Answered], checked: Checked, web: str, red: Collection[Label]) -> Body:
    """The quotes below the summary, where they fit, and the lines that the code validator named."""
    texts = ("\n\n".join(parts.section(p, checked, web, extent) for p in standing) for extent in _EXTENTS)
    text = next((text for text in texts if text and len(text.encode()) <= LONGEST), None)
    annotations = list(dict.fromkeys(_places(standing)))[:_MOST_ANNOTATIONS]
    details: Body = {"text": text} if text else {}
    if annotations:
        details["annotations"] = [_annotation(*place, red) for place in annotations]
    return details


def _places(standing: Sequence[Answered]) -> Iterator[tuple[Label, str, int, str]]:
    for point in standing:
        for role, decision in point.finding.decisions:
            for path, line in decision.lines if role is Role.CODE_VALIDATOR else ():
                if path and line > 0:
                    yield point.finding.label, path, line, decision.reason


def _annotation(label: Label, path: str, line: int, reason: str, red: Collection[Label]) -> Body:
    return {
        "path": path,
        "start_line": line,
        "end_line": line,
        "annotation_level": "warning" if label in red else "notice",
        "title": parts.name_of(label),
        "message": shortened(reason, 1_000) or label.words,
    }
