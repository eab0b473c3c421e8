"""The tables of the App, as SQLAlchemy knows them. `bot/migrations` makes them; a test holds the two together."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class Moment(sa.TypeDecorator[datetime]):
    """A time with its zone, kept in UTC: SQLite keeps no zones."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        """Only times with a zone are taken."""
        if value is not None and value.tzinfo is None:
            raise ValueError("a time without a zone cannot be kept")
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        """SQLite gives it back without its zone."""
        return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


def _of_pull_request(*, index: bool = True) -> sa.Column[int]:
    return sa.Column("pull_request", sa.ForeignKey("pull_requests.id", ondelete="CASCADE"), nullable=False, index=index)


_BigInt = sa.BigInteger().with_variant(sa.Integer, "sqlite")

pull_requests = sa.Table(
    "pull_requests",
    metadata,
    sa.Column("id", _BigInt, primary_key=True),
    sa.Column("installation", _BigInt, nullable=False, index=True),
    sa.Column("repository_id", _BigInt, nullable=False),
    sa.Column("repository", sa.Text, nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("author", sa.Text),
    sa.Column("covered", _BigInt, nullable=False, server_default="0"),
    sa.Column("comment_id", _BigInt),
    sa.Column("comment_gone", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("comment_run", sa.Text),
    sa.Column("comment_before", sa.Text),
    sa.Column("ignored", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.UniqueConstraint("repository_id", "number"),
)
"""`covered`: the newest trigger that a finished check has seen. `comment_run`: the check that the comment shows,
`comment_before`: the one that it compares it with.
"""

triggers = sa.Table(
    "triggers",
    metadata,
    sa.Column("id", _BigInt, primary_key=True),
    _of_pull_request(),
    sa.Column("key", sa.Text, nullable=False, unique=True),
    sa.Column("why", sa.Text, nullable=False),
    sa.Column("who", sa.Text),
    sa.Column("at", Moment, nullable=False),
    sqlite_autoincrement=True,
)
"""What asked for a check. `key` is that of the delivery: a second delivery of the same asks for nothing more."""

linked_issues = sa.Table(
    "linked_issues",
    metadata,
    _of_pull_request(index=False),
    sa.Column("repository", sa.Text, nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.PrimaryKeyConstraint("pull_request", "repository", "number"),
    sa.Index(None, "repository", "number"),
)
"""Which issues the last check of a pull request read. `repository` in small letters."""

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    _of_pull_request(),
    sa.Column("head_sha", sa.Text, nullable=False),
    sa.Column("trigger", _BigInt, nullable=False),
    sa.Column("started_at", Moment, nullable=False),
    sa.Column("finished_at", Moment),
    sa.Column("seconds", sa.Float),
    sa.Column("shadow", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("config", sa.JSON),
    sa.Column("pair", sa.JSON),
    sa.Column("inputs", sa.JSON),
    sa.Column("report", sa.JSON),
    sa.Column("verdict", sa.Text),
    sa.Column("version", sa.Text, nullable=False),
)
"""One check. `config`: the text of the repository's settings as it was read, so that it does not change amid a run."""

check_runs = sa.Table(
    "check_runs",
    metadata,
    _of_pull_request(index=False),
    sa.Column("head_sha", sa.Text, nullable=False),
    sa.Column("check_run_id", _BigInt, nullable=False),
    sa.Column("concluded", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.PrimaryKeyConstraint("pull_request", "head_sha"),
)

commands = sa.Table(
    "commands",
    metadata,
    sa.Column("id", _BigInt, primary_key=True),
    _of_pull_request(),
    sa.Column("comment_id", _BigInt, nullable=False),
    sa.Column("updated_at", sa.Text, nullable=False),
    sa.Column("line", sa.Integer, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("who", sa.Text, nullable=False),
    sa.Column("at", Moment, nullable=False),
    sa.Column("done", sa.Boolean, nullable=False, server_default=sa.true()),
    sa.UniqueConstraint("comment_id", "updated_at", "line"),
)
"""Every command that was seen, wrong and refused ones too: none is carried out twice, and they count for the caps.

`done`: to its end; else the App was stopped amid it.
"""

answers = sa.Table(
    "answers",
    metadata,
    sa.Column("id", _BigInt, primary_key=True),
    _of_pull_request(),
    sa.Column("key", sa.Text, nullable=False, unique=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("label", sa.Text),
    sa.Column("who", sa.Text, nullable=False),
    sa.Column("standing", sa.Text, nullable=False),
    sa.Column("at", Moment, nullable=False),
    sa.Column("reason", sa.Text, nullable=False, server_default=""),
    sa.Column("evidence", sa.Text, nullable=False, server_default=""),
    sa.Column("run", sa.Text),
    sa.Column("backend", sa.Text),
    sa.Column("version", sa.Text, nullable=False),
)
"""The feedback ledger."""

thumbs = sa.Table(
    "thumbs",
    metadata,
    _of_pull_request(index=False),
    sa.Column("comment_id", _BigInt, nullable=False),
    sa.Column("who", sa.Text, nullable=False),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("seen_at", Moment, nullable=False),
    sa.Column("gone_at", Moment),
    sa.PrimaryKeyConstraint("pull_request", "comment_id", "who", "content"),
)
"""Thumbs on our comments: `seen_at` when first seen, `gone_at` when no longer. `content`: GitHub's `+1` or `-1`."""

replies = sa.Table(
    "replies",
    metadata,
    sa.Column("installation", _BigInt, nullable=False),
    sa.Column("pair", sa.Text, nullable=False),
    sa.Column("request", sa.Text, nullable=False),
    sa.Column("sample", sa.Integer, nullable=False),
    sa.Column("reply", sa.JSON, nullable=False),
    sa.Column("at", Moment, nullable=False),
    sa.PrimaryKeyConstraint("installation", "pair", "request", "sample"),
)
"""Finished replies of models (see `checker.replies`); no installation sees those of another."""

state = sa.Table(
    "state", metadata, sa.Column("name", sa.Text, primary_key=True), sa.Column("value", sa.JSON, nullable=False)
)
"""What the App itself remembers, e.g. until when deliveries were looked through."""

Row = dict[str, Any]
