import pytest

from checker.links import MOST_REFERENCES, Reference, Relation, look_alike, references


def said(text: str, *, title: bool = False, markdown: bool = True) -> list[tuple[int, str]]:
    """The numbers that a text names, and what it says of each."""
    return [(r.number, r.relation.value) for r in references(text, title=title, markdown=markdown)]


def only(text: str) -> Reference:
    (reference,) = references(text)
    return reference


CLOSING_WORDS = ["close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved"]


@pytest.mark.parametrize("word", CLOSING_WORDS)
@pytest.mark.parametrize("form", ["{} #7", "{}: #7", "{} GH-7", "{} gh-7", "**{}** #7", "This {} #7.", "({} #7)"])
def test_a_closing_word_before_the_number_closes_in_any_case_and_with_a_colon(word: str, form: str) -> None:
    for spelling in (word, word.upper(), word.title()):
        assert said(form.format(spelling)) == [(7, "closes")]


@pytest.mark.parametrize(
    ("text", "repository"),
    [
        ("fixes ann/tool#7", "ann/tool"),
        ("fixes https://github.com/ann/tool/issues/7", "ann/tool"),
        ("fixes https://github.com/ann/tool/pull/7#issuecomment-99.", "ann/tool"),
        ("fixes https://code.example.org/ann/tool.py/pull/7/files", "ann/tool.py"),
        ("fixes [#7](https://github.com/ann/tool/issues/7)", "ann/tool"),
        ('fixes [ann/tool#7](https://github.com/ann/tool/issues/7 "title")', "ann/tool"),
        ('fixes <a href="https://github.com/ann/tool/issues/7">#7</a>', "ann/tool"),
        ("fixes [#7](../issues/7)", None),
        ("fixes [#7]", None),
        ("fixes <!-- the number --> #7", None),
    ],
)
def test_numbers_addresses_and_links_name_the_repository_they_belong_to(text: str, repository: str | None) -> None:
    reference = only(text)
    assert (reference.number, reference.repository, reference.relation) == (7, repository, Relation.CLOSES)


@pytest.mark.parametrize(
    "text",
    [
        "closes issue #7",
        "fixes the bug reported in #7",
        "fixes#7",
        "FIX-#7: the parser",
        "closes issue#7",
        "addresses #7",
        "implements #7",
        "fix for #7",
        "fixes [the crash](https://github.com/ann/tool/issues/7)",
        "[Fixes #7](https://github.com/ann/tool/issues/7)",
        "#7 is fixed by this change",
        "## Fixes\n\n#7",
        "Fixes:\n\n- [ ] #7",
    ],
)
def test_a_claim_that_github_does_not_link_is_listed(text: str) -> None:
    assert said(text) == [(7, "listed")]


@pytest.mark.parametrize(
    "text",
    [
        "fixes #1, #2 and #3",
        "fixes #1, #2, & #3",
        "fixes #1/#2/#3",
        "fixes #1 #2 #3",
        "fixes #1\n#2\n#3",
        "fixes #1 as well as issue #2, and also #3",
        "fixes [#1](https://github.com/a/b/issues/1), [#2](https://github.com/a/b/issues/2) + #3",
    ],
)
def test_a_list_passes_the_claim_on_though_github_links_only_the_first(text: str) -> None:
    assert said(text) == [(1, "closes"), (2, "listed"), (3, "listed")]


def test_each_closing_word_of_its_own_closes() -> None:
    assert said("closes #1 and closes #2") == [(1, "closes"), (2, "closes")]


