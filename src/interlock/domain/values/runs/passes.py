"""Passes of gates that may be reused: a bounded list, newest first."""

from collections.abc import Sequence

from msgspec import Struct

from interlock.domain.values.gates import GateInputs, Reused

MOST_PASSES = 200
"""Older ones are forgotten: their gates run again."""


class Pass(Struct, frozen=True, gc=False):
    """A recorded run that passed, and what it depended on."""

    inputs: GateInputs
    source: Reused


def with_pass(passes: tuple[Pass, ...], new: Pass) -> tuple[Pass, ...]:
    """The list with this pass first; it replaces one with the same inputs."""
    others = (one for one in passes if one.inputs != new.inputs)
    return (new, *others)[:MOST_PASSES]


def passes_of(passes: Sequence[Pass], run: str) -> tuple[Pass, ...]:
    """The passes of runs with this digest, newest first; whether the tools are the same is not compared."""
    return tuple(one for one in passes if one.inputs.run == run)
