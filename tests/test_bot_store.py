"""The App's database: what is kept once, what is deleted, and that migrations and tables are the same thing."""

from __future__ import annotations

import stat
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from checks_of_pairs import checked_pair
from databases import KINDS, database
from fakes import load_pair

from bot import tables
from bot.checked import Answer, AnswerKind, Standing, inputs_of
from bot.model_replies import Replies
from bot.store import PullRequest, Run, Store, open_store
from checker.model import Reply, Request, Usage
from checker.taxonomy import Label

AT = datetime(2026, 3, 4, 15, 16, 17, tzinfo=UTC)


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with database(request.param, tmp_path) as url:
        opened = open_store(url)
        yield opened
        opened.close()


@pytest.fixture
def known(store: Store) -> PullRequest:
    return store.pull_request(7, 100, "ann/tool", 9)


def run_of(pull_request: PullRequest, name: str = "run-1", trigger: int = 1) -> Run:
    return Run(name, pull_request.id, "a" * 40, trigger, False, "drafts: true\n")


def test_the_migrations_make_the_tables_that_the_code_knows(store: Store) -> None:
    with store._engine.begin() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": False})
        found = [one for one in compare_metadata(context, tables.metadata) if not _is_of_dbos(one)]
    assert found == []


def _is_of_dbos(difference: object) -> bool:
    return "dbos" in repr(difference)


def test_opening_it_again_changes_nothing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'kept.sqlite'}"
    first = open_store(url)
    made = first.pull_request(7, 100, "ann/tool", 9)
    first.close()
    again = open_store(url)
    assert again.pull_request(7, 100, "ann/tool", 9) == made
    again.close()


