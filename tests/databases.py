"""Real databases for the tests: a SQLite file, and a PostgreSQL database of a random name that is dropped afterwards.

PAICHECKER_TEST_POSTGRESQL is the address of a server where databases may be made, without a database's name.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from bot import tables
from bot.store import Store, open_store

SERVER = os.environ.get("PAICHECKER_TEST_POSTGRESQL", "postgresql://postgres@127.0.0.1:5432")
KINDS = ("sqlite", "postgresql")


@contextmanager
def store_of(kind: str, folder: Path) -> Iterator[Store]:
    """A store that holds nothing yet; the test is skipped where no PostgreSQL answers."""
    with database(kind, folder) as url:
        store = open_store(url)
        yield store
        store.close()


@contextmanager
def database(kind: str, folder: Path) -> Iterator[str]:
    """The address of an empty database."""
    if kind == "sqlite":
        path = folder / "app.sqlite"
        path.touch(mode=0o600)
        yield f"sqlite:///{path}"
        return
    with _postgresql() as url:
        yield url


def empty(store: Store) -> None:
    """Takes out what earlier tests left."""
    with store._begin() as connection:
        for table in reversed(tables.metadata.sorted_tables):
            connection.execute(table.delete())


@contextmanager
def _postgresql() -> Iterator[str]:
    name = f"paichecker_test_{secrets.token_hex(6)}"
    try:
        server = psycopg.connect(f"{SERVER}/postgres", autocommit=True, connect_timeout=3)
    except psycopg.OperationalError:
        pytest.skip(f"no PostgreSQL answers at {SERVER}; PAICHECKER_TEST_POSTGRESQL names another server")
    with server:
        server.execute(f'create database "{name}"')
        try:
            yield f"{SERVER}/{name}"
        finally:
            server.execute(f'drop database "{name}" with (force)')
