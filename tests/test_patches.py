"""A diff is read file by file, whatever git or people put into it, and nothing is lost in silence."""

from __future__ import annotations

import pytest

from checker.patches import FilePatch, LineKind, Side, parse, side_of

MODIFIED = """\
diff --git a/shop/cart.py b/shop/cart.py
index 1111111..2222222 100644
--- a/shop/cart.py
+++ b/shop/cart.py
@@ -1,3 +1,3 @@ class Cart:
 first
-old
+new
 last
@@ -10,2 +10,3 @@
 tenth
+eleventh
 twelfth
"""


def only(diff: str) -> FilePatch:
    patch = parse(diff)
    assert patch.unparsed == ()
    (file,) = patch.files
    return file


def changes(file: FilePatch) -> list[str]:
    return [f"{line.kind}{line.text}" for line in file.lines]


def test_lines_carry_kind_number_and_hunk() -> None:
    file = only(MODIFIED)
    assert file.path == "shop/cart.py"
    assert [(line.kind.value, line.number, line.text, line.hunk) for line in file.lines] == [
        (" ", 1, "first", 0),
        ("-", 2, "old", 0),
        ("+", 2, "new", 0),
        (" ", 3, "last", 0),
        (" ", 10, "tenth", 1),
        ("+", 11, "eleventh", 1),
        (" ", 12, "twelfth", 1),
    ]
    assert [line.text for line in file.added()] == ["new", "eleventh"]
    assert [line.text for line in file.removed()] == ["old"]


def test_a_rename_knows_both_paths() -> None:
    file = only("diff --git a/old.py b/new.py\nsimilarity index 100%\nrename from old.py\nrename to new.py\n")
    assert (file.path, file.previous_path, file.lines) == ("new.py", "old.py", ())


def test_a_rename_may_change_lines_as_well() -> None:
    file = only(
        "diff --git a/old.py b/new.py\nsimilarity index 90%\nrename from old.py\nrename to new.py\n"
        "--- a/old.py\n+++ b/new.py\n@@ -1 +1 @@\n-a\n+b\n"
    )
    assert (file.path, file.previous_path, changes(file)) == ("new.py", "old.py", ["-a", "+b"])


@pytest.mark.parametrize(
    "body",
    [
        "index 1..2 100644\nBinary files a/logo.png and b/logo.png differ\n",
        "index 1..2 100644\nGIT binary patch\nliteral 5\nMcmZQzU|?imU|?imU|?im\n\nliteral 0\nHcmV?d00001\n\n",
    ],
)
def test_a_binary_file_has_no_lines(body: str) -> None:
    file = only(f"diff --git a/logo.png b/logo.png\n{body}")
    assert (file.path, file.is_binary, file.lines) == ("logo.png", True, ())


def test_no_newline_at_the_end_is_no_line() -> None:
    end = "\\ No newline at end of file\n"
    file = only(f"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n{end}+b\n{end}")
    assert changes(file) == ["-a", "+b"]


def test_a_diff_without_a_last_newline_is_whole() -> None:
    assert parse(MODIFIED.rstrip("\n")) == parse(MODIFIED)


def test_a_change_of_mode_alone_is_a_file_without_lines() -> None:
    file = only("diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n")
    assert (file.path, file.lines, file.is_new, file.is_removed) == ("run.sh", (), False, False)


def test_carriage_returns_at_line_ends_are_left_out() -> None:
    assert changes(only("--- a/f.c\n+++ b/f.c\n@@ -1 +1 @@\n-a\r\n+b\r\n")) == ["-a", "+b"]


def test_a_diff_that_came_with_dos_line_ends_reads_the_same() -> None:
    assert parse(MODIFIED.replace("\n", "\r\n")) == parse(MODIFIED)


def test_only_a_line_feed_ends_a_line() -> None:
    text = "a\x0cb\u2028c\x85d\re"
    assert changes(only(f"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+{text}\n")) == ["-x", f"+{text}"]


@pytest.mark.parametrize(
    ("quoted", "path"),
    [
        (r"na\303\257ve.py", "naïve.py"),
        (r"tab\there.py", "tab\there.py"),
        (r"a\"quote\".py", 'a"quote".py'),
        (r"back\\slash", "back\\slash"),
        (r"un\u1known.py", r"un\u1known.py"),
    ],
)
@pytest.mark.parametrize(
    "body",
    [
        '--- "a/{0}"\n+++ "b/{0}"\n@@ -1 +1 @@\n-a\n+b\n',
        'new file mode 100644\n--- /dev/null\n+++ "b/{0}"\n@@ -0,0 +1 @@\n+b\n',
        'deleted file mode 100644\n--- "a/{0}"\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n',
        "old mode 100644\nnew mode 100755\n",
    ],
)
def test_quoted_names_are_read_as_names(quoted: str, path: str, body: str) -> None:
    assert only(f'diff --git "a/{quoted}" "b/{quoted}"\n' + body.format(quoted)).path == path


