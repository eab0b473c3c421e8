"""The database itself, SQLite in a file or PostgreSQL: how it is opened, brought up to date, and written to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.pool import NullPool

from bot import tables
from bot.tables import Row

# Any number will do that nobody else on the server takes.
_MIGRATING = 7_246_203


class Database:
    """One database. Every method is one transaction and blocks: call it in a thread."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def close(self) -> None:
        """Gives the connections back."""
        self._engine.dispose()

    @contextmanager
    def _begin(self) -> Iterator[sa.Connection]:
        with self._engine.begin() as connection:
            yield connection

    def alive(self) -> None:
        """Raises `sqlalchemy.exc.OperationalError` where the database does not answer."""
        with self._begin() as connection:
            connection.execute(sa.select(1))

    def recall(self, name: str) -> Any:
        """A value by its name, or None."""
        with self._begin() as connection:
            return connection.execute(sa.select(tables.state.c.value).where(tables.state.c.name == name)).scalar()

    def remember(self, name: str, value: Any) -> None:
        """Keeps a value under a name."""
        with self._begin() as connection:
            self._insert(
                connection, tables.state, {"name": name, "value": value}, update={"value": value}, on=("name",)
            )

    def select(self, query: sa.Select[Any]) -> Sequence[sa.Row[Any]]:
        """Rows for a report over the tables (`bot.tables`)."""
        with self._begin() as connection:
            return connection.execute(query).all()

    def _times(self, column: sa.Column[Any], *conditions: sa.ColumnElement[bool]) -> list[datetime]:
        with self._begin() as connection:
            return list(connection.execute(sa.select(column).where(*conditions)).scalars())

    def _insert(
        self,
        connection: sa.Connection,
        table: sa.Table,
        values: Row,
        *,
        update: Row | None = None,
        on: tuple[str, ...] = (),
    ) -> None:
        """One row; where it is there already, `update` of it is set, or nothing."""
        dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
        statement = dialect.insert(table).values(**values)
        if update is None:
            connection.execute(statement.on_conflict_do_nothing())
        else:
            connection.execute(statement.on_conflict_do_update(index_elements=list(on), set_=update))


def are(table: sa.Table, **columns: Any) -> sa.ColumnElement[bool]:
    """The condition that these columns have these values."""
    return sa.and_(*(table.c[name] == value for name, value in columns.items()))


def engine_url(url: str, name: str = "") -> str:
    """The address as SQLAlchemy wants it. `name`: of a second database beside it; on PostgreSQL it is the same one."""
    scheme, _, rest = url.partition("://")
    if scheme != "sqlite":
        return f"postgresql+psycopg://{rest}"
    return f"sqlite://{rest.removesuffix('.sqlite')}-{name}.sqlite" if name else url


def open_engine(url: str) -> sa.Engine:
    """The database at `sqlite:///FILE` or `postgresql://...`, brought up to its newest form.

    Raises `sqlalchemy.exc.OperationalError` where it does not answer.
    """
    engine = _engine(url)
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            # Of several processes that start at once, one migrates and the others wait.
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATING)))
        config = Config()
        config.set_main_option("script_location", "bot:migrations")
        config.set_main_option("path_separator", "os")
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    return engine


def _engine(url: str) -> sa.Engine:
    """With errors that tell the statement and not its values: people's texts stand in these, and errors are logged."""
    if not url.startswith("sqlite"):
        return sa.create_engine(engine_url(url), pool_pre_ping=True, hide_parameters=True)
    # A connection for each transaction: threads share none, and none outlives its thread.
    engine = sa.create_engine(url, poolclass=NullPool, connect_args={"timeout": 30}, hide_parameters=True)

    @sa.event.listens_for(engine, "connect")
    def _prepare(connection: Any, _: Any) -> None:
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma foreign_keys = on")

    return engine
