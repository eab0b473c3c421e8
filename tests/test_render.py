"""Reports as text and Markdown: whole outputs as golden files, and strangers' text that stays inert.

`PAICHECKER_RENEW_GOLDEN=1 pytest tests/test_render.py` writes the golden files anew; read what has changed.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from fakes import HERE, load_pair
from markdown_it import MarkdownIt

from checker.evidence import Evidence
from checker.pipeline import check
from checker.render import as_markdown, as_text, inert, one_line, plain
from checker.report import Clue, Confidence, Decision, Dropped, Finding, Report, RoleUsage, Verdict
from checker.rules import RulesBackend
from checker.taxonomy import Artifact, Label, Role, Scenario

GOLDEN = HERE / "golden"
RENEW = os.environ.get("PAICHECKER_RENEW_GOLDEN") == "1"


def full_report(stranger: str = "plain words", *, url: str | None = "https://github.com/ann/tool/pull/9") -> Report:
    """A report in which every part is set, and a stranger's text stands wherever one can."""
    prose = Evidence("pr/comment/1", Artifact.PR_COMMENTS, stranger, stranger, url)
    code = Evidence("patch/test", Artifact.TEST_PATCH, stranger, None, None, stranger, 7)
    kept = (Role.CODE_VALIDATOR, Decision(Label.UL, True, stranger, ((stranger, 3),)))
    return Report(
        id=stranger,
        backend=stranger,
        verdict=Verdict.MISALIGNED,
        findings=(
            Finding(
                Label.UL,
                Scenario.UL_1,
                Confidence.HIGH,
                stranger,
                Role.SCOPE_ANALYZER,
                (prose, code),
                stranger,
                (kept,),
            ),
        ),
        dropped=(Dropped(Label.SC, "coordinator", stranger, Scenario.SC_2), Dropped(Label.IS, "evidence", stranger)),
        clues=(Clue("signals", f"{stranger}, a clue", (prose,)),),
        undetermined=(stranger,),
        unread=(Artifact.PR_REVIEWS,),
        partial=(Artifact.PR_COMMENTS,),
        remarks=(stranger,),
        usage=(
            RoleUsage(Role.ISSUE_ANALYZER, "m", 2, 12_345, 1_000, 678, 0.0123),
            RoleUsage(Role.COORDINATOR, "m", 1, 10, 0, 1, None),
        ),
    )


# Golden files


@pytest.mark.parametrize(("ending", "render"), [("txt", as_text), ("md", as_markdown)])
@pytest.mark.parametrize("name", ["scope-creep-and-literal", "incomplete-specification"])
async def test_an_examples_report_is_as_its_golden_file(
    name: str, ending: str, render: Callable[[Report], str]
) -> None:
    agrees(f"{name}.{ending}", render(await check(load_pair(name), RulesBackend())))


@pytest.mark.parametrize(("ending", "render"), [("txt", as_text), ("md", as_markdown)])
def test_a_report_with_every_part_is_as_its_golden_file(ending: str, render: Callable[[Report], str]) -> None:
    agrees(f"every-part.{ending}", render(full_report()))


def agrees(name: str, text: str) -> None:
    path = GOLDEN / name
    if RENEW:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


# Text for a terminal

TERMINAL = [
    "\x1b[2J\x1b[H cleared",
    "\x1b]0;title\x07 set",
    "\x1b]8;;https://evil.test\x1b\\click\x1b]8;;\x1b\\",
    "\x9b31m red",
    "over\rwritten",
    "back\x08\x08space",
    "bell\x07 null\x00 delete\x7f",
    "right\u202eto left",
    "isolates \u2067and\u2069",
    "zero\u200bwidth \ufeff",
    "line\u2028and paragraph\u2029ends",
    "vertical\x0btab form\x0cfeed next\x85line",
    "tags \U000e0041",
]