@pytest.mark.parametrize(
    "body", ["new file mode 100644\nindex 0..e\n", "--- a/{0}\t\n+++ b/{0}\t\n@@ -1 +1 @@\n-a\n+b\n"]
)
def test_a_folder_may_be_called_like_the_second_prefix(body: str) -> None:
    path = "a b/c.py"
    assert only(f"diff --git a/{path} b/{path}\n" + body.format(path)).path == path


def test_an_empty_diff_has_neither_files_nor_complaints() -> None:
    assert parse("") == parse(" \n\n")
    assert (parse("").files, parse("").unparsed) == ((), ())


def test_a_deleted_file_keeps_its_path() -> None:
    file = only(
        "diff --git a/del.py b/del.py\ndeleted file mode 100644\n--- a/del.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    )
    assert (file.path, file.is_removed, changes(file)) == ("del.py", True, ["-x"])


def test_a_new_empty_file_is_a_file() -> None:
    file = only("diff --git a/pkg/__init__.py b/pkg/__init__.py\nnew file mode 100644\nindex 0000000..e69de29\n")
    assert (file.path, file.is_new, file.lines) == ("pkg/__init__.py", True, ())


@pytest.mark.parametrize("text", ["looks good to me", "@@ -1 +1", "\0"])
def test_what_is_no_unified_diff_is_named(text: str) -> None:
    patch = parse(text)
    assert patch.files == ()
    assert [reason.startswith(text[:10]) for reason in patch.unparsed] == [True]


def test_a_broken_part_costs_only_itself() -> None:
    broken = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n-a\n"
    patch = parse(MODIFIED + broken + MODIFIED.replace("cart", "till"))
    assert [file.path for file in patch.files] == ["shop/cart.py", "shop/till.py"]
    assert [reason.partition(": ")[0] for reason in patch.unparsed] == ["diff --git a/x b/x"]


@pytest.mark.parametrize(
    "hunk", ["@@ -1 +1 @@\n-a\n+b\n+c\n", "@@ somewhere @@\n-a\n+b\n", f"@@ -{'9' * 5000} +1 @@\n-a\n+b\n"]
)
def test_lines_that_no_hunk_announces_are_not_lost_in_silence(hunk: str) -> None:
    assert parse(f"diff --git a/x b/x\n--- a/x\n+++ b/x\n{hunk}").unparsed != ()


def test_a_mail_around_a_diff_is_left_out() -> None:
    mail = f"From 1234\nSubject: carts\n---\n cart.py | 2 +-\n\n{MODIFIED}-- \n2.39.5\n"
    assert parse(mail) == parse(MODIFIED)


def test_a_plain_diff_needs_no_line_of_git() -> None:
    patch = parse("--- a/one.c\t2020-01-01\n+++ b/one.c\t2020-01-02\n@@ -1 +1 @@\n-a\n+b\n" * 2)
    assert [(file.path, changes(file)) for file in patch.files] == [("one.c", ["-a", "+b"])] * 2


def test_changed_lines_that_look_like_a_header_are_lines() -> None:
    hunk = "--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n--- old remark\n+++ new\n select\n"
    assert changes(only(hunk)) == ["--- old remark", "+++ new", " select"]


def test_a_long_header_line_is_read_in_one_go() -> None:
    assert len(parse("diff --git a/" + "x b/" * 100_000 + "\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n").files) == 1


@pytest.mark.parametrize(
    ("path", "side"),
    [
        ("tests/test_cart.py", Side.TEST),
        ("src/Testing/Till.cs", Side.TEST),
        ("e2e/till.ts", Side.TEST),
        ("shop/cart.py", Side.CODE),
        ("shop/latest.py", Side.TEST),
    ],
)
def test_a_path_tells_the_side_by_the_rule_of_the_data_sets(path: str, side: Side) -> None:
    assert side_of(path) is side
    assert FilePatch(path, ()).side is side


def test_kinds_are_the_marks_of_a_diff() -> None:
    assert [kind.value for kind in LineKind] == [" ", "+", "-"]
