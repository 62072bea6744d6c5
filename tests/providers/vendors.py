"""Every provider over HTTP with the server that plays its vendor: one entry each, and one suite for all."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from interlock.model_port import Message, ModelRequest
from interlock.ports import ToolSpec
from interlock.providers.channel import Bounds
from interlock.providers.hosted import hosted_model, place_of
from interlock.providers.http_model import HttpModel
from tests.providers import anthropic_server, openai_server
from tests.providers.loopback import Play, Request
from tests.providers.scripts import Scripted

READ = ToolSpec("read_file", "Reads.", {"type": "object", "properties": {"path": {"type": "string"}}}, changes=False)
GREP = ToolSpec("grep", "Looks.", {"type": "object", "properties": {}}, changes=False)


class Vendor(Struct, frozen=True):
    provider: str
    key: str
    model: str
    playing: Callable[[Callable[[Request], Scripted]], Play]
    events: Callable[[Scripted, str], list[bytes]]
    path: str = ""  # after the address
    writes_cache: bool = False  # it tells what it wrote into its cache
    signs_thoughts: bool = False

    def made(self, url: str, **more: Any) -> HttpModel:
        bounds = more.pop("bounds", None) or Bounds(idle_s=30, whole_s=60)
        environ = {place_of(self.provider).key_name: self.key}
        return hosted_model(
            self.provider,
            more.pop("environ", environ),
            base_url=url + self.path,
            model=self.model,
            bounds=bounds,
            **more,
        )


def _deepseek(scripted: Callable[[Request], Scripted]) -> Play:
    return openai_server.playing(scripted, thinks=True)


VENDORS = [
    Vendor(
        "anthropic",
        anthropic_server.KEY,
        anthropic_server.MODEL,
        anthropic_server.playing,
        anthropic_server.events,
        writes_cache=True,
        signs_thoughts=True,
    ),
    Vendor("openai", openai_server.KEY, openai_server.MODEL, openai_server.playing, openai_server.chunks, "/v1"),
    Vendor("deepseek", openai_server.KEY, openai_server.MODEL, _deepseek, openai_server.chunks, "/v1"),
]


def request(*messages: Message, **more: Any) -> ModelRequest:
    told = messages or (Message("user", "Hello."),)
    return ModelRequest(
        "Tier 3", None, None, more.pop("system", "Be exact."), told, more.pop("tools", (READ, GREP)), **more
    )
