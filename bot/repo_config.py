"""`.github/paichecker.yml` of the default branch: what a repository asks of PAIChecker, fixed for one run.

A wrong field keeps its default and the others count. What may have asked for silence, and cannot be read, counts as if
it had: see `RepositoryConfig.mode_is_unread`.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, NoReturn

import yaml

from bot.path_patterns import matches_login, matches_path
from bot.settings import Mode
from checker.render import one_line
from checker.taxonomy import Label

PATH = ".github/paichecker.yml"
WHOLE_FILE = "the file"
NO_TEXT = "no text: a folder, a submodule, or a file past 1 MB"
"""In place of the text of what is no file of settings."""
LONGEST = 65_536
"""Characters of the file; a longer one is refused."""
# PyYAML takes a minute for deep nesting, and about 10 µs for each part; real files are two deep.
_DEEPEST, _MOST_PARTS = 4, 1_000
_MOST_ENTRIES, _LONGEST_ENTRY, _MOST_PROBLEMS = 100, 200, 20
_SIGN = "What begins with *, & or ! must stand in quotes; anchors, aliases and tags are not read."
_TAB = "A tab stands here. YAML wants spaces instead."
_LEFT_OUT = ("", "~", "null")
_SWITCHES = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}

_Read = Callable[[yaml.Node], Any]


class CommentWhen(StrEnum):
    """When the comment is posted. MISALIGNED: also if undetermined for a reason that a person can mend."""

    ALWAYS = "always"
    MISALIGNED = "misaligned"
    NEVER = "never"


@dataclass(frozen=True)
class ConfigProblem:
    """What is wrong on a line of the file (from 1). `field` is WHOLE_FILE where nothing of it could be read.

    `message` may hold words of the file: plain text on one line, to be made inert where Markdown is written.
    """

    line: int
    field: str
    message: str


@dataclass(frozen=True)
class RepositoryConfig:
    """A repository's settings. `labels` are those that are on; None leaves a choice or a limit to the operator.

    `mode_is_unread`: the file may ask for `shadow`, for it, or its `mode`, cannot be read.
    """

    labels: frozenset[Label] = frozenset(Label)
    comment: CommentWhen = CommentWhen.MISALIGNED
    mode: Mode | None = None
    fail_on: frozenset[Label] = frozenset()
    drafts: bool = False
    bots: bool = False
    skip_authors: tuple[str, ...] = ()
    skip_paths: tuple[str, ...] = ()
    model: str | None = None
    budget_tokens: int | None = None
    budget_dollars: float | None = None
    mode_is_unread: bool = False
    problems: tuple[ConfigProblem, ...] = ()

    def leaves_out(self) -> str | None:
        """Why no pull request is checked, whoever asks; None where some are. As `skips` says it."""
        if self.mode_is_unread:
            return f"`{PATH}` cannot be read, and may ask that nothing be shown. Mend it, then ask for another check"
        if not self.labels:
            return f"`{PATH}` switches every label off, so there is nothing to look for"
        return None

    def skips(self, author: str, is_bot: bool, draft: bool, paths: Sequence[str]) -> str | None:
        """Why a pull request is not checked; None where it is. In Markdown, to follow “was not checked: ”.

        `paths`: every file that it changes; none where the list is incomplete, then no path skips it.
        """
        if draft and not self.drafts:
            return "it is a draft; it is checked once it is ready for review"
        if is_bot and not self.bots:
            return f"a bot opened it, and `bots` is off in `{PATH}`"
        if any(matches_login(pattern, author) for pattern in self.skip_authors):
            return f"its author is among `skip_authors` in `{PATH}`"
        if paths and all(any(matches_path(pattern, path) for pattern in self.skip_paths) for path in paths):
            return f"it changes only files that are among `skip_paths` in `{PATH}`"
        return None


def read_config(text: str | None, *, models: Sequence[str]) -> RepositoryConfig:
    """The settings in the file's text (None: there is no file). `models`: those that the operator offers.

    Never raises: what is wrong stands in `problems`, from the top of the file down.
    """
    try:
        entries = list(_entries(_root(text or "")))
    except _Wrong as wrong:
        return RepositoryConfig(mode_is_unread=True, problems=(wrong.problem(WHOLE_FILE, 1),))
    readers = _readers(models)
    values: dict[str, Any] = {}
    problems: list[ConfigProblem] = []
    unread: set[str] = set()
    for name, line, node in entries:
        field = next((known for known in readers if known.casefold() == name.casefold()), name)
        try:
            if not _is_left_out(node):
                read: _Read = readers.get(field) or partial(_unknown, field, list(readers))
                values[field] = read(node)
        except _Wrong as wrong:
            problems.append(wrong.problem(field, line))
            unread.add(wrong.meant or field)
    return _config(values, unread - values.keys(), tuple(problems[:_MOST_PROBLEMS]))


def _config(values: Mapping[str, Any], unread: Set[str], problems: tuple[ConfigProblem, ...]) -> RepositoryConfig:
    labels = frozenset(label for label in Label if values.get(f"labels.{label}", True))
    fields = {name.replace(".", "_"): value for name, value in values.items() if not name.startswith("labels")}
    fields.pop("budget", None)
    if "comment" in unread:
        # `never` may have been meant; the check run tells what is wrong.
        fields["comment"] = CommentWhen.NEVER
    return RepositoryConfig(labels=labels, mode_is_unread="mode" in unread, problems=problems, **fields)


class _Wrong(Exception):
    """What is wrong in one place. `line` counts from 1; None: the field's line. `meant`: the field, if misspelled."""

    def __init__(self, what: str, line: int | None = None, meant: str | None = None) -> None:
        super().__init__(what)
        self.what, self.line, self.meant = what, line, meant

    def problem(self, field: str, line: int) -> ConfigProblem:
        return ConfigProblem(self.line or line, _shown(field), self.what)


