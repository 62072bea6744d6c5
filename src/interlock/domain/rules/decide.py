"""Rules: from state and intent to facts, or Rejected. One function per command; the rest is elsewhere
in this family (`ticket_rules`, `approval_rules`, `work_rules`).
"""

from typing import assert_never

from interlock.domain.messages.commands.approval_commands import AnswerApproval, ApproveTask, ExpireApproval
from interlock.domain.messages.commands.attempt_commands import (
    AskScript,
    AskWorker,
    FailWork,
    FinishMerge,
    FinishTool,
    FinishTurn,
    RedoAttempt,
    ReportGate,
    StartSession,
    SubmitWork,
)
from interlock.domain.messages.commands.call_commands import EndCall, ReserveCall
from interlock.domain.messages.commands.command import Bulk
from interlock.domain.messages.commands.conductor_commands import Recover, StartConductor, StopConductor
from interlock.domain.messages.commands.discussion_commands import (
    AskInDiscussion,
    BeginDiscussionTool,
    EndTurn,
    FinishDiscussionTool,
    ReplyInDiscussion,
    Say,
    StartDiscussion,
    StopTurn,
)
from interlock.domain.messages.commands.epic_commands import (
    DropEpic,
    FailPlanning,
    FinishPlanning,
    PlanEpic,
    PlanTickets,
    ProposeTracks,
)
from interlock.domain.messages.commands.external_ask_commands import AskPerson, WithdrawAsk
from interlock.domain.messages.commands.landing_commands import AskLanding, FailLanding, FinishLanding
from interlock.domain.messages.commands.steering_commands import Hear, Tell
from interlock.domain.messages.commands.test_history_commands import ForgetTests, RecordTests
from interlock.domain.messages.commands.ticket_commands import (
    BlockTicket,
    CancelTicket,
    EditTicket,
    KillWorker,
    MoveTicket,
    RetryTicket,
    SkipTicket,
)
from interlock.domain.messages.commands.track_commands import (
    AbortTrack,
    AddTickets,
    AddTrack,
    EditTrack,
    PauseTrack,
    ResumeTrack,
    StartTrack,
)
from interlock.domain.messages.envelopes import Submission, is_agent
from interlock.domain.messages.events.event import Event
from interlock.domain.rules import (
    approval_rules,
    call_rules,
    discussion_rules,
    epic_rules,
    external_ask_rules,
    steering_rules,
    test_history_rules,
    ticket_rules,
    work_rules,
)
from interlock.domain.rules.track_rules import (
    abort_track,
    add_tickets,
    add_track,
    edit_track,
    pause_track,
    resume_track,
    start_track,
)
from interlock.domain.state.state import State
from interlock.errors import Rejected

Events = tuple[Event, ...]


def decide(state: State, submission: Submission) -> Events:
    """What happens if this is allowed; raises Rejected, and records nothing, if it is not."""
    command, actor = submission.command, submission.actor
    if is_agent(actor) and not isinstance(command, AnswerApproval | ApproveTask):  # those say more exactly why not
        raise Rejected("an agent works on its own ticket; it does not command the workbench")
    match command:
        case SubmitWork():
            return work_rules.submit_work(state, command)
        case ReportGate():
            return work_rules.report_gate(state, command)
        case FinishMerge():
            return work_rules.finish_merge(state, command)
        case AskScript():
            return work_rules.ask_script(state, command)
        case AskWorker():
            return work_rules.ask_worker(state, command)
        case AskPerson():
            return external_ask_rules.ask(state, command)
        case WithdrawAsk():
            return external_ask_rules.withdraw(state, command)
        case StartSession():
            return work_rules.start_session(state, command)
        case ReserveCall():
            return call_rules.reserve_call(state, command)
        case Tell():
            return steering_rules.tell(state, command)
        case Hear():
            return steering_rules.hear(state, command)
        case EndCall():
            return call_rules.end_call(state, command)
        case FinishTurn():
            return work_rules.finish_turn(state, command)
        case FinishTool():
            return work_rules.finish_tool(state, command)
        case FailWork():
            return work_rules.fail_work(state, command)
        case RedoAttempt():
            return work_rules.redo_attempt(state, command)
        case AnswerApproval():
            return approval_rules.answer(state, command, actor)
        case ApproveTask():
            return approval_rules.approve_task(state, command, actor)
        case ExpireApproval():
            return approval_rules.expire(state, command)
        case AddTrack():
            return add_track(state, command)
        case StartDiscussion():
            return discussion_rules.start(state, command)
        case Say():
            return discussion_rules.say(state, command)
        case StopTurn():
            return discussion_rules.stop(state, command)
        case ReplyInDiscussion():
            return discussion_rules.reply(state, command)
        case BeginDiscussionTool():
            return discussion_rules.begin_tool(state, command)
        case FinishDiscussionTool():
            return discussion_rules.finish_tool(state, command)
        case AskInDiscussion():
            return discussion_rules.ask(state, command)
        case EndTurn():
            return discussion_rules.end(state, command)
        case PlanEpic():
            return epic_rules.plan_epic(state, command)
        case DropEpic():
            return epic_rules.drop_epic(state, command)
        case FinishPlanning():
            return epic_rules.finish_planning(state, command)
        case ProposeTracks():
            return epic_rules.propose_tracks(state, command)
        case PlanTickets():
            return epic_rules.plan_tickets(state, command)
        case FailPlanning():
            return epic_rules.fail_planning(state, command)
        case AddTickets():
            return add_tickets(state, command)
        case StartTrack():
            return start_track(state, command)
        case PauseTrack():
            return pause_track(state, command)
        case ResumeTrack():
            return resume_track(state, command)
        case EditTrack():
            return edit_track(state, command)
        case AbortTrack():
            return abort_track(state, command)
        case EditTicket():
            return ticket_rules.edit(state, command)
        case MoveTicket():
            return ticket_rules.move(state, command)
        case SkipTicket():
            return ticket_rules.skip(state, command)
        case RetryTicket():
            return ticket_rules.retry(state, command)
        case BlockTicket():
            return ticket_rules.block(state, command)
        case CancelTicket():
            return ticket_rules.cancel(state, command)
        case KillWorker():
            return ticket_rules.kill(state, command, actor)
        case RecordTests():
            return test_history_rules.record(state, command)
        case ForgetTests():
            return test_history_rules.forget(state, command)
        case StartConductor():
            return work_rules.start_conductor(command)
        case StopConductor() | Recover():
            return work_rules.stop_conductor(state, command.reason)
        case AskLanding():
            return work_rules.ask_landing(state, command, actor)
        case FinishLanding():
            return work_rules.finish_landing(state, command)
        case FailLanding():
            return work_rules.fail_landing(state, command)
        case Bulk():
            raise Rejected("a bulk operation is decided one by one, by the door")
        case _:
            assert_never(command)
