"""Rust."""

from interlock.codeviews.languages.table import LanguageTable

TABLE = LanguageTable(
    module="tree_sitter_rust",
    functions=frozenset(["function_item", "closure_expression"]),
    bodies=frozenset(["block"]),
    skipped=frozenset(["macro_definition", "token_tree", "use_declaration", "attribute_item"]),
    outline="""
(function_item name: (_) @name) @func
(function_signature_item name: (_) @name) @func
(struct_item name: (_) @name) @struct
(enum_item name: (_) @name) @enum
(union_item name: (_) @name) @union
(trait_item name: (_) @name) @trait
(impl_item type: (_) @name) @impl
(mod_item name: (_) @name body: (_)) @module
(macro_definition name: (_) @name) @macro
""",
)
