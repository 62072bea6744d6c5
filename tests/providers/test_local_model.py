"""Interlock's providers against a real server and a real model (`make test-model`)."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.ports.model import Message, Model, Reply, ToolCall
from interlock.providers.endpoints import HttpAccess, ModelUse, hosted_model
from interlock.providers.http.http_model import TokenLimits
from tests.cli.project import Project
from tests.providers.vendors import request

PYTHON = os.environ.get("INTERLOCK_MODEL_PYTHON", "")
pytestmark = [
    pytest.mark.skipif(not PYTHON, reason="make test-model"),
    pytest.mark.timeout(900),  # a busy machine generates one token a second
]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    command = [PYTHON, str(Path(__file__).with_name("local_model.py"))]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdin is not None and server.stdout is not None
        yield next(line.split()[1] for line in server.stdout if line.startswith("ADDRESS "))
        server.stdin.close()
        server.kill()


@pytest.fixture(params=["llama.cpp", "anthropic"])
def model(request: pytest.FixtureRequest, address: str) -> Model:
    provider: str = request.param
    limits = TokenLimits(context=8_192, output=24)
    base = f"{address}/v1" if provider == "llama.cpp" else address
    use = ModelUse(model="any", limits=lambda _: limits)
    return hosted_model(provider, {"ANTHROPIC_API_KEY": "none"}, HttpAccess(base_url=base), use)


def ask(model: Model, *messages: Message) -> tuple[Reply, list[str]]:
    pieces: list[str] = []
    return asyncio.run(model.complete(request(*messages), pieces.append)), pieces


def test_the_model_streams_and_counts(model: Model) -> None:
    reply, pieces = ask(model, Message("user", "Count to three."))
    assert "".join(pieces) == reply.message.text != ""
    assert len(pieces) > 1
    assert reply.usage.input + reply.usage.cache_read > 10
    assert 0 < reply.usage.output <= 24
    assert reply.stop in ("end", "length")


def test_the_model_accepts_a_history_with_calls_and_their_results(model: Model) -> None:
    history = (
        Message("user", "What is in a.py?"),
        Message("assistant", "", (ToolCall("c1", "read_file", {"path": "a.py"}), ToolCall("c2", "grep", {}))),
        Message("tool", "x = 1", call_id="c1"),
        Message("tool", "", call_id="c2"),
    )
    reply, _ = ask(model, *history)
    assert reply.usage.output > 0


def test_earlier_messages_are_read_from_the_cache(model: Model) -> None:
    first = Message("user", "Remember these words: " + "apple pear plum " * 20)
    ask(model, first)
    reply, _ = ask(model, first, Message("assistant", "Yes."), Message("user", "Which?"))
    assert reply.usage.cache_read > 50


def test_two_at_once_are_answered(model: Model) -> None:
    async def story() -> list[Reply]:
        asked = (model.complete(request(Message("user", word)), [].append) for word in ("Hello.", "Goodbye."))
        return await asyncio.gather(*asked)

    assert all(reply.message.text for reply in asyncio.run(story()))


def test_an_answer_ends_at_its_limit_and_says_so(model: Model) -> None:
    reply, _ = ask(model, Message("user", "Tell a long story about a fox, in many sentences."))
    assert (reply.stop, reply.usage.output) == ("length", 24)


def test_a_cancelled_request_leaves_the_server_free_for_the_next(model: Model) -> None:
    async def story() -> Reply:
        started = asyncio.Event()
        asked = request(Message("user", "Tell a long story about a bear."))
        first = asyncio.ensure_future(model.complete(asked, lambda _: started.set()))
        await started.wait()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        return await model.complete(request(Message("user", "Say hello.")), [].append)

    assert asyncio.run(story()).message.text


def test_interlock_checks_the_model_and_chats_with_it(tmp_path: Path, address: str) -> None:
    project = Project(tmp_path)
    project.settings(f'[endpoints]\nllama_cpp = "{address}/v1"\n[provider]\nmax_output_tokens = 8\n')
    tried = project.run("models", "test", "llama.cpp", "--json", timeout=600)
    assert tried.code == 0, tried
    assert (tried.json["provider"], tried.json["cost_usd"]) == ("llama.cpp", 0)
    assert 0 < tried.json["output"] <= 8
    result = project.run("chat", "Say hello.", "--provider", "llama.cpp", timeout=850)
    assert result.code == 0, result
    (_, answer) = project.run("discussions", "show", "D-1", "--json").json["messages"]
    assert (answer["role"], bool(answer["text"])) == ("assistant", True)
