"""A discussion: a chat with the user about the project.

Its tools change the user's own files. A change that was under way when the process died is never repeated silently.
"""

from msgspec import Struct

from interlock.domain.values.gates import Blob
from interlock.domain.values.tickets import Grant


class Quiet(Struct, frozen=True, gc=False, tag="quiet", omit_defaults=True):
    """It is the user's turn."""

    error: str = ""  # why the last turn ended without an answer


class Thinking(Struct, frozen=True, gc=False, tag="thinking"):
    """The model's turn. It is disposable: after a crash it runs again."""


class Waiting(Struct, frozen=True, gc=False, tag="waiting"):
    """The turn waits for a person's answer."""

    approval: str


class Doing(Struct, frozen=True, gc=False, tag="doing"):
    """A call that changes files is under way, allowed by `grant`. Its effects last."""

    call: str
    grant: Grant


class Unsure(Struct, frozen=True, gc=False, tag="unsure"):
    """The process died during the call: a person decides whether it runs again."""

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
    made_of: tuple[Blob, ...] = ()  # the inputs of each turn: prompt, context, files, folder
    grant: Grant | None = None  # the answer to its last question, until it is used
    given_up: str = ""  # a call whose outcome stays unknown
    notes: tuple[str, ...] = ()  # notes that are not delivered to the model yet
    turns: int = 0
    resumes: int = 0  # how often an answer continued the turn
