"""The arguments of `interlock tui`."""

from interlock.cli.arguments import ModelArgs
from interlock.domain.values.autonomy import Autonomy


class TuiArgs(ModelArgs, frozen=True):
    auto_queue: bool
    workers: int | None
    autonomy: Autonomy | None
    plain: bool
