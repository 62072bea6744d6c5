"""A discussion: a chat with the user about the project. Its tools act on the user's own files, so what they change
lasts: a change that was begun when the process died is never silently repeated.
"""

from msgspec import Struct

from interlock.domain.values.gates import Blob
from interlock.domain.values.tickets import Grant


class Quiet(Struct, frozen=True, gc=False, tag="quiet", omit_defaults=True):
    """It is the user's turn."""

    error: str = ""  # why the last turn ended without an answer


class Thinking(Struct, frozen=True, gc=False, tag="thinking"):
    """The model's turn: disposable, done again after a crash."""


class Waiting(Struct, frozen=True, gc=False, tag="waiting"):
    """A person must answer before it goes on."""

    approval: str


class Doing(Struct, frozen=True, gc=False, tag="doing"):
    """A call that changes something is under way, by this yes: lasting."""

    call: str
    grant: Grant


class Unsure(Struct, frozen=True, gc=False, tag="unsure"):
    """The process died while it was doing it: a person says whether to do it again."""

    approval: str
    was: Doing


DiscussionStage = Quiet | Thinking | Waiting | Doing | Unsure


class Discussion(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, rename={"notes": "told"}):
    id: str
    title: str
    created_at: str
    updated_at: str
    stage: DiscussionStage = Quiet()
    messages: tuple[Blob, ...] = ()
    made_of: tuple[Blob, ...] = ()  # of each turn: prompt, context, files, folder
    grant: Grant | None = None  # the answer to its last question, until it is used
    given_up: str = ""  # a call whose fate is unknown and stays so
    notes: tuple[str, ...] = ()  # what the user has said meanwhile and the model has not heard
    turns: int = 0
    resumes: int = 0  # how often an answer let it go on
