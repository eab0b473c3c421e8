"""JSON and JSON lines as records, line by line where they allow it; what is no JSON becomes a sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any, BinaryIO, NoReturn

from checker.datasets.problem import InputProblem

_MEGABYTE = 1_000_000
_MOST_COMPLAINTS = 5
# One value of more would not fit into memory as objects; also how far a gzip file without lines is let unfold.
LARGEST_VALUE = 2_000 * _MEGABYTE
_MARK = b"\xef\xbb\xbf"


class NoJsonError(ValueError):
    """Why a text is no JSON, in words, and on which of its lines."""

    def __init__(self, what: str, line: int = 1) -> None:
        super().__init__(what)
        self.line = line


def json_value(text: str) -> Any:
    """The JSON value of a text. Raises NoJsonError also for what Python's reader lets pass or cannot hold."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise NoJsonError(f"this is no JSON ({error.msg.lower()} at column {error.colno})", error.lineno) from None
    except RecursionError:
        raise NoJsonError("it is nested too deeply to be a pair") from None
    except NoJsonError:
        raise
    except ValueError:
        # Python reads no integers of thousands of digits (sys.set_int_max_str_digits).
        raise NoJsonError("it holds a number with thousands of digits") from None


def _refuse(constant: str) -> NoReturn:
    raise NoJsonError(f"{constant} is no JSON number")


def json_records(name: str, file: BinaryIO) -> Iterator[tuple[str, Any]]:
    """Where each record of a file stands, and the record. Raises OSError, EOFError, zlib.error.

    A file whose first line is an object is read line by line, so its size does not matter; any other as a whole.
    """
    lines = _lines_of(file)
    try:
        first = next((line for line in lines if line.text.strip()), None)
        if first is None:
            yield name, InputProblem(name, "it is empty; a pair as JSON, or one a line, was expected")
        elif _is_object(first.text):
            yield from _one_a_line(name, chain((first,), lines))
        else:
            yield from _whole(name, "\n" * (first.number - 1) + "".join(line.text for line in chain((first,), lines)))
    except _NoTextError as error:
        yield name, InputProblem(f"{name} line {error.line}", f"byte {error.byte} is not UTF-8; save the file as UTF-8")
    except _TooLargeError:
        yield name, InputProblem(name, f"it holds more than {LARGEST_VALUE // _MEGABYTE:,} MB; split it into several")


class _TooLargeError(Exception):
    """A line, or a file that is no JSON lines, is larger than `LARGEST_VALUE`."""


class _NoTextError(Exception):
    """A byte that is no UTF-8: on which line, and where in the file."""

    def __init__(self, line: int, byte: int) -> None:
        super().__init__(line, byte)
        self.line, self.byte = line, byte


class _Line:
    """One line with its end, and its number from 1 on."""

    def __init__(self, number: int, text: str) -> None:
        self.number, self.text = number, text


def _lines_of(file: BinaryIO) -> Iterator[_Line]:
    position, number = 0, 0
    while data := file.readline(LARGEST_VALUE + 1):
        number += 1
        if len(data) > LARGEST_VALUE:
            raise _TooLargeError
        try:
            text = (data.removeprefix(_MARK) if number == 1 else data).decode()
        except UnicodeDecodeError as error:
            raise _NoTextError(number, position + error.start) from None
        position += len(data)
        yield _Line(number, text)


def _one_a_line(name: str, lines: Iterator[_Line]) -> Iterator[tuple[str, Any]]:
    for line in lines:
        if not line.text.strip():
            continue
        where = f"{name} line {line.number}"
        try:
            yield where, json_value(line.text)
        except NoJsonError as error:
            yield where, InputProblem(where, str(error))


def _whole(name: str, text: str) -> Iterator[tuple[str, Any]]:
    """The JSON values of a text: one value, a list of them, or one a line."""
    if len(text) > LARGEST_VALUE:
        raise _TooLargeError
    try:
        whole = json_value(text)
    except NoJsonError as error:
        if _is_one_value(text):
            yield name, InputProblem(f"{name} line {error.line}", str(error))
        else:
            yield from _broken_lines(name, text)
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
        return isinstance(json_value(line), dict)
    except NoJsonError:
        return False


def _broken_lines(name: str, text: str) -> Iterator[tuple[str, Any]]:
    lines = [_Line(number, line) for number, line in enumerate(text.split("\n"), 1)]
    filled = [line for line in lines if line.text.strip()]
    if len(filled) > _MOST_COMPLAINTS and not any(_is_object(line.text) for line in filled):
        yield name, InputProblem(f"{name} line 1", "this is neither JSON nor JSON lines; no line of it is an object")
        return
    yield from _one_a_line(name, iter(lines))
