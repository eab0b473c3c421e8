"""`paichecker evaluate`: what it prints in each form, what it draws, and what it says about input it cannot score.

`PAICHECKER_RENEW_GOLDEN=1 pytest tests/test_evaluation_command.py` writes the golden file anew; read what has changed.
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

from checker.evaluation import evaluate as evaluation

LABELS = """\
dataset,instance_id,labels
gym,a,SC
gym,b,No Misalignment
gym,c,DP|UL
gym,d,IS
gym,e,No Misalignment
gym,f,SC
lite,z,FP
"""
PREDICTIONS = """\
instance_id,weak,strong
a,SC|IS,SC
b,SC,No Misalignment
c,UL,DP|UL
d,,IS
e,No Misalignment,No Misalignment
f,SC|No Misalignment,No Misalignment
"""
AUDIT: list[dict[str, Any]] = [
    {"id": "a", "verdict": "misaligned", "labels": ["SC"], "dropped": [{"label": "UL", "by": "code_validator"}]},
    {"id": "b", "verdict": "aligned", "labels": [], "dropped": [{"label": "IS", "by": "coordinator"}]},
    {"id": "c", "verdict": "undetermined", "labels": [], "dropped": []},
    {"id": "d", "verdict": "misaligned", "labels": ["IS"], "dropped": [], "dollars": 0.5, "tokens": 4000, "seconds": 9},
    {"id": "e", "failure": "the server was gone"},
]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "labels.csv").write_text(LABELS)
    (tmp_path / "predictions.csv").write_text(PREDICTIONS)
    audit = tmp_path / "my-audit"
    audit.mkdir()
    (audit / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in AUDIT))
    return ["--labels", str(tmp_path / "labels.csv"), "--predictions", str(tmp_path / "predictions.csv"), str(audit)]


def test_the_text_is_the_golden_one(capsys: pytest.CaptureFixture[str], files: list[str]) -> None:
    status, out, err = run(capsys, "evaluate", *files, "--rounds", "200")
    assert (status, err) == (0, "")
    golden = HERE / "golden" / "evaluation.txt"
    if os.environ.get("PAICHECKER_RENEW_GOLDEN") == "1":
        golden.write_text(out, encoding="utf-8")
    assert out == golden.read_text(encoding="utf-8")
    assert max(map(len, out.splitlines())) <= 100


def test_json_gives_fractions_under_the_papers_names(capsys: pytest.CaptureFixture[str], files: list[str]) -> None:
    data = json.loads(run(capsys, "evaluate", *files, "--format", "json", "--rounds", "50")[1])
    weak, strong, audit = data["methods"]
    assert [one["method"] for one in data["methods"]] == ["weak", "strong", "my-audit"]
    assert list(strong)[:11] == [
        "method",
        "n",
        "binary_accuracy",
        "binary_precision",
        "binary_recall",
        "binary_f1",
        "exact_match",
        "macro_accuracy",
        "macro_precision",
        "macro_recall",
        "macro_f1",
    ]
    assert (strong["n"], strong["exact_match"], strong["binary_accuracy"]) == (6, 5 / 6, 5 / 6)
    assert (weak["without_prediction"], weak["contradictory"], weak["exact_match"]) == (1, 1, 1 / 6)
    assert strong["labels"]["SC"]["f1"] == pytest.approx(2 / 3)
    assert set(strong["labels"]) == {"SC", "DP", "IS", "UL", "No Misalignment"}
    assert (audit["undecided"], audit["no_row"], audit["without_prediction"]) == (1, 1, 2)
    assert audit["dollars"] == {"total": 0.5, "known": 1}
    assert [c["to_correct"] for c in audit["phases"]["changes"]] == [1, 1]
    assert len(data["comparisons"]) == 3
    low, high = strong["intervals"]["exact_match"]
    assert low <= strong["exact_match"] <= high


def test_csv_has_one_row_a_method(capsys: pytest.CaptureFixture[str], files: list[str]) -> None:
    rows = list(csv.DictReader(io.StringIO(run(capsys, "evaluate", *files, "--format", "csv")[1])))
    assert [row["method"] for row in rows] == ["weak", "strong", "my-audit"]
    assert float(rows[1]["exact_match"]) == 5 / 6
    assert rows[1]["f1 FP"] == "" != rows[1]["f1 SC"]
    assert rows[2]["dollars"] == "0.5"


def test_of_a_sample_the_pairs_without_a_row_are_left_out(capsys: pytest.CaptureFixture[str], files: list[str]) -> None:
    (audit,) = json.loads(
        run(capsys, "evaluate", *files[:2], "--predictions", files[-1], "--format", "json", "--predicted-only")[1]
    )["methods"]
    assert (audit["n"], audit["no_row"]) == (5, 0)


def test_phases_are_drawn_the_same_each_time(
    capsys: pytest.CaptureFixture[str], files: list[str], tmp_path: Path
) -> None:
    for folder in ("one", "two"):
        assert run(capsys, "evaluate", *files, "--rounds", "10", "--figures", str(tmp_path / folder))[0] == 0
    names = ("phases.png", "phases.svg")
    one, two = ([(tmp_path / folder / name).read_bytes() for name in names] for folder in ("one", "two"))
    assert one == two
    assert one[0].startswith(b"\x89PNG")
    assert b"<svg" in one[1]


def test_without_phases_there_is_nothing_to_draw(
    capsys: pytest.CaptureFixture[str], files: list[str], tmp_path: Path
) -> None:
    status, out, err = run(capsys, "evaluate", *files[:4], "--figures", str(tmp_path / "drawn"))
    assert (status, out) == (2, "")
    assert "no predictions tell what stood after each phase" in err


def test_a_name_from_a_file_cannot_steer_the_terminal(
    capsys: pytest.CaptureFixture[str], files: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "odd.csv"
    path.write_text(f"instance_id,\x1b[31m{'long ' * 20}\na,SC\n", encoding="utf-8")
    out = run(capsys, "evaluate", *files[:2], "--predictions", str(path), "--rounds", "10")[1]
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 100


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("predictions.csv", "instance_id,m\na,XX\n", "predictions.csv:2, column m: 'XX' is no label"),
        ("predictions.csv", "instance_id,m\nother,SC\n", "method 'm': none of its pairs is labelled"),
        ("predictions.csv", '{"instance_id": "a", "patch": ""}\n', "predictions.csv: it holds no reports; an audit's"),
        ("labels.csv", "instance_id,label\na,SC\n", "labels.csv: its first line names no column 'labels'"),
    ],
)
def test_what_cannot_be_scored_is_a_sentence_and_ends_with_two(
    capsys: pytest.CaptureFixture[str], files: list[str], tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text)
    status, out, err = run(capsys, "evaluate", *files[:4])
    assert (status, out) == (2, "")
    assert message in err


def test_labels_in_a_folder_are_asked_for_as_peoples_csv(
    capsys: pytest.CaptureFixture[str], files: list[str], tmp_path: Path
) -> None:
    status, _, err = run(capsys, "evaluate", "--labels", str(tmp_path), *files[2:4])
    assert (status, "it is a folder; people's CSV is wanted here" in err) == (2, True)


@pytest.mark.parametrize("rounds", ["100001", "0", "many"])
def test_the_rounds_are_bounded(capsys: pytest.CaptureFixture[str], files: list[str], rounds: str) -> None:
    status, _, err = run(capsys, "evaluate", *files, "--rounds", rounds)
    assert status == 2
    assert ("more than 100,000" in err) is (rounds == "100001")


def test_stopped_it_says_no_more_than_that(
    capsys: pytest.CaptureFixture[str], files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(evaluation, "evaluate", stop)
    assert run(capsys, "evaluate", *files) == (130, "", "paichecker: stopped\n")


def test_a_missing_library_is_a_sentence_that_says_what_to_install(
    capsys: pytest.CaptureFixture[str], files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    status, _, err = run(capsys, "evaluate", *files)
    assert status == 2
    assert err == (
        "paichecker: evaluate needs sklearn, scipy: install PAIChecker with its extra eval: "
        "pip install -c constraints.txt '.[eval]' in a checkout\n"
    )
