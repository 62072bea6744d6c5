"""JavaScript with JSX."""

from interlock.codeviews.languages.table import LanguageTable

FUNCTIONS = frozenset(
    [
        "function_declaration",
        "function_expression",
        "generator_function_declaration",
        "generator_function",
        "method_definition",
        "arrow_function",
    ]
)
SIGNS = (b"{", b"=>")

OUTLINE = """
(function_declaration name: (_) @name) @func
(generator_function_declaration name: (_) @name) @func
(method_definition name: (_) @name) @func
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)]) @func
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @func
(class_declaration name: (_) @name) @class
"""

TABLE = LanguageTable(
    module="tree_sitter_javascript",
    functions=FUNCTIONS,
    signs=SIGNS,
    outline=OUTLINE + "(field_definition property: (_) @name value: [(arrow_function) (function_expression)]) @func",
)
