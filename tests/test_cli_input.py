"""What the command line says about input that cannot be read; what can be read is still checked."""

from __future__ import annotations

import gzip
import json
import os
import resource
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import ALIGNED, Writer, command, ids, nested, record, run, writer
from fakes import load_pair

from checker.pair import Comment, Pair, write_pair


@pytest.fixture
def written(tmp_path: Path) -> Writer:
    return writer(tmp_path)


BAD_LINES: list[tuple[Any, str]] = [
    ("{no json", "line 1: this is no JSON"),
    ('"a string"', "a pair is a JSON object, this is a string"),
    ("null", "this is a null"),
    ("7", "this is a number"),
    ("true", "this is a truth value"),
    ("[[[]]]", "entry 1: a pair is a JSON object, this is a list"),
    ("{}", "field instance_id: missing: instance_id, issue_number, problem_statement"),
    (record(schema="paichecker.pair/99"), "field schema: 'paichecker.pair/99' is not known here"),
    (record(schema=None), "field schema: None is not known here"),
    ({"pull_request": {"body": ""}, "id": "a"}, "field issues: "),
    (record(pull_request=None), "field pull_request: "),
    (record(pull_request__body=7), "field pull_request.body: input should be a valid string"),
    (record(pull_request__comments=[{"body": None}]), "field pull_request.comments.0.body: "),
    (record(pull_request__number=1.5), "field pull_request.number: "),
    (record(pull_request__number="7"), "field pull_request.number: "),
    (record(pull_request__merged_at="yesterday"), "field pull_request.merged_at: "),
    (record(pull_request__merged_at="2024-01-01T00:00:00"), "field pull_request.merged_at: input should have timezone"),
    (record(surprise=1), "field surprise: "),
    (record(**{"\x1b[2J\nfine: ALIGNED": 1}), "field \\u001b[2J fine: ALIGNED: "),
    (record(**{"k" * 1_000_000: 1}), "kkk...: "),
    (record(id=""), "field id: 1 to 200 characters"),
    (record(id="x" * 201), "field id: 1 to 200 characters"),
    (record(pull_request__code_patch="this is prose"), "field pull_request.code_patch: this is no unified diff"),
    (
        record(pull_request__test_patch="@@ -1,5 +1,5 @@\n x\n"),
        "field pull_request.test_patch: this is no unified diff",
    ),
    (record(pull_request__body="half \ud800 of it"), "field pull_request.body: it holds half of a surrogate pair"),
    (record(pull_request__comments=[{"body": "\udfff"}]), "field pull_request.comments.0.body: it holds half"),
    (json.dumps(record(pull_request__number=float("nan"))), "line 1: NaN is no JSON number"),
    (json.dumps(record(extra={"x": float("-inf")})), "line 1: -Infinity is no JSON number"),
    ('{"id": ' + "1" * 5_000 + "}", "line 1: it holds a number with thousands of digits"),
    ('{"id": ' + nested(100_000) + "}", "line 1: it is nested too deeply"),
    (f'{{"id": "a", "extra": {{"x": {nested(900)}}}, "issues": [], "pull_request": {{"body": ""}}}}', "line 1: "),
]


@pytest.mark.parametrize(("bad", "message"), BAD_LINES, ids=[message[:40] for _, message in BAD_LINES])
def test_a_bad_record_is_told_with_file_line_and_field(
    capsys: pytest.CaptureFixture[str], written: Writer, bad: Any, message: str
) -> None:
    path = written(bad)
    status, out, err = run(capsys, "check", path)
    assert (status, out) == (2, "")
    assert err.startswith(f"paichecker: {path} ")
    assert message in err
    assert err.count("\n") == 1
    assert len(err) < 700


@pytest.mark.parametrize("bad", ["{no json", '{"id": "cut", "pull_request": {', "[1, 2,", record(pull_request=[])])
def test_good_lines_around_a_bad_one_are_checked(capsys: pytest.CaptureFixture[str], written: Writer, bad: Any) -> None:
    first = run(capsys, "check", written(bad, record(id="a"), record(id="b")), "--format", "json")
    assert (first[0], ids(first[1])) == (2, ["a", "b"])
    assert "line 1: " in first[2]
    between = run(capsys, "check", written(record(id="a"), "", bad, record(id="b")), "--format", "json")
    assert (between[0], ids(between[1])) == (2, ["a", "b"])
    assert "line 3: " in between[2]


def test_a_broken_file_with_one_indented_record_is_told_once_with_its_line(
    capsys: pytest.CaptureFixture[str], written: Writer
) -> None:
    lines = json.dumps(record(), indent=2).splitlines()
    path = written(*lines[:5], "oops", *lines[5:])
    assert run(capsys, "check", path)[2].startswith(f"paichecker: {path} line 6: this is no JSON")


