"""What people say in comments: commands are carried out, each once; other answers of maintainers are noted."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from bot import writing
from bot.checked import Checked, Standing
from bot.command_answers import Reaction, absent, explain, help_text
from bot.commands import Command, Verb, WrongCommand, new_commands, read_commands, refusal
from bot.examining import show_answers, shown_check
from bot.feedback import answers_to, unclassified
from bot.pauses import checks_end, commands_end, no_check, no_command, say_once_an_hour
from bot.quotes import quoting
from bot.repo_config import PATH, read_config
from bot.settings import Mode
from bot.store import PullRequest
from bot.tasks import Task
from bot.work import Work, threaded
from checker.github.client import Client, GitHubError

log = logging.getLogger(__name__)

_IGNORED = "A maintainer set this pull request aside. `/paichecker resume` takes that back."
_WRITERS = frozenset({"admin", "write", "maintain"})


@dataclass(frozen=True)
class Said:
    """A comment as it is now, and who is to answer for what it says."""

    comment: int
    body: str
    updated_at: str
    who: str
    standing: Standing


async def hear(work: Work, task: Task, pull_request: PullRequest) -> str | None:
    """Carries out what is new in a comment. Where it asks for a check, under what key: one for each state of it.

    What it did is begun until `finish_commands`: the check is to be asked for first.
    """
    async with work.installations.client(pull_request.installation, pull_request.repository_id) as client:
        comment = await writing.read_comment(client, pull_request.repository, task.comment_id)
        author = (comment or {}).get("user") or {}
        if comment is None or task.is_bot or author.get("type") == "Bot":
            return None
        ours = await _our_comment(work, client, pull_request)
        found = read_commands(comment["body"] or "", quotes_ours=quoting(ours) if ours else None)
        fresh = await _fresh(work, task.comment_id, found)
        if not fresh and (found or ours is None or task.why == "edited"):
            return None
        if await is_shadow(work, client, pull_request):
            return None
        pull_request = await _with_author(work, client, pull_request)
        standing = await _standing_of_all(client, pull_request, task.who, author.get("login", "ghost"))
        said = Said(task.comment_id, comment["body"] or "", comment["updated_at"], task.who, standing)
        if not fresh:
            await _note_answer(work, pull_request, said)
            return None
        asks = await _Conversation(work, client, pull_request, said).carry_out(fresh)
        return f"{said.comment}/{said.updated_at}" if asks else None


async def is_shadow(work: Work, client: Client, pull_request: PullRequest) -> bool:
    """Whether nothing is to be seen of us there: by the operator's mode, or by the repository's settings.

    They are read each time: who takes `shadow` back, and says `recheck`, is to be heard.
    """
    text = await writing.settings_file(client, pull_request.repository, PATH)
    return (read_config(text, models=work.engine.models).mode or work.mode) is Mode.SHADOW


async def _with_author(work: Work, client: Client, pull_request: PullRequest) -> PullRequest:
    """Known after the first check; a command may come before it."""
    if pull_request.author is not None:
        return pull_request
    now = await writing.pull_request(client, pull_request.repository, pull_request.number)
    author = (now.get("user") or {}).get("login", "ghost")
    await threaded(work.store.change, pull_request.id, author=author)
    return replace(pull_request, author=author)


async def standing_of(client: Client, pull_request: PullRequest, who: str) -> Standing:
    """Asked of the API: payloads show private members as strangers."""
    if await writing.permission(client, pull_request.repository, who) in _WRITERS:
        return Standing.MAINTAINER
    return Standing.AUTHOR if who == pull_request.author else Standing.STRANGER


async def _standing_of_all(client: Client, pull_request: PullRequest, who: str, author: str) -> Standing:
    """Of who wrote a comment and who edited it the lesser standing.

    Both may have written any line: after a maintainer's edit its author may have edited it again before we read it.
    """
    standings = {await standing_of(client, pull_request, login) for login in {who, author}}
    return max(standings, key=[Standing.MAINTAINER, Standing.AUTHOR, Standing.STRANGER].index)


async def _our_comment(work: Work, client: Client, pull_request: PullRequest) -> str | None:
    """The text of our comment, where there is one: only then can it be quoted, or answered to."""
    if pull_request.comment_id is None or pull_request.comment_gone:
        return None
    comment = await writing.read_comment(client, pull_request.repository, pull_request.comment_id)
    return str(comment["body"]) if comment else None


async def _fresh(
    work: Work, comment: int, found: Sequence[Command | WrongCommand]
) -> tuple[Command | WrongCommand, ...]:
    """Those that were not carried out before, told apart by their words: of an edited comment only what is new.

    What was begun and not done is done again: the App was stopped amid it, and the comment may say more since.
    """
    return new_commands(found, await threaded(work.store.done_commands, comment))


async def _note_answer(work: Work, pull_request: PullRequest, said: Said) -> None:
    if said.standing is Standing.MAINTAINER:
        answer = unclassified(said.who, said.standing, _time(said.updated_at))
        checked = await threaded(work.store.checked, pull_request.comment_run)
        await _keep(work, pull_request, f"{said.comment}", answer, checked)


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


async def _keep(work: Work, pull_request: PullRequest, key: str, answer: Any, checked: Checked | None) -> None:
    run, backend = (checked.run, checked.report.backend) if checked else (None, None)
    await threaded(work.store.keep_answer, pull_request.id, key, answer, run=run, backend=backend)


class _Conversation:
    """One comment's commands. Everything here may be done twice: rows have keys, reactions are the same, answers are
    looked for before they are written.
    """

    def __init__(self, work: Work, client: Client, pull_request: PullRequest, said: Said) -> None:
        self._work = work
        self._client = client
        self._pull_request = pull_request
        self._said = said
        self._asks = False
        self._answered = False
        self._begun = False

    async def carry_out(self, commands: Sequence[Command | WrongCommand]) -> bool:
        """All commands from top to bottom; whether they ask for a check."""
        if not await self._is_within_caps(commands):
            return False
        for command in commands:
            await self._carry_out(command)
        if self._answered:
            await show_answers(self._work, self._client, self._pull_request.id)
        return self._asks

    async def _is_within_caps(self, commands: Sequence[Command | WrongCommand]) -> bool:
        """Beyond the caps one comment within an hour is answered, with when to come again."""
        store = self._work.store
        until = await commands_end(self._work, self._pull_request, self._said.who)
        # What was begun is finished.
        self._begun = await threaded(store.is_begun, self._said.comment)
        if until is not None and not self._begun:
            log.info("more commands than allowed: left alone", extra=self._about())
            await say_once_an_hour(self._work, self._client, self._pull_request, no_command(until))
            return False
        await threaded(store.begin_commands, self._said.comment, [self._row(command) for command in commands])
        return True

    def _row(self, command: Command | WrongCommand) -> dict[str, Any]:
        return {
            "pull_request": self._pull_request.id,
            "comment_id": self._said.comment,
            "updated_at": self._said.updated_at,
            "line": command.line,
            "text": command.text,
            "who": self._said.who,
            "at": self._work.now(),
        }

    async def _carry_out(self, command: Command | WrongCommand) -> None:
        refused = refusal(command, self._said.standing)
        if refused is not None:
            await self._refuse(command, refused.says)
        elif isinstance(command, WrongCommand):
            await self._refuse(command, command.why)
        elif command.verb in (Verb.CONFIRM, Verb.DISPUTE):
            await self._note(command)
        elif command.verb is Verb.RECHECK and self._pull_request.ignored:
            await self._refuse(command, _IGNORED)
        elif command.verb is Verb.RECHECK:
            await self._recheck()
        else:
            await self._do(command)

    async def _recheck(self) -> None:
        until = None if self._begun else await self._no_check_until()
        if until is None:
            self._asks = True
            await self._react(Reaction.STARTED)
        else:
            await self._react(Reaction.REFUSED)
            await say_once_an_hour(self._work, self._client, self._pull_request, no_check(until))

    async def _no_check_until(self) -> datetime | None:
        async def is_maintainer() -> bool:
            return self._said.standing is Standing.MAINTAINER

        return await checks_end(self._work, self._pull_request, self._said.who, is_maintainer=is_maintainer)

    async def _do(self, command: Command) -> None:
        match command.verb:
            case Verb.IGNORE | Verb.RESUME:
                ignored = command.verb is Verb.IGNORE
                await threaded(self._work.store.change, self._pull_request.id, ignored=ignored)
                self._asks = self._asks or not ignored
            case Verb.EXPLAIN:
                checked = await self._checked()
                await self._answer(command, explain(command.labels[0], checked, web=self._work.web))
            case _:
                await self._answer(command, help_text())
        await self._react(Reaction.DONE)

    async def _note(self, command: Command) -> None:
        if self._begun and await self._is_answered(command):
            # It was refused before the App was stopped; a check that was made meanwhile does not take that back.
            await self._react(Reaction.REFUSED)
            return
        entry = f"{self._said.comment}/{self._said.updated_at}/{command.line}/"
        # What is done once more answers to the check that it answered to the first time.
        run = await threaded(self._work.store.answered_run, entry) if self._begun else None
        checked = await threaded(self._work.store.checked, run) or await self._checked()
        missing = absent(command, checked.report if checked else None)
        if missing is not None or checked is None:
            await self._refuse(command, missing)
            return
        said = self._said
        for answer in answers_to(command, checked, who=said.who, standing=said.standing, at=_time(said.updated_at)):
            key = f"{entry}{answer.label}/{answer.evidence}"
            await _keep(self._work, self._pull_request, key, answer, checked)
        self._answered = True
        await self._react(Reaction.DONE)

    async def _refuse(self, command: Command | WrongCommand, says: str | None) -> None:
        await self._react(Reaction.REFUSED)
        if says:
            await self._answer(command, says)

    async def _react(self, reaction: Reaction) -> None:
        """A sign of courtesy: where GitHub refuses it, the command is carried out all the same."""
        try:
            await writing.react(self._client, self._pull_request.repository, self._said.comment, reaction.value)
        except GitHubError as error:
            if error.status is None:
                raise
            log.info("a reaction was refused: %s", error, extra=self._about())

    async def _answer(self, command: Command | WrongCommand, text: str) -> None:
        """A comment of its own, found again by what it answers to."""
        if not await self._is_answered(command):
            place = (self._client, self._pull_request.repository, self._pull_request.number)
            await writing.create_comment(*place, f"{self._mark(command)}\n{text}")

    async def _is_answered(self, command: Command | WrongCommand) -> bool:
        place = (self._client, self._pull_request.repository, self._pull_request.number)
        return await writing.find_comment(*place, begin=self._mark(command), login=self._work.login) is not None

    def _mark(self, command: Command | WrongCommand) -> str:
        return f"<!-- paichecker:answer {self._said.comment}/{self._said.updated_at}/{command.line} -->"

    async def _checked(self) -> Checked | None:
        return await shown_check(self._work, self._pull_request)

    def _about(self) -> dict[str, object]:
        return {"repository": self._pull_request.repository, "number": self._pull_request.number}
