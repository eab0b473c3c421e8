"""Finished replies of models, each seen by its own installation alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import sqlalchemy as sa

from bot import tables
from bot.database import are
from bot.store import Store
from checker.model import Reply, Request
from checker.replies import read_reply, write_reply


class Replies:
    """The reply store of one installation (see `checker.replies.ReplyStore`)."""

    def __init__(self, store: Store, installation: int, now: Callable[[], datetime]) -> None:
        self._store = store
        self._installation = installation
        self._now = now

    def get(self, pair: str, request: Request, sample: int) -> Reply | None:
        """See ReplyStore."""
        wanted = are(tables.replies, installation=self._installation, pair=pair, request=request.key, sample=sample)
        rows = self._store.select(sa.select(tables.replies.c.reply).where(wanted))
        return read_reply(rows[0][0]) if rows else None

    def put(self, pair: str, request: Request, sample: int, reply: Reply) -> None:
        """See ReplyStore."""
        key = {"installation": self._installation, "pair": pair, "request": request.key, "sample": sample}
        with self._store._begin() as connection:
            self._store._insert(connection, tables.replies, {**key, "reply": write_reply(reply), "at": self._now()})
