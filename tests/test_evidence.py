"""A quote is proved against the text that it names, to the letter but for white space and Unicode form."""

from __future__ import annotations

import resource
import subprocess
import sys
import unicodedata

import pytest
from fakes import HERE

from checker.evidence import LONGEST_QUOTE, Evidence, Quote, Unproved, prove, quotable, whole_words
from checker.pair import Text
from checker.taxonomy import Artifact

DIFF = """\
diff --git a/src/clock.py b/src/clock.py
--- a/src/clock.py
+++ b/src/clock.py
@@ -10,3 +10,4 @@ class Clock:
 def tick(self):
-    raise ValueError("too late")
+    if self.stopped:
+        raise ClockError("stopped at noon")
     return self.now
@@ -40,2 +41,3 @@ class Clock:
 def stop(self):
+    self.stopped = True
     return None
diff --git a/src/bell.py b/src/bell.py
--- a/src/bell.py
+++ b/src/bell.py
@@ -1,1 +1,2 @@
+import time
 import clock
"""


def proved(body: str, quote: str, artifact: Artifact = Artifact.PR_DESCRIPTION) -> Evidence | Unproved:
    text = Text("the text", artifact, body, "ann", url="https://x.test/1")
    return prove(Quote("the text", quote), {"the text": text})


def in_patch(quote: str) -> Evidence | Unproved:
    return proved(DIFF, quote, Artifact.CODE_PATCH)


def reason(found: Evidence | Unproved) -> str:
    assert isinstance(found, Unproved), found
    return found.reason


@pytest.mark.parametrize(
    ("body", "quote"),
    [
        ("It fails on Windows.", "fails on Windows"),
        ("It fails\r\non Windows.", "fails on Windows"),
        ("It  fails\n\n\ton Windows.", "  fails on\tWindows  "),
        ("It fails on Windows.", "fails\r\non\r\nWindows"),
        ("Un caf\u00e9 ferm\u00e9", "cafe\u0301 ferme\u0301"),
        ("Un cafe\u0301 ferme\u0301", "caf\u00e9 ferm\u00e9"),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af works now", "한글 works now"),
        ("a.*b (c|d) [e] $ ^ \\d+ {2}", "a.*b (c|d) [e] $ ^ \\d+ {2}"),
        ("no-break\u00a0space here", "no-break space here"),
        ("fixed", "fixed"),
        ("See #7", "#7 See #7".removeprefix("#7 ")),
        ("OK", "OK"),
        ("it takes serialize_all() now", "serialize_all()"),
    ],
)
def test_white_space_and_unicode_form_are_set_aside(body: str, quote: str) -> None:
    found = proved(body, quote)
    assert isinstance(found, Evidence), found
    assert (found.source, found.author, found.url, found.path) == ("the text", "ann", "https://x.test/1", None)
    assert found.quote == quote.strip()


@pytest.mark.parametrize(
    ("body", "quote"),
    [
        ("It fails on Windows.", "It fails on windows."),
        ("It fails on Windows.", "It fails on ... Windows."),
        ("It fails on Windows.", "It fails on Linux."),
        ("It fails on Windows.", "fails.on.Windows"),
        ("“It fails”, he said", '"It fails", he said'),
        ("the ﬁle is gone", "the file is gone"),
        ("one two three", "onetwothree"),
        ("zero\u200bwidth text", "zerowidth text"),
    ],
)
def test_everything_else_must_agree_to_the_letter(body: str, quote: str) -> None:
    assert reason(proved(body, quote)) == "it does not stand verbatim in the text"


@pytest.mark.parametrize("quote", ["", "   ", "\n", "#7", "is", "...", "é", "word\u200b"[:4], "-- !! --"])
def test_a_quote_that_says_nothing_does_not_count(quote: str) -> None:
    assert "too short" in reason(proved("This word is the one in #7: é -- !! -- ...", quote))


def test_an_empty_quote_of_an_empty_text_proves_nothing() -> None:
    assert "too short" in reason(proved("", ""))


def test_the_length_of_a_quote_is_counted_without_its_white_space_runs() -> None:
    sentence = ("ab " * 200).strip()
    assert isinstance(proved(sentence, sentence.replace(" ", " \n  ")), Evidence)
    long = "x" * (LONGEST_QUOTE + 1)
    assert f"longer than {LONGEST_QUOTE}" in reason(proved(long, long))


def test_a_source_that_is_not_there_is_named() -> None:
    assert reason(prove(Quote("pr/comment/9", "some words"), {})) == "there is no text named 'pr/comment/9'"


def test_a_quote_counts_only_in_the_text_that_it_names_and_not_across_two() -> None:
    texts = {name: Text(name, Artifact.PR_COMMENTS, body) for name, body in (("1", "first half"), ("2", "second half"))}
    assert isinstance(prove(Quote("1", "first half"), texts), Evidence)
    assert isinstance(prove(Quote("2", "first half"), texts), Unproved)
    assert isinstance(prove(Quote("1", "first half second half"), texts), Unproved)


