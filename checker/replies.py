"""The reply store: finished replies, so that a re-run pays only for what is missing.

A reply is keyed by pair, hash of the whole request and sample number; a store belongs to one tenant. The
App keeps its own behind the same protocol.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Protocol

from checker.model import CannotKeep, Reply, Request, Usage

_TABLE = """
create table if not exists replies (
    pair text not null, request text not null, sample integer not null, reply text not null,
    stored_at text not null default (strftime('%Y-%m-%dT%H:%M:%fZ')),
    primary key (pair, request, sample)
) strict
"""


class ReplyStore(Protocol):
    """Where finished replies are kept."""

    def get(self, pair: str, request: Request, sample: int) -> Reply | None:
        """The reply to an equal request for this pair and sample, or None."""

    def put(self, pair: str, request: Request, sample: int, reply: Reply) -> None:
        """Keeps a finished reply; a second one for the same key is ignored."""


class SqliteReplies:
    """Replies in one SQLite file, readable by its owner only; safe for several processes at once."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600, exist_ok=True)
        self._path = path
        self._one_at_a_time = threading.Lock()
        with closing(sqlite3.connect(path, timeout=30)) as connection:
            connection.execute("pragma journal_mode = wal")
            connection.execute(_TABLE)

    @cached_property
    def _connection(self) -> sqlite3.Connection:
        """Opened by the first reply: a connection must not be taken along into a forked process (sqlite.org/faq)."""
        connection = sqlite3.connect(self._path, timeout=30, check_same_thread=False)
        weakref.finalize(self, connection.close)
        return connection

    @contextmanager
    def _usable(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one thread, with a transaction. Raises CannotKeep where the file cannot be used."""
        try:
            with self._one_at_a_time, self._connection as connection:
                yield connection
        except sqlite3.Error as error:
            raise CannotKeep(f"{self._path}: a model's replies cannot be kept there ({error})") from None

    def get(self, pair: str, request: Request, sample: int) -> Reply | None:
        """See ReplyStore. Raises CannotKeep."""
        with self._usable() as connection:
            row = connection.execute(
                "select reply from replies where pair = ? and request = ? and sample = ?", (pair, request.key, sample)
            ).fetchone()
        try:
            return read_reply(json.loads(row[0])) if row else None
        except (ValueError, LookupError, TypeError, AttributeError):
            raise CannotKeep(f"{self._path}: what is kept of {pair} is no reply; take the file away") from None

    def put(self, pair: str, request: Request, sample: int, reply: Reply) -> None:
        """See ReplyStore. Raises CannotKeep."""
        text = json.dumps(write_reply(reply), ensure_ascii=False)
        with self._usable() as connection:
            connection.execute(
                "insert or ignore into replies (pair, request, sample, reply) values (?, ?, ?, ?)",
                (pair, request.key, sample, text),
            )


def write_reply(reply: Reply) -> dict[str, object]:
    """A reply as JSON-ready data."""
    return asdict(reply)


def read_reply(data: dict[str, object]) -> Reply:
    """The reply that `write_reply` wrote."""
    fields = dict(data)
    usage, content = fields.pop("usage"), fields.pop("content")
    return Reply(content=tuple(content), usage=Usage(**usage), **fields)  # type: ignore[arg-type]
