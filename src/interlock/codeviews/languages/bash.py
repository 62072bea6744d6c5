"""Shell scripts, read as Bash."""

from interlock.codeviews.languages.table import Table

TABLE = Table(
    module="tree_sitter_bash",
    style="bash",
    bodies="(function_definition body: [(compound_statement) (subshell)] @body)",
    outline="(function_definition name: (_) @name) @func",
)
