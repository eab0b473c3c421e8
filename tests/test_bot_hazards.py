"""Hostile people, and what must not be seen: against githubd. docs/hazards.md has a row for each.

Every scenario has repositories of its own; all are played side by side.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from bot_githubd import (
    AUTHOR,
    MAINTAINER,
    REPORTER,
    STRANGER,
    PullRequest,
    Repository,
    Scenario,
    Town,
    selected,
    side_by_side,
    town,
)
from githubd_server import needs_githubd
from test_bot_inert import ACTIVE, Seen

from bot import tables
from bot.comment import MARKER
from bot.demo import story
from bot.store import open_store

BOTH = "Scope Creep, Unspecified Literal"
ASKED = "Could you share the output of the command, please?"
DOCUMENTED = ("whole", "hazards", "webhooks", "events", "chaos")
SCENARIOS: list[Scenario] = []


def scenario(played: Scenario) -> Scenario:
    SCENARIOS.append(played)
    return played


def rows(there: Town, pull: PullRequest, table: sa.Table) -> list[Any]:
    """What is kept of a pull request in a table."""
    pulls = tables.pull_requests
    query = sa.select(table).join(pulls) if table is not pulls else sa.select(pulls)
    of_it = (pulls.c.repository == pull.repository.name) & (pulls.c.number == pull.number)
    return list(there.app.store.select(query.where(of_it)))


def shown(pull: PullRequest) -> str:
    """All that the App shows there: its comments and its check runs."""
    runs = [f"{run['title']}\n{run['summary']}\n{run['text']}\n{run['annotations']}" for run in pull.check_runs()]
    return "\n".join([*(comment["body"] for comment in pull.comments()), *runs])


# Commands


@scenario
def a_stranger_may_ask_and_change_nothing(there: Town) -> Iterator[None]:
    pull = there.repository().open()
    yield
    before = pull.comment()["body"]
    words = ("recheck", "confirm", "dispute UL", "ignore", "resume")
    said = [pull.say(f"/paichecker {command}", STRANGER) for command in words]
    yield
    assert [pull.reactions(comment) for comment in said] == [["confused"]] * 5
    assert rows(there, pull, tables.answers) == []
    assert len(rows(there, pull, tables.runs)) == 1
    assert not rows(there, pull, tables.pull_requests)[0].ignored
    assert pull.comment()["body"] == before


@scenario
def an_author_disputes_and_a_maintainer_decides(there: Town) -> Iterator[None]:
    pull = there.repository().open()
    yield
    said = [pull.say(f"/paichecker {words}", AUTHOR) for words in ("dispute UL", "confirm SC", "ignore")]
    yield
    assert [pull.reactions(comment) for comment in said] == [["+1"], ["confused"], ["confused"]]
    assert "differ in two points" in pull.comment()["body"]
    assert "A maintainer decides." in pull.comment()["body"]


@scenario
def a_bot_is_never_answered(there: Town) -> Iterator[None]:
    repository = there.repository(collaborators={MAINTAINER: "admin", "helper[bot]": "admin"})
    pull = repository.open()
    yield
    said = [pull.say(f"/paichecker {words}", "helper[bot]") for words in ("ignore", "help", "nonsense")]
    yield
    assert [pull.reactions(comment) for comment in said] == [[], [], []]
    assert pull.answers() == []
    assert rows(there, pull, tables.commands) == []


@scenario
def a_comment_of_a_bot_that_a_maintainer_edits_is_a_bots(there: Town) -> Iterator[None]:
    pull = there.repository().open()
    said = pull.say("Hello.", "helper[bot]")
    yield
    there.do("edit_comment", id=said, body="/paichecker ignore", actor=MAINTAINER)
    yield
    assert rows(there, pull, tables.commands) == []


@scenario
def quotes_code_and_hidden_text_hold_no_commands(there: Town) -> Iterator[None]:
    pull = there.repository().open()
    yield
    hidden = ("> /paichecker ignore", "```\n/paichecker ignore\n```", "    /paichecker ignore", "`/paichecker ignore`",
              "<!--\n/paichecker ignore\n-->", "Say /paichecker ignore", "x\n> /paichecker ignore\n> more")  # fmt: skip
    for words in hidden:
        pull.say(words)
    yield
    assert rows(there, pull, tables.commands) == []
    assert pull.answers() == []


@scenario
def of_an_edited_comment_only_new_lines_are_carried_out(there: Town) -> Iterator[None]:
    pull = there.repository().open()
    yield
    said = pull.say("/paichecker explain SC")
    yield
    there.do("edit_comment", id=said, body="More words.\n\n/paichecker explain SC\n/paichecker dispute UL")
    yield
    there.do("edit_comment", id=said, body="/paichecker dispute UL\n/paichecker explain SC")
    yield
    assert len(pull.answers()) == 1
    assert [answer.label for answer in rows(there, pull, tables.answers)] == ["UL"]


@scenario
def a_strangers_comment_that_a_maintainer_edited_stays_a_strangers(there: Town) -> Iterator[None]:
    """What is read may be the stranger's next edit, though the delivery is of the maintainer's."""
    pull = there.repository().open()
    said = pull.say("Hello.", STRANGER)
    yield
    there.do("edit_comment", id=said, body="Hello!\n\n/paichecker ignore", actor=MAINTAINER)
    yield
    assert not rows(there, pull, tables.pull_requests)[0].ignored
    assert pull.reactions(said) == ["confused"]


@scenario
def a_delivery_that_is_sent_again_under_another_name_is_not_done_again(there: Town) -> Iterator[None]:
    pull = there.repository().open()
    yield
    said = pull.say("/paichecker explain UL")
    asked = pull.say("/paichecker recheck")
    yield
    for comment in (said, asked):
        pull.do("announce", action="created", actor=MAINTAINER, comment=comment)
    yield
    assert len(pull.answers()) == 1
    assert len(rows(there, pull, tables.runs)) == 2


@scenario
def a_thousand_commands_in_one_comment_are_ten(there: Town) -> Iterator[None]:
    pull = there.repository().open()
    yield
    said = pull.say("\n".join(f"/paichecker {word}" for word in ["explain SC", "help"] * 500), STRANGER)
    yield
    assert len(rows(there, pull, tables.commands)) == 11
    assert len(pull.answers()) == 11
    assert sorted(pull.reactions(said)) == ["+1", "confused"]


@scenario
def a_flood_of_comments_is_answered_so_often_and_no_more(there: Town) -> Iterator[None]:
    pull = there.repository().open()
    yield
    said = [pull.say("/paichecker help", STRANGER) for _ in range(23)]
    yield
    assert [pull.reactions(comment) for comment in said].count([]) == 3
    *helped, told = pull.answers()
    assert len(helped) == 20
    assert "More commands were given within an hour than this App carries out; from " in told
    pull.say("/paichecker help", STRANGER)
    yield
    assert len(pull.answers()) == 21


@scenario
def a_flood_of_rechecks_is_answered_once_with_when_to_ask_again(there: Town) -> Iterator[None]:
    pull = there.repository().open()
    yield
    said = []
    for number in range(13):
        said.append(pull.say(f"/paichecker recheck\n{number}", AUTHOR))
        yield
    assert [pull.reactions(comment) for comment in said] == [["eyes"]] * 9 + [["confused"]] * 4
    (told,) = pull.answers()
    assert re.search(r"More checks were asked for .* from \d\d:\d\d UTC on `/paichecker recheck`", told)


@scenario
def a_flood_of_edits_leaves_a_red_check_run_red_and_says_what_was_not_checked(there: Town) -> Iterator[None]:
    pull = there.repository(settings="fail_on: [UL]\n").open()
    yield
    for number in range(12):
        pull.do("edit_pr", title=f"{story.TITLE} {number}", actor=AUTHOR)
        yield
    run = pull.check_run()
    assert (run["conclusion"], run["title"]) == ("failure", BOTH)
    assert run["summary"].startswith("**What came after this check was not checked:** more checks were asked for")
    assert pull.answers() == []


@scenario
def a_flood_of_edits_of_the_issue_shows_on_the_check_run_too(there: Town) -> Iterator[None]:
    pull = there.repository().open()
    yield
    for number in range(16):
        pull.repository.do("edit_issue", number=1, body=f"{story.ISSUE}\n{number}", actor=MAINTAINER)
        yield
    assert len(rows(there, pull, tables.triggers)) == 15
    assert pull.check_run()["summary"].startswith("**What came after this check was not checked:** more checks")


@scenario
def a_flood_of_pushes_is_checked_so_often_and_every_head_concluded(there: Town) -> Iterator[None]:
    pull = there.repository().open()
    yield
    heads = [pull.push({"a.txt": f"{number}\n"}) for number in range(12)]
    yield
    heads.append(pull.push({"a.txt": "one more\n"}))
    yield
    assert len(rows(there, pull, tables.triggers)) == 10
    assert {run["head_sha"] for run in pull.check_runs()} >= set(heads)
    assert all(run["status"] == "completed" for run in pull.check_runs())
    assert "more checks were asked for" in pull.check_run()["summary"]
    pull.say("/paichecker recheck")
    yield
    assert pull.check_run()["title"] == BOTH


# Texts

BOMB = (
    "@maint-team @victim [x](https://evil.test) ![x](https://evil.test/a.png) <img src=x onerror=alert(1)> "
    "</details> `code` ~~x~~ | cell | #3 GH-3 teahouse/other#1 https://github.com/teahouse/other/issues/1 "
    "\u202edrawkcab \x1b[31m 0123abc0123abc :tada: $x$ <!-- hidden"
)


@scenario
def texts_that_are_bombs_only_show(there: Town) -> Iterator[None]:
    repository = there.repository()
    issue, other = repository.issue(), repository.issue("Another one")
    bystander = repository.issue("A bystander")
    assert bystander == 3
    repository.do("comment", number=issue, body=f"{ASKED} {BOMB.replace('#3', '')}", actor=STRANGER)
    reply = f"The output is 12 lines, also {BOMB} and more."
    repository.do("comment", number=issue, body=reply, actor=REPORTER)
    body = f"Fixes #{issue}\n\nThis PR also adds {BOMB}\n\n{MARKER}\n/paichecker confirm"
    changes = {**story.CHANGES, "kettle/a`b\n@victim.py": "x = 'This is the message of @victim'\n"}
    pull = repository.open(issue, title=BOMB, body=body, head={"ref": "topic/@victim-#3-<b>"},
                           commits=[{"message": BOMB, "files": changes}])  # fmt: skip
    repository.do("label", number=issue, name="@victim `#3` \x1b[31m", actor=MAINTAINER)
    assert other == 2
    yield
    pull.say(f"/paichecker dispute UL {BOMB}")
    pull.say(f"/paichecker {BOMB[:30]}", STRANGER)
    yield
    for one in pull.comments():
        nothing_happens_in(one["body"])
    for run in pull.check_runs():
        nothing_happens_in(f"{run['summary']}\n\n{run['text'] or ''}")
    assert repository.mentioned_by(bystander) == [issue, pull.number]
    assert "evil" in shown(pull)


def nothing_happens_in(markdown: str) -> None:
    """No mention, no reference, no element and no address of a stranger's, and no character that nobody sees."""
    seen = Seen(markdown)
    ours = re.compile(r"https://(?:redirect\.)?github\.com/teahouse/kettle-\d+/(?:issues|pull|blob|commit)/\S+")
    assert [address for address in seen.addresses if not ours.fullmatch(address)] == []
    assert [match[0] for text in seen.texts for match in ACTIVE.finditer(text)] == []
    assert {"img", "script", "b"} & seen.elements.keys() == set()
    assert re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", markdown) is None


