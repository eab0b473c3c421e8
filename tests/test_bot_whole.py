"""The whole App against githubd, a GitHub that others wrote: bad days, repositories that change, and settings.

Every test has a repository of its own; nothing of it may be logged as an error.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from concurrent.futures import Future
from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa
from bot_githubd import (
    AUTHOR,
    INSTALLATION,
    MAINTAINER,
    REPORTER,
    PullRequest,
    Scenario,
    Town,
    selected,
    side_by_side,
    town,
)
from bot_process import soon, until
from githubd_server import needs_githubd

from bot import jobs, tables
from bot.app import missed_task
from bot.demo import story
from bot.missed import Missed
from bot.missed import missed as compare
from bot.redelivery import ask_again
from checker.taxonomy import Label

pytestmark = needs_githubd
BOTH = "Scope Creep, Unspecified Literal"


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with town(tmp_path_factory.mktemp("town")) as started:
        yield started


@pytest.fixture(autouse=True)
def _quiet(there: Town, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is an error, githubd found no defect of its own, and what is asked again is asked at once."""
    monkeypatch.setattr("checker.github.client._backoff", lambda _: 0.01)
    there.github.control("clear_faults", {})
    with caplog.at_level(logging.INFO):
        yield
    there.settle()
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
    log = there.github.control("log")
    assert (log["broken"], log["unmodelled"]) == ([], [])


def opened(there: Town, **more: Any) -> PullRequest:
    """The story's pull request, checked."""
    pull = there.repository().open(**more)
    there.settle()
    assert_checked(pull)
    return pull


def assert_checked(pull: PullRequest, title: str = BOTH) -> None:
    """One comment, and a concluded check run for the head and for each that was before."""
    assert pull.comment()["body"].count("### PAIChecker") == 1
    run = pull.check_run()
    assert (run["status"], run["conclusion"], run["title"]) == ("completed", "neutral", title)
    assert all(one["status"] == "completed" for one in pull.check_runs())


def conclusion(pull: PullRequest) -> tuple[str, str]:
    run = pull.check_run()
    assert run["status"] == "completed"
    return run["conclusion"], run["title"]


def rows(there: Town, pull: PullRequest, table: sa.Table) -> list[Any]:
    """What is kept of a pull request in a table."""
    pulls = tables.pull_requests
    query = sa.select(table).join(pulls) if table is not pulls else sa.select(pulls)
    query = query.where(pulls.c.repository == pull.repository.name, pulls.c.number == pull.number)
    return list(there.app.store.select(query))


async def _sweep(there: Town) -> tuple[int, int]:
    """As the server does now and then: how many deliveries were asked for, and how many heads were missed."""
    app, missed = there.app, []

    async def note(one: Missed) -> None:
        missed.append(one)

    async with app.installations() as installations:
        asked = await ask_again(installations, app.store, now=lambda: datetime.now(UTC))
        await compare(installations, app.store, enqueue=note)
    async with jobs.outside(app.settings.database_url.get_secret_value()) as enqueue:
        for one in missed:
            await enqueue(missed_task(one))
    return asked, len(missed)


# Deliveries


def test_a_push_of_which_nothing_was_told_is_found_by_comparing(there: Town) -> None:
    pull = opened(there)
    there.do("hooks", pause=True)
    head = pull.push()
    assert asyncio.run(_sweep(there))[1] == 1
    there.app.settle()
    assert pull.check_run()["head_sha"] == head
    assert_checked(pull)
    there.do("hooks", pause=False)
    there.settle()
    assert_checked(pull)


def test_what_is_delivered_twice_is_done_once(there: Town) -> None:
    there.do("hooks", duplicate=1)
    pull = opened(there)
    assert len(pull.check_runs()) == 1
    there.do("hooks", duplicate=2)
    said = [pull.say("/paichecker explain SC"), pull.say("/paichecker dispute UL")]
    there.settle()
    assert [pull.reactions(comment) for comment in said] == [["+1"], ["+1"]]
    assert len(pull.answers()) == 1
    assert len(rows(there, pull, tables.answers)) == 1