# The file as YAML


def _root(text: str) -> yaml.Node | None:
    if text == NO_TEXT:
        raise _Wrong("This is a folder, a submodule, or a file of more than 1 MB.")
    if len(text) > LONGEST:
        raise _Wrong(f"The file is longer than {LONGEST:,} characters.")
    try:
        _bounded(yaml.parse(text, Loader=yaml.BaseLoader))
        return yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        # An alias is most often a pattern without quotes: **/*.md
        is_alias = "alias" in (error.context or "")
        is_tab = r"'\t'" in (error.problem or "")
        invalid = f"This is not valid YAML: {_shown(error.problem, 100)}."
        raise _Wrong(_SIGN if is_alias else _TAB if is_tab else invalid, line) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _Wrong("A character stands here that YAML does not allow.", line) from None


def _bounded(events: Iterator[yaml.Event]) -> None:
    """Reads on only as far as settings can go. Raises _Wrong."""
    depth = 0
    for count, event in enumerate(events):
        line = event.start_mark.line + 1 if event.start_mark else 1
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if count > _MOST_PARTS or depth > _DEEPEST:
            raise _Wrong("The file holds far more than settings.", line)
        if getattr(event, "anchor", None) or getattr(event, "tag", None):
            raise _Wrong(_SIGN, line)


def _entries(root: yaml.Node | None) -> Iterator[tuple[str, int, yaml.Node]]:
    """The fields as they are written (`mode`, `labels.SC`), each with its line and value. Raises _Wrong."""
    if root is None or _is_left_out(root):
        return
    for name, line, node in _pairs(root):
        yield name, line, node
        if name.casefold() in ("labels", "budget") and isinstance(node, yaml.MappingNode):
            yield from ((f"{name}.{inner}", at, value) for inner, at, value in _pairs(node))


def _pairs(node: yaml.Node) -> Iterator[tuple[str, int, yaml.Node]]:
    if not isinstance(node, yaml.MappingNode):
        raise _Wrong("The file must hold fields, such as “mode: shadow”.", node.start_mark.line + 1)
    lines: dict[str, int] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise _Wrong("The name of a field must be one word.", line)
        name = key.value.casefold()
        if name in lines:
            raise _Wrong(f"“{_shown(key.value)}” stands here and on line {lines[name]}. Write it once.", line)
        lines[name] = line
        yield key.value, line, value


