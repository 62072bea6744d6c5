"""Python. Definitions are found by walking statements (syntax/python_bodies.py), which is faster than a query."""

from interlock.codeviews.languages.table import LanguageTable

TABLE = LanguageTable(module="tree_sitter_python", style="python", signs=(b"def",))
