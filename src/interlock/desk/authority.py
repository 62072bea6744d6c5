"""Who is at the desk, and what that allows: driving and answering are two capabilities (SPEC A4)."""

from msgspec import Struct

from interlock.domain.messages.envelopes import Actor
from interlock.errors import NotAllowed


class Authority(Struct, frozen=True):
    actor: Actor
    answers: bool  # may answer approvals
    places: bool  # may say which programs start and which folders are meant
    why_not: str = ""  # where nobody may answer this way

    def must_answer(self) -> None:
        if not self.answers:
            raise NotAllowed(
                self.why_not
                or "this token may drive, not answer approvals: use the approve token"
                " (or, in tests, a workbench started with --test-policy)"
            )