def test_a_repeated_id_is_told_with_the_place_where_it_stood_first(
    capsys: pytest.CaptureFixture[str], written: Writer
) -> None:
    path = written(record(id="a"), record(id="b"), record(id="a"))
    status, out, err = run(capsys, "check", path, "--format", "json")
    assert (status, ids(out)) == (2, ["a", "b"])
    assert err == f"paichecker: {path} line 3: field id: 'a' stood before, at {path} line 1\n"


def test_the_same_file_twice_is_checked_once(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "check", str(ALIGNED), str(ALIGNED), "--format", "json")
    assert (status, len(ids(out))) == (2, 1)
    assert "stood before" in err


def gzipped(data: bytes, cut: int | None = None) -> bytes:
    return gzip.compress(data, mtime=0)[:cut]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is empty"),
        (b" \n\n", "it is empty"),
        (b'{"id": "a"}\n\xff\xfe', "line 2: byte 12 is not UTF-8"),
        ('{"id": "a"}'.encode("utf-16"), "line 1: byte 0 is not UTF-8"),
        (gzipped(b"{}" * 1_000, 25), "it cannot be read"),
        (b"\x1f\x8b and no gzip", "it cannot be read"),
        (gzipped(b""), "it is empty"),
        (b"[]", "it is an empty list"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_and_the_next_one_is_checked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "broken"
    path.write_bytes(content)
    status, out, err = run(capsys, "check", str(path), str(ALIGNED), "--format", "json")
    assert (status, len(ids(out))) == (2, 1)
    assert err.startswith(f"paichecker: {path}")
    assert message in err


def test_what_is_no_readable_file_is_told_in_words(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    paths = [tmp_path / "none", tmp_path, tmp_path / "file" / "below"]
    status, _, err = run(capsys, "check", *map(str, paths))
    assert status == 2
    assert [line.rsplit(": ", 1)[1] for line in err.splitlines()] == [
        "there is no such file",
        "it cannot be read (Is a directory)",
        "it cannot be read (Not a directory)",
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_told_in_words(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("{}")
    path.chmod(0)
    assert "it cannot be read (Permission denied)" in run(capsys, "check", str(path))[2]


def test_a_patch_of_fifty_megabytes_is_refused_in_words(capsys: pytest.CaptureFixture[str], written: Writer) -> None:
    path = written(record(pull_request__code_patch="+" * 50_000_000))
    status, _, err = run(capsys, "check", path)
    assert status == 2
    assert "line 1: field pull_request.code_patch: 50.0 MB are more than the " in err


def test_other_texts_of_sixty_megabytes_are_refused_in_words(
    capsys: pytest.CaptureFixture[str], written: Writer
) -> None:
    half = "+" * 30_000_000
    path = written(record(pull_request__body=half, pull_request__comments=[{"body": half + "!"}]))
    status, _, err = run(capsys, "check", path)
    assert status == 2
    assert "line 1: its texts, the pull request's conversation most: 60.0 MB are more than the 5 MB they may" in err


@pytest.mark.parametrize("field", ["code_patch", "test_patch"])
def test_a_patch_whose_hunk_announces_other_lines_is_told_and_costs_no_record(
    field: str, capsys: pytest.CaptureFixture[str], written: Writer
) -> None:
    broken = {f"pull_request__{field}": "--- a/x.py\n+++ b/x.py\n@@ -1,5 +1,5 @@\n-x\n+y\n"}
    status, out, _ = run(capsys, "check", written(record(**broken)), "--backend", "rules", "--format", "json")
    report = json.loads(out)
    assert (status, report["verdict"]) == (3, "undetermined")
    (remark,) = [remark for remark in report["remarks"] if "was not read" in remark]
    assert "no unified diff and was not read: --- a/x.py: Hunk is shorter than expected" in remark


def with_comments(count: int) -> Pair:
    pair = load_pair("aligned")
    said = tuple(Comment(f"Comment {n}: which version do you use? Also fixes #{n}.", f"user{n}") for n in range(count))
    issue = replace(pair.issues[0], comments=said[::2])
    return replace(pair, issues=(issue,), pull_request=replace(pair.pull_request, comments=said[1::2]))


def test_ten_thousand_comments_are_read_within_a_few_seconds_of_processor_time(
    capsys: pytest.CaptureFixture[str], written: Writer
) -> None:
    # Not a timed assertion: a limit far above what it takes, which only a quadratic reading would reach.
    path = written(write_pair(with_comments(10_000)))
    done = command(
        "check", path, "--format", "json", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
    )
    assert done.returncode in (0, 1, 3), done.stderr.decode()
    assert len(ids(done.stdout.decode())) == 1


@pytest.mark.parametrize("number", [-1, 0, 10**30, int("9" * 4_000)])
def test_any_whole_number_is_a_number(capsys: pytest.CaptureFixture[str], written: Writer, number: int) -> None:
    assert run(capsys, "check", written(record(pull_request__number=number)))[0] in (0, 1, 3)
