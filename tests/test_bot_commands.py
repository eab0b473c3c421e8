"""Which lines of a comment are commands, who may say them, what is answered, and how often."""

from __future__ import annotations

import random
import re
import resource
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from checks_of_pairs import WEB, checked, checked_pair, creep, literal, report, whole
from fakes import HERE
from markdown_it import MarkdownIt

from bot import caps
from bot.caps import Cap, free_at
from bot.checked import Standing
from bot.command_answers import DOES, Reaction, absent, explain, help_text
from bot.commands import MOST_COMMANDS, MOST_LINES, Command, Verb, WrongCommand, new_commands, read_commands, refusal
from bot.comment import render_comment
from bot.comment_parts import Extent, quote
from bot.quotes import quoting
from checker.report import Dropped, Verdict
from checker.taxonomy import Label, Scenario

DOCUMENT = (HERE.parent / "docs" / "commands.md").read_text(encoding="utf-8")
OURS = (
    "<!-- paichecker:comment -->\n### Misaligned\n\n| **SC** | the pull request *also* fixes a bug "
    "([review comment 3](https://github.com/ann/tool/pull/9)) in \\`parse_all\\` |\n"
)


def said(body: str, *, ours: str | None = None) -> list[str]:
    """The commands as words, wrong ones as "wrong", each with its line."""
    found = read_commands(body, quotes_ours=quoting(ours) if ours else None)
    return [
        " ".join([str(c.line), c.verb, *c.labels, *([repr(c.reason)] if c.reason else [])])
        if isinstance(c, Command)
        else f"{c.line} wrong"
        for c in found
    ]


def why(body: str) -> str:
    (wrong,) = read_commands(body, quotes_ours=None)
    assert isinstance(wrong, WrongCommand)
    return wrong.why


def tags(markdown: str) -> set[str]:
    """The elements that GitHub would make of a text."""
    return set(re.findall(r"<(\w+)", MarkdownIt("commonmark").render(markdown)))


# The grammar


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("recheck", "recheck"),
        ("RECHECK", "recheck"),
        ("recheck.", "recheck"),
        ("`recheck`", "recheck"),
        ("recheck <!-- a note -->", "recheck"),
        ("ignore", "ignore"),
        ("resume", "resume"),
        ("help", "help"),
        ("confirm", "confirm"),
        ("confirm SC", "confirm SC"),
        ("confirm sc, is others", "confirm SC IS Others"),
        ("confirm: SC,UL,SC", "confirm SC UL"),
        ("confirm `SC` and **DP**.", "confirm SC DP"),
        ("explain fp", "explain FP"),
        ("explain is", "explain IS"),
        ("dispute", "dispute"),
        ("dispute UL", "dispute UL"),
        ("dispute SC The issue asks for it.", "dispute SC 'The issue asks for it.'"),
        ("dispute SC, IS: said in #12", "dispute SC IS 'said in #12'"),
        ("dispute UL - see `parse()`", "dispute UL 'see `parse()`'"),
        ("dispute not so", "dispute 'not so'"),
        ("dispute scope is fine", "dispute 'scope is fine'"),
        # "is" and "others" are words before a reason
        ("dispute is", "dispute IS"),
        ("dispute sc is", "dispute SC IS"),
        ("dispute sc is in the issue", "dispute SC 'is in the issue'"),
        ("dispute sc, is in the issue", "dispute SC 'is in the issue'"),
        ("dispute others asked for it", "dispute 'others asked for it'"),
        ("dispute is: it has the details", "dispute IS 'it has the details'"),
        ("dispute IS the details are there", "dispute IS 'the details are there'"),
        # mistakes
        ("", "wrong"),
        ("rechek", "wrong"),
        ("recheck please", "wrong"),
        ("recheck SC", "wrong"),
        ("confirm SCC", "wrong"),
        ("confirm SC thanks", "wrong"),
        ("explain", "wrong"),
        ("explain SC UL", "wrong"),
        ("explain scope", "wrong"),
        ("confirm ſC", "wrong"),
        ("dispute SC /paichecker dispute UL", "wrong"),
        ("dispute SC It is so, /PAIchecker confirm UL", "wrong"),
        ("dispute SC as `/paichecker explain SC` told", "dispute SC 'as `/paichecker explain SC` told'"),
        ("dispute SC /paichecker told so", "dispute SC '/paichecker told so'"),
        ("dıspute SC", "wrong"),
    ],
)
@pytest.mark.parametrize(
    "around",
    [
        "/paichecker {}",
        "/paichecker: {}",
        "  /PAIchecker  {}  ",
        "Hello,\r\n/paichecker {}\r\nbye",
        "a\r/paichecker {}",
    ],
)
def test_a_line_is_read_as_its_command(around: str, line: str, command: str) -> None:
    number = 2 if "\r" in around else 1
    assert said(around.format(line)) == [f"{number} {command}"]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "please /paichecker recheck",
        "- /paichecker recheck",
        "\\/paichecker recheck",
        "/paicheckers recheck",
        "/paichecker/commands.py",
        "paichecker recheck",
        "`/paichecker recheck`",
        "`\n/paichecker recheck\n`",
        "```\n/paichecker recheck\n```",
        "~~~sh\n/paichecker recheck",
        "    /paichecker recheck",
        "\t/paichecker recheck",
        "- a\n\n      /paichecker recheck",
        "> /paichecker recheck",
        "> > /paichecker recheck",
        "> ```\n> /paichecker recheck\n> ```",
        "<!-- /paichecker recheck -->",
        "<!--\n/paichecker recheck\n-->",
        "<!--\n/paichecker recheck",
        "<pre>\n/paichecker recheck\n</pre>",
        "<blockquote>\n\n/paichecker recheck\n\n</blockquote>",
        "confirm",
    ],
)
def test_code_quotes_comments_and_the_middle_of_a_line_hold_no_command(body: str) -> None:
    assert said(body) == []
    assert said(f"{body}\n\n/paichecker help") in ([], [f"{body.count(chr(10)) + 3} help"])


