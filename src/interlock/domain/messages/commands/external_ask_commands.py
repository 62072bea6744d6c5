"""Commands about approvals that programs outside Interlock request."""

from interlock.domain.values.gates import Blob
from interlock.domain.values.wire_names import Tagged as _Command


class WithdrawAsk(_Command, frozen=True):
    """The program that asked no longer waits."""

    approval: str
    why: str = "withdrawn"


class AskPerson(_Command, frozen=True):
    """A program outside requests an approval. `key` is its own name for the request."""

    tool: str
    arguments: str  # a JSON object; only the part to show if it is long
    arguments_sha256: str  # of the whole text
    asker: str
    whole: Blob | None = None  # the whole text, if it is long
    key: str = ""
    directory: str = ""
    why: str = ""
    deadline: str | None = None


ExternalAskCommand = WithdrawAsk | AskPerson
