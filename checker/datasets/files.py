"""Pairs from records of every known format: our own, the paper's, and those of SWE-bench-like data sets.

What cannot be read becomes an `InputProblem`, a sentence with file, line and field; the rest is read on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from checker import patches
from checker.datasets import multi_swe_bench, paper, swe_bench
from checker.datasets.columns import instance
from checker.datasets.problem import InputProblem as InputProblem
from checker.datasets.sources import records
from checker.pair import SCHEMA, Pair, pair_id, read_pair
from checker.taxonomy import Artifact

_MEGABYTE = 1_000_000
# For each patch, and for all other texts together. Three times the largest of 1,376 real patches; reading a hostile
# one takes about as long as a person waits.
LARGEST_TEXT = 5 * _MEGABYTE
_LONGEST_ID = 200
_MOST_COLUMNS = 12
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Format:
    """A format of records: how it is read, by which columns it is known, and what it calls the id and the patches."""

    name: str
    columns: tuple[str, ...]
    read: Callable[[Mapping[str, Any]], Pair]
    id: str = "instance_id"
    code_patch: str = "patch"
    test_patch: str = "test_patch"


OURS = Format(
    "PAIChecker's own",
    ("id", "issues", "pull_request"),
    read_pair,
    id="id",
    code_patch="pull_request.code_patch",
    test_patch="pull_request.test_patch",
)
PAPER = Format("the paper's", ("instance_id", "issue_number", "pr_description"), paper.read_record)
SWE_BENCH = Format("SWE-bench's", swe_bench.COLUMNS, swe_bench.read_row)
MULTI_SWE_BENCH = Format(
    "Multi-SWE-bench's", multi_swe_bench.COLUMNS, multi_swe_bench.read_record, id="number", code_patch="fix_patch"
)
FORMATS = (OURS, PAPER, MULTI_SWE_BENCH, SWE_BENCH)
_OF_THE_PAPER_ALONE = frozenset({*paper.FIELDS, "_missing"}) - {
    "problem_statement",
    "hints_text",
    "patch",
    "test_patch",
}


def format_of(record: Mapping[str, Any]) -> Format | None:
    """The format that a record's columns show, also where some are missing; None where they fit none."""
    names = record.keys()
    if names & {"schema", "pull_request"}:
        return OURS
    if names & _OF_THE_PAPER_ALONE or names <= {"instance_id", *paper.FIELDS}:
        return PAPER
    for known in (MULTI_SWE_BENCH, SWE_BENCH):
        if len(names & set(known.columns)) > len(known.columns) / 2:
            return known
    return None


def read_files(sources: Sequence[str], only: Sequence[str] = ()) -> Iterator[Pair | InputProblem]:
    """All pairs of the sources in order, or those whose ids are in `only`; each id once, problems in their place."""
    seen: dict[str, str] = {}
    for source in sources:
        for where, record in records(source):
            found = record if isinstance(record, InputProblem) else _pair(where, record)
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


def read_ids(source: str) -> Iterator[tuple[str, str | None]]:
    """Id and repository of each record that says them, without reading the rest of it."""
    for _, record in records(source):
        if isinstance(record, dict):
            pair, repository = _identity(record)
            if pair is not None:
                yield pair, repository


def _identity(record: Mapping[str, Any]) -> tuple[str | None, str | None]:
    known = format_of(record)
    if known is MULTI_SWE_BENCH:
        repository = f"{record.get('org')}/{record.get('repo')}"
        number = record.get("number")
        made = pair_id(repository, number) if isinstance(number, int) else None
        return _text(record.get("instance_id")) or made, repository
    name = _text(record.get(known.id)) if known else None
    said = record.get({OURS: "repository", SWE_BENCH: "repo"}.get(known, "")) if known else None
    return name, _text(said) or (instance(name)[0] if name else None)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


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
    known = format_of(record)
    if known is None:
        return InputProblem(where, _no_format(record))
    if known is OURS and record.get("schema", SCHEMA) != SCHEMA:
        schema = _short(repr(record["schema"]))
        return InputProblem(where, f"field schema: {schema} is not known here; this version reads {SCHEMA!r}")
    return _checked(where, known.read(record), known)


def _no_format(record: Mapping[str, Any]) -> str:
    names = [_short(name) for name in list(record)[:_MOST_COLUMNS]] + ["..."] * (len(record) > _MOST_COLUMNS)
    known = "; ".join(f"{one.name} ({', '.join(one.columns)})" for one in FORMATS)
    return f"no format has its columns, {', '.join(names)}; known are {known} (docs/formats.md)"


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


def _checked(where: str, pair: Pair, known: Format) -> Pair | InputProblem:
    if not pair.id.strip() or len(pair.id) > _LONGEST_ID:
        return InputProblem(where, f"field {known.id}: 1 to {_LONGEST_ID} characters were expected")
    pr = pair.pull_request
    for patch, field in ((pr.code_patch, known.code_patch), (pr.test_patch, known.test_patch)):
        if len(patch) > LARGEST_TEXT:
            return InputProblem(where, f"field {field}: {_more_than_fits(len(patch))} a patch may have")
        if patch.strip() and not patches.has_header(patch):
            begun = _short(patch.strip().splitlines()[0])
            return InputProblem(where, f"field {field}: this is no unified diff ({begun})")
    # Of a copy: a pair keeps its texts once they were asked for, and could then be sent to no other process.
    texts = replace(pair).texts.values()
    said = [text for text in texts if text.artifact not in (Artifact.CODE_PATCH, Artifact.TEST_PATCH)]
    size = sum(len(text.body) for text in said)
    if size > LARGEST_TEXT:
        longest = max(said, key=lambda text: len(text.body)).artifact.words
        return InputProblem(where, f"its texts, {longest} most: {_more_than_fits(size)} they may have together")
    return pair


def _more_than_fits(size: int) -> str:
    return f"{size / _MEGABYTE:.1f} MB are more than the {LARGEST_TEXT / _MEGABYTE:.0f} MB"


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
