"""A report as text for a terminal, and as Markdown. Quoted text comes from strangers and is made inert."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Collection, Iterable, Iterator

from checker.evidence import Evidence
from checker.report import Dropped, Finding, Report, RoleUsage, Verdict
from checker.taxonomy import Label, Role

_WIDTH = 100
_INVISIBLE = ("Cc", "Cf", "Cs")
_JOINER = "\u2060"
# What Markdown would take for markup, wherever it stands in a line.
_MARKUP = r"\\(?=[!-/:-@\[-`{-~]|$)|[`|~]|(?<! )\*|\*(?! )|<(?=[a-z/!?]|$)|&(?=\#?\w+(?:;|$))|(?<!\S)\#+$"
# What GitHub looks for in the text that Markdown leaves, where no backslash stands any more: mentions, references,
# addresses, emoji. Behind its first sign a word joiner ends the search.
_FOUND = r"@(?=\S)|\#(?=\d)|(?:https?|ftp|mailto|xmpp)(?=:\S)|:(?=[\w+-]+(?::|$))|www(?=\.)|gh(?=-\d)|(?:ghsa|cve)(?=-)"
_ACTIVE = re.compile(
    rf"(?P<underscores>_+)|(?P<bracket>[\[\]])|(?P<dollar>\$)|(?P<found>{_FOUND})|(?P<markup>{_MARKUP})", re.IGNORECASE
)
_BETWEEN_LETTERS = re.compile(r"(?<=[^\W_])_+(?=[^\W_])")
# Brackets that are no link, no address of one, no footnote, task box or alert.
_MERE_BRACKETS = re.compile(r"\[(?![ x!^\]])[^\[\]]*\](?![(\[:]|$)", re.IGNORECASE)
# What only at the start of a line makes a quotation, a list, a rule, a table, or a heading.
_LINE_START = re.compile(r"(\d{0,9})(>|[-+](?=[\s-]|$)|\#{1,6}(?=\s|$)|=+$|:(?=-)|(?<=\d)[.)](?=\s|$))")
# Seven digits are the fewest by which GitHub finds a commit; all may be letters.
_COMMIT = re.compile(r"[0-9a-f]{7,}", re.IGNORECASE)

VERDICT_WORDS = {
    Verdict.MISALIGNED: "misaligned",
    Verdict.ALIGNED: "aligned",
    Verdict.NOTHING_FOUND: "nothing found",
    Verdict.UNDETERMINED: "undetermined",
}
RULES_NOTE = "rules only: no model read the texts, so intent was not judged"


def plain(text: str) -> str:
    """Without characters that steer a terminal or reorder text: each becomes its code point."""
    return "".join(c if c == "\n" or unicodedata.category(c) not in _INVISIBLE else f"\\u{ord(c):04x}" for c in text)


def one_line(text: str) -> str:
    """Plain text on one line: a stranger's id or name cannot pass for a line of ours."""
    return " ".join(plain(" ".join(text.split())).split())


def as_text(report: Report) -> str:
    """The report for a terminal, about 100 columns wide."""
    return "\n".join(_text_lines(report)) + "\n"


def _text_lines(report: Report) -> Iterator[str]:
    labels = f" ({', '.join(report.labels)})" if report.labels else ""
    yield f"{one_line(report.id)}: {VERDICT_WORDS[report.verdict].upper()}{labels}"
    yield f"  by {one_line(report.backend)}" + (f" ({RULES_NOTE})" if report.backend == "rules" else "")
    for finding in report.findings:
        yield ""
        yield from _finding(finding)
    yield from _section("Votes", _votes(report))
    yield from _section("Dropped", (_dropped(dropped) for dropped in report.dropped))
    yield from _section("Clues", _clues(report))
    yield from _section("Undetermined", report.undetermined)
    yield from _section("Not read", _not_read(report))
    yield from _section("Remarks", report.remarks)
    if report.usage:
        yield from _section("Cost", _cost(report))


