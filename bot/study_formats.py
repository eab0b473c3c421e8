"""The study as text for a terminal, as JSON, and as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from bot.comment_parts import name_of
from bot.study import Group, Part, Study, Tally, Thumbs, Words
from checker.render import one_line
from checker.taxonomy import Label

SCHEMA = "paichecker.study/1"

_TERMS = (
    "Flagged: a label stands at the newest check, or was answered. Unclassified: replied, without confirm or dispute.\n"
    "Each person's last word on a label counts. Precision: maintainers' confirmed / (confirmed + disputed)."
)
_CHECKED = ("sampled", "flagged")
_SAID = ("answered", "confirmed", "disputed", "unclassified", "precision", "95 % (Wilson)", "by authors")
_NONE = "–"


def as_text(study: Study) -> str:
    """Tables for a terminal, about 130 columns wide: over all, by repository where there are several, by label."""
    head = f"Study of pull requests, {f'checked since {study.since}' if study.since else 'of all time'}"
    if not any(part.repositories for part in (study.shown, study.shadow)):
        return f"{head}\n\n{_nothing(study)}\n"
    blocks = [head, _TERMS]
    if study.shown.repositories:
        table = _table(study.shown, with_answers=True)
        blocks += [f"Checks that people could see\n\n{table}", _thumbs(study.shown.whole.thumbs)]
    else:
        blocks.append("No check that people could see yet.")
    if study.shadow.whole.whole.sampled:
        table = _table(study.shadow, with_answers=_has_answers(study.shadow))
        blocks.append(f"Shadow runs, which post nothing\n\n{table}")
    if study.without_checks:
        blocks.append(f"Nothing was checked in {', '.join(map(one_line, study.without_checks))}.")
    return "\n\n".join(blocks) + "\n"


def _nothing(study: Study) -> str:
    """There is no figure yet: noughts would read like one."""
    where = f" in {', '.join(map(one_line, study.without_checks))}" if study.without_checks else ""
    if study.since:
        return f"Nothing was checked{where} on {study.since} or later, so there is nothing to count."
    return (
        f"Nothing has been checked{where} yet, so there is nothing to count. "
        "New pull requests are checked by themselves; `paichecker-bot backfill OWNER/NAME` checks "
        "those that are open already."
    )


def _has_answers(part: Part) -> bool:
    whole = part.whole.whole
    return bool(whole.maintainers.answered or whole.authors.answered)


def _table(part: Part, *, with_answers: bool) -> str:
    groups = part.repositories if len(part.repositories) == 1 else (part.whole, *part.repositories)
    rows = [(group.repository or "all repositories", group.whole) for group in groups]
    rows += [(name_of(label), tally) for label, tally in part.whole.labels.items()]
    head = ("", *_CHECKED, *(_SAID if with_answers else ()))
    return _aligned([head, *((name, *_cells(tally, with_answers)) for name, tally in rows)], len(groups))


def _cells(tally: Tally, with_answers: bool) -> tuple[str, ...]:
    checked = (str(tally.sampled), str(tally.flagged))
    if not with_answers:
        return checked
    said = tally.maintainers
    counts = (said.answered, said.confirmed, said.disputed, said.unclassified)
    words = [_NONE if count is None else str(count) for count in counts]
    by_authors = [f"{number} {kind}" for number, kind in _counted(tally.authors) if number]
    return (*checked, *words, *_shares(said), ", ".join(by_authors) or _NONE)


def _counted(words: Words) -> tuple[tuple[int, str], ...]:
    return (words.confirmed, "confirmed"), (words.disputed, "disputed")


def _shares(words: Words) -> tuple[str, str]:
    """Precision and interval. In whole per cents 199 of 200 would be shown as all."""
    if words.precision is None or words.interval is None:
        return _NONE, _NONE
    low, high = words.interval
    return f"{words.precision:.1%}", f"{low:.1%}–{high:.1%}"


def _aligned(rows: Sequence[Sequence[str]], groups: int) -> str:
    """The first column to the left, the others to the right; an empty line between repositories and labels."""
    first, *others = [max(map(len, column)) for column in zip(*rows, strict=True)]
    form = "  ".join([f"{{:<{first}}}", *(f"{{:>{width}}}" for width in others)])
    lines = [form.format(*row) for row in rows]
    return "\n".join([*lines[: groups + 1], "", *lines[groups + 1 :]])


def _thumbs(thumbs: Thumbs) -> str:
    return f"Thumbs on the comments: {thumbs.up} up, {thumbs.down} down; {thumbs.taken_back} taken back."


# Data


def as_json(study: Study) -> str:
    """One object: `schema`, `since`, `without_checks`, and `rows`, each as in the CSV."""
    head = {"schema": SCHEMA, "since": study.since and study.since.isoformat()}
    made = {**head, "without_checks": list(study.without_checks), "rows": list(_records(study))}
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def as_csv(study: Study) -> str:
    """A row for each mode, repository (or `all`) and label (or `any`). Sums of rows count pull requests twice."""
    records = list(_records(study))
    written = io.StringIO()
    writer = csv.DictWriter(written, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return written.getvalue()


def _records(study: Study) -> Iterator[dict[str, Any]]:
    for mode, part in (("shown", study.shown), ("shadow", study.shadow)):
        for group in (part.whole, *part.repositories):
            for label, tally in ((None, group.whole), *group.labels.items()):
                yield {"mode": mode, **_record(group, label, tally)}


def _record(group: Group, label: Label | None, tally: Tally) -> dict[str, Any]:
    """Thumbs are on a comment, not on a label: there they are None."""
    thumbs = group.thumbs
    given = (thumbs.up, thumbs.down, thumbs.taken_back) if label is None else (None, None, None)
    low, high = tally.maintainers.interval or (None, None)
    return {
        "repository": group.repository or "all",
        "label": label.value if label else "any",
        "sampled": tally.sampled,
        "flagged": tally.flagged,
        **_words("", tally.maintainers),
        "precision": tally.maintainers.precision,
        "interval_low": low,
        "interval_high": high,
        **_words("author_", tally.authors),
        **dict(zip(("thumbs_up", "thumbs_down", "thumbs_taken_back"), given, strict=True)),
    }


def _words(prefix: str, words: Words) -> dict[str, int | None]:
    names = ("answered", "confirmed", "disputed", "unclassified")
    return {f"{prefix}{name}": getattr(words, name) for name in names}
