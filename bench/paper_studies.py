"""The paper's Tables 1 and 2 from its released labels, beside its own figures; and what cannot be had from them.

python bench/paper_studies.py --data DIR

DIR holds labels.csv and tables.json. Every figure of Table 2 is compared. Labels of SWE-bench Verified (Table 1) and
results of agents (Figures 2 and 3) are not among the files; of Table 1 it is checked whether its figures fit together.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from checker.evaluation.judged import Judged, read_judged
from checker.evaluation.render import aligned
from checker.evaluation.studies import SIX, Group, counts, share

DATASETS = {"SWE-Gym": "swe_gym", "SWE-bench Multilingual": "swe_bench_multilingual"}


def table_two(groups: Mapping[str, Group], published: Mapping[str, Any]) -> int:
    """Prints each data set, ours | the paper's, * where they deviate; how many figures do."""
    rows, deviate = [], 0
    for name, paper in published.items():
        group = groups[DATASETS[name]]
        ours = {"total": group.misaligned.of, "aligned": group.without_label, **group.labels}
        deviate += sum(ours[key] != paper[key] for key in ours)
        rows.append((name, *(f"{ours[key]} | {paper[key]}{' *' * (ours[key] != paper[key])}" for key in ours)))
    print("Table 2: here | in the paper; * deviates")
    print("\n".join(aligned(("", "total", "aligned", *SIX), rows)))
    return deviate


def beyond(judged: Judged) -> None:
    """What the labels say beyond Table 2."""
    rows = []
    for name, dataset in DATASETS.items():
        labels = {i: said for i, said in judged.labels.items() if judged.datasets[i] == dataset}
        found = counts(Judged(judged.judge, labels))
        several = sum(one.count for names, one in found.combinations if "|" in names)
        rate, many = found.all.misaligned, share(several, found.all.misaligned.count)
        rows.append(
            (name, *(f"{100 * (value or 0):.1f}" for value in (rate.fraction, rate.low, rate.high, many.fraction)))
        )
    print("\nMisaligned, % with its 95 % interval (Wilson), and misaligned pairs with several labels, %")
    print("\n".join(aligned(("", "misaligned", "from", "to", "several"), rows)))


def table_one(paper: Mapping[str, int]) -> None:
    """Whether the figures fit: there are at least as many scenarios as misaligned pairs."""
    scenarios = {name: count for name, count in paper.items() if "-" in name}
    rate = share(paper["misaligned"], paper["instances"])
    low, high = _per_cent(rate.low), _per_cent(rate.high)
    print(
        "\nTable 1 (SWE-bench Verified): its labels are not among the files, so it is not recomputed. Its figures fit:"
    )
    print(f"{sum(scenarios.values())} scenarios in {rate.count} misaligned pairs of {rate.of}, ", end="")
    print(f"{_per_cent(rate.fraction)} % (95 % interval {low} to {high}).")


def _per_cent(fraction: float | None) -> str:
    return "-" if fraction is None else f"{100 * fraction:.1f}"


def main() -> None:
    """Runs all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    folder = parser.parse_args().data
    published = json.loads((folder / "tables.json").read_text(encoding="utf-8"))
    judged = read_judged(folder / "labels.csv")
    groups = {one.name: one for one in counts(judged).datasets}
    deviate = table_two(groups, published["table2_labels"])
    print(f"{deviate} of {sum(map(len, published['table2_labels'].values()))} figures deviate")
    beyond(judged)
    table_one(published["table1_verified"])
    print("\nFigures 2 and 3: no results of agents are among the files; `paichecker study solved` draws them.")


if __name__ == "__main__":
    main()
