"""The study counts what a person with pencil and paper counts.

`PAICHECKER_RENEW_GOLDEN=1 pytest tests/test_bot_study.py` writes the golden file anew; read what has changed.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from checks_of_pairs import checked, creep, incomplete, literal, report
from databases import KINDS, empty, store_of

from bot.checked import Answer, AnswerKind, Standing
from bot.feedback import unclassified
from bot.store import Run, Store
from bot.study import Study, Tally, Thumbs, Words, study
from bot.study_formats import as_csv, as_json, as_text
from checker.report import Report, Verdict
from checker.taxonomy import Label
from checker.wilson import wilson

GOLDEN = Path(__file__).parent / "golden" / "study.txt"
START = datetime(2026, 3, 1, 9, tzinfo=UTC)
CONFIRM, DISPUTE = AnswerKind.CONFIRM, AnswerKind.DISPUTE
MAINTAINER, AUTHOR = Standing.MAINTAINER, Standing.AUTHOR
SC, UL, IS = Label.SC, Label.UL, Label.IS
FINDINGS = {SC: creep(), UL: literal(), IS: incomplete()}


class Book:
    """Writes into a store as the App does. Days count from the first of March 2026."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.entries = 0

    def _key(self) -> int:
        self.entries += 1
        return self.entries

    def pull_request(self, repository: str, number: int) -> int:
        return self.store.pull_request(1, sum(map(ord, repository.lower())), repository, number).id

    def check(
        self, pull: int, *labels: Label, day: int = 0, shadow: bool = False, finished: bool = True, run: str = ""
    ) -> str:
        number = self._key()
        name, at = run or f"run {number}", START + timedelta(days=day)
        self.store.begin_run(Run(name, pull, "a" * 40, number, shadow, None), at)
        if finished:
            done = replace(checked(found(*labels)), run=name, checked_at=at + timedelta(minutes=1))
            self.store.keep_report(name, done)
        return name

    def say(
        self, pull: int, run: str | None, kind: AnswerKind, label: Label, who: str, as_: Standing, day: int = 0
    ) -> None:
        at = START + timedelta(days=day, hours=1)
        self.store.keep_answer(pull, f"{self._key()}", Answer(kind, who, as_, at, label), run=run, backend="rules")

    def reply(self, pull: int, run: str, who: str, day: int = 0) -> None:
        answer = unclassified(who, MAINTAINER, START + timedelta(days=day, hours=1))
        self.store.keep_answer(pull, f"{self._key()}", answer, run=run, backend="rules")


def found(*labels: Label) -> Report:
    verdict = Verdict.MISALIGNED if labels else Verdict.ALIGNED
    return report(verdict, findings=tuple(FINDINGS[label] for label in labels))


@pytest.fixture(scope="module", params=KINDS)
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with store_of(request.param, tmp_path_factory.mktemp("database")) as opened:
        yield opened


@pytest.fixture
def book(database: Store) -> Book:
    empty(database)
    return Book(database)


def told(*, answered: int, confirmed: int = 0, disputed: int = 0, unclassified: int | None = 0) -> Words:
    return Words(answered, confirmed, disputed, unclassified)


NOBODY, NOBODY_TO_A_LABEL = told(answered=0), told(answered=0, unclassified=None)


def whole(book: Book, **asked: date) -> Tally:
    return study(book.store, **asked).shown.whole.whole  # type: ignore[arg-type]


# The interval


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_the_interval_is_that_of_the_published_examples(successes: int, trials: int, low: float, high: float) -> None:
    """R. G. Newcombe, Two-sided confidence intervals for the single proportion. Statistics in Medicine 17 (1998),
    857-872, table I, method 3."""
    assert wilson(successes, trials) == pytest.approx((low, high), abs=5e-5)


def test_the_interval_is_one_for_one_as_for_none() -> None:
    low, high = wilson(7, 7)
    assert (1 - high, 1 - low) == pytest.approx(wilson(0, 7))
    assert (low, high) == pytest.approx((1 / (1 + 3.841459 / 7), 1.0))


# What is sampled, and what is flagged


def test_an_empty_ledger_is_an_empty_study(book: Book) -> None:
    assert whole(book) == Tally(0, 0, NOBODY, NOBODY)
    assert as_text(study(book.store)) == (
        "Study of pull requests, of all time\n\n"
        "Nothing has been checked yet, so there is nothing to count. New pull requests are checked by themselves; "
        "`paichecker-bot backfill OWNER/NAME` checks those that are open already.\n"
    )
    later = as_text(study(book.store, repositories=["ann/tool"], since=date(2026, 3, 1)))
    assert "Nothing was checked in ann/tool on 2026-03-01 or later, so there is nothing to count." in later


