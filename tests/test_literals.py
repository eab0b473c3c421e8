"""Literals that both patches share: which are found, and how each stands."""

from __future__ import annotations

import subprocess
import sys

import pytest

from checker.literal_grammars import GRAMMARS
from checker.literal_readers import read
from checker.literals import LIMIT, Place, SharedLiteral, Standing, Wording, shared_literals, whole_wording
from checker.patches import Patch, parse

MESSAGE = "the basket holds nothing to pay"
RAISES = f'raise ValueError("{MESSAGE}")'


def written(path: str, text: str, before: str = "") -> Patch:
    """A patch that adds a text to a file, below lines of context."""
    context = [f" {line}" for line in before.splitlines()]
    added = [f"+{line}" for line in text.splitlines()]
    head = f"@@ -1,{len(context)} +1,{len(context) + len(added)} @@"
    return parse("\n".join([f"--- a/{path}", f"+++ b/{path}", head, *context, *added, ""]))


def shared(code: str, test: str, request: str | None = None, *, before: str = "") -> tuple[SharedLiteral, ...]:
    return shared_literals(written("cart.py", code, before), written("test_cart.py", test), request)


def standings(literals: tuple[SharedLiteral, ...]) -> dict[str, Standing]:
    return {literal.text: literal.standing for literal in literals}


def test_an_asserted_new_message_is_unspecified_and_shows_both_places() -> None:
    test = f'def test_pay():\n    with pytest.raises(ValueError, match="{MESSAGE}"):\n        pay()'
    (literal,) = shared(f"if not items:\n    {RAISES}", test, "Paying crashes.", before="def pay():")
    assert literal == SharedLiteral(
        MESSAGE,
        "string",
        Standing.UNSPECIFIED,
        Place("cart.py", 3, RAISES),
        Place("test_cart.py", 2, f'with pytest.raises(ValueError, match="{MESSAGE}"):'),
    )


@pytest.mark.parametrize(
    ("code", "fragments"),
    [
        ('f"cart {number} holds {count} stale items"', ["stale items", "holds", "cart"]),
        ('"cart %s holds %d stale items" % (number, count)', ["stale items"]),
        ('"cart {} holds {:>3} stale items".format(number, count)', ["stale items"]),
        ('"cart " + str(number) + " holds " + str(count) + " stale items"', ["stale items"]),
    ],
)
def test_a_filled_in_message_is_matched_by_its_fixed_parts(code: str, fragments: list[str]) -> None:
    literals = shared(f"raise ValueError({code})", 'assert str(error) == "cart 7 holds 12 stale items"')
    assert [(literal.text, literal.kind) for literal in literals] == [(fragments[0], "fragment")]
    assert literals[0].standing is Standing.UNSPECIFIED


@pytest.mark.parametrize(
    ("code", "test", "whole"),
    [
        (
            'raise ValueError(f"cart {number} holds {count} stale items")',
            'assert str(error) == "cart 7 holds 12 stale items"',
            Wording("cart {number} holds {count} stale items", "placeholders"),
        ),
        (
            'raise ValueError("cart %s holds %d "\n    "stale items" % (number, count))',
            'assert str(error) == "cart 7 holds 12 stale items"',
            Wording("cart %s holds %d stale items", "placeholders"),
        ),
        (
            'fail("cart " + number + f" in {shop.name(12345678, 12345678, 12345678, 1)} holds stale items")',
            'assert str(error) == "cart 7 in X holds stale items"',
            Wording("cart {number} in {…} holds stale items", "placeholders"),
        ),
        (
            'raise ValueError(f"cart {number} holds stale items: {items}")',
            'with pytest.raises(ValueError, match=r"cart \\d+ holds stale items: \\[.*"):',
            Wording(r"cart \d+ holds stale items: \[.*", "pattern"),
        ),
        (
            'raise ValueError("cart holds stale items. Take them out.")',
            'with pytest.raises(ValueError, match="holds stale items"):',
            Wording("cart holds stale items. Take them out."),
        ),
        (
            'log("stale items in\\nthe cart")',
            'assert printed == "two stale items in\\nthe cart"',
            Wording("two stale items in"),
        ),
        (
            'raise ValueError(f"cart {{}} {number} holds stale items")',
            'assert str(error) == "cart <> 7 holds stale items"',
            Wording("cart <> 7 holds stale items"),
        ),
        (
            'raise ValueError(f"cart {number} holds stale items ' + "x" * 400 + '")',
            'assert str(error) in "holds stale items ' + "x" * 400 + '"',
            Wording("holds stale items " + "x" * 400),
        ),
    ],
)
def test_the_whole_wording_of_a_fragment_is_told_with_its_holes(code: str, test: str, whole: Wording) -> None:
    patches = written("cart.py", code), written("test_cart.py", test)
    literal = next(one for one in shared_literals(*patches, None) if "stale items" in one.text)
    assert whole_wording(literal.text, patches[0], literal.code, patches[1], literal.test) == whole


