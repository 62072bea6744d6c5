"""PHP, with or without surrounding HTML."""

from interlock.codeviews.languages.table import LanguageTable

TABLE = LanguageTable(
    module="tree_sitter_php",
    entry="language_php",
    functions=frozenset(["function_definition", "method_declaration", "anonymous_function", "property_hook"]),
    bodies=frozenset(["compound_statement"]),
    expressions=frozenset(["property_hook"]),
    entered=frozenset(["property_hook_list"]),
    outline="""
(function_definition name: (_) @name) @func
(method_declaration name: (_) @name) @func
(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(trait_declaration name: (_) @name) @trait
(enum_declaration name: (_) @name) @enum
""",
)
