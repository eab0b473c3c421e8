"""What people say to the findings is kept as they said it: answers by finding, thumbs by who gave them and when."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
import sqlalchemy as sa
from aiohttp import web
from aiohttp.test_utils import TestServer
from checks_of_pairs import AT, checked, creep, literal, report
from databases import KINDS, empty, store_of
from demo_stage import Stage, open_stage

from bot import tables
from bot.answered import answered
from bot.checked import Answer, AnswerKind, Standing, digest_of
from bot.commands import Command, read_commands
from bot.demo import story
from bot.demo.objects import Comment
from bot.feedback import Thumb, answers_to, commented, note_thumbs, read_thumbs, unclassified
from bot.store import PullRequest, Store
from checker.github.address import Host
from checker.github.client import Client, GitHubError, NotFoundError, connect
from checker.report import Verdict
from checker.taxonomy import Label

FOUND = checked(report(Verdict.MISALIGNED, findings=(creep(), literal())))
MIA = {"who": "mia", "standing": Standing.MAINTAINER, "at": AT}


def said(text: str) -> tuple[Answer, ...]:
    (command,) = read_commands(f"/paichecker {text}", quotes_ours=None)
    assert isinstance(command, Command)
    return answers_to(command, FOUND, **MIA)  # type: ignore[arg-type]


def test_an_answer_is_to_the_finding_that_it_names() -> None:
    (answer,) = said("dispute UL the message stands in the issue")
    assert answer == Answer(
        AnswerKind.DISPUTE,
        "mia",
        Standing.MAINTAINER,
        AT,
        Label.UL,
        "the message stands in the issue",
        digest_of(literal()),
    )


def test_without_a_label_it_is_to_each_finding_that_stands() -> None:
    answers = said("confirm")
    assert [(one.kind, one.label, one.evidence) for one in answers] == [
        (AnswerKind.CONFIRM, Label.SC, digest_of(creep())),
        (AnswerKind.CONFIRM, Label.UL, digest_of(literal())),
    ]


def test_of_the_labels_it_names_only_those_that_stand_are_answered() -> None:
    assert [one.label for one in said("dispute FP, SC: neither")] == [Label.SC]
    assert said("confirm DP") == ()


def test_two_findings_of_one_label_are_answered_both() -> None:
    twice = checked(report(Verdict.MISALIGNED, findings=(creep(), creep("This also drops Python 2."))))
    answers = answers_to(Command(1, "", read("confirm"), (Label.SC,)), twice, **MIA)  # type: ignore[arg-type]
    assert len({one.evidence for one in answers}) == 2


def read(verb: str) -> Any:
    (command,) = read_commands(f"/paichecker {verb}", quotes_ours=None)
    assert isinstance(command, Command)
    return command.verb


def test_what_is_no_answer_is_refused() -> None:
    with pytest.raises(ValueError, match="recheck"):
        said("recheck")


def test_a_disputed_finding_is_closed_for_the_comment() -> None:
    points = answered(FOUND.report.findings, said("dispute SC it is asked for"))
    assert [(point.finding.label, point.is_open) for point in points] == [(Label.SC, False), (Label.UL, True)]


def test_an_unclassified_answer_names_no_label_and_closes_nothing() -> None:
    answer = unclassified(**MIA)  # type: ignore[arg-type]
    assert (answer.kind, answer.label, answer.reason) == (AnswerKind.UNCLASSIFIED, None, "")
    assert all(point.is_open for point in answered(FOUND.report.findings, [answer]))


# Thumbs, read from the demo's GitHub


@pytest_asyncio.fixture
async def stage() -> AsyncIterator[Stage]:
    async with open_stage() as opened:
        yield opened


@pytest.fixture(scope="module", params=KINDS)
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with store_of(request.param, tmp_path_factory.mktemp("database")) as opened:
        yield opened


@pytest.fixture
def store(database: Store) -> Store:
    empty(database)
    return database


async def our_comment(stage: Stage) -> Comment:
    pull = await stage.pull_request()
    bot = stage.world.account("paichecker-demo[bot]", "Bot")
    return stage.world.comment(pull, bot, "What PAIChecker found.")


async def read_all(stage: Stage, comment: Comment, client: Client | None = None) -> list[Thumb]:
    return await read_thumbs(client or await stage.client(stage.token()), stage.repository.full_name, comment.id)


async def test_thumbs_of_people_are_read_and_nothing_else(stage: Stage) -> None:
    comment = await our_comment(stage)
    for who, content in (
        (story.MAINTAINER, "+1"),
        (story.AUTHOR, "-1"),
        (story.STRANGER, "heart"),
        ("paichecker-demo[bot]", "+1"),
    ):
        stage.world.react(comment, stage.person(who), content)
    assert await read_all(stage, comment) == [Thumb(story.MAINTAINER, "+1"), Thumb(story.AUTHOR, "-1")]


async def test_thumbs_are_read_page_by_page(stage: Stage) -> None:
    comment = await our_comment(stage)
    for number in range(230):
        stage.world.react(comment, stage.world.account(f"reader-{number}"), "+1" if number % 2 else "-1")
    client = await stage.client(stage.token())
    thumbs = await read_all(stage, comment, client)
    assert [one.who for one in thumbs] == [f"reader-{number}" for number in range(230)]
    assert client.requests == 3


async def test_a_deleted_account_leaves_no_thumb() -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.json_response([{"user": None, "content": "+1"}])

    app = web.Application()
    app.router.add_get("/repos/ann/tool/issues/comments/77/reactions", answer)
    async with TestServer(app) as server, connect(Host(rest=str(server.make_url("")).rstrip("/")), "a-token") as client:
        assert await read_thumbs(client, "ann/tool", 77) == []


class Noting:
    """A pull request with a comment of ours, in GitHub and in the store."""

    def __init__(self, stage: Stage, store: Store, comment: Comment) -> None:
        self.stage, self.store, self.comment = stage, store, comment
        name = stage.repository.full_name
        self.pull_request = replace(store.pull_request(1, 5, name, 9), comment_id=comment.id)

    def react(self, who: str, content: str) -> None:
        self.stage.world.react(self.comment, self.stage.person(who), content)

    def take_back(self, who: str) -> None:
        self.comment.reactions[:] = [one for one in self.comment.reactions if one.user.login != who]

    async def note(self, minutes: int) -> None:
        client = await self.stage.client(self.stage.token())
        await note_thumbs(client, self.store, self.pull_request, after(minutes))

    def kept(self) -> list[tuple[Any, ...]]:
        columns = [tables.thumbs.c[name] for name in ("who", "content", "seen_at", "gone_at")]
        return [tuple(row) for row in self.store.select(sa.select(*columns).order_by(*columns))]


def after(minutes: int) -> datetime:
    return AT + timedelta(minutes=minutes)


async def test_a_thumb_is_kept_with_when_it_was_first_seen(stage: Stage, store: Store) -> None:
    noting = Noting(stage, store, await our_comment(stage))
    noting.react(story.MAINTAINER, "+1")
    await noting.note(0)
    noting.react(story.AUTHOR, "-1")
    await noting.note(10)
    kept = {(who, content): (seen, gone) for who, content, seen, gone in noting.kept()}
    assert kept == {(story.MAINTAINER, "+1"): (after(0), None), (story.AUTHOR, "-1"): (after(10), None)}


async def test_a_thumb_that_is_taken_back_is_kept_as_gone_and_once(stage: Stage, store: Store) -> None:
    noting = Noting(stage, store, await our_comment(stage))
    noting.react(story.MAINTAINER, "-1")
    await noting.note(0)
    noting.take_back(story.MAINTAINER)
    noting.react(story.MAINTAINER, "+1")
    await noting.note(10)
    await noting.note(20)
    assert noting.kept() == [
        (story.MAINTAINER, "+1", after(10), None),
        (story.MAINTAINER, "-1", after(0), after(10)),
    ]


async def test_a_thumb_that_comes_back_stands_again_from_its_first_day(stage: Stage, store: Store) -> None:
    noting = Noting(stage, store, await our_comment(stage))
    noting.react(story.MAINTAINER, "+1")
    await noting.note(0)
    noting.take_back(story.MAINTAINER)
    await noting.note(10)
    noting.react(story.MAINTAINER, "+1")
    await noting.note(20)
    assert noting.kept() == [(story.MAINTAINER, "+1", after(0), None)]


async def test_a_deleted_comment_takes_no_thumb_back(stage: Stage, store: Store) -> None:
    noting = Noting(stage, store, await our_comment(stage))
    noting.react(story.MAINTAINER, "+1")
    await noting.note(0)
    noting.comment.issue.comments.remove(noting.comment)
    with pytest.raises(NotFoundError):
        await read_all(stage, noting.comment)
    await noting.note(10)
    assert noting.kept() == [(story.MAINTAINER, "+1", after(0), None)]


async def test_a_github_that_refuses_to_tell_takes_no_thumb_back(stage: Stage, store: Store) -> None:
    noting = Noting(stage, store, await our_comment(stage))
    noting.react(story.MAINTAINER, "+1")
    await noting.note(0)
    client = await stage.client("no-token-of-this-github")
    with pytest.raises(GitHubError):
        await note_thumbs(client, store, noting.pull_request, after(10))
    assert noting.kept() == [(story.MAINTAINER, "+1", after(0), None)]


async def test_without_a_comment_nothing_is_asked(stage: Stage, store: Store) -> None:
    client = await stage.client(stage.token())
    await note_thumbs(client, store, store.pull_request(1, 5, stage.repository.full_name, 9), AT)
    assert client.requests == 0


def test_the_same_thumbs_noted_from_many_sides_at_once_end_in_no_deadlock(store: Store) -> None:
    pull = store.pull_request(1, 5, "ann/tool", 9)
    people = [f"reader-{number}" for number in range(20)]

    def note(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(15):
            store.keep_thumbs(pull.id, 77, [Thumb(who, "+1") for who in chance.sample(people, 12)], AT)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(note, range(6)))
    store.keep_thumbs(pull.id, 77, [Thumb("reader-3", "+1")], after(10))
    standing = sa.select(tables.thumbs.c.who).where(tables.thumbs.c.gone_at.is_(None))
    assert [row[0] for row in store.select(standing)] == ["reader-3"]


def test_of_a_pull_request_that_was_deleted_meanwhile_nothing_is_kept(store: Store) -> None:
    pull = store.pull_request(1, 5, "ann/tool", 9)
    store.forget(installation=1)
    store.keep_thumbs(pull.id, 77, [Thumb("mia", "+1")], AT)
    assert store.select(sa.select(tables.thumbs)) == []


def test_what_is_kept_of_a_repository_goes_with_it(store: Store) -> None:
    kept, gone = (store.pull_request(1, repository, f"ann/r{repository}", 9) for repository in (5, 6))
    for pull in (kept, gone):
        store.keep_thumbs(pull.id, 77, [Thumb("mia", "+1")], AT)
        store.keep_answer(pull.id, f"key {pull.id}", said("confirm SC")[0], run=None, backend=None)
    store.forget(installation=1, repository_id=6)
    for table in (tables.thumbs, tables.answers):
        assert [row[0] for row in store.select(sa.select(table.c.pull_request))] == [kept.id]


def test_pull_requests_with_a_comment_are_found_by_repository_in_any_case_of_letters(store: Store) -> None:
    def made(name: str, number: int, **values: Any) -> PullRequest:
        pull = store.pull_request(1, len(name), name, number)
        with store._begin() as connection:
            of = tables.pull_requests.c.id == pull.id
            connection.execute(sa.update(tables.pull_requests).where(of).values(ignored=False, **values))
        return pull

    tool = made("Ann/Tool", 1, comment_id=11)
    docs = made("ann/documents", 2, comment_id=12)
    made("ann/documents", 3)
    made("ann/documents", 4, comment_id=14, comment_gone=True)
    assert [one.id for one in commented(store)] == [tool.id, docs.id]
    assert [one.comment_id for one in commented(store, ["ann/tool"])] == [11]


def test_times_are_kept_with_their_zone(store: Store) -> None:
    pull = store.pull_request(1, 5, "ann/tool", 9)
    store.keep_thumbs(pull.id, 77, [Thumb("mia", "+1")], AT)
    (row,) = store.select(sa.select(tables.thumbs.c.seen_at))
    assert row[0] == AT
    assert row[0].astimezone(UTC).hour == 15
