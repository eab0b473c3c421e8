"""Facts that are found without a model, each with where it was found.

`read` collects them; each reader looks for one kind. They go into prompts as facts, ground the rules, and the
weighty ones must not be passed over (taxonomy: verdicts).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from checker import literals, patches
from checker.hidden_text import hidden_passages
from checker.literals import SharedLiteral, Standing
from checker.pair import Pair
from checker.report import Signal, SignalKind
from checker.signals.chronology import MOST_RELATED, mentions, other_merged, read_chronology
from checker.signals.own import stated_numbers
from checker.signals.references import read_look_alikes, read_references
from checker.signals.words import read_further_work, read_information_requests
from checker.taxonomy import Artifact, Label

__all__ = ["MOST_LITERALS", "MOST_RELATED", "mentions", "other_merged", "read", "stated_numbers"]

MOST_LITERALS = 24
"""So many shared literals are told; where there are as many, others may not have been."""


def read(pair: Pair) -> tuple[Signal, ...]:
    """All signals of a pair, numbered S1, S2, ... in a fixed order."""
    found = [
        *read_references(pair),
        *read_look_alikes(pair),
        *read_chronology(pair),
        *read_information_requests(pair),
        *read_further_work(pair),
        *_literals(pair),
        *_hidden(pair),
    ]
    distinct = {(s.kind, s.source, s.quote, s.says, s.path, s.line): s for s in found}
    return tuple(replace(signal, id=f"S{n}") for n, signal in enumerate(distinct.values(), 1))


def _literals(pair: Pair) -> Iterator[Signal]:
    request = pair.request if pair.was_read(Artifact.ISSUE_DESCRIPTION) else None
    pr = pair.pull_request
    shared = literals.shared_literals(patches.parse(pr.code_patch), patches.parse(pr.test_patch), request)
    for literal in shared[:MOST_LITERALS]:
        yield _literal_signal(literal, "unread" if request is None else "no")


def _literal_signal(literal: SharedLiteral, in_issue: str) -> Signal:
    unspecified = literal.standing is Standing.UNSPECIFIED
    says = f"code and test share the {literal.kind} {literal.text!r}: {literal.standing.value}"
    if unspecified:
        says += ", and the issue does not hold it" if in_issue == "no" else "; the issue's text was not read"
    return Signal(
        id="",
        kind=SignalKind.UNSPECIFIED_LITERAL if unspecified else SignalKind.SHARED_LITERAL,
        source="patch/test",
        quote=literal.test.quote,
        says=says,
        labels=(Label.UL,) if unspecified else (),
        weighty=unspecified and in_issue == "no",
        path=literal.test.path,
        line=literal.test.line,
        detail={
            "text": literal.text,
            "literal": literal.kind,
            "standing": literal.standing.value,
            "in_issue": "yes" if literal.standing is Standing.IN_ISSUE else in_issue,
            "code": {"path": literal.code.path, "line": literal.code.line, "quote": literal.code.quote},
        },
    )


def _hidden(pair: Pair) -> Iterator[Signal]:
    for text in pair.texts.values():
        is_code = text.artifact in (Artifact.CODE_PATCH, Artifact.TEST_PATCH)
        for passage in hidden_passages(text.body, is_code=is_code):
            kind = SignalKind.STEERING_TEXT if passage.steers else SignalKind.HIDDEN_TEXT
            says = f"{text.name} holds {passage.what}"
            yield Signal("", kind, text.name, passage.quote, says, weighty=passage.steers)
