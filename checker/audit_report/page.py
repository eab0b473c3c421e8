"""The page: one HTML file with its figures drawn in, the pairs as data, and a script that lists and filters them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from html import escape
from importlib import resources
from string import Template

from checker.audit_report import tables, telling
from checker.audit_report.pairs import FAILED, as_data, shown_repository
from checker.audit_report.rates import Rates, cost, rates
from checker.audit_report.reading import Audit
from checker.recommendation import Action
from checker.render import VERDICT_WORDS, one_line
from checker.report import Verdict
from checker.taxonomy import Label

_SCRIPTS = ("pair.js", "list.js")
NO_LABEL = "none"
"""What the script takes for pairs without a label."""


def as_html(audit: Audit) -> str:
    """The whole page. It asks for nothing from anywhere: its policy forbids it, and allows this script alone."""
    numbers = rates(audit.judged)
    style = _file("page.css")
    script = "".join(_file(name) for name in _SCRIPTS)
    everything = (*audit.judged, *audit.failed)
    return Template(_file("page.html")).substitute(
        title=_text(telling.title(audit)),
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
        judged_by=_text(telling.judged_by(numbers)),
        facts=_items((*telling.made(audit), *telling.cost_said(cost(everything), audit.spent))),
        actions=tables.actions(numbers),
        verdicts=tables.verdicts(numbers),
        labels=tables.labels(numbers),
        repositories=tables.repositories(numbers),
        unread=tables.unread(numbers),
        intervals=_text(telling.INTERVALS),
        filters=_filters(numbers, audit),
        data=as_data(everything),
    )


def _file(name: str) -> str:
    return (resources.files("checker.audit_report") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """As a Content Security Policy names an inline element (W3C, CSP Level 3, hash-source)."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _text(text: str) -> str:
    return escape(one_line(text))


def _items(sentences: Iterable[str]) -> str:
    return "".join(f"<li>{_text(sentence)}</li>" for sentence in sentences)


def _filters(numbers: Rates, audit: Audit) -> str:
    verdicts = [(verdict.value, VERDICT_WORDS[verdict], numbers.verdicts[verdict]) for verdict in Verdict]
    failed = [(FAILED, FAILED, len(audit.failed))] if audit.failed else []
    without = sum(not row.report.labels for row in audit.judged)
    labels = [(rate.label.value, _label(rate.label), rate.found.count) for rate in numbers.labels]
    actions = [(action.value, action.value, numbers.actions[action]) for action in Action]
    named = [(shown_repository(rate.name), rate.misaligned.whole) for rate in numbers.repositories]
    return "".join(
        (
            _select("verdict", "Verdict", [*verdicts, *failed]),
            _select("label", "Label", [*labels, (NO_LABEL, "no label", without)]),
            _select("action", "Action", actions),
            _select("repository", "Repository", [(name, name, count) for name, count in sorted(named)]),
        )
    )


def _label(label: Label) -> str:
    return label.value if label is Label.OTHERS else f"{label} {label.words}"


def _select(name: str, words: str, options: Iterable[tuple[str, str, int]]) -> str:
    listed = "".join(f'<option value="{escape(v)}">{escape(w)} ({count:,})</option>' for v, w, count in options)
    return f'<label>{words}<select id="{name}"><option value="">any</option>{listed}</select></label>'