def test_a_template_string_of_javascript_is_matched_by_its_fixed_parts() -> None:
    code = written("cart.js", "throw new Error(`cart ${number} holds stale items`);")
    test = written("cart.test.js", "expect(() => pay()).toThrow('cart 7 holds stale items');")
    (literal,) = shared_literals(code, test, None)
    assert (literal.text, literal.standing) == ("holds stale items", Standing.UNSPECIFIED)
    whole = whole_wording(literal.text, code, literal.code, test, literal.test)
    assert whole == Wording("cart {number} holds stale items", "placeholders")


def test_strings_wrapped_over_lines_are_one_literal() -> None:
    code = 'raise ValueError(\n    "the basket holds "\n    "nothing to pay"\n)'
    assert standings(shared(code, f'assert str(error) == "{MESSAGE}"')) == {MESSAGE: Standing.UNSPECIFIED}


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r'r"basket \(empty\) is of no use\."', "basket (empty) is of no use."),
        (r'r"^basket \(empty\) is .*$"', "basket (empty) is"),
        (r'"is of no use"', "is of no use"),
    ],
)
def test_a_regular_expression_matches_what_it_means(pattern: str, text: str) -> None:
    test = f"with pytest.raises(ValueError, match={pattern}):\n    pay()"
    assert standings(shared('raise ValueError("basket (empty) is of no use.")', test)) == {text: Standing.UNSPECIFIED}


def test_a_test_may_assert_a_placeholder_and_a_mere_piece_of_what_follows() -> None:
    code = 'warn(f"{name}.weigh of frozen goods is deprecated, thaw them")'
    test = 'with pytest.warns(FutureWarning, match="Basket.weigh of frozen goods"):\n    weigh()'
    assert list(standings(shared(code, test))) == [".weigh of frozen goods"]


def test_an_expected_text_in_a_variable_is_still_asserted() -> None:
    test = f'msg = "{MESSAGE}"\nwith pytest.raises(ValueError, match=msg):\n    pay()'
    assert standings(shared(RAISES, test)) == {MESSAGE: Standing.UNSPECIFIED}


@pytest.mark.parametrize(
    ("request_text", "standing"),
    [
        (None, Standing.UNSPECIFIED),
        ("It should say something helpful.", Standing.UNSPECIFIED),
        (f"It should say '{MESSAGE}'.", Standing.IN_ISSUE),
        (f"It should say '{MESSAGE.replace(' ', chr(10))}'.", Standing.IN_ISSUE),
        (f"It should say '{MESSAGE.upper()}'.", Standing.UNSPECIFIED),
    ],
)
def test_the_issue_must_hold_the_text_verbatim(request_text: str | None, standing: Standing) -> None:
    assert standings(shared(RAISES, f'assert str(error) == "{MESSAGE}"', request_text)) == {MESSAGE: standing}


def test_the_issue_must_hold_a_value_as_a_word_of_its_own() -> None:
    code, test = 'self.state = "DRAINED"', 'assert basket.state == "DRAINED"'
    assert standings(shared(code, test, "See UNDRAINED baskets.")) == {"DRAINED": Standing.UNSPECIFIED}
    assert standings(shared(code, test, "It ought to be `DRAINED`.")) == {"DRAINED": Standing.IN_ISSUE}


def test_text_that_stood_before_existed() -> None:
    literals = shared(RAISES, f'assert str(error) == "{MESSAGE}"', before=f'log("{MESSAGE}")')
    assert standings(literals) == {MESSAGE: Standing.EXISTED}


def test_text_that_was_only_moved_existed() -> None:
    code = parse(
        f'--- a/c.py\n+++ b/c.py\n@@ -1,2 +1 @@\n-raise E("the basket holds "\n-    "nothing to pay")\n+{RAISES}\n'
    )
    test = written("test_c.py", f'assert str(error) == "{MESSAGE}"')
    assert standings(shared_literals(code, test, None)) == {MESSAGE: Standing.EXISTED}


def test_a_new_rendering_of_an_old_message_is_new() -> None:
    code = parse(f'--- a/c.py\n+++ b/c.py\n@@ -1 +1 @@\n-raise E("basket holds nothing")\n+{RAISES}\n')
    test = written("test_c.py", f'assert str(error) == "{MESSAGE}"')
    assert standings(shared_literals(code, test, None)) == {MESSAGE: Standing.UNSPECIFIED}