@pytest.mark.parametrize("stranger", TERMINAL)
@pytest.mark.parametrize("render", [as_text, as_markdown])
def test_nothing_that_steers_a_terminal_or_hides_comes_through(stranger: str, render: Callable[[Report], str]) -> None:
    shown = render(full_report(stranger)).replace("\u2060", "")
    assert {c for c in shown if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")} == set()


def test_a_half_of_a_surrogate_pair_is_shown_as_its_code_point() -> None:
    assert plain("half \ud800") == "half \\ud800"


@pytest.mark.parametrize("newline", ["\n", "\r", "\r\n", "\x0b", "\x85", "\u2028"])
def test_a_strangers_name_cannot_pass_for_a_line_of_ours(newline: str) -> None:
    forged = "other__pair-1: ALIGNED"
    assert forged not in as_text(full_report(f"x{newline}{forged}")).splitlines()
    assert one_line(f"x{newline}{forged}") == f"x {forged}"


@pytest.mark.parametrize("render", [as_text, as_markdown])
def test_a_long_quote_is_cut_and_said_to_be(render: Callable[[Report], str]) -> None:
    shown = re.sub("[\\\\\u2060]", "", render(full_report("\n".join(f"line number {n}" for n in range(20)))))
    assert "> [...]" in shown
    assert "> line number 5" in shown
    assert "> line number 12" not in shown


def test_a_line_without_spaces_is_wrapped_and_nothing_of_it_is_lost() -> None:
    shown = as_text(full_report("x" * 500))
    assert max(map(len, shown.splitlines())) < 600
    assert "x" * 94 in shown


# Markdown

MARKDOWN = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</details><h1>big</h1>",
    "<!-- hidden",
    "a <b>bold</b> claim",
    "![image](https://evil.test/x.png)",
    "[link](https://evil.test)",
    "[link][ref] and [ref]: https://evil.test",
    "<https://evil.test>",
    "# heading",
    "setext\n===",
    "setext\n---",
    "- item\n- item",
    "* item\n+ item",
    "1. item\n2) item",
    "***\n___\n---",
    "- - -",
    "> quote",
    "    indented code",
    "```\ncode fence\n```",
    "~~~\ncode fence",
    "`code` and ``more``",
    "**bold** *em* __bold__ _em_ ~~struck~~",
    "| a | b |\n| --- | --- |\n| 1 | 2 |",
    "cell | cell \\| cell",
    "- [x] task",
    "[^1] note\n[^1]: note",
    "$x^2$ and $$y$$",
    "> [!WARNING]\n> text",
    "&lt;b&gt; &amp; &#64;ann &commat;ann &num;7",
    "line ends with two spaces  \nnext",
    "backslash \\",
    "\\[escaped\\](https://evil.test)",
]
OURS = {"h2", "h3", "p", "em", "strong", "ul", "li", "blockquote", "hr", "span"}
TABLE = {"table", "thead", "tbody", "tr", "th", "td"}


class _Seen(HTMLParser):
    """The tags, the addresses and the text of a rendered report."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        self.text += data


def rendered(markdown: str) -> _Seen:
    return _Seen(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(markdown))


@pytest.mark.parametrize("stranger", MARKDOWN)
def test_quoted_text_renders_as_itself_and_as_nothing_else(stranger: str) -> None:
    plain_report = rendered(as_markdown(full_report("plain words")))
    seen = rendered(as_markdown(full_report(stranger)))
    lines = max(1, len(stranger.splitlines()))
    assert seen.addresses == plain_report.addresses
    assert [tag for tag in seen.tags if tag != "span"] == [tag for tag in plain_report.tags if tag != "span"]
    assert set(seen.tags) <= OURS | TABLE | {"a"}
    for line in stranger.splitlines()[:lines]:
        assert " ".join(line.split()) in seen.text.replace("\u2060", "")


MENTIONS = [
    "@ann and @ann/team, mail ann@example.com",
    "#7 and (#7) and ann/tool#7 and GH-7 gh-7",
    "https://github.com/ann/tool/issues/7 http://x.test www.x.test",
    "ftp://x.test mailto:ann@example.com xmpp:ann@example.com HTTPS://X.TEST",
    "0123abcdef 0123456789abcdef0123456789abcdef01234567 ann@0123abc ann/tool@0123abc",
    "Fixes #7, closes ann/tool#8",
    "&commat;ann &#64;ann &num;7 &#35;7",
]
# As GitHub finds them in the text of rendered Markdown (docs.github.com, "Autolinked references and URLs").
REFERENCES = re.compile(
    r"@\w|#\d|\bgh-\d|\bhttps?:|\bwww\.|\bftp:|\bmailto:|\bxmpp:|\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b", re.IGNORECASE
)


@pytest.mark.parametrize("stranger", MENTIONS)
def test_quoted_text_pings_nobody_and_refers_to_nothing(stranger: str) -> None:
    text = rendered(as_markdown(full_report(stranger, url=None))).text
    assert REFERENCES.findall(text) == []
    assert stranger in text.replace("\u2060", "")


@pytest.mark.parametrize("word", ["abc", "feedback", "1.5", "C#", "a @ b", "issue # 7", "http", "gh", "a: b"])
def test_words_that_refer_to_nothing_are_left_whole(word: str) -> None:
    assert "\u2060" not in inert(word)


@pytest.mark.parametrize(
    "text",
    [
        "not_found (a): b!",
        "a < b > c & d; e",
        "x[0] = {y}",
        "1.5 s",
        "-x is - y + z",
        r"r'\d+\s'",
        "a * b",
        "R&D is",
        "#include",
    ],
)
def test_what_markdown_makes_nothing_of_stands_as_it_is(text: str) -> None:
    assert inert(text) == text


UNSAFE = [
    "javascript:alert(1)",
    "http://github.com/ann/tool",
    "https://github.com/ann/tool) [x](https://evil.test",
    "https://ann@evil.test/x",
    "https://github.com/ann/tool?x=<script>",
    "https://github.com/ann/\ntool",
]


@pytest.mark.parametrize("url", UNSAFE)
def test_a_source_is_linked_only_to_a_plain_https_address(url: str) -> None:
    assert rendered(as_markdown(full_report(url=url))).addresses == []


def test_a_source_is_linked_to_where_it_stands() -> None:
    url = "https://github.com/ann/tool/issues/7#issuecomment-123_4"
    assert rendered(as_markdown(full_report(url=url))).addresses == [url]