def _is_left_out(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.style is None and node.value in _LEFT_OUT


# What each field may be


def _unknown(field: str, known: list[str], node: yaml.Node) -> NoReturn:
    group, dot, name = field.rpartition(".")
    if group and name.casefold() in known:
        meant = name.casefold()
        raise _Wrong(f"“{meant}” is no part of “{group}”: take away the spaces before it.", meant=meant)
    names = [each.removeprefix(group + dot) for each in known if each.rpartition(".")[0] == group]
    # Whatever the field is called, who writes “shadow” may mean the mode.
    said = node.value.strip().casefold() if isinstance(node, yaml.ScalarNode) else ""
    asked = {Mode.SHADOW.value: "mode", CommentWhen.NEVER.value: "comment"}.get(said)
    near = next(iter(difflib.get_close_matches(name[:40].casefold(), names, 1)), None)
    hint = f"Did you mean {near}?" if near else f"Known are {', '.join(names)}."
    raise _Wrong(f"There is no field “{_shown(field)}”. {hint}", meant=asked or near)


def _group(example: str, node: yaml.Node) -> None:
    if not isinstance(node, yaml.MappingNode):
        raise _Wrong(f"Its entries stand below it, one on a line, such as {example}.", node.start_mark.line + 1)


def _each(read: Callable[[yaml.Node], Any], example: str, node: yaml.Node) -> tuple[Any, ...]:
    if not isinstance(node, yaml.SequenceNode):
        raise _Wrong(f"A list must stand here, such as {example}.")
    if len(node.value) > _MOST_ENTRIES:
        raise _Wrong(f"The list has more than {_MOST_ENTRIES} entries.")
    return tuple(read(entry) for entry in node.value)


def _text(node: yaml.Node) -> str:
    line = node.start_mark.line + 1
    if not isinstance(node, yaml.ScalarNode) or not node.value:
        raise _Wrong("One value must stand here.", line)
    if len(node.value) > _LONGEST_ENTRY:
        raise _Wrong(f"The value is longer than {_LONGEST_ENTRY} characters.", line)
    return str(node.value)


def _switch(node: yaml.Node) -> bool:
    return _SWITCHES[_one_of([*_SWITCHES], node, "on or off")]


def _label(node: yaml.Node) -> Label:
    return Label(_one_of([*Label], node))


def _one_of(choices: Sequence[str], node: yaml.Node, named: str = "") -> str:
    """The choice that stands there, in any case, as it is spelled in `choices`."""
    # Also without the spaces that are none to YAML, such as those that do not break.
    given = _text(node).strip()
    for choice in choices:
        if choice.casefold() == given.casefold():
            return choice
    offered = named or " or ".join(filter(None, [", ".join(choices[:-1]), *choices[-1:]])) or "left out"
    raise _Wrong(f"“{_shown(given)}” is not possible here: it must be {offered}.", node.start_mark.line + 1)


def _path(node: yaml.Node) -> str:
    pattern = _text(node)
    if pattern.startswith("!"):
        raise _Wrong("Patterns that begin with “!” are not read.", node.start_mark.line + 1)
    return pattern


def _amount(kind: type[int] | type[float], wanted: str, node: yaml.Node) -> float:
    given = _text(node)
    try:
        amount = kind(given)
    except ValueError:
        amount = 0
    if not (amount > 0 and math.isfinite(amount)):
        raise _Wrong(f"“{_shown(given)}” is not possible here: it must be {wanted}.", node.start_mark.line + 1)
    return amount


def _shown(text: str | None, most: int = 40) -> str:
    line = one_line(text or "")
    return line if len(line) <= most else f"{line[:most]}..."


def _readers(models: Sequence[str]) -> dict[str, _Read]:
    return {
        "labels": partial(_group, "“UL: off”"),
        **{f"labels.{label}": _switch for label in Label},
        "comment": partial(_one_of, [*CommentWhen]),
        "mode": partial(_one_of, [*Mode]),
        "fail_on": lambda node: frozenset(_each(_label, "[SC, UL]", node)),
        "drafts": _switch,
        "bots": _switch,
        "skip_authors": partial(_each, _text, '["dependabot[bot]", "release-*"]'),
        "skip_paths": partial(_each, _path, '["docs/**", "**/*.md"]'),
        "model": partial(_one_of, [*models]),
        "budget": partial(_group, "“tokens: 100000”"),
        "budget.tokens": partial(_amount, int, "a whole number above 0, such as 100000"),
        "budget.dollars": partial(_amount, float, "a number above 0, such as 0.50"),
    }


FIELDS = tuple(_readers(()))
"""Every field by name; `docs/repository-settings.md` explains each."""
