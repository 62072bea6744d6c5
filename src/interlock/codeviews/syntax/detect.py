"""Detects the language of a file by its name, else by its first line."""

import re

CODE = {
    "python": "Python",
    "javascript": "JavaScript",
    "typescript": "TypeScript",
    "tsx": "TSX",
    "go": "Go",
    "rust": "Rust",
    "c": "C",
    "cpp": "C++",
    "java": "Java",
    "csharp": "C#",
    "ruby": "Ruby",
    "php": "PHP",
    "bash": "Bash",
}
"""Languages with a grammar, and their display names."""
TITLES = {**CODE, "markdown": "Markdown", "toml": "TOML", "json": "JSON", "yaml": "YAML", "ini": "INI", "text": "Text"}

_SUFFIXES = {
    "python": "py pyi pyw",
    "javascript": "js jsx mjs cjs",
    "typescript": "ts mts cts",
    "tsx": "tsx",
    "go": "go",
    "rust": "rs",
    "c": "c",
    "cpp": "cc cpp cxx c++ hh hpp hxx h++ ipp tpp inl",
    "java": "java",
    "csharp": "cs",
    "ruby": "rb rake gemspec ru",
    "php": "php phtml php5 inc",
    "bash": "sh bash zsh ksh bats",
    "markdown": "md markdown mdown",
    "toml": "toml",
    "json": "json jsonc json5 webmanifest ipynb",
    "yaml": "yaml yml",
    "ini": "ini cfg conf properties editorconfig",
}
_BY_SUFFIX = {suffix: language for language, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
_BY_NAME = {
    "rakefile": "ruby",
    "gemfile": "ruby",
    "vagrantfile": "ruby",
    "podfile": "ruby",
    "pipfile": "toml",
    "cargo.lock": "toml",
    "poetry.lock": "toml",
    "uv.lock": "toml",
    ".bashrc": "bash",
    ".bash_profile": "bash",
    ".profile": "bash",
    "pkgbuild": "bash",
    "apkbuild": "bash",
}
_PROGRAM = re.compile(rb"#!.*?\b(python|pypy|node|deno|bun|ruby|php|bash|sh|zsh|ksh|dash)(?![a-z])")
_BY_PROGRAM = {
    b"python": "python",
    b"pypy": "python",
    b"node": "javascript",
    b"deno": "typescript",
    b"bun": "typescript",
    b"ruby": "ruby",
    b"php": "php",
}
_ONLY_CPP = re.compile(
    rb"^[ \t]*(?:class\s+\w|namespace\b|template\s*<|using\s+\w|(?:public|private|protected)\s*:)", re.MULTILINE
)


def language_of(name: str, source: bytes) -> str:
    """The language; `text` if unknown."""
    name = name.lower().rpartition("/")[2]
    suffix = suffix_of(name)
    if suffix == "h":
        return "cpp" if _ONLY_CPP.search(source) else "c"
    if language := _BY_NAME.get(name) or _BY_SUFFIX.get(suffix):
        return language
    if match := _PROGRAM.match(source[:200].split(b"\n", 1)[0]):
        return _BY_PROGRAM.get(match[1], "bash")
    return "text"


def suffix_of(name: str) -> str:
    """The suffix of a file name after the last dot; empty for `.profile`."""
    before, _, suffix = name.rpartition("/")[2].rpartition(".")
    return suffix if before else ""


def title_of(language: str) -> str:
    return TITLES[language]
