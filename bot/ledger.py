"""What people said and did to pull requests, kept: commands, answers to findings, thumbs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from bot import tables
from bot.checked import Answer, AnswerKind, Standing
from bot.database import Database, are
from bot.tables import Row
from checker import __version__
from checker.taxonomy import Label


class Ledger(Database):
    """The part of the App's database (`bot.store`) that people write by what they say."""

    # Commands and answers

    def done_commands(self, comment_id: int) -> list[str]:
        """The texts of a comment's commands that were carried out, as often as they were."""
        table = tables.commands
        with self._begin() as connection:
            wanted = are(table, comment_id=comment_id, done=True)
            return list(connection.execute(sa.select(table.c.text).where(wanted)).scalars())

    def begin_commands(self, comment_id: int, rows: Sequence[Row]) -> None:
        """Keeps the commands of a comment that are begun now."""
        table = tables.commands
        key = ("comment_id", "updated_at", "line")
        with self._begin() as connection:
            # Whatever of them the comment still says is among those that are begun now.
            connection.execute(sa.delete(table).where(are(table, comment_id=comment_id, done=False)))
            for row in rows:
                self._insert(connection, table, {**row, "done": False}, update={**row, "done": False}, on=key)

    def is_begun(self, comment_id: int) -> bool:
        """Whether the App was stopped amid the commands of a comment."""
        table = tables.commands
        with self._begin() as connection:
            wanted = are(table, comment_id=comment_id, done=False)
            return connection.execute(sa.select(table.c.id).where(wanted)).first() is not None

    def finish_commands(self, comment_id: int) -> None:
        """The commands of a comment were carried out to their end."""
        with self._begin() as connection:
            wanted = are(tables.commands, comment_id=comment_id)
            connection.execute(sa.update(tables.commands).where(wanted).values(done=True))

    def command_times(self, pull_request: int, since: datetime) -> list[datetime]:
        """When commands were given on a pull request."""
        table = tables.commands
        return self._times(table.c.at, table.c.pull_request == pull_request, table.c.at > since)

    def command_times_of(self, who: str, repository_id: int, since: datetime) -> list[datetime]:
        """When somebody gave commands in a repository."""
        table = tables.commands
        of_repository = table.c.pull_request.in_(pull_requests_of(repository_id))
        return self._times(table.c.at, table.c.who == who, of_repository, table.c.at > since)

    def keep_answer(self, pull_request: int, key: str, answer: Answer, *, run: str | None, backend: str | None) -> None:
        """An entry of the ledger, once for each key."""
        values = {
            "pull_request": pull_request,
            "key": key,
            "kind": answer.kind.value,
            "label": answer.label.value if answer.label else None,
            "who": answer.who,
            "standing": answer.standing.value,
            "at": answer.at,
            "reason": answer.reason,
            "evidence": answer.evidence,
            "run": run,
            "backend": backend,
            "version": __version__,
        }
        with self._begin() as connection:
            self._insert(connection, tables.answers, values)

    def answered_run(self, key: str) -> str | None:
        """The check that an entry of the ledger answers to; `key`: how its key begins."""
        table = tables.answers
        with self._begin() as connection:
            wanted = table.c.key.startswith(key, autoescape=True)
            return connection.execute(sa.select(table.c.run).where(wanted).limit(1)).scalar()

    def answers(self, pull_request: int) -> tuple[Answer, ...]:
        """What was said to findings of a pull request, the oldest first."""
        table = tables.answers
        query = sa.select(table).where(table.c.pull_request == pull_request).order_by(table.c.at, table.c.id)
        with self._begin() as connection:
            return tuple(_answer(row._mapping) for row in connection.execute(query))

    # Thumbs

    def keep_thumbs(self, pull_request: int, comment_id: int, thumbs: Iterable[tuple[str, str]], at: datetime) -> None:
        """The thumbs that a comment has now, each as who and content; others that it had are gone from now on.

        Of a pull request that was deleted meanwhile nothing is kept.
        """
        table = tables.thumbs
        of_comment = (table.c.pull_request == pull_request) & (table.c.comment_id == comment_id)
        # Two transactions that change many rows in different orders end in a deadlock: the second waits for the first.
        lock = (
            sa.select(tables.pull_requests.c.id)
            .where(are(tables.pull_requests, id=pull_request))
            .with_for_update(key_share=True)
        )
        with self._begin() as connection:
            if connection.execute(lock).one_or_none() is None:
                return
            connection.execute(sa.update(table).where(of_comment, table.c.gone_at.is_(None)).values(gone_at=at))
            for who, content in thumbs:
                key = {"pull_request": pull_request, "comment_id": comment_id, "who": who, "content": content}
                self._insert(connection, table, {**key, "seen_at": at}, update={"gone_at": None}, on=tuple(key))


def pull_requests_of(repository_id: int) -> sa.Select[tuple[int]]:
    """The ids of a repository's pull requests."""
    return sa.select(tables.pull_requests.c.id).where(tables.pull_requests.c.repository_id == repository_id)


def _answer(row: Any) -> Answer:
    return Answer(
        kind=AnswerKind(row["kind"]),
        who=row["who"],
        standing=Standing(row["standing"]),
        at=row["at"],
        label=Label(row["label"]) if row["label"] else None,
        reason=row["reason"],
        evidence=row["evidence"],
    )
