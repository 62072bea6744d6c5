"""The description of an environment in the store."""

from msgspec import Struct


class Manifest(Struct, frozen=True, kw_only=True):
    """`files` below the environment's folder has the results at the paths they had in the project."""

    key: str
    project: str  # the folder it was first made for
    commands: tuple[str, ...]
    made_in: str  # the folder the commands ran in: results may name it
    made_at: float  # seconds since 1970
    linked: tuple[str, ...]  # folders that worktrees share, read-only
    copied: tuple[str, ...]  # files that each worktree gets as its own
    naming: tuple[str, ...]  # files that name `made_in`: each worktree needs its own text of them
    links: tuple[str, ...]  # symbolic links that lead out of their linked folder, into the project
    home: tuple[tuple[str, str], ...]  # variables that name folders below `home`
    size: int  # bytes
    count: int  # files
    digest: str  # of all results: names, kinds and contents
    compiles: bool = False  # the project itself is compiled: results are valid only for `compiled`
    compiled: tuple[tuple[str, str], ...] = ()  # source files for a compiler, and their digests