def test_old_words_around_a_new_placeholder_are_a_new_rendering() -> None:
    old, new = """E(f"cart lacks '{goods[0]}' for sale")""", 'E(f"cart lacks {goods} for sale")'
    code = parse(f"--- a/c.py\n+++ b/c.py\n@@ -1 +1 @@\n-raise {old}\n+raise {new}\n")
    test = written("test_c.py", """assert str(error) == "cart lacks ['figs', 'plums'] for sale\"""")
    for request in (None, "It says: cart lacks 'figs' for sale"):
        assert standings(shared_literals(code, test, request))["cart lacks"] is Standing.UNSPECIFIED
    asked = "It should say: cart lacks ['figs', 'plums'] for sale"
    assert standings(shared_literals(code, test, asked))["cart lacks"] is Standing.IN_ISSUE


@pytest.mark.parametrize("code", [f"# {MESSAGE}\npay()", f'def pay():\n    """{MESSAGE}"""\n    return 1'])
def test_comments_and_documentation_are_no_constants(code: str) -> None:
    (literal,) = shared(code, f'assert str(error) == "{MESSAGE}"')
    assert (literal.text, literal.standing) == (MESSAGE, Standing.COMMENT)


def test_a_docstring_that_begins_above_the_hunk_is_read_as_text() -> None:
    code = parse(f'--- a/c.py\n+++ b/c.py\n@@ -9,3 +9,4 @@\n     more words\n     """\n+    {RAISES}\n     return 1\n')
    test = written("test_c.py", f'assert str(error) == "{MESSAGE}"')
    assert standings(shared_literals(code, test, None)) == {MESSAGE: Standing.UNSPECIFIED}


def test_a_comment_in_generated_output_that_a_test_asserts_is_a_literal() -> None:
    code = written("build.py", "    # keep this order\n", before="    deps = [\n")
    test = written("test_build.py", "assert 'deps = [\\n    # keep this order\\n]' in output")
    assert standings(shared_literals(code, test, None)) == {"# keep this order": Standing.UNSPECIFIED}


@pytest.mark.parametrize(
    "test",
    ['fill("damsons and quinces")', 'basket = Basket(goods="damsons and quinces")', 'run(["damsons and quinces"])'],
)
def test_what_a_test_feeds_in_is_not_asserted(test: str) -> None:
    literals = shared('DEFAULT = "damsons and quinces"', test)
    assert standings(literals) == {"damsons and quinces": Standing.FED_IN}


@pytest.mark.parametrize(
    ("code", "test"),
    [
        ('count = params.get("GoodsCount")', 'assert "GoodsCount" in answer'),
        ('if key == "goods-count":\n    pass', 'assert answer == "goods-count"'),
        ('return {"GoodsCount": count}', 'assert answer["GoodsCount"] == count'),
        ("value = getattr(basket, 'goods_count')", "assert names == ['goods_count']"),
    ],
)
def test_names_under_which_something_is_read_pass_through(code: str, test: str) -> None:
    assert set(standings(shared(code, test)).values()) == {Standing.PASSED_THROUGH}


def test_a_message_in_a_chain_of_assertions_is_asserted() -> None:
    code = f'throw new IllegalArgumentException("{MESSAGE}");'
    test = f'assertThatThrownBy(() -> cart.pay())\n    .isInstanceOf(Invalid.class)\n    .hasMessage("{MESSAGE}");'
    literals = shared_literals(written("Cart.java", code), written("CartTest.java", test), "Paying crashes.")
    assert standings(literals) == {MESSAGE: Standing.UNSPECIFIED}


def test_a_new_word_of_three_letters_is_told_but_proves_nothing() -> None:
    literals = shared('self.kind = "Zip"', 'assert function["Kind"] == "Zip"', "Kind is missing.")
    assert standings(literals)["Zip"] is Standing.SHORT


def test_an_asserted_number_counts_from_three_digits() -> None:
    code = "LIMIT = 4711\nSTEP = 12"
    assert shared(code, "assert limit() == 4711\nassert step() == 12")[0].kind == "number"
    assert standings(shared(code, "assert limit() == 4711\nassert step() == 12")) == {"4711": Standing.UNSPECIFIED}


def test_a_number_is_no_string() -> None:
    assert shared("LIMIT = 4711", 'assert limit() == "4711"') == ()


def test_a_word_inside_another_is_not_shared() -> None:
    assert shared('state = "FILLED"', 'assert state == "FULFILLED"') == ()


