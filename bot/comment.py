"""The one comment of a pull request: what a check found, as GitHub Markdown, and whether it is posted at all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bot import comment_changes as since
from bot import comment_parts as parts
from bot.answered import Answered, answered
from bot.checked import Answer, Checked
from bot.comment_parts import Extent
from bot.repo_config import CommentWhen
from checker.report import Report, Verdict

MARKER = "<!-- paichecker:comment -->"
"""Begins every comment of ours. Anybody can write it: it counts only together with the author."""

LONGEST = 65_536
"""GitHub's limit in characters. UTF-8 bytes are held to it, which are never fewer, however one counts."""

# From everything to what always fits: each gives up a little more, the least important first.
_EXTENTS = (
    Extent(),
    Extent("the folded parts", folded=False),
    Extent("the folded parts, and all quotes but the first of each point", folded=False, quotes=1),
    Extent(
        "the folded parts, all quotes but the first of each point, and the ends of long quotes",
        folded=False,
        quotes=1,
        quote_characters=200,
    ),
    Extent("everything but the table", folded=False, points=8, sections=False),
)
# What stays undecided for these reasons, somebody who reads the comment can mend; an outage of a model they cannot.
# A report tells reasons only in words: those of `checker.verdict` and `checker.exchange`.
_MENDABLE = (
    (
        re.compile(r"cannot be ruled out: .*\((?:not read|read only in part)\)\.$|linked to an issue was not read\.$"),
        "see that PAIChecker may read the linked issues, and that GitHub shows the whole diff; "
        "then write `/paichecker recheck`.",
    ),
    (
        re.compile(r"pass the check's budget of "),
        "raise the budget of a check in `.github/paichecker.yml`, or split the pull request.",
    ),
    (
        re.compile(r"^Text addresses a model: "),
        "take out the passage that addresses a model, or check this pull request by hand.",
    ),
)


def render_comment(checked: Checked, *, web: str, before: Checked | None = None, answers: Sequence[Answer] = ()) -> str:
    """The whole comment, within GitHub's limit, `MARKER` first.

    `web`: GitHub's address without a slash at the end, for links. `before`: the check that the present comment shows,
    if this is another. `answers`: what was said to findings of this pull request; a maintainer's dispute of the same
    evidence folds the finding.
    """
    points = answered(checked.report.findings, answers)
    bodies = (_body(checked, points, web, before, extent) for extent in _EXTENTS)
    return next(body for body in bodies if len(body.encode()) <= LONGEST)


def _body(checked: Checked, points: tuple[Answered, ...], web: str, before: Checked | None, extent: Extent) -> str:
    report = checked.report
    blocks = [
        f"{MARKER}\n### PAIChecker: {parts.headline(report, points)}",
        parts.table(points, extent.points),
        parts.explanation(report, mends(report)),
        since.changes(before, checked) if before else "",
        *(parts.section(p, checked, web, extent) for p in points if p.is_open and extent.sections),
        f"*Too long for a comment on GitHub. Left out: {extent.left_out}.*" if extent.left_out else "",
        parts.question(points),
        *(_folded(checked, points, web, before) if extent.folded else ()),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _folded(checked: Checked, points: tuple[Answered, ...], web: str, before: Checked | None) -> Iterator[str]:
    yield parts.how_to_answer(points)
    yield since.resolved(before, checked) if before else ""
    yield parts.disputed(points)
    yield parts.dropped(checked.report)
    yield parts.gaps(checked.report)
    yield parts.about(checked, web)


def should_post(
    checked: Checked,
    when: CommentWhen,
    exists: bool,
    answers: Sequence[Answer] = (),
) -> bool:
    """Whether the comment is written: one that `exists` is always brought up to date.

    With MISALIGNED, a new one wants an open finding, or something undecided that a reader can mend.
    """
    report = checked.report
    if exists:
        return True
    if when is CommentWhen.NEVER or parts.is_unlinked(report):
        return False
    if when is CommentWhen.ALWAYS:
        return True
    if report.verdict is Verdict.UNDETERMINED:
        return bool(mends(report))
    return any(point.is_open for point in answered(report.findings, answers))


def mends(report: Report) -> tuple[str, ...]:
    """What a reader can do about what stayed undecided, each as the end of a sentence, in Markdown."""
    return tuple(hint for reason, hint in _MENDABLE if any(map(reason.search, report.undetermined)))
