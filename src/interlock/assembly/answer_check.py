"""Checks an edited text when it is given as an answer, so that the person who edited it learns of a mistake."""

from collections.abc import Callable
from typing import Any

from msgspec import MsgspecError
from msgspec.json import decode

from interlock.codeviews.python.structure import PythonStructure
from interlock.domain.checks.closed_names import ClosedNames
from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.command import Command
from interlock.domain.state.state import State
from interlock.domain.values.approvals import ScriptPayload, ToolPayload
from interlock.errors import BadValue
from interlock.ports.processes import Sandbox
from interlock.tools.catalogue import Web
from interlock.tools.registry import WorkerTools
from interlock.tools.shell import problem_with


class AnswerCheck:
    """Called with each command before it is decided. Raises BadValue for an edit that could not run."""

    def __init__(self, sandbox: Sandbox, names: ClosedNames, web: Callable[[], Web | None] = lambda: None) -> None:
        self._sandbox = sandbox
        self._web = web
        self._names = names
        self._made: WorkerTools | None = None  # made at the first edit

    def __call__(self, command: Command, state: State) -> None:
        if not isinstance(command, AnswerApproval) or command.edited is None or command.decision != "approve":
            return
        approval = state.approvals.get(command.approval)
        if approval is None:
            return
        match approval.payload:
            case ScriptPayload():
                problem = problem_with(command.edited)
            case ToolPayload(tool=tool) if approval.kind == "tool":
                problem = self._tools.problem(tool, _arguments(command.edited))
            case _:
                problem = None
        if problem:
            raise BadValue(f"the edit cannot run: {problem}")

    @property
    def _tools(self) -> WorkerTools:
        if self._made is None:
            self._made = WorkerTools(self._sandbox, {}, PythonStructure(), self._names, web=self._web())
        return self._made


def _arguments(text: str) -> dict[str, Any]:
    try:
        return decode(text, type=dict[str, Any])
    except MsgspecError as error:
        raise BadValue(f"the edited arguments must be a JSON object: {error}") from None
