"""C."""

from interlock.codeviews.languages.table import LanguageTable

FUNCTION = """[
  (function_declarator)
  (pointer_declarator (function_declarator))
  (pointer_declarator (pointer_declarator (function_declarator)))
  (pointer_declarator (pointer_declarator (pointer_declarator (function_declarator))))
  (parenthesized_declarator (function_declarator))
]"""

TABLE = LanguageTable(
    module="tree_sitter_c",
    functions=frozenset(["function_definition"]),
    bodies=frozenset(["compound_statement"]),
    declarators=True,
    skipped=frozenset(["struct_specifier", "enum_specifier", "type_definition", "declaration"]),
    outline=f"""
(function_definition declarator: {FUNCTION} @name body: (_)) @func
(struct_specifier name: (_) @name body: (_)) @struct
(union_specifier name: (_) @name body: (_)) @union
(enum_specifier name: (_) @name body: (_)) @enum
(preproc_function_def name: (_) @name) @macro
""",
    preprocessor=True,
)
