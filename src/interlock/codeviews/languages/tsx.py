"""TypeScript with JSX."""

from interlock.codeviews.languages.javascript import BODIES, OUTLINE
from interlock.codeviews.languages.table import Table
from interlock.codeviews.languages.typescript import TYPES

TABLE = Table(module="tree_sitter_typescript", entry="language_tsx", bodies=BODIES, outline=OUTLINE + TYPES)