def test_several_that_open_it_at_once_make_the_tables_once(tmp_path: Path) -> None:
    with database("postgresql", tmp_path) as url:
        opened: list[Store] = []
        threads = [threading.Thread(target=lambda: opened.append(open_store(url))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for one in opened:
            one.close()
        assert len(opened) == 4


def test_a_pull_request_is_one_row_by_its_numbers_whatever_its_repository_is_called(store: Store) -> None:
    first = store.pull_request(7, 100, "ann/tool", 9)
    renamed = store.pull_request(7, 100, "ann/gadget", 9)
    assert renamed == replace(first, repository="ann/gadget")
    store.rename(100, "bob/gadget", 8)
    assert store.known(100, 9) == replace(first, repository="bob/gadget", installation=8)
    assert store.known(100, 10) is None


def test_a_trigger_is_kept_once_for_each_delivery_and_numbers_grow(store: Store, known: PullRequest) -> None:
    first = store.trigger(known.id, key="d1", why="opened", who="ben", at=AT)
    again = store.trigger(known.id, key="d1", why="opened", who="ben", at=AT + timedelta(hours=1))
    second = store.trigger(known.id, key="d2", why="synchronize", who="ben", at=AT + timedelta(seconds=1))
    assert first == again < second == store.newest_trigger(known.id)
    assert store.reasons(known.id, first) == {"synchronize"}
    assert store.trigger_times(known.id, AT) == [AT + timedelta(seconds=1)]
    assert store.trigger_times_of("ben", 100, AT - timedelta(hours=1)) == [AT, AT + timedelta(seconds=1)]
    assert store.trigger_times_of("ben", 101, AT - timedelta(hours=1)) == []


def test_what_a_finished_check_has_covered_never_shrinks(store: Store, known: PullRequest) -> None:
    store.cover(known.id, 5)
    store.cover(known.id, 3)
    found = store.by_id(known.id)
    assert found is not None
    assert found.covered == 5


async def test_a_check_comes_back_as_it_was_kept(store: Store, known: PullRequest) -> None:
    pair = load_pair("scope-creep-and-literal")
    made = await checked_pair(pair)
    run = run_of(known)
    store.begin_run(run, AT)
    assert (store.run(run.id), store.checked(run.id), store.last_checked(known.id)) == (run, None, None)
    store.keep_pair(run.id, pair, inputs_of(pair))
    assert store.pair(run.id) == pair
    kept = replace(made, run=run.id, repository="ann/tool", number=9, head_sha=run.head_sha)
    store.keep_report(run.id, kept)
    assert store.checked(run.id) == store.last_checked(known.id) == kept


def test_a_run_that_begins_anew_reads_the_head_of_that_moment(store: Store, known: PullRequest) -> None:
    store.begin_run(run_of(known), AT)
    moved = replace(run_of(known), head_sha="b" * 40)
    store.begin_run(moved, AT)
    assert store.run("run-1") == moved


def test_issues_lead_to_the_pull_requests_whose_last_check_read_them(store: Store, known: PullRequest) -> None:
    pair = load_pair("aligned")
    (issue,) = pair.issues
    home = issue.repository or pair.repository or ""
    store.begin_run(run_of(known), AT)
    store.keep_pair("run-1", pair, {})
    assert [one.id for one in store.linked_to(home.upper(), issue.number)] == [known.id]
    assert [one.id for one in store.linked_to(home, None)] == [known.id]
    store.keep_pair("run-1", replace(pair, issues=()), {})
    assert store.linked_to(home, issue.number) == []


def linked(store: Store, pull_request: PullRequest) -> set[tuple[str, int]]:
    table = tables.linked_issues
    query = sa.select(table.c.repository, table.c.number).where(table.c.pull_request == pull_request.id)
    return {(row.repository, row.number) for row in store.select(query)}


def link(store: Store, pull_request: PullRequest, *homes: str) -> None:
    """As a check that read issue 1 of each of these repositories."""
    pair = load_pair("aligned")
    run = replace(run_of(pull_request), id=f"run of {pull_request.id}")
    store.begin_run(run, AT)
    issues = tuple(replace(pair.issues[0], repository=home, number=1) for home in homes)
    store.keep_pair(run.id, replace(pair, issues=issues), {})


def test_a_repository_of_another_name_keeps_its_pull_requests_and_the_links_to_its_issues(
    store: Store, known: PullRequest
) -> None:
    other, elsewhere = store.pull_request(7, 100, known.repository, 10), store.pull_request(7, 200, "ann/kit", 1)
    link(store, other, known.repository)
    link(store, elsewhere, known.repository, "Bob/Gadget", "ann/kit")
    assert not store.is_renamed(100, known.repository)
    assert store.is_renamed(100, "Bob/Gadget")
    store.rename(100, "Bob/Gadget", 8)
    assert not store.is_renamed(100, "Bob/Gadget")
    assert [one.repository for one in (store.by_id(known.id), store.by_id(other.id)) if one] == ["Bob/Gadget"] * 2
    assert (linked(store, other), linked(store, elsewhere)) == (
        {("bob/gadget", 1)},
        {("bob/gadget", 1), ("ann/kit", 1)},
    )


def test_an_account_of_another_login_keeps_all_that_it_owns_and_nothing_of_others(store: Store) -> None:
    names = ("an_n/tool", "An_n/Kit", "anxn/tool", "bob/an_n")
    pulls = [store.pull_request(7, number, name, 1) for number, name in enumerate(names, 1)]
    link(store, pulls[2], "an_n/tool", "AN_N/unknown", "anxn/tool")
    store.rename_account(7, "An_N", "Eva")
    assert [found.repository for one in pulls if (found := store.by_id(one.id))] == [
        "Eva/tool",
        "Eva/Kit",
        "anxn/tool",
        "bob/an_n",
    ]
    assert linked(store, pulls[2]) == {("eva/tool", 1), ("eva/unknown", 1), ("anxn/tool", 1)}


def test_check_runs_are_known_by_head_until_they_are_concluded(store: Store, known: PullRequest) -> None:
    store.keep_check_run(known.id, "a" * 40, 1, concluded=False)
    store.keep_check_run(known.id, "b" * 40, 2, concluded=False)
    assert store.open_check_runs(known.id, but="b" * 40) == [("a" * 40, 1)]
    store.keep_check_run(known.id, "a" * 40, 1, concluded=True)
    assert store.open_check_runs(known.id, but="b" * 40) == []
    assert store.check_run(known.id, "a" * 40) == (1, True)
    assert [one.id for one in store.with_head(100, "a" * 40)] == [known.id]
    assert store.with_head(101, "a" * 40) == []


def test_a_command_and_an_answer_are_kept_once(store: Store, known: PullRequest) -> None:
    row = {"comment_id": 1, "updated_at": "t", "line": 2, "text": "/paichecker dispute", "who": "mona", "at": AT}
    answer = Answer(AnswerKind.DISPUTE, "mona", Standing.MAINTAINER, AT, Label.SC, "no", "digest")
    for _ in range(2):
        store.begin_commands(1, [{"pull_request": known.id, **row}])
        store.keep_answer(known.id, "1/t/2/SC", answer, run="run-1", backend="rules")
    assert (store.is_begun(1), store.done_commands(1)) == (True, [])
    store.finish_commands(1)
    assert (store.is_begun(1), store.done_commands(1)) == (False, ["/paichecker dispute"])
    assert store.answers(known.id) == (answer,)
    assert store.command_times(known.id, AT - timedelta(1)) == store.command_times_of("mona", 100, AT - timedelta(1))


def test_replies_are_seen_by_their_own_installation_alone(store: Store) -> None:
    request = Request(model="m", system="s", messages=(), schema={}, tools=())
    reply = Reply(({"type": "text", "text": "{}"},), "end_turn", Usage(1, 2), "m")
    mine, others = Replies(store, 7, lambda: AT), Replies(store, 8, lambda: AT)
    mine.put("pair", request, 0, reply)
    mine.put("pair", request, 0, replace(reply, stop_reason="other"))
    assert mine.get("pair", request, 0) == reply
    assert others.get("pair", request, 0) is mine.get("pair", request, 1) is mine.get("another", request, 0) is None


def test_forgetting_an_installation_leaves_nothing_of_it_and_all_of_others(store: Store, known: PullRequest) -> None:
    other = store.pull_request(8, 200, "bob/kit", 9)
    for one in (known, other):
        run = run_of(one, f"run-{one.id}")
        store.begin_run(run, AT)
        store.keep_pair(run.id, load_pair("aligned"), {})
        store.trigger(one.id, key=f"d{one.id}", why="opened", who="ben", at=AT)
        store.keep_check_run(one.id, run.head_sha, 1, concluded=True)
        answer = Answer(AnswerKind.CONFIRM, "mona", Standing.MAINTAINER, AT)
        store.keep_answer(one.id, f"a{one.id}", answer, run=None, backend=None)
        Replies(store, one.installation, lambda: AT).put(
            "pair",
            Request(model="m", system="s", messages=(), schema={}, tools=()),
            0,
            Reply((), "end_turn", Usage(), "m"),
        )
    counts = {table: _count(store, table) for table in tables.metadata.sorted_tables}
    store.forget(installation=7)
    for table, before in counts.items():
        assert _count(store, table) == before // 2, table.name
    store.forget(installation=8, repository_id=200)
    assert store.known(200, 9) is None


def _count(store: Store, table: sa.Table) -> int:
    return int(store.select(sa.select(sa.func.count()).select_from(table))[0][0])


def test_the_app_remembers_the_last_value_of_a_name(store: Store) -> None:
    store.remember("alive", "a")
    store.remember("alive", {"b": 1})
    assert (store.recall("alive"), store.recall("other")) == ({"b": 1}, None)


def test_times_keep_their_moment_and_one_without_a_zone_is_refused(store: Store, known: PullRequest) -> None:
    east = AT.astimezone(datetime.fromisoformat("2026-03-04T20:00:00+05:30").tzinfo)
    store.trigger(known.id, key="d1", why="opened", who=None, at=east)
    assert store.trigger_times(known.id, AT - timedelta(1)) == [AT]
    with pytest.raises(sa.exc.StatementError, match="without a zone"):
        store.trigger(known.id, key="d2", why="opened", who=None, at=AT.replace(tzinfo=None))


def test_many_at_once_neither_fail_nor_lose(store: Store, known: PullRequest) -> None:
    """As threads of the event loop's pool do it."""

    def write(name: int) -> None:
        for number in range(20):
            store.trigger(known.id, key=f"{name}-{number}", why="opened", who=None, at=AT)
            with suppress(IndexError):
                store.newest_trigger(known.id)

    threads = [threading.Thread(target=write, args=(name,)) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.trigger_times(known.id, AT - timedelta(1))) == 120


def test_the_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "kept.sqlite"
    path.touch(mode=0o600)
    store = open_store(f"sqlite:///{path}")
    store.pull_request(7, 100, "ann/tool", 9)
    assert {stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()} == {0o600}
    store.close()
