"""The ports of a model's tools and code views."""

from collections.abc import Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from interlock.ports.processes import Layer
from interlock.ports.workspaces import Surroundings, git_entry


class ToolSpec(Struct, frozen=True):
    """A tool as a model sees it. `schema` is the JSON schema of its arguments."""

    name: str
    description: str
    schema: dict[str, Any]
    changes: bool  # it may change something, so it needs an approval or a rule
    outside: bool = False  # it reaches beyond the files: after a crash nobody knows whether it took effect


OUTSIDE = "mcp__"
"""How the names of tools begin that act outside of Interlock: their effects last, and cannot be looked up."""


class ToolPlace(Struct, frozen=True):
    """Where a worker's tools act: a writable worktree, and read-only folders."""

    root: str
    readable: tuple[str, ...] = ()  # mounted read-only for commands
    env: tuple[tuple[str, str], ...] = ()  # added to the environment of commands
    surroundings: Surroundings = Surroundings()
    layer: Layer | None = None  # changes of commands are kept apart

    def read_only(self) -> tuple[str, ...]:
        """Paths that commands may read but not write: `readable`, packages, and always the worktree's `.git`."""
        git, given = git_entry(self.root), (*self.readable, *self.surroundings.readable)
        return given if git is None or git in given else (*given, git)


class Hunk(Struct, frozen=True):
    """One hunk of a unified diff; hunks are numbered from 1 over the whole call."""

    number: int
    path: str
    header: str  # @@ -1,3 +1,4 @@ def name
    text: str  # the lines with their ' ', '-' or '+'


class Preview(Struct, frozen=True):
    """The effect of a changing call: hunks for edits, the script for a command."""

    title: str
    hunks: tuple[Hunk, ...] = ()
    script: str | None = None
    services: bool = False  # the project's services run beside the script
    paths: tuple[str, ...] = ()  # all files that an edit changes, also those without a hunk
    hosts: tuple[str, ...] = ()  # all hosts that the call contacts


Refused = Literal["", "rejected", "denied"]


class ToolOutcome(Struct, frozen=True):
    text: str
    failed: bool = False
    exit_code: int | None = None  # of a script that ran
    warned: bool = False  # a script that ran wrote to its standard error
    refused: Refused = ""  # why it did not run: a person rejected it, or a rule denied it


class Tools(Protocol):
    """The tools of a worker. Arguments come from a model and are untrusted."""

    def offered(self, *, changing: bool) -> tuple[ToolSpec, ...]:
        """All tools, or only those that change nothing."""
        ...

    def why_off(self, name: str) -> str:
        """Why a tool that exists is not offered; empty for a tool that is offered, or that does not exist."""
        ...

    async def preview(self, place: ToolPlace, name: str, args: dict[str, Any]) -> Preview:
        """The effect of a changing call now; raises ToolFailure with a text for the model if it cannot run."""
        ...

    async def texts(self, place: ToolPlace, paths: Sequence[str]) -> dict[str, str | None]:
        """The current contents of these files; None for a missing file. Unreadable and binary files are omitted."""
        ...

    async def run(
        self, place: ToolPlace, name: str, args: dict[str, Any], hunks: tuple[int, ...] | None = None
    ) -> ToolOutcome:
        """Runs the call, or only these hunks of it. An error of the model is an outcome, not an exception."""
        ...


def is_outside(tools: Tools, name: str) -> bool:
    """Whether a tool reaches beyond the files: its effect lasts, and what it is given leaves the sandbox."""
    named = (spec for spec in tools.offered(changing=True) if spec.name == name)
    return name.startswith(OUTSIDE) or any(spec.outside for spec in named)


class CodeViews(Protocol):
    """Shortened views of files for workers."""

    def curated(self, path: str, content: bytes) -> str: ...
    def skeleton(self, path: str, content: bytes) -> str: ...

    def is_secret(self, path: str) -> bool:
        """Whether the file name marks a secret file, which is never shown."""
        ...


class Mention(Struct, frozen=True):
    """An occurrence of a name in code, not in a string or comment."""

    line: int
    role: Literal["definition", "import", "use"]
    text: str  # its line


class ClassFound(Struct, frozen=True):
    name: str  # dotted
    line: int
    bases: tuple[str, ...]  # as written


class Structure(Protocol):
    """Python sources by their definitions: texts in, texts out.

    A name is dotted (`Class.method`, `function.inner`); `line` chooses among several of that name, 0 when there is only
    one; no name is the module. `with_…` gives the whole new text. Raises ToolFailure with a sentence for the model.
    """

    def summary(self, path: str, text: str) -> str: ...
    def skeleton(self, text: str) -> str: ...
    def outline(self, text: str) -> str: ...
    def definition(self, text: str, name: str, line: int = 0) -> str: ...
    def with_definition(self, text: str, name: str, new: str, line: int = 0) -> str: ...
    def signature(self, text: str, name: str, line: int = 0) -> str: ...
    def with_signature(self, text: str, name: str, new: str, line: int = 0) -> str: ...
    def variable(self, text: str, name: str, line: int = 0) -> str: ...
    def with_variable(self, text: str, name: str, new: str, line: int = 0) -> str: ...
    def class_summary(self, text: str, name: str, line: int = 0) -> str: ...
    def docstring(self, text: str, name: str, line: int = 0) -> str: ...
    def imports(self, text: str) -> tuple[str, ...]: ...
    def mentions(self, text: str, name: str) -> tuple[Mention, ...]: ...
    def classes(self, text: str) -> tuple[ClassFound, ...]: ...
    def problems(self, text: str) -> tuple[str, ...]: ...
