"""`paichecker study`: what it prints in each form, what it draws, and what it says about input it cannot use.

`PAICHECKER_RENEW_GOLDEN=1 pytest tests/test_studies_command.py` writes the golden files anew; read what has changed.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from fakes import HERE

LABELS = """\
dataset,instance_id,labels
gym,o__r-1,SC
gym,o__r-2,No Misalignment
gym,o__r-3,DP|UL
gym,o__r-4,No Misalignment
gym,o__s-5,IS
gym,o__s-6,No Misalignment
lite,o__s-7,FP
"""
RESOLVED = {
    "20250101_alpha": ["o__r-2", "o__r-4", "o__s-6", "o__r-1"],
    "20250202_beta": ["o__r-1", "o__r-3", "o__s-5", "o__r-2", "o__r-4"],
    "20250303_gamma": ["o__r-2", "o__r-4", "x__y-9"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "labels.csv").write_text(LABELS)
    for name, resolved in RESOLVED.items():
        results = tmp_path / "experiments" / "evaluation" / "verified" / name / "results"
        results.mkdir(parents=True)
        (results / "results.json").write_text(json.dumps({"no_generation": [], "no_logs": [], "resolved": resolved}))
    (tmp_path / "experiments" / "evaluation" / "verified" / "20250404_empty").mkdir()
    (tmp_path / "flagged.txt").write_text("o__r-1\no__r-2\no__r-3\nx__y-9\n")
    return tmp_path


def arguments(study: str, folder: Path) -> list[str]:
    own = {
        "counts": [],
        "solved": ["--experiments", str(folder / "experiments")],
        "overlap": ["--list", str(folder / "flagged.txt")],
    }
    return ["study", study, "--labels", str(folder / "labels.csv"), *own[study]]


@pytest.mark.parametrize("study", ["counts", "solved", "overlap"])
def test_the_text_is_the_golden_one(capsys: pytest.CaptureFixture[str], folder: Path, study: str) -> None:
    status, out, err = run(capsys, *arguments(study, folder))
    assert (status, err) == (0, "")
    golden = HERE / "golden" / f"study-{study}.txt"
    if os.environ.get("PAICHECKER_RENEW_GOLDEN") == "1":
        golden.write_text(out, encoding="utf-8")
    assert out == golden.read_text(encoding="utf-8")
    assert max(map(len, out.splitlines())) <= 100


def in_json(capsys: pytest.CaptureFixture[str], study: str, folder: Path) -> Any:
    return json.loads(run(capsys, *arguments(study, folder), "--format", "json")[1])


def test_json_gives_fractions(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    counts = in_json(capsys, "counts", folder)
    assert (counts["study"], counts["judge"]) == ("counts", "people (labels.csv)")
    assert counts["datasets"][0]["misaligned"]["fraction"] == 0.5
    assert [one["labels"] for one in counts["combinations"]] == ["DP|UL", "FP", "IS", "SC"]
    solved = in_json(capsys, "solved", folder)
    assert [(one["name"], one["rank"], one["climbs"]) for one in solved["standings"]] == [
        ("20250202_beta", 1, -1),
        ("20250101_alpha", 2, 1),
        ("20250303_gamma", 3, 1),
    ]
    assert solved["without_results"] == ["20250404_empty"]
    (overlap,) = in_json(capsys, "overlap", folder)["lists"]
    assert (overlap["n"], overlap["both"], overlap["odds_ratio"]) == (6, 2, pytest.approx(4))


def in_csv(capsys: pytest.CaptureFixture[str], study: str, folder: Path) -> dict[tuple[str, ...], dict[str, str]]:
    out = run(capsys, *arguments(study, folder), "--format", "csv")[1]
    return {(row["table"], row["group"], row["what"]): row for row in csv.DictReader(io.StringIO(out))}


def test_csv_has_one_figure_a_row(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    counts = in_csv(capsys, "counts", folder)
    assert counts["data set", "gym", "misaligned"]["value"] == "0.5"
    assert counts["repository", "o/r", "DP"]["count"] == "1"
    assert counts["label", "FP", "pairs"]["of"] == "7"
    solved = in_csv(capsys, "solved", folder)
    assert (solved["solved", "1", "misaligned"]["count"], solved["solved", "1", "misaligned"]["of"]) == ("2", "3")
    assert solved["leaderboard", "20250101_alpha", "resolved of without_label"]["value"] == "1.0"
    assert solved["leaderboard", "20250101_alpha", "rank_without"]["value"] == "1"
    overlap = in_csv(capsys, "overlap", folder)
    assert overlap["overlap", "flagged.txt", "jaccard"]["value"] == "0.5"
    assert overlap["label", "flagged.txt", "flagged of SC"]["count"] == "1"


def test_an_audit_says_who_judged_and_what_is_undetermined(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    rows = [
        {"id": "o__r-1", "verdict": "misaligned", "labels": ["SC"], "backend": "rules", "findings": []},
        {"id": "o__r-2", "verdict": "nothing_found", "labels": [], "backend": "rules"},
        {"id": "o__r-3", "verdict": "undetermined", "labels": [], "backend": "rules"},
    ]
    (folder / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    line = arguments("solved", folder)
    line[3] = str(folder / "results.jsonl")
    out = " ".join(run(capsys, *line)[1].split())
    assert "2 pairs decided by rules (audit" in out
    assert "in 1 pair rules found nothing, which is not alignment" in out
    assert "Apart from these 1 undetermined and 0 without an answer, in no rate." in out
    counted = [*arguments("counts", folder)[:3], str(folder / "results.jsonl")]
    out = " ".join(run(capsys, *counted)[1].split())
    assert "1 misaligned (50.0 %" in out
    assert "Of all 3 pairs judged, open ones too, at least 33.3 % are misaligned." in out
    data = json.loads(run(capsys, *counted, "--format", "json")[1])
    assert (data["all"]["at_least"]["count"], data["all"]["at_least"]["of"]) == (1, 3)


def test_where_all_is_decided_no_lower_bound_is_told(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert "at least" not in run(capsys, *arguments("counts", folder))[1]


def test_figures_are_drawn_the_same_each_time(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    names = ("solved.png", "solved.svg", "leaderboard.png", "leaderboard.svg")
    drawn = []
    for where in ("one", "two"):
        assert run(capsys, *arguments("solved", folder), "--figures", str(folder / where))[0] == 0
        drawn.append([(folder / where / name).read_bytes() for name in names])
    assert drawn[0] == drawn[1]
    assert drawn[0][0].startswith(b"\x89PNG")
    assert b"<svg" in drawn[0][3]


def test_figures_into_a_file_are_a_sentence(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    status, out, err = run(capsys, *arguments("solved", folder), "--figures", str(folder / "labels.csv"))
    assert (status, out) == (2, "")
    assert "it cannot be written to" in err


def test_a_name_from_a_folder_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    results = folder / "experiments" / "evaluation" / "verified" / "\x1b[31m$x$" / "results"
    results.mkdir(parents=True)
    (results / "results.json").write_text('{"resolved": ["o__r-1"]}')
    status, out, _ = run(capsys, *arguments("solved", folder), "--figures", str(folder / "drawn"))
    assert status == 0
    assert "\x1b" not in out


@pytest.mark.parametrize(
    ("study", "name", "text", "message"),
    [
        ("counts", "labels.csv", "instance_id,labels\na,XX\n", "labels.csv:2, column labels: 'XX' is no label"),
        ("solved", "labels.csv", "instance_id,labels\na,SC\n", "none of the ids that submissions name ('o__r-1', ...)"),
        ("overlap", "flagged.txt", "", "flagged.txt: it names no pair"),
        ("overlap", "flagged.txt", "a\n", "none of its pairs is among the labels that were decided"),
    ],
)
def test_what_cannot_be_studied_is_a_sentence_and_ends_with_two(
    capsys: pytest.CaptureFixture[str], folder: Path, study: str, name: str, text: str, message: str
) -> None:
    (folder / name).write_text(text)
    status, out, err = run(capsys, *arguments(study, folder))
    assert (status, out) == (2, "")
    assert message in err


def test_a_missing_library_is_a_sentence_that_says_what_to_install(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    status, _, err = run(capsys, *arguments("counts", folder))
    assert (status, err) == (
        2,
        "paichecker: study needs sklearn, scipy: install PAIChecker with its extra eval: "
        "pip install -c constraints.txt '.[eval]' in a checkout\n",
    )
