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
        """What the main part needs: the proposal is about that part alone."""
        return self.parts[0].missing if self.parts else ()

    @property
    def beside(self) -> tuple[Part, ...]:
        """Other parts with packages of their own, such as the tools of a front end or of the documentation."""
        return tuple(part for part in self.parts[1:] if part.prepare)

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
    """The commands of the main part. Its tests seldom need the packages of others, and one of these may not install."""
    if not detected.parts:
        return Proposal()
    main = detected.parts[0]
    return Proposal(
        prepare=tuple(dict.fromkeys(main.prepare)),
        setup=" && ".join(dict.fromkeys(main.setup)),
        tests=main.tests,
        path=tuple(dict.fromkeys(main.path)),
    )
