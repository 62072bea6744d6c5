"""C#."""

from interlock.codeviews.languages.table import Table

_WITH_BODY = (
    "method_declaration",
    "constructor_declaration",
    "destructor_declaration",
    "operator_declaration",
    "conversion_operator_declaration",
    "accessor_declaration",
    "local_function_statement",
)

TABLE = Table(
    module="tree_sitter_c_sharp",
    bodies="\n".join(f"({kind} body: [(block) (arrow_expression_clause)] @body)" for kind in _WITH_BODY)
    + """
(lambda_expression body: (block) @body)
(anonymous_method_expression (block) @body)
""",
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