def test_the_line_is_counted_in_the_raw_comment() -> None:
    body = "Intro.\r\n\r\n```\r\n/paichecker help\r\n```\r\n\r\n<!-- a\r\nb -->\r\n\r\n/paichecker recheck\r\n"
    assert said(body) == ["10 recheck"]
    assert said("a\u2028b\x0bc\x85\n/paichecker recheck") == ["2 recheck"]


def test_a_line_that_github_shows_inside_the_quote_above_is_not_carried_out_but_told() -> None:
    assert "Leave an empty line" in why("> what you wrote\n/paichecker ignore")
    assert said("> what you wrote\n\n/paichecker ignore") == ["3 ignore"]


def test_only_so_many_commands_of_a_comment_are_read() -> None:
    found = read_commands("/paichecker recheck\n" * 1000, quotes_ours=None)
    assert [type(command) for command in found] == [Command] * MOST_COMMANDS + [WrongCommand]
    assert said("/paichecker recheck\n" * MOST_COMMANDS) == [f"{n} recheck" for n in range(1, MOST_COMMANDS + 1)]
    assert said("a\n" * (MOST_LINES - 1) + "/paichecker help") == [f"{MOST_LINES} help"]
    assert said("a\n" * MOST_LINES + "/paichecker help") == []


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("", "Say what to do. `/paichecker help` lists the commands."),
        ("rechek", "There is no command “rechek”. Did you mean `/paichecker recheck`?"),
        ("merge", "There is no command “merge”. `/paichecker help` lists the commands."),
        ("ignore this", "`/paichecker ignore` stands alone on its line. Take away what follows it."),
        ("confirm scope", "“scope” is no label. The labels are SC, DP, IS, FP, UL and Others."),
        ("explain", "Name one label, such as `/paichecker explain SC`. The labels are SC, DP, IS, FP, UL and Others."),
    ],
)
def test_a_wrong_command_gets_one_line_of_help(line: str, sentence: str) -> None:
    assert why(f"/paichecker {line}") == sentence


