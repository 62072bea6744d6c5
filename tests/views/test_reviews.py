"""Reviews, landings and autonomy as people read them."""

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.attempt_commands import AskScript
from interlock.domain.messages.commands.conductor_commands import StartConductor
from interlock.domain.messages.commands.steering_commands import SetAutonomy
from interlock.domain.messages.commands.ticket_commands import CancelTicket
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.values.approvals import (
    Approval,
    GateOnTree,
    LandedTicket,
    MergePayload,
    ReviewFile,
    ReviewPayload,
    digest,
)
from interlock.domain.values.gates import Blob, Gate, GateDefaults
from interlock.domain.values.tickets import TicketSpec
from interlock.views.autonomy import Offer, autonomy_dict, level_words, offer, project_level, why_only_ask
from interlock.views.board import activity_of, work_besides
from interlock.views.inbox import (
    approval_title,
    cut_texts,
    landing_lines,
    review_evidence,
    review_lines,
    with_whole_texts,
)
from tests.domain.given import ADA, AT, SCRIPT, SYSTEM, Bench, shell
from tests.domain.rules.test_autonomy import bench, finish, review
from tests.domain.rules.test_returned_landings import asked

LONG = Blob("ab" * 32, 9_000)
REVIEW = ReviewPayload(
    "base",
    "commit",
    "0123456789abcdef",
    "diff",
    files=(ReviewFile("tests/a.py", 1, 2, ("existing test",)), ReviewFile("b.py", 3, 0)),
    gates=(GateOnTree("T", "make test", "passed"), GateOnTree("T", "it is short", "failed")),
    ran=("A-1 edit a.py",),
    cost="$0.02",
)


def _approval(payload: ReviewPayload | MergePayload) -> Approval:
    return Approval(
        id="A-1",
        kind="review" if isinstance(payload, ReviewPayload) else "merge",
        asker="worker:T/1",
        track="x",
        ticket="T",
        payload=payload,
        digest=digest(payload),
        requested_at=AT,
    )


def test_a_review_says_what_was_verified_first_and_names_the_risks() -> None:
    assert review_lines(REVIEW) == (
        ("verified on exactly this tree (0123456789ab)", "good"),
        ("gate make test: passed", "dim"),
        ("gate it is short: failed", "bad"),
        ("cost of the ticket so far: $0.02", "dim"),
        ("tests/a.py  +1 -2   existing test", "bad"),
        ("b.py  +3 -0", "dim"),
        ("ran without a question: 1", "dim"),
        ("  A-1 edit a.py", "dim"),
    )
    assert review_evidence(replace(REVIEW, unverified="it has no gate"))[0] == ("UNVERIFIED: it has no gate", "bad")
    assert len(review_lines(replace(REVIEW, ran=()))) == 6


@pytest.mark.parametrize(
    ("payload", "title"),
    [
        (REVIEW, "review T: 2 files changed"),
        (replace(REVIEW, round=2, unverified="no"), "review T: 2 files changed, round 2 (unverified)"),
    ],
)
def test_the_title_of_a_review_names_its_round(payload: ReviewPayload, title: str) -> None:
    assert approval_title(_approval(payload)) == title


def test_a_landing_names_each_ticket_and_whether_a_person_has_seen_it() -> None:
    tickets = (
        LandedTicket("a", "A", "c1", REVIEW.files, reviewed=True),
        LandedTicket("b", "B", "c2", ran=3, cost="$1.00"),
        LandedTicket("c", "C", "c3", unverified=True),
    )
    payload = MergePayload("main", "1", "2", "", tree="t", unverified="", tickets=tickets, files=REVIEW.files)
    assert landing_lines(payload)[1:] == (
        ("a: reviewed, 2 files", "dim"),
        ("b: ran without a question: 3, 0 files, $1.00", "dim"),
        ("c: asked, 0 files, unverified", "bad"),
        ("tests/a.py  +1 -2   existing test", "bad"),
    )


def test_cut_diffs_are_replaced_by_the_whole_ones() -> None:
    both = (LONG, Blob("cd" * 32, 8_000))
    texts = {both[0].sha256: "whole", both[1].sha256: "since"}
    one = _approval(replace(REVIEW, diff_blob=both[0], since_blob=both[1]))
    assert cut_texts(one) == both
    assert with_whole_texts(one, texts).payload == replace(REVIEW, diff="whole", since_diff="since")
    assert with_whole_texts(one, {}) == one
    landing = MergePayload("main", "1", "2", "", LONG, since_blob=both[1])
    assert cut_texts(_approval(landing)) == both
    whole = with_whole_texts(_approval(landing), texts).payload
    assert whole == replace(landing, diff="whole", diff_blob=None, since_diff="since", since_blob=UNSET)


