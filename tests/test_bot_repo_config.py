"""`.github/paichecker.yml`: what its fields give, what is told of mistakes, and which pull requests are skipped."""

from __future__ import annotations

import dataclasses
import random
import re
import time
from typing import Any

import pytest
from fakes import HERE

from bot.path_patterns import matches_login, matches_path
from bot.repo_config import FIELDS, LONGEST, NO_TEXT, WHOLE_FILE, CommentWhen, RepositoryConfig, read_config
from bot.settings import Mode
from checker.agents import DEFAULT_MODEL
from checker.taxonomy import Label

DOCUMENT = (HERE.parent / "docs" / "repository-settings.md").read_text(encoding="utf-8")
DEFAULTS = RepositoryConfig()
MODELS = ("small-model", "large-model")


def read(text: str | None) -> RepositoryConfig:
    return read_config(text, models=MODELS)


def told(text: str) -> tuple[int, str, str]:
    """The only problem: line, field and message."""
    (problem,) = read(text).problems
    return problem.line, problem.field, problem.message


# What is read


@pytest.mark.parametrize(
    "text", [None, "", "\n", "# nothing\n", "---\n", "~", "{}", "\ufeff", "mode:\nlabels:\nskip_paths:\n  # - a\n"]
)
def test_where_nothing_is_said_the_defaults_apply(text: str | None) -> None:
    assert read(text) == DEFAULTS
    assert DEFAULTS.labels == set(Label)


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("labels:\n  UL: off\n  others: no", "labels", {Label.SC, Label.DP, Label.IS, Label.FP}),
        ("labels: {SC: on, IS: false}", "labels", set(Label) - {Label.IS}),
        ("comment: always", "comment", CommentWhen.ALWAYS),
        ("comment: Never", "comment", CommentWhen.NEVER),
        ("mode: shadow", "mode", Mode.SHADOW),
        ("Mode: 'shadow'", "mode", Mode.SHADOW),
        ("fail_on: [SC, ul]", "fail_on", {Label.SC, Label.UL}),
        ("fail_on:\n- Others\n", "fail_on", {Label.OTHERS}),
        ("fail_on: []", "fail_on", set()),
        ("drafts: on", "drafts", True),
        ("drafts: yes", "drafts", True),
        ("bots: true\r\n", "bots", True),
        ('skip_authors: ["dependabot[bot]", no]', "skip_authors", ("dependabot[bot]", "no")),
        ("skip_paths:\n- docs/**\n- '*.md'", "skip_paths", ("docs/**", "*.md")),
        ("model: large-model", "model", "large-model"),
        ("budget:\n  tokens: 200_000", "budget_tokens", 200_000),
        ("budget: {dollars: 0.25}", "budget_dollars", 0.25),
    ],
)
def test_a_field_gives_its_value_and_leaves_the_others(text: str, field: str, value: Any) -> None:
    assert read(text) == dataclasses.replace(DEFAULTS, **{field: value})


def test_a_configuration_cannot_change_after_it_was_read() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        read("").drafts = True  # type: ignore[misc]


# Mistakes


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("\nmode: shdow", (2, "mode", "“shdow” is not possible here: it must be comment or shadow.")),
        ("modus: x", (1, "modus", "There is no field “modus”. Did you mean mode?")),
        ("fail-on: [SC]", (1, "fail-on", "There is no field “fail-on”. Did you mean fail_on?")),
        (
            "labels:\n  XX: off",
            (2, "labels.XX", "There is no field “labels.XX”. Known are SC, DP, IS, FP, UL, Others."),
        ),
        ("budget: {token: 5}", (1, "budget.token", "There is no field “budget.token”. Did you mean tokens?")),
        ("labels: [SC]", (1, "labels", "Its entries stand below it, one on a line, such as “UL: off”.")),
        ("labels:\n  UL: maybe", (2, "labels.UL", "“maybe” is not possible here: it must be on or off.")),
        ("fail_on: SC", (1, "fail_on", "A list must stand here, such as [SC, UL].")),
        ("fail_on:\n- SC\n- XX", (3, "fail_on", "“XX” is not possible here: it must be SC, DP, IS, FP, UL or Others.")),
        ("drafts: {a: b}", (1, "drafts", "One value must stand here.")),
        ("skip_paths: ['!a']", (1, "skip_paths", "Patterns that begin with “!” are not read.")),
        ("skip_paths: ['']", (1, "skip_paths", "One value must stand here.")),
        ("model: huge", (1, "model", "“huge” is not possible here: it must be small-model or large-model.")),
        ("budget: 5", (1, "budget", "Its entries stand below it, one on a line, such as “tokens: 100000”.")),
    ],
)
def test_a_mistake_is_told_with_line_and_field_and_keeps_the_default(text: str, problem: tuple[int, str, str]) -> None:
    assert told(text) == problem
    # What the mode was meant to be is asked elsewhere.
    assert dataclasses.replace(read(text), problems=(), mode_is_unread=False) == DEFAULTS


