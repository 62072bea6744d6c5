"""Conformance of all models, including scripted ones and separate programs."""

import asyncio
import json
import shlex
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from msgspec import Struct

from interlock.errors import Unavailable
from interlock.ports.model import Message, Model
from interlock.providers.cli_agent.gemini_cli import GeminiCli
from interlock.providers.scripted import CallRule, ScriptedModel, ScriptedRule, UsageRule
from interlock.sandbox.levels.bubblewrap import BubblewrapSandbox
from tests.providers.loopback import Fault, serving
from tests.providers.scripts import Called, Scripted
from tests.providers.vendors import VENDORS, Vendor, request
from tests.sandbox.scenes import ENV

SCRIPT = Scripted(("Look", "ing."), calls=(Called("c", "grep", ('{"pattern": "ä"}',)),), stop="tools")

AGENT = """
import json, sys, time
sys.stdin.read()
def say(**event): print(json.dumps(event), flush=True)
say(type="message", role="assistant", content="Look", delta=True)
if sys.argv[1] == "broken":
    sys.exit(0)
say(type="message", role="assistant", content="ing.\\n\\n```tool_call\\n" + sys.argv[2] + "\\n```\\n", delta=True)
say(type="result", status="success", stats={"input_tokens": 100, "output_tokens": 20})
"""


Opened = Callable[[Path, bool], AbstractAsyncContextManager[Model]]


class Maker(Struct, frozen=True):
    name: str
    opened: Opened
    streams_calls: bool = False  # the streamed text includes the calls


def over_http(vendor: Vendor) -> Opened:
    @asynccontextmanager
    async def opened(folder: Path, broken: bool) -> AsyncGenerator[Model]:
        async with serving(vendor.playing(lambda _: SCRIPT), Fault("end", 500) if broken else None) as server:
            yield vendor.create_model(server.url)

    return opened


@asynccontextmanager
async def by_rules(folder: Path, broken: bool) -> AsyncGenerator[Model]:
    call = CallRule("grep", {"pattern": "ä"})
    usage = UsageRule(100, 20)
    yield ScriptedModel(
        [ScriptedRule("", reply="Looking.", tool_calls=(call,), usage=usage, fault="cut" if broken else None)]
    )


@asynccontextmanager
async def by_a_program(folder: Path, broken: bool) -> AsyncGenerator[Model]:
    file, home = folder / "agent.py", folder / "home"
    file.write_text(AGENT)
    home.mkdir()
    words = [
        sys.executable,
        str(file),
        "broken" if broken else "well",
        json.dumps({"name": "grep", "args": {"pattern": "ä"}}),
    ]
    yield GeminiCli(shlex.join(words), BubblewrapSandbox(), {**ENV, "HOME": str(home)}, folder / "own")


MAKERS = [
    *(Maker(vendor.provider, over_http(vendor)) for vendor in VENDORS),
    Maker("scripted", by_rules),
    Maker("gemini_cli", by_a_program, streams_calls=True),
]
each = pytest.mark.parametrize("maker", MAKERS, ids=[maker.name for maker in MAKERS])


@each
def test_a_model_streams_its_text_and_returns_its_calls_and_usage(maker: Maker, tmp_path: Path) -> None:
    async def story() -> None:
        pieces: list[str] = []
        async with maker.opened(tmp_path, False) as model:
            assert model.name == maker.name
            assert model.quote(request()) == 0, "no price is configured"
            reply = await model.complete(request(), pieces.append)
        text = "".join(pieces)
        assert len(pieces) > 1
        assert text.startswith("Looking.") if maker.streams_calls else text == "Looking."
        assert reply.message.text == "Looking."
        assert [(call.name, call.args, call.unread) for call in reply.message.calls] == [("grep", {"pattern": "ä"}, "")]
        assert reply.stop == "tools"
        assert (reply.usage.input, reply.usage.output, reply.usage.cost) == (100, 20, 0)

    asyncio.run(story())


@each
def test_an_interrupted_answer_is_unavailable_and_may_have_a_cost(maker: Maker, tmp_path: Path) -> None:
    async def story() -> None:
        async with maker.opened(tmp_path, True) as model:
            await model.complete(request(Message("user", "Hello.")), [].append)

    with pytest.raises(Unavailable) as caught:
        asyncio.run(story())
    assert caught.value.may_cost
