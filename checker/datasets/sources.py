"""Where records come from: a file (JSON or JSON lines, gzipped or not, Parquet, CSV), standard input, or the Hub.

Records come one by one and are not judged here; memory does not grow with a file of lines or of Parquet.
"""

from __future__ import annotations

import csv
import gzip
import io
import logging
import math
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, BinaryIO

from checker.datasets.json_text import json_records
from checker.datasets.problem import InputProblem
from checker.extras import advice

STANDARD_INPUT = "-"
_GZIP_MAGIC, _PARQUET_MAGIC, _LFS_POINTER = b"\x1f\x8b", b"PAR1", b"version https://git-lfs"
# Rows of some data sets hold a hundred thousand characters of test names; so many are held at once.
_ROWS_AT_ONCE = 16
# Python's own limit, 131,072 characters, is less than many a patch has.
_LONGEST_FIELD = 100_000_000
_HUB_NAME = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)(?::(?P<split>[\w.-]+))?", re.ASCII)
_FILE_ENDS = (".json", ".jsonl", ".gz", ".parquet", ".csv", ".txt")

Found = tuple[str, Any]
"""Where a record stands, and the record or an InputProblem."""


def records(source: str) -> Iterator[Found]:
    """The records of a path, `-`, or a Hugging Face data set (`org/name`, `org/name:split`)."""
    name = "standard input" if source == STANDARD_INPUT else source
    is_empty = True
    try:
        for found in _records(source, name):
            is_empty = False
            yield found
    except (OSError, EOFError, zlib.error) as error:
        is_empty = False
        yield name, InputProblem(name, f"it cannot be read ({getattr(error, 'strerror', None) or error})")
    if is_empty:
        yield name, InputProblem(name, "it holds no record")


def _records(source: str, name: str) -> Iterator[Found]:
    if source == STANDARD_INPUT:
        yield from _opened(name, io.BufferedReader(io.BytesIO(sys.stdin.buffer.read())))
        return
    if not Path(source).exists() and is_hub_name(source):
        yield from _hub(source)
        return
    try:
        file = Path(source).open("rb")  # noqa: SIM115 - closed below; a `with` would take in what the consumer raises
    except FileNotFoundError:
        yield name, InputProblem(name, "there is no such file")
        return
    with file:
        yield from _opened(name, file)


def is_hub_name(source: str) -> bool:
    """Whether a source that is no file has the form of a data set's name on the Hugging Face Hub."""
    return bool(_HUB_NAME.fullmatch(source)) and not source.lower().endswith(_FILE_ENDS) and source[0] != "."


def _opened(name: str, file: io.BufferedReader) -> Iterator[Found]:
    begun = file.peek(len(_LFS_POINTER))
    if begun.startswith(_PARQUET_MAGIC):
        yield from _parquet(name, file)
    elif begun.startswith(_LFS_POINTER):
        yield name, InputProblem(name, "it is a pointer of Git LFS and not the data; fetch these with git lfs pull")
    elif begun.startswith(_GZIP_MAGIC):
        with gzip.GzipFile(fileobj=file) as unfolded:
            yield from _text(name, unfolded)  # type: ignore[arg-type]  # a GzipFile reads as a BinaryIO does
    else:
        yield from _text(name, file)


def _text(name: str, file: BinaryIO) -> Iterator[Found]:
    is_csv = name.lower().removesuffix(".gz").endswith(".csv")
    yield from _csv(name, file) if is_csv else json_records(name, file)


def _parquet(name: str, file: BinaryIO) -> Iterator[Found]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        yield name, InputProblem(name, f"a Parquet file wants pyarrow: {advice('parquet')}")
        return
    number = 0
    try:
        # Buffered ahead, the whole file would be held.
        with pyarrow.parquet.ParquetFile(file, pre_buffer=False) as table:
            for batch in table.iter_batches(batch_size=_ROWS_AT_ONCE):
                for row in batch.to_pylist():
                    record = _plain(row)
                    number += 1
                    yield f"{name} row {number}", record
    except (pyarrow.ArrowException, ValueError, OverflowError) as error:
        yield name, InputProblem(name, f"it cannot be read as Parquet after row {number} ({_shown(error)})")


