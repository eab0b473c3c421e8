"""Literals as they stand in source text: their fixed parts, and the way from each up to its statement.

Where a grammar is installed, tree-sitter reads; its grammars are error tolerant, so a diff's hunk (a fragment
of a file) will do. Elsewhere a lexical reader takes what is quoted. No grammar is loaded before its first use.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from tree_sitter import Language, Node, Parser, Query, QueryCursor

from checker.literal_grammars import (
    ASSIGNMENTS,
    BORDERS,
    CALLEES,
    CALLS,
    CASES,
    COMPARING,
    GRAMMARS,
    HOLES,
    INDEXES,
    JOINS,
    OUTPUTS,
    PAIRS,
    PYTHON,
    SIMPLE_STEPS,
)
from checker.literal_text import HOLE, bare, expected_messages, quotations, split, unescape

Kind = Literal["string", "number", "comment"]


class Step(NamedTuple):
    """One step from a literal outwards: what stands around it, e.g. ("call", "pytest.raises")."""

    what: str
    name: str = ""


@dataclass(frozen=True)
class Found:
    """A literal of a text. `parts` are what is fixed in it, cut at placeholders and line ends.

    `row` and `end_row` count lines of the text from 0. `is_template` says that placeholders stand in it. `shown`
    gives all of it, what is filled in as a zero byte and its code in braces; where that cannot be told, nothing.
    """

    kind: Kind
    parts: tuple[str, ...]
    row: int
    end_row: int
    is_template: bool
    way: Callable[[], Iterator[Step]]
    shown: Callable[[], str] = str

    @cached_property
    def trail(self) -> tuple[Step, ...]:
        """The steps from the literal outwards to its statement; found out when first asked for."""
        return tuple(self.way())


_TRAIL_LIMIT = 24
_NAME_LIMIT = 80
_HOLE_LIMIT = 40
# Deeper trees are no program that people write, and climbing in them takes too long.
_DEPTH_LIMIT = 400
_JOIN_LIMIT = 200
_LINE_LIMIT = 2000
_BESIDE = 120
_BETWEEN = b" \t\r\n\\"
_APART = b",;:()[]{}="

_SHORTEST_NUMBER = 3
# So many numbers in one hunk are a table of data, no constants that anybody asserts.
_NUMBER_LIMIT = 500
_QUOTES = '"""'
_OPENING = re.compile(r"(?:[=(\[{,:+]|\breturn|^)\s*[rRfFbBuU]{0,2}$")


@cache
def _tools(suffix: str) -> tuple[Language, Query]:
    grammar = GRAMMARS[suffix]
    language = Language(getattr(importlib.import_module(grammar.module), grammar.entry)())
    captures = {"string": grammar.strings, "number": grammar.numbers, "comment": grammar.comments}
    patterns = (f"[{' '.join(f'({kind})' for kind in kinds)}] @{name}" for name, kinds in captures.items())
    return language, Query(language, "\n".join(patterns))


def suffix_of(path: str) -> str:
    """A path's last suffix in lower case, e.g. `.py`; empty where it has none."""
    return PurePosixPath(path).suffix.lower()


def read(path: str, text: str, rows: Container[int]) -> list[Found]:
    """The literals that touch one of `rows` in a text that is (a fragment of) the file `path`, by row.

    Numbers of fewer than three characters are left out: they prove nothing and are many. Never raises.
    """
    suffix = suffix_of(path)
    if suffix in GRAMMARS:
        found = _syntactic(suffix, text, rows)
    elif suffix in OUTPUTS:
        found = list(_printed(text.split("\n"), rows))
    elif suffix == CASES:
        found = list(_printed(expected_messages(text), rows))
    else:
        found = list(_lexical(text, rows))
    return sorted(found, key=lambda literal: (literal.row, literal.end_row, literal.parts))


def _syntactic(suffix: str, text: str, rows: Container[int]) -> list[Found]:
    language, query = _tools(suffix)
    source, shift = _closed(text) if GRAMMARS[suffix] is PYTHON else (text, 0)
    data = source.encode("utf-8", "replace")
    root = Parser(language).parse(data).root_node
    captures = QueryCursor(query).captures(root)
    strings = captures.get("string", [])
    if _depth(root, strings) > _DEPTH_LIMIT:
        return list(_lexical(text, rows))
    wanted = _Wanted(rows, shift)
    numbers = [node for node in captures.get("number", ()) if node.end_byte - node.start_byte >= _SHORTEST_NUMBER]
    if len(numbers) > _NUMBER_LIMIT:
        numbers = []
    found = [_number(node, wanted) for node in numbers if wanted.has(node)]
    found += [_comment(node, wanted) for node in captures.get("comment", ()) if wanted.has(node)]
    found += _strings(strings, wanted, data)
    return [literal for literal in found if literal.parts]