@scenario
def a_comment_that_forges_our_marker_is_nobodys(there: Town) -> Iterator[None]:
    repository = there.repository()
    there.do("hooks", pause=True)
    pull = repository.open()
    forged = {pull.say(f"{MARKER}\n### PAIChecker: all is well", who) for who in (STRANGER, "other-checker[bot]")}
    there.do("hooks", pause=False)
    yield
    ours = pull.comment()["id"]
    # As if the App had been stopped before it kept its number.
    there.app.store.change(rows(there, pull, tables.pull_requests)[0].id, comment_id=None)
    pull.push()
    yield
    assert pull.comment()["id"] == ours
    theirs = [one for one in there.state()["comments"] if one["id"] in forged]
    assert [(one["edits"], one["deleted"]) for one in theirs] == [(0, False)] * 2


# What may not be read by everybody


def quoting(there: Town, of: Repository, secret: str) -> PullRequest:
    """A pull request elsewhere, of an issue of this repository in whose discussion something is told."""
    number = of.issue()
    of.do("comment", number=number, body=ASKED, actor=MAINTAINER)
    of.do("comment", number=number, body=f"The output is {secret}, and 12 lines more.", actor=REPORTER)
    return there.repository().open(body=f"Fixes {of.name}#{number}")


def assert_taken_back(pull: PullRequest, secret: str) -> None:
    """It is shown nowhere, not even in what an edited comment said before."""
    assert secret not in shown(pull)
    assert pull.comment()["edits"] == 0
    assert all(run["status"] == "completed" for run in pull.check_runs())


