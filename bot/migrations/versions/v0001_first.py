"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    """From nothing."""
    op.create_table(
        "pull_requests",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("installation", _NUMBER, nullable=False),
        sa.Column("repository_id", _NUMBER, nullable=False),
        sa.Column("repository", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("author", sa.Text(), nullable=True),
        sa.Column("covered", _NUMBER, server_default="0", nullable=False),
        sa.Column("comment_id", _NUMBER, nullable=True),
        sa.Column("comment_gone", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("comment_run", sa.Text(), nullable=True),
        sa.Column("comment_before", sa.Text(), nullable=True),
        sa.Column("ignored", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pull_requests")),
        sa.UniqueConstraint("repository_id", "number", name=op.f("uq_pull_requests_repository_id_number")),
    )
    op.create_index(op.f("ix_pull_requests_installation"), "pull_requests", ["installation"], unique=False)
    op.create_table(
        "replies",
        sa.Column("installation", _NUMBER, nullable=False),
        sa.Column("pair", sa.Text(), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("sample", sa.Integer(), nullable=False),
        sa.Column("reply", sa.JSON(), nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("installation", "pair", "request", "sample", name=op.f("pk_replies")),
    )
    op.create_table(
        "state",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_state")),
    )
    op.create_table(
        "answers",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("pull_request", _NUMBER, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("standing", sa.Text(), nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("evidence", sa.Text(), server_default="", nullable=False),
        sa.Column("run", sa.Text(), nullable=True),
        sa.Column("backend", sa.Text(), nullable=True),
        sa.Column("version", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["pull_request"], ["pull_requests.id"], name=op.f("fk_answers_pull_request"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_answers")),
        sa.UniqueConstraint("key", name=op.f("uq_answers_key")),
    )
    op.create_index(op.f("ix_answers_pull_request"), "answers", ["pull_request"], unique=False)
    op.create_table(
        "check_runs",
        sa.Column("pull_request", _NUMBER, nullable=False),
        sa.Column("head_sha", sa.Text(), nullable=False),
        sa.Column("check_run_id", _NUMBER, nullable=False),
        sa.Column("concluded", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.ForeignKeyConstraint(
            ["pull_request"], ["pull_requests.id"], name=op.f("fk_check_runs_pull_request"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("pull_request", "head_sha", name=op.f("pk_check_runs")),
    )
    op.create_table(
        "commands",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("pull_request", _NUMBER, nullable=False),
        sa.Column("comment_id", _NUMBER, nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["pull_request"], ["pull_requests.id"], name=op.f("fk_commands_pull_request"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_commands")),
        sa.UniqueConstraint("comment_id", "updated_at", "line", name=op.f("uq_commands_comment_id_updated_at_line")),
    )
    op.create_index(op.f("ix_commands_pull_request"), "commands", ["pull_request"], unique=False)
    op.create_table(
        "linked_issues",
        sa.Column("pull_request", _NUMBER, nullable=False),
        sa.Column("repository", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["pull_request"], ["pull_requests.id"], name=op.f("fk_linked_issues_pull_request"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("pull_request", "repository", "number", name=op.f("pk_linked_issues")),
    )
    op.create_index(op.f("ix_linked_issues_repository_number"), "linked_issues", ["repository", "number"], unique=False)
    op.create_table(
        "runs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("pull_request", _NUMBER, nullable=False),
        sa.Column("head_sha", sa.Text(), nullable=False),
        sa.Column("trigger", _NUMBER, nullable=False),
        sa.Column("started_at", _TIME, nullable=False),
        sa.Column("finished_at", _TIME, nullable=True),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("shadow", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("config", sa.JSON(), nullable=True),
        sa.Column("pair", sa.JSON(), nullable=True),
        sa.Column("inputs", sa.JSON(), nullable=True),
        sa.Column("report", sa.JSON(), nullable=True),
        sa.Column("verdict", sa.Text(), nullable=True),
        sa.Column("version", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["pull_request"], ["pull_requests.id"], name=op.f("fk_runs_pull_request"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
    )
    op.create_index(op.f("ix_runs_pull_request"), "runs", ["pull_request"], unique=False)
    op.create_table(
        "thumbs",
        sa.Column("pull_request", _NUMBER, nullable=False),
        sa.Column("comment_id", _NUMBER, nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("seen_at", _TIME, nullable=False),
        sa.Column("gone_at", _TIME, nullable=True),
        sa.ForeignKeyConstraint(
            ["pull_request"], ["pull_requests.id"], name=op.f("fk_thumbs_pull_request"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("pull_request", "comment_id", "who", "content", name=op.f("pk_thumbs")),
    )
    op.create_table(
        "triggers",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("pull_request", _NUMBER, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("who", sa.Text(), nullable=True),
        sa.Column("at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["pull_request"], ["pull_requests.id"], name=op.f("fk_triggers_pull_request"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_triggers")),
        sa.UniqueConstraint("key", name=op.f("uq_triggers_key")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_triggers_pull_request"), "triggers", ["pull_request"], unique=False)