def test_expected_messages_of_mypy_cases_are_asserted() -> None:
    code = written("messages.py", f'self.fail("{MESSAGE}")')
    comment = written("check.test", f"[case pay]\npay()  # E: {MESSAGE}\n[builtins fixtures/list.pyi]")
    output = written("cmdline.test", f"[case pay]\n[out]\ncart.py:7: error: {MESSAGE}\n")
    for test in (comment, output):
        assert standings(shared_literals(code, test, None)) == {MESSAGE: Standing.UNSPECIFIED}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pay.snap", f"> 1 | {MESSAGE}"),
        ("expected.txt", f"error: {MESSAGE}"),
        ("tests/pay.tcl", f'assert_error "*{MESSAGE}*" {{r pay}}'),
        ("tests/pay.yaml", f'match: "{MESSAGE}"'),
    ],
)
def test_expected_output_in_other_files_is_asserted(path: str, text: str) -> None:
    assert standings(shared_literals(written("cart.py", RAISES), written(path, text), None)) == {
        MESSAGE: Standing.UNSPECIFIED
    }


@pytest.mark.parametrize(
    ("suffix", "code", "test"),
    [
        ("js", "throw new Error('{0}');", "expect(message).toBe('{0}');"),
        ("ts", "throw new Error('{0}');", "expect(message).toBe('{0}');"),
        ("tsx", "throw new Error('{0}');", "expect(message).toBe('{0}');"),
        ("java", 'throw new BasketException("{0}");', 'assertEquals("{0}", error.getMessage());'),
        ("go", 'return errors.New("{0}")', 'assert.Equal(t, "{0}", err.Error())'),
        ("rs", 'return Err("{0}".into());', 'assert_eq!(message, "{0}");'),
        ("c", 'fail("{0}");', 'assert(!strcmp(message, "{0}"));'),
        ("cpp", 'throw basket_error("{0}");', 'EXPECT_EQ(message, "{0}");'),
        ("rb", 'raise ArgumentError, "{0}"', 'expect(message).to eq("{0}")'),
        ("php", "throw new BasketException('{0}');", "$this->assertSame('{0}', $message);"),
        ("cs", 'throw new BasketException("{0}");', 'Assert.Equal("{0}", message);'),
        ("kt", 'throw BasketException("{0}")', 'assertEquals("{0}", message)'),
    ],
)
def test_each_language_is_read(suffix: str, code: str, test: str) -> None:
    literals = shared_literals(
        written(f"cart.{suffix}", code.format(MESSAGE)), written(f"cart_test.{suffix}", test.format(MESSAGE)), None
    )
    assert standings(literals) == {MESSAGE: Standing.UNSPECIFIED}


@pytest.mark.parametrize("suffix", sorted(GRAMMARS))
def test_every_grammar_loads_and_finds_a_string(suffix: str) -> None:
    assert [found.parts for found in read(f"x{suffix}", 'f("a word");', {0})] == [("a word",)]


@pytest.mark.parametrize("path", ["CHANGELOG.md", "docs/cart.rst", "NEWS"])
def test_documents_of_the_code_patch_hold_no_constants(path: str) -> None:
    assert (
        shared_literals(written(path, f'"{MESSAGE}"'), written("test_cart.py", f'assert x == "{MESSAGE}"'), None) == ()
    )


def test_each_text_is_told_once_for_each_standing_and_the_convincing_first() -> None:
    code = f'{RAISES}\nlog("{MESSAGE}")\nstate = "DRAINED"'
    test = f'assert state == "DRAINED"\nassert a == "{MESSAGE}"\nassert b == "{MESSAGE}"\nfill("{MESSAGE}")'
    assert [(literal.text, literal.standing) for literal in shared(code, test)] == [
        (MESSAGE, Standing.UNSPECIFIED),
        ("DRAINED", Standing.UNSPECIFIED),
        (MESSAGE, Standing.FED_IN),
    ]


def test_the_number_of_literals_is_bounded() -> None:
    code = "\n".join(f'raise ValueError("basket {n} is empty")' for n in range(100, 300))
    test = "\n".join(f'assert str(error) == "basket {n} is empty"' for n in range(100, 300))
    assert len(shared(code, test)) == LIMIT


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0",
        "lone \ud800 half",
        "((((( 'a b' " * 2000,
        "x = " + "['a b', " * 3000,
        "x = " + " + ".join(['"a b"'] * 3000),
        'x = "' + "%(" * 50_000 + '"',
        'x = "' + "{a" * 50_000 + '"',
        '"' * 50_000,
        "'\\" * 50_000,
    ],
)
@pytest.mark.parametrize("path", ["cart.py", "cart.js", "cart.tcl", "cart.test", "cart.snap"])
def test_hostile_text_is_read_without_an_error(path: str, text: str) -> None:
    assert all(literal.text for literal in shared_literals(written("cart.py", text), written(path, text), text))


def test_importing_loads_no_grammar() -> None:
    program = "import sys, checker.literals; print([m for m in sys.modules if m.startswith('tree_sitter_')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