def test_where_only_shadow_runs_were_made_no_noughts_stand_for_what_people_could_see(book: Book) -> None:
    book.check(book.pull_request("ann/tool", 1), SC, shadow=True)
    text = as_text(study(book.store))
    assert "No check that people could see yet.\n\nShadow runs, which post nothing" in text
    assert "Thumbs" not in text


def test_a_pull_request_counts_once_and_as_its_newest_finished_check_saw_it(book: Book) -> None:
    pull = book.pull_request("ann/tool", 1)
    book.check(pull, SC)
    book.check(pull, UL, day=1)
    book.check(pull, day=2, finished=False)
    figures = study(book.store).shown.whole
    assert (figures.whole.sampled, figures.whole.flagged) == (1, 1)
    assert [label for label, tally in figures.labels.items() if tally.flagged] == [UL]


def test_what_was_resolved_before_anybody_answered_is_flagged_no_more(book: Book) -> None:
    pull = book.pull_request("ann/tool", 1)
    book.check(pull, SC)
    book.check(pull)
    assert whole(book) == Tally(1, 0, NOBODY, NOBODY)


def test_what_was_answered_counts_also_after_it_was_resolved(book: Book) -> None:
    pull = book.pull_request("ann/tool", 1)
    run = book.check(pull, SC)
    book.say(pull, run, CONFIRM, SC, "mia", MAINTAINER)
    book.check(pull, day=1)
    assert whole(book) == Tally(1, 1, told(answered=1, confirmed=1), NOBODY)


def test_a_check_that_never_finished_is_none(book: Book) -> None:
    book.check(book.pull_request("ann/tool", 1), finished=False)
    assert whole(book).sampled == 0


def test_of_two_checks_the_one_that_saw_the_newest_trigger_counts_whichever_began_last(book: Book) -> None:
    pull = book.pull_request("ann/tool", 1)
    book.check(pull, SC, day=5)
    book.check(pull, day=4)
    assert whole(book).flagged == 0
    newest = book.store.last_checked(pull)
    assert newest is not None
    assert newest.report.labels == ()


# Who said what


def test_the_last_word_of_a_person_on_a_label_counts(book: Book) -> None:
    pull = book.pull_request("ann/tool", 1)
    run = book.check(pull, SC)
    book.say(pull, run, CONFIRM, SC, "mia", MAINTAINER, day=2)
    book.say(pull, run, DISPUTE, SC, "mia", MAINTAINER, day=1)
    assert whole(book).maintainers == told(answered=1, confirmed=1)
    book.say(pull, run, DISPUTE, SC, "mia", MAINTAINER, day=3)
    assert whole(book).maintainers == told(answered=1, disputed=1)


def test_the_last_word_is_found_across_checks(book: Book) -> None:
    pull = book.pull_request("ann/tool", 1)
    book.say(pull, book.check(pull, SC), CONFIRM, SC, "mia", MAINTAINER)
    book.say(pull, book.check(pull, SC, day=1), DISPUTE, SC, "mia", MAINTAINER, day=1)
    assert whole(book).maintainers == told(answered=1, disputed=1)


def test_two_people_on_one_label_are_two_words_on_one_pull_request(book: Book) -> None:
    pull = book.pull_request("ann/tool", 1)
    run = book.check(pull, SC)
    book.say(pull, run, CONFIRM, SC, "mia", MAINTAINER)
    book.say(pull, run, DISPUTE, SC, "max", MAINTAINER)
    assert whole(book).maintainers == told(answered=1, confirmed=1, disputed=1)


def test_the_authors_word_is_counted_apart_and_not_in_the_precision(book: Book) -> None:
    pull = book.pull_request("ann/tool", 1)
    run = book.check(pull, SC)
    book.say(pull, run, DISPUTE, SC, "ben", AUTHOR)
    figures = whole(book)
    assert (figures.maintainers, figures.authors) == (NOBODY, told(answered=1, disputed=1))
    assert figures.maintainers.precision is None
    assert figures.maintainers.interval is None


@pytest.mark.parametrize("standing", [Standing.STRANGER, Standing.BOT])
def test_nobody_else_counts(book: Book, standing: Standing) -> None:
    pull = book.pull_request("ann/tool", 1)
    book.say(pull, book.check(pull, SC), CONFIRM, SC, "eve", standing)
    assert whole(book) == Tally(1, 1, NOBODY, NOBODY)


