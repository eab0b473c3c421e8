"""The page's figures as HTML: what to do, verdicts, rates per label and per repository, what was not read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from checker.audit_report.bars import Part, bar, swatch
from checker.audit_report.pairs import shown_repository
from checker.audit_report.rates import FEW, LabelRate, Rates, RepositoryRate, Share
from checker.audit_report.telling import ACTION_MEANINGS, VERDICT_MEANINGS, interval, percent
from checker.render import VERDICT_WORDS
from checker.report import Verdict
from checker.taxonomy import Label

_MOST_REPOSITORIES = 20


def actions(rates: Rates) -> str:
    """What to do with how many pairs; each chooses its pairs in the list."""
    shares = [(action, Share(rates.actions[action], rates.pairs)) for action in ACTION_MEANINGS]
    return "".join(
        f'<li><button type="button" data-filter="action" data-value="{action}" class="action {action}">'
        f"<b>{share.count:,}</b> <strong>{action}</strong> <span>{percent(share)}</span>"
        f"<small>{meaning}</small></button></li>"
        for (action, share), meaning in zip(shares, ACTION_MEANINGS.values(), strict=True)
    )


def verdicts(rates: Rates) -> str:
    """One bar of all pairs, and what each part of it means."""
    legend = "".join(
        f"<li>{swatch(verdict)}<span>{_choice('verdict', verdict, VERDICT_WORDS[verdict])} "
        f"<b>{rates.verdicts[verdict]:,}</b> ({percent(Share(rates.verdicts[verdict], rates.pairs))}): "
        f"{VERDICT_MEANINGS[verdict]}</span></li>"
        for verdict in VERDICT_MEANINGS
    )
    return f'{bar(_parts(rates.verdicts), rates.pairs, height=26)}<ul class="legend">{legend}</ul>'


def labels(rates: Rates) -> str:
    """How often each label stands, and where it could not be ruled out by reading."""
    heads = ("Label", "Pairs", "Share", "All pairs", "Not all read")
    return _table("labels", heads, [_label_cells(rate) for rate in rates.labels])


def _label_cells(rate: LabelRate) -> list[str]:
    name = f"{rate.label} <small>{rate.label.words}</small>" if rate.label is not Label.OTHERS else str(rate.label)
    parts = [Part("misaligned", rate.found.count), Part("undetermined", rate.unread)]
    return [
        f'<th scope="row">{_choice("label", rate.label, name)}</th>',
        f'<td class="number">{rate.found.count:,}</td>',
        _share(rate.found),
        f'<td class="figure">{bar(parts, rate.found.whole, rate.found.interval)}</td>',
        f'<td class="number">{rate.unread:,}</td>',
    ]


def repositories(rates: Rates) -> str:
    """The repositories with the most misaligned pairs, and the others to open."""
    first, others = rates.repositories[:_MOST_REPOSITORIES], rates.repositories[_MOST_REPOSITORIES:]
    shown = _repository_table("repositories", first)
    if not others:
        return shown
    more = f"<summary>{len(others):,} more repositories</summary>{_repository_table('more-repositories', others)}"
    return f"{shown}<details>{more}</details>"


def _repository_table(name: str, rates: Sequence[RepositoryRate]) -> str:
    labels = [f'<abbr title="{label.words}">{label}</abbr>' for label in Label]
    heads = ("Repository", "Pairs", "Misaligned", "Share", "Verdicts", "Undetermined", *labels)
    return _table(name, heads, [_repository_cells(rate) for rate in rates])


def _repository_cells(rate: RepositoryRate) -> list[str]:
    name = escape(shown_repository(rate.name))
    share = rate.misaligned
    counts = [share.whole, share.count]
    return [
        f'<th scope="row">{_choice("repository", name, name)}</th>',
        *(f'<td class="number">{count:,}</td>' for count in counts),
        _share(share),
        f'<td class="figure">{bar(_parts(rate.verdicts), share.whole, share.interval)}</td>',
        *(_count(count) for count in (rate.verdicts[Verdict.UNDETERMINED], *rate.labels.values())),
    ]


def unread(rates: Rates) -> str:
    """Which artifacts were not read, in how many pairs."""
    if not rates.unread:
        return "<p>Of every pair everything was read.</p>"
    rows = [
        [
            f'<th scope="row">{artifact.words}</th>',
            _count(nothing),
            _count(part),
            f'<td class="figure">{bar([Part("undetermined", nothing), Part("partly", part)], rates.pairs)}</td>',
        ]
        for artifact, (nothing, part) in rates.unread.items()
    ]
    heads = ("Artifact", f"{swatch('undetermined')} Not read", f"{swatch('partly')} In part", "All pairs")
    return _table("unread", heads, rows)


def _parts(counts: dict[Verdict, int]) -> list[Part]:
    return [Part(verdict, counts[verdict]) for verdict in VERDICT_MEANINGS]


def _choice(kind: str, value: str, words: str) -> str:
    """Words that choose their pairs in the list; both arguments are escaped already."""
    return f'<button type="button" class="choice" data-filter="{kind}" data-value="{value}">{words}</button>'


def _share(share: Share) -> str:
    few = " few" if share.whole < FEW else ""
    return f'<td class="number share{few}">{percent(share)} <small>({interval(share)})</small></td>'


def _count(count: int) -> str:
    return f'<td class="number{"" if count else " zero"}">{count:,}</td>'


def _table(name: str, heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = "".join(f'<th scope="col">{words}</th>' for words in heads)
    body = "".join(f"<tr>{''.join(cells)}</tr>" for cells in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    words = f"Table: {name.replace('-', ' ')}"
    return f'<div class="wide" id="{name}" role="region" aria-label="{words}" tabindex="0">{table}</div>'
