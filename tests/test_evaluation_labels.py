"""Reading labels and predictions: what is taken from a file, and what it is told that cannot be scored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fakes import load_pair

from checker.evaluation.labels import EvaluationInputError, read_labels, read_predictions
from checker.evaluation.trail import NO_LABEL, Prediction
from checker.pipeline import check
from checker.report import write_report
from checker.rules import RulesBackend


def file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def results(folder: Path, *rows: Any, name: str = "results.jsonl") -> Path:
    return file(folder, name, "".join(json.dumps(row) + "\n" for row in rows))


def test_labels_are_sets_and_the_data_set_is_kept(tmp_path: Path) -> None:
    path = file(tmp_path, "l.csv", "\ufeffdataset,instance_id,labels\ngym,a, SC | UL \nlite,b,No Misalignment\n")
    truth = read_labels(path)
    assert truth.labels == {"a": {"SC", "UL"}, "b": NO_LABEL}
    assert truth.datasets == {"a": "gym", "b": "lite"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("instance_id,labels\na,XX\n", "l.csv:2, column labels: 'XX' is no label; the labels are SC, DP,"),
        ("instance_id,labels\na,\n", "l.csv:2, column labels: it is empty"),
        ("instance_id,labels\na,SC|No Misalignment\n", "holds No Misalignment beside another label"),
        ("instance_id,labels\na,SC\na,DP\n", "l.csv:3: 'a' stood in line 2 already"),
        ("instance_id,labels\na,SC,DP\n", "l.csv:2: it has 3 cells, the first line 2"),
        ("id,labels\na,SC\n", "its first line names no column 'instance_id'"),
        ("instance_id,labels,labels\na,SC,SC\n", "names a column twice"),
        ("instance_id,labels\n", "it holds no labelled pair"),
        ("", "names no column"),
    ],
)
def test_labels_that_cannot_be_scored_are_told_with_their_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(EvaluationInputError) as told:
        read_labels(file(tmp_path, "l.csv", text))
    assert message in str(told.value)


def test_a_file_that_is_missing_or_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    for name, reason in (("none", "No such file"), ("bytes", "no text in UTF-8")):
        with pytest.raises(EvaluationInputError, match=reason):
            read_labels(tmp_path / name)


def test_a_csv_has_one_method_per_column_and_an_empty_cell_is_no_prediction(tmp_path: Path) -> None:
    path = file(
        tmp_path, "p.csv", ",instance_id,dataset,one,two\n0,a,gym,SC|DP,\n1,b,gym,No Misalignment,IS|No Misalignment\n"
    )
    one, two = read_predictions([path])
    assert (one.name, two.name) == ("one", "two")
    assert one.predictions == {"a": Prediction(frozenset({"SC", "DP"})), "b": Prediction(NO_LABEL)}
    assert two.predictions["a"].labels is None
    assert two.predictions["b"].labels == {"IS", "No Misalignment"}


def test_a_method_in_two_files_is_joined_unless_they_hold_the_same_pair(tmp_path: Path) -> None:
    first = file(tmp_path, "1.csv", "instance_id,m\na,SC\n")
    other = file(tmp_path, "2.csv", "instance_id,m\nb,DP\n")
    (joined,) = read_predictions([first, other])
    assert set(joined.predictions) == {"a", "b"}
    with pytest.raises(EvaluationInputError, match=r"1\.csv also holds a method 'm' for the same pairs"):
        read_predictions([first, first])


@pytest.mark.parametrize("text", ["instance_id\na\n", "instance_id,m\n"])
def test_a_csv_without_methods_or_rows_is_told(tmp_path: Path, text: str) -> None:
    with pytest.raises(EvaluationInputError, match="no row, or no column of a method"):
        read_predictions([file(tmp_path, "p.csv", text)])


async def test_a_report_as_it_is_written_reads_as_a_prediction(tmp_path: Path) -> None:
    report = await check(load_pair("scope-creep-and-literal"), RulesBackend())
    (method,) = read_predictions([results(tmp_path / "my-audit", write_report(report))])
    assert method.name == "my-audit"
    assert method.predictions[report.id] == Prediction(
        frozenset({"SC", "UL"}), phases=(frozenset({"SC", "UL"}),) * 3, dollars=0.0, tokens=0.0
    )


def test_only_misaligned_results_carry_labels_and_a_failed_check_is_no_prediction(tmp_path: Path) -> None:
    rows = [
        {"id": "m", "verdict": "misaligned", "labels": ["Others"]},
        {"id": "a", "verdict": "aligned", "labels": []},
        {"id": "n", "verdict": "nothing_found", "labels": []},
        {"id": "u", "verdict": "undetermined", "labels": []},
        {"id": "f", "error": "the model's server was gone"},
        {"id": "v", "verdict": None, "labels": []},
    ]
    (method,) = read_predictions([results(tmp_path, *rows, name="run.jsonl")])
    said = {identity: one.labels for identity, one in method.predictions.items()}
    assert method.name == "run"
    assert said == {"m": {"Others"}, "a": NO_LABEL, "n": NO_LABEL, "u": NO_LABEL, "f": None, "v": None}
    assert [i for i, one in method.predictions.items() if one.undecided] == ["u"]


def test_of_two_results_about_a_pair_the_later_counts(tmp_path: Path) -> None:
    failed, again = {"id": "a"}, {"id": "a", "verdict": "misaligned", "labels": ["DP"]}
    (method,) = read_predictions([results(tmp_path, failed, again)])
    assert method.predictions["a"].labels == {"DP"}


def test_a_folder_is_the_audit_it_holds(tmp_path: Path) -> None:
    results(tmp_path / "audit-a", {"id": "a", "verdict": "aligned"})
    (method,) = read_predictions([tmp_path / "audit-a"])
    assert (method.name, set(method.predictions)) == ("audit-a", {"a"})


def test_what_an_audit_only_failed_at_is_no_prediction_and_a_torn_last_line_no_result(tmp_path: Path) -> None:
    folder = tmp_path / "audit"
    done = {"id": "a", "verdict": "aligned"}
    path = results(folder, done)
    path.write_text(path.read_text() + '{"id": "c", "verd')
    results(folder, {**done, "verdict": "undetermined"}, {"id": "b", "verdict": "undetermined"}, name="failures.jsonl")
    (method,) = read_predictions([folder])
    assert method.predictions == {"a": Prediction(NO_LABEL), "b": Prediction(None)}


def test_a_folder_that_is_no_audit_or_an_empty_one_is_told(tmp_path: Path) -> None:
    with pytest.raises(EvaluationInputError, match=r"results\.jsonl: it cannot be read"):
        read_predictions([tmp_path])
    results(tmp_path)
    with pytest.raises(EvaluationInputError, match="it holds no result"):
        read_predictions([tmp_path])


def test_cost_comes_from_the_result_or_from_the_roles_and_one_unknown_price_makes_it_unknown(tmp_path: Path) -> None:
    role = {"role": "coordinator", "input_tokens": 10, "output_tokens": 5, "dollars": 0.5}
    rows = [
        {"id": "a", "verdict": "aligned", "dollars": 2, "tokens": 7, "seconds": 1.5, "usage": [role]},
        {"id": "b", "verdict": "aligned", "usage": [role, role]},
        {"id": "c", "verdict": "aligned", "usage": [role, {**role, "dollars": None}]},
        {"id": "d", "verdict": "aligned"},
    ]
    (method,) = read_predictions([results(tmp_path, *rows)])
    costs = {i: (one.dollars, one.tokens, one.seconds) for i, one in method.predictions.items()}
    assert costs == {"a": (2, 7, 1.5), "b": (1.0, 30, None), "c": (None, 30, None), "d": (None, None, None)}


def test_phases_follow_from_what_was_dropped_and_added(tmp_path: Path) -> None:
    row = {
        "id": "a",
        "verdict": "misaligned",
        "labels": ["UL", "Others"],
        "dropped": [
            {"label": "SC", "by": "code_validator"},
            {"label": "IS", "by": "coordinator"},
            {"label": "DP", "by": "evidence"},
        ],
    }
    (method,) = read_predictions([results(tmp_path, row)])
    assert method.predictions["a"].phases == ({"UL", "SC", "IS"}, {"UL", "Others", "SC"}, {"UL", "Others"})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{}}", "results.jsonl:1: it is no JSON"),
        ('{"verdict": "aligned"}', "it names no pair (field id)"),
        ('{"id": "a", "verdict": "misaligned", "labels": []}', "names no label"),
        ('{"id": "a", "verdict": "misaligned", "labels": ["No Misalignment"]}', "no label of a misaligned pair"),
        ('{"id": "a", "verdict": "misaligned", "labels": [{"x": 1}]}', "no label of a misaligned pair"),
    ],
)
def test_results_that_contradict_themselves_are_told(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(EvaluationInputError) as told:
        read_predictions([file(tmp_path, "results.jsonl", line + "\n")])
    assert message in str(told.value)


def test_released_phases_are_read_per_backbone_and_an_unread_analyzer_says_nothing(tmp_path: Path) -> None:
    header = "backbone,instance_id,IS,SC,UL,DP,FP,coordinator,validator,final\n"
    rows = "gpt,a,IS,NO_SC,UL,{dp},,IS|UL,IS,\nqwen,a,NO_IS,NO_SC,NO_UL,NO_DP,NO_FP,,,SC\n"
    gpt, qwen = read_predictions([file(tmp_path, "phases.csv", header + rows)])
    assert (gpt.name, gpt.predictions["a"].phases) == ("gpt", ({"IS", "UL"}, {"IS", "UL"}, {"IS"}))
    assert (qwen.predictions["a"].phases, qwen.predictions["a"].labels) == ((NO_LABEL, None, {"SC"}), {"SC"})
