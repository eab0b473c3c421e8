"""Pairs from files: JSON, JSONL, gzip, standard input; our own format and the paper's.

What cannot be read becomes an `InputProblem`, a sentence with file, line and field; the rest is read on.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn

from pydantic import ValidationError

from checker import patches
from checker.datasets.paper import read_record
from checker.pair import SCHEMA, Pair, read_pair

STANDARD_INPUT = "-"
_GZIP_MAGIC = b"\x1f\x8b"
_MEGABYTE = 1_000_000
_MOST_COMPLAINTS = 5
# Three times the largest of 1,376 real patches; reading a hostile one takes about as long as a person waits.
LARGEST_PATCH = 5 * _MEGABYTE
# More would not fit into memory as objects; also how far a gzip file is let unfold.
LARGEST_FILE = 2_000 * _MEGABYTE
_LONGEST_ID = 200
_SURROGATE = re.compile("[\ud800-\udfff]")
_PATCH_FIELDS = {"code_patch": "pull_request.code_patch", "test_patch": "pull_request.test_patch"}
_PAPER_PATCH_FIELDS = {"code_patch": "patch", "test_patch": "test_patch"}


@dataclass(frozen=True)
class InputProblem:
    """Why a file, or one record of it, cannot be checked."""

    where: str
    what: str

    def __str__(self) -> str:
        """One sentence for the person who can mend the input."""
        return f"{self.where}: {self.what}"


def read_files(paths: Sequence[str], only: Sequence[str] = ()) -> Iterator[Pair | InputProblem]:
    """All pairs of the files in order, or those whose ids are in `only`; each id once, problems in their place."""
    seen: dict[str, str] = {}
    for path in paths:
        for where, found in _read_file(path):
            if isinstance(found, InputProblem):
                yield found
            elif found.id in seen:
                yield InputProblem(where, f"field id: {found.id!r} stood before, at {seen[found.id]}")
            elif not only or found.id in only:
                seen[found.id] = where
                yield found
    for wanted in dict.fromkeys(only):
        if wanted not in seen:
            yield InputProblem("--id", f"no input holds {wanted!r}")


def _read_file(path: str) -> Iterator[tuple[str, Pair | InputProblem]]:
    name = "standard input" if path == STANDARD_INPUT else path
    try:
        text = _text(path)
    except FileNotFoundError:
        yield name, InputProblem(name, "there is no such file")
        return
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        yield name, InputProblem(f"{name} line {line}", f"byte {error.start} is not UTF-8; save the file as UTF-8")
        return
    except _TooLargeError:
        yield name, InputProblem(name, f"it holds more than {LARGEST_FILE // _MEGABYTE:,} MB; split it into several")
        return
    except (OSError, EOFError, zlib.error) as error:
        yield name, InputProblem(name, f"it cannot be read ({getattr(error, 'strerror', None) or error})")
        return
    if not text.strip():
        yield name, InputProblem(name, "it is empty; a pair as JSON, or one a line, was expected")
        return
    for where, record in _records(name, text):
        yield where, record if isinstance(record, InputProblem) else _pair(where, record)


def _text(path: str) -> str:
    if path == STANDARD_INPUT:
        return _decoded(sys.stdin.buffer)
    with open(path, "rb") as file:  # noqa: PTH123 - a Path would not take "-" apart from a file of that name
        return _decoded(file)


class _TooLargeError(Exception):
    """A file is larger than `LARGEST_FILE`."""


def _decoded(file: BinaryIO) -> str:
    data = _all_of(file)
    if data[:2] == _GZIP_MAGIC:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as unfolded:
            data = _all_of(unfolded)
    return data.decode("utf-8-sig")


def _all_of(file: BinaryIO | gzip.GzipFile) -> bytes:
    data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise _TooLargeError
    return data


class _NoJsonError(ValueError):
    """Why a text is no JSON, in words, and on which of its lines."""

    def __init__(self, what: str, line: int = 1) -> None:
        super().__init__(what)
        self.line = line


def _json(text: str) -> Any:
    """The JSON value of a text. Raises _NoJsonError also for what Python's reader lets pass or cannot hold."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise _NoJsonError(f"this is no JSON ({error.msg.lower()} at column {error.colno})", error.lineno) from None
    except RecursionError:
        raise _NoJsonError("it is nested too deeply to be a pair") from None
    except _NoJsonError:
        raise
    except ValueError:
        # Python reads no integers of thousands of digits (sys.set_int_max_str_digits).
        raise _NoJsonError("it holds a number with thousands of digits") from None


def _refuse(constant: str) -> NoReturn:
    raise _NoJsonError(f"{constant} is no JSON number")


