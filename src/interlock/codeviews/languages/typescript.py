"""TypeScript."""

from interlock.codeviews.languages.javascript import FUNCTIONS, OUTLINE, SIGNS
from interlock.codeviews.languages.table import LanguageTable

TYPES = """
(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @enum
(type_alias_declaration name: (_) @name) @type
(internal_module name: (_) @name) @namespace
(module name: (_) @name) @namespace
(function_signature name: (_) @name) @func
(abstract_method_signature name: (_) @name) @func
(method_signature name: (_) @name) @func
(public_field_definition name: (_) @name value: [(arrow_function) (function_expression)]) @func
"""

SKIPPED = frozenset(["interface_declaration", "type_alias_declaration", "type_annotation", "import_statement"])

TABLE = LanguageTable(
    module="tree_sitter_typescript",
    entry="language_typescript",
    functions=FUNCTIONS,
    signs=SIGNS,
    skipped=SKIPPED,
    outline=OUTLINE + TYPES,
)
