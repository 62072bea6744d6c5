"""Restores texts with secrets where they run or are judged, and conceals what comes back."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from interlock.engine.bench.concealing import conceal_texts
from interlock.errors import Rejected, ToolFailure
from interlock.ports.secrets import Vault
from interlock.ports.tools import Preview, ToolOutcome, ToolPlace, Tools, ToolSpec, is_outside
from interlock.ports.work import Policy, PolicyVerdict


class RevealingTools:
    """Tools whose arguments may contain marks of secrets."""

    def __init__(self, tools: Tools, vault: Vault) -> None:
        self._tools = tools
        self._vault = vault

    def offered(self, *, changing: bool) -> tuple[ToolSpec, ...]:
        return self._tools.offered(changing=changing)

    def why_off(self, name: str) -> str:
        return self._tools.why_off(name)

    async def preview(self, place: ToolPlace, name: str, args: dict[str, Any]) -> Preview:
        shown = await self._tools.preview(place, name, self._exact(name, args))
        return conceal_texts(shown, self._vault.conceal, self._vault.redact)

    async def texts(self, place: ToolPlace, paths: Sequence[str]) -> dict[str, str | None]:
        return await self._tools.texts(place, paths)

    async def run(
        self, place: ToolPlace, name: str, args: dict[str, Any], hunks: tuple[int, ...] | None = None
    ) -> ToolOutcome:
        try:
            exact = self._exact(name, args)
        except ToolFailure as error:
            return ToolOutcome(str(error), failed=True)
        return await self._tools.run(place, name, exact, hunks)

    def _exact(self, name: str, args: dict[str, Any]) -> dict[str, Any]:
        try:
            exact = conceal_texts(args, self._vault.reveal, self._vault.reveal)
        except Rejected as error:
            raise ToolFailure(str(error)) from error
        if exact != args and is_outside(self._tools, name):
            raise ToolFailure("The arguments contain a secret. Secrets are not sent to other machines or programs.")
        return exact


class RevealingPolicy:
    """Judges exact texts; a verdict never quotes a secret."""

    def __init__(self, policy: Policy, vault: Vault) -> None:
        self._policy = policy
        self._vault = vault

    def script(self, script: str, directory: str, own: Sequence[str] = ()) -> PolicyVerdict:
        reveal = self._vault.reveal
        try:
            exact, gates = reveal(script), [reveal(command) for command in own]
        except Rejected as error:
            return PolicyVerdict("ask", "", str(error))
        verdict = self._policy.script(exact, directory, gates)
        return replace(verdict, reason=self._vault.redact(verdict.reason))

    def tool(self, name: str, paths: Sequence[str] = (), hosts: Sequence[str] = ()) -> PolicyVerdict:
        return self._policy.tool(name, paths, hosts)
