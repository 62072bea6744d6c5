"""The rights of a caller: driving the desk and answering approvals are two capabilities."""

from secrets import token_hex

from msgspec import Struct

from interlock.domain.messages.envelopes import Actor
from interlock.errors import NotAllowed


class Authority(Struct, frozen=True):
    actor: Actor
    answers: bool  # may answer approvals
    places: bool  # may set fields that name a program or a folder
    why_not: str = ""  # why answers are refused for every caller, if they are
    session: str = ""  # the browser session of the page that the caller uses, if it uses one

    @property
    def submission(self) -> str:
        """A new id for an answer, which the journal holds as its cause; empty: any id."""
        return f"session-{self.session}-{token_hex(8)}" if self.session else ""

    def must_write_rules(self) -> None:
        """A rule outlives its test, so a test may not write one."""
        if self.actor.startswith("test:"):
            raise NotAllowed("a test may answer approvals, but not write policy rules")

    def must_answer(self) -> None:
        if not self.answers:
            raise NotAllowed(
                self.why_not
                or "this token may drive but not answer approvals: use the approve token"
                " (or, in tests, start the workbench with --test-policy)"
            )
