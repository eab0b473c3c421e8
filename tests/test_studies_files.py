"""Reading what agents solved, in each published layout, and what other filters flag."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from checker.evaluation.experiments import Submission, read_experiments
from checker.evaluation.filter_lists import FilterList, read_filter_list
from checker.evaluation.labels import EvaluationInputError

A, B, C = "astropy__astropy-12907", "django__django-11099", "sympy__sympy-20590"


def put(path: Path, data: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


def listed(folder: Path) -> None:
    put(folder / "metadata.yaml", "info:\n  name: an agent\ntags:\n  checked: false\n")
    put(folder / "results" / "resolved_by_repo.json", {"astropy/astropy": {"resolved": 1, "total": 22}})
    put(folder / "results" / "results.json", {"no_generation": [C], "no_logs": [], "resolved": [A, B, A]})


def detailed(folder: Path) -> None:
    details = {i: {"cost": 0.7, "api_calls": 32, "resolved": i != C} for i in (A, B, C)}
    put(folder / "per_instance_details.json", details)
    put(folder / "metadata.yaml", "info:\n  resolved: 66.7\n")


def reported(folder: Path) -> None:
    for identity in (A, B, C):
        body = {"patch_exists": True, "resolved": identity != C, "tests_status": {}}
        put(folder / "logs" / identity / "report.json", {identity: body})
        put(folder / "logs" / identity / "test_output.txt", "1 passed")


def harness_logs(folder: Path) -> None:
    for identity in (A, B, C):
        put(folder / identity / "report.json", {identity: {"resolved": identity != C}})
        put(folder / identity / "run_instance.log", "")


def live_output(folder: Path) -> None:
    """What SWE-bench-Live's evaluation writes into its output folder."""
    done = {"submitted": 3, "submitted_ids": [A, B, C], "success_ids": [A, B], "failure_ids": [C], "error_ids": []}
    put(folder / "results.json", done)
    live_reports(folder)


def live_reports(folder: Path) -> None:
    for identity in (A, B, C):
        body = {"instance_id": identity, "resolved": identity != C, "PASS_TO_PASS": {"success": [], "failure": []}}
        put(folder / identity / "report.json", body)
        put(folder / identity / "status.json", {"test": "pass"})


def poly_submission(folder: Path) -> None:
    poly_harness(folder / "logs")
    put(folder / "all_preds.jsonl", "")
    put(folder / "trajs" / f"{A}.json", "{}")


def poly_harness(folder: Path) -> None:
    for identity in (A, B, C):
        body = {"instance_id": identity, "generation": True, "resolved": identity != C, "passed_tests": []}
        put(folder / f"{identity}_result.json", body)
        put(folder / f"{identity}_metrics.json", {"instance_id": identity, "node_retrieval_metrics": None})


def multi_submission(folder: Path) -> None:
    run = {"total_instances": 3, "submitted_ids": [A, B, C], "resolved": [A, B], "unresolved_ids": [C]}
    put(folder / "results" / "results.json", run)
    put(folder / "logs" / "astropy" / "astropy" / "evals" / "pr-12907" / "report.json", {"valid": True})


@pytest.mark.parametrize(
    ("write", "recorded"),
    [
        (listed, None),
        (detailed, {A, B, C}),
        (reported, {A, B, C}),
        (harness_logs, {A, B, C}),
        (live_output, {A, B, C}),
        (live_reports, {A, B, C}),
        (poly_submission, {A, B, C}),
        (poly_harness, {A, B, C}),
        (multi_submission, {A, B, C}),
    ],
)
@pytest.mark.parametrize("start", ["", "evaluation", "evaluation/verified", "evaluation/verified/20250101_agent"])
def test_each_layout_gives_the_same_wherever_one_starts_to_read(
    tmp_path: Path, write: Callable[[Path], None], recorded: set[str] | None, start: str
) -> None:
    write(tmp_path / "evaluation" / "verified" / "20250101_agent")
    put(tmp_path / "README.md", "# experiments")
    found = read_experiments([tmp_path / start])
    assert found.submissions == (
        Submission("20250101_agent", frozenset({A, B}), frozenset(recorded) if recorded else None),
    )


def test_lists_come_before_details_and_these_before_logs(tmp_path: Path) -> None:
    folder = tmp_path / "agent"
    reported(folder)
    put(folder / "per_instance_details.json", {A: {"resolved": True}})
    assert read_experiments([folder]).submissions[0].resolved == {A}
    put(folder / "results" / "results.json", {"resolved": []})
    assert read_experiments([folder]).submissions[0].resolved == frozenset()


def test_run_reports_of_the_harness_are_read_from_files_and_folders(tmp_path: Path) -> None:
    run = {"total_instances": 500, "submitted_ids": [A, B, C], "resolved_ids": [A], "unresolved_ids": [B, C]}
    file = put(tmp_path / "agent.run-1.json", {**run, "schema_version": 2})
    put(tmp_path / "other.json", {"resolved": [B]})
    put(tmp_path / "preds.json", [{"instance_id": A, "model_patch": ""}])
    put(tmp_path / "notes.json", {"by": "me"})
    one, other = read_experiments([tmp_path]).submissions
    assert one == Submission("agent.run-1", frozenset({A}), frozenset({A, B, C}))
    assert other == Submission("other", frozenset({B}))
    assert read_experiments([file]).submissions == (one,)


def test_ids_of_multi_swe_benchs_harness_are_those_of_its_data_set(tmp_path: Path) -> None:
    run = {"resolved_ids": ["fmtlib/fmt:pr-1171"], "submitted_ids": ["fmtlib/fmt:pr-1171", "nlohmann/json:pr-18"]}
    (one,) = read_experiments([put(tmp_path / "final_report.json", run)]).submissions
    assert one.resolved == {"fmtlib__fmt-1171"}
    assert one.recorded == {"fmtlib__fmt-1171", "nlohmann__json-18"}


