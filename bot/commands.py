"""The grammar of `/paichecker ...` in comments, and who may say what. docs/commands.md shows it to people.

A command stands on a line of its own, outside code, block quotes and HTML comments. After a quote of our comment,
`confirm` and `dispute` may stand without the slash word.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from bot.checked import Standing
from bot.inert import inert
from bot.quotes import Quotes
from checker.links.prose import HIDDEN, markdown_prose
from checker.taxonomy import Label

WORD = "/paichecker"
MOST_COMMANDS = 10
"""Commands of one comment that are carried out, wrong ones counted."""
MOST_LINES = 1_000
"""Lines of a comment that are read: for each, Markdown takes up to 40 µs."""
_LONGEST = 1_000

_LINE_END = re.compile(r"\r\n?|\n")
# Case is set aside among ASCII letters only: "ſ" is another letter, and no S.
_SLASH = re.compile(rf"\s*(?ai:{WORD})(?=[\s:]|$):?\s*(\S*)\s*")
_BARE = re.compile(r"\s*((?ai:confirm|dispute))\b(?![\w?'-])[\s,.:;!]*")
_BETWEEN, _AFTER = r"(?:[\s,&]|and\b)*[*_`]*", r"[*_`]*(?=[\s,.:;!)–—-]|$)"
_LABEL = re.compile(rf"{_BETWEEN}((?ai:SC|DP|IS|FP|UL|Others)){_AFTER}")
# Before a reason, “is” and “others” are its first words, unless they are spelled or marked as labels.
_LABEL_BEFORE_WORDS = re.compile(
    rf"{_BETWEEN}((?ai:SC|DP|FP|UL)|IS|Others|(?ai:IS|Others)(?=[*_`]*[,:])){_AFTER}",
)


class Verb(StrEnum):
    """What can be asked of PAIChecker."""

    RECHECK = "recheck"
    CONFIRM = "confirm"
    DISPUTE = "dispute"
    EXPLAIN = "explain"
    IGNORE = "ignore"
    RESUME = "resume"
    HELP = "help"

    @property
    def usage(self) -> str:
        """The command with what may follow it."""
        return f"{WORD} {self}{_OPERANDS.get(self, '')}"


_ANOTHER = re.compile(rf"(?<!`)(?ai:{WORD}\s+(?:{'|'.join(Verb)}))\b")
_OPERANDS = {
    Verb.CONFIRM: " [LABEL...]",
    Verb.DISPUTE: " [LABEL...] [reason]",
    Verb.EXPLAIN: " LABEL",
}


@dataclass(frozen=True)
class Command:
    """One command. `line` counts from 1 in the raw comment; `text` is that line, without HTML comments.

    Without `labels`, an answer is to all that stand.
    """

    line: int
    text: str
    verb: Verb
    labels: tuple[Label, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class WrongCommand:
    """A line that was meant as a command. `why` says in Markdown, inert, what to write instead."""

    line: int
    text: str
    why: str


@dataclass(frozen=True)
class Refusal:
    """The command is not carried out. `says` is the answer in Markdown; None: there is no answer at all."""

    says: str | None


def read_commands(body: str, *, quotes_ours: Callable[[str], bool] | None) -> tuple[Command | WrongCommand, ...]:
    """The commands of a comment from top to bottom, at most MOST_COMMANDS and a word about the rest.

    `quotes_ours` tells of a block quote whether it quotes our comment (see `bot.quotes.quoting`); None: there is none.
    """
    found = list(islice(_read(body, quotes_ours), MOST_COMMANDS + 1))
    if len(found) <= MOST_COMMANDS:
        return tuple(found)
    first = found[MOST_COMMANDS]
    why = f"Only the first {MOST_COMMANDS} commands of a comment are read. Put the others into a new comment."
    return (*found[:MOST_COMMANDS], WrongCommand(first.line, first.text, why))


def new_commands(found: Iterable[Command | WrongCommand], known: Iterable[str]) -> tuple[Command | WrongCommand, ...]:
    """The commands of an edited comment that it did not hold before. `known`: the texts of those that it held.

    Lines are told apart by their words, so that moving one is no news. Of equal lines the last are the new ones.
    """
    left = Counter(map(_words, known))
    fresh = []
    for command in found:
        words = _words(command.text)
        if left[words] > 0:
            left[words] -= 1
        else:
            fresh.append(command)
    return tuple(fresh)


# Who may say what

_AUTHORS = frozenset({Verb.RECHECK, Verb.DISPUTE, Verb.EXPLAIN, Verb.HELP})
_MAY = {
    Standing.MAINTAINER: frozenset(Verb),
    Standing.AUTHOR: _AUTHORS,
    # What costs no model call, changes nothing, and tells only what everybody can read there already.
    Standing.STRANGER: frozenset({Verb.EXPLAIN, Verb.HELP}),
    Standing.BOT: frozenset[Verb](),
}


def refusal(command: Command | WrongCommand, standing: Standing) -> Refusal | None:
    """Why a command is not carried out; None: it is. A bot is never answered, so that no two bots talk for ever."""
    if standing is Standing.BOT:
        return Refusal(None)
    if isinstance(command, WrongCommand):
        return Refusal(command.why)
    if command.verb in _MAY[standing]:
        return None
    may = "people with write access to this repository"
    if command.verb in _AUTHORS:
        may += " and for the author of the pull request"
    return Refusal(f"`{WORD} {command.verb}` is for {may}.")


# Reading


def _read(body: str, quotes_ours: Callable[[str], bool] | None) -> Iterator[Command | WrongCommand]:
    lines = _LINE_END.split(body, MOST_LINES)[:MOST_LINES]
    looks = [_SLASH] if quotes_ours is None else [_SLASH, _BARE]
    numbers = [number for number, line in enumerate(lines, 1) if any(look.match(line) for look in looks)]
    if not numbers:
        return
    prose = _LINE_END.split(markdown_prose("\n".join(lines)))
    quotes = Quotes(lines, quotes_ours)
    for number in numbers:
        command = _command(number, lines[number - 1], prose[number - 1], quotes)
        if command is not None:
            yield command


def _command(number: int, line: str, prose: str, quotes: Quotes) -> Command | WrongCommand | None:
    """What one line says; `prose` is the line with its code, quotes and comments masked."""
    is_slash = _SLASH.match(line) is not None
    if not is_slash and not (_BARE.match(line) and quotes.last_is_ours(number)):
        return None
    pattern, read = (_SLASH, _slash) if is_slash else (_BARE, _bare)
    if pattern.match(prose):
        return read(number, _with_code(line, prose))
    if quotes.hold(number) and read(number, line):
        why = "GitHub shows this line as a part of the quote above it. Leave an empty line between them."
        return WrongCommand(number, _text(line), why)
    return None


def _slash(number: int, line: str) -> Command | WrongCommand | None:
    match = _SLASH.match(line)
    if match is None:
        return None
    given = match[1].strip("`*_.,:;!").lower()
    if given not in set(Verb):
        return WrongCommand(number, _text(line), _unknown(given))
    return _said(number, line, Verb(given), line[match.end() :])


def _bare(number: int, line: str) -> Command | WrongCommand | None:
    match = _BARE.match(line)
    if match is None:
        return None
    verb, operands = Verb(match[1].lower()), line[match.end() :]
    said = _said(number, line, verb, operands)
    # "Confirm that it works for you" is no answer to us.
    return said if isinstance(said, Command) or _labels(operands)[0] else None


def _said(number: int, line: str, verb: Verb, operands: str) -> Command | WrongCommand:
    if _ANOTHER.search(operands):
        # Taken for a reason it would never be carried out.
        return WrongCommand(number, _text(line), "Another command begins here. Write each on a line of its own.")
    labels, rest = _labels(operands)
    if verb is Verb.DISPUTE:
        if _WORDY.search(rest):
            labels, rest = _labels(operands, _LABEL_BEFORE_WORDS)
        slip = None if labels else _slip(rest)
        if slip is not None:
            return WrongCommand(number, _text(line), slip)
        return Command(number, _text(line), verb, labels, _text(rest.lstrip(" \t,.:;!)–—-")))
    rest = rest.strip(" \t,.!")
    fits = {Verb.CONFIRM: True, Verb.EXPLAIN: len(labels) == 1}.get(verb, not labels)
    if fits and not rest:
        return Command(number, _text(line), verb, labels)
    return WrongCommand(number, _text(line), _misfit(verb, rest))


def _slip(reason: str) -> str | None:
    """What is wrong where a reason begins like a label: taken for a reason it would answer to all that was found."""
    first = re.match(r"\s*([A-Z]{1,3})\b(?!['’])", reason)
    if first is not None and first[1] not in _WORDS_IN_CAPITALS:
        return f"“{first[1]}” is no label. The labels are {_NAMES}."
    said = _words(reason)
    named = next((label for label in Label if label is not Label.OTHERS and said.startswith(label.words.lower())), None)
    return f"For {named.words} write {named}." if named else None


_WORDS_IN_CAPITALS = frozenset({"I", "A", "NO", "OK", "PR", "API", "CI", "CLI", "WIP", "UI", "WE", "IT", "IF", "NOT"})


def _labels(operands: str, label: re.Pattern[str] = _LABEL) -> tuple[tuple[Label, ...], str]:
    """The labels with which the text begins, each once, and what follows them."""
    found: dict[Label, None] = {}
    at = 0
    while match := label.match(operands, at):
        found[_LABELS[match[1].lower()]] = None
        at = match.end()
    return tuple(found), operands[at:]


_LABELS = {label.lower(): label for label in Label}
_NAMES = f"{', '.join([*Label][:-1])} and {[*Label][-1]}"
_WORDY = re.compile(r"\w")


def _unknown(given: str) -> str:
    if not given:
        return f"Say what to do. `{Verb.HELP.usage}` lists the commands."
    near = difflib.get_close_matches(given[:40], list(Verb), 1)
    meant = f"Did you mean `{Verb(near[0]).usage}`?" if near else f"`{Verb.HELP.usage}` lists the commands."
    return f"There is no command “{inert(given, 40)}”. {meant}"


def _misfit(verb: Verb, rest: str) -> str:
    if verb not in _OPERANDS:
        return f"`{verb.usage}` stands alone on its line. Take away what follows it."
    if rest:
        return f"“{inert(rest, 40)}” is no label. The labels are {_NAMES}."
    return f"Name one label, such as `{WORD} {verb} {Label.SC}`. The labels are {_NAMES}."


def _text(line: str) -> str:
    return line.strip()[:_LONGEST]


def _words(line: str) -> str:
    return " ".join(line.lower().split())


def _with_code(line: str, prose: str) -> str:
    """The line without its HTML comments; inline code stays, since people quote names in a reason."""
    return "".join(raw if seen == HIDDEN else seen for raw, seen in zip(line, prose, strict=True))
