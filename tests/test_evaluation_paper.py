"""The paper's figures from its released files (PAICHECKER_PAPER_DATA names their folder)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fakes import HERE

FOLDER = os.environ.get("PAICHECKER_PAPER_DATA")
pytestmark = pytest.mark.skipif(FOLDER is None, reason="PAICHECKER_PAPER_DATA names no folder of the paper's files")


def bench(name: str) -> str:
    arguments = [sys.executable, str(HERE.parent / "bench" / name), "--data", str(FOLDER)]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_tables_three_to_six_come_out_as_the_paper_gives_them_but_for_what_is_explained() -> None:
    out = bench("paper_tables.py")
    assert "262 of 320 figures agree; 33 macro figures deviate by rounding" in out
    assert "unexplained." not in out.partition("Table 5")[0]
    five = out.partition("Table 5")[2].partition("Table 6")[0].partition("deviates")[2]
    assert (five.count("|"), five.count("*")) == (12, 0)
    six = out.partition("Table 6")[2].partition("A change counts")[0].partition("deviates")[2]
    assert (six.count("|"), six.count("*")) == (16, 2)


def test_panels_give_the_figures_of_the_plan() -> None:
    out = bench("panels.py")
    named = out.partition("All panels")[0]
    rows = {line[:34].strip(): line[34:].split()[:2] for line in named.splitlines()}
    assert rows["gemini"] == ["84.66", "92.12"]
    assert rows["2 of gpt, claude, gemini"] == ["88.93", "94.22"]
    assert rows["2 of gpt, claude, gemini (*)"] == ["88.97", "94.22"]
    assert rows["gpt, claude; gemini decides"] == ["89.79", "94.59"]
    assert rows["gpt, qwen; gemini decides"] == ["87.86", "94.09"]


def test_the_command_scores_the_released_predictions_on_all_swe_gym_pairs(tmp_path: Path) -> None:
    from checker.evaluation.evaluate import evaluate
    from checker.evaluation.labels import read_labels, read_predictions

    folder = Path(str(FOLDER))
    truth = read_labels(folder / "labels.csv")
    found = evaluate(truth, read_predictions([folder / "predictions_swe_gym.csv"]), rounds=10)
    ours = {one.method: one.scores for one in found.methods}["paichecker_gemini"]
    assert ours.n == 2438
    assert round(100 * ours.figures["exact_match"], 2) == 84.66
    assert round(100 * ours.figures["binary_f1"], 2) == 91.10
