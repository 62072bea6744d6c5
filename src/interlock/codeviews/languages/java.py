"""Java."""

from interlock.codeviews.languages.table import Table

TABLE = Table(
    module="tree_sitter_java",
    bodies="""
(method_declaration body: (block) @body)
(constructor_declaration body: (constructor_body) @body)
(compact_constructor_declaration body: (block) @body)
(lambda_expression body: (block) @body)
""",
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