@pytest.mark.parametrize(
    "hostile", ["@everyone", "#12", "<img/src=x>", "[a](https://evil.test)", "`", "\u202egnp", "x" * 9999]
)
@pytest.mark.parametrize("verb", ["", "confirm ", "explain ", "ignore "])
def test_help_about_a_strangers_words_is_inert_and_short(verb: str, hostile: str) -> None:
    sentence = why(f"/paichecker {verb}{hostile}")
    assert len(sentence) < 300
    assert "\n" not in sentence
    assert not re.search(r"@\w|#\d|\u202e", sentence)
    assert tags(sentence) <= {"p", "code"}


def test_any_lines_together_give_what_each_gives_alone() -> None:
    draw = random.Random(7)
    words = [
        "/paichecker",
        "confirm",
        "dispute",
        "SC",
        "is",
        "IS,",
        "recheck",
        "`",
        "<!--",
        "-->",
        "x",
        "\0",
        "Others",
        "?",
    ]
    for _ in range(300):
        lines = [" ".join(draw.choices(words, k=draw.randint(1, 6))) for _ in range(4)]
        lines = [line for line in lines if not re.search("[`<>\0]", line)]
        alone = [f"{2 * at + 1} {said(line)[0][2:]}" for at, line in enumerate(lines) if said(line)]
        assert said("\n\n".join(lines)) == alone


def test_any_text_at_all_is_read_without_an_error() -> None:
    draw = random.Random(8)
    pieces = [
        "/paichecker ",
        "\n",
        "\r",
        "> ",
        "```",
        "`",
        "    ",
        "confirm",
        "dispute ",
        "SC",
        " IS",
        ",",
        "<!--",
        "-->",
        "\0",
        "ſ",
        "- ",
    ]
    for _ in range(2000):
        body = "".join(draw.choices(pieces, k=draw.randint(1, 30)))
        for command in read_commands(body, quotes_ours=quoting(OURS)):
            line = re.split(r"\r\n?|\n", body)[command.line - 1]
            assert re.sub(r"\s", "", command.text)[:7].lower() == line.strip()[:7].lower()


_HOSTILE = """
from bot.commands import read_commands
from bot.quotes import quoting
size = 65_536
ours = quoting("the pull request also fixes a bug " * 1000)
pieces = ("> ", "- ", "- - - a\\n", "`", "`a``b", "<!--", "<pre>", "</a\\n", "[a]: b\\n", "* * a\\n", "#\\n", "a\\n\\n")
pieces += ("\\t", "&", "/paichecker dispute is\\n", "is ", "SC,", "](", "<", "confirm\\n", "> a\\n")
pieces += ("> also fixes a\\n\\ndispute is is is x\\n\\n",)
for before in ("/paichecker confirm ", "> also fixes a bug\\n\\ndispute "):
    for piece in pieces:
        read_commands(before + piece * (size // len(piece)), quotes_ours=ours)
"""


def test_hostile_comments_of_any_kind_are_read_in_linear_time() -> None:
    # Linear, this takes about two seconds of processor time; quadratic, many minutes. The limit is no measurement.
    done = subprocess.run(
        [sys.executable, "-c", _HOSTILE],
        check=False,
        capture_output=True,
        cwd=HERE.parent,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (40, 40)),
    )
    assert done.returncode == 0, done.stderr.decode()[-500:]


# Replies that quote our comment

QUOTE = "> also fixes a bug (review comment 3) in\n"


@pytest.mark.parametrize(
    ("reply", "commands"),
    [
        ("\nconfirm", ["3 confirm"]),
        ("\nConfirm SC.", ["3 confirm SC"]),
        ("\nSure:\nconfirm sc, ul", ["4 confirm SC UL"]),
        ("\ndispute. The title says so", ["3 dispute 'The title says so'"]),
        ("\ndispute SC: the title says so", ["3 dispute SC 'the title says so'"]),
        ("\n/paichecker confirm SC", ["3 confirm SC"]),
        ("\nconfirm SC, thanks", ["3 wrong"]),
        ("dispute SC", ["2 wrong"]),
        ("Thanks!", []),
        ("\nConfirm that it works for you, please", []),
        ("\nconfirm?", []),
        ("\nConfirmed", []),
        ("\nI dispute that", []),
        ("\n- dispute", []),
        ("\n    dispute", []),
        ("\n```\ndispute\n```", []),
        ("\n> dispute", []),
        ("\n> words of somebody else\n\nconfirm", []),
        ("\nconfirm\n\n> words of somebody else\n\ndispute", ["3 confirm"]),
    ],
)
def test_below_a_quote_of_ours_the_slash_word_may_be_left_out(reply: str, commands: list[str]) -> None:
    assert said(QUOTE + reply, ours=OURS) == commands