def _depth(root: Node, nodes: Sequence[Node]) -> int:
    """How deep some of the nodes lie, spread evenly over all of them."""
    depths = [0]
    for node in nodes[:: max(len(nodes) // 16, 1)]:
        cursor = root.walk()
        while cursor.goto_first_child_for_byte(node.start_byte) is not None:
            pass
        depths.append(cursor.depth)
    return max(depths)


def _closed(text: str) -> tuple[str, int]:
    """A hunk of Python whose docstrings are whole, and how many rows were put before it for that.

    A hunk may begin or end inside a docstring. Read the wrong way round, text turns into code and code into text.
    """
    first = text.find(_QUOTES)
    if first < 0:
        return text, 0
    shift = 0 if _opens(text[:first], text[first + 3 :].partition("\n")[0]) else 1
    closed = f"{_QUOTES}\n{text}" if shift else text
    return (f"{closed}\n{_QUOTES}" if closed.count(_QUOTES) % 2 else closed), shift


def _opens(before: str, rest: str) -> bool:
    """Whether quotes open a docstring, by what precedes them and by the rest of their line."""
    above, _, indent = before.rpartition("\n")
    if indent.strip():
        return _OPENING.search(indent[-_NAME_LIMIT:]) is not None
    if rest.strip():
        return rest.lstrip()[0] not in ").,%]}"
    return not above.strip() or above.rstrip()[-1] in ":=(,[{"


@dataclass(frozen=True)
class _Wanted:
    """The rows that literals are wanted from. `shift` is the number of rows put before the text."""

    rows: Container[int]
    shift: int

    def span(self, node: Node) -> tuple[int, int]:
        return node.start_point.row - self.shift, node.end_point.row - self.shift

    def has(self, node: Node) -> bool:
        first, last = self.span(node)
        return any(row in self.rows for row in range(max(first, 0), last + 1))


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _number(node: Node, wanted: _Wanted) -> Found:
    return Found("number", (_text(node),), *wanted.span(node), is_template=False, way=lambda: _trail(node))


def _comment(node: Node, wanted: _Wanted) -> Found:
    parts, is_template = split(_text(node))
    return Found("comment", parts, *wanted.span(node), is_template=is_template, way=lambda: iter(()))


def _strings(nodes: Sequence[Node], wanted: _Wanted, source: bytes) -> Iterator[Found]:
    """Strings, those that a `+` or mere adjacency joins as one."""
    kinds = {node.type for node in nodes}
    seen: set[int] = set()
    for node in nodes:
        whole = _joined(node) if _may_be_joined(node, source) else node
        if whole.id not in seen and wanted.has(whole):
            yield _string(whole, kinds, wanted)
        seen.add(whole.id)


def _string(whole: Node, kinds: set[str], wanted: _Wanted) -> Found:
    leaves = list(_leaves(whole, kinds))
    fixed = "".join(_content(leaf) if leaf.type in kinds else HOLE for leaf in leaves)
    parts, is_template = split(fixed)
    return Found(
        "string",
        parts,
        *wanted.span(whole),
        is_template=is_template,
        way=lambda: _trail(whole),
        shown=lambda: _shown(fixed, leaves, kinds),
    )


def _may_be_joined(node: Node, source: bytes) -> bool:
    """Whether what stands beside a string can join it to another; asking the tree is slow in wide trees."""
    before = source[max(node.start_byte - _BESIDE, 0) : node.start_byte].rstrip(_BETWEEN)
    after = source[node.end_byte : node.end_byte + _BESIDE].lstrip(_BETWEEN)
    return before[-1:] not in _APART or after[:1] not in _APART


def _joined(node: Node) -> Node:
    for _ in range(_JOIN_LIMIT):
        parent = node.parent
        if parent is None or parent.type not in JOINS or not _concatenates(parent):
            break
        node = parent
    return node


def _concatenates(node: Node) -> bool:
    if node.type in ("concatenated_string", "chained_string"):
        return True
    operator = node.child_by_field_name("operator")
    return operator is not None and operator.type in ("+", ".")


def _leaves(whole: Node, strings: set[str]) -> Iterator[Node]:
    """The strings of a string or a chain of strings, and what else is joined to them, which is not fixed."""
    waiting = [whole]
    while waiting:
        node = waiting.pop()
        if node.type not in strings and node.type in JOINS and _concatenates(node):
            waiting += reversed(node.named_children)
        elif "comment" not in node.type:
            yield node


def _holes(leaf: Node, strings: set[str]) -> list[Node]:
    return [child for child in leaf.named_children if child.type in HOLES] if leaf.type in strings else [leaf]


def _content(node: Node) -> str:
    """The text of a string, with a zero byte for everything that is not fixed."""
    source = node.text or b""
    pieces: list[bytes] = []
    position = node.start_byte
    for child in node.named_children:
        if child.type in HOLES:
            pieces += [source[position - node.start_byte : child.start_byte - node.start_byte], b"\0"]
            position = child.end_byte
    pieces.append(source[position - node.start_byte :])
    return bare(b"".join(pieces).decode("utf-8", "replace"))


def _shown(fixed: str, leaves: Sequence[Node], strings: set[str]) -> str:
    """The text of a string with the code of each hole in braces, or an ellipsis where that is long.

    A zero byte still stands before each.
    """
    pieces, holes = fixed.split(HOLE), [_named(node) for leaf in leaves for node in _holes(leaf, strings)]
    if len(pieces) != len(holes) + 1 or any("{{" in piece or "}}" in piece for piece in pieces):
        return ""
    return "".join(text for pair in zip_longest(pieces, holes, fillvalue="") for text in pair)


def _named(hole: Node) -> str:
    code = _text(hole).strip("#${} ")
    return f"{HOLE}{{{code if len(code) <= _HOLE_LIMIT and code.isprintable() else '…'}}}"


def _trail(node: Node) -> Iterator[Step]:
    """From a literal outwards up to its statement (or block)."""
    child, parent = node, node.parent
    if parent is not None and parent.type == "expression_statement":
        yield Step("bare")
    for _ in range(_TRAIL_LIMIT):
        if parent is None or parent.type in BORDERS:
            return
        step = _step(child, parent)
        if step is not None:
            yield step
        child, parent = parent, parent.parent


def _step(child: Node, parent: Node) -> Step | None:
    kind = parent.type
    if kind in SIMPLE_STEPS:
        return Step(SIMPLE_STEPS[kind])
    if kind in CALLS:
        return _call(child, parent)
    if kind in ASSIGNMENTS:
        target = _field(parent, ("left", "name", "pattern", "declarator"))
        return None if target is None or target == child else Step("target", _tail(target))
    if kind == "keyword_argument":
        return Step("keyword", _tail(parent.child_by_field_name("name")))
    if kind in PAIRS:
        key = parent.child_by_field_name("key") or parent.child(0)
        return Step("key") if key == child else Step("value", _tail(key))
    if kind in INDEXES:
        return None if parent.child(0) == child else Step("index")
    if kind in JOINS or kind == "infix_expression":
        operator = parent.child_by_field_name("operator")
        return Step("compare") if operator is not None and operator.type in COMPARING else None
    return None


def _call(child: Node, parent: Node) -> Step | None:
    callee = _field(parent, CALLEES)
    if callee is None or callee == child:
        return None
    receiver = parent.child_by_field_name("receiver") or parent.child_by_field_name("object")
    if receiver == child:
        return None
    return Step("call", f"{_tail(receiver)}.{_tail(callee)}" if receiver is not None else _tail(callee))


def _field(node: Node, names: tuple[str, ...]) -> Node | None:
    return next((found for name in names if (found := node.child_by_field_name(name)) is not None), None)


def _tail(node: Node | None) -> str:
    return "" if node is None else _text(node)[-_NAME_LIMIT:]


def _lexical(text: str, rows: Container[int]) -> Iterator[Found]:
    """Quoted strings of a text in an unknown language, line by line, with what precedes them as trail."""
    for row, line in enumerate(text.split("\n")):
        for start, quoted in quotations(line[:_LINE_LIMIT]) if row in rows else ():
            yield from _line(quoted, row, Step("line", line[max(0, start - _NAME_LIMIT) : start]))


def _printed(lines: Iterable[str | None], rows: Container[int]) -> Iterator[Found]:
    for row, line in enumerate(lines):
        if row in rows and line is not None:
            yield from _line(line, row, Step("expected"))


def _line(text: str, row: int, step: Step) -> Iterator[Found]:
    plain = unescape(text)
    parts, is_template = split(plain)
    if parts:
        yield Found("string", parts, row, row, is_template, lambda: iter((step,)), lambda: plain)
