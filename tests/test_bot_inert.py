"""Hostile text in every place of a comment and of a check run's summary: it shows, and does nothing.

Rendered with `cmarkgfm`, GitHub's own Markdown library, with raw HTML let through, so that nothing is forgiven. What
GitHub links only after Markdown (mentions, references, emoji) is looked for in the text that is left.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from html.parser import HTMLParser

import cmarkgfm
import pytest
from checks_of_pairs import AT, WEB, checked
from cmarkgfm.cmark import Options

from bot.checked import Answer, AnswerKind, Checked, Standing, digest_of
from bot.checks import concluded
from bot.comment import MARKER, render_comment
from bot.inert import inert, quoted_code, quoted_prose
from bot.repo_config import ConfigProblem
from checker.evidence import Evidence
from checker.render import one_line
from checker.report import Clue, Confidence, Decision, Dropped, Finding, Report, RoleUsage, Verdict
from checker.taxonomy import Artifact, Label, Role, Scenario

HOSTILE = [
    # People and teams
    "@ann",
    "cc @ann, @ann/team and (@ann)",
    "@@ann @-ann _@ann *@ann* `@ann",
    "é@ann 字@ann",
    "&commat;ann &#64;ann &#x40;ann",
    # References
    "#1 (#1) [#1] GH-1 gh-1 _GH-1 xGH-1 é#1",
    "ann/tool#1 ann#1 ann/tool@0123abc ann@0123abcd",
    "Fixes #7, closes ann/tool#8, resolves https://github.com/ann/tool/issues/9",
    "0123abc 0123456789abcdef0123456789abcdef01234567 deadbeef DEADBEEF x_0123abcdef defaced",
    "GHSA-8r4q-abcd-9xyz CVE-2021-44228 cve-2021-44228",
    "&num;1 &#35;1",
    # Addresses
    "http://evil.test https://evil.test HTTPS://EVIL.TEST ftp://evil.test",
    "1http://evil.test _http://evil.test éhttp://evil.test xhttps://evil.test",
    "www.evil.test _www.evil.test (www.evil.test *www.evil.test ~www.evil.test",
    "ann@evil.test a@-b.test a@_b.test ann+x@evil.test mailto:ann@evil.test xmpp:ann@evil.test/x",
    "<https://evil.test> <ann@evil.test>",
    "[x](http://evil.test) [x](<javascript:alert(1)>) [x]: http://evil.test\n[x]",
    "[x][y]\n\n[y]: http://evil.test 'title'",
    "![x](http://evil.test/a.png) ![x][y] ![](data:image/png;base64,AAAA)",
    "[^1] and\n\n[^1]: a footnote",
    "](http://evil.test) [x",
    # HTML
    "<img src=x onerror=alert(1)><script>alert(1)</script>",
    "</details></summary><h1>Big</h1><details open>",
    "<!-- hidden",
    "--> shown <!--",
    MARKER,
    f"text\n{MARKER}\n### PAIChecker: all is well",
    "<a href='http://evil.test'>x</a> <a name=user-content-x>",
    "<?php ?> <!DOCTYPE html> <![CDATA[ x ]]> <plaintext><textarea><style>*{display:none}",
    "&lt;b&gt; &amp;lt; &nbsp; &copy; &#0; &#xD800;",
    # Blocks
    "# Heading\n## Heading",
    "Setext\n===\nSetext\n---",
    "- a\n- b\n* c\n+ d\n1. e\n2) f\n- [ ] g\n- [x] h",
    "> quote\n> > quote",
    "> [!WARNING]\n> text",
    "[!NOTE]\ntext",
    "[ ] todo\n[x] done",
    "    indented\n\tcode",
    "```\nfence\n```\n@ann",
    "~~~\nfence",
    "`````` and ``` and ````````",
    "```suggestion\nx\n```",
    "***\n___\n- - -",
    "| a | b |\n| --- | --- |\n| 1 | 2 |",
    "a\n:-:\nb",
    "--- | ---\n:-- | --:",
    "cell | cell \\| cell \\\\| cell |",
    "a\\",
    "a\\\\\\",
    "ends in two spaces  \nnext",
    "term\n: definition",
    # Inline
    "*a* _a_ **a** __a__ ~a~ ~~a~~ ***a***",
    "`code` ``code`` `un closed",
    ":tada: :+1: x:smile:x ::bow:: :octocat",
    "$x$ $$x$$ costs $5 and $6 $`x`$ \\(x\\) \\[x\\]",
    "```math\nx\n```",
    "`#ff0000` `rgb(9, 105, 218)`",
    # Characters
    "right \u202e to left \u2067 isolated \u2069 \u200f",
    "zero\u200bwidth @\u200bann #\u20601 \ufeff \u00ad",
    "half \ud800 and \udfff, null \x00, escape \x1b[31m, delete \x7f",
    "a\rb\x0bc\x0cd\x85e\u2028f\u2029g",
    "e" + "\u0301" * 200,
    "@ann " * 400,
    "\\" * 700,
    "`" * 700,
    "<" * 700,
    "[" * 700,
    "x" * 1_000_000,
    "@a\n" * 300_000,
    # Words that other programs act on
    "/paichecker confirm",
    "text\n/lgtm\n/approve\n/close",
]
PIECES = [
    *"@#:[]()<>!`*_~|\\$&-+=. \n\t/1a",
    *("ann", "GH-1", "www.", "http://", "0123abc", "```", "---", "<b>", "<!--", "-->", "~~", "&#64;", ":tada:", "é"),
]
OURS = re.compile(r"https://github\.com/ann/tool/(?:blob|commit)/[0-9a-f]{40}(?:/[\w./%~-]+#L\d+)?", re.ASCII)
PULL_REQUEST = f"{WEB}/ann/tool/pull/9"
# What GitHub would make something of, in the text that Markdown leaves.
ACTIVE = re.compile(
    r"@[\w-]|#\d|gh-\d|(?:ghsa|cve)-|[0-9a-f]{7}|(?:https?|ftp|mailto|xmpp):[^\s\u2060]|www\.|:[\w+-]+:|\$|\[[ x!^]",
    re.IGNORECASE,
)


def made(text: str) -> Checked:
    """A check in which a stranger's text stands wherever one can."""
    prose = Evidence("pr/comment/1", Artifact.PR_COMMENTS, text, text, PULL_REQUEST)
    code = Evidence("patch/test", Artifact.TEST_PATCH, text, None, None, text, 7, True)
    named = Evidence(text, Artifact.ISSUE_DISCUSSION, text, text, text)
    decision = Decision(Label.UL, True, text, ((text, 3), ("tool/cli.py", 4)))
    decisions = ((Role.COORDINATOR, decision), (Role.CODE_VALIDATOR, decision))
    reason = f"Somebody wrote this here: {text}"
    found = Finding(
        Label.UL, Scenario.UL_1, Confidence.HIGH, reason, Role.SCOPE_ANALYZER, (prose, code, named), text, decisions
    )
    other = Finding(Label.SC, Scenario.SC_2, Confidence.LOW, reason, Role.SCOPE_ANALYZER, (prose,), text)
    report = Report(
        id=text,
        backend=text,
        verdict=Verdict.MISALIGNED,
        findings=(found, other),
        dropped=(Dropped(Label.DP, "coordinator", text), Dropped(Label.IS, text, text)),
        clues=(Clue(text, f"a clue, {text}"),),
        undetermined=(f"Open: {text}",),
        unread=(Artifact.PR_REVIEWS,),
        remarks=(f"Remark: {text}",),
        usage=(RoleUsage(Role.ISSUE_ANALYZER, text, 2, 100, 0, 10, None),),
    )
    return checked(report, inputs={f"issue/{text}": "x", f"pr/{text}": "y"})


