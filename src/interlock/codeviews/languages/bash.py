"""Shell scripts, parsed as Bash."""

from interlock.codeviews.languages.table import LanguageTable

TABLE = LanguageTable(
    module="tree_sitter_bash",
    style="bash",
    functions=frozenset(["function_definition"]),
    bodies=frozenset(["compound_statement", "subshell"]),
    signs=(b"{", b"("),
    outline="(function_definition name: (_) @name) @func",
)
