"""What detection finds: the parts a project is made of, and what its tests need."""

from msgspec import Struct


class Missing(Struct, frozen=True):
    """Something that the project's tests need and this machine does not have."""

    what: str
    remedy: str


class Part(Struct, frozen=True, kw_only=True):
    """One ecosystem of a project. Commands are for `sh` in the project's folder."""

    name: str  # such as "Python"
    evidence: tuple[str, ...] = ()  # what was found where, in words
    prepare: tuple[str, ...] = ()  # with network, once for each content of the dependency lists
    setup: tuple[str, ...] = ()  # offline, in each worktree
    tests: str = ""  # the command that runs the project's tests; empty if none was found
    tests_from: str = ""  # where that command comes from
    path: tuple[str, ...] = ()  # folders of programs that the commands make, first in PATH
    programs: tuple[str, ...] = ()  # programs of this machine that PATH does not name
    missing: tuple[Missing, ...] = ()
    sources: int = 0  # source files: the part with the most is the main one


class Detected(Struct, frozen=True):
    """All parts of a project, the main one first, and the helpers that were seen."""

    parts: tuple[Part, ...] = ()
    helpers: tuple[str, ...] = ()  # such as "pre-commit": recognised, and not needed for tests

    @property
    def missing(self) -> tuple[Missing, ...]:
        return tuple(dict.fromkeys(one for part in self.parts for one in part.missing))

    @property
    def programs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one for part in self.parts for one in part.programs))


class Proposal(Struct, frozen=True):
    """The `[workspace]` section for a project."""

    prepare: tuple[str, ...] = ()
    setup: str = ""
    tests: str = ""
    path: tuple[str, ...] = ()


def proposal_of(detected: Detected) -> Proposal:
    """The commands of all parts; the tests of the main part that has some.

    A part beside the main one, such as a site for documentation, is left out if this machine lacks its tools.
    """
    parts = tuple(part for part in detected.parts if part is detected.parts[0] or not part.missing)
    return Proposal(
        prepare=tuple(dict.fromkeys(command for part in parts for command in part.prepare)),
        setup=" && ".join(dict.fromkeys(command for part in parts for command in part.setup)),
        tests=next((part.tests for part in parts if part.tests), ""),
        path=tuple(dict.fromkeys(folder for part in parts for folder in part.path)),
    )
