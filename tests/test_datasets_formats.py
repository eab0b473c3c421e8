"""Every data set's columns become a pair; what a data set lacks is unread, and can be completed from GitHub."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from conftest import Serve
from github_answers import LINKED_ID, REPOSITORY, answer

from checker.datasets.files import InputProblem, read_files, read_ids
from checker.datasets.paper import FIELDS
from checker.pair import Pair, read_pair, write_pair
from checker.taxonomy import Artifact

CODE = "diff --git a/src/a.py b/src/a.py\n--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-a\n+b\n"
TEST = "diff --git a/tests/a.py b/tests/a.py\n--- a/tests/a.py\n+++ b/tests/a.py\n@@ -1 +1 @@\n-a\n+b\n"

SWE_BENCH: dict[str, Any] = {
    "repo": "ann/tool",
    "instance_id": "ann__tool-9",
    "base_commit": "b" * 40,
    "patch": CODE,
    "test_patch": TEST,
    "problem_statement": "It fails\nOn empty input.",
    "hints_text": "Which version?\n3.1",
    "created_at": "2023-04-05T06:07:08Z",
    "version": "3.1",
    "FAIL_TO_PASS": '["tests/a.py::test"]',
    "PASS_TO_PASS": json.dumps([f"tests/a.py::test_{n}" for n in range(500)]),
    "environment_setup_commit": "e" * 40,
}
SWE_GYM = {**SWE_BENCH, "FAIL_TO_PASS": ["t"], "PASS_TO_PASS": ["u"], "created_at": "2023-04-05 06:07:08"}
SWE_REBENCH = {**SWE_GYM, "install_config": {"python": "3.9"}, "meta": {"is_lite": True}, "license_name": "MIT"}
_SHARED = ("repo", "instance_id", "base_commit", "patch", "test_patch", "problem_statement", "hints_text", "created_at")
# Lists are Python's in F2P, P2P and F2F and JSON's in modified_nodes, as the publisher's evaluation reads them.
POLYBENCH = {
    **{column: SWE_BENCH[column] for column in _SHARED},
    "pull_number": 9,
    "created_at": "2023-04-05 06:07:08+00:00",
    "language": "Java",
    "Dockerfile": "FROM x\n" * 100,
    "F2P": "['t']",
    "P2P": "[]",
    "F2F": "[]",
    "test_command": "mvn test",
    "task_category": "Bug Fix",
    "is_no_nodes": False,
    "is_single_func": True,
    "num_func_changes": 1,
    "modified_nodes": '["src/a.py->program->f"]',
}
# The published script makes texts of the numbers.
LIVE = {
    **{column: SWE_BENCH[column] for column in _SHARED},
    "pull_number": "9",
    "issue_numbers": ["7", "8"],
    "all_hints_text": "Later",
    "commit_urls": ["u"],
    "commit_url": "u",
    "rebuild_cmds": ["make"],
    "test_cmds": ["pytest"],
    "print_cmds": ["cat out"],
    "log_parser": "pytest",
    "FAIL_TO_PASS": ["t"],
    "PASS_TO_PASS": ["u"],
    "docker_image": "image",
    "difficulty": {"files": 1, "hunks": 1, "lines": 2},
}
# SWE-rebench's earlier set has whole numbers for versions.
SWE_BENCH_EXTRA = {**SWE_GYM, "version": 3, "meta": {"has_test_patch": True, "is_lite": True}, "license": "MIT"}
SWE_FAMILY = {
    "SWE-bench": SWE_BENCH,
    "SWE-Gym": {key: value for key, value in SWE_GYM.items() if key != "environment_setup_commit"},
    "SWE-rebench": SWE_REBENCH,
    "SWE-PolyBench": POLYBENCH,
    "SWE-bench-Live": LIVE,
    "SWE-bench-extra": SWE_BENCH_EXTRA,
}
MULTI: dict[str, Any] = {
    "org": "ann",
    "repo": "tool",
    "number": 9,
    "state": "closed",
    "title": "Mend it",
    "body": None,
    "base": {"label": "ann:main", "ref": "main", "sha": "b" * 40},
    "resolved_issues": [{"number": 7, "title": "It fails", "body": "On empty input."}],
    "fix_patch": CODE,
    "test_patch": TEST,
    "fixed_tests": {"t": {"run": "FAIL", "fix": "PASS"}},
}
_ABSENT = {
    Artifact.ISSUE_TIMELINE,
    Artifact.PR_COMMENTS,
    Artifact.PR_REVIEWS,
    Artifact.PR_COMMITS,
    Artifact.PR_TIMELINE,
    Artifact.MERGE_REFERENCES,
}


def read(folder: Path, *records: Any) -> list[Pair | InputProblem]:
    path = folder / "records.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return list(read_files([str(path)]))


def one(folder: Path, record: Any) -> Pair:
    (found,) = read(folder, record)
    assert isinstance(found, Pair), found
    return found


def problem(folder: Path, record: Any) -> str:
    (found,) = read(folder, record)
    assert isinstance(found, InputProblem)
    return found.what


@pytest.mark.parametrize("record", SWE_FAMILY.values(), ids=SWE_FAMILY.keys())
def test_the_swe_bench_family_is_read(record: dict[str, Any], tmp_path: Path) -> None:
    pair = one(tmp_path, record)
    pr = pair.pull_request
    assert (pair.id, pair.repository, pr.number) == ("ann__tool-9", "ann/tool", 9)
    assert (pr.base_sha, pr.code_patch, pr.test_patch) == ("b" * 40, CODE, TEST)
    assert pr.created_at is not None
    assert pr.created_at.isoformat() == "2023-04-05T06:07:08+00:00"
    assert pair.request == "It fails\nOn empty input."
    assert pair.issues[0].comments[0].body == "Which version?\n3.1"
    assert set(pair.unread) == _ABSENT | {Artifact.PR_DESCRIPTION}
    assert pair.partial == (Artifact.ISSUE_DISCUSSION,), "hints end at the first commit"
    assert pair.extra["beside"].get("version") == record.get("version")
    assert not pair.extra["beside"].keys() & {"PASS_TO_PASS", "Dockerfile"}
    assert pair.remarks == ()
    assert pickle.loads(pickle.dumps(pair)) == pair, "an audit's processes get pairs from the one that reads"
    assert read_pair(json.loads(json.dumps(write_pair(pair)))) == pair


def test_an_issues_number_is_known_only_where_the_data_set_gives_it(tmp_path: Path) -> None:
    assert one(tmp_path, SWE_BENCH).issue_numbers == ()
    live = one(tmp_path, LIVE)
    assert live.issue_numbers == (7, 8)
    assert live.issues[1].body == ""


def test_multi_swe_bench_holds_the_pull_requests_text_and_each_issue(tmp_path: Path) -> None:
    pair = one(tmp_path, MULTI)
    assert (pair.id, pair.repository, pair.pull_request.number) == ("ann__tool-9", "ann/tool", 9)
    assert (pair.pull_request.title, pair.pull_request.body) == ("Mend it", "")
    assert [(i.number, i.title, i.body) for i in pair.issues] == [(7, "It fails", "On empty input.")]
    assert set(pair.unread) == _ABSENT | {Artifact.ISSUE_DISCUSSION}
    assert pair.partial == ()


@pytest.mark.parametrize(
    ("column", "artifact"),
    [
        ("problem_statement", Artifact.ISSUE_DESCRIPTION),
        ("hints_text", Artifact.ISSUE_DISCUSSION),
        ("patch", Artifact.CODE_PATCH),
        ("test_patch", Artifact.TEST_PATCH),
    ],
)
def test_a_null_is_unread_and_an_empty_text_is_not(column: str, artifact: Artifact, tmp_path: Path) -> None:
    assert artifact in one(tmp_path, {**SWE_BENCH, column: None}).unread
    empty = one(tmp_path, {**SWE_BENCH, column: ""})
    # But an issue has a title at least: an empty statement is one that was not read.
    assert (artifact in empty.unread) is (column == "problem_statement")


def test_columns_that_may_be_left_out_are_unread(tmp_path: Path) -> None:
    short = {key: SWE_BENCH[key] for key in ("instance_id", "repo", "problem_statement", "patch")}
    assert {Artifact.TEST_PATCH, Artifact.ISSUE_DISCUSSION} <= set(one(tmp_path, short).unread)


@pytest.mark.parametrize(("time", "quoted"), [("soon", "'soon'"), (1_700_000_000, "1700000000"), (None, ""), ("", "")])
def test_a_time_of_no_known_form_is_unknown_and_told(time: Any, quoted: str, tmp_path: Path) -> None:
    pair = one(tmp_path, {**SWE_BENCH, "created_at": time})
    assert pair.pull_request.created_at is None
    said = f"When the pull request was opened is unknown: created_at is no time in ISO 8601 ({quoted})."
    assert pair.remarks == ((said,) if quoted else ())


PAPER = {"instance_id": "x", "_missing": [field for field in FIELDS if field != "problem_statement"]}


@pytest.mark.parametrize(
    ("record", "number"),
    [
        ({**SWE_BENCH, "instance_id": "tool-nine"}, None),
        ({**LIVE, "pull_number": "nine"}, None),
        ({**LIVE, "pull_number": 10.0}, 10),
        ({**POLYBENCH, "pull_number": "10.0"}, 10),
        ({**PAPER, "problem_statement": "It fails"}, None),
        ({**PAPER, "problem_statement": "It fails", "instance_id": "ann__tool-10"}, 10),
    ],
)
def test_a_missing_number_of_the_pull_request_is_told_in_the_report(
    record: dict[str, Any], number: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pair = one(tmp_path, record)
    assert pair.pull_request.number == number
    out = run(capsys, "check", str(tmp_path / "records.jsonl"), "--backend", "rules", "--format", "json")[1]
    told = [
        remark for remark in json.loads(out)["remarks"] if remark.startswith("The pull request's number is unknown")
    ]
    assert len(told) == (number is None)


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"a": 1, "b": 2}, "no format has its columns, a, b; known are PAIChecker's own (id, issues, pull_request)"),
        ({f"c{n}": n for n in range(50)}, "c11, ...; known are"),
        ({**SWE_BENCH, "repo": "no repository"}, "field repo: "),
        ({**SWE_BENCH, "patch": 7}, "field patch: "),
        ({**SWE_BENCH, "patch": "prose"}, "field patch: this is no unified diff"),
        ({key: value for key, value in SWE_BENCH.items() if key != "patch"}, "field patch: missing: patch"),
        ({**MULTI, "org": "a/b"}, "field org: "),
        ({**MULTI, "resolved_issues": ["7"]}, "field resolved_issues.0: "),
        ({**MULTI, "fix_patch": "prose"}, "field fix_patch: this is no unified diff"),
        ({**MULTI, "number": "9"}, "field number: "),
        ({**MULTI, "number": -9}, "field number: input should be greater than or equal to 1"),
        ({**SWE_BENCH, "hints_text": "half \ud800"}, "field hints_text: it holds half of a surrogate pair"),
    ],
)
def test_what_fits_no_format_or_breaks_one_is_a_sentence(record: dict[str, Any], said: str, tmp_path: Path) -> None:
    assert said in problem(tmp_path, record)


def test_a_strangers_columns_are_told_on_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "odd.json"
    path.write_text(json.dumps({"\x1b[2J\nfine": 1, "k" * 1_000: 2}), encoding="utf-8")
    status, _, err = run(capsys, "check", str(path))
    assert (status, err.count("\n")) == (2, 1)
    assert "\x1b" not in err


def test_ids_and_repositories_are_read_without_the_rest(tmp_path: Path) -> None:
    ours = write_pair(one(tmp_path, SWE_BENCH))
    other = {**MULTI, "number": 10, "fix_patch": "broken"}
    read(tmp_path, {**ours, "id": "mine"}, {**SWE_BENCH, "instance_id": "ann__tool-3"}, other, {"x": 1}, 7)
    found = list(read_ids(str(tmp_path / "records.jsonl")))
    assert found == [("mine", "ann/tool"), ("ann__tool-3", "ann/tool"), ("ann__tool-10", "ann/tool")]


def test_a_file_of_lines_is_read_one_by_one(tmp_path: Path) -> None:
    """The first pair is there before the last line is read: a broken end does not take the beginning with it."""
    path = tmp_path / "records.jsonl"
    path.write_bytes(json.dumps(SWE_BENCH).encode() + b"\n\xff\n")
    first, second = read_files([str(path)])
    assert isinstance(first, Pair)
    assert isinstance(second, InputProblem)
    assert second.what.startswith(f"byte {len(json.dumps(SWE_BENCH)) + 1} is not UTF-8")


@pytest.mark.parametrize("form", ["pair", "paper"])
def test_a_pair_of_swe_bench_is_completed_from_github(
    form: str, serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    serve(answer)
    source, target = tmp_path / "rows.jsonl", tmp_path / "whole.jsonl"
    row = {**SWE_BENCH, "instance_id": LINKED_ID, "repo": REPOSITORY}
    source.write_text(json.dumps(row), encoding="utf-8")
    status, _, _ = run(capsys, "collect", "--complete", str(source), "-o", str(target), "--format", form)
    assert status == 0
    (pair,) = read_files([str(target)])
    assert isinstance(pair, Pair)
    assert pair.request == row["problem_statement"], "what the data set says stays"
    assert pair.pull_request.code_patch == CODE
    assert pair.pull_request.title
    assert pair.pull_request.commits
    assert pair.partial == ()
    assert set(pair.unread) <= {Artifact.MERGE_REFERENCES}, "which the paper's format has no field for"
    assert pair.extra["beside"]["version"] == "3.1"
