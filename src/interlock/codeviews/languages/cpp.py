"""C++."""

from interlock.codeviews.languages.table import Table

FUNCTION = """[
  (function_declarator)
  (pointer_declarator (function_declarator))
  (pointer_declarator (pointer_declarator (function_declarator)))
  (reference_declarator (function_declarator))
  (pointer_declarator (reference_declarator (function_declarator)))
  (operator_cast)
  (qualified_identifier name: (operator_cast))
]"""

TABLE = Table(
    module="tree_sitter_cpp",
    bodies=f"""
(function_definition declarator: {FUNCTION} body: (compound_statement) @body)
(function_definition declarator: {FUNCTION} (try_statement body: (compound_statement) @body))
(function_definition declarator: {FUNCTION} (try_statement (catch_clause body: (compound_statement) @body)))
(lambda_expression body: (compound_statement) @body)
""",
    outline=f"""
(function_definition declarator: {FUNCTION} @name) @func
(class_specifier name: (_) @name body: (_)) @class
(struct_specifier name: (_) @name body: (_)) @struct
(union_specifier name: (_) @name body: (_)) @union
(enum_specifier name: (_) @name body: (_)) @enum
(namespace_definition name: (_) @name) @namespace
(preproc_function_def name: (_) @name) @macro
""",
    preprocessor=True,
)
