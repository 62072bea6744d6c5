"""JavaScript with JSX."""

from interlock.codeviews.languages.table import Table

BODIES = """
(function_declaration body: (statement_block) @body)
(function_expression body: (statement_block) @body)
(generator_function_declaration body: (statement_block) @body)
(generator_function body: (statement_block) @body)
(method_definition body: (statement_block) @body)
(arrow_function body: (_) @body)
"""

OUTLINE = """
(function_declaration name: (_) @name) @func
(generator_function_declaration name: (_) @name) @func
(method_definition name: (_) @name) @func
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)]) @func
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @func
(class_declaration name: (_) @name) @class
"""

TABLE = Table(
    module="tree_sitter_javascript",
    bodies=BODIES,
    outline=OUTLINE + "(field_definition property: (_) @name value: [(arrow_function) (function_expression)]) @func",
)