def test_the_levels_are_shown_with_what_is_in_force() -> None:
    project = bench(level="ask")
    project.send(SetAutonomy("review"))
    project.send(SetAutonomy("land", "x"))
    project.send(SetAutonomy("ask", "x", "T"))
    shown = autonomy_dict(project.state)
    assert (shown["level"], shown["tracks"], shown["tickets"]) == ("review", {"x": "land"}, {"x/T": "ask"})
    without = bench(level="land", contained=False).state
    assert (project_level(without), autonomy_dict(without)["chosen"]) == ("ask", "land")
    assert "only where bubblewrap contains" in why_only_ask(without)
    assert (why_only_ask(project.state), why_only_ask(bench(level="ask", contained=False).state)) == ("", "")


def test_a_ticket_says_what_asks_and_who_chose_it() -> None:
    project = bench(level="ask")
    assert level_words(project.state, project.ticket("T")) == ""
    project.send(SetAutonomy("land"))
    assert level_words(project.state, project.ticket("T")).startswith("land, chosen for its track or the project: ")
    project.send(SetAutonomy("ask", "x", "T"))
    assert level_words(project.state, project.ticket("T")).startswith("ask, chosen for this ticket: every change")


def _asked_often(times: int, contained: bool = True) -> Bench:
    project = Bench()
    project.send(StartConductor(99, True, gates=GateDefaults(), contained=contained), SYSTEM)
    project.send(AddTrack("x", "X", "", tuple(shell(f"s{number}") for number in range(times))))
    project.send(StartTrack("x"))
    for number in range(times):
        project.send(AskScript("x", f"s{number}", 1, SCRIPT, "no rule"), f"worker:s{number}/1")
    return project


def test_review_is_offered_after_ten_questions_of_one_kind() -> None:
    project = _asked_often(11)
    project.answer("A-1", "approve", ADA)
    project.send(AnswerApproval("A-2", "approve"), "policy:mine")
    project.send(CancelTicket("x", "s2"))
    assert offer(project.state) is None
    for number in (11, 12):
        project.send(AskScript("x", "s0", 1, replace(SCRIPT, script=f"make {number}"), "no rule"), "worker:s0/1")
        project.answer(f"A-{number + 1}", "approve")
    assert offer(project.state) is None, "eleven questions about nine tickets: a review each would spare two"
    for number in range(13, 20):
        project.send(AskScript("x", "s0", 1, replace(SCRIPT, script=f"make {number}"), "no rule"), "worker:s0/1")
        project.answer(f"A-{number + 1}", "approve")
    assert offer(project.state) == Offer("script", 18, 9)
    assert Offer("script", 11, 9).sentence == (
        "11 questions about a script inside sandboxed worktrees so far: with autonomy 'review' they would have been"
        " 9 reviews of a finished diff, 2 questions fewer"
    )


def test_review_is_not_offered_without_a_sandbox_or_twice() -> None:
    assert offer(_asked_often(12, contained=False).state) is None
    project = _asked_often(1)
    for number in range(2, 13):
        project.answer(f"A-{number - 1}", "approve")
        project.send(AskScript("x", "s0", 1, replace(SCRIPT, script=f"make {number}"), "no rule"), "worker:s0/1")
    assert offer(project.state) == Offer("script", 12, 1)
    project.send(SetAutonomy("review"))
    assert offer(project.state) is None


def test_a_ticket_under_review_says_so() -> None:
    project = bench()
    finish(project)
    track = project.track()
    assert activity_of(track.tickets["T"], track) == "its review is being requested"
    assert work_besides(project.state, ()) == ("x",)
    review(project)
    track = project.track()
    assert activity_of(track.tickets["T"], track) == "waiting for its review, A-1"
    assert work_besides(project.state, ()) == ()


def test_a_landing_that_is_prepared_again_counts_as_work() -> None:
    project = asked()
    project.send(AnswerApproval("A-1", "approve", hunks=(1,)))
    assert work_besides(project.state, ()) == ("x",)


def test_the_parts_of_a_review_are_being_taken() -> None:
    project = bench(TicketSpec(id="T", verify=(Gate("true"),)))
    finish(project)
    review(project, replace(REVIEW, parts=2))
    project.send(AnswerApproval("A-1", "approve", hunks=(1,)))
    track = project.track()
    assert activity_of(track.tickets["T"], track) == "the accepted parts are being taken"