@pytest.mark.parametrize("amount", ["0", "-5", "nan", "inf", "many", "1.5", "''", "9" * 4500])
def test_a_budget_is_an_amount_above_nothing(amount: str) -> None:
    assert read(f"budget: {{tokens: {amount}}}").budget_tokens is None
    assert told(f"budget: {{tokens: {amount}}}")[1] == "budget.tokens"
    if amount != "1.5":
        assert told(f"budget: {{dollars: {amount}}}")[1] == "budget.dollars"


def test_what_is_right_counts_beside_what_is_wrong() -> None:
    config = read("labels:\n  UL: off\n  XX: off\nmode: shadow\ncomment: always\ndrafts: sometimes\nnew: field\n")
    assert (config.labels, config.mode, config.comment) == (
        set(Label) - {Label.UL},
        Mode.SHADOW,
        CommentWhen.ALWAYS,
    )
    assert [(problem.line, problem.field) for problem in config.problems] == [
        (3, "labels.XX"),
        (6, "drafts"),
        (7, "new"),
    ]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("mode: shadow\na: [", 2, "This is not valid YAML: expected the node content, but found '<stream end>'."),
        ("mode: shadow\n\tdrafts: on", 2, "A tab stands here. YAML wants spaces instead."),
        ("mode:\tshadow", 1, "A tab stands here. YAML wants spaces instead."),
        ("mode: shadow\t", 1, "A tab stands here. YAML wants spaces instead."),
        (NO_TEXT, 1, "This is a folder, a submodule, or a file of more than 1 MB."),
        ("mode: shadow\nx: \x07", 2, "A character stands here that YAML does not allow."),
        ("mode: shadow\nmode: comment", 2, "“mode” stands here and on line 1. Write it once."),
        ("labels:\n  SC: on\n  sc: off", 3, "“sc” stands here and on line 2. Write it once."),
        ("{drafts: on, drafts: off}", 1, "“drafts” stands here and on line 1. Write it once."),
        ("labels: {UL: off}\nlabels: {SC: off}", 2, "“labels” stands here and on line 1. Write it once."),
        ("- mode", 1, "The file must hold fields, such as “mode: shadow”."),
        ("shadow", 1, "The file must hold fields, such as “mode: shadow”."),
        ("? [a]\n: b", 1, "The name of a field must be one word."),
        ("mode: shadow\n---\nmode: comment", 2, "This is not valid YAML: but found another document."),
        ("mode: shadow\nx: &a b", 2, None),
        ("mode: &a shadow", 1, None),
        ("mode: !!str shadow", 1, None),
        ("mode: !!python/object/apply:os.system [id]", 1, None),
        ("skip_paths: [**/*.md]", 1, None),
        ("skip_paths:\n- *.md", 2, None),
        ("a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]", 1, None),
        ("mode: shadow\n#" + "x" * LONGEST, 1, "The file is longer than 65,536 characters."),
        ("mode: shadow\nx: " + "[" * 9, 2, "The file holds far more than settings."),
        ("mode: shadow\n" + "- x\n" * 5, 2, None),
    ],
)
def test_a_file_that_cannot_be_read_as_a_whole_leaves_every_default_and_may_have_asked_for_silence(
    text: str, line: int, message: str | None
) -> None:
    where, field, what = told(text)
    assert (where, field) == (line, WHOLE_FILE)
    if message:
        assert what == message
    assert dataclasses.replace(read(text), problems=()) == dataclasses.replace(DEFAULTS, mode_is_unread=True)
    assert "cannot be read" in (read(text).leaves_out() or "")


