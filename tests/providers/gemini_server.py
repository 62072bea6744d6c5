"""A fake of Gemini's API as documented: generateContent, streamed or whole, and cachedContents. It accepts and refuses
the same requests as the vendor, and answers with a script.
"""

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Any

from tests.providers.loopback import Answer, Json, Play, Refused, Request
from tests.providers.scripts import Called, Scripted

KEY = "AIza-a-key-for-tests-0001"
MODEL = "gemini-2.5-flash-lite"
NEWER = "gemini-3.8-flash"
UNSIGNED = "skip_thought_signature_validator"
SMALLEST = 1_024  # the vendor's minimal number of tokens of a cache

_TOP = {"contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings", "cachedContent"}
_CACHE = {"model", "contents", "systemInstruction", "tools", "toolConfig", "ttl", "expireTime", "displayName"}
_GENERATION = {
    "temperature", "maxOutputTokens", "thinkingConfig", "topP", "topK", "candidateCount", "stopSequences", "seed",
    "responseMimeType", "responseSchema", "responseJsonSchema",
}  # fmt: skip
_SCHEMA = {
    "type", "format", "title", "description", "nullable", "enum", "items", "maxItems", "minItems", "properties",
    "required", "minProperties", "maxProperties", "minLength", "maxLength", "pattern", "example", "anyOf",
    "propertyOrdering", "default", "minimum", "maximum",
}  # fmt: skip
_TYPES = {"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"}
_NAME = r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"


class GeminiServer:
    """Also keeps the existing, the created and the deleted caches."""

    def __init__(self, scripted: Callable[[Request], Scripted]) -> None:
        self._scripted = scripted
        self.caches: dict[str, Json] = {}
        self.created: list[str] = []
        self.deleted: list[str] = []
        self.too_small = 0  # a cache must have more tokens, at four bytes each

    async def play(self, request: Request) -> Answer:
        _check_key(request)
        path, _, query = request.target.partition("?")
        if path.startswith("/v1/cachedContents"):
            return self._keep(request, path)
        match = re.fullmatch(r"/v1/models/([^/:]+):(streamGenerateContent|generateContent)", path)
        if request.method != "POST" or match is None:
            raise _error(404, "NOT_FOUND", "Requested entity was not found.")
        model, streamed = match[1], match[2].startswith("stream")
        if streamed and query != "alt=sse":
            raise _bad("only alt=sse is played here")
        body = self.check(request.json, model)
        script = self._scripted(request)
        await script.wait()
        if "cachedContent" in body:
            count = _tokens(self.caches[body["cachedContent"]])
            script = Scripted(
                script.text, script.reasoning, script.calls, script.stop, script.input, script.output, count
            )
        if streamed:
            return Answer(pieces=tuple(events(script, model)))
        return Answer(
            headers=(("content-type", "application/json"),), pieces=(json.dumps(whole(script, model)).encode(),)
        )

    def check(self, body: Json, model: str = MODEL) -> Json:
        """The request's body; raises Refused with the vendor's status and error message."""
        if model not in (MODEL, NEWER):
            raise _error(404, "NOT_FOUND", f"models/{model} is not found for API version v1.")
        _known("", body, _TOP)
        if "cachedContent" in body:
            if {"systemInstruction", "tools", "toolConfig"} & set(body):
                raise _bad(
                    "CachedContent can not be used with GenerateContent request setting system_instruction, tools or"
                    " tool_config. Proposed fix: move those values to CachedContent from GenerateContent request."
                )
            kept = self.caches.get(body["cachedContent"])
            if kept is None:
                raise _error(403, "PERMISSION_DENIED", "CachedContent not found (or permission denied)")
            if kept["model"] != f"models/{model}":
                raise _bad("Model used by GenerateContent request and CachedContent has to be the same.")
        _known("generation_config", body.get("generationConfig", {}), _GENERATION)
        _check_stable(body)
        _check_contents(body.get("contents", []), newer=model == NEWER)
        return body

    def _keep(self, request: Request, path: str) -> Answer:
        name = path.removeprefix("/v1/")
        if request.method == "DELETE":
            if self.caches.pop(name, None) is None:
                raise _error(403, "PERMISSION_DENIED", "CachedContent not found (or permission denied)")
            self.deleted.append(name)
            return _plain({})
        if request.method != "POST" or name != "cachedContents":
            raise _error(404, "NOT_FOUND", "Requested entity was not found.")
        body = request.json
        _known("cached_content", body, _CACHE)
        if body.get("model") not in (f"models/{MODEL}", f"models/{NEWER}"):
            raise _bad("* CreateCachedContentRequest.cached_content.model: model is required")
        if not re.fullmatch(r"\d+(\.\d+)?s", body.get("ttl", "")):
            raise _bad("Invalid value at 'cached_content.ttl'")
        _check_stable(body)
        if (count := _tokens(body)) < max(SMALLEST, self.too_small):
            raise _bad(f"Cached content is too small. total_token_count={count}, min_total_token_count={SMALLEST}")
        name = f"cachedContents/c{len(self.created)}"
        self.created.append(name)
        self.caches[name] = body
        times = dict.fromkeys(("createTime", "updateTime", "expireTime"), "2026-01-01T00:00:00Z")
        return _plain({"name": name, "model": body["model"], **times, "usageMetadata": {"totalTokenCount": count}})


