"""Java."""

from interlock.codeviews.languages.table import LanguageTable

TABLE = LanguageTable(
    module="tree_sitter_java",
    functions=frozenset(
        ["method_declaration", "constructor_declaration", "compact_constructor_declaration", "lambda_expression"]
    ),
    bodies=frozenset(["block", "constructor_body"]),
    expressions=frozenset(["lambda_expression"]),
    signs=(b"{", b"->"),
    outline="""
(method_declaration name: (_) @name) @func
(constructor_declaration name: (_) @name) @func
(compact_constructor_declaration name: (_) @name) @func
(class_declaration name: (_) @name) @class
(record_declaration name: (_) @name) @record
(interface_declaration name: (_) @name) @interface
(annotation_type_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @enum
""",
)
