"""What is answered to a command: a reaction, and for `explain`, `help` and mistakes a few lines of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from bot.checked import Checked
from bot.commands import Command, Verb
from bot.comment_parts import Extent, name_of, quote
from bot.inert import inert
from bot.sources import sentence
from checker.report import Dropped, Finding, Report
from checker.taxonomy import Label, Role, Scenario

_EXTENT = Extent(quotes=3, quote_characters=400)

DOES = {
    Verb.RECHECK: "read everything anew, and check again.",
    Verb.CONFIRM: "yes, this is so.",
    Verb.DISPUTE: "no, it is not. It is not raised again on the same evidence.",
    Verb.EXPLAIN: "what a label means, and how it was found here.",
    Verb.IGNORE: "leave this pull request alone.",
    Verb.RESUME: "check this pull request again, after `ignore`.",
    Verb.HELP: "this list.",
}
"""What each command does, in a few words."""


class Reaction(StrEnum):
    """How a command is acknowledged on its comment.

    https://docs.github.com/rest/reactions/reactions#create-reaction-for-an-issue-comment lists the contents.
    """

    DONE = "+1"
    STARTED = "eyes"
    REFUSED = "confused"


def help_text() -> str:
    """The commands, each with what it does."""
    lines = [f"- `{verb.usage}`: {DOES[verb]}" for verb in Verb]
    labels = ", ".join(f"{label} ({label.words})" for label in Label if label is not Label.OTHERS)
    return "\n".join(
        [
            "A command stands on a line of its own:",
            "",
            *lines,
            "",
            f"The labels are {labels} and {Label.OTHERS}. Without a label, an answer is to all that were found.",
        ]
    )


def absent(command: Command, report: Report | None) -> str | None:
    """Why a `confirm` or `dispute` answers to nothing, in Markdown; None where all that it names was found."""
    if command.verb not in (Verb.CONFIRM, Verb.DISPUTE):
        return None
    standing = report.labels if report else ()
    if not standing:
        return "There is nothing to answer to: no label stands on this pull request now."
    missing = [label for label in command.labels if label not in standing]
    if missing:
        was = "was" if len(missing) == 1 else "were"
        return f"{_listed(missing)} {was} not found here. An answer can be to {_listed(standing)}."
    return None


def explain(label: Label, checked: Checked | None, *, web: str) -> str:
    """What a label means and what the last check (None: there is none) says of it, as inert Markdown.

    `web`: the address of this GitHub, for links to what is quoted.
    """
    blocks = [_meaning(label)]
    if checked is None:
        blocks.append("This pull request has not been checked yet.")
    else:
        found = [finding for finding in checked.report.findings if finding.label is label]
        drops = [drop for drop in checked.report.dropped if drop.label is label]
        for finding in found:
            blocks += _finding(finding, checked, web)
        blocks += [_dropped(drop) for drop in drops[:3]]
        if not found and not drops:
            blocks.append(_not_found(label, checked.report))
    return "\n\n".join(blocks)


def _meaning(label: Label) -> str:
    if label is Label.OTHERS:
        return f"**{label}**: issue and pull request do not fit, in a way that none of the other labels names."
    ways = [f"- {scenario.words} ({scenario})" for scenario in Scenario if scenario.label is label]
    return "\n".join([f"**{name_of(label)}**: the pull request", "", *ways])


def _finding(finding: Finding, checked: Checked, web: str) -> Iterator[str]:
    scenario = f" as {finding.scenario}" if finding.scenario else ""
    said = inert(sentence(finding.reason), 1_000)
    yield f"**Found here**{scenario}, confidence {finding.confidence}, by the {finding.by.words}: {said}"
    for evidence in finding.evidence[: _EXTENT.quotes]:
        yield quote(evidence, checked, web, _EXTENT)
    if finding.decisions:
        yield "\n".join(
            f"- {role.words}: kept. {inert(sentence(decision.reason), 400)}" for role, decision in finding.decisions
        )


def _dropped(drop: Dropped) -> str:
    by = f"by the {Role(drop.by).words}" if drop.by in set(Role) else "for want of proof"
    scenario = f" as {drop.scenario}" if drop.scenario else ""
    return f"**Dropped here**{scenario} {by}: {inert(sentence(drop.reason), 600)}"


def _not_found(label: Label, report: Report) -> str:
    doubts = [doubt for doubt in report.undetermined if _may_be_about(label, doubt)]
    if doubts:
        lines = "\n".join(f"- {inert(sentence(doubt), 300)}" for doubt in doubts[:5])
        return f"{label} was not found here. This was not decided:\n\n{lines}"
    return f"{label} was not found here."


def _may_be_about(label: Label, doubt: str) -> bool:
    """A doubt that names labels is about those."""
    named = set(re.findall(r"\w+", doubt)) & set(Label)
    return label in named or not named


def _listed(labels: tuple[Label, ...] | list[Label]) -> str:
    return " and ".join(filter(None, [", ".join(labels[:-1]), labels[-1]]))
