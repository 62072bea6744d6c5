"""C++."""

from interlock.codeviews.languages.table import LanguageTable

FUNCTION = """[
  (function_declarator)
  (pointer_declarator (function_declarator))
  (pointer_declarator (pointer_declarator (function_declarator)))
  (reference_declarator (function_declarator))
  (pointer_declarator (reference_declarator (function_declarator)))
  (operator_cast)
  (qualified_identifier name: (operator_cast))
]"""

TABLE = LanguageTable(
    module="tree_sitter_cpp",
    functions=frozenset(["function_definition", "try_statement", "catch_clause", "lambda_expression"]),
    bodies=frozenset(["compound_statement"]),
    declarators=True,
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