def comment(text: str) -> str:
    now = made(text)
    before = checked(Report("i", "b", Verdict.MISALIGNED, findings=(_gone(text),)), inputs={f"patch/{text}": "z"})
    answers = [
        Answer(kind, text, standing, AT, finding.label, text, digest_of(finding))
        for finding, kind, standing in zip(
            (*now.report.findings, now.report.findings[0]),
            (AnswerKind.CONFIRM, AnswerKind.DISPUTE, AnswerKind.DISPUTE),
            (Standing.MAINTAINER, Standing.MAINTAINER, Standing.AUTHOR),
            strict=True,
        )
    ]
    return render_comment(now, web=WEB, before=before, answers=answers)


def _gone(text: str) -> Finding:
    return Finding(Label.FP, Scenario.FP_1, Confidence.LOW, f"Gone: {text}", Role.CONNECTION_ANALYZER, ())


def undecided(text: str) -> str:
    report = Report(text, text, Verdict.UNDETERMINED, undetermined=(f"Text addresses a model: {text}",))
    return render_comment(checked(report), web=WEB)


def summary(text: str) -> str:
    body = concluded(made(text), web=WEB, fail_on=(Label.UL,), problems=[ConfigProblem(3, text, f"Line: {text}")])
    output = body["output"]
    return f"{output['summary']}\n\n{output['text']}"


