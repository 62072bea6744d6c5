"""System prompts: the shipped ones from this folder, with the person's own texts."""

from importlib.resources import files
from typing import Literal

from msgspec import Struct

Tier = Literal["tier1", "tier2", "tier3", "tier4", "discussion"]

TIER_PROMPTS: dict[Tier, tuple[str, ...]] = {
    "tier1": ("tier1_orchestrator",),
    "tier2": ("tier2_tech_lead",),
    "tier3": ("tier3_worker", "cli_agent"),
    "tier4": ("tier4_qa", "tier4_analysis"),
    "discussion": ("discussion",),
}
"""The prompts of each tier. The judge's is not among them: nobody should be able to make a gate milder by a prompt."""

_HEADING = "## Instructions of the person you work for"


class OwnPrompts(Struct, frozen=True):
    """A person's texts by tier. They follow the shipped prompts, or replace them."""

    texts: dict[Tier, str] = {}
    replaces: bool = False

    def system(self, name: str) -> str:
        """The system prompt with this name."""
        shipped, own = load_prompt(name), self.of(name)
        if not own:
            return shipped
        return f"{own}\n" if self.replaces else f"{shipped.rstrip()}\n\n{_HEADING}\n\n{own}\n"

    def of(self, name: str) -> str:
        return next((self.texts.get(tier, "").strip() for tier, names in TIER_PROMPTS.items() if name in names), "")

    def note(self, name: str) -> str:
        """How the prompt with this name differs from the shipped one, in a few words."""
        if not self.of(name):
            return ""
        return "replaced by your prompt" if self.replaces else "with your prompt at its end"


NO_OWN = OwnPrompts()


def load_prompt(name: str) -> str:
    return (files("interlock.engine.prompts") / f"{name}.md").read_text(encoding="utf-8")