def test_what_was_lost_on_the_way_is_asked_for_again(there: Town) -> None:
    repository = there.repository()
    issue = repository.issue()
    there.do("hooks", lose=1)
    pull = repository.open(issue)
    there.settle()
    assert pull.check_runs() == []
    assert asyncio.run(_sweep(there))[0] == 1
    there.settle()
    assert_checked(pull)


def test_a_renaming_of_which_nothing_was_told_shows_in_the_next_delivery(there: Town) -> None:
    pull = opened(there)
    there.do("hooks", lose=1)
    pull.repository.do("rename_repo", name=f"{pull.repository.name.partition('/')[2]}-renamed")
    there.settle()
    pull.repository.name += "-renamed"
    pull.repository.do("edit_issue", number=1, body="Another request altogether.")
    there.settle()
    assert len(rows(there, pull, tables.runs)) == 2
    asyncio.run(_sweep(there))
    there.settle()


def test_where_a_conversation_is_locked_the_check_run_alone_tells(there: Town) -> None:
    there.do("fault", kind="status", status=403, match="/comments$", method="POST", count=None)
    pull = there.repository().open()
    there.settle()
    assert pull.comments() == []
    assert conclusion(pull) == ("neutral", BOTH)
    said = pull.say("/paichecker explain SC\n/paichecker recheck")
    there.settle()
    assert sorted(pull.reactions(said)) == ["+1", "eyes"]
    assert len(rows(there, pull, tables.runs)) == 2
    there.do("clear_faults")
    pull.say("/paichecker recheck")
    there.settle()
    assert_checked(pull)


def test_deliveries_in_any_order_leave_one_comment_on_the_newest_head(there: Town) -> None:
    repository = there.repository()
    there.do("hooks", pause=True, shuffle=True)
    pull = repository.open()
    heads = [pull.head, pull.push({"a.txt": "1\n"}), pull.push()]
    pull.do("edit_pr", body=story.SPLIT_BODY.format(issue=1))
    helped, asked = pull.say("/paichecker help"), pull.say("/paichecker recheck")
    there.do("hooks", pause=False)
    there.settle()
    there.do("hooks", shuffle=False)
    assert_checked(pull, "Unspecified Literal")
    assert {run["head_sha"] for run in pull.check_runs()} == set(heads)
    assert (pull.reactions(helped), pull.reactions(asked)) == (["+1"], ["eyes"])
    assert len(pull.answers()) == 1


def test_pushes_that_follow_one_another_are_one_check(there: Town) -> None:
    pull = opened(there)
    with soon(1):
        heads = [pull.push({"a.txt": f"{number}\n"}) for number in range(4)]
        there.settle()
    assert_checked(pull)
    assert len(rows(there, pull, tables.runs)) == 2
    titles = {run["head_sha"]: run["title"] for run in pull.check_runs()}
    assert [titles[head] for head in heads[:-1]] == ["Superseded by a newer push"] * 3
    assert titles[heads[-1]] == BOTH


def test_comments_on_the_linked_issue_are_one_check(there: Town) -> None:
    pull = opened(there)
    with soon(1):
        for words in ("I see it, too.", "Oolong should be in the table as well.", "Yes!"):
            there.do("comment", repo=pull.repository.name, number=1, body=words, actor=REPORTER)
        there.settle()
    assert len(rows(there, pull, tables.runs)) == 2
    assert "comment 1 on issue 1 (new), comment 2 on issue 1 (new), comment 3 on" in pull.comment()["body"]


# Bad days


def test_limits_on_reads_and_writes_are_waited_for(there: Town) -> None:
    there.do("fault", kind="secondary", match="/pulls/", retry_after=1, status=429)
    there.do("fault", kind="secondary", match="/comments$", method="POST", retry_after=1)
    began = time.monotonic()
    opened(there)
    assert time.monotonic() - began > 2