@scenario
def an_issue_of_another_private_repository_is_not_read(there: Town) -> Iterator[None]:
    vault = there.repository(private=True)
    pull = quoting(there, vault, "MOONBASE-1")
    yield
    assert pull.check_run()["status"] == "completed"
    assert "MOONBASE-1" not in shown(pull)
    assert "MOONBASE-1" not in str(rows(there, pull, tables.runs))


@scenario
def what_became_private_is_taken_back_elsewhere(there: Town) -> Iterator[None]:
    quoted = there.repository()
    pull = quoting(there, quoted, "MOONBASE-2")
    yield
    assert "MOONBASE-2" in pull.comment()["body"]
    assert "MOONBASE-2" in pull.check_run()["text"]
    pull.push({"a.txt": "another head\n"})
    yield
    quoted.do("rename_repo", name=f"{quoted.name.partition('/')[2]}-renamed")
    quoted.name += "-renamed"
    yield
    there.do("privatize", repo=quoted.name)
    yield
    assert_taken_back(pull, "MOONBASE-2")


@scenario
def what_was_moved_to_a_private_repository_is_taken_back(there: Town) -> Iterator[None]:
    vault, quoted = there.repository(private=True), there.repository()
    pull = quoting(there, quoted, "MOONBASE-3")
    own = there.repository()
    home = own.open(own_issue(own, "MOONBASE-4"))
    yield
    assert "MOONBASE-3" in pull.comment()["body"]
    assert "MOONBASE-4" in home.comment()["body"]
    quoted.do("transfer_issue", number=1, to=vault.name)
    own.do("transfer_issue", number=1, to=vault.name)
    yield
    assert_taken_back(pull, "MOONBASE-3")
    assert_taken_back(home, "MOONBASE-4")


