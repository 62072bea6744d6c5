"""Ruby."""

from interlock.codeviews.languages.table import Table

TABLE = Table(
    module="tree_sitter_ruby",
    style="ruby",
    bodies="""
(method body: (body_statement) @body)
(singleton_method body: (body_statement) @body)
""",
    outline="""
(method name: (_) @name) @func
(singleton_method object: (_) @receiver name: (_) @name) @func
(class name: (_) @name) @class
(module name: (_) @name) @module
""",
)