def test_a_reply_without_a_word_is_an_answer_of_its_own_kind(book: Book) -> None:
    pull = book.pull_request("ann/tool", 1)
    run = book.check(pull, SC)
    book.reply(pull, run, "mia")
    book.reply(pull, run, "mia", day=1)
    figures = study(book.store).shown.whole
    assert figures.whole.maintainers == told(answered=1, unclassified=1)
    assert figures.labels[SC] == Tally(1, 1, NOBODY_TO_A_LABEL, NOBODY_TO_A_LABEL)


def test_who_also_left_a_word_is_counted_by_it_alone(book: Book) -> None:
    pull = book.pull_request("ann/tool", 1)
    run = book.check(pull, SC)
    book.say(pull, run, CONFIRM, SC, "mia", MAINTAINER)
    book.reply(pull, run, "mia", day=1)
    book.reply(pull, run, "max", day=1)
    assert whole(book).maintainers == told(answered=1, confirmed=1, unclassified=1)


def test_a_reply_to_a_comment_that_flags_nothing_is_no_answer(book: Book) -> None:
    pull = book.pull_request("ann/tool", 1)
    book.reply(pull, book.check(pull), "mia")
    assert whole(book) == Tally(1, 0, NOBODY, NOBODY)
    book.check(pull, SC, day=1)
    assert whole(book) == Tally(1, 1, NOBODY, NOBODY)


def test_a_reply_keeps_the_labels_it_was_to(book: Book) -> None:
    pull = book.pull_request("ann/tool", 1)
    book.reply(pull, book.check(pull, SC, UL), "mia")
    book.check(pull, day=1)
    figures = study(book.store).shown.whole
    assert figures.whole.flagged == 1
    assert [label for label, tally in figures.labels.items() if tally.flagged] == [SC, UL]


def test_an_answer_outlives_the_run_that_it_was_to(book: Book) -> None:
    pull = book.pull_request("ann/tool", 1)
    book.say(pull, "a run that was deleted", CONFIRM, SC, "mia", MAINTAINER)
    book.say(pull, None, CONFIRM, UL, "mia", MAINTAINER)
    assert whole(book) == Tally(1, 1, told(answered=1, confirmed=2), NOBODY)


# Shadow runs


def test_shadow_runs_are_counted_apart(book: Book) -> None:
    seen, unseen = (book.pull_request("ann/tool", number) for number in (1, 2))
    book.check(seen, SC)
    book.check(unseen, UL, shadow=True)
    figures = study(book.store)
    assert (figures.shown.whole.whole.sampled, figures.shadow.whole.whole.sampled) == (1, 1)
    assert figures.shown.whole.labels[UL].flagged == 0
    assert figures.shadow.whole.labels[UL].flagged == 1


def test_a_later_shadow_run_hides_nothing_that_people_saw(book: Book) -> None:
    pull = book.pull_request("ann/tool", 1)
    run = book.check(pull, SC)
    book.check(pull, UL, day=1, shadow=True)
    assert study(book.store).shown.whole.labels[SC].flagged == 1
    book.say(pull, run, DISPUTE, SC, "mia", MAINTAINER, day=2)
    figures = study(book.store)
    assert figures.shown.whole.whole == Tally(1, 1, told(answered=1, disputed=1), NOBODY)
    assert figures.shadow.whole.whole == Tally(1, 1, NOBODY, NOBODY)


# Which part of it


def test_since_a_day_means_checks_that_finished_then_and_answers_to_those(book: Book) -> None:
    pull = book.pull_request("ann/tool", 1)
    old = book.check(pull, SC)
    new = book.check(pull, UL, day=10)
    book.say(pull, old, CONFIRM, SC, "mia", MAINTAINER, day=12)
    book.say(pull, new, DISPUTE, UL, "mia", MAINTAINER, day=12)
    book.check(book.pull_request("ann/tool", 2), SC, day=8)
    assert whole(book, since=date(2026, 3, 11)) == Tally(1, 1, told(answered=1, disputed=1), NOBODY)
    assert whole(book, since=date(2026, 3, 9)).sampled == 2
    assert whole(book, since=date(2026, 3, 12)).sampled == 0


def test_since_a_day_an_older_check_can_be_the_newest_before_it_no_more(book: Book) -> None:
    pull = book.pull_request("ann/tool", 1)
    book.check(pull, SC, day=10)
    book.check(pull, day=4)
    assert whole(book).flagged == 0
    assert whole(book, since=date(2026, 3, 9)).flagged == 1