@pytest.mark.parametrize(
    "text",
    [
        "mode: shdow",
        "mode: off",
        "mode: [shadow]",
        "mdoe: shadow",
        "MODES: shadow",
        "ｍｏｄｅ: shadow",
        "run_as: Shadow",
        "budget:\n  tokens: 5\n  mode: shadow",
    ],
)
def test_where_the_mode_cannot_be_read_nothing_is_checked(text: str) -> None:
    assert read(text).mode is None
    assert "may ask that nothing be shown" in (read(text).leaves_out() or "")


@pytest.mark.parametrize("text", ["", "mode:", "mode: shadow\nmdoe: comment", "model: x", "drafts: shadow"])
def test_other_mistakes_keep_nothing_from_being_checked(text: str) -> None:
    assert read(text).leaves_out() is None


@pytest.mark.parametrize(
    "text", ["comment: nevr", "coment: never", "comment: [never]", "post: never", "labels:\n  comment: never"]
)
def test_where_the_field_comment_cannot_be_read_no_comment_is_begun(text: str) -> None:
    assert read(text).comment is CommentWhen.NEVER
    assert len(read(text).problems) == 1


def test_a_field_that_stands_too_far_to_the_right_is_told_so() -> None:
    says = "“mode” is no part of “labels”: take away the spaces before it."
    assert told("labels:\n  SC: off\n  mode: shadow") == (3, "labels.mode", says)


def test_with_every_label_off_there_is_nothing_to_look_for() -> None:
    off = "".join(f"  {label}: off\n" for label in Label)
    assert "switches every label off" in (read(f"labels:\n{off}").leaves_out() or "")
    assert read(f"labels:\n{off.replace('UL: off', 'UL: on')}").leaves_out() is None


def test_a_pattern_without_quotes_is_told_to_want_them() -> None:
    assert "must stand in quotes" in told("skip_paths: [**/*.md]")[2]


def test_where_the_operator_offers_no_choice_of_models_none_can_be_chosen() -> None:
    (problem,) = read_config("model: x", models=()).problems
    assert problem.message == "“x” is not possible here: it must be left out."


def test_what_a_stranger_wrote_comes_back_short_and_on_one_line() -> None:
    hostile = "a\\nb\\e[31m" + "x" * 150
    for text in [
        f'"{hostile}": 1',
        f'labels: {{"{hostile}": on}}',
        f'mode: "{hostile}"',
        "a: !" + "x" * 9999 + "!y",
        '"": 1',
    ]:
        (problem,) = read(text).problems
        assert len(problem.field) < 60
        assert len(problem.message) < 250
        assert re.search(r"[\n\x1b]", problem.field + problem.message) is None


def test_lists_and_their_entries_have_an_end() -> None:
    assert told(f"skip_paths: [{'a, ' * 101}]") == (1, "skip_paths", "The list has more than 100 entries.")
    assert told(f"skip_paths: [{'a' * 201}]") == (1, "skip_paths", "The value is longer than 200 characters.")
    assert len(read(f"skip_paths: [{'a, ' * 100}]").skip_paths) == 100
    assert len(read("\n".join(f"x{n}: 1" for n in range(400))).problems) == 20


@pytest.mark.parametrize(
    "piece", ["[", "{", "[a,", "- ", "? ", "a: b\n", "'", "a\n", "#\n", "a: [", "---\n", "k: 1, ", "&a ", "\u2028"]
)
def test_a_hostile_file_is_read_in_time(piece: str) -> None:
    start = time.process_time()
    read((piece * LONGEST)[:LONGEST])
    read("skip_paths:\n- " + (piece * LONGEST)[: LONGEST - 20])
    # Measured: up to 0.3 s together. Nested brackets read to their end take over a minute.
    assert time.process_time() - start < 5