@pytest.mark.parametrize(
    "quote",
    [
        "> **SC** the pull request *also* fixes a bug ([review comment 3](https://github.com/ann/tool/pull/9))",
        "> the pull request also fixes a\n> bug (review comment 3) in parse_all",
        "On Monday, paichecker wrote:\n> > Also fixes a bug (review comment 3)\n> I see",
        "> fixes a bug <b>",
    ],
)
def test_a_quote_is_known_however_it_was_made(quote: str) -> None:
    assert said(f"{quote}\n\nconfirm", ours=OURS) == [f"{quote.count(chr(10)) + 3} confirm"]


@pytest.mark.parametrize(
    "body",
    [
        "> fixes bug\n\nconfirm",
        "> fixes a fine bug\n\nconfirm",
        "> other words said\nalso fixes a bug\n\nconfirm",
        "confirm\n\n> also fixes a bug",
        "```\n> also fixes a bug\n```\n\nconfirm",
    ],
)
def test_other_quotes_are_none_of_ours(body: str) -> None:
    assert said(body, ours=OURS) == []


async def test_every_line_of_a_real_comment_can_be_quoted_as_it_is_shown() -> None:
    body = render_comment(await checked_pair("scope-creep-and-literal"), web=WEB)
    shown = re.sub(r"<[^>]*>", "", MarkdownIt("gfm-like", {"linkify": False}).render(body))
    lines = [line for line in map(str.strip, shown.splitlines()) if len(re.findall(r"[^\W_]+", line)) >= 3]
    assert len(lines) > 10
    is_ours = quoting(body)
    assert [line for line in lines if not is_ours(f"> {line}")] == []


# Edits


@pytest.mark.parametrize(
    ("before", "after", "fresh"),
    [
        (None, "/paichecker recheck", [1]),
        ("", "/paichecker recheck", [1]),
        ("/paichecker recheck", "/paichecker recheck", []),
        ("/paichecker recheck", "An intro.\n\n/paichecker  Recheck ", []),
        ("/paichecker recheck", "/paichecker recheck\n/paichecker recheck", [2]),
        ("/paichecker recheck\n/paichecker help", "/paichecker help\n/paichecker recheck", []),
        ("/paichecker recheck\n/paichecker help", "/paichecker help", []),
        ("/paichecker dispute SC", "/paichecker dispute SC The title says so", [1]),
        ("/paichecker rechek", "/paichecker rechek", []),
        ("/paichecker rechek", "/paichecker recheck", [1]),
        ("> /paichecker ignore", "/paichecker ignore", [1]),
        ("```\n/paichecker ignore\n```", "/paichecker ignore", [1]),
        ("confirm", "> also fixes a bug\n\nconfirm", [3]),
        ("> also fixes a bug\n\nconfirm", "> also fixes a bug\n\nYes.\n\nconfirm", []),
    ],
)
def test_an_edit_brings_only_the_commands_that_are_new_in_it(before: str | None, after: str, fresh: list[int]) -> None:
    held, found = (read_commands(text or "", quotes_ours=quoting(OURS)) for text in (before, after))
    assert [command.line for command in new_commands(found, [command.text for command in held])] == fresh


# Who may say what

EVERYBODY = {Verb.EXPLAIN, Verb.HELP}
MAY = {
    Standing.MAINTAINER: set(Verb),
    Standing.AUTHOR: EVERYBODY | {Verb.RECHECK, Verb.DISPUTE},
    Standing.STRANGER: EVERYBODY,
    Standing.BOT: set(),
}


@pytest.mark.parametrize("verb", Verb)
@pytest.mark.parametrize("standing", Standing)
def test_who_may_say_what(standing: Standing, verb: Verb) -> None:
    refused = refusal(Command(1, "", verb), standing)
    assert (refused is None) == (verb in MAY[standing])
    if refused:
        assert (
            refused.says is None if standing is Standing.BOT else f"`/paichecker {verb}` is for" in (refused.says or "")
        )