def playing(scripted: Callable[[Request], Scripted]) -> Play:
    return GeminiServer(scripted).play


def _check_key(request: Request) -> None:
    if "key=" in request.target:
        raise AssertionError("a key is never part of an address")
    if request.headers.get("x-goog-api-key") != KEY:
        reason = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
        raise _error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", reason)


def _check_stable(body: Json) -> None:
    if "systemInstruction" in body:
        _known("system_instruction", body["systemInstruction"], {"parts", "role"})
        for part in body["systemInstruction"]["parts"]:
            _known("system_instruction.parts", part, {"text"})
            if not part["text"]:
                raise _bad("system_instruction.parts: must have a text")
    names: list[str] = []
    for tool in body.get("tools", []):
        _known("tools", tool, {"functionDeclarations"})
        for declared in tool["functionDeclarations"]:
            _known("tools.function_declarations", declared, {"name", "description", "parameters"})
            if not re.fullmatch(_NAME, declared["name"]):
                raise _bad(f"tools.function_declarations: Invalid function name: {declared['name']}")
            names.append(declared["name"])
            if "parameters" in declared:
                _schema("parameters", declared["parameters"])
                if not declared["parameters"].get("properties"):
                    raise _bad("parameters.properties: should be non-empty for OBJECT type")
    if len(set(names)) != len(names):
        raise _bad("Duplicate function declaration found")
    config = body.get("toolConfig")
    if config is not None and (
        set(config) != {"functionCallingConfig"}
        or config["functionCallingConfig"].get("mode") not in ("AUTO", "ANY", "NONE", "VALIDATED")
        or not names
    ):
        raise _bad("Invalid value at 'tool_config'")


def _schema(where: str, schema: Json) -> None:
    _known(where, schema, _SCHEMA)
    kind = schema.get("type")
    if "anyOf" in schema:
        for option in schema["anyOf"]:
            _schema(f"{where}.any_of", option)
        return
    if kind not in _TYPES:
        raise _bad(f"Invalid value at '{where}.type': {kind}")
    if "enum" in schema and (kind != "STRING" or not all(isinstance(v, str) and v for v in schema["enum"])):
        raise _bad(f"{where}.enum: only allowed for STRING type, and cannot be empty")
    formats = {"STRING": ("enum", "date-time"), "INTEGER": ("int32", "int64"), "NUMBER": ("float", "double")}
    if "format" in schema and schema["format"] not in formats.get(kind, ()):
        raise _bad(f"{where}.format: only 'enum' and 'date-time' are supported for STRING type")
    for name in ("title", "description", "pattern"):
        if not isinstance(schema.get(name, ""), str):
            raise _bad(f"Invalid value at '{where}.{name}' (TYPE_STRING)")
    if kind == "ARRAY":
        if "items" not in schema:
            raise _bad(f"{where}.items: missing field.")
        _schema(f"{where}.items", schema["items"])
    for name, inner in schema.get("properties", {}).items():
        _schema(f"{where}.properties[{name}]", inner)
    if extra := set(schema.get("required", ())) - set(schema.get("properties", {})):
        raise _bad(f"{where}.required[0]: property is not defined: {min(extra)}")


def _check_contents(contents: list[Json], *, newer: bool) -> None:
    if not contents:
        raise _bad("* GenerateContentRequest.contents: contents is not specified")
    if contents[0]["role"] != "user":
        raise _bad("Please ensure that the first turn is a user turn.")
    open_calls: list[Json] = []
    user_turns = [
        n for n, content in enumerate(contents) if content["role"] == "user" and "text" in content["parts"][0]
    ]
    for number, content in enumerate(contents):
        _known("contents", content, {"role", "parts"})
        if content["role"] not in ("user", "model"):
            raise _bad("Please use a valid role: user, model.")
        if not content["parts"]:
            raise _bad("* GenerateContentRequest.contents.parts: contents.parts must not be empty.")
        for part in content["parts"]:
            _part(part)
        answers = [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]
        if len(answers) != len(open_calls):
            raise _bad(
                "Please ensure that the number of function response parts is equal to the number of function call"
                " parts of the function call turn."
            )
        for call, answer in zip(open_calls, answers, strict=True):
            if (call["name"], call.get("id")) != (answer["name"], answer.get("id")):
                raise _bad("Please ensure that function responses are those of the function calls, in their order.")
        calls = [part for part in content["parts"] if "functionCall" in part]
        open_calls = [part["functionCall"] for part in calls]
        if content["role"] == "user" and calls:
            raise _bad("Please ensure that function calls are in a model turn.")
        if calls and contents[number - 1]["role"] != "user":
            raise _bad("Please ensure that function call turn comes immediately after a user turn.")
        if newer and calls and number > max(user_turns, default=-1) and "thoughtSignature" not in calls[0]:
            raise _bad(f"Function call is missing a thought_signature in functionCall parts. {calls[0]}")
    if open_calls or contents[-1]["role"] != "user":
        raise _bad("Please ensure that the last turn is a user turn or a function response turn.")