def test_a_write_whose_answer_was_lost_is_not_made_twice(there: Town) -> None:
    for path in ("/comments$", "/check-runs$"):
        there.do("fault", kind="status", status=502, match=path, method="POST", after=True)
    pull = opened(there)
    assert len(pull.comments()) == len(pull.check_runs()) == 1


def test_every_fourth_request_fails(there: Town) -> None:
    for kind in ("status", "cut", "truncate"):
        there.do("fault", kind=kind, status=502, match="^/(repos|graphql|app/inst)", percent=9)
    pull = opened(there)
    said = pull.say("/paichecker dispute SC")
    there.settle()
    there.do("clear_faults")
    assert pull.reactions(said) == ["+1"]
    assert_checked(pull, "Unspecified Literal")


def test_a_token_that_dies_in_the_middle_is_replaced(there: Town) -> None:
    there.do("fault", kind="delay", seconds=0.5, match="/graphql")
    before = len(there.github.control("log")["requests"])
    pull = there.repository().open()
    until_asked(there, "/graphql")
    assert there.do("expire_tokens")["expired"] > 0
    there.settle()
    assert_checked(pull)
    assert 401 in [one["status"] for one in there.github.control("log")["requests"][before:]]


def until_asked(there: Town, path: str) -> None:
    """Until the App has asked once more for something below this path; it may still wait for the answer."""
    before = len(there.requests(path))
    until(f"a request of {path}", lambda: len(there.requests(path)) > before)


def test_what_a_suspension_held_up_is_done_when_the_app_is_back(there: Town) -> None:
    pushed = opened(there)
    there.do("fault", kind="delay", seconds=0.5, match="/graphql")
    under_way = there.repository().open()
    until_asked(there, "/contents/")
    there.do("suspend", installation=INSTALLATION)
    there.settle()
    assert under_way.comments() == []
    head = pushed.push({"a.txt": "nobody was told\n"})
    opened_meanwhile = pushed.repository.open(1, title="Opened meanwhile")
    there.do("suspend", installation=INSTALLATION, suspended=False)
    there.settle()
    assert_checked(under_way)
    assert_checked(pushed)
    assert pushed.check_run()["head_sha"] == head
    assert_checked(opened_meanwhile)


def test_a_repository_that_is_deleted_in_the_middle_holds_nothing_up(there: Town) -> None:
    there.do("fault", kind="delay", seconds=0.5, match="/graphql", after=True)
    pull = there.repository().open()
    until_asked(there, "/graphql")
    pull.repository.do("delete_repo")
    there.settle()
    assert rows(there, pull, tables.pull_requests) == []


def test_what_github_says_is_not_there_is_not_waited_for(there: Town) -> None:
    there.do(
        "fault", kind="graphql_error", type="NOT_FOUND", message="Could not resolve", operation="PullRequest", count=4
    )
    pull = there.repository().open()
    there.settle()
    assert conclusion(pull) == ("neutral", "PAIChecker failed")
    assert pull.comments() == []


def test_github_is_down_for_a_while(there: Town) -> None:
    repository = there.repository()
    there.do("fault", kind="status", status=502, match="^/(repos|graphql|app/inst)", count=7)
    pull = repository.open()
    there.settle()
    assert_checked(pull)
    assert there.github.control("faults")["faults"][0]["count"] == 0


def test_ten_minutes_without_github_are_survived() -> None:
    """By the settings alone: pauses between attempts, not counting what the attempts themselves take."""
    patience = jobs._PATIENCE
    pauses = [patience["interval_seconds"] * patience["backoff_rate"] ** n for n in range(patience["max_attempts"] - 1)]
    assert 10 * 60 < sum(pauses) < 60 * 60
    # Whenever in these minutes it began, the last attempt comes after they are over, and not hours later.
    assert max(pauses) < 30 * 60


