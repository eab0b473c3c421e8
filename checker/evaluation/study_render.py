"""The studies as text (per cent, 100 columns), JSON (fractions) and CSV (one figure a row, fractions)."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from checker.evaluation.chance import ByChance
from checker.evaluation.overlap import Overlap
from checker.evaluation.render import aligned
from checker.evaluation.solved import Solved, Standing
from checker.evaluation.studies import SIX, Counts, Group, Share
from checker.render import one_line

_WIDTH = 98
_LONGEST_NAME = 44
_LONGEST_GROUP = 25
_MOST_NAMED = 3
_SOME = 15
_COLUMNS = ("table", "group", "what", "count", "of", "value", "low", "high")
Row = tuple[object, ...]
Study = Counts | Solved | tuple[Overlap, ...]


def as_data(study: Study) -> dict[str, Any]:
    """JSON-ready: the dataclass as it is, with derived figures beside; overlaps under `lists`."""
    if isinstance(study, Counts):
        return {"study": "counts", **asdict(study), "combinations": [_combination(one) for one in study.combinations]}
    if isinstance(study, Solved):
        standings = [{**asdict(one), "climbs": one.climbs} for one in study.standings]
        return {"study": "solved", **asdict(study), "standings": standings}
    return {"study": "overlap", "lists": [{**asdict(one), "n": one.n} for one in study]}


def _combination(one: tuple[str, Share]) -> dict[str, Any]:
    return {"labels": one[0], **asdict(one[1])}


def as_csv(study: Study) -> str:
    """Columns: table, group, what, count, of, value (fraction, rank or figure), low, high."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows(_rows(study))
    return out.getvalue()


def _rows(study: Study) -> Iterator[Row]:
    if isinstance(study, Counts):
        return _counts_rows(study)
    if isinstance(study, Solved):
        return _solved_rows(study)
    return (row for one in study for row in _overlap_rows(one))


def _row(table: str, name: str, what: str, one: Share) -> Row:
    return (table, name, what, one.count, one.of, one.fraction, one.low, one.high)


def _figure(table: str, name: str, what: str, value: object) -> Row:
    return (table, name, what, None, None, value, None, None)


def _counts_rows(study: Counts) -> Iterator[Row]:
    groups = [("all", study.all), *(("data set", one) for one in study.datasets)]
    for table, one in (*groups, *(("repository", one) for one in study.repositories)):
        yield _row(table, one.name, "misaligned", one.misaligned)
        yield _row(table, one.name, "misaligned of all judged", one.at_least)
        for what, count in (*one.labels.items(), *(one.scenarios or {}).items()):
            yield (table, one.name, what, count, one.misaligned.of, None, None, None)
        for what, count in (("undetermined", one.undetermined), ("failed", one.failed)):
            yield (table, one.name, what, count, None, None, None, None)
    yield from (_row("label", label, "pairs", one) for label, one in study.labels.items())
    yield from (_row("combination", labels, "pairs", one) for labels, one in study.combinations)


def _solved_rows(study: Solved) -> Iterator[Row]:
    yield from (_row("solved", _range(one.least, one.most), "misaligned", one.misaligned) for one in study.bins)
    if study.contrast:
        yield from (_figure("contrast", "all", what, value) for what, value in asdict(study.contrast).items())
    yield _figure("leaderboard", "all", "tau", study.tau)
    if study.chance:
        for what, one in (("tau", study.chance.tau), ("moved", study.chance.moved)):
            yield ("leaderboard", "all", f"{what} by chance", None, None, one.mean, one.low, one.high)
        yield _figure("leaderboard", "all", "draws with a tau as low", study.chance.as_low)
    for standing in study.standings:
        for what in ("all", "without_label", "misaligned"):
            yield _row("leaderboard", standing.name, f"resolved of {what}", getattr(standing, what))
        for what in ("rank", "rank_without", "unknown", "unrecorded"):
            yield _figure("leaderboard", standing.name, what, getattr(standing, what))


def _overlap_rows(one: Overlap) -> Iterator[Row]:
    for what in ("both", "only_here", "only_there", "neither"):
        yield ("overlap", one.name, what, getattr(one, what), one.n, None, None, None)
    yield _row("overlap", one.name, "jaccard", one.jaccard)
    yield _figure("overlap", one.name, "kappa", one.kappa)
    yield ("overlap", one.name, "odds_ratio", None, None, one.odds_ratio, one.odds_low, one.odds_high)
    yield _figure("overlap", one.name, "p", one.p)
    yield from (_row("label", one.name, f"flagged of {label}", part) for label, part in one.per_label.items())


# Text