def test_repositories_are_chosen_in_any_case_of_letters_and_missed_ones_are_named(book: Book) -> None:
    book.check(book.pull_request("Ann/Tool", 1), SC)
    book.check(book.pull_request("ann/docs", 2), SC)
    figures = study(book.store, repositories=["ann/TOOL", "ann/toll"])
    assert [group.repository for group in figures.shown.repositories] == ["Ann/Tool"]
    assert figures.shown.whole.whole.sampled == 1
    assert figures.without_checks == ("ann/toll",)
    assert "Nothing was checked in ann/toll." in as_text(figures)


def test_a_name_from_the_command_line_cannot_steer_the_terminal(book: Book) -> None:
    assert "\x1b" not in as_text(study(book.store, repositories=["ann/\x1b[2Jtool"]))


def test_thumbs_are_counted_apart(book: Book) -> None:
    tool, docs = book.pull_request("ann/tool", 1), book.pull_request("ann/docs", 2)
    book.check(tool, SC)
    book.store.keep_thumbs(tool, 71, [("mia", "+1"), ("eve", "+1"), ("ben", "-1")], START)
    book.store.keep_thumbs(tool, 71, [("mia", "+1"), ("ben", "-1")], START + timedelta(days=1))
    book.store.keep_thumbs(docs, 72, [("mia", "+1")], START + timedelta(days=9))
    figures = study(book.store)
    assert figures.shown.whole.thumbs == Thumbs(2, 1, 1)
    assert [group.thumbs for group in figures.shown.repositories] == [Thumbs(1, 0, 0), Thumbs(1, 1, 1)]
    assert figures.shown.whole.whole == Tally(1, 1, NOBODY, NOBODY)
    assert figures.shadow.whole.thumbs == Thumbs(0, 0, 0)
    assert study(book.store, repositories=["ann/tool"]).shown.whole.thumbs == Thumbs(1, 1, 1)
    assert study(book.store, since=date(2026, 3, 5)).shown.whole.thumbs == Thumbs(1, 0, 0)


