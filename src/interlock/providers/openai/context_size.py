"""Asks a server with OpenAI's protocol for its context size: late, with a short deadline, at most twice per model.

Each server says it in its own way. A server that does not say it, or says something absurd, is not believed; the
request then goes out with the known limit. Ollama states the size only of a loaded model, so it is asked again after
the first request.
"""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import msgspec

from interlock.errors import InterlockError
from interlock.providers.http.channel import Bounds, Channel, Method

DEADLINE_S = 3.0
LEAST, MOST = 512, 16_000_000
"""A smaller or larger number is no context size."""
OLLAMA_DEFAULT = 4_096
"""The context of a model in Ollama that sets no other; longer requests are cut without a message."""
ASKED_BOUNDS = Bounds(connect_s=2, idle_s=DEADLINE_S, whole_s=DEADLINE_S, answer_bytes=4_000_000, event_bytes=4_000_000)

_MOST_ASKED = 2
_NUM_CTX = re.compile(r"^\s*num_ctx\s+(\d+)\s*$", re.MULTILINE)
_MODEL_FIELDS = ("max_model_len", "loaded_context_length", "context_length", "context_window", "max_context_length")
_META_FIELDS = ("n_ctx", "n_ctx_train")


class ContextSize:
    """`channel` leads to the server's root, above `/v1`. `unknown` tells the models that are asked about."""

    def __init__(
        self,
        channel: Channel,
        headers: Callable[[str], Mapping[str, str]],
        unknown: Callable[[str], bool],
        *,
        ollama: bool,
    ) -> None:
        self._channel = channel
        self._unknown = unknown
        self._headers = headers
        self._ollama = ollama
        self._known: dict[str, int | None] = {}
        self._asked: dict[str, int] = {}

    def known(self, model: str) -> int | None:
        return self._known.get(model)

    async def of(self, model: str) -> int | None:
        """The context size of this model in tokens; None if the server does not say it."""
        if self._asked.get(model, 0) < _MOST_ASKED and self._unknown(model):
            self._asked[model] = self._asked.get(model, 0) + 1
            try:
                async with asyncio.timeout(DEADLINE_S):
                    size, final = await (self._of_ollama(model) if self._ollama else self._of_others(model))
            except TimeoutError:
                size, final = None, True
            self._known[model] = size or self._known.get(model)
            if final:
                self._asked[model] = _MOST_ASKED
        return self._known.get(model)

    async def _of_ollama(self, model: str) -> tuple[int | None, bool]:
        """The size, and whether it cannot change any more."""
        running = await self._get("/api/ps")
        if running is None:
            return await self._of_others(model)  # another server at Ollama's address
        for entry in _objects(running.get("models")):
            if _same_model(model, entry) and (size := sane(entry.get("context_length"))):
                return size, True
        shown = await self._get("/api/show", {"model": model}) or {}
        set_to = _NUM_CTX.search(str(shown.get("parameters", "")))
        info = shown.get("model_info")
        most = _largest(cast("dict[str, Any]", info)) if isinstance(info, dict) else None
        size = sane(int(set_to[1])) if set_to else None
        return min(size or OLLAMA_DEFAULT, most or MOST), False

    async def _of_others(self, model: str) -> tuple[int | None, bool]:
        listed = await self._get("/v1/models") or {}
        entries = _objects(listed.get("data"))
        named = [entry for entry in entries if entry.get("id") == model] or (entries if len(entries) == 1 else [])
        for entry in named:
            if size := _first(entry, _MODEL_FIELDS):
                return size, True
        props = await self._get("/props") or {}
        if size := _first(_object(props.get("default_generation_settings")), ("n_ctx",)):
            return size, True
        sizes = (_first(_object(entry.get("meta")), _META_FIELDS) for entry in named)
        return next(filter(None, sizes), None), True

    async def _get(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any] | None:
        method: Method = "GET" if body is None else "POST"
        sent = b"" if body is None else msgspec.json.encode(body)
        try:
            answer: Any = msgspec.json.decode(await self._channel.call(method, path, sent, self._headers, model=""))
        except (InterlockError, msgspec.MsgspecError, RecursionError):
            return None  # the server does not know this question
        return cast("dict[str, Any]", answer) if isinstance(answer, dict) else None


def sane(value: object) -> int | None:
    """The number if it can be a context size."""
    return value if isinstance(value, int) and not isinstance(value, bool) and LEAST <= value <= MOST else None


def _first(fields: Mapping[str, Any], names: Sequence[str]) -> int | None:
    return next(filter(None, (sane(fields.get(name)) for name in names)), None)


def _largest(info: Mapping[str, Any]) -> int | None:
    """What the model was trained for: `llama.context_length` and its like."""
    return next(filter(None, (sane(value) for name, value in info.items() if name.endswith(".context_length"))), None)


def _same_model(model: str, entry: Mapping[str, Any]) -> bool:
    """Ollama names the newest edition with and without `:latest`."""
    return f"{model}:latest" in (entry.get("name"), entry.get("model")) or model in (
        entry.get("name"),
        entry.get("model"),
    )


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _objects(value: object) -> list[dict[str, Any]]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]