def _records(name: str, text: str) -> Iterator[tuple[str, Any]]:
    """The JSON values of a text: one value, a list of them, or one a line."""
    try:
        whole = _json(text)
    except _NoJsonError as error:
        if _is_one_value(text):
            yield name, InputProblem(f"{name} line {error.line}", str(error))
        else:
            yield from _lines(name, text)
        return
    if whole == []:
        yield name, InputProblem(name, "it is an empty list; a pair as JSON, or one a line, was expected")
    elif isinstance(whole, list):
        yield from ((f"{name} entry {number}", record) for number, record in enumerate(whole, 1))
    else:
        yield name if "\n" in text.strip() else f"{name} line 1", whole


def _is_one_value(text: str) -> bool:
    """Whether a broken text was meant as one value: no line of it is an object by itself, and the first is a part."""
    first, *others = text.strip().split("\n")
    if any(line.startswith("{") and _is_object(line) for line in others):
        return False
    return not others or first.rstrip() in ("{", "[") or first.rstrip().endswith((",", "{", "["))


def _is_object(line: str) -> bool:
    try:
        return isinstance(_json(line), dict)
    except _NoJsonError:
        return False


def _lines(name: str, text: str) -> Iterator[tuple[str, Any]]:
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) > _MOST_COMPLAINTS and not any(_is_object(line) for line in lines):
        yield name, InputProblem(f"{name} line 1", "this is neither JSON nor JSON lines; no line of it is an object")
        return
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{name} line {number}"
        try:
            record = _json(line)
        except _NoJsonError as error:
            record = InputProblem(where, str(error))
        yield where, record


def _pair(where: str, record: Any) -> Pair | InputProblem:
    if not isinstance(record, dict):
        return InputProblem(where, f"a pair is a JSON object, this is a {_json_type(record)}")
    try:
        return _read_object(where, record)
    except ValidationError as error:
        return InputProblem(where, _fields(error))
    except RecursionError:
        return InputProblem(where, "it is nested too deeply to be a pair")


def _read_object(where: str, record: dict[str, Any]) -> Pair | InputProblem:
    half = _half_character(record)
    if half is not None:
        return InputProblem(where, f"field {half}: it holds half of a surrogate pair, which is no character")
    is_ours = "schema" in record or "pull_request" in record
    if is_ours and record.get("schema", SCHEMA) != SCHEMA:
        schema = _short(repr(record["schema"]))
        return InputProblem(where, f"field schema: {schema} is not known here; this version reads {SCHEMA!r}")
    pair = read_pair(record) if is_ours else read_record(record)
    return _checked(where, pair, _PATCH_FIELDS if is_ours else _PAPER_PATCH_FIELDS)


def _half_character(value: Any) -> str | None:
    """The field, as a path, that holds a lone surrogate: JSON can write one, UTF-8 and hence a report cannot."""
    if isinstance(value, str):
        return None if value.isascii() or not _SURROGATE.search(value) else ""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        if isinstance(key, str) and _half_character(key) is not None:
            return _short(repr(key))
        inner = _half_character(entry)
        if inner is not None:
            return f"{key}.{inner}" if inner else f"{key}"
    return None


def _checked(where: str, pair: Pair, fields: dict[str, str]) -> Pair | InputProblem:
    if not pair.id.strip() or len(pair.id) > _LONGEST_ID:
        name = "id" if fields is _PATCH_FIELDS else "instance_id"
        return InputProblem(where, f"field {name}: 1 to {_LONGEST_ID} characters were expected")
    for attribute, field in fields.items():
        patch: str = getattr(pair.pull_request, attribute)
        if len(patch) > LARGEST_PATCH:
            size = f"{len(patch) / _MEGABYTE:.1f} MB"
            largest = f"{LARGEST_PATCH / _MEGABYTE:.0f} MB"
            return InputProblem(where, f"field {field}: {size} are more than the {largest} a patch may have")
        parsed = patches.parse(patch)
        if parsed.unparsed and not parsed.files:
            return InputProblem(where, f"field {field}: this is no unified diff ({_short(parsed.unparsed[0])})")
    return pair


def _fields(error: ValidationError) -> str:
    problems = error.errors(include_url=False)
    first = problems[0]
    where = _short(".".join(str(part) for part in first["loc"])) or "record"
    required = [_short(".".join(map(str, p["loc"]))) for p in problems if p["type"] == "missing"]
    unknown = [_short(".".join(map(str, p["loc"]))) for p in problems if p["type"] == "unexpected_keyword_argument"]
    if required or unknown:
        said = [
            f"{kind} {', '.join(names)}" for kind, names in (("missing:", required), ("unknown:", unknown)) if names
        ]
        return f"field {(required + unknown)[0]}: {'; '.join(said)} (docs/formats.md lists all fields)"
    rest = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"field {where}: {first['msg'][:1].lower()}{first['msg'][1:]}{rest}"


def _short(text: str) -> str:
    """For a message: what is quoted there may be of any length."""
    return text if len(text) <= _LONGEST_ID else f"{text[:_LONGEST_ID]}..."


def _json_type(value: object) -> str:
    names = {list: "list", str: "string", bool: "truth value", int: "number", float: "number"}
    return names.get(type(value), "null")