def counts_text(study: Counts) -> str:
    """Tables per data set, repository, label, scenario (where they are told) and label set."""
    groups = [*study.datasets, study.all] if len(study.datasets) > 1 else list(study.datasets) or [study.all]
    repositories = [one for one in study.repositories if one.name] if len(study.repositories) > 1 else []
    sets = study.combinations[:_SOME]
    header = ("exact labels", "pairs", "%", "95 %")
    return _joined(
        _headline(study.judge, study.all.misaligned, study.all.undetermined, study.all.failed),
        _at_least(study.all),
        _groups("data set", groups),
        aligned(("label", "pairs", "%", "95 %"), [(label, *_cells(one)) for label, one in study.labels.items()]),
        _scenarios(groups),
        _groups("repository", repositories[:_SOME]) if repositories else [],
        _and_more(repositories, "repositories"),
        aligned(header, [(labels, *_cells(one)) for labels, one in sets]) if sets else [],
        _and_more(study.combinations, "label sets"),
    )


def _groups(title: str, groups: Sequence[Group]) -> list[str]:
    rows = [_group_row(one) for one in groups]
    return aligned((title, "decided", "misaligned", "%", "95 %", *SIX), rows, _LONGEST_GROUP)


def _group_row(one: Group) -> tuple[str, ...]:
    count, fraction, ends = _cells(one.misaligned)
    return (one.name or "(not named)", f"{one.misaligned.of:,}", count, fraction, ends, *map(str, one.labels.values()))


def _scenarios(groups: Sequence[Group]) -> list[str]:
    """Table 1's form: one column a scenario."""
    told = [(one.name or "(not named)", one.scenarios) for one in groups if one.scenarios is not None]
    if not told:
        return []
    return aligned(("scenarios", *told[0][1]), [(name, *map(str, found.values())) for name, found in told])


def _and_more(rows: Sequence[object], what: str) -> list[str]:
    return [f"and {len(rows) - _SOME:,} more {what} (--format json or csv)"] if len(rows) > _SOME else []


def solved_text(study: Solved) -> str:
    """Figure 2 as a table, its test in a sentence, Figure 3 as a leaderboard."""
    agents = len(study.standings)
    bins = [(_range(one.least, one.most), f"{one.misaligned.of:,}", *_cells(one.misaligned)) for one in study.bins]
    header = (f"solved by, of {agents}", "pairs", "misaligned", "%", "95 %")
    return _joined(
        _headline(study.judge, study.misaligned, study.undetermined, study.failed),
        aligned(header, bins),
        _contrast_lines(study),
        _leaderboard(study.standings),
        _wrapped(_tau_sentence(study)),
        _wrapped(_chance_sentence(study.chance)) if study.chance else [],
        list(_remarks(study)),
    )


def _contrast_lines(study: Solved) -> list[str]:
    found = study.contrast
    if found is None:
        return []
    p = "" if found.p is None else f" (Mann-Whitney, p {_p(found.p)})"
    return _wrapped(
        f"The median number of agents that solve a pair: {found.median_misaligned:g} if it is misaligned, "
        f"{found.median_without_label:g} if it has no label. Of two such pairs the misaligned one is solved by fewer "
        f"with a chance of {_per_cent(found.fewer)} %, ties counted half{p}."
    )


def _leaderboard(standings: Sequence[Standing]) -> list[str]:
    header = ("resolved, %", "all", "without", "change", "misaligned", "rank", "then", "places")
    rows = []
    for one in standings:
        before, after = one.all.fraction, one.without_label.fraction
        # The sum turns a -0.0 into 0.0.
        change = "-" if before is None or after is None else f"{round(100 * (after - before), 1) + 0.0:+.1f}"
        shares = [_per_cent(part.fraction) for part in (one.all, one.without_label, one.misaligned)]
        then, places = ("-", "-") if one.climbs is None else (str(one.rank_without), f"{one.climbs:+d}")
        rows.append((one.name, *shares[:2], change, shares[2], str(one.rank), then, places if one.climbs != 0 else "="))
    return aligned(header, rows, _LONGEST_NAME)


def _tau_sentence(study: Solved) -> str:
    if study.misaligned.of == study.misaligned.count:
        return (
            f"`all`: of {study.pairs:,} pairs; none is without a label, so there is no leaderboard without the others."
        )
    moved = [abs(one.climbs) for one in study.standings if one.climbs]
    furthest = max(moved, default=0)
    tau = "" if study.tau is None else f" Kendall's tau between the two orders: {study.tau:.3f}."
    places = f", at most {furthest} place{'s' if furthest > 1 else ''}" if moved else ""
    return (
        f"`all`: of {study.pairs:,} pairs; `without`: of the {study.misaligned.of - study.misaligned.count:,} without "
        f"a label; {len(moved)} of {len(study.standings)} submissions change their rank{places}.{tau}"
    )


