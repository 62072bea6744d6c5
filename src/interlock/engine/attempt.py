"""One attempt's work and one gate's run. Both are disposable: after a crash they are thrown away and
done again (the work as a new attempt, the gate on the saved tree).
"""

from interlock.domain.approvals import digest
from interlock.domain.commands import AskScript, Command, FailWork, ReportGate, SubmitWork
from interlock.domain.gate_messages import escalation
from interlock.domain.gates import limits
from interlock.domain.state import State
from interlock.domain.tickets import Ticket, Verifying
from interlock.ports import Assignment, Crew, Done, Failed, GateRunner, Policy


async def do_work(ticket: Ticket, crew: Crew, policy: Policy) -> Command:
    """The command that tells what came of it."""
    spec = ticket.spec
    name = (ticket.track, ticket.id, ticket.attempts)
    edited = ticket.grant.edited if ticket.grant else None
    assignment = Assignment(ticket.track, spec, ticket.attempts, edited or spec.script or "", why=ticket.why)
    if spec.assigned_to != "shell":
        return FailWork(*name, f"no provider is configured for {spec.assigned_to} tickets; only shell tickets run")
    terms = crew.terms(assignment)
    named = digest(terms)
    if ticket.grant is None:
        verdict = policy.script(assignment.script, spec)
        if verdict.verdict == "deny":
            return FailWork(*name, f"denied by {verdict.rule}: {verdict.reason}")
        if verdict.verdict == "ask":
            return AskScript(*name, terms, verdict.reason)
    elif ticket.grant.digest != named:
        return AskScript(*name, terms, f"what would run has changed since {ticket.grant.approval} was answered")
    allowed = Assignment(ticket.track, spec, ticket.attempts, assignment.script, named, ticket.why)
    match await crew.work(allowed):
        case Done(saved, summary):
            return SubmitWork(*name, saved, summary)
        case Failed(reason):
            return FailWork(*name, reason)


async def run_gate(ticket: Ticket, stage: Verifying, gates: GateRunner, state: State) -> Command:
    result = await gates.run(ticket.track, ticket.spec, stage.gate, stage.saved.commit)
    gate = ticket.spec.verify[stage.gate]
    most = limits(gate, state.conductor.gates).max_attempts
    text = "" if result.passed else escalation(result, stage.attempt_count + 1, most)
    return ReportGate(
        ticket.track, ticket.id, ticket.attempts, stage.gate, result, tree=stage.saved.tree, escalation=text
    )
