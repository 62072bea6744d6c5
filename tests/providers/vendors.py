"""Every provider over HTTP, with the fake server of its vendor; one test suite runs for all of them."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from interlock.ports.model import Message, ModelRequest
from interlock.ports.tools import ToolSpec
from interlock.providers.endpoints import HttpAccess, ModelUse, hosted_model, provider_facts
from interlock.providers.gemini.model import GeminiModel
from interlock.providers.http.channel import Bounds
from interlock.providers.http.http_model import HttpModel
from tests.providers import anthropic_server, gemini_server, openai_server, responses_server
from tests.providers.loopback import Json, Loopback, Play, Request
from tests.providers.scripts import Scripted

READ = ToolSpec("read_file", "Reads.", {"type": "object", "properties": {"path": {"type": "string"}}}, changes=False)
GREP = ToolSpec("grep", "Looks.", {"type": "object", "properties": {}}, changes=False)


class Vendor(Struct, frozen=True):
    provider: str
    key: str
    model: str
    playing: Callable[[Callable[[Request], Scripted]], Play]
    events: Callable[[Scripted, str], list[bytes]]
    path: str = ""  # appended to the server's address
    writes_cache: bool = False  # reports the tokens written to its cache
    signs_thoughts: bool = False
    returned: Callable[[str], str] | None = None  # the form in which a thought before a call is sent back
    says_its_end: bool = True  # an answer has a last event; else it ends with the stream
    fixed_history: bool = False  # refuses thinking if anything before it has changed
    api: str = ""  # where a provider has several

    @property
    def name(self) -> str:
        return f"{self.provider} {self.api}".strip()

    def asked(self, server: Loopback) -> list[Json]:
        """The bodies of all model calls, completed with the content of the caches that they name."""
        kept: dict[str, Json] = {}
        asked: list[Json] = []
        for sent in server.requests:
            if sent.target.endswith("/cachedContents"):
                kept[f"cachedContents/c{len(kept)}"] = sent.json
            elif sent.method == "POST":
                cache = kept.get(sent.json.get("cachedContent", ""), {})
                asked.append({**{name: cache[name] for name in cache if name != "model"}, **sent.json})
        return asked

    def create_model(self, url: str, **more: Any) -> HttpModel | GeminiModel:
        """`more` holds `environ`, and fields of `HttpAccess` and `ModelUse`."""
        environ = more.pop("environ", {provider_facts(self.provider).key_name.partition(" ")[0]: self.key})
        more.setdefault("ask_context", False)  # tests/providers/openai/test_context_size.py does
        given = {name: more.pop(name) for name in HttpAccess.__struct_fields__ if name in more}
        fields: dict[str, Any] = {"base_url": url + self.path, "bounds": Bounds(idle_s=30, whole_s=60), **given}
        return hosted_model(self.provider, environ, HttpAccess(**fields), ModelUse(model=self.model, **more))


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
        returned=str,
        fixed_history=True,
    ),
    Vendor("openai", openai_server.KEY, openai_server.MODEL, openai_server.playing, openai_server.chunks, "/v1"),
    Vendor(
        "openai",
        openai_server.KEY,
        responses_server.MODEL,
        responses_server.playing,
        responses_server.events,
        "/v1",
        signs_thoughts=True,
        returned=responses_server.sealed,
        api="responses",
    ),
    Vendor(
        "deepseek",
        openai_server.KEY,
        openai_server.MODEL,
        _deepseek,
        openai_server.chunks,
        "/v1",
        signs_thoughts=True,
        returned=str,
    ),
    Vendor(
        "gemini",
        gemini_server.KEY,
        gemini_server.MODEL,
        gemini_server.playing,
        gemini_server.events,
        signs_thoughts=True,
        returned=gemini_server.signature,
        says_its_end=False,
    ),
]


def tool_names(body: Json) -> list[str]:
    """The names of the tools in a request of any vendor."""
    tools = body.get("tools", [])
    declared = [one for tool in tools for one in tool.get("functionDeclarations", [])] or tools
    return [one.get("function", one)["name"] for one in declared]


def may_call(body: Json) -> bool:
    choice = body.get("tool_choice", body.get("toolConfig", {}).get("functionCallingConfig", {}).get("mode", "auto"))
    return choice not in ("none", {"type": "none"}, "NONE")


def request(*messages: Message, **more: Any) -> ModelRequest:
    history = messages or (Message("user", "Hello."),)
    return ModelRequest(
        "Tier 3", None, None, more.pop("system", "Be exact."), history, more.pop("tools", (READ, GREP)), **more
    )