def test_what_was_announced_just_now_may_not_be_readable_yet(there: Town) -> None:
    for path in (r"/pulls/\d+$", r"/issues/comments/\d+$"):
        there.do("fault", kind="status", status=404, match=path, method="GET")
    pull = opened(there)
    said = pull.say("/paichecker dispute UL")
    there.settle()
    assert pull.reactions(said) == ["+1"]
    assert_checked(pull, "Scope Creep")


def test_a_command_is_carried_out_though_reactions_are_refused(there: Town) -> None:
    pull = opened(there)
    there.do("fault", kind="status", status=403, match="/reactions$", method="POST", count=2)
    said = [pull.say("/paichecker dispute UL"), pull.say("/paichecker recheck")]
    there.settle()
    assert_checked(pull, "Scope Creep")
    assert len(rows(there, pull, tables.runs)) == 2
    assert [pull.reactions(comment) for comment in said] == [[], []]


# Repositories that change, settings and buttons: many at once, as on any day

SCENARIOS: list[Scenario] = []


def scenario(played: Scenario) -> Scenario:
    SCENARIOS.append(played)
    return played


@scenario
def a_fork_may_be_deleted_meanwhile(there: Town) -> Iterator[None]:
    repository = there.repository(forked_by=AUTHOR)
    fork = repository.name.replace(story.OWNER, AUTHOR)
    pull = repository.open(head={"ref": "topic", "repo": fork})
    yield
    assert_checked(pull)
    there.do("delete_repo", repo=fork)
    pull.say("/paichecker dispute UL")
    yield
    assert_checked(pull, "Scope Creep")
    there.do("requested_action", check_run=pull.check_run()["id"], identifier="recheck", actor=MAINTAINER)
    yield
    assert_checked(pull, "Scope Creep")
    assert len(rows(there, pull, tables.runs)) == 2


@scenario
def a_repository_that_became_private_is_served_on(there: Town) -> Iterator[None]:
    pull = there.repository().open()
    yield
    first = pull.comment()["id"]
    there.do("privatize", repo=pull.repository.name)
    pull.push()
    yield
    assert_checked(pull)
    assert pull.comment()["id"] == first
    assert len(rows(there, pull, tables.runs)) == 2


@scenario
def of_a_deleted_repository_nothing_is_kept(there: Town) -> Iterator[None]:
    pull = there.repository().open()
    yield
    assert rows(there, pull, tables.runs)
    pull.repository.do("delete_repo")
    yield
    assert rows(there, pull, tables.pull_requests) == []
    assert rows(there, pull, tables.runs) == []


@scenario
def of_a_repository_that_is_taken_out_nothing_is_kept(there: Town) -> Iterator[None]:
    pull = there.repository().open()
    yield
    there.do("add_repository", repo=pull.repository.name, remove=True)
    pull.say("/paichecker recheck")
    yield
    assert rows(there, pull, tables.pull_requests) == []


@scenario
def a_renamed_repository_is_followed(there: Town) -> Iterator[None]:
    pull = there.repository().open()
    yield
    first = pull.comment()["id"]
    button = pull.check_run()["id"]
    pull.repository.do("rename_repo", name=f"{pull.repository.name.partition('/')[2]}-renamed")
    pull.repository.name += "-renamed"
    yield
    pull.repository.do("edit_issue", number=1, body="Another request altogether.")
    yield
    assert len(rows(there, pull, tables.runs)) == 2
    there.do("rerequest", check_run=button, actor=MAINTAINER)
    yield
    assert len(rows(there, pull, tables.runs)) == 3
    pull.push()
    yield
    assert_checked(pull)
    assert pull.comment()["id"] == first
    assert len(rows(there, pull, tables.pull_requests)) == 1


