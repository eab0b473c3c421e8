"""Every data set's columns become a pair; what a data set lacks is unread, and can be completed from GitHub."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from conftest import Serve
from github_answers import LINKED_ID, REPOSITORY, answer

from checker.datasets.files import InputProblem, read_files, read_ids
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
POLYBENCH = {**SWE_BENCH, "language": "Java", "Dockerfile": "FROM x\n" * 100, "F2P": "['t']", "P2P": "[]"}
LIVE = {**SWE_BENCH, "pull_number": "9", "issue_numbers": ["7", "8"], "all_hints_text": "Later", "commit_urls": ["u"]}
SWE_FAMILY = {
    "SWE-bench": SWE_BENCH,
    "SWE-Gym": {key: value for key, value in SWE_GYM.items() if key != "environment_setup_commit"},
    "SWE-rebench": SWE_REBENCH,
    "SWE-PolyBench": POLYBENCH,
    "SWE-bench-Live": LIVE,
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
    assert pair.extra["beside"]["version"] == "3.1"
    assert "PASS_TO_PASS" not in pair.extra["beside"]
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


@pytest.mark.parametrize("time", [None, "soon", 1_700_000_000, ""])
def test_a_time_of_no_known_form_is_unknown(time: Any, tmp_path: Path) -> None:
    assert one(tmp_path, {**SWE_BENCH, "created_at": time}).pull_request.created_at is None


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
