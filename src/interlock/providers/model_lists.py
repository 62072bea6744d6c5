"""The models that a vendor or a server of the user lists, over their list endpoints."""

from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import quote

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from interlock.errors import Misconfigured, Unavailable
from interlock.providers.anthropic import request as anthropic
from interlock.providers.endpoints import HOSTED, HttpAccess, provider_facts
from interlock.providers.gemini import request as gemini
from interlock.providers.http.channel import Bounds, Channel, Endpoint
from interlock.providers.openai.context_size import sane

LIST_BOUNDS = Bounds(connect_s=10, idle_s=20, whole_s=60, answer_bytes=32_000_000, event_bytes=32_000_000)
_MOST_MODELS = 5_000
_MOST_PAGES = 20
_LONGEST_NAME = 200
_CONTEXT = ("max_model_len", "context_length", "context_window", "max_context_length", "inputTokenLimit")
_OUTPUT = ("outputTokenLimit", "max_output_tokens", "max_completion_tokens")


class ListedModel(Struct, frozen=True, omit_defaults=True):
    name: str
    context: int = 0  # tokens; 0: the list does not say it
    output: int = 0


class _Page(Struct, frozen=True):
    models: tuple[ListedModel, ...]
    next: str = ""  # the query of the next page


async def listed_models(provider: str, access: HttpAccess) -> tuple[ListedModel, ...]:
    """All models by name. Raises Misconfigured and Unavailable with a sentence."""
    if provider not in HOSTED:
        raise Misconfigured(f"{provider!r} has no list of models")
    facts = provider_facts(provider)
    base = (access.base_url or facts.base_url).strip().rstrip("/")
    endpoint = Endpoint(
        provider=provider,
        base_url=base.removesuffix("/v1") if provider == "ollama" else base,
        key=access.key or str,
        key_name=facts.key_name,
        headers=access.headers,
        plain_http=access.plain_http,
        proxy=access.proxy,
        trust=access.trust,
    )
    channel = Channel(endpoint, redact=access.redact, bounds=access.bounds or LIST_BOUNDS)
    models: dict[str, ListedModel] = {}
    query = _FIRST.get(provider, "")
    for _ in range(_MOST_PAGES):
        path = _PATHS.get(provider, "/models")
        body = await channel.call("GET", path + query, b"", _HEADERS.get(provider, _bearer), model="")
        page = _page(provider, body)
        models |= {model.name: model for model in page.models}
        query = page.next
        if not query or len(models) >= _MOST_MODELS:
            break
    if not models:
        raise Unavailable(f"the list of {provider} names no model")
    return tuple(sorted(models.values(), key=lambda model: model.name))[:_MOST_MODELS]


def _bearer(key: str) -> Mapping[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}


def _for_anthropic(key: str) -> Mapping[str, str]:
    return {"x-api-key": key, "anthropic-version": anthropic.VERSION}


_PATHS = {"anthropic": "/v1/models", "gemini": f"/{gemini.VERSION}/models", "ollama": "/api/tags"}
_FIRST = {"anthropic": "?limit=1000", "gemini": "?pageSize=1000"}
_HEADERS = {"anthropic": _for_anthropic, "gemini": gemini.headers}


def _page(provider: str, body: bytes) -> _Page:
    try:
        answer: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        raise Unavailable(f"the list of {provider} is no JSON") from None
    fields = cast("dict[str, Any]", answer) if isinstance(answer, dict) else {}
    rows = fields.get("models" if provider in ("gemini", "ollama") else "data")
    if not isinstance(rows, list):
        raise Unavailable(f"the answer of {provider} is no list of models")
    entries = [cast("dict[str, Any]", row) for row in cast("list[object]", rows) if isinstance(row, dict)]
    models = tuple(model for entry in entries if (model := _model(provider, entry)) is not None)
    return _Page(models, _next(provider, fields))


def _next(provider: str, fields: Mapping[str, Any]) -> str:
    token = fields.get("nextPageToken") if provider == "gemini" else fields.get("last_id")
    if not isinstance(token, str) or not token or len(token) > 1_000:
        return ""
    if provider == "gemini":
        return f"?pageSize=1000&pageToken={quote(token, safe='')}"
    more = provider == "anthropic" and fields.get("has_more") is True
    return f"?limit=1000&after_id={quote(token, safe='')}" if more else ""


def _model(provider: str, entry: Mapping[str, Any]) -> ListedModel | None:
    name = entry.get("name" if provider in ("gemini", "ollama") else "id")
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
        return None
    methods = entry.get("supportedGenerationMethods")
    if provider == "gemini" and isinstance(methods, list) and "generateContent" not in methods:
        return None  # it embeds, or makes pictures
    model = ListedModel(name.removeprefix("models/") if provider == "gemini" else name)
    return replace(model, context=_size(entry, _CONTEXT), output=_size(entry, _OUTPUT))


def _size(entry: Mapping[str, Any], names: Sequence[str]) -> int:
    return next(filter(None, (sane(entry.get(name)) for name in names)), 0) or 0
