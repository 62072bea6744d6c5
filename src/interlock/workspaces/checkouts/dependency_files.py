"""Which files of a commit decide what is installed, and which ones a setup command reads. Found by their names."""

import os
import re
from collections.abc import Iterable, Sequence

# Exact names: a source file such as `clock.py` or `test_requirements.py` is no list.
_LIST = re.compile(
    rb"""(?:^|/)(?:
    [^/]*\.lockb? | [^/]*[-_.]lock\.(?:json|ya?ml|toml) | [^/]*\.lockfile | pylock(?:\.[^/]*)?\.toml
    | [^/]*(?:requirements|constraints)[^/]*\.(?:txt|in|pip|toml|ya?ml)
    | [^/]*(?:reqs|deps)\.txt | (?:requirements|reqs|deps)/[^/]+\.(?:txt|in)
    | package\.json | npm-shrinkwrap\.json | \.npmrc | \.yarnrc(?:\.yml)? | pnpm-workspace\.yaml | \.pnpmfile\.cjs
    | bunfig\.toml | deno\.jsonc?
    | pyproject\.toml | setup\.(?:py|cfg) | Pipfile | environment\.ya?ml | (?:hatch|uv|poetry|pixi)\.toml
    | Cargo\.toml | go\.(?:mod|sum|work|work\.sum) | Gemfile | [^/]*\.gemspec | composer\.json
    | pom\.xml | ivy\.xml | [^/]*\.gradle(?:\.kts)? | gradle(?:-wrapper)?\.properties | libs\.versions\.toml
    | mix\.exs | [^/]*\.csproj | [^/]*\.sln | Directory\.Packages\.props | Package\.swift | pubspec\.yaml
    | \.tool-versions | \.?mise\.toml | \.(?:python|node|java|ruby)-version | \.nvmrc | rust-toolchain(?:\.toml)?
    )$""",
    re.VERBOSE,
)
_FOR_BUILDS = re.compile(rb"(?:^|/)(?:[Mm]akefile|GNUmakefile|[^/]*\.mk|CMakeLists\.txt|Dockerfile)$")
_COMPILED = re.compile(
    rb"""\.(?:c|cc|cpp|cxx|h|hh|hpp|hxx|inl|pyx|pxd|pxi|rs|f|for|f90|f95|f03|s|S|asm|zig|i|swg|cu|cuh|m|mm)$
    |(?:^|/)(?:CMakeLists\.txt|meson\.build|meson\.options|binding\.gyp)$""",
    re.VERBOSE,
)
_BUILDERS = frozenset((b"make", b"gmake", b"cmake", b"docker"))


def is_dependency_list(path: bytes, named: frozenset[bytes] = frozenset()) -> bool:
    """Whether a file in git may decide which packages are installed. `named` are the words of the commands."""
    if path in named or _LIST.search(path) is not None:
        return True
    return not named.isdisjoint(_BUILDERS) and _FOR_BUILDS.search(path) is not None


def is_compiled(path: bytes) -> bool:
    """Whether a file in git is input of a compiler."""
    return _COMPILED.search(path) is not None


def is_setup_input(path: bytes, named: frozenset[bytes]) -> bool:
    """Whether a setup command may read the file: dependency lists, files it names, rules and sources of builds."""
    if path in named or _LIST.search(path) is not None or _FOR_BUILDS.search(path) is not None:
        return True
    return is_compiled(path)


def words_of(commands: Sequence[str]) -> frozenset[bytes]:
    """The words of commands, as paths from the project's folder."""
    words: Iterable[bytes] = (word for text in commands for word in re.split(rb"[^\w./-]+", os.fsencode(text)))
    return frozenset(os.path.normpath(word) for word in words if word)
