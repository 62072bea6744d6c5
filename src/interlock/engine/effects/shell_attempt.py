"""One attempt's work and one gate's run. Both are disposable.

After a crash the work is repeated as a new attempt, and the gate is run again on the saved tree.
"""

import asyncio

import msgspec
from msgspec.structs import replace

from interlock.domain.checks.gate_messages import (
    RETURNS,
    bounce_back,
    escalation_question,
    fresh_brief,
    other_gates_section,
    starts_fresh_session,
    stuck_question,
)
from interlock.domain.checks.gate_outcome import gate_outcome
from interlock.domain.messages.commands.attempt_commands import AskScript, FailWork, ReportGate, SubmitWork
from interlock.domain.messages.commands.command import Command
from interlock.domain.state.state import State
from interlock.domain.values.approvals import digest
from interlock.domain.values.gates import Blob, Gate, GateResult
from interlock.domain.values.tickets import Ticket, Verifying
from interlock.engine.agents.worker import NO_PROVIDER, Worker, not_saved
from interlock.engine.blobs import Keep
from interlock.errors import InterlockError, OverBudget
from interlock.ports.model import Message
from interlock.ports.work import Assignment, Crew, Done, Failed, GateRunner, NotAllowed, Policy, PolicyVerdict, Unsaved
from interlock.ports.workspaces import Workspaces


async def do_work(
    ticket: Ticket, crew: Crew, policy: Policy, worker: Worker | None, keep: Keep, *, granted_by_rule: bool = False
) -> Command:
    """Runs one attempt, as far as approvals allow; returns the command that reports the outcome."""
    spec = ticket.spec
    if spec.assigned_to != "shell":
        if worker is None:
            return FailWork(ticket.track, ticket.id, ticket.attempts, NO_PROVIDER.format(spec.assigned_to))
        return await worker.work(ticket)
    return await _run_script(ticket, crew, policy, keep, granted_by_rule=granted_by_rule)


async def _run_script(ticket: Ticket, crew: Crew, policy: Policy, keep: Keep, *, granted_by_rule: bool) -> Command:
    name = (ticket.track, ticket.id, ticket.attempts)
    spec, grant = ticket.spec, ticket.grant
    edited = grant.edited if grant else None
    assignment = Assignment(ticket.track, spec, ticket.attempts, edited or spec.script or "", why=ticket.why)
    if ticket.unsaved is not None:
        match await crew.save_again(assignment, ticket.unsaved):
            case Done(saved, summary):
                return SubmitWork(*name, saved, summary)
            case Unsaved() as unsaved:
                return FailWork(*name, not_saved(unsaved.reason), unsaved=unsaved.summary)
            case None:
                pass  # its folder is gone: the script runs again
    prepared = crew.prepare(assignment)
    directory = prepared.terms.directory
    env: tuple[tuple[str, str], ...] = ()
    if grant is None or grant.digest != digest(prepared.terms):
        verdict = policy.script(assignment.script, directory)  # at once: approvals keep the order of their tickets
        if verdict.verdict == "allow" and verdict.rule and grant is None:
            # Links, patterns and secrets are known only in the real worktree, so only a verdict from there allows.
            if (failed := await crew.make_ready(assignment)) is not None:
                return FailWork(*name, failed.reason)
            verdict = await asyncio.to_thread(policy.script, assignment.script, directory)
        if verdict.verdict == "allow" and verdict.env:
            env = verdict.env
            prepared = crew.prepare(replace(assignment, env=env))
        terms = prepared.terms
        if grant is not None and grant.digest != digest(terms):
            why = f"what would run has changed since {grant.approval} was answered"
            return AskScript(*name, terms, why, again_of=grant.approval)
        if grant is None:
            if verdict.verdict == "deny":
                return FailWork(*name, f"denied by {verdict.rule}: {verdict.reason}")
            if verdict.verdict == "ask":
                return AskScript(*name, terms, verdict.reason, asked_by=verdict.asking_rule)
            if verdict.rule:  # recorded as requested and answered: the journal names the rule that allowed these terms
                return AskScript(*name, terms, verdict.reason or "a rule allows it", allowed_by=verdict.rule)

    async def last_check() -> PolicyVerdict | None:
        """The worktree may have changed since the rule allowed the script."""
        now = await asyncio.to_thread(policy.script, assignment.script, directory)
        return None if now.verdict == "allow" and now.env == env else now

    match await prepared.run(digest(prepared.terms), last_check if granted_by_rule else None):
        case Done(saved, summary):
            return SubmitWork(*name, saved, summary)
        case Failed(reason, output):
            text = output.encode(errors="replace")
            return FailWork(*name, reason, output=Blob(await keep(text), len(text)) if text else None)
        case Unsaved(reason, summary):
            return FailWork(*name, not_saved(reason), unsaved=summary)
        case NotAllowed(now) if now.verdict == "deny":
            return FailWork(*name, f"denied by {now.rule}: {now.reason}")
        case NotAllowed(now):
            why = f"a rule allowed it before, but: {now.reason}"
            return AskScript(*name, crew.prepare(assignment).terms, why, asked_by=now.asking_rule)