def test_a_refusal_says_whose_command_it_is() -> None:
    both = refusal(Command(1, "", Verb.RECHECK), Standing.STRANGER)
    maintainers = refusal(Command(1, "", Verb.IGNORE), Standing.AUTHOR)
    writers = "people with write access to this repository"
    assert both
    assert both.says == f"`/paichecker recheck` is for {writers} and for the author of the pull request."
    assert maintainers
    assert maintainers.says == "`/paichecker ignore` is for people with write access to this repository."


def test_a_mistake_is_explained_to_people_and_never_to_a_bot() -> None:
    wrong = WrongCommand(1, "", "Say what to do.")
    says = {standing: refused.says for standing in Standing if (refused := refusal(wrong, standing))}
    assert says == dict.fromkeys(Standing, "Say what to do.") | {Standing.BOT: None}


# Answers


def test_help_names_every_command_and_label() -> None:
    text = help_text()
    for verb in Verb:
        assert f"- `{verb.usage}`: {DOES[verb]}" in text
    assert "SC (Scope Creep)" in text


@pytest.mark.parametrize("label", Label)
def test_a_label_is_explained_with_its_scenarios_also_before_any_check(label: Label) -> None:
    text = explain(label, None, web=WEB)
    assert text.endswith("This pull request has not been checked yet.")
    assert all(scenario.words in text for scenario in Scenario if scenario.label is label)
    assert len(text.splitlines()) < 12


def test_a_label_that_stands_is_explained_with_its_reason_quotes_and_decisions() -> None:
    done = checked(whole())
    meaning, ways, found, quoted, decided = explain(Label.UL, done, web=WEB).split("\n\n")
    assert meaning == "**UL · Unspecified Literal**: the pull request"
    assert ways == "- is tested against an exact literal that nobody could derive from the issue (UL-1)"
    assert found.startswith(
        "**Found here** as UL-1, confidence medium, by the PR Scope Analyzer: The test wants the words"
    )
    assert quoted == quote(literal().evidence[0], done, WEB, Extent())
    assert decided == (
        "- Coordinator: kept. The quote carries it.\n- Code Validator: kept. The message stands on an added line."
    )


def test_a_label_that_was_dropped_or_not_found_is_explained_so() -> None:
    drops = (
        Dropped(Label.SC, "coordinator", "One root cause.", Scenario.SC_1),
        Dropped(Label.UL, "evidence", "No quote."),
    )
    done = checked(
        report(
            Verdict.UNDETERMINED, dropped=drops, undetermined=("The timeline was not read.", "DP cannot be ruled out.")
        )
    )
    assert "**Dropped here** as SC-1 by the Coordinator: One root cause." in explain(Label.SC, done, web=WEB)
    assert "**Dropped here** for want of proof: No quote." in explain(Label.UL, done, web=WEB)
    assert "FP was not found here. This was not decided:\n\n- The timeline was not read." in explain(
        Label.FP, done, web=WEB
    )
    done = checked(report(Verdict.ALIGNED))
    assert explain(Label.FP, done, web=WEB).endswith("\n\nFP was not found here.")


HOSTILE = "@ann fixes #7 <img src=x> ![a](https://evil.test) https://evil.test/x\n\n# big `x` "


@pytest.mark.parametrize("label", [Label.SC, Label.UL, Label.FP])
def test_what_strangers_wrote_stays_inert_and_short_in_an_explanation(label: Label) -> None:
    drops = (Dropped(Label.UL, "coordinator", HOSTILE * 200),) * 30
    doubts = (HOSTILE * 200,) * 30
    finding = creep(HOSTILE * 200, reason=HOSTILE * 200)
    done = checked(report(Verdict.MISALIGNED, findings=(finding,), dropped=drops, undetermined=doubts))
    text = explain(label, done, web=WEB)
    assert not re.search(r"@ann|#7|https://evil", text)
    assert tags(text) <= {"p", "strong", "ul", "li", "blockquote", "a"}
    assert set(re.findall(r"(?<!\\)\]\(([^)]*)\)", text)) <= {f"{WEB}/ann/tool/pull/9"}
    assert len(text) < 6_000


