"""A CLI agent as the model of a tier: it answers one prompt in an empty folder, and every tool call is denied."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from interlock.cli_workers.local import LocalCliAgents
from interlock.domain.values.budgets import Micros
from interlock.domain.values.tickets import AGENT
from interlock.errors import Misconfigured
from interlock.ports.cli_agents import AgentAnswer, AgentRun, CallDecision
from interlock.ports.model import (
    Message,
    Model,
    ModelRequest,
    OnText,
    Reply,
    close_model,
    fixes_history,
    ignore_text,
    model_name,
)
from interlock.ports.tools import ToolPlace

_FOLDER = ".answers"  # no track can have this name
_DENIED = "You answer without tools here: everything you need is in the prompt. Give your answer as text."


class AgentAnswers:
    """Asks agents for answers without tools. `folder` is where their empty folders are made."""

    def __init__(self, agents: LocalCliAgents, folder: Path) -> None:
        self._agents = agents
        self._folder = folder
        self._number = 0

    async def complete(self, request: ModelRequest, agent: str, on_text: OnText) -> Reply:
        """Raises Misconfigured if the agent cannot be held back from acting, or if tools are wanted."""
        if request.tools:
            raise Misconfigured(f"a discussion needs a model; the agent {agent!r} can plan, analyse and do tickets")
        if not self._agents.terms(agent).supervised:
            raise Misconfigured(f"the agent {agent!r} asks nothing before it acts, so it can only do tickets")
        self._number += 1
        name = str(self._number)
        place = self._folder / _FOLDER / name
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        prompt = "\n\n".join((request.system_text, *_texts(request.messages)))
        run = AgentRun(agent, _FOLDER, f"{name}-home", 1, prompt, ToolPlace(str(place)), on_text, lambda _: None)
        try:
            session = await self._agents.start(run)
            while True:
                following = await session.next()
                if isinstance(following, AgentAnswer):
                    message = Message("assistant", following.text)
                    return Reply(message, following.usage, f"{AGENT}{agent}")
                session.decide(following.call.id, CallDecision(False, _DENIED))
        finally:
            await self._agents.end(_FOLDER, f"{name}-home", forget=True)
            shutil.rmtree(place, ignore_errors=True)


class RoutedModel:
    """Sends requests that name an agent to the agent, all others to the user's model."""

    def __init__(self, inner: Model | None, answers: AgentAnswers, none: str) -> None:
        self._inner = inner
        self._answers = answers
        self._none = none  # what to say without a model

    @property
    def name(self) -> str:
        return "agents" if self._inner is None else self._inner.name

    @property
    def usual(self) -> str:
        return "" if self._inner is None else model_name(self._inner)

    def fixes_history(self, model: str | None) -> bool:
        return self._inner is not None and fixes_history(self._inner, model)

    def quote(self, request: ModelRequest) -> Micros | None:
        """An agent makes calls that Interlock does not see: there is no limit to what it costs."""
        return None if self._inner is None or _agent(request) else self._inner.quote(request)

    async def complete(self, request: ModelRequest, on_text: OnText, on_reasoning: OnText = ignore_text) -> Reply:
        if agent := _agent(request):
            return await self._answers.complete(request, agent, on_text)
        if self._inner is None:
            raise Misconfigured(self._none)
        return await self._inner.complete(request, on_text, on_reasoning)

    async def close(self) -> None:
        if self._inner is not None:
            await close_model(self._inner)


def _agent(request: ModelRequest) -> str:
    model = request.model or ""
    return model.removeprefix(AGENT) if model.startswith(AGENT) else ""


def _texts(messages: Sequence[Message]) -> list[str]:
    return [f"You said before:\n{one.text}" if one.role == "assistant" else one.text for one in messages]
