"""`paichecker-bot backfill`: what was open before the App is checked and not shown, unless that is asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from bot_githubd import PullRequest, Town, town
from githubd_server import needs_githubd

from bot import tables
from bot.backfill import BackfillError, backfill

pytestmark = needs_githubd


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Town]:
    with town(tmp_path) as opened:
        yield opened


@pytest.fixture
def before(there: Town) -> list[PullRequest]:
    """Two that link an issue, one that links none, one that is closed; the App was told of none of them."""
    there.do("hooks", url="http://127.0.0.1:1/webhook")
    repository = there.repository()
    linked = [repository.open(), repository.open()]
    repository.open(body="Small things.")
    repository.open().do("close")
    there.settle()
    there.do("hooks", url=there.app.webhook)
    return linked


def asked(there: Town, repository: str, *, show: bool) -> str:
    said: list[str] = []
    asyncio.run(backfill(there.app.settings, repository, show=show, say=said.append))
    there.settle()
    return "\n".join(said)


def verdicts(there: Town) -> list[tuple[int, bool, str]]:
    query = sa.select(tables.pull_requests.c.number, tables.runs.c.shadow, tables.runs.c.verdict)
    rows = there.app.store.select(query.join(tables.pull_requests).order_by(tables.pull_requests.c.number))
    return [(row[0], row[1], row[2]) for row in rows]


def test_open_linked_pull_requests_are_checked_and_nothing_is_shown(there: Town, before: list[PullRequest]) -> None:
    name = before[0].repository.name
    assert asked(there, name, show=False).startswith(f"{name}: 2 open pull requests with a linked issue.")
    assert verdicts(there) == [(pull.number, True, "misaligned") for pull in before]
    assert [pull.comments() for pull in before] == [[], []]
    assert before[0].repository.check_runs() == []


def test_with_show_they_get_what_new_ones_get(there: Town, before: list[PullRequest]) -> None:
    assert "they are shown" in asked(there, before[0].repository.name, show=True)
    assert verdicts(there) == [(pull.number, False, "misaligned") for pull in before]
    assert [len(pull.comments()) for pull in before] == [1, 1]


def test_where_the_app_is_not_installed_is_a_sentence(there: Town) -> None:
    with pytest.raises(BackfillError, match="nobody/nothing: the App is not installed there"):
        asked(there, "nobody/nothing", show=False)
