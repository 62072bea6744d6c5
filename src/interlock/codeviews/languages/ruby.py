"""Ruby."""

from interlock.codeviews.languages.table import LanguageTable

TABLE = LanguageTable(
    module="tree_sitter_ruby",
    style="ruby",
    functions=frozenset(["method", "singleton_method"]),
    bodies=frozenset(["body_statement"]),
    signs=(b"def",),
    outline="""
(method name: (_) @name) @func
(singleton_method object: (_) @receiver name: (_) @name) @func
(class name: (_) @name) @class
(module name: (_) @name) @module
""",
)