def _chance_sentence(chance: ByChance) -> str:
    return (
        f"For comparison, {chance.left_out:,} pairs left out at random ({chance.rounds:,} draws, seed {chance.seed}): "
        f"tau {chance.tau.mean:.3f} in the mean, {chance.tau.low:.3f} to {chance.tau.high:.3f} in 95 % of the draws; "
        f"{chance.moved.mean:.1f} submissions change their rank, {chance.moved.low:g} to {chance.moved.high:g}. "
        f"In {_per_cent(chance.as_low)} % of the draws tau is no higher than without the misaligned pairs."
    )


def _remarks(study: Solved) -> Iterator[str]:
    if study.unknown:
        yield from _wrapped(f"Solved, but not judged, and left out: {_some(study.unknown)}.")
    thin = [f"{one.name} {one.unrecorded:,}" for one in study.standings if one.unrecorded]
    if thin:
        yield from _wrapped(f"Pairs without a recorded outcome, counted as unsolved: {_some(thin)}.")
    if study.without_results:
        yield from _wrapped(f"Folders without results, left out: {_some(study.without_results)}.")


def overlap_text(judge: str, studies: Sequence[Overlap]) -> str:
    """One row a list, then what share of each label's pairs it flags, then remarks."""
    counts = ("both", "only_here", "only_there", "neither")
    header = ("list", "pairs", "flagged", "both", "only here", "only there", "neither")
    rows = [
        (o.name, f"{o.n:,}", f"{o.both + o.only_there:,}", *(f"{getattr(o, name):,}" for name in counts))
        for o in studies
    ]
    agreement = [
        (o.name, _per_cent(o.jaccard.fraction), _number(o.kappa), _number(o.odds_ratio), _odds_ends(o), _p(o.p))
        for o in studies
    ]
    labels = [(o.name, *(_per_cent(part.fraction) for part in o.per_label.values())) for o in studies]
    names = [label if label in SIX else "no label" for label in studies[0].per_label]
    sizes = [("pairs", *(f"{part.of:,}" for part in studies[0].per_label.values()))] if len(studies) == 1 else []
    return _joined(
        _wrapped(f"Judged by {one_line(judge)}. `here`: misaligned; `there`: flagged by the list."),
        aligned(header, rows),
        aligned(("agreement", "Jaccard, %", "kappa", "odds ratio", "95 %", "p (Fisher)"), agreement),
        aligned(("% flagged of", *names), [*labels, *sizes]),
        [line for one in studies for line in _overlap_remarks(one)],
    )


def _overlap_remarks(one: Overlap) -> Iterator[str]:
    name = one_line(one.name)
    if one.assumed:
        yield from _wrapped(
            f"{name} tells only what it flags: taken to have looked at all {one.n:,} decided pairs of the data sets "
            "that it touches (--column names a column that says yes or no for all that it looked at)."
        )
    if one.unknown:
        yield from _wrapped(f"{name}: flagged, but not judged, and left out: {_some(one.unknown)}.")
    if one.undecided:
        yield from _wrapped(f"{name}: {one.undecided:,} flagged pairs were not decided, and are left out.")


def _headline(judge: str, misaligned: Share, undetermined: int, failed: int) -> list[str]:
    count, fraction, ends = _cells(misaligned)
    said = f"{misaligned.of:,} pairs decided by {one_line(judge)}: {count} misaligned"
    said += f" ({fraction} %, 95 % interval {ends})." if misaligned.of else "."
    if misaligned.count == misaligned.of > 0:
        said += " None was found to have no label, so the share of the decided says nothing."
    if undetermined or failed:
        said += f" Apart from these {undetermined:,} undetermined and {failed:,} without an answer, in no rate."
    return _wrapped(said)


def _at_least(whole: Group) -> list[str]:
    one = whole.at_least
    if one.of == whole.misaligned.of:
        return []
    return _wrapped(
        f"Of all {one.of:,} pairs judged, open ones too, at least {_per_cent(one.fraction)} % are misaligned."
    )


def _cells(one: Share) -> tuple[str, str, str]:
    ends = "-" if one.low is None or one.high is None else f"{100 * one.low:.1f} to {100 * one.high:.1f}"
    return (f"{one.count:,}", _per_cent(one.fraction), ends)


def _odds_ends(one: Overlap) -> str:
    return "-" if one.odds_low is None or one.odds_high is None else f"{one.odds_low:.2f} to {one.odds_high:.2f}"


def _range(least: int, most: int) -> str:
    return str(least) if least == most else f"{least} to {most}"


def _per_cent(fraction: float | None) -> str:
    return "-" if fraction is None else f"{100 * fraction:.1f}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(one_line(name) for name in names[:_MOST_NAMED]) + more


def _wrapped(sentence: str) -> list[str]:
    return textwrap.wrap(sentence, _WIDTH, break_on_hyphens=False)


def _joined(*blocks: Iterable[str]) -> str:
    return "\n\n".join("\n".join(block) for block in map(list, blocks) if block) + "\n"