def test_any_text_at_all_is_read_without_an_error() -> None:
    draw = random.Random(5)
    pieces = [
        "mode",
        ": ",
        "\n",
        "  ",
        "- ",
        "[",
        "]",
        "{",
        "}",
        "SC",
        "labels:",
        "budget:",
        "fail_on:",
        "'",
        '"',
        ",",
        "?",
        "|",
        "<<",
        "\x00",
        "&a",
        "!",
    ]
    for _ in range(3000):
        text = "".join(draw.choices(pieces, k=draw.randint(1, 25)))
        assert all(1 <= problem.line <= text.count("\n") + 2 for problem in read(text).problems), text


# Skipping


def skips(
    text: str, author: str = "ann", *, is_bot: bool = False, draft: bool = False, paths: tuple[str, ...] = ("a.py",)
) -> str:
    config = read(text)
    assert config.problems == ()
    return config.skips(author, is_bot, draft, paths) or ""


@pytest.mark.parametrize(
    ("text", "pull_request", "reason"),
    [
        ("", {}, ""),
        ("", {"draft": True}, "it is a draft; it is checked once it is ready for review"),
        ("drafts: on", {"draft": True}, ""),
        ("", {"is_bot": True}, "a bot opened it, and `bots` is off in `.github/paichecker.yml`"),
        ("bots: on", {"is_bot": True}, ""),
        (
            '{bots: on, skip_authors: ["dep*[bot]"]}',
            {"is_bot": True, "author": "dependabot[bot]"},
            "its author is among",
        ),
        ('{bots: on, skip_authors: ["dep*[bot]"]}', {"is_bot": True, "author": "agent[bot]"}, ""),
        ("skip_authors: [Ann]", {}, "its author is among `skip_authors` in `.github/paichecker.yml`"),
        ("skip_authors: [an]", {}, ""),
        (
            "skip_paths: [docs/**]",
            {"paths": ("docs/a.md", "docs/b/c.md")},
            "it changes only files that are among `skip_paths`",
        ),
        ("skip_paths: [docs/**]", {"paths": ("docs/a.md", "src/a.py")}, ""),
        ("skip_paths: [docs/**, '*.py']", {"paths": ("docs/a.md", "a.py")}, "it changes only files"),
        ("skip_paths: ['**']", {"paths": ()}, ""),
        ("{drafts: on, bots: on}", {"draft": True, "is_bot": True}, ""),
    ],
)
def test_a_pull_request_is_skipped_for_a_reason(text: str, pull_request: dict[str, Any], reason: str) -> None:
    found = skips(text, **pull_request)
    assert found.startswith(reason)
    assert bool(found) == bool(reason)


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("*.md", ["a.md", ".md"], ["docs/a.md", "a.mdx", "A.MD"]),
        ("**/*.md", ["a.md", "docs/a.md", "a/b/c.md"], ["a.mdx"]),
        ("**.md", ["a.md", "docs/a.md"], ["a.py"]),
        ("docs/**", ["docs/a", "docs/a/b/c"], ["doc/a", "src/docs/a"]),
        ("docs/", ["docs/a", "docs/a/b"], ["docs.md"]),
        ("/docs/*", ["docs/a"], ["docs/a/b"]),
        ("./a.py", ["a.py"], ["b/a.py"]),
        ("**/test/*.py", ["test/a.py", "src/test/b.py", "a/test/b/test/c.py"], ["test/deep/c.py", "mytest/a.py"]),
        ("a/**/b/**/c", ["a/b/c", "a/x/b/y/z/c", "a/b/b/c/c"], ["a/c", "b/c"]),
        ("**", ["a", "a/b"], []),
        ("a?c", ["abc"], ["ac", "a/c"]),
        ("[ab].py", ["a.py", "b.py"], ["c.py"]),
        ("a.c", ["a.c"], ["abc"]),
        ("*", ["a"], ["a/b"]),
        ("(a|b)+$", ["(a|b)+$"], ["a"]),
        ("a\nb", ["a\nb"], ["a"]),
    ],
)
def test_a_pattern_matches_as_in_workflow_files(pattern: str, matching: list[str], others: list[str]) -> None:
    assert [path for path in matching if not matches_path(pattern, path)] == []
    assert [path for path in others if matches_path(pattern, path)] == []