def test_an_answer_to_what_was_not_found_is_told() -> None:
    found = report(Verdict.MISALIGNED, findings=(creep(),))
    assert absent(Command(1, "", Verb.CONFIRM, (Label.SC,)), found) is None
    assert absent(Command(1, "", Verb.DISPUTE), found) is None
    assert absent(Command(1, "", Verb.EXPLAIN, (Label.UL,)), found) is None
    assert absent(Command(1, "", Verb.RECHECK), None) is None
    wrong = absent(Command(1, "", Verb.DISPUTE, (Label.UL, Label.SC, Label.FP)), found)
    assert wrong == "UL and FP were not found here. An answer can be to SC."
    nothing = "There is nothing to answer to: no label stands on this pull request now."
    assert absent(Command(1, "", Verb.CONFIRM), report(Verdict.ALIGNED)) == nothing
    assert absent(Command(1, "", Verb.CONFIRM), None) == nothing


def test_the_reactions_are_some_that_github_knows() -> None:
    assert set(Reaction) <= {"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}


# Caps

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("minutes", "free"),
    [
        ([], None),
        ([1], None),
        ([1, 2], 58),
        ([1, 60], None),
        ([59, 1], 1),
        ([30, 20, 10], 40),
        ([300, 200, 100], None),
        ([-1, 0], 60),
    ],
)
def test_so_many_times_in_an_hour_and_then_again_when_the_first_of_them_is_an_hour_ago(
    minutes: list[int], free: int | None
) -> None:
    at = free_at(Cap(2), [NOW - timedelta(minutes=m) for m in minutes], NOW)
    assert at == (None if free is None else NOW + timedelta(minutes=free))


# The documentation


@pytest.mark.parametrize("verb", Verb)
def test_the_documentation_has_every_command_with_who_may_say_it(verb: Verb) -> None:
    (row,) = [line for line in DOCUMENT.splitlines() if line.startswith(f"| `{verb.usage}` |")]
    who = row.split("|")[3]
    assert ("everybody" in who) == (verb in MAY[Standing.STRANGER])
    assert ("author" in who) == (verb in MAY[Standing.AUTHOR] - EVERYBODY)
    assert ("maintainers" in who) == (verb not in EVERYBODY)


def test_the_documentation_has_every_limit() -> None:
    documented = {int(most) for most in re.findall(r"\| (\d+) an hour \|", DOCUMENT)}
    assert documented == {cap.most for cap in vars(caps).values() if isinstance(cap, Cap)}
    assert f"| {MOST_COMMANDS}, in its first {MOST_LINES:,} lines |" in DOCUMENT


def test_the_example_in_the_documentation_is_a_command() -> None:
    examples = re.findall(r"```text\n(.*?)```", re.sub(r"(?m)^  ", "", DOCUMENT), re.DOTALL)
    assert [said(example, ours=OURS) for example in examples] == [
        ["1 dispute SC 'The second paragraph of the issue asks for the cache.'"],
        [],
    ]
    ours = "the pull request also fixes a bug that is not in the issue"
    assert said(examples[1], ours=ours) == ["3 dispute SC 'the issue asks for it in its last line'"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("U The wording is ours.", "“U” is no label"),
        ("SX it is wanted", "“SX” is no label"),
        ("Scope Creep is fine here", "For Scope Creep write SC."),
        ("unspecified literal, no", "For Unspecified Literal write UL."),
    ],
)
def test_a_reason_that_begins_like_a_label_is_no_answer_to_everything(words: str, why: str) -> None:
    (found,) = read_commands(f"/paichecker dispute {words}", quotes_ours=None)
    assert isinstance(found, WrongCommand)
    assert why in found.why


@pytest.mark.parametrize(
    "words", ["I think it is asked for", "NO, the issue has it", "API names are ours", "scope is fine"]
)
def test_other_reasons_need_no_label(words: str) -> None:
    (found,) = read_commands(f"/paichecker dispute {words}", quotes_ours=None)
    assert isinstance(found, Command)
    assert (found.labels, found.reason) == ((), words)