def test_what_is_read_passes_by_place_after_place(tmp_path: Path) -> None:
    listed(tmp_path / "one")
    reported(tmp_path / "two")
    seen: list[str] = []

    def each(places: Sequence[Path]) -> Iterator[Path]:
        for place in places:
            seen.append(f"{place.name} of {len(places)}")
            yield place

    assert len(read_experiments([tmp_path], each).submissions) == 2
    assert seen == ["one of 2", "two of 2"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_permission_is_a_sentence(tmp_path: Path) -> None:
    listed(tmp_path / "agent")
    (tmp_path / "agent").chmod(0)
    with pytest.raises(EvaluationInputError, match=r"agent/.*: it cannot be read \(Permission denied\)"):
        read_experiments([tmp_path])


def test_folders_without_results_are_told(tmp_path: Path) -> None:
    listed(tmp_path / "agent")
    put(tmp_path / "empty" / "README.md", "to come")
    put(tmp_path / ".git" / "config", "")
    assert read_experiments([tmp_path]).without_results == ("empty",)


def test_the_same_name_in_two_splits_tells_the_split(tmp_path: Path) -> None:
    listed(tmp_path / "verified" / "agent")
    detailed(tmp_path / "bash-only" / "agent")
    found = read_experiments([tmp_path / "verified", tmp_path / "bash-only"])
    assert [one.name for one in found.submissions] == ["bash-only/agent", "verified/agent"]


def test_several_splits_at_once_are_refused(tmp_path: Path) -> None:
    listed(tmp_path / "evaluation" / "verified" / "agent")
    reported(tmp_path / "evaluation" / "lite" / "agent")
    with pytest.raises(
        EvaluationInputError, match=r"it holds several splits \(lite, verified\); name the folder of one"
    ):
        read_experiments([tmp_path])


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("results/results.json", "{", "results.json: it is no JSON; mend it or take it away"),
        ("results/results.json", [], "results.json: it is no JSON object"),
        (
            "results/results.json",
            {"success": True},
            "it names no solved instances (field resolved or resolved_ids or success_ids)",
        ),
        ("results/results.json", {"resolved": 396}, "its field resolved is no list of ids"),
        ("results/results.json", {"resolved": [1]}, "its field resolved is no list of ids"),
        ("results.json", {"resolved_ids": [], "submitted_ids": 3}, "its field submitted_ids is no list of ids"),
        ("per_instance_details.json", {A: {"cost": 1}}, f"it does not say whether '{A}' is resolved"),
        ("logs/x/report.json", {A: {"resolved": "yes"}}, f"it does not say whether '{A}' is resolved"),
        ("README.md", "nothing", "no results of a submission are in it"),
    ],
)
def test_what_cannot_be_read_is_a_sentence(tmp_path: Path, name: str, data: Any, message: str) -> None:
    put(tmp_path / "agent" / name, data)
    with pytest.raises(EvaluationInputError) as told:
        read_experiments([tmp_path / "agent"])
    assert message in str(told.value)


def test_a_missing_folder_and_one_named_twice_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(EvaluationInputError, match="gone: it cannot be read"):
        read_experiments([tmp_path / "gone"])
    listed(tmp_path / "agent")
    with pytest.raises(EvaluationInputError, match="agent: it is named twice"):
        read_experiments([tmp_path, tmp_path / "agent"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("f.txt", f"# flagged by hand\n{A}\n\n{B}  # too vague\n"),
        ("f.json", json.dumps([A, B])),
        ("f.json", json.dumps([{"instance_id": A, "score": 3}, {"instance_id": B}])),
        ("f.jsonl", f'{{"instance_id": "{A}"}}\n{{"instance_id": "{B}"}}\n'),
        ("f.csv", f"score,instance_id\n3,{A}\n2,{B}\n"),
    ],
)
def test_a_list_is_read_in_each_form(tmp_path: Path, name: str, text: str) -> None:
    found = read_filter_list(put(tmp_path / name, text))
    assert found == FilterList(name, frozenset({A, B}))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("f.csv", f"instance_id,filter_out\n{A},True\n{B},0\n{C},false\n"),
        (
            "f.json",
            json.dumps(
                [{"instance_id": A, "filter_out": True}, *({"instance_id": i, "filter_out": 0} for i in (B, C))]
            ),
        ),
    ],
)
def test_a_column_of_yes_or_no_tells_also_what_was_looked_at(tmp_path: Path, name: str, text: str) -> None:
    found = read_filter_list(put(tmp_path / name, text), "filter_out")
    assert found == FilterList(f"{name}: filter_out", frozenset({A}), frozenset({A, B, C}))


@pytest.mark.parametrize(
    ("name", "text", "column", "message"),
    [
        ("f.txt", "\n", None, "it names no pair"),
        ("f.json", "[", None, "it is no JSON list, and no JSON value a line"),
        ("f.json", "[1]", None, "item 1: it is no id, and no object with instance_id"),
        ("f.csv", "id\na\n", None, "its first line names no column 'instance_id'"),
        ("f.csv", "instance_id,x\na,maybe\n", "x", "f.csv, a, column x: 'maybe' is neither yes nor no"),
        ("f.csv", "instance_id,x\na,1\n", "y", "f.csv, a: it has no column 'y'"),
        ("f.txt", "a\n", "y", "f.txt, a: it has no column 'y'"),
    ],
)
def test_a_list_that_cannot_be_read_is_a_sentence(
    tmp_path: Path, name: str, text: str, column: str | None, message: str
) -> None:
    with pytest.raises(EvaluationInputError) as told:
        read_filter_list(put(tmp_path / name, text), column)
    assert message in str(told.value)
