"""Deadlines of approvals: an approval that nobody answered in time is denied."""

from datetime import UTC, datetime, timedelta

from interlock.domain.values.approvals import Approval, Pending


def time_after(at: str, seconds: float) -> str:
    moment = datetime.fromisoformat(at) + timedelta(seconds=seconds)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def seconds_until(deadline: str, now: str) -> float:
    """Negative once the deadline has passed."""
    return (_moment(deadline) - _moment(now)).total_seconds()


def is_overdue(approval: Approval, now: str) -> bool:
    """Whether the approval is pending and its deadline has passed."""
    if approval.deadline is None or not isinstance(approval.state, Pending):
        return False
    return seconds_until(approval.deadline, now) <= 0


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