def test_the_database_is_asked_three_times_however_much_there_is(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(book)
    asked: list[sa.Select[Any]] = []
    select = Store.select

    def noted(self: Store, query: sa.Select[Any]) -> Sequence[sa.Row[Any]]:
        asked.append(query)
        return select(self, query)

    monkeypatch.setattr(Store, "select", noted)
    study(book.store)
    assert len(asked) == 3


# The whole, worked out by hand, and how it is shown


def fill(book: Book) -> None:
    """Six pull requests that people saw a check of, four of them flagged and answered; two checked in shadow."""
    one, two, three, four, five, six = (book.pull_request("ann/tool", number) for number in range(1, 7))
    seven, eight = (book.pull_request("ann/docs", number) for number in (7, 8))
    first = book.check(one, SC, UL)
    book.say(one, first, CONFIRM, UL, "mia", MAINTAINER)
    second = book.check(one, SC, day=1)
    book.say(one, second, DISPUTE, SC, "mia", MAINTAINER, day=1)
    book.say(one, second, CONFIRM, SC, "mia", MAINTAINER, day=2)
    run = book.check(two, SC)
    book.say(two, run, DISPUTE, SC, "mia", MAINTAINER)
    book.say(two, run, CONFIRM, SC, "max", MAINTAINER)
    book.say(two, run, DISPUTE, SC, "ben", AUTHOR)
    book.check(three)
    book.reply(four, book.check(four, IS), "mia")
    book.check(five, SC, shadow=True)
    book.check(six, SC, finished=False)
    book.check(seven, SC)
    book.check(seven, day=1)
    run = book.check(eight, SC)
    book.check(eight, SC, day=1, shadow=True)
    book.say(eight, run, CONFIRM, SC, "max", MAINTAINER, day=2)
    book.store.keep_thumbs(one, 71, [("mia", "+1"), ("ben", "-1")], START)
    book.store.keep_thumbs(one, 71, [("mia", "+1")], START + timedelta(days=1))


def filled(book: Book) -> Study:
    fill(book)
    return study(book.store)


def test_the_figures_are_those_worked_out_by_hand(book: Book) -> None:
    figures = filled(book)
    shown = figures.shown.whole
    maintainers = told(answered=4, confirmed=4, disputed=1, unclassified=1)
    assert shown.whole == Tally(6, 4, maintainers, told(answered=1, disputed=1))
    by_label = {
        SC: Tally(
            6,
            3,
            told(answered=3, confirmed=3, disputed=1, unclassified=None),
            told(answered=1, disputed=1, unclassified=None),
        ),
        UL: Tally(6, 1, told(answered=1, confirmed=1, unclassified=None), NOBODY_TO_A_LABEL),
        IS: Tally(6, 1, NOBODY_TO_A_LABEL, NOBODY_TO_A_LABEL),
    }
    assert {label: tally for label, tally in shown.labels.items() if tally.flagged} == by_label
    docs, tool = figures.shown.repositories
    assert (docs.repository, docs.whole) == ("ann/docs", Tally(2, 1, told(answered=1, confirmed=1), NOBODY))
    assert (tool.repository, tool.whole.sampled, tool.whole.flagged) == ("ann/tool", 4, 3)
    assert (figures.shadow.whole.whole.sampled, figures.shadow.whole.whole.flagged) == (2, 2)
    assert shown.whole.maintainers.precision == 0.8
    # (0.8 + 3.8415 / 10 ± 1.96 · √(0.16 / 5 + 3.8415 / 100)) / (1 + 3.8415 / 5)
    assert shown.whole.maintainers.interval == pytest.approx((0.3755, 0.9638), abs=5e-5)


def test_the_text_is_as_it_was_looked_at(book: Book) -> None:
    text = as_text(filled(book))
    if os.environ.get("PAICHECKER_RENEW_GOLDEN") == "1":
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_the_text_of_one_repository_has_no_table_of_repositories(book: Book) -> None:
    fill(book)
    text = as_text(study(book.store, repositories=["ann/docs"], since=date(2026, 3, 1)))
    assert "all repositories" not in text
    assert "ann/docs" in text
    assert "checked since 2026-03-01" in text


def test_csv_and_json_hold_the_same_rows(book: Book) -> None:
    figures = filled(book)
    rows = list(csv.DictReader(io.StringIO(as_csv(figures))))
    held = json.loads(as_json(figures))
    assert held["schema"] == "paichecker.study/1"
    assert [{key: "" if value is None else str(value) for key, value in row.items()} for row in held["rows"]] == rows
    keys = [(row["mode"], row["repository"], row["label"]) for row in rows]
    assert len(set(keys)) == len(keys) == 2 * 3 * 7
    row = rows[keys.index(("shown", "ann/tool", "SC"))]
    counts = ("sampled", "flagged", "answered", "confirmed", "disputed", "unclassified", "author_disputed")
    assert [row[name] for name in counts] == ["4", "2", "2", "2", "1", "", "1"]
    assert float(row["precision"]) == pytest.approx(2 / 3)


def test_an_empty_study_has_a_head_in_csv_and_json(book: Book) -> None:
    empty = study(book.store, since=date(2026, 3, 1))
    assert as_csv(empty).startswith("mode,repository,label,sampled,")
    assert json.loads(as_json(empty))["since"] == "2026-03-01"


def test_a_share_just_below_all_is_not_shown_as_all(book: Book) -> None:
    for number in range(200):
        pull = book.pull_request("ann/tool", number)
        book.say(pull, None, CONFIRM if number else DISPUTE, SC, "mia", MAINTAINER)
    assert " 99.5% 97.2%–99.9% " in " ".join(as_text(study(book.store)).split())


def test_what_was_said_to_a_shadow_run_is_shown_with_the_shadow_runs(book: Book) -> None:
    pull = book.pull_request("ann/tool", 1)
    run = book.check(pull, SC, shadow=True)
    assert "confirmed  disputed" not in as_text(study(book.store))
    book.say(pull, run, CONFIRM, SC, "mia", MAINTAINER)
    figures = study(book.store)
    assert figures.shown.whole.whole == Tally(0, 0, NOBODY, NOBODY)
    assert figures.shadow.whole.whole.maintainers == told(answered=1, confirmed=1)
    assert as_text(figures).count("confirmed  disputed") == 1


def test_the_table_in_the_documentation_is_one_that_is_printed() -> None:
    page = (GOLDEN.parents[2] / "docs" / "feedback.md").read_text(encoding="utf-8")
    shown = next(block for block in page.split("```text\n") if block.startswith("Checks that people could see"))
    lines = shown.partition("```")[0].splitlines()
    assert len(lines) > 5
    assert set(lines) <= set(GOLDEN.read_text(encoding="utf-8").splitlines())


def test_every_word_of_the_tables_head_is_explained_in_the_documentation(book: Book) -> None:
    page = (GOLDEN.parents[2] / "docs" / "feedback.md").read_text(encoding="utf-8")
    book.check(book.pull_request("ann/tool", 1))
    head = next(line for line in as_text(study(book.store)).splitlines() if "sampled" in line)
    explained = [line.split("|")[1] for line in page.splitlines() if line.startswith("| ")]
    for column in re.split(r" {2,}", head.strip()):
        assert any(column in cell for cell in explained), column
