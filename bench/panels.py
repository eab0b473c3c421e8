"""Panels and cascades over the paper's released predictions: quality against dollars, and what no backbone gets right.

python bench/panels.py --data DIR

DIR holds labels.csv, predictions_swe_gym.csv, usage_swe_gym.csv and tables.json. Nothing is asked of a model: the
released labels of four backbones are combined. A panel is chosen by exact match on one half of the repositories and
scored on the other. Prices: what usage_swe_gym.csv holds (a pair's repeated runs added up); for the backbones it does
not hold, the range that the paper gives for all of them. A backbone's answer to a pair counts once, so a panel that
asks several costs the sum.
"""

from __future__ import annotations

import argparse
import csv
import json
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from checker.evaluation.labels import read_labels, read_predictions
from checker.evaluation.render import aligned
from checker.evaluation.trail import NO_LABEL
from checker.evaluation.voting import Tie, agree, cascade, vote

BACKBONES = ("gpt", "claude", "gemini", "qwen")
Answer = frozenset[str] | None
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pairs:
    """The SWE-Gym pairs in one order: people's labels (empty: none), each backbone's answers, and its prices.

    `price`: dollars for each pair, low and high end; the same where the price is known.
    """

    ids: tuple[str, ...]
    truth: tuple[frozenset[str], ...]
    answers: Mapping[str, tuple[Answer, ...]]
    price: Mapping[str, tuple[Floats, Floats]]

    @property
    def repositories(self) -> tuple[str, ...]:
        """Of each pair."""
        return tuple(identity.rsplit("-", 1)[0] for identity in self.ids)


@dataclass(frozen=True, eq=False)
class Outcome:
    """One way of combining: which pairs it has right, how many backbones it asked, what it cost."""

    name: str
    exact: NDArray[np.bool_]
    binary: NDArray[np.bool_]
    asked: float
    dollars: tuple[float, float]
    unpriced: tuple[str, ...]


def read(folder: Path) -> Pairs:
    """All that is needed, from the files."""
    truth = read_labels(folder / "labels.csv")
    ids = tuple(i for i in truth.labels if truth.datasets[i] == "swe_gym")
    methods = {method.name: method for method in read_predictions([folder / "predictions_swe_gym.csv"])}
    answers = {b: tuple(_answer(methods[f"paichecker_{b}"].predictions[i].labels) for i in ids) for b in BACKBONES}
    low, high = json.loads((folder / "tables.json").read_text(encoding="utf-8"))["cost"]["usd_per_instance"]
    spent = _spent(folder / "usage_swe_gym.csv")
    return Pairs(
        ids,
        tuple(truth.labels[i] - NO_LABEL for i in ids),
        answers,
        {b: _prices(spent.get(b), ids, low, high) for b in BACKBONES},
    )


def _answer(labels: Answer) -> Answer:
    return None if labels is None else labels - NO_LABEL