@scenario
def an_edited_issue_is_read_again(there: Town) -> Iterator[None]:
    pull = there.repository().open()
    yield
    message = "Tea needs time: give more than zero minutes"
    pull.repository.do("edit_issue", number=1, body=f"{story.ISSUE}\nThe message is `{message}`.")
    yield
    assert "Changed meanwhile: issue 1, as edited (new)." in pull.comment()["body"]
    assert len(rows(there, pull, tables.runs)) == 2


@scenario
def another_base_is_another_check(there: Town) -> Iterator[None]:
    repository = there.repository()
    there.do("push", repo=repository.name, branch="next", commits=["Begin the next one"], actor=MAINTAINER)
    pull = repository.open()
    yield
    pull.do("edit_pr", base="next")
    yield
    assert len(rows(there, pull, tables.runs)) == 2
    assert_checked(pull)


@scenario
def a_pull_request_without_an_issue_has_a_neutral_check_run_and_no_comment(there: Town) -> Iterator[None]:
    pull = there.repository().open(body="Because.", title="Refuse a time of zero")
    yield
    assert conclusion(pull) == ("neutral", "This pull request is linked to no issue")
    assert pull.comments() == []
    pull.do("edit_pr", body=story.BODY.format(issue=1))
    yield
    assert_checked(pull)


@scenario
def a_closed_pull_request_is_not_checked_but_where_somebody_asks(there: Town) -> Iterator[None]:
    pull = there.repository().open(body="Because.", title="Refuse a time of zero")
    yield
    pull.do("close")
    pull.do("edit_pr", body=story.BODY.format(issue=1))
    yield
    assert pull.comments() == []
    assert len([run for run in rows(there, pull, tables.runs) if run.report]) == 1
    pull.say("/paichecker recheck")
    yield
    assert_checked(pull)


@scenario
def a_draft_is_checked_once_it_is_ready(there: Town) -> Iterator[None]:
    pull = there.repository().open(draft=True)
    yield
    assert conclusion(pull) == ("neutral", "Not checked")
    assert "it is a draft" in pull.check_run()["summary"]
    assert pull.comments() == []
    pull.do("edit_pr", draft=False)
    yield
    assert_checked(pull)


@scenario
def pull_requests_of_bots_are_left_alone(there: Town) -> Iterator[None]:
    pull = there.repository().open(actor="bumper[bot]")
    wanted = there.repository(settings="bots: on\n").open(actor="bumper[bot]")
    yield
    assert conclusion(pull) == ("neutral", "Not checked")
    assert "a bot opened it" in pull.check_run()["summary"]
    assert pull.comments() == []
    assert_checked(wanted)


@scenario
def authors_and_paths_are_skipped_as_the_repository_says(there: Town) -> Iterator[None]:
    by_author = there.repository(settings=f"skip_authors: [{AUTHOR}]\n").open()
    by_path = there.repository(settings="skip_paths: ['kettle/**', 'tests/**']\n").open()
    in_part = there.repository(settings="skip_paths: ['kettle/**']\n").open()
    yield
    assert conclusion(by_author) == conclusion(by_path) == ("neutral", "Not checked")
    assert "`skip_authors`" in by_author.check_run()["summary"]
    assert "`skip_paths`" in by_path.check_run()["summary"]
    assert by_author.comments() == by_path.comments() == []
    assert_checked(in_part)
    by_author.say("/paichecker recheck")
    yield
    assert_checked(by_author)


@scenario
def in_shadow_mode_everything_is_recorded_and_nothing_is_seen(there: Town) -> Iterator[None]:
    pull = there.repository(settings="mode: shadow\n").open()
    yield
    heads = [pull.push({"a.txt": "1\n"})]
    said = pull.say("/paichecker recheck")
    yield
    assert heads
    assert pull.comments() == []
    assert pull.check_runs() == []
    assert pull.reactions(said) == []
    runs = [run for run in rows(there, pull, tables.runs) if run.report]
    assert len(runs) == 2
    assert all(run.shadow for run in runs)


