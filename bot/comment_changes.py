"""What a recheck changed: labels that are new, kept or resolved, and the texts that changed in between."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bot.checked import Checked, digest_of
from bot.comment_parts import folded, name_of
from bot.inert import first_sentence, inert
from bot.sources import in_words, sentence
from checker.report import Report

_MOST_TEXTS = 8


def changes(before: Checked, now: Checked) -> str:
    """One paragraph: labels new, kept and gone since `before`, and what was read that had changed."""
    labels = "; ".join(_labels(before.report, now.report)) or "no label, as before"
    return f"**Since the last check** (`{before.head_sha[:7]}`): {labels}. {_moved(before, now)}"


def _labels(before: Report, now: Report) -> Iterator[str]:
    old, new = before.labels, now.labels
    proofs = {digest_of(finding) for finding in before.findings}
    other = {finding.label for finding in now.findings if digest_of(finding) not in proofs}
    yield from _named("new", (f"**{label}**" for label in new if label not in old))
    yield from _named("resolved", (f"~~**{label}**~~" for label in _resolved(before, now)))
    yield from _named("kept", (f"**{x}**{' (on other quotes)' if x in other else ''}" for x in new if x in old))
    if now.undetermined:
        yield from _named("not found this time", (f"**{label}**" for label in old if label not in new))


def _named(what: str, labels: Iterable[str]) -> Iterator[str]:
    joined = ", ".join(labels)
    if joined:
        yield f"{what} {joined}"


def _resolved(before: Report, now: Report) -> list[str]:
    """Where something stayed undecided, a label that is gone may only not have been looked at."""
    return [] if now.undetermined else [label for label in before.labels if label not in now.labels]


def _moved(before: Checked, now: Checked) -> str:
    moved = [*_texts(before, now)]
    if before.report.backend != now.report.backend:
        moved.append("what judges")
    if not moved:
        return "Nothing that was read had changed."
    further = [f"{len(moved) - _MOST_TEXTS} more"] if len(moved) > _MOST_TEXTS else []
    return f"Changed meanwhile: {', '.join([*(inert(text, 200) for text in moved[:_MOST_TEXTS]), *further])}."


def _texts(before: Checked, now: Checked) -> Iterator[str]:
    for name, digest in now.inputs.items():
        if name not in before.inputs:
            yield f"{in_words(name)} (new)"
        elif before.inputs[name] != digest:
            yield in_words(name)
    yield from (f"{in_words(name)} (gone)" for name in before.inputs if name not in now.inputs)


def resolved(before: Checked, now: Checked) -> str:
    """Folded: the labels that no longer stand, struck through."""
    gone = _resolved(before.report, now.report)
    lines = [
        f"- ~~**{name_of(finding.label)}**~~ {inert(first_sentence(sentence(finding.reason), 240))}"
        for finding in before.report.findings
        if finding.label in gone
    ]
    return folded("Resolved since the last check", "\n".join(lines))
