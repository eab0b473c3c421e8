"""Alembic's way in: the connection is given by `bot.store`."""

from __future__ import annotations

from alembic import context

from bot.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
