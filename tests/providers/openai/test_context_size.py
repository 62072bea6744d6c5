"""The context size of local models: what their servers state, with servers that answer as the real ones do."""

import asyncio
import json
from typing import Any

import pytest

from interlock.ports.model import Message, ignore_text
from interlock.providers.endpoints import HttpAccess, ModelUse, hosted_model
from tests.providers import openai_server
from tests.providers.loopback import Answer, Json, Loopback, Play, Refused, Request, serving
from tests.providers.scripts import Scripted
from tests.providers.vendors import request

JSON = (("content-type", "application/json"),)
LONG = "word " * 40_000


def local_server(answers: dict[str, Any]) -> Play:
    """Answers these paths, and chat completions for every model."""

    async def play(sent: Request) -> Answer:
        if sent.target.endswith("/chat/completions"):
            return Answer(pieces=tuple(openai_server.chunks(Scripted(text=("Hello",)), sent.json["model"])))
        if sent.target not in answers:
            raise Refused(404, {"error": "not found"})
        found = answers[sent.target]
        return Answer(200, JSON, (json.dumps(found() if callable(found) else found).encode(),))

    return play


def sent_sizes(
    provider: str, answers: dict[str, Any] | Play, model: str = "small", times: int = 1, **use: Any
) -> tuple[list[int], list[str]]:
    """The output limits of the requests, and every other path that was asked."""

    async def scene() -> Loopback:
        async with serving(local_server(answers) if isinstance(answers, dict) else answers) as server:
            hosted = hosted_model(
                provider, {}, HttpAccess(base_url=f"{server.url}/v1", key=lambda: "k"), ModelUse(model=model, **use)
            )
            for _ in range(times):
                await hosted.complete(request(Message("user", LONG), Message("user", "last")), ignore_text)
            return server

    server = asyncio.run(scene())
    calls = [sent for sent in server.requests if sent.target.endswith("/chat/completions")]
    sizes = [sent.json.get("max_tokens") or sent.json["max_completion_tokens"] for sent in calls]
    return sizes, [sent.target for sent in server.requests if sent not in calls]


VLLM: Json = {"object": "list", "data": [{"id": "small", "object": "model", "max_model_len": 8_000}]}
LLAMA_MODELS: Json = {"data": [{"id": "small", "meta": {"n_ctx_train": 131_072}}]}
LLAMA_PROPS: Json = {"default_generation_settings": {"n_ctx": 6_000}, "total_slots": 1}
PS: Json = {"models": [{"name": "small:latest", "model": "small:latest", "context_length": 5_000}]}
SHOW: Json = {"parameters": 'stop  "x"\nnum_ctx    3000', "model_info": {"llama.context_length": 131_072}}


@pytest.mark.parametrize(
    ("provider", "answers", "output"),
    [
        ("vllm", {"/v1/models": VLLM}, 4_000),
        ("llama.cpp", {"/v1/models": LLAMA_MODELS, "/props": LLAMA_PROPS}, 3_000),
        ("llama.cpp", {"/v1/models": {"data": [{"id": "other", "meta": {"n_ctx": 2_000}}]}}, 1_000),
        ("openai", {"/v1/models": {"data": [{"id": "small", "context_length": 4_096}]}}, 2_048),
        ("ollama", {"/api/ps": PS}, 2_500),
        ("ollama", {"/api/ps": {"models": []}, "/api/show": SHOW}, 1_500),
        ("ollama", {"/api/ps": {"models": []}, "/api/show": {"model_info": {"x.context_length": 2_048}}}, 1_024),
        ("ollama", {"/api/ps": {"models": []}}, 2_048),
    ],
)
def test_the_servers_own_size_counts(provider: str, answers: Any, output: int) -> None:
    assert sent_sizes(provider, answers)[0] == [output]


@pytest.mark.parametrize("said", [0, -1, 100, 10**12, True, "8000", 3.5, None, {}])
def test_an_absurd_size_is_not_believed(said: object) -> None:
    assert sent_sizes("vllm", {"/v1/models": {"data": [{"id": "small", "max_model_len": said}]}})[0] == [8_192]


@pytest.mark.parametrize("answers", [{}, {"/v1/models": [], "/props": 7}, {"/v1/models": {"data": 3}}])
def test_a_server_that_says_nothing_gets_the_stated_fallback(answers: Any) -> None:
    assert sent_sizes("llama.cpp", answers)[0] == [8_192]


def test_it_is_asked_once_and_ollama_again_when_the_model_is_loaded() -> None:
    assert sent_sizes("vllm", {"/v1/models": VLLM}, times=3)[1] == ["/v1/models"]
    states = iter([{"models": []}, PS])
    sizes, asked = sent_sizes("ollama", {"/api/ps": lambda: next(states), "/api/show": SHOW}, times=3)
    assert (sizes, asked) == ([1_500, 2_500, 2_500], ["/api/ps", "/api/show", "/api/ps"])


def test_a_setting_asks_nobody() -> None:
    assert sent_sizes("vllm", {"/v1/models": VLLM}, ask_context=False) == ([8_192], [])


def test_a_known_model_at_another_address_is_not_asked_about() -> None:
    assert sent_sizes("openai", {"/v1/models": VLLM}, model="gpt-4.1-mini")[1] == []


def test_a_server_that_hangs_on_the_question_still_answers_the_request() -> None:
    async def scene() -> list[int]:
        plain, answered = local_server({}), asyncio.Event()

        async def play(sent: Request) -> Answer:
            if sent.target == "/v1/models":
                await answered.wait()
            return await plain(sent)

        async with serving(play) as server:
            access = HttpAccess(base_url=f"{server.url}/v1")
            hosted = hosted_model("vllm", {}, access, ModelUse(model="small"))
            await hosted.complete(request(Message("user", "Hello")), ignore_text)
            answered.set()
            return [sent.json["max_tokens"] for sent in server.requests if sent.target.endswith("/chat/completions")]

    assert asyncio.run(scene()) == [8_192]
