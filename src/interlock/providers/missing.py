"""The model used until one is chosen: every call fails with the reason."""

from interlock.domain.values.budgets import Micros
from interlock.errors import Misconfigured
from interlock.ports.model import ModelRequest, OnText, Reply, ignore_text


class MissingModel:
    def __init__(self, name: str, why: str) -> None:
        self._name = name or "none"
        self._why = why

    @property
    def name(self) -> str:
        return self._name

    def quote(self, request: ModelRequest) -> Micros:
        return 0

    async def complete(self, request: ModelRequest, on_text: OnText, on_reasoning: OnText = ignore_text) -> Reply:
        raise Misconfigured(self._why)
