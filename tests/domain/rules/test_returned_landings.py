"""A landing of which a person accepts only parts, or for which a person requests changes."""

import pytest
from msgspec.structs import replace

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.attempt_commands import FinishMerge, ReportGate
from interlock.domain.messages.commands.landing_commands import AskLanding, FailLanding
from interlock.domain.state.tracks import TrackLanding
from interlock.domain.step import replay
from interlock.domain.values.approvals import Comment, MergePayload, Pending
from interlock.domain.values.gates import Gate
from interlock.errors import BadValue, Rejected
from tests.domain.given import PASS, SYSTEM, Bench, shell
from tests.domain.rules.test_autonomy import bench

GATE = Gate("make test", max_attempts=1)
LANDING = MergePayload("main", "before", "after", "+x", parts=3)


def finished() -> Bench:
    """A track whose tickets are merged."""
    project = bench(shell("S", verify=[GATE]), shell("U", verify=[GATE, Gate("", criteria="it is short")]), level="ask")
    for name in ("S", "U"):
        project.submit(name)
        _pass(project, name)
        project.send(FinishMerge("x", name, 1, f"commit of {name}"), SYSTEM)
    return project


def _pass(project: Bench, name: str) -> None:
    for number in range(len(project.ticket(name).spec.verify)):
        project.send(ReportGate("x", name, 1, number, PASS, "tree"), SYSTEM)


def asked(payload: MergePayload = LANDING) -> Bench:
    project = finished()
    project.send(AskLanding("x", payload))
    return project


def test_accepted_parts_are_taken_and_asked_about_again() -> None:
    project = asked()
    project.send(AnswerApproval("A-1", "approve", hunks=(1, 3)))
    assert project.track().landing == TrackLanding("main", "before", "after", "parts", "A-1", (1, 3))
    project.send(AskLanding("x", replace(LANDING, after="narrow")), SYSTEM)
    assert project.track().landing is None
    assert project.approval("A-2").state == Pending()
    assert replay(project.records) == project.state


def test_all_parts_are_the_whole_landing() -> None:
    project = asked()
    project.send(AnswerApproval("A-1", "approve", hunks=(1, 2, 3)))
    landing = project.track().landing
    assert landing is not None
    assert landing.state == "started"


@pytest.mark.parametrize("hunks", [(0,), (4,), ()])
def test_parts_that_do_not_exist_are_refused(hunks: tuple[int, ...]) -> None:
    with pytest.raises(BadValue, match="choose some of the hunks 1 to 3"):
        asked().send(AnswerApproval("A-1", "approve", hunks=hunks))


def test_parts_of_a_cut_diff_cannot_be_chosen() -> None:
    with pytest.raises(BadValue, match="a file edit, a review or a landing"):
        asked(MergePayload("main", "before", "after", "+x")).send(AnswerApproval("A-1", "approve", hunks=(1,)))


def test_requested_changes_become_a_ticket_with_every_gate_of_the_track() -> None:
    project = asked()
    comments = (Comment("a.py", "why?", 3), Comment("b.py", "no"), Comment("a.py", "and here", 9))
    project.send(AnswerApproval("A-1", "changes", message="Rename it.", comments=comments))
    spec = project.ticket("changes-1").spec
    assert spec.description == (
        "Make the changes that were requested when the track was to be landed (A-1)\n\nRename it.\n\n"
        "- `a.py` line 3: why?\n- `b.py`: no\n- `a.py` line 9: and here"
    )
    assert (spec.target_file, spec.context_requirements, spec.verify) == ("a.py", ("b.py",), (GATE,))
    assert (project.track().status, project.ticket("changes-1").attempts) == ("running", 1)
    landing = project.track().landing
    assert landing is not None
    assert (landing.state, landing.after) == ("changes", "after")


def test_a_second_request_gets_a_ticket_of_its_own() -> None:
    project = asked()
    project.answer("A-1", "changes", message="Rename it.")
    project.submit("changes-1")
    _pass(project, "changes-1")
    project.send(FinishMerge("x", "changes-1", 1, "c"), SYSTEM)
    assert project.track().status == "done"
    project.send(AskLanding("x", LANDING), SYSTEM)
    project.answer("A-2", "changes", message="Once more.")
    ticket = project.ticket("changes-2")
    assert (ticket.spec.target_file, ticket.status) == (None, "in_progress")


def test_changes_need_a_reason() -> None:
    with pytest.raises(BadValue, match="say which changes"):
        asked().answer("A-1", "changes")


def test_a_returned_landing_that_cannot_be_prepared_has_failed() -> None:
    project = asked()
    project.send(AnswerApproval("A-1", "approve", hunks=(1,)))
    project.send(FailLanding("x", "main changed"), SYSTEM)
    landing = project.track().landing
    assert landing is not None
    assert (landing.state, landing.detail) == ("failed", "main changed")
    with pytest.raises(Rejected, match="not being landed"):
        project.send(FailLanding("x", "again"), SYSTEM)
