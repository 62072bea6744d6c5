"""Python. Its definitions are found by walking statements (python_bodies.py), which costs less than a query."""

from interlock.codeviews.languages.table import LanguageTable

TABLE = LanguageTable(module="tree_sitter_python", style="python", signs=(b"def",))