@scenario
def what_was_deleted_is_taken_back(there: Town) -> Iterator[None]:
    repository = there.repository()
    pull = repository.open(own_issue(repository, "MOONBASE-5"))
    told = there.repository()
    answered = told.open(own_issue(told, "MOONBASE-6"))
    yield
    assert "MOONBASE-5" in pull.comment()["body"]
    assert "MOONBASE-6" in answered.comment()["body"]
    repository.do("delete_issue", number=1, actor=MAINTAINER)
    comments = [one for one in there.state()["comments"] if one["issue"] == f"{told.name}#1"]
    there.do("delete_comment", id=comments[-1]["id"])
    yield
    assert_taken_back(pull, "MOONBASE-5")
    assert_taken_back(answered, "MOONBASE-6")
    anew = answered.comment()["id"]
    said = answered.say("/paichecker dispute UL")
    yield
    assert answered.reactions(said) == ["+1"]
    assert answered.comment()["id"] == anew
    assert "MOONBASE-6" not in shown(answered)


def own_issue(repository: Repository, secret: str) -> int:
    number = repository.issue()
    repository.do("comment", number=number, body=ASKED, actor=MAINTAINER)
    repository.do("comment", number=number, body=f"The output is {secret}, and 12 lines more.", actor=REPORTER)
    return number


