"""Rules from experience, as every front end shows them: suggested with a back-test, remembered with their use."""

from msgspec import Struct

from interlock.views.display import counted


class Suggestion(Struct, frozen=True):
    """A rule that is offered. It would have answered none that a person refused, and allows no harmful command."""

    number: int
    name: str
    about: str
    rule: str  # as TOML
    answers: tuple[str, ...]  # past questions in which it takes part, answered by all offered rules
    last: str  # the time of the latest of them


class Withheld(Struct, frozen=True):
    """A rule that is not offered, with the reason."""

    about: str
    why: str


class Suggestions(Struct, frozen=True):
    offered: tuple[Suggestion, ...]
    withheld: tuple[Withheld, ...]
    questions: int  # answered by a person, that no rule answers now
    answered: int  # of these, by all offered rules together
    refused: int  # of these, refused or edited by the person: no offered rule answers one
    corpus: int  # harmful commands and edits that no offered rule allows

    @property
    def sentence(self) -> str:
        """The back-test of all offered rules together."""
        asked = counted(self.questions, "answered question")
        if not self.offered:
            return f"no rule to suggest from {asked}"
        return (
            f"{counted(len(self.offered), 'rule')} would have answered {self.answered:,} of {asked}, none of the"
            f" {self.refused:,} that you refused or edited, and allow none of {self.corpus:,} harmful commands"
        )


class KeptRule(Struct, frozen=True):
    """A rule in one of the user's files."""

    number: int
    name: str
    verdict: str
    about: str
    everywhere: bool
    answered: int
    last: str
    since: str
    stale: bool

    @property
    def used(self) -> str:
        """How often it answered, and when last."""
        when = f", last {self.last[:10]}" if self.last else ""
        return f"{self.answered:,} answered{when}{' (stale)' if self.stale else ''}"