def test_a_list_of_bullets_takes_up_the_line_above_it() -> None:
    text = "This fixes the following issues:\r\n\r\n* #1 one thing\r\n* #2: another\r\n\r\nElse\r\n* #3\r\n"
    assert said(text) == [(1, "listed"), (2, "listed"), (3, "mentions")]
    assert said("See also:\n1. #1\n2. #2") == [(1, "refers"), (2, "refers")]
    assert said("### Bug fixes\n- #1 of a changelog") == [(1, "mentions")]


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("Part of #7", "part-of"),
        ("a first step towards fixing #7", "part-of"),
        ("Partially fixes #7", "part-of"),
        ("fixes part of #7", "part-of"),
        ("fixes #7 (partially)", "part-of"),
        ("Refs #7", "refers"),
        ("see issue #7", "refers"),
        ("related to #7", "refers"),
        ("cf. #7", "refers"),
        ("re: #7", "refers"),
        ("Follow-up to #7", "follow-up-to"),
        ("followup for PR #7", "follow-up-to"),
        ("a continuation of the work? continues #7", "follow-up-to"),
        ("Supersedes #7", "follow-up-to"),
        ("successor of #7", "follow-up-to"),
        ("fixes a regression from #7", "regression-from"),
        ("Regression introduced by the changes in #7", "regression-from"),
        ("broken since #7", "regression-from"),
        ("tests fail since #7", "regression-from"),
        ("This crash was introduced in #7", "regression-from"),
        ("caused by #7", "regression-from"),
        ("PR #7 introduced a bug", "regression-from"),
        ("#7 broke this", "regression-from"),
        ("Reverts ann/tool#7", "reverts"),
        ('Revert "Read tabs (#7)"', "reverts"),
        ("This reverts commit 0123abcd (#7)", "reverts"),
    ],
)
def test_the_words_around_a_number_say_the_relation(text: str, relation: str) -> None:
    assert said(text) == [(7, relation)]


@pytest.mark.parametrize(
    "text",
    [
        "#7",
        "Fix the parser (#7)",
        "Merge pull request #7 from ann/fix",
        "the option was introduced in #7",
        "fixes the change in #7",
        "superseded by #7",
        "fixed in #7",
        "unlike the fix for #7",
        "this would also let us address #7",
        "It is fixed. #7 is another matter",
        "Fixes it\n\n#7",
        "prefixes #7",
        "修复#7",
    ],
)
def test_what_claims_nothing_is_a_mention(text: str) -> None:
    assert said(text) == [(7, "mentions")]


def test_a_squash_merge_adds_its_own_number_as_a_mention() -> None:
    assert said("Fix #1 (#2)\n\nCloses: #1", markdown=False) == [(1, "closes"), (2, "mentions"), (1, "closes")]


def test_relations_do_not_reach_over_the_reference_before_or_the_end_of_the_sentence() -> None:
    assert said("Refs #1, fixes #2, see e.g. #3") == [(1, "refers"), (2, "closes"), (3, "mentions")]
    assert said("This closes the gap. #4 and #5 stay.") == [(4, "mentions"), (5, "mentions")]


@pytest.mark.parametrize(
    "text", ["does not fix #7", "doesn't close #7", "this doesn’t yet fully resolve #7", "not related to #7"]
)
def test_a_denied_relation_is_negated(text: str) -> None:
    assert only(text).negated


@pytest.mark.parametrize("text", ["not only fixes #7", "not pretty, but fixes #7", "It does not work. Fixes #7"])
def test_a_negation_of_something_else_negates_nothing(text: str) -> None:
    assert not only(text).negated


@pytest.mark.parametrize("hedge", ["Maybe", "Probably", "Possibly", "I think this is"])
def test_doubt_in_the_same_sentence_hedges(hedge: str) -> None:
    assert only(f"{hedge} a regression from #7.").hedged
    assert not only(f"{hedge} it rains. A regression from #7.").hedged


def test_a_question_hedges() -> None:
    assert only("A regression from #7?").hedged


@pytest.mark.parametrize(
    "text",
    [
        "C#9",
        "page#7",
        "guide/#7",
        "https://example.org/page#7",
        "https://example.org/a/b/-/issues/7",
        "https://gitlab.com/a/b/issues/7",
        "[#7](https://tracker.example.org/7)",
        "&#39;",
        r"\#7",
        "# 7",
        "#0",
        "#07",
        "#7th",
        "#12ab34",
        "color: #123456",
        'fill="#333"',
        "#12345678",
        "version #1.2",
        "",
    ],
)
def test_what_only_looks_like_a_number_is_no_reference(text: str) -> None:
    assert references(text) == ()


def test_a_number_of_six_digits_counts() -> None:
    assert said("fixes #123456") == [(123456, "closes")]