def _part(part: Json) -> None:
    _known("contents.parts", part, {"text", "inlineData", "functionCall", "functionResponse", "thoughtSignature"})
    signature = part.get("thoughtSignature")
    if signature not in (None, UNSIGNED) and not b64decode(signature, validate=True).startswith(b"signed:"):
        raise _bad("Thought signature is not valid.")
    data = [name for name in part if name != "thoughtSignature"]
    if len(data) != 1 or (part.get("text") == "" and signature is None):
        raise _bad("contents.parts: required oneof field 'data' must have one initialized field")
    if "inlineData" in part:
        _known("inline_data", part["inlineData"], {"mimeType", "data"})
        b64decode(part["inlineData"]["data"], validate=True)
    for kind, fields in (("functionCall", {"id", "name", "args"}), ("functionResponse", {"id", "name", "response"})):
        if kind in part:
            _known(kind, part[kind], fields)
            if not re.fullmatch(_NAME, part[kind]["name"]):
                raise _bad(f"{kind}.name: Invalid function name")
            if not isinstance(part[kind].get("args", part[kind].get("response")), dict):
                raise _bad(f"Invalid value at '{kind}' (type.googleapis.com/google.protobuf.Struct)")


def _known(where: str, fields: Json, names: set[str]) -> None:
    if extra := set(fields) - names:
        raise _bad(f"Invalid JSON payload received. Unknown name \"{min(extra)}\" at '{where}': Cannot find field.")


def _tokens(content: Json) -> int:
    kept = {name: content[name] for name in ("systemInstruction", "tools", "contents") if name in content}
    return len(json.dumps(kept)) // 4 + SMALLEST  # approximate: the vendor's count is not under test


def signature(thought: str) -> str:
    return b64encode(f"signed:{len(thought)}:{thought[:8]}".encode()).decode()


def _error(status: int, kind: str, message: str, *details: Json) -> Refused:
    return Refused(status, {"error": {"code": status, "message": message, "status": kind, "details": list(details)}})


def _bad(message: str) -> Refused:
    return _error(400, "INVALID_ARGUMENT", message)


def _plain(body: Json) -> Answer:
    return Answer(headers=(("content-type", "application/json"),), pieces=(json.dumps(body).encode(),))


# ── its answers ──────────────────────────────────────────────────────────────────────────

_REASONS = {"end": "STOP", "tools": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}


def events(script: Scripted, model: str) -> list[bytes]:
    return [_event(chunk) for chunk in chunks(script, model)]


def chunks(script: Scripted, model: str) -> list[Json]:
    parts = _parts(script)
    first = [_chunk(script, model, [part]) for part in parts[:-1]]
    last = _chunk(script, model, parts[-1:] if script.stop != "refusal" else [])
    last["candidates"][0]["finishReason"] = _REASONS.get(script.stop, script.stop)
    return [*first, last]


def whole(script: Scripted, model: str) -> Json:
    chunk = _chunk(script, model, _parts(script))
    chunk["candidates"][0]["finishReason"] = _REASONS.get(script.stop, script.stop)
    return chunk


def _parts(script: Scripted) -> list[Json]:
    parts: list[Json] = [{"text": piece, "thought": True} for piece in script.reasoning]
    parts += [{"text": piece} for piece in script.text]
    signed = {"thoughtSignature": signature("".join(script.reasoning))} if script.reasoning else {}
    for number, call in enumerate(script.calls):
        part = {"functionCall": {"id": call.id, "name": call.name, "args": _arguments(call)}}
        parts.append(part if number else {**part, **signed})
    return [*parts, {"text": "", **({} if script.calls else signed)}]


def _arguments(call: Called) -> Any:
    text = "".join(call.pieces)
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


def _chunk(script: Scripted, model: str, parts: list[Json]) -> Json:
    thoughts = 5 if script.reasoning else 0
    usage = {
        "promptTokenCount": script.input + script.cache_read,
        "candidatesTokenCount": script.output - thoughts,
        "totalTokenCount": script.input + script.cache_read + script.output,
        **({"cachedContentTokenCount": script.cache_read} if script.cache_read else {}),
        **({"thoughtsTokenCount": thoughts} if thoughts else {}),
    }
    content = {"content": {"parts": parts, "role": "model"}} if parts else {}
    return {
        "candidates": [{**content, "index": 0}],
        "usageMetadata": usage,
        "modelVersion": model,
        "responseId": "response-test",
    }


def _event(chunk: Json) -> bytes:
    return f"data: {json.dumps(chunk, ensure_ascii=False)}\r\n\r\n".encode()
