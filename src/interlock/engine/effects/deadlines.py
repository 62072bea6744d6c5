"""Denies the approvals whose deadline passed while no process was there to notice."""

from interlock.domain.checks.deadlines import is_overdue
from interlock.domain.messages.commands.approval_commands import ExpireApproval
from interlock.domain.messages.envelopes import SYSTEM
from interlock.engine.bench.workbench import Workbench
from interlock.ports.journal import Clock


async def deny_overdue(workbench: Workbench, clock: Clock) -> None:
    """Call it when a project is opened, before any approval can be answered."""
    now = clock.now()
    for approval in workbench.state.pending_approvals():
        if is_overdue(approval, now):
            await workbench.submit(SYSTEM, ExpireApproval(approval.id))