@pytest.mark.parametrize(
    "hidden",
    [
        "```\nfixes #1\n```\n",
        "- item\n\n  ~~~text\n  fixes #1\n  ~~~\n",
        "Text\n\n    fixes #1\n",
        "`fixes #1`",
        "`` a ` fixes #1\nfixes #1 ``",
        "> fixes #1\ncontinued #1\n",
        "1. item\n   > fixes #1\n",
        "<!-- fixes #1 -->",
        "text <!-- `\n\nfixes #1\n-->",
        "<pre>\nfixes #1\n\nfixes #1</pre>\n",
        "<blockquote><p>fixes #1</p>\n\n<blockquote>#1</blockquote> #1</blockquote>\n",
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_code_quotes_and_comments_name_nothing(hidden: str, newline: str) -> None:
    text = f"{hidden}\n\nfixes #2".replace("\n", newline)
    assert said(text) == [(2, "closes")]


def test_a_comment_that_is_never_closed_hides_what_follows() -> None:
    assert said("fixes #2\n\n<!-- fixes #1\n\nfixes #1") == [(2, "closes")]


def test_what_only_begins_like_code_hides_nothing() -> None:
    assert said("a ` fixes #1 \\` and <code> fixes #2\n\n- item\n\n      \n  fixes #3") == [
        (1, "closes"),
        (2, "closes"),
        (3, "closes"),
    ]


def test_a_commit_message_is_plain_text_but_for_comments() -> None:
    text = "Read tabs\n\n    fixes #1\n> fixes #2 <!-- fixes #9 -->\n`fixes #3`"
    assert said(text, markdown=False) == [(1, "closes"), (2, "closes"), (3, "closes")]


def test_a_title_claims_although_github_reads_no_closing_words_there() -> None:
    assert said("    Fix #1: read `#2`", title=True) == [(1, "closes")]


def test_fences_and_quotes_are_found_in_texts_longer_than_github_takes() -> None:
    filling = "word\n" * 20_000
    text = f"{filling}```\nfixes #1\n\n```\n> fixes #1\n`fixes #1` fixes #2\n{filling}```\nfixes #1"
    assert said(text) == [(2, "closes")]


def test_the_quote_is_the_stripped_line() -> None:
    assert only("First.\r\n  It fixes #7, finally. \r\nLast.").quote == "It fixes #7, finally."


@pytest.mark.parametrize("before", [0, 150, 199, 5_000])
@pytest.mark.parametrize("after", [0, 150, 199, 5_000])
def test_of_a_long_line_200_characters_around_the_number_are_quoted(before: int, after: int) -> None:
    text = "ab " * (before // 3) + "fixes #7" + " cd" * (after // 3)
    quote = only(text).quote
    assert quote in text
    assert "#7" in quote
    assert min(len(text), 190) <= len(quote) <= 200


HOSTILE = ["#1 ", "\n#1", "- #1\n", "fixes #1, ", "fixes the ", "bug since #1 ", "[", "[a](https://", "<a ", "<code>"]
HOSTILE += ["`", "` `` ", "<!-- ", "https://", " ", "\n", " \n", "a/", "a-", "? ", "> #1\n", "```\n", "a:\n- #1\n", "1"]
HOSTILE += ['revert "', "GH-", "#1 and and ", "Fixes:\n\n\n- #1\n", "\0", "#1\n \n", "not ", "a/b#", "# Fixes\n#1\n"]


@pytest.mark.parametrize("markdown", [True, False])
@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_repetition_is_read_to_the_end(unit: str, *, markdown: bool) -> None:
    text = unit * (20_000 // len(unit))
    found = references(text + " x #9", markdown=markdown)
    assert len(found) <= MOST_REFERENCES


def test_reading_stops_after_the_most_references() -> None:
    assert len(references("#1 " * (MOST_REFERENCES + 1))) == MOST_REFERENCES


@pytest.mark.parametrize(
    ("one", "other"),
    [(54167, 54617), (4504, 4904), (451, 4511), (4511, 451), (123, 132), (1010, 101), (999, 9990), (12345, 12354)],
)
def test_one_slip_makes_numbers_look_alike(one: int, other: int) -> None:
    assert look_alike([one, other]) == ((one, other),)


@pytest.mark.parametrize(
    ("one", "other"),
    [(1234, 1235), (1234, 1237), (1239, 1240), (12, 21), (12, 123), (1234, 5678), (1234, 1432), (123, 12345), (7, 7)],
)
def test_neighbours_and_short_or_distant_numbers_do_not_look_alike(one: int, other: int) -> None:
    assert look_alike([one, other]) == ()


def test_pairs_keep_the_order_given_and_come_once() -> None:
    assert look_alike([4904, 77, 4504, 4904, 4540]) == ((4904, 4504), (4504, 4540))
