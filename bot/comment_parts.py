"""The parts of our comment, each a block of Markdown: plain data in, text out. Strangers' words are inert."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.answered import Answered
from bot.checked import Answer, AnswerKind, Checked
from bot.inert import first_sentence, inert, quoted_code, quoted_prose
from bot.sources import line_address, linked, place, sentence
from checker.evidence import Evidence
from checker.report import Decision, Dropped, Finding, Report, Verdict
from checker.taxonomy import Artifact, Label, Role

_CODE = (Artifact.CODE_PATCH, Artifact.TEST_PATCH)
_UNLINKED = "The pull request is linked to no issue"
_RULES = "*Only rules ran, no model: they compare facts and cannot judge what a change is meant to do.*"
_OTHERS = "differs from the issue in a way that the other labels do not name"
_SAID = {AnswerKind.CONFIRM: "Confirmed", AnswerKind.DISPUTE: "Disputed", AnswerKind.UNCLASSIFIED: "Answered"}
_MOST_DOUBTS = 8
_LABEL = re.compile(r"\b(?:SC|DP|IS|FP|UL)\b")
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")


@dataclass(frozen=True)
class Extent:
    """How much a comment tells. `left_out` says what this extent gives up."""

    left_out: str = ""
    folded: bool = True
    quotes: int | None = None
    quote_characters: int = 1_200
    points: int | None = None
    sections: bool = True


def is_unlinked(report: Report) -> bool:
    """Whether the check ended because the pull request has no issue (`checker.verdict.no_linked_issue`)."""
    return report.verdict is Verdict.NOTHING_FOUND and any(r.startswith(_UNLINKED) for r in report.remarks)


def headline(report: Report, points: Sequence[Answered]) -> str:
    """The verdict in words, without a full stop."""
    still_open = sum(point.is_open for point in points)
    if report.findings:
        number = _NUMBERS[still_open] if still_open < len(_NUMBERS) else str(still_open)
        differs = f"this pull request and its issue differ in {number} point{'s' * (still_open != 1)}"
        return differs if still_open else "nothing is open; a maintainer disputed what was found"
    if is_unlinked(report):
        return "this pull request is linked to no issue"
    return {
        Verdict.ALIGNED: "this pull request does what its issue asks",
        Verdict.NOTHING_FOUND: "no mismatch with the issue was found",
    }.get(report.verdict, "this pull request could not be judged")


def explanation(report: Report, hints: Iterable[str]) -> str:
    """Where nothing could be decided, why and what would help; and that only rules ran."""
    blocks = []
    if is_unlinked(report):
        return (
            "There is nothing to compare it with. Write `Fixes #N` in its description, with the issue's number, "
            "and it is checked again."
        )
    if report.verdict is Verdict.UNDETERMINED:
        doubts = [_in_full(doubt) for doubt in report.undetermined]
        blocks.append("\n".join([bullets(doubts[:_MOST_DOUBTS], 300), *_further(len(doubts), _MOST_DOUBTS)]))
        blocks += [f"**What would help:** {hint}" for hint in hints]
    if report.backend == "rules":
        blocks.append(_RULES)
    return "\n\n".join(blocks)


def _in_full(doubt: str) -> str:
    """A doubt names labels that no table explains."""
    return _LABEL.sub(lambda match: f"{Label(match[0]).words} ({match[0]})", sentence(doubt))


def table(points: Sequence[Answered], most: int | None = None) -> str:
    """The open findings, a row each: label, scenario in words, confidence, one sentence."""
    rows = [point for point in points if point.is_open]
    if not rows:
        return ""
    lines = ["| | This pull request … | Confidence | Why |", "| --- | --- | --- | --- |"]
    lines += [_row(point) for point in rows[:most]]
    return "\n".join([*lines, *_further(len(rows), most)])


def _further(found: int, most: int | None) -> list[str]:
    return [] if most is None or found <= most else ["", f"And {found - most} more."]


def _row(point: Answered) -> str:
    finding = point.finding
    confirmed = f"{finding.confidence}, confirmed" if point.maintainer else str(finding.confidence)
    why = inert(first_sentence(sentence(finding.reason), 240))
    return f"| **{finding.label}** | {_scenario(finding)} | {confirmed} | {why} |"


def _scenario(finding: Finding) -> str:
    return f"{finding.scenario.words} ({finding.scenario})" if finding.scenario else _OTHERS


def name_of(label: Label) -> str:
    """The label as people read it: `SC · Scope Creep`."""
    return str(label) if label is Label.OTHERS else f"{label} · {label.words}"


def section(point: Answered, checked: Checked, web: str, extent: Extent) -> str:
    """One finding: what people said, the reason where it is longer than its row, quotes, repair, decisions."""
    finding = point.finding
    blocks = [f"#### {name_of(finding.label)}"]
    reason = sentence(finding.reason)
    if first_sentence(reason, 240) != reason:
        blocks.append(inert(reason, 1_000))
    blocks += [quote(evidence, checked, web, extent) for evidence in finding.evidence[: extent.quotes]]
    if finding.repair:
        blocks.append(f"**What would mend it:** {inert(sentence(finding.repair), 1_000)}")
    said = [_said(answer) for answer in (point.maintainer, point.author) if answer]
    if point.author and not point.maintainer:
        said.append("A maintainer decides.")
    decided = [_decision(role, decision, checked, web) for role, decision in finding.decisions]
    if said or decided:
        blocks.append("\n".join(f"- {line}" for line in (*said, *decided)))
    return "\n\n".join(blocks)


def quote(evidence: Evidence, checked: Checked, web: str, extent: Extent) -> str:
    """A proved quote with the place where it stands."""
    quoted = quoted_code if evidence.artifact in _CODE else quoted_prose
    author = f", by {inert(evidence.author, 60)}" if evidence.author else ""
    lines = quoted(evidence.quote, extent.quote_characters)
    return "\n".join([*lines, f"> — {place(evidence, checked, web)}{author}"])


def _said(answer: Answer) -> str:
    who = f"{inert(answer.who, 60)} ({answer.standing})"
    reason = f": {inert(answer.reason, 300)}" if answer.reason.strip() else "."
    return f"{_SAID[answer.kind]} by {who}{reason}"


def _decision(role: Role, decision: Decision, checked: Checked, web: str) -> str:
    lines = [
        linked(f"{path}, line {line}", line_address(checked, web, path, line)) for path, line in decision.lines[:3]
    ]
    where = f" ({'; '.join(lines)})" if lines else ""
    return f"{role.words}: kept. {inert(sentence(decision.reason), 400)}{where}"


def disputed(points: Sequence[Answered]) -> str:
    """Folded: what a maintainer disputed on this evidence, which is not raised again."""
    closed = [
        f"- ~~**{point.finding.label}** {_scenario(point.finding)}~~ {_said(point.maintainer)}"
        for point in points
        if not point.is_open and point.maintainer
    ]
    return folded("Disputed, and not raised again on the same evidence", "\n".join(closed))


def dropped(report: Report) -> str:
    """Folded: labels that were assigned and do not stand, and oddities that became no label."""
    told = " ".join((*(finding.reason for finding in report.findings), *report.undetermined))
    clues = [f"Noticed, and no label: {sentence(clue.says)}" for clue in report.clues if clue.says not in told]
    return folded("Looked at and dropped", bullets([*map(_dropped, report.dropped), *clues]))


def _dropped(drop: Dropped) -> str:
    by = f"the {Role(drop.by).words}" if drop.by in set(Role) else "want of proof"
    scenario = f" ({drop.scenario})" if drop.scenario else ""
    return f"{drop.label}{scenario}, dropped by {by}: {sentence(drop.reason)}"


def gaps(report: Report) -> str:
    """Folded: what was not read or not decided. An undetermined report has its doubts on top already."""
    doubts = () if report.verdict is Verdict.UNDETERMINED else report.undetermined
    told = " ".join(report.undetermined)
    unread = [f"Not read: {artifact.words}." for artifact in report.unread if artifact.words not in told]
    partial = [f"Read only in part: {artifact.words}." for artifact in report.partial if artifact.words not in told]
    return folded("Not read, or not decided", bullets([*map(_in_full, doubts), *unread, *partial]))


def about(checked: Checked, web: str) -> str:
    """Folded: model, cost, time, head, and what the roles remarked."""
    report = checked.report
    head = f"[`{checked.head_sha[:7]}`]({web}/{checked.repository}/commit/{checked.head_sha})"
    when = f"{checked.checked_at:%Y-%m-%d %H:%M} UTC"
    lines = [
        f"- Head {head}, checked on {when} in {checked.seconds:.0f} s; run `{checked.run}`.",
        f"- {'Backend' if report.backend == 'rules' else 'Model'}: {inert(report.backend, 200)}; {_cost(report)}.",
        *(f"- {inert(sentence(remark))}" for remark in report.remarks),
    ]
    return folded("About this check", "\n".join(lines))


def _cost(report: Report) -> str:
    calls = sum(usage.calls for usage in report.usage)
    tokens = sum(usage.input_tokens + usage.output_tokens for usage in report.usage)
    if not calls:
        return "no call, no cost"
    cost = "price unknown" if report.dollars is None else f"{report.dollars:.4f} US dollars"
    return f"{calls} call{'s' * (calls != 1)}, {tokens:,} tokens, {cost}"


def question(points: Sequence[Answered]) -> str:
    """One line that asks maintainers for an answer; nothing where none is wanted."""
    labels = list(dict.fromkeys(p.finding.label for p in points if p.is_open and not p.maintainer))
    if not labels:
        return ""
    others = f"; likewise for {' and '.join(labels[1:])}" if labels[1:] else ""
    return (
        f"**Is this right?** Please answer with `/paichecker confirm {labels[0]}`, "
        f"or with `/paichecker dispute {labels[0]}` and your reason{others}."
    )


def how_to_answer(points: Sequence[Answered]) -> str:
    """Folded: the commands, those about labels only where there are any."""
    return folded("How to answer", _HOW + (_ABOUT_LABELS if points else "") + _ANYTIME + (_WHO if points else ""))


_HOW = "On a line of its own, in a comment on this pull request:\n\n"
_ABOUT_LABELS = """\
- `/paichecker confirm [LABEL...]`: yes, this is so.
- `/paichecker dispute [LABEL...] [reason]`: no, it is not. It is not raised again on the same evidence.
- `/paichecker explain LABEL`: what the label means, and how it was found.
"""
_ANYTIME = """\
- `/paichecker recheck`: read everything anew, and check again.
- `/paichecker ignore`: leave this pull request alone."""
_WHO = """

Without a label, an answer is to all of them. Or quote this comment, and say just "confirm" or "dispute".

Maintainers decide. The author of the pull request may dispute, and ask for a recheck."""


def bullets(lines: Iterable[str], most: int = 600) -> str:
    """A list of strangers' or our sentences, each inert and of at most `most` characters."""
    return "\n".join(f"- {inert(line, most)}" for line in lines)


def folded(title: str, body: str) -> str:
    """A part that opens on a click; nothing where it would be empty. The title is ours."""
    return f"<details>\n<summary>{title}</summary>\n\n{body}\n\n</details>" if body else ""
