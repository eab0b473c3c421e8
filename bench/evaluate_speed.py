"""How long `paichecker evaluate` takes, and what the vectorised bootstrap saves against a plain loop.

python bench/evaluate_speed.py [--pairs N] [--rounds N] [--methods N]

Labels and predictions are drawn by seed, with the shares of the paper's labels. The loop scores each drawn sample
with scikit-learn, as one would by hand; it runs fewer rounds, on the same draws, and must give the same intervals.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from checker.evaluation.compare import figures_of, intervals, summands
from checker.evaluation.evaluate import evaluate
from checker.evaluation.labels import read_labels, read_predictions
from checker.evaluation.metrics import FIGURES, Table, occurring, score, tabulate
from checker.evaluation.trail import SEVEN

_SHARES = {"SC": 0.17, "DP": 0.06, "IS": 0.13, "FP": 0.04, "UL": 0.14, "Others": 0.01}
_LOOP_ROUNDS = 100


def write(folder: Path, pairs: int, methods: int) -> tuple[Path, Path]:
    """A file of labels and one of predictions, of which every eighth differs from people's."""
    rng = np.random.default_rng(7)
    truth = [_draw(rng) for _ in range(pairs)]
    labels, predictions = folder / "labels.csv", folder / "predictions.csv"
    _write(labels, [["instance_id", "labels"], *([f"pair-{i}", said] for i, said in enumerate(truth))])
    names = [f"method_{number}" for number in range(methods)]
    rows = [
        [f"pair-{i}", *(_draw(rng) if rng.random() < 0.125 else said for _ in names)] for i, said in enumerate(truth)
    ]
    _write(predictions, [["instance_id", *names], *rows])
    return labels, predictions


def _draw(rng: np.random.Generator) -> str:
    return "|".join(label for label, share in _SHARES.items() if rng.random() < share * 0.9) or SEVEN[-1]


def _write(path: Path, rows: list[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def loop(table: Table, rounds: int, seed: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Rounds x figures, one sample after the other."""
    rng = np.random.default_rng(seed)
    n, found = len(table.ids), []
    for _ in range(rounds):
        drawn = rng.integers(0, n, size=n)
        sample = Table(
            table.name,
            table.ids,
            table.truth[drawn],
            table.said[drawn],
            table.given[drawn],
            tuple(table.predictions[i] for i in drawn),
        )
        scores = score(sample)
        found.append([scores.figures[name] for name in FIGURES])
    return np.array(found)


def vectorised(table: Table, rounds: int, seed: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """The same draws, as `intervals` counts them."""
    n = len(table.ids)
    drawn = np.random.default_rng(seed).integers(0, n, size=(rounds, n))
    times = np.stack([np.bincount(row, minlength=n) for row in drawn]).astype(np.float32)
    return figures_of(times @ summands(table), n, occurring(table))[:, : len(FIGURES)]


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=2738)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--methods", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        labels, predictions = write(Path(folder), options.pairs, options.methods)
        command = [
            sys.executable,
            "-m",
            "checker",
            "evaluate",
            "--labels",
            str(labels),
            "--predictions",
            str(predictions),
        ]
        started = time.perf_counter()
        subprocess.run([*command, "--rounds", str(options.rounds), "--format", "json"], check=True, capture_output=True)
        whole = time.perf_counter() - started
        truth, methods = read_labels(labels), read_predictions([predictions])
    tabulated = tabulate(truth, methods[0])
    score(tabulated)  # loads scikit-learn
    started = time.perf_counter()
    evaluate(truth, methods, rounds=options.rounds)
    inside = time.perf_counter() - started
    print(
        f"{options.pairs:,} pairs, {options.methods} methods, {options.rounds:,} rounds, all figures and comparisons:"
    )
    print(f"  the command, from start to end   {whole:6.2f} s")
    print(f"  evaluate() alone                 {inside:6.2f} s")
    compare_with_loop(tabulated, options.rounds)


def compare_with_loop(table: Table, rounds: int) -> None:
    """Seconds for one round either way, and the greatest difference of a figure on the same draws."""
    started = time.perf_counter()
    slow = loop(table, _LOOP_ROUNDS, 0)
    per_loop = (time.perf_counter() - started) / _LOOP_ROUNDS
    started = time.perf_counter()
    intervals(table, rounds, 0)
    per_round = (time.perf_counter() - started) / rounds
    worst = float(abs(slow - vectorised(table, _LOOP_ROUNDS, 0)).max())
    print(f"one method, one round: loop {per_loop * 1e3:.2f} ms (over {_LOOP_ROUNDS}), here {per_round * 1e3:.3f} ms,")
    print(f"  {per_loop / per_round:.0f} times as fast; greatest difference of a figure on the same draws {worst:.1e}")


if __name__ == "__main__":
    main()
