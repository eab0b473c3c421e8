"""The languages whose literals can be read: where each grammar is found, and what things are called in it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Grammar:
    """Where a language's grammar is found, and how its literals are called there."""

    module: str
    strings: tuple[str, ...]
    numbers: tuple[str, ...]
    comments: tuple[str, ...] = ("comment",)
    entry: str = "language"


_JAVASCRIPT = (("string", "template_string"), ("number",), ("comment",))
_C = (("string_literal", "raw_string_literal"), ("number_literal",))

PYTHON = Grammar("tree_sitter_python", ("string",), ("integer", "float"))
GRAMMARS: dict[str, Grammar] = {
    ".py": PYTHON,
    ".pyi": PYTHON,
    ".pyx": PYTHON,
    ".js": Grammar("tree_sitter_javascript", *_JAVASCRIPT),
    ".ts": Grammar("tree_sitter_typescript", *_JAVASCRIPT, entry="language_typescript"),
    ".tsx": Grammar("tree_sitter_typescript", *_JAVASCRIPT, entry="language_tsx"),
    ".java": Grammar(
        "tree_sitter_java",
        ("string_literal",),
        ("decimal_integer_literal", "decimal_floating_point_literal", "hex_integer_literal"),
        ("line_comment", "block_comment"),
    ),
    ".go": Grammar(
        "tree_sitter_go",
        ("interpreted_string_literal", "raw_string_literal"),
        ("int_literal", "float_literal"),
    ),
    ".rs": Grammar(
        "tree_sitter_rust",
        ("string_literal", "raw_string_literal"),
        ("integer_literal", "float_literal"),
        ("line_comment", "block_comment"),
    ),
    ".c": Grammar("tree_sitter_c", ("string_literal",), ("number_literal",)),
    ".cpp": Grammar("tree_sitter_cpp", *_C),
    ".rb": Grammar("tree_sitter_ruby", ("string", "heredoc_body"), ("integer", "float")),
    ".php": Grammar(
        "tree_sitter_php",
        ("string", "encapsed_string", "heredoc"),
        ("integer", "float"),
        entry="language_php_only",
    ),
    ".cs": Grammar(
        "tree_sitter_c_sharp",
        ("string_literal", "verbatim_string_literal", "interpolated_string_expression"),
        ("integer_literal", "real_literal"),
    ),
}
GRAMMARS |= {
    alias: GRAMMARS[known]
    for alias, known in {
        ".jsx": ".js", ".mjs": ".js", ".cjs": ".js", ".h": ".cpp", ".cc": ".cpp", ".hpp": ".cpp", ".cxx": ".cpp",
        ".cu": ".cpp", ".pxd": ".py", ".rake": ".rb",
    }.items()
}  # fmt: skip

CALLS = frozenset({
    "call", "call_expression", "new_expression", "method_invocation", "object_creation_expression",
    "macro_invocation", "function_call_expression", "member_call_expression", "scoped_call_expression",
    "nullsafe_member_call_expression", "invocation_expression", "preproc_call", "throws_clause",
})  # fmt: skip
CALLEES = ("function", "name", "method", "constructor", "type", "macro")
SIMPLE_STEPS = {
    "assert_statement": "assert",
    "raise_statement": "raise",
    "throw_statement": "raise",
    "throw_expression": "raise",
    "return_statement": "return",
    "comparison_operator": "compare",
    "decorator": "decorator",
    "default_parameter": "default",
    "typed_default_parameter": "default",
    "optional_parameter": "default",
    "import_statement": "import",
    "import_spec": "import",
    "case_clause": "compare",
    "switch_case": "compare",
    "match_arm": "compare",
}
ASSIGNMENTS = frozenset({
    "assignment", "augmented_assignment", "variable_declarator", "assignment_expression", "short_var_declaration",
    "let_declaration", "const_item", "init_declarator", "named_expression", "const_spec", "var_spec",
    "augmented_assignment_expression", "public_field_definition", "const_element", "property_element",
    "static_item",
})  # fmt: skip
PAIRS = frozenset({"pair", "keyed_element", "array_element_initializer", "field_initializer", "property_assignment"})
INDEXES = frozenset({"subscript", "subscript_expression", "index_expression", "element_reference", "array_access"})
BORDERS = frozenset({
    "block", "module", "program", "statement_block", "compound_statement", "class_body", "body_statement",
    "translation_unit", "source_file", "function_definition", "class_definition", "declaration_list", "source",
    "compilation_unit", "method", "do_block", "constructor_body", "statement_list",
})  # fmt: skip
JOINS = frozenset({
    "concatenated_string", "chained_string", "binary_operator", "binary_expression", "binary",
})  # fmt: skip
COMPARING = frozenset({"==", "!=", "===", "!==", "=~", "in"})
HOLES = frozenset({"interpolation", "template_substitution", "variable_name", "dynamic_variable_name"})

# Languages without a grammar here: what is quoted in them may be a constant of the program.
LEXICAL = frozenset({
    ".yaml", ".yml", ".json", ".toml", ".ini", ".cfg", ".tcl", ".sh", ".bash", ".zsh", ".lua", ".kt", ".kts", ".scala",
    ".swift", ".pl", ".pm", ".ex", ".exs", ".erl", ".hs", ".vue", ".svelte", ".html", ".tmpl", ".jinja", ".j2", ".sql",
    ".y", ".g4", ".m", ".mm", ".dart", ".jl", ".r", ".groovy", ".clj", ".ml", ".zig", ".nim", ".cr", ".tf", ".proto",
    ".xml", ".messages", ".ftl", ".neon",
})  # fmt: skip
# Files that hold what a program is expected to print, line by line.
OUTPUTS = frozenset(
    {".snap", ".out", ".txt", ".stdout", ".stderr", ".expected", ".golden", ".approved", ".exp", ".ambr"}
)
# mypy's own test cases: Python, with the expected messages in comments or below `[out]`.
CASES = ".test"
