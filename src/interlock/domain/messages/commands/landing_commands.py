"""Commands about landing a track on the user's branch."""

from interlock.domain.values.approvals import MergePayload
from interlock.domain.values.wire_names import Tagged as _Command


class AskLanding(_Command, frozen=True):
    track: str
    payload: MergePayload


class FinishLanding(_Command, frozen=True):
    track: str
    commit: str
    detail: str = ""  # about the user's own files that the landing met


class FailLanding(_Command, frozen=True):
    track: str
    reason: str


LandingCommand = AskLanding | FinishLanding | FailLanding
