"""TypeScript with JSX."""

from interlock.codeviews.languages.javascript import FUNCTIONS, OUTLINE, SIGNS
from interlock.codeviews.languages.table import LanguageTable
from interlock.codeviews.languages.typescript import SKIPPED, TYPES

TABLE = LanguageTable(
    module="tree_sitter_typescript",
    entry="language_tsx",
    functions=FUNCTIONS,
    signs=SIGNS,
    skipped=SKIPPED,
    outline=OUTLINE + TYPES,
)
