"""Records come from Parquet files and the Hugging Face Hub as from JSON; what is in the way is a sentence."""

from __future__ import annotations

import csv
import gzip
import importlib.util
import io
import json
import sys
import tracemalloc
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from test_datasets_formats import CODE, LIVE, MULTI, POLYBENCH, SWE_BENCH, SWE_GYM

from checker.datasets.files import InputProblem, read_files
from checker.datasets.sources import is_hub_name, records
from checker.pair import Pair


def parquet(folder: Path, rows: list[dict[str, Any]], **options: Any) -> str:
    path = folder / "data.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path, **options)
    return str(path)


def found(source: str) -> list[Pair | InputProblem]:
    return list(read_files([source]))


def without_place(pair: Pair | InputProblem) -> Pair:
    assert isinstance(pair, Pair), pair
    return pair


@pytest.mark.parametrize(
    "row",
    [SWE_BENCH, SWE_GYM, LIVE, POLYBENCH, MULTI],
    ids=["SWE-bench", "SWE-Gym", "Live", "PolyBench", "Multi"],
)
def test_a_row_of_parquet_is_the_same_pair_as_its_json(row: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "row.json"
    path.write_text(json.dumps(row), encoding="utf-8")
    assert found(parquet(tmp_path, [row])) == found(str(path))


def table(folder: Path, text: str) -> str:
    path = folder / "data.csv"
    path.write_text(text, encoding="utf-8", newline="")
    return str(path)


def test_a_row_of_csv_is_the_same_pair_as_its_json_and_an_empty_field_is_null(tmp_path: Path) -> None:
    row = {column: str(value) for column, value in POLYBENCH.items()}
    row |= {"problem_statement": 'One,\n"two"\r\nthree ' + "x" * 200_000, "hints_text": ""}
    path = tmp_path / "row.json"
    path.write_text(json.dumps({**row, "hints_text": None}), encoding="utf-8")
    text = io.StringIO()
    writer = csv.DictWriter(text, list(row))
    writer.writeheader()
    writer.writerow(row)
    assert found(table(tmp_path, "\ufeff" + text.getvalue())) == found(str(path))


@pytest.mark.parametrize(
    ("text", "where", "said"),
    [
        ("instance_id,repo\n1,2,3\n", "row 1", "not as many fields as the head has columns"),
        ("instance_id,repo\n1\n", "row 1", "not as many fields as the head has columns"),
        ('instance_id,repo\n"a"b,2\n', "line 2", "it cannot be read as CSV"),
        ("a,b\n1,2\n", "row 1", "no format has its columns, a, b"),
        ("repo,b,repo\n1,2,3\n", "data.csv", "its head names the column 'repo' twice"),
        ("", "data.csv", "it holds no record"),
        ("instance_id,repo\n", "data.csv", "it holds no record"),
    ],
)
def test_a_broken_csv_file_is_a_sentence(text: str, where: str, said: str, tmp_path: Path) -> None:
    (problem,) = found(table(tmp_path, text))
    assert isinstance(problem, InputProblem)
    assert said in problem.what
    assert problem.where.endswith(where)


def test_a_folded_csv_file_is_read_as_it_is_unfolded(tmp_path: Path) -> None:
    text = "instance_id,repo,patch,problem_statement\nann__tool-9,ann/tool,,It fails\n"
    plain = found(table(tmp_path, text))
    folded = tmp_path / "data.csv.gz"
    folded.write_bytes(gzip.compress(text.encode()))
    assert without_place(plain[0]).request == "It fails"
    assert found(str(folded)) == plain
    folded.write_bytes(gzip.compress(text.encode())[:-9])
    assert "it cannot be read (Compressed file ended" in str(found(str(folded))[-1])


def test_a_pointer_in_place_of_the_data_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "train.parquet"
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n")
    (said,) = found(str(path))
    assert str(said).endswith("it is a pointer of Git LFS and not the data; fetch these with git lfs pull")


def test_a_table_without_rows_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([SWE_BENCH]).slice(0, 0), path)
    assert [str(said) for said in found(str(path))] == [f"{path}: it holds no record"]


def test_times_and_nulls_of_a_table_are_read(tmp_path: Path) -> None:
    row = {**SWE_BENCH, "created_at": datetime(2023, 4, 5, 6, 7, 8), "hints_text": None}  # noqa: DTZ001 - as some have it
    (pair,) = found(parquet(tmp_path, [row, {**row, "instance_id": "x", "hints_text": "said"}]))[:1]
    assert without_place(pair).pull_request.created_at is not None
    assert without_place(pair).issues[0].comments == ()


