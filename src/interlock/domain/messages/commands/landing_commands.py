"""Commands about landing a track on the user's branch."""

from interlock.domain.values.approvals import MergePayload
from interlock.domain.values.wire_names import Tagged as _Command


class AskLanding(_Command, frozen=True):
    track: str
    payload: MergePayload
    why: str = ""  # why it is asked again


class FinishLanding(_Command, frozen=True):
    track: str
    commit: str
    detail: str = ""  # about the user's own files that the landing met


class FailLanding(_Command, frozen=True):
    track: str
    reason: str
    moved: bool = False  # the user's branch has moved since the approval


LandingCommand = AskLanding | FinishLanding | FailLanding
