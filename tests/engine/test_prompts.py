"""Own prompts follow the shipped ones or replace them, in every conversation but the judge's."""

import asyncio
from typing import Any

from interlock.domain.messages.commands.discussion_commands import StartDiscussion
from interlock.domain.values.gates import Gate
from interlock.domain.values.tickets import TicketSpec
from interlock.engine.prompts.load import NO_OWN, TIER_PROMPTS, OwnPrompts, load_prompt
from tests.engine.world import ANN, World

OWN = OwnPrompts({tier: f"Own words for {tier}." for tier in TIER_PROMPTS})


def test_an_own_prompt_is_appended_or_replaces() -> None:
    shipped = load_prompt("tier3_worker")
    assert (NO_OWN.system("tier3_worker"), NO_OWN.note("tier3_worker")) == (shipped, "")
    text = OWN.system("tier3_worker")
    assert text.startswith(shipped.rstrip())
    assert text.endswith("## Instructions of the person you work for\n\nOwn words for tier3.\n")
    replaced = OwnPrompts(OWN.texts, replaces=True)
    assert replaced.system("tier4_analysis") == "Own words for tier4.\n"
    assert (OWN.note("tier1_orchestrator"), replaced.note("discussion")) == (
        "with your prompt at its end",
        "replaced by your prompt",
    )
    assert replaced.system("judge") == load_prompt("judge")


def test_every_conversation_gets_its_own_prompt_and_the_judge_none() -> None:
    async def story() -> None:
        world = World()
        world.prompts = OWN
        fails: dict[str, Any] = {"name": "run_shell", "args": {"script": "make"}}
        world.tools.exit_codes["make"] = 2
        world.rules = [
            {"match": "# Ticket one", "tool_calls": [fails]},
            {"match": "# A script failed", "reply": "It is broken."},
            {"match": "run_shell done", "reply": "Done."},
            {"match": "", "reply": "PASS: fine"},
        ]
        async with world.process(approve_all=True) as process:
            await process.run(TicketSpec(id="one", verify=(Gate("", criteria="good"),)))
            await process.until(lambda state: state.ticket("a", "one").status != "todo" and len(world.requests) >= 3)
            await process.workbench.submit(ANN, StartDiscussion("x"))
            await process.say("hello")
            await process.until(lambda state: len(state.discussion("D-1").messages) == 2)
        systems = {request.tier: request.system for request in world.requests}
        assert "Own words for tier3." in systems["Tier 3"]
        assert "Own words for discussion." in systems["Discussion"]
        analyses = [request.system for request in world.requests if "# A script failed" in request.messages[-1].text]
        assert [text.endswith("Own words for tier4.\n") for text in analyses] == [True]

    asyncio.run(story())
