"""Commands about questions of programs outside Interlock."""

from interlock.domain.values.gates import Blob
from interlock.domain.values.wire_names import Tagged as _Command


class WithdrawAsk(_Command, frozen=True):
    """The program that asked does not wait any more."""

    approval: str
    why: str = "withdrawn"


class AskPerson(_Command, frozen=True):
    """A program outside asks for a person's word. `key` is its own name for the question."""

    tool: str
    arguments: str  # a JSON object; where that is long, what to show of it
    arguments_sha256: str  # of all of it
    asker: str
    whole: Blob | None = None  # where it is long
    key: str = ""
    directory: str = ""
    why: str = ""
    deadline: str | None = None


ExternalAskCommand = WithdrawAsk | AskPerson