def test_a_pattern_agrees_with_its_meaning_spelled_out_on_any_path() -> None:
    draw = random.Random(3)
    for _ in range(5000):
        pattern = "/".join(draw.choices(["**", "*", "a", "b", "a*", "*b"], k=draw.randint(1, 5)))
        path = "/".join(draw.choices(["a", "b", "ab", "ba"], k=draw.randint(1, 6)))
        assert matches_path(pattern, path) == _slowly(pattern.split("/"), path.split("/")), (pattern, path)


def _slowly(parts: list[str], names: list[str]) -> bool:
    if not parts:
        return not names
    if parts[0] == "**":
        return _slowly(parts[1:], names) or (bool(names) and _slowly(parts, names[1:]))
    wanted = re.escape(parts[0]).replace(r"\*", ".*")
    return bool(names) and re.fullmatch(wanted, names[0]) is not None and _slowly(parts[1:], names[1:])


@pytest.mark.parametrize(
    ("pattern", "path"), [("*a" * 100 + "b", "a" * 4000), ("**/a/" * 30 + "b", "a/" * 2000), ("*" * 200, "a" * 4000)]
)
def test_a_hostile_pattern_or_path_is_matched_in_time(pattern: str, path: str) -> None:
    start = time.process_time()
    matches_path(pattern, path)
    matches_login(pattern, path)
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    ("pattern", "login", "matches"),
    [
        ("dependabot[bot]", "Dependabot[bot]", True),
        ("dependabot[bot]", "dependabotb", False),
        ("*[bot]", "renovate[bot]", True),
        ("release-*", "release-7", True),
        ("ann", "anna", False),
    ],
)
def test_a_login_is_matched_in_any_case_and_brackets_are_letters(pattern: str, login: str, matches: bool) -> None:
    assert matches_login(pattern, login) is matches


# The documentation


@pytest.mark.parametrize("field", sorted({field for field in FIELDS if not field.startswith("labels.")} - {"budget"}))
def test_the_documentation_has_every_field_with_its_default(field: str) -> None:
    (row,) = [line for line in DOCUMENT.splitlines() if line.startswith(f"| `{field}` |")]
    default = getattr(DEFAULTS, field.replace(".", "_"))
    words = {True: "`on`", False: "`off`", (): "none", frozenset(): "none", frozenset(Label): "all are on"}
    expected = "App" if default is None else words.get(default, f"`{default}`")
    assert expected in row.split("|")[3]
    assert field != "labels" or all(f"`{label}`" in row for label in Label)
    assert field != "comment" or all(f"`{when}`" in row for when in CommentWhen)
    assert field != "mode" or all(f"`{mode}`" in row for mode in Mode)


def test_the_examples_in_the_documentation_are_valid_and_the_first_has_every_field() -> None:
    first, *others = re.findall(r"```yaml\n(.*?)```", DOCUMENT, re.DOTALL)
    for example in (first, *others):
        assert read_config(example, models=(DEFAULT_MODEL,)).problems == ()
    assert [field for field in FIELDS if not re.search(rf"^ *{field.split('.')[0]}:", first, re.MULTILINE)] == []


def test_the_mistakes_in_the_documentation_are_told_so() -> None:
    (shown,) = re.findall(r"```text\n(.*?)```", DOCUMENT, re.DOTALL)
    problems = read("#\n#\nmode: shdow\n#\n#\n#\nfail-on: [SC]").problems
    assert shown == "".join(f"line {problem.line}, {problem.field}: {problem.message}\n" for problem in problems)


PATTERNS = DOCUMENT.partition("## Patterns of paths")[2]


@pytest.mark.parametrize("row", re.findall(r"(?m)^\| `(.*?)`(?: or `(.*?)`)? \| (.*) \|$", PATTERNS))
def test_the_patterns_in_the_documentation_do_what_it_says(row: tuple[str, str, str]) -> None:
    *patterns, says = row
    yes, _, no = (
        says.replace("both", "`README.md` `docs/index.md`").replace("everything", "`docs/a/b`").partition("not ")
    )
    paths = [path for path in re.findall("`(.*?)`", yes) if path != "docs"]
    for pattern in filter(None, patterns):
        assert all(matches_path(pattern, path) for path in paths), pattern
        assert not any(matches_path(pattern, path) for path in re.findall("`(.*?)`", no)), pattern
