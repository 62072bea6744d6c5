"""JSON shapes of rules from experience."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from interlock.api.schemas.basics import Count


class SuggestionShape(Struct, frozen=True):
    """A rule that is offered, with the past questions that it would have answered."""

    number: Count
    name: Annotated[str, Meta(examples=["learned-pytest"])]
    about: Annotated[str, Meta(examples=["pytest [-q] PATHS IN THE WORKTREE"])]
    rule: Annotated[str, Meta(description="The rule as TOML.")]
    answers: Annotated[list[str], Meta(examples=[["A-3", "A-8"]])]
    last: str


class WithheldShape(Struct, frozen=True):
    about: str
    why: Annotated[str, Meta(description="The refused question or the harmful command that disqualifies it.")]


class SuggestionsShape(Struct, frozen=True):
    offered: list[SuggestionShape]
    withheld: list[WithheldShape]
    questions: Annotated[int, Meta(ge=0, description="Answered by a person, that no rule answers now.")]
    answered: Annotated[int, Meta(ge=0, description="Of these, by all offered rules together.")]
    refused: Annotated[int, Meta(ge=0, description="Of these, refused or edited: no offered rule answers one.")]
    corpus: Annotated[int, Meta(ge=0, description="Harmful commands and edits that no offered rule allows.")]


class AcceptShape(Struct, frozen=True, forbid_unknown_fields=True):
    """The rule must be one that `GET /api/policy/suggestions` offers, byte for byte."""

    rule: Annotated[str, Meta(min_length=1, max_length=100_000)]
    everywhere: Annotated[bool, Meta(description="In all projects of the user, not only in this one.")] = False
    min: Annotated[int, Meta(ge=1, le=1_000_000, description="As in the request for the suggestions.")] = 3


class AcceptedShape(Struct, frozen=True):
    rule: Annotated[str, Meta(description="The rule as it is stored.")]


class KeptRuleShape(Struct, frozen=True):
    number: Count
    name: str
    verdict: Literal["allow", "ask", "deny"]
    about: str
    everywhere: bool
    answered: Count
    last: str
    since: str
    stale: bool


class KeptRules(Struct, frozen=True):
    rules: list[KeptRuleShape]