def _finding(finding: Finding) -> Iterator[str]:
    scenario = f", {finding.scenario}: {finding.scenario.words}" if finding.scenario else ""
    yield from _wrapped(f"{_name(finding)}{scenario}", "  ", "     ")
    yield from _wrapped(f"{finding.reason} Confidence: {finding.confidence}.", "    ", "    ")
    for evidence in finding.evidence:
        yield from _quote(evidence)
    for said in not_proved(finding):
        yield from _wrapped(said, "    ", "      ")
    if finding.repair:
        yield from _wrapped(f"Repair: {finding.repair}", "    ", "      ")
    for role, decision in finding.decisions:
        yield from _wrapped(f"{role.words}: keep; {decision.reason}", "    ", "      ")


def not_proved(finding: Finding) -> Iterator[str]:
    """What a method whose labels are taken as given owes its reader."""
    for quote in finding.unproved:
        yield f"Not proved, it does not stand in {quote.source}: “{quote.text[:300]}”"
    if not finding.evidence:
        yield "The label stands as it was given: no quote proves it."


def _votes(report: Report) -> Iterator[str]:
    for vote in report.votes:
        labels = f" ({', '.join(vote.labels)})" if vote.labels else ""
        unsure = ", with doubts" if vote.open and vote.verdict is not Verdict.UNDETERMINED else ""
        yield f"{vote.member}: {VERDICT_WORDS[vote.verdict]}{labels}{unsure}"


def _quote(evidence: Evidence) -> Iterator[str]:
    for line in map(plain, _quoted_lines(evidence, 6)):
        yield from textwrap.wrap(line, _WIDTH, initial_indent="    > ", subsequent_indent="    > ") or ["    >"]
    yield f"      {_source(evidence)}"


def _quoted_lines(evidence: Evidence, most: int) -> list[str]:
    lines = evidence.quote.expandtabs(4).splitlines()
    return [*lines[:most], "[...]"] if len(lines) > most else lines


def _source(evidence: Evidence) -> str:
    place = f", {evidence.path}:{evidence.line}" if evidence.path else ""
    author = f", by {evidence.author}" if evidence.author else ""
    address = f", {evidence.url}" if evidence.url else ""
    return one_line(f"{evidence.source}{place}{author}{address}")


def _section(title: str, sentences: Iterable[str]) -> Iterator[str]:
    items = list(sentences)
    if items:
        yield ""
        yield f"  {title}"
    for item in items:
        yield from _wrapped(item, "    - ", "      ")


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(one_line(text), _WIDTH, initial_indent=first, subsequent_indent=rest)


def _dropped(dropped: Dropped) -> str:
    others = {"panel": "the panel's vote"}
    by = Role(dropped.by).words if dropped.by in set(Role) else others.get(dropped.by, "no proof")
    return f"{dropped.label}{f' ({dropped.scenario})' if dropped.scenario else ''}, by {by}: {dropped.reason}"


def _name(finding: Finding) -> str:
    return finding.label if finding.label is Label.OTHERS else f"{finding.label} {finding.label.words}"


def _clues(report: Report) -> Iterator[str]:
    """The clues that did not become a label."""
    used = {finding.reason for finding in report.findings}
    return (clue.says for clue in report.clues if clue.says not in used)


def _not_read(report: Report) -> Iterator[str]:
    if report.unread:
        yield "; ".join(artifact.words for artifact in report.unread)
    if report.partial:
        yield "in part: " + "; ".join(artifact.words for artifact in report.partial)


def _cost(report: Report) -> Iterator[str]:
    are_several = len({usage.model for usage in report.usage}) > 1
    if any(usage.is_uncounted for usage in report.usage):
        yield from (f"{usage.role.words}: {_calls(usage.calls)}, tokens and price unknown" for usage in report.usage)
        return
    for usage in report.usage:
        who = f"{usage.role.words}, {one_line(usage.model)}" if are_several else usage.role.words
        yield f"{who}: {_tokens(usage)}, {_dollars(usage.dollars)}"
    calls = sum(usage.calls for usage in report.usage)
    tokens = sum(usage.input_tokens + usage.output_tokens for usage in report.usage)
    yield f"in all {_calls(calls)}, {tokens:,} tokens, {_dollars(report.dollars)}"


def _calls(number: int) -> str:
    return "1 call" if number == 1 else f"{number} calls"


def _tokens(usage: RoleUsage) -> str:
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    return f"{_calls(usage.calls)}, {usage.input_tokens:,} tokens in{cached}, {usage.output_tokens:,} out"