def _csv(name: str, file: BinaryIO) -> Iterator[Found]:
    """A table with a head of column names, as SWE-PolyBench is published.

    CSV does not tell an empty text from a missing one, so an empty field is null, as the Hub's own reader has it.
    """
    csv.field_size_limit(_LONGEST_FIELD)
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    rows = csv.DictReader(text, strict=True)
    try:
        if twice := next((column for column, times in Counter(rows.fieldnames).items() if times > 1), None):
            yield name, InputProblem(name, f"its head names the column {twice[:40]!r} twice")
            return
        for number, row in enumerate(rows, 1):
            where = f"{name} row {number}"
            if None in row or None in row.values():
                yield where, InputProblem(where, f"it has not as many fields as the head has columns ({len(row)})")
            else:
                yield where, {column: field or None for column, field in row.items()}
    except (csv.Error, UnicodeDecodeError) as error:
        where = f"{name} line {rows.line_num + 1}"
        yield where, InputProblem(where, f"it cannot be read as CSV in UTF-8 ({str(error)[:200]})")
    finally:
        text.detach()  # the file is closed by whoever opened it


def _plain(value: Any) -> Any:
    """A value of a table as JSON has it. Times without a zone are GitHub's own, hence UTC; NaN is pandas' null.

    Raises UnicodeDecodeError for bytes that are no text.
    """
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, bool, int, float)) or value is None else str(value)


def _hub(source: str) -> Iterator[Found]:
    match = _HUB_NAME.fullmatch(source)
    assert match is not None  # noqa: S101 - `is_hub_name` said so
    loaded = _load(source, match["name"], match["split"])
    if isinstance(loaded, InputProblem):
        yield source, loaded
        return
    number = 0
    try:
        for row in loaded:
            record = _plain(row)
            number += 1
            yield f"{source} row {number}", record
    except (ValueError, OverflowError) as error:
        yield source, InputProblem(source, f"it cannot be read after row {number} ({_shown(error)})")


def _load(source: str, name: str, split: str | None) -> Iterable[Mapping[str, Any]] | InputProblem:
    """The rows, from the Hub or its cache on this machine, where they lie memory-mapped.

    RuntimeError is how `datasets` refuses a data set that is a script; it asks the Hub through `httpx2`.
    """
    import httpx2

    try:
        import datasets
        from datasets.exceptions import DatasetGenerationError, DatasetsError
        from datasets.inspect import SplitsNotFoundError
    except ImportError:
        return InputProblem(
            source,
            f"there is no such file; a data set of that name on the Hugging Face Hub wants `datasets`: {advice('hub')}",
        )
    _keep_quiet()
    try:
        # Asked first: without a split all of them would be fetched.
        splits = [split] if split else datasets.get_dataset_split_names(name)
        if len(splits) == 1:
            loaded: Iterable[Mapping[str, Any]] = datasets.load_dataset(name, split=splits[0])
            return loaded
    except (DatasetGenerationError, SplitsNotFoundError) as error:
        # They say nothing of what they come from.
        return InputProblem(source, _not_loaded(error.__cause__ or error))
    except (OSError, ValueError, RuntimeError, DatasetsError, httpx2.HTTPError) as error:
        return InputProblem(source, _not_loaded(error))
    names = ", ".join(f"{name}:{one}" for one in splits)
    return InputProblem(source, f"it has several splits; name one: {names}")


def _keep_quiet() -> None:
    """What the libraries log is said in one sentence, and their bars are for people."""
    import datasets
    import huggingface_hub.utils as hub

    for library in (datasets.utils, hub):
        library.logging.set_verbosity(logging.CRITICAL)
        if not sys.stderr.isatty():
            library.disable_progress_bars()


def _not_loaded(error: BaseException) -> str:
    return (
        f"there is no such file, and as a data set of the Hugging Face Hub it could not be read ({_shown(error)}); "
        "check its name, its split and the network, or name a file"
    )


def _shown(error: BaseException) -> str:
    """What a library says, short enough for a sentence."""
    return " ".join(str(error).split())[:200] or type(error).__name__