@pytest.mark.parametrize(
    ("quote", "path", "line"),
    [
        ('raise ClockError("stopped at noon")', "src/clock.py", 12),
        ('+        raise ClockError("stopped at noon")', "src/clock.py", 12),
        ('-    raise ValueError("too late")', "src/clock.py", 11),
        ("if self.stopped:\n    raise ClockError(", "src/clock.py", 11),
        ("+    if self.stopped:\n+        raise ClockError(", "src/clock.py", 11),
        (" def stop(self):\n+    self.stopped = True\n     return None", "src/clock.py", 41),
        ("self.stopped = True", "src/clock.py", 42),
        ("return None", "src/clock.py", 43),
        ("+import time\n import clock", "src/bell.py", 1),
        ("import clock", "src/bell.py", 2),
        ("if self.stopped:\r\n        raise ClockError(", "src/clock.py", 11),
    ],
)
def test_a_quote_of_a_patch_has_path_and_line_with_and_without_markers(quote: str, path: str, line: int) -> None:
    found = in_patch(quote)
    assert isinstance(found, Evidence), found
    assert (found.path, found.line) == (path, line)


def test_a_header_of_a_patch_can_be_quoted_and_has_no_line() -> None:
    found = in_patch("@@ -40,2 +41,3 @@ class Clock:")
    assert isinstance(found, Evidence)
    assert (found.path, found.line) == (None, None)


@pytest.mark.parametrize(
    "quote",
    [
        "return self.now def stop(self):",
        "     return self.now\n def stop(self):",
        "return None import time",
        "-    if self.stopped:",
        "+    return self.now",
    ],
)
def test_what_does_not_stand_together_in_a_patch_is_not_joined(quote: str) -> None:
    assert isinstance(in_patch(quote), Unproved)


def test_a_patch_that_does_not_parse_can_still_be_quoted() -> None:
    found = proved("this is no diff at all", "no diff at all", Artifact.CODE_PATCH)
    assert isinstance(found, Evidence)
    assert found.path is None


_HOSTILE = """
import sys
from checker.evidence import Quote, Unproved, prove
from checker.pair import Text
from checker.taxonomy import Artifact

size = 1_000_000
marks = "a" + "\\u0316\\u0301" * (size // 2)
hunk = "--- a/x\\n+++ b/x\\n@@ -0,0 +1,{0} @@\\n".format(size // 20) + "+    some code here\\n" * (size // 20)
for body in (" " * size, "ab " * (size // 3), marks, "\\u00e9" * size, "some " * (size // 5), hunk):
    for artifact in (Artifact.PR_DESCRIPTION, Artifact.CODE_PATCH):
        for quote in ("some words that are not there", "some " * 100 + "where", marks):
            found = prove(Quote("x", quote), {"x": Text("x", artifact, body)})
            assert isinstance(found, Unproved), found
"""


def test_a_megabyte_of_hostile_text_is_read_in_linear_time() -> None:
    # Linear, this takes a few seconds of processor time; quadratic, hours. The limit is no measurement.
    done = subprocess.run(
        [sys.executable, "-c", _HOSTILE],
        check=False,
        capture_output=True,
        cwd=HERE.parent,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (60, 60)),
    )
    assert done.returncode == 0, done.stderr.decode()[-500:]


def test_a_long_run_of_marks_is_set_aside_and_the_rest_is_still_composed() -> None:
    run = unicodedata.normalize("NFD", "é") + "\u0301" * 60
    assert isinstance(proved(f"caf\u00e9 {run} end", f"cafe\u0301 {run} end"), Evidence)


@pytest.mark.parametrize(
    ("body", "end"),
    [
        ("  It fails in version 3. " + "It is slow, too. " * 25 + "\n", "too."),
        ("One <!-- which version? --> two three four.", "four."),
        ("A sentence of some words. " * 30, "words."),
        ("First paragraph, without a full stop, " + "x " * 150 + "end\n\n" + "y" * 500, "x end"),
        ("at org.a.B.c(B.java:17)\n" * 40, "at org.a.B.c(B.java:17)"),
        ("word " * 200, "word"),
        ("x" * 2000, "x"),
    ],
)
def test_what_is_quoted_of_a_text_is_whole_or_ends_where_something_ends_and_is_proved(body: str, end: str) -> None:
    quote = quotable(body)
    assert quote.endswith(end)
    assert isinstance(proved(body, quote), Evidence)
    assert len(quote) > min(len(body.strip()), LONGEST_QUOTE) // 3


@pytest.mark.parametrize(
    ("quote", "left"),
    [
        ("Which version? And a small repro", "Which version?"),
        ("Which version? And a small reproduction", "Which version? And a small reproduction"),
        ("And a small repro", "And a small"),
        ("repro", "repro"),
        ("nowhere", "nowhere"),
    ],
)
def test_a_passage_does_not_end_amid_a_word(quote: str, left: str) -> None:
    assert whole_words(quote, "Hello! Which version? And a small reproduction, please.") == left
