"""Whether a command was carried out to its end: one that was only begun is taken up again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Those that are kept so far count as carried out."""
    op.add_column("commands", sa.Column("done", sa.Boolean(), server_default=sa.true(), nullable=False))
