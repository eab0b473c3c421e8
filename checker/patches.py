"""A unified diff as files and lines, told apart into the test side and the code side.

Parsing is unidiff's; it is run file by file, so that one part that does not parse costs only itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchedFile, PatchSet

# SWE-bench splits a pull request's diff by these words in a file's path ("extract_patches").
_TEST_WORDS = ("test", "tests", "e2e", "testing")

_FILE_START = re.compile(r"^diff --git ", re.MULTILINE)
# A hunk must follow: a removed `-- a` above an added `++ b` looks like a file's header, too.
_BARE_START = re.compile(r"^--- [^\n]*\n\+\+\+ [^\n]*\n(?=@@ )", re.MULTILINE)
_HEADER_PATHS = re.compile(r'^diff --git (?:"a/(?P<quoted>(?:[^"\\]|\\.)*)"|a/(?P<plain>[^\n]*?)) "?b/')
_SAME_PATHS = re.compile(r"^diff --git a/(?P<path>[^\n]{1,4096}) b/(?P=path)$", re.MULTILINE)
_ESCAPE = re.compile(r'\\(?:([0-3][0-7]{2})|([abtnvfr"\\]))')
_ESCAPED = dict(zip('abtnvfr"\\', '\a\b\t\n\v\f\r"\\', strict=True))


class Side(StrEnum):
    """Which of the two patches of a SWE-bench-like data set a file belongs to."""

    CODE = "code"
    TEST = "test"


class LineKind(StrEnum):
    """What a diff does with a line."""

    CONTEXT = " "
    ADDED = "+"
    REMOVED = "-"


class Line(NamedTuple):
    """One line of a hunk, without its newline. `number` counts in the new file (in the old one if removed)."""

    kind: LineKind
    number: int
    text: str
    hunk: int


@dataclass(frozen=True)
class FilePatch:
    """The changes of one file. `previous_path` is set for a rename; a binary file has no lines."""

    path: str
    lines: tuple[Line, ...]
    previous_path: str | None = None
    is_new: bool = False
    is_removed: bool = False
    is_binary: bool = False

    @property
    def side(self) -> Side:
        """Test or code, by the file's path."""
        return side_of(self.path)

    def added(self) -> Iterator[Line]:
        """The lines that the patch adds."""
        return (line for line in self.lines if line.kind is LineKind.ADDED)

    def removed(self) -> Iterator[Line]:
        """The lines that the patch removes."""
        return (line for line in self.lines if line.kind is LineKind.REMOVED)


@dataclass(frozen=True)
class Patch:
    """A parsed diff. `unparsed` names the parts that are no unified diff, with the parser's reason."""

    files: tuple[FilePatch, ...]
    unparsed: tuple[str, ...] = ()


def side_of(path: str) -> Side:
    """The test or code side of a path, by the rule of SWE-bench's `extract_patches`."""
    lowered = path.lower()
    return Side.TEST if any(word in lowered for word in _TEST_WORDS) else Side.CODE


def as_diff(path: str, previous_path: str | None, status: str, hunks: str | None) -> str:
    """A file of GitHub's "list pull request files", with its hunks, as a part of a git diff."""
    old = "/dev/null" if status == "added" else f"a/{previous_path or path}"
    new = "/dev/null" if status == "removed" else f"b/{path}"
    head = f"diff --git a/{previous_path or path} b/{path}\n"
    if hunks is None:
        renamed = f"rename from {previous_path}\nrename to {path}\n" if previous_path else ""
        return f"{head}{renamed}"
    return f"{head}--- {old}\n+++ {new}\n{hunks}\n"


def split(diff: str) -> tuple[str, str]:
    """A whole diff as code patch and test patch, file by file."""
    sides: dict[Side, list[str]] = {Side.CODE: [], Side.TEST: []}
    for part in _parts(diff):
        names = paths(part)
        side = Side.TEST if names and all(side_of(name) is Side.TEST for name in names) else Side.CODE
        sides[side].append(part)
    return "".join(sides[Side.CODE]), "".join(sides[Side.TEST])