class Seen(HTMLParser):
    """The elements, the addresses, and the texts of rendered Markdown."""

    def __init__(self, markdown: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: Counter[str] = Counter()
        self.addresses: list[str] = []
        self.texts: list[str] = []
        self.code = ""
        self.comments: list[str] = []
        self.literal = 0
        options = Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_HARDBREAKS | Options.CMARK_OPT_FOOTNOTES
        self.feed(cmarkgfm.github_flavored_markdown_to_html(markdown, options))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        self.literal += tag in ("code", "span")
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src", "id", "name", "class")]

    def handle_endtag(self, tag: str) -> None:
        self.literal -= tag in ("code", "span")

    def handle_data(self, data: str) -> None:
        if self.literal:
            self.code += data
        else:
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


def harmless(markdown: str, plain: str, comments: int) -> None:
    """What a stranger's text changes is text, and how many lines and paragraphs it takes."""
    seen, expected = Seen(markdown), Seen(plain)
    for flexible in ("br", "p", "span", "a"):
        seen.elements.pop(flexible, None)
        expected.elements.pop(flexible, None)
    assert seen.elements == expected.elements
    assert [a for a in seen.addresses if a != PULL_REQUEST and OURS.fullmatch(a) is None] == []
    assert [match[0] for text in seen.texts for match in ACTIVE.finditer(text)] == []
    assert len(seen.comments) == comments
    assert not [line for line in markdown.splitlines() if line.startswith(("/", "@", "    "))]
    markdown.encode()


def random_texts() -> list[str]:
    dice = random.Random(5)
    return ["".join(dice.choices(PIECES, k=dice.randint(1, 30))) for _ in range(150)]


@pytest.mark.parametrize("text", [pytest.param(text, id=ascii(text[:40])) for text in HOSTILE])
def test_hostile_text_only_shows(text: str) -> None:
    harmless(comment(text), comment("plain words"), comments=1)
    harmless(undecided(text), undecided("plain words"), comments=1)
    harmless(summary(text), summary("plain words"), comments=0)
    assert comment(text).count(MARKER) == 1


@pytest.mark.parametrize("text", ["", " ", "\n\n\n"])
def test_where_nothing_is_said_nothing_breaks(text: str) -> None:
    seen, expected = Seen(comment(text)), Seen(comment("plain words"))
    seen.elements.pop("p")
    assert seen.elements <= expected.elements
    assert {"table", "details", "h3", "blockquote"} <= set(seen.elements)


def test_random_text_only_shows() -> None:
    plain = comment("plain words")
    for text in random_texts():
        harmless(comment(text), plain, comments=1)


PLACES = [
    "{}",
    "ours\n{}",
    "{}\n{}",
    "# {}",
    "- {}",
    "1. {}",
    "> {}\n> {}",
    "**{}** *{}* “{}” ({})",
    "| a | b |\n| - | - |\n| {} | {} |",
]


@pytest.mark.parametrize("place", PLACES)
def test_wherever_a_text_is_put_it_shows_as_it_was_written(place: str) -> None:
    expected = Seen(place.replace("{}", "x")).elements
    for text in (*(text[:500] for text in HOSTILE), *random_texts()):
        said = inert(text, 10_000)
        if said:
            seen = Seen(place.replace("{}", said))
            seen.elements.pop("span", None)
            assert (seen.elements, seen.addresses) == (expected, [])
            assert [match[0] for text in seen.texts for match in ACTIVE.finditer(text)] == []
            everything = "".join(HTMLText(place.replace("{}", said)).all).replace("\u2060", "")
            assert everything.count(one_line(text)) >= place.count("{}")


def test_the_words_of_a_link_stay_its_words() -> None:
    for text in (*(text[:500] for text in HOSTILE), *random_texts()):
        assert Seen(f"[{inert(text, 10_000)}]({PULL_REQUEST})").addresses == [PULL_REQUEST]


def test_what_is_shown_is_what_was_written() -> None:
    for text in (*HOSTILE, *random_texts()):
        line = " ".join(text[:500].split())
        if line.isprintable() and line:
            shown = Seen(inert(line)).texts
            everything = "".join(HTMLText(inert(line)).all).strip()
            assert everything.replace("\u2060", "") == line, shown


class HTMLText(HTMLParser):
    """All text of one line of Markdown."""

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self.all: list[str] = []
        self.feed(cmarkgfm.github_flavored_markdown_to_html(markdown, Options.CMARK_OPT_UNSAFE))
        self.close()

    def handle_data(self, data: str) -> None:
        self.all.append(data)


@pytest.mark.parametrize("quoted", [quoted_code, quoted_prose])
def test_every_line_of_a_quote_stays_in_its_block(quoted: object) -> None:
    for text in (*HOSTILE, *random_texts()):
        lines = quoted(text, 600)  # type: ignore[operator]
        assert all(line == ">" or line.startswith("> ") for line in lines)
        seen = Seen("\n".join(lines) + "\n\nafter")
        assert seen.elements["blockquote"] == bool(lines)
        assert seen.texts[-2:-1] == ["after"] or "after" in seen.texts[-1]
        assert seen.elements["pre"] == (quoted is quoted_code)


def test_code_is_quoted_to_the_letter() -> None:
    code = 'if a[0] < b & c:\n    raise Error("@ann #1 :tada: $x$")  # ```'
    shown = Seen("\n".join(quoted_code(code, 600)))
    assert shown.code.rstrip("\n") == code


def test_a_long_quote_is_cut_and_says_so() -> None:
    assert quoted_prose("word " * 500, 100)[-1].endswith("[⁠…\\]".replace("[⁠", "\\[⁠"))
    assert "[…]" in quoted_code("\n".join(map(str, range(50))), 600)[-2]