def test_a_table_of_other_types_is_the_same_pair(tmp_path: Path) -> None:
    """As pandas, Polars and Spark write them: nulls that are NaN, decimals, bytes, categories, nanoseconds."""
    row = {**LIVE, "version": None}
    plain = pyarrow.Table.from_pylist([row])
    (expected,) = found(parquet(tmp_path, [row]))
    opened = datetime(2023, 4, 5, 6, 7, 8, tzinfo=UTC)
    for column, value in {
        "pull_number": pyarrow.array([9.0]),
        "issue_numbers": pyarrow.array([[7.0, 8.0]]),
        "instance_id": pyarrow.array([LIVE["instance_id"]]).dictionary_encode(),
        "repo": pyarrow.array([LIVE["repo"].encode()]),
        "problem_statement": pyarrow.array([LIVE["problem_statement"]], pyarrow.large_string()),
        "created_at": pyarrow.array([opened], pyarrow.timestamp("ns", "UTC")),
        "version": pyarrow.array([float("nan")]),
    }.items():
        path = tmp_path / f"{column}.parquet"
        pyarrow.parquet.write_table(plain.set_column(plain.column_names.index(column), column, value), path)
        (pair,) = map(without_place, found(str(path)))
        assert replace(pair, extra={}) == replace(without_place(expected), extra={}), column
        assert json.dumps(pair.extra, allow_nan=False), column
    decimal = plain.set_column(plain.column_names.index("version"), "version", pyarrow.array([Decimal("3.1")]))
    pyarrow.parquet.write_table(decimal, tmp_path / "decimal.parquet")
    (pair,) = found(str(tmp_path / "decimal.parquet"))
    assert without_place(pair).extra["beside"]["version"] == "3.1"


@pytest.mark.parametrize(
    "value",
    [
        pyarrow.array([1_680_674_828_123_456_789], pyarrow.timestamp("ns", "UTC")),
        pyarrow.array([2**62], pyarrow.timestamp("us", "UTC")),
        pyarrow.array([b"\xff\xfe"]),
    ],
    ids=["nanoseconds", "no year", "no text"],
)
def test_a_value_that_python_cannot_hold_is_a_sentence(value: pyarrow.Array, tmp_path: Path) -> None:
    if importlib.util.find_spec("pandas") and value.type == pyarrow.timestamp("ns", "UTC"):
        pytest.skip("with pandas nanoseconds can be held")
    path = tmp_path / "data.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([SWE_BENCH]).append_column("x", value), path)
    (said,) = found(str(path))
    assert isinstance(said, InputProblem)
    assert "it cannot be read as Parquet after row 0" in said.what


def test_a_bad_row_is_told_with_its_number_and_the_rest_is_read(tmp_path: Path) -> None:
    rows = [{**SWE_BENCH, "instance_id": f"ann__tool-{n}", "patch": CODE if n != 2 else "prose"} for n in (1, 2, 3)]
    source = parquet(tmp_path, rows)
    first, second, third = found(source)
    assert isinstance(second, InputProblem)
    assert second.where == f"{source} row 2"
    assert (without_place(first).id, without_place(third).id) == ("ann__tool-1", "ann__tool-3")


@pytest.mark.parametrize("cut", [4, 100, 1_000])
def test_a_broken_parquet_file_is_a_sentence(cut: int, tmp_path: Path) -> None:
    source = parquet(tmp_path, [SWE_BENCH] * 50)
    data = Path(source).read_bytes()
    Path(source).write_bytes(data[:cut])
    (said,) = found(source)
    assert isinstance(said, InputProblem)
    assert "it cannot be read as Parquet after row 0" in said.what


def test_without_pyarrow_the_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = parquet(tmp_path, [SWE_BENCH])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (said,) = found(source)
    assert str(said).endswith("pip install -c constraints.txt '.[parquet]' in a checkout")


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_memory_does_not_grow_with_the_file(form: str, tmp_path: Path) -> None:
    def most(count: int) -> int:
        rows = [{**SWE_BENCH, "instance_id": f"a__b-{n}", "hints_text": f"{n:04} " * 20_000} for n in range(count)]
        if form == "parquet":
            # Statistics would put two of the long texts of each group into the footer, which is read as a whole.
            source = parquet(tmp_path, rows, row_group_size=16, write_statistics=False)
        else:
            source = str(tmp_path / "data.jsonl")
            Path(source).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        del rows
        tracemalloc.start()
        assert sum(1 for _ in records(source)) == count
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return peak

    most(16)  # what is loaded once
    assert most(640) < 1.5 * most(80)


@pytest.mark.parametrize(
    ("source", "is_name"),
    [
        ("princeton-nlp/SWE-bench_Lite", True),
        ("princeton-nlp/SWE-bench_Lite:test", True),
        ("data/pairs.jsonl", False),
        ("data/pairs.json.gz", False),
        ("data/pairs.PARQUET", False),
        ("./data/pairs", False),
        ("../pairs", False),
        ("/data/pairs", False),
        ("a/b/c", False),
        ("pairs", False),
    ],
)
def test_a_name_on_the_hub_is_told_from_a_path(source: str, is_name: bool) -> None:
    assert is_hub_name(source) is is_name


def test_a_file_of_that_name_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ann").mkdir()
    Path("ann/tool").write_text(json.dumps(SWE_BENCH), encoding="utf-8")
    assert isinstance(found("ann/tool")[0], Pair)


def test_without_datasets_the_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    (said,) = found("ann/no-such-set:test")
    assert "there is no such file; a data set of that name" in str(said)
    assert "pip install -c constraints.txt '.[hub]' in a checkout" in str(said)