def _spent(path: Path) -> dict[str, Counter[str]]:
    spent: dict[str, Counter[str]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            spent.setdefault(row["backbone"], Counter())[row["instance_id"]] += float(row["cost_usd"])  # type: ignore[assignment]
    return spent


def _prices(spent: Counter[str] | None, ids: Sequence[str], low: float, high: float) -> tuple[Floats, Floats]:
    """A pair that the file lacks costs the mean of the others."""
    if spent is None:
        return np.full(len(ids), low), np.full(len(ids), high)
    mean = sum(spent.values()) / len(spent)
    known = np.array([spent.get(i, mean) for i in ids], dtype=np.float64)
    return known, known


def outcome(
    name: str, members: Sequence[str], pairs: Pairs, decide: Callable[..., Answer], *, third_if_needed: bool = False
) -> Outcome:
    """Combines the members' answers pair by pair; a pair without an answer is scored as the paper scores it."""
    rows = list(zip(*(pairs.answers[member] for member in members), strict=True))
    combined = [decide(*row) for row in rows]
    exact = [said == true for said, true in zip(combined, pairs.truth, strict=True)]
    binary = [(said is None or bool(said)) == bool(true) for said, true in zip(combined, pairs.truth, strict=True)]
    asks = np.ones((len(members), len(rows)))
    if third_if_needed:
        asks[2] = [not agree(first, second) for first, second, _ in rows]
    ends = [sum(float((asks[k] * pairs.price[m][end]).mean()) for k, m in enumerate(members)) for end in (0, 1)]
    unpriced = tuple(m for m in members if (pairs.price[m][0] != pairs.price[m][1]).any())
    return Outcome(
        name, np.array(exact), np.array(binary), float(asks.sum(axis=0).mean()), (ends[0], ends[1]), unpriced
    )


def all_outcomes(pairs: Pairs) -> list[Outcome]:
    """Single backbones, every panel with every quorum, every cascade with either tie."""
    found = [outcome(b, [b], pairs, lambda answer: answer) for b in BACKBONES]
    for size in range(2, len(BACKBONES) + 1):
        for members in combinations(BACKBONES, size):
            found += [
                outcome(f"{quorum} of {', '.join(members)}", members, pairs, partial(_vote, quorum))
                for quorum in range(1, size + 1)
            ]
    ties: tuple[tuple[Tie, str], ...] = (("third", "decides"), ("vote", "votes"))
    for third in BACKBONES:
        for first, second in combinations([b for b in BACKBONES if b != third], 2):
            for tie, says in ties:
                name = f"{first}, {second}; {third} {says}"
                decide = partial(cascade, tie=tie)
                found.append(outcome(name, [first, second, third], pairs, decide, third_if_needed=True))
    return found


def _vote(quorum: int, *answers: Answer) -> Answer:
    return vote(answers, quorum)


def show_named(pairs: Pairs, found: Sequence[Outcome]) -> None:
    """The panels that the issue names, and what one pair without any answer does."""
    by_name = {one.name: one for one in found}
    plain = outcome("2 of gpt, claude, gemini", BACKBONES[:3], pairs, lambda *answers: vote(answers, 2) or frozenset())
    named = ["gemini", "2 of gpt, claude, gemini", "gpt, claude; gemini decides", "gpt, qwen; gemini decides"]
    rows = [_row(by_name[name]) for name in named]
    rows.insert(2, (f"{plain.name} (*)", *_row(plain)[1:]))
    print("Named panels, SWE-Gym (%); dollars a pair")
    print("\n".join(aligned(("", "exact match", "binary", "asked", "dollars"), rows)))
    unanswered = [
        pairs.ids[i]
        for i, row in enumerate(zip(*pairs.answers.values(), strict=True))
        if not any(a is not None for a in row)
    ]
    print(f"(*) fewer than two answers taken for no misalignment; no backbone answered {', '.join(unanswered)}.")
    least, alone = by_name["gpt, qwen; gemini decides"].dollars[0], by_name["gemini"].dollars[0]
    gpt = float(pairs.price["gpt"][0].mean())
    print(
        f"gpt and qwen with gemini deciding: at least ${least:.3f}; gemini alone ${alone:.3f}. They cost the same only"
    )
    print(
        f"if gpt costs ${alone - least + gpt:.3f} a pair; the least that the paper gives for a backbone is ${gpt:.2f}."
    )


def _row(one: Outcome) -> tuple[str, ...]:
    exact, binary = 100 * one.exact.mean(), 100 * one.binary.mean()
    return (one.name, f"{exact:.2f}", f"{binary:.2f}", f"{one.asked:.2f}", _dollars(one))


def _dollars(one: Outcome) -> str:
    low, high = one.dollars
    return f"{low:.3f}" if not one.unpriced else f"{low:.2f} to {high:.2f}"


def show_all(found: Sequence[Outcome]) -> None:
    """Every way, best first; those that another beats at no higher price, at either end of the range, are marked."""
    print("\nAll panels and cascades by exact match; * none is better for less, at both ends of the prices' range")
    rows = []
    for one in sorted(found, key=lambda o: -o.exact.mean()):
        name, *cells = _row(one)
        rows.append((f"{'*' if _is_frontier(one, found) else ' '} {name}", *cells, ", ".join(one.unpriced) or "-"))
    header = ("", "exact match", "binary", "asked", "dollars", "price unknown")
    print("\n".join(aligned(header, rows)))


def _is_frontier(one: Outcome, found: Sequence[Outcome]) -> bool:
    return not any(
        other.exact.mean() > one.exact.mean() and other.dollars[end] <= one.dollars[end]
        for other in found
        for end in (0, 1)
    )


def show_halves(pairs: Pairs, found: Sequence[Outcome]) -> None:
    """Chosen on one half of the repositories, scored on the other: over all ways of halving them."""
    where = np.array(pairs.repositories)
    names = sorted(set(where), key=lambda name: -int((where == name).sum()))
    exact = np.array([[one.exact[where == name].sum() for name in names] for one in found])
    binary = np.array([[one.binary[where == name].sum() for name in names] for one in found])
    sizes = np.array([(where == name).sum() for name in names])
    alternating = np.arange(len(names)) % 2 == 0
    print("\nChosen by exact match on one half of the repositories, scored on the other (%)")
    for half in (alternating, ~alternating):
        _show_half([name for name, there in zip(names, half, strict=True) if there], half, exact, binary, sizes, found)
    halves = [np.isin(np.arange(len(names)), half) for half in combinations(range(len(names)), len(names) // 2)]
    _show_all_halves([half for one in halves for half in (one, ~one)], exact, sizes, found)


def _show_half(
    names: Sequence[str],
    half: NDArray[np.bool_],
    exact: Floats,
    binary: Floats,
    sizes: Floats,
    found: Sequence[Outcome],
) -> None:
    best = int(exact[:, half].sum(axis=1).argmax())
    single = int(exact[: len(BACKBONES), half].sum(axis=1).argmax())
    print(textwrap.fill(f"chosen on {', '.join(names)} ({sizes[half].sum():,} pairs)", 98, break_on_hyphens=False))
    for index in (best, single):
        inside, outside = (100 * exact[index, part].sum() / sizes[part].sum() for part in (half, ~half))
        right = 100 * binary[index, ~half].sum() / sizes[~half].sum()
        print(
            f"  {found[index].name:<32} exact {inside:.2f} there; on the other half {outside:.2f}, binary {right:.2f}"
        )


def _show_all_halves(
    halves: Sequence[NDArray[np.bool_]], exact: Floats, sizes: Floats, found: Sequence[Outcome]
) -> None:
    chosen, gains, drops = Counter[str](), [], []
    for half in halves:
        best = int(exact[:, half].sum(axis=1).argmax())
        single = int(exact[: len(BACKBONES), half].sum(axis=1).argmax())
        outside = exact[:, ~half].sum(axis=1) / sizes[~half].sum()
        chosen[found[best].name] += 1
        gains.append(100 * (outside[best] - outside[single]))
        drops.append(100 * (exact[best, half].sum() / sizes[half].sum() - outside[best]))
    print(f"over all {len(halves)} ways to halve the repositories:")
    for name, times in chosen.most_common(5):
        print(f"  chosen {times:4d} times: {name}")
    print(f"  on the other half better than the best single backbone by {np.mean(gains):.2f} points of exact match")
    print(
        f"  (from {min(gains):.2f} to {max(gains):.2f}); lower than on its own half by {np.mean(drops):.2f} on average"
    )


def show_all_wrong(pairs: Pairs) -> None:
    """The pairs on which every backbone is wrong, and what these have in common."""
    answers = list(zip(*(pairs.answers[b] for b in BACKBONES), strict=True))
    wrong = [i for i, row in enumerate(answers) if pairs.truth[i] not in row]
    blind = [i for i, row in enumerate(answers) if all((a is None or bool(a)) != bool(pairs.truth[i]) for a in row)]
    agreed = [i for i in wrong if len(set(answers[i])) == 1]
    total = len(pairs.ids)
    print(f"\nNo backbone has the exact labels of {len(wrong)} of {total:,} pairs ({len(wrong) / total:.1%});")
    print(
        f"all four are wrong about misaligned or not on {len(blind)}; all give the same wrong answer on {len(agreed)}."
    )
    _share("people's label", [pairs.truth[i] or frozenset({"no label"}) for i in range(total)], wrong)
    _share("number of labels", [frozenset({str(len(labels))}) for labels in pairs.truth], wrong)
    _share("repository", [frozenset({name}) for name in pairs.repositories], wrong)
    print("\nWhat is wrong, over the four backbones' answers to these pairs")
    kinds = Counter(_kind(answer, pairs.truth[i]) for i in wrong for answer in answers[i])
    print("\n".join(f"  {kind:<36} {n:4d} ({n / (4 * len(wrong)):.0%})" for kind, n in kinds.most_common()))
    print("\nThe pairs, by people's labels")
    for labels in sorted({pairs.truth[i] for i in wrong}, key=lambda s: (len(s), sorted(s))):
        ids = [pairs.ids[i] for i in wrong if pairs.truth[i] == labels]
        words = "|".join(sorted(labels)) or "No Misalignment"
        print(
            textwrap.fill(f"{words} ({len(ids)}): {', '.join(ids)}", 98, subsequent_indent="  ", break_on_hyphens=False)
        )


def _kind(answer: Answer, truth: frozenset[str]) -> str:
    if answer is None:
        return "no answer"
    if not answer or not truth:
        return "people's labels, none said" if truth else "said, where people see none"
    if answer < truth:
        return "some of people's labels, not all"
    if answer > truth:
        return "people's labels and more"
    return "others, some in common" if answer & truth else "others, none in common"


def _share(what: str, groups: Sequence[frozenset[str]], wrong: Sequence[int]) -> None:
    every = Counter(name for group in groups for name in group)
    missed = Counter(name for i in wrong for name in groups[i])
    rows = [
        (name, f"{every[name]:,}", f"{missed[name]:,}", f"{missed[name] / every[name]:.1%}")
        for name in sorted(every, key=lambda n: -missed[n] / every[n])
    ]
    print("\n" + "\n".join(aligned((what, "pairs", "all wrong", "share"), rows)))


def main() -> None:
    """Reads, combines, prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="the paper's released files")
    pairs = read(parser.parse_args().data)
    found = all_outcomes(pairs)
    show_named(pairs, found)
    show_all(found)
    unknown = [b for b in BACKBONES if (pairs.price[b][0] != pairs.price[b][1]).any()]
    known = ", ".join(f"{b} ${pairs.price[b][0].mean():.3f}" for b in BACKBONES if b not in unknown)
    print(f"Known prices a pair: {known}; for {' and '.join(unknown)} the paper gives a range of all backbones.")
    show_halves(pairs, found)
    show_all_wrong(pairs)


if __name__ == "__main__":
    main()
