"""Go."""

from interlock.codeviews.languages.table import LanguageTable

TABLE = LanguageTable(
    module="tree_sitter_go",
    functions=frozenset(["function_declaration", "method_declaration", "func_literal"]),
    bodies=frozenset(["block"]),
    skipped=frozenset(["import_declaration", "type_declaration"]),
    outline="""
(function_declaration name: (_) @name) @func
(method_declaration receiver: (_) @receiver name: (_) @name) @method
(type_spec name: (_) @name type: (struct_type)) @struct
(type_spec name: (_) @name type: (interface_type)) @interface
(method_elem name: (_) @name) @method
""",
)