def _settings(pull: PullRequest, text: str) -> None:
    """Settings on the default branch, whatever was there before."""
    commits = [{"message": "Settings", "files": {".github/paichecker.yml": text}}]
    pull.town.do("push", repo=pull.repository.name, branch="main", commits=commits, actor=MAINTAINER)


@scenario
def shadow_is_heard_at_once_and_so_is_its_end(there: Town) -> Iterator[None]:
    pull = there.repository().open()
    yield
    before = pull.check_runs()
    _settings(pull, "mode: shadow\n")
    head = pull.push({"a.txt": "1\n"})
    yield
    assert pull.check_runs() == before
    _settings(pull, "mode: comment\n")
    said = pull.say("/paichecker recheck")
    yield
    assert pull.reactions(said) == ["eyes"]
    assert pull.check_run()["head_sha"] == head
    assert_checked(pull)


@scenario
def a_check_run_that_was_begun_before_shadow_is_concluded(there: Town) -> Iterator[None]:
    repository = there.repository()
    pull = repository.open()
    yield
    store, kept = there.app.store, rows(there, pull, tables.pull_requests)[0]
    _settings(pull, "mode: shadow\n")
    head = pull.head
    # As if the settings had changed between the delivery and the check.
    store.keep_check_run(kept.id, head, int(pull.check_run()["id"]), concluded=False)
    pull.push({"a.txt": "1\n"})
    yield
    assert store.open_check_runs(kept.id, but="") == []
    assert "by now the settings ask that nothing be shown" in pull.check_runs()[0]["summary"]


@scenario
def mistakes_in_the_settings_show_on_the_check_run(there: Town) -> Iterator[None]:
    pull = there.repository(settings="comment: always\nlabel:\n  UL: off\nfail_on: [XY]\n").open()
    yield
    assert_checked(pull)
    summary = pull.check_run()["summary"]
    assert "Please mend `.github/paichecker.yml`" in summary
    assert "- Line 2, label: There is no field" in summary
    assert "- Line 4, fail" in summary


@scenario
def settings_that_cannot_be_read_may_have_asked_for_silence(there: Town) -> Iterator[None]:
    pulls = [there.repository(settings=text).open() for text in ("mode: shadow\n\tx: 1\n", "mdoe: shadow\n")]
    yield
    said = [pull.say("/paichecker recheck") for pull in pulls]
    yield
    for pull, comment in zip(pulls, said, strict=True):
        assert pull.comments() == []
        assert pull.reactions(comment) == ["eyes"]
        assert conclusion(pull) == ("neutral", "Not checked")
        assert "`.github/paichecker.yml` cannot be read" in pull.check_run()["summary"]
        assert "- Line " in pull.check_run()["summary"]
        assert [run for run in rows(there, pull, tables.runs) if run.report] == []


@scenario
def what_stands_in_the_place_of_the_settings_is_said(there: Town) -> Iterator[None]:
    path = ".github/paichecker.yml"
    found = {f"{path}/mode.txt": "shadow\n"}, {path: "# long\n" * 200_000}
    pulls = []
    for files in found:
        repository = there.repository()
        commits = [{"message": "Settings", "files": files}]
        there.do("push", repo=repository.name, branch="main", commits=commits, actor=MAINTAINER)
        pulls.append(repository.open())
    shown = there.repository(settings="\ufeffmode: \u00a0comment\r\ncomment: always\r\n").open()
    yield
    for pull in pulls:
        assert conclusion(pull) == ("neutral", "Not checked")
        assert "This is a folder, a submodule, or a file of more than 1 MB" in pull.check_run()["summary"]
    assert_checked(shown)


@scenario
def with_every_label_off_nothing_is_looked_for_and_that_is_said(there: Town) -> Iterator[None]:
    off = "".join(f"  {label}: off\n" for label in Label)
    pull = there.repository(settings=f"comment: always\nlabels:\n{off}").open()
    yield
    assert pull.comments() == []
    assert conclusion(pull) == ("neutral", "Not checked")
    assert "every label off, so there is nothing to look for" in pull.check_run()["summary"]