@scenario
def what_is_said_of_an_issue_in_other_words_goes_with_it(there: Town) -> Iterator[None]:
    """Rules quote; a model would tell of the issue in words of its own."""
    repository = there.repository()
    pull = repository.open()
    yield
    first = pull.comment()["id"]
    repository.do("delete_issue", number=1, actor=MAINTAINER)
    yield
    assert pull.comment()["id"] != first
    assert pull.comment()["edits"] == 0
    assert "oolong" not in shown(pull)


@scenario
def an_issue_that_is_only_linked_no_longer_takes_nothing_back(there: Town) -> Iterator[None]:
    repository = there.repository()
    pull = repository.open(own_issue(repository, "nothing secret"))
    yield
    assert "nothing secret" in shown(pull)
    first = pull.comment()["id"]
    another = repository.issue("Another one", "Something else.")
    pull.do("edit_pr", body=story.BODY.format(issue=another))
    yield
    assert pull.comment()["id"] == first
    assert "**Since the last check**" in pull.comment()["body"]


# Played


@pytest.fixture(scope="module")
def outcomes(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[dict[Scenario, Future[None]]]:
    told: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = told.append  # type: ignore[method-assign]
    logger = logging.getLogger()
    logger.addHandler(handler)
    logging.getLogger("bot").setLevel(logging.INFO)
    try:
        with town(tmp_path_factory.mktemp("town")) as there:
            yield side_by_side(there, selected(request, SCENARIOS))
    finally:
        logger.removeHandler(handler)
        logging.getLogger("bot").setLevel(logging.NOTSET)
    form = logging.Formatter()
    text = "\n".join(form.format(record) for record in told)
    assert [record.getMessage() for record in told if record.levelno >= logging.ERROR] == []
    assert re.findall(r"ghs_\w+|PRIVATE KEY|MOONBASE|victim|evil|drink it all day", text) == []


@needs_githubd
@pytest.mark.parametrize("played", SCENARIOS, ids=lambda one: one.__name__)
def test_it_is_as_its_name_says(played: Scenario, outcomes: dict[Scenario, Future[None]]) -> None:
    outcomes[played].result()


def test_an_error_of_the_database_tells_no_texts(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'app.sqlite'}")
    row = {"pull_request": 1, "comment_id": 1, "updated_at": "", "line": 1, "text": "a secret", "who": "ann"}
    with pytest.raises(sa.exc.IntegrityError) as raised, store._begin() as connection:
        connection.execute(sa.insert(tables.commands).values(**row))
    store.close()
    assert "a secret" not in str(raised.value)


def test_the_documentation_names_tests_that_there_are() -> None:
    here = Path(__file__).parent
    files = {name: (here / f"test_bot_{name}.py").read_text(encoding="utf-8") for name in DOCUMENTED}
    table = (here.parent / "docs/hazards.md").read_text(encoding="utf-8").splitlines()
    named = [row.split(" | ")[2] for row in table if row.startswith("| ")]
    text = ""
    for word in (word for tests in named for word in re.findall(r"`[^`/]+`|[a-z]+", tests)):
        text = files.get(word, text)
        name = ".*".join(map(re.escape, word.strip("`").split("…")))
        assert word[0] != "`" or re.search(rf"def \w*{name}", text), word