# Both patches of as many pairs as an audit checks at once, since each is read in every phase.
@lru_cache(maxsize=256)
def parse(diff: str) -> Patch:
    """A unified diff (git's or plain, any language) as files. Never raises: what does not parse is named."""
    files: list[FilePatch] = []
    unparsed: list[str] = []
    for part in _parts(diff.replace("\r\n", "\n")):
        name = part.lstrip().splitlines()[0][:120]
        try:
            parsed = _parsed(part)
        except (UnidiffParseError, ValueError) as error:  # ValueError: a line number of thousands of digits
            unparsed.append(f"{name}: {error}")
            continue
        files += [_file(file, part) for file in parsed]
        if not parsed:
            unparsed.append(f"{name}: this is no unified diff")
        elif not _is_whole(part, parsed):
            unparsed.append(f"{name}: its hunks do not have the lines that they announce")
    return Patch(tuple(files), tuple(unparsed))


def has_header(text: str) -> bool:
    """Whether a text has the header of a file in a unified diff, however broken what follows it may be."""
    return any(start.search(text.replace("\r\n", "\n")) for start in (_FILE_START, _BARE_START))


def paths(diff: str) -> frozenset[str]:
    """The paths of a diff's files, read from its headers where these are plain: much faster than `parse`."""
    found: set[str] = set()
    for part in _parts(diff.replace("\r\n", "\n")):
        same = _SAME_PATHS.match(part)
        found |= {same["path"]} if same else {file.path for file in parse(part).files}
    return frozenset(found)


def _parsed(part: str) -> PatchSet:
    """A part as unidiff reads it; without its `diff --git` line where a path with ` b/` in it makes that ambiguous."""
    try:
        return PatchSet.from_string(part)
    except UnidiffParseError:
        bare = _BARE_START.search(part)
        if bare is None or bare.start() == 0:
            raise
        return PatchSet.from_string(part[bare.start() :])


def _is_whole(part: str, parsed: PatchSet) -> bool:
    """Whether every changed line of a part was read: unidiff drops what a hunk's header does not announce."""
    if any(file.is_binary_file for file in parsed):
        return True
    _, _, body = part.partition("\n@@")
    changed = sum(line[:1] in ("+", "-") and line.rstrip() != "--" for line in body.split("\n")[1:])
    return changed == sum(file.added + file.removed for file in parsed)


def _parts(diff: str) -> list[str]:
    """The diff cut at its file headers, without what precedes the first (a mail's head); whole if it has none."""
    text = diff if diff.endswith("\n") else diff + "\n"
    if not text.strip():
        return []
    start = _FILE_START if _FILE_START.search(text) else _BARE_START
    cuts = [match.start() for match in start.finditer(text)]
    if not cuts:
        return [text]
    return [text[a:b] for a, b in zip(cuts, [*cuts[1:], len(text)], strict=True)]


def _file(parsed: PatchedFile, part: str) -> FilePatch:
    lines = tuple(_lines(parsed))
    return FilePatch(
        path=_path(parsed, part),
        lines=lines,
        previous_path=_unquoted(parsed.source_file.removeprefix("a/")) if parsed.is_rename else None,
        is_new=parsed.is_added_file,
        is_removed=parsed.is_removed_file,
        is_binary=parsed.is_binary_file,
    )


def _lines(parsed: PatchedFile) -> Iterator[Line]:
    kinds = {kind.value: kind for kind in LineKind}
    for number, hunk in enumerate(parsed):
        for line in hunk:
            kind = kinds.get(line.line_type)
            if kind is not None:
                at = line.source_line_no if kind is LineKind.REMOVED else line.target_line_no
                yield Line(kind, at or 0, line.value.rstrip("\n").removesuffix("\r"), number)


def _path(parsed: PatchedFile, part: str) -> str:
    if same := _SAME_PATHS.match(part):
        return same["path"]
    return _unquoted(parsed.path) if parsed.path != "/dev/null" else _header_path(part)


def _header_path(part: str) -> str:
    match = _HEADER_PATHS.match(part)
    if match is None:
        return "/dev/null"
    return _unquoted(f'"{match["quoted"]}"') if match["quoted"] is not None else match["plain"]


def _unquoted(path: str) -> str:
    r"""Git quotes names with unusual bytes as C strings: "na\303\257ve.py" is naïve.py."""
    if not (path.startswith('"') and path.endswith('"')):
        return path
    raw = _ESCAPE.sub(_byte, path[1:-1].encode(errors="replace").decode("latin-1"))
    return raw.encode("latin-1").decode("utf-8", "replace").removeprefix("a/").removeprefix("b/")


def _byte(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 8)) if escape[1] else _ESCAPED[escape[2]]