@scenario
def labels_under_fail_on_are_red_until_a_maintainer_disputes_them(there: Town) -> Iterator[None]:
    pull = there.repository(settings="fail_on: [UL]\n").open()
    yield
    assert conclusion(pull) == ("failure", BOTH)
    pull.say("/paichecker dispute UL", AUTHOR)
    yield
    assert conclusion(pull) == ("failure", BOTH)
    pull.say("/paichecker dispute UL")
    yield
    assert conclusion(pull) == ("neutral", "Scope Creep")


@scenario
def labels_that_are_off_are_not_raised_and_never_means_never(there: Town) -> Iterator[None]:
    off = there.repository(settings="labels:\n  SC: off\n").open()
    silent = there.repository(settings="comment: never\n").open()
    yield
    assert_checked(off, "Unspecified Literal")
    assert "Scope Creep" not in off.comment()["body"].partition("<details>")[0]
    assert silent.comments() == []
    assert conclusion(silent) == ("neutral", BOTH)


@scenario
def settings_of_a_pull_request_count_only_once_they_are_on_the_default_branch(there: Town) -> Iterator[None]:
    changes = {**story.CHANGES, ".github/paichecker.yml": "mode: shadow\n"}
    pull = there.repository().open(commits=[{"message": story.MESSAGE, "files": changes}])
    yield
    assert_checked(pull)


@scenario
def a_comment_that_a_maintainer_deleted_is_never_posted_again(there: Town) -> Iterator[None]:
    pull = there.repository().open()
    yield
    there.do("delete_comment", id=pull.comment()["id"], actor=MAINTAINER)
    yield
    pull.push()
    pull.say("/paichecker recheck")
    yield
    assert pull.comments() == []
    assert conclusion(pull) == ("neutral", BOTH)


@scenario
def the_buttons_check_again(there: Town) -> Iterator[None]:
    pull = there.repository().open()
    yield
    run = pull.check_run()
    assert [action["identifier"] for action in run["actions"]] == ["recheck"]
    there.do("requested_action", check_run=run["id"], identifier="recheck", actor=MAINTAINER)
    yield
    there.do("rerequest", check_run=run["id"], actor=MAINTAINER)
    yield
    there.do("rerequest_suite", check_run=run["id"], actor=MAINTAINER)
    yield
    assert len(rows(there, pull, tables.runs)) == 4
    assert_checked(pull)
    assert len({one["id"] for one in pull.check_runs()}) == len(pull.check_runs()) == 4


@scenario
def an_ignored_pull_request_is_left_alone_until_it_is_resumed(there: Town) -> Iterator[None]:
    pull = there.repository().open()
    yield
    said = pull.say("/paichecker ignore")
    yield
    pull.push()
    yield
    assert pull.reactions(said) == ["+1"]
    assert conclusion(pull) == ("neutral", "Not checked")
    assert "`/paichecker resume`" in pull.check_run()["summary"]
    pull.say("/paichecker resume")
    yield
    assert conclusion(pull) == ("neutral", BOTH)


@scenario
def a_reopened_pull_request_is_checked(there: Town) -> Iterator[None]:
    pull = there.repository().open()
    yield
    pull.do("close", actor=MAINTAINER)
    pull.do("push", commits=[{"message": "More", "files": {"a.txt": "1\n"}}])
    yield
    pull.do("reopen", actor=MAINTAINER)
    yield
    assert_checked(pull)


@pytest.fixture(scope="module")
def outcomes(there: Town, request: pytest.FixtureRequest) -> dict[Scenario, Future[None]]:
    return side_by_side(there, selected(request, SCENARIOS))


@pytest.mark.parametrize("played", SCENARIOS, ids=lambda one: one.__name__)
def test_it_is_as_its_name_says(played: Scenario, outcomes: dict[Scenario, Future[None]]) -> None:
    outcomes[played].result()
