"""JSON shapes of discussions and notes."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from interlock.api.schemas.basics import Count


class DiscussionShape(Struct, frozen=True):
    id: str
    title: str
    state: Annotated[
        Literal["quiet", "answering", "waiting"], Meta(description="`waiting` means waiting for an approval.")
    ]
    turns: Count
    error: str
    created_at: str
    updated_at: str


class MessageShape(Struct, frozen=True):
    role: Literal["user", "assistant", "tool"]
    text: str
    calls: list[str]
    reasoning: Annotated[str, Meta(description="The reasoning of the model; not part of the answer.")] = ""


class WholeDiscussion(DiscussionShape, frozen=True):
    messages: list[MessageShape]


class Discussions(Struct, frozen=True):
    discussions: list[DiscussionShape]
    total: Count
    next_offset: int | None


class NewDiscussion(Struct, frozen=True, forbid_unknown_fields=True):
    title: Annotated[str, Meta(max_length=1_000)] = ""


class Telling(Struct, frozen=True, forbid_unknown_fields=True):
    """A note to a ticket's worker or to a discussion (exactly one of the two)."""

    text: Annotated[str, Meta(min_length=1, max_length=4_000, examples=["Leave the public names as they are"])]
    track: str = ""
    ticket: str = ""
    discussion: str = ""


class Words(Struct, frozen=True, forbid_unknown_fields=True):
    text: Annotated[str, Meta(min_length=1, max_length=400_000, examples=["What does this project do?"])]
