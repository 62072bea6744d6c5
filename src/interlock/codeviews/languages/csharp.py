"""C#."""

from interlock.codeviews.languages.table import LanguageTable

TABLE = LanguageTable(
    module="tree_sitter_c_sharp",
    functions=frozenset(
        [
            "method_declaration",
            "constructor_declaration",
            "destructor_declaration",
            "operator_declaration",
            "conversion_operator_declaration",
            "accessor_declaration",
            "property_declaration",
            "indexer_declaration",
            "local_function_statement",
            "lambda_expression",
            "anonymous_method_expression",
        ]
    ),
    bodies=frozenset(["block", "arrow_expression_clause"]),
    expressions=frozenset(["lambda_expression"]),
    signs=(b"{", b"=>"),
    outline="""
(method_declaration name: (_) @name) @func
(constructor_declaration name: (_) @name) @func
(local_function_statement name: (_) @name) @func
(class_declaration name: (_) @name) @class
(struct_declaration name: (_) @name) @struct
(record_declaration name: (_) @name) @record
(interface_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @enum
(namespace_declaration name: (_) @name) @namespace
""",
    preprocessor=True,
)