async def run_gate(
    ticket: Ticket, stage: Verifying, gates: GateRunner, state: State, keep: Keep, workspaces: Workspaces
) -> Command:
    name = (ticket.track, ticket.id, ticket.attempts)
    try:
        result = await gates.run(ticket.track, ticket.spec, stage.gate, stage.saved.commit)
    except OverBudget as error:
        return FailWork(*name, str(error), budget=True)
    if result.passed:
        return ReportGate(*name, stage.gate, result, stage.saved.tree)
    if result.packages:
        return ReportGate(*name, stage.gate, result, stage.saved.tree)
    conductor = state.conductor
    outcome = gate_outcome(ticket.spec, stage, result, conductor.gates, approve_all=conductor.approve_all)
    tries, most = outcome.tries, outcome.max_attempts
    reacts = ticket.spec.assigned_to != "shell"  # a script cannot; a worker can
    also = await _run_later_gates(ticket, stage, gates, state) if reacts or tries >= most else ""
    feedback, fresh = None, False
    if reacts and outcome.tries_again:
        if fresh := starts_fresh_session(tries):
            changed = await _changed(workspaces, stage)
            text = fresh_brief(_goal(ticket), outcome.results, changed, most)
        else:
            text = bounce_back(result, tries, most)
        message = msgspec.json.encode(Message("user", text + also))
        feedback = Blob(await keep(message), len(message))
    if outcome.stuck:
        question = stuck_question(result, tries, most, conductor.gates.stuck_after) + also
    elif outcome.action == "ask_retry":
        question = f"{bounce_back(result, tries, most)}{also}\n\n{RETURNS}"
    else:
        question = escalation_question(result, tries, most) + also
    return ReportGate(*name, stage.gate, result, stage.saved.tree, question, feedback, fresh)


async def _run_later_gates(ticket: Ticket, stage: Verifying, gates: GateRunner, state: State) -> str:
    """Runs the gates after the failed one on the same tree, so that all failures are reported together.

    Gates with criteria cost money, and gates with network access may have lasting effects: these are not run.
    """
    results: list[tuple[Gate, GateResult | None]] = []
    for number, gate in enumerate(ticket.spec.verify):
        if number > stage.gate:
            runs = gate.criteria is None and not gate.network and not state.conductor.gates.network
            saved = stage.saved.commit
            results.append((gate, await gates.run(ticket.track, ticket.spec, number, saved) if runs else None))
    return other_gates_section(results)


async def _changed(workspaces: Workspaces, stage: Verifying) -> str:
    try:
        return await workspaces.changed(stage.saved.base, stage.saved.commit)
    except InterlockError as error:  # the brief works without a summary
        return f"(not known: {error})"


def _goal(ticket: Ticket) -> str:
    """The worker's task: the prompt as a person edited it, or the ticket's description."""
    if ticket.spawn is not None and ticket.spawn.edited:
        return ticket.spawn.edited
    spec = ticket.spec
    target = f"\n\nThe file to change: {spec.target_file}" if spec.target_file else ""
    return f"# Ticket {spec.id}\n\n{spec.description or '(no description)'}{target}"