def _dollars(amount: float | None) -> str:
    return "price unknown" if amount is None else f"${amount:.4f}"


def as_markdown(report: Report) -> str:
    """The report as GitHub Markdown. Nothing in it pings a person, links an issue, or renders as HTML."""
    lines = [f"## {inert(report.id)}: {VERDICT_WORDS[report.verdict]}", ""]
    lines += [f"*By {inert(report.backend)}{f' ({RULES_NOTE})' if report.backend == 'rules' else ''}.*", ""]
    if report.findings:
        lines += ["| label | scenario | confidence | why |", "| --- | --- | --- | --- |"]
        lines += [_row(finding) for finding in report.findings] + [""]
    for finding in report.findings:
        lines += _markdown_finding(finding)
    for title, items in sections(report):
        lines += [f"### {title}", "", *(f"- {inert(item)}" for item in items), ""]
    return "\n".join(lines).rstrip() + "\n"


def sections(report: Report) -> Iterator[tuple[str, list[str]]]:
    """What a report says beside its findings, as sentences under titles. They hold strangers' words."""
    parts = {
        "Votes": list(_votes(report)),
        "Dropped": [_dropped(dropped) for dropped in report.dropped],
        "Clues": list(_clues(report)),
        "Undetermined": list(report.undetermined),
        "Not read": list(_not_read(report)),
        "Remarks": list(report.remarks),
        "Cost": list(_cost(report)) if report.usage else [],
    }
    return ((title, items) for title, items in parts.items() if items)


def _row(finding: Finding) -> str:
    scenario = f"{finding.scenario}: {finding.scenario.words}" if finding.scenario else ""
    return f"| {_name(finding)} | {scenario} | {finding.confidence} | {inert(finding.reason)} |"


def _markdown_finding(finding: Finding) -> list[str]:
    lines = [f"### {finding.label}", ""]
    for evidence in finding.evidence:
        place = f", {inert(evidence.path)} line {evidence.line}" if evidence.path else ""
        name = f"[{inert(evidence.source)}]({evidence.url})" if _is_address(evidence.url) else inert(evidence.source)
        lines += [*(f"> {inert(line)}" for line in _quoted_lines(evidence, 12)), "", f"— {name}{place}", ""]
    lines += [line for said in not_proved(finding) for line in (inert(said), "")]
    if finding.repair:
        lines += [f"**Repair:** {inert(finding.repair)}", ""]
    return lines


def _is_address(url: str | None) -> bool:
    return url is not None and re.fullmatch(r"https://[\w.-]+/[\w./#-]*", url) is not None


def inert(text: str) -> str:
    """One line of GitHub Markdown that renders as the text and as nothing else: no mention, link, markup, or HTML.

    It may stand in a paragraph, a list, a table, a heading, a quotation, or as the words of a link.
    """
    line = one_line(text)
    mere = {at for pair in _MERE_BRACKETS.finditer(line) for at in (pair.start(), pair.end() - 1)}
    escaped = _ACTIVE.sub(lambda match: _made_inert(match, mere), line)
    start = _LINE_START.match(line)
    if start is not None and escaped.startswith(start[0]):
        escaped = f"{start[1]}\\{escaped[start.end(1) :]}"
    return _COMMIT.sub(_no_commit, escaped)


def _made_inert(match: re.Match[str], mere_brackets: Collection[int]) -> str:
    found, kind = match[0], match.lastgroup
    if kind == "found":
        return found + _JOINER
    if kind == "dollar":
        # No backslash keeps GitHub from reading mathematics: docs.github.com, "Writing mathematical expressions".
        return "<span>$</span>"
    if kind == "underscores" and _BETWEEN_LETTERS.match(match.string, match.start()):
        return found
    if kind == "bracket" and match.start() in mere_brackets:
        return found
    return "".join(f"\\{sign}" for sign in found) + _JOINER * (found == "[")


def _no_commit(match: re.Match[str]) -> str:
    around = match.string[match.start() - 1 : match.start()] + match.string[match.end() : match.end() + 1]
    is_word = match[0].isalpha() and any(map(str.isalpha, around))
    return match[0] if is_word else _JOINER.join(re.findall(".{1,6}", match[0]))
