"""Providers from the command line, against a fake vendor server: keys, prices, budgets, logs."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from interlock.providers.catalog import facts_of
from tests.cli.project import CommandResult, Project
from tests.providers import anthropic_server, openai_server
from tests.providers.loopback import Loopback, Request, serving
from tests.providers.scripts import Called, Scripted
from tests.tools.web.pages import Answer, served

MODEL = anthropic_server.MODEL
PRICE = facts_of("anthropic", MODEL).prices[0]
COST = round(1_000 * PRICE.input + 500 * (PRICE.cache_read or 0) + 10 * PRICE.output)
SECRET = "sk-planted-0123456789abcdefghij"


def asked(
    project: Project, *words: str, answer: Callable[[Request], Scripted] | None = None
) -> tuple[CommandResult, Loopback]:
    """Run one command against a fake Anthropic server."""
    scripted = answer or (lambda request: Scripted(text=("ok",), input=1_000, output=10, cache_read=500))

    async def run() -> tuple[CommandResult, Loopback]:
        async with serving(anthropic_server.playing(scripted)) as loopback:
            project.env["ANTHROPIC_BASE_URL"] = loopback.url
            return await asyncio.to_thread(project.run, *words), loopback

    project.env["ANTHROPIC_API_KEY"] = anthropic_server.KEY
    return asyncio.run(run())


def everything_written(*folders: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file()}


def test_the_list_shows_limits_prices_end_dates_and_keys(project: Project) -> None:
    project.env["OPENAI_API_KEY"] = "k"
    models = {row["name"]: row for row in project.run("models", "list", "--json").json}
    lite = models["gemini-2.5-flash-lite"]
    assert (lite["provider"], lite["context"], lite["output"], lite["key"]) == ("gemini", 1_048_576, 65_536, False)
    assert (lite["prices"][0]["input"], lite["successor"]) == (0.1, "gemini-3.1-flash-lite")
    assert models["gpt-6.1-terra"]["key"] is True
    result = project.run("models", "list", "--provider", "openai")
    assert (result.code, "openai: a key is set" in result.out, "gemini" in result.out) == (0, True, False)
    assert "name one with --model" in project.run("models", "list", "--provider", "ollama").out


def test_one_tiny_call_checks_a_key_and_shows_its_cost(project: Project) -> None:
    result, loopback = asked(project, "models", "test", "--model", MODEL, "--json")
    assert result.code == 0, result
    assert result.json == {
        "provider": "anthropic",
        "model": MODEL,
        "latency_ms": result.json["latency_ms"],
        "input": 1_000,
        "output": 10,
        "cost_usd": COST / 1e6,
    }
    assert loopback.requests[0].json["max_tokens"] == 8_192
    assert not (project.root / ".interlock").exists()


def test_a_wrong_key_gives_the_vendors_sentence_and_not_the_key(project: Project) -> None:
    async def run() -> CommandResult:
        async with serving(anthropic_server.playing(lambda request: Scripted())) as loopback:
            project.env |= {"ANTHROPIC_BASE_URL": loopback.url, "ANTHROPIC_API_KEY": SECRET}
            return await asyncio.to_thread(project.run, "models", "test", "anthropic", "--model", MODEL)

    result = asyncio.run(run())
    assert (result.code, "invalid x-api-key" in result.err, SECRET in result.out + result.err) == (1, True, False), (
        result
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("test",), "no provider has a key: set GEMINI_API_KEY"),
        (("test", "openai"), "there is no key for 'openai': set OPENAI_API_KEY"),
        (("key", "set", "openai"), "a key is one line of printable text"),
        (("key", "delete", "openai"), "the package `keyring` is not installed"),
    ],
)
def test_a_missing_key_or_package_is_reported(project: Project, words: tuple[str, ...], sentence: str) -> None:
    result = project.run("models", *words)
    assert (result.code, sentence in result.err) == (1, True), result


def test_a_provider_is_chosen_by_its_key_and_its_cost_is_booked(project: Project) -> None:
    result, _ = asked(project, "chat", "Hello", "--model", MODEL)
    assert (result.code, result.out) == (0, "ok\n"), result
    used = project.run("usage", "--json").json["Discussion"]
    assert used == {
        "input": 1_000,
        "output": 10,
        "cache_read": 500,
        "cache_write": 0,
        "cost": COST,
        "cost_usd": COST / 1e6,
        "unknown_usd": 0,
    }
    (reserved,) = (e["event"] for e in project.journal() if e["event"]["type"] == "call_reserved")
    assert reserved["model"] == MODEL
    assert reserved["amount"] >= COST + 8_182 * PRICE.output


def test_a_model_that_ends_is_warned_about_and_one_without_a_price_says_so(project: Project) -> None:
    project.settings('[provider]\nname = "ollama"\nmodel = "qwen"\n[models]\ndiscussion = "gpt-99"')
    project.env["OPENAI_API_KEY"] = openai_server.KEY

    async def chat(model: str) -> str:
        async with serving(openai_server.playing(lambda request: Scripted(text=("ok",)))) as loopback:
            project.env["OPENAI_BASE_URL"] = f"{loopback.url}/v1"
            result = await asyncio.to_thread(project.run, "chat", "Hello", "--provider", "openai", "--model", model)
            return result.err

    assert "the model 'gpt-5' ends on 2026-12-11; 'gpt-5.6-sol' takes its place" in asyncio.run(chat("gpt-5"))
    assert "the model 'gpt-99' of 'openai' is not in Interlock's data: generic limits" in asyncio.run(chat("gpt-99"))


def test_with_a_limit_a_call_without_a_price_is_not_made_until_the_user_gives_one(project: Project) -> None:
    project.settings("[budgets]\nticket_usd = 1")
    tickets = project.tickets("t.json", {"id": "x", "tickets": [{"id": "T", "description": "do it"}]})
    project.env["OPENAI_API_KEY"] = openai_server.KEY

    async def run(model: str, *words: str) -> tuple[CommandResult, int]:
        scripted = Scripted(text=("BLOCKED: no",), input=1_000, output=10)
        async with serving(openai_server.playing(lambda request: scripted)) as loopback:
            project.env["OPENAI_BASE_URL"] = f"{loopback.url}/v1"
            words = (*words, "--provider", "openai", "--model", model, "--approve", "all")
            return await asyncio.to_thread(project.run, "run", *words), len(loopback.requests)

    result, calls = asyncio.run(run("gpt-99", "--tickets", tickets))
    assert (result.code, calls, "the model 'gpt-99' has no price" in result.out) == (5, 0, True), result
    assert project.run("tickets", "retry", "T").code == 0
    project.settings(f'[budgets]\nticket_usd = 1\n[prices."{openai_server.MODEL}"]\ninput = 1\noutput = 2')
    result, calls = asyncio.run(run(openai_server.MODEL, "--resume"))
    assert (result.code, calls) == (3, 1), result
    assert project.run("usage", "--json").json["Tier 3"]["cost"] == 1_020


def test_a_project_sets_neither_the_address_nor_the_price_of_models(project: Project) -> None:
    project.write("interlock.toml", '[endpoints]\nopenai = "http://evil.test"\n')
    result = project.run("status")
    assert (result.code, "interlock.toml:1: a project must not set the addresses of models" in result.err) == (
        1,
        True,
    ), result
    project.write("interlock.toml", '[prices."m"]\ninput = 0\noutput = 0\n')
    result = project.run("status")
    assert (result.code, "a project must not set the prices of models" in result.err) == (1, True), result


def test_no_file_of_a_run_holds_a_key_or_secret(project: Project) -> None:
    """The secret is in the environment, in the user's text, in the model's text, and in a script's output."""
    project.env["DEPLOY_TOKEN"] = SECRET
    env_of = Called("c1", "run_shell", (json.dumps({"script": "env; cat /proc/self/environ"}),))

    def answer(request: Request) -> Scripted:
        last: Any = request.json["messages"][-1]["content"][-1]
        if last["type"] == "tool_result":
            return Scripted(text=(f"BLOCKED: I saw {SECRET} and {anthropic_server.KEY}",))
        return Scripted(text=("I look.",), calls=(env_of,), stop="tools")

    description = f"the token is {SECRET}"
    tickets = project.tickets("t.json", {"id": "x", "tickets": [{"id": "T", "description": "show the environment"}]})
    words = ("--approve", "all", "--provider", "anthropic", "--model", MODEL)
    result, loopback = asked(project, "run", "--tickets", tickets, *words, answer=answer)
    assert result.code == 3, result
    chat, _ = asked(project, "chat", description, "--provider", "anthropic", "--model", MODEL, answer=answer)
    assert chat.code in (0, 4), chat
    sent = b"".join(request.body for request in loopback.requests)
    assert (SECRET.encode() in sent, anthropic_server.KEY.encode() in sent) == (False, False)
    written = everything_written(project.root, Path(project.env["XDG_STATE_HOME"]))
    assert any(path.name == "comms.log" for path in written)
    secrets = (SECRET.encode(), anthropic_server.KEY.encode(), b"x-api-key")
    assert {path.name: secret for path, content in written.items() for secret in secrets if secret in content} == {}
    assert (SECRET in result.out + result.err, anthropic_server.KEY in result.out + result.err) == (False, False)


def test_thoughts_are_kept_apart_from_the_answer(project: Project) -> None:
    project.env["DEEPSEEK_API_KEY"] = openai_server.KEY
    thought = Scripted(text=("It is 4.",), reasoning=("Two and ", "two."))

    async def run() -> CommandResult:
        async with serving(openai_server.playing(lambda request: thought, thinks=True)) as loopback:
            project.env["DEEPSEEK_BASE_URL"] = f"{loopback.url}/v1"
            words = ("chat", "2+2?", "--provider", "deepseek", "--model", openai_server.MODEL)
            return await asyncio.to_thread(project.run, *words)

    result = asyncio.run(run())
    assert (result.code, result.out) == (0, "It is 4.\n"), result
    (_, answer) = project.run("discussions", "show", "D-1", "--json").json["messages"]
    assert answer == {"role": "assistant", "text": "It is 4.", "calls": [], "reasoning": "Two and two."}
    assert "Two and two." in project.run("discussions", "show", "D-1").out


# ── the vendors' lists ───────────────────────────────────────────────────────────────────


def test_lists_are_fetched_compared_and_shown_with_their_age(project: Project) -> None:
    with served() as pages:

        def listed(*names: str) -> Answer:
            return Answer(json.dumps({"models": [{"name": name} for name in names]}).encode())

        pages.answers["/api/tags"] = listed("llama3:latest", "qwen")
        project.settings(f'[endpoints]\nollama = "{pages.url}/v1"\n')
        result = project.run("models", "refresh")
        assert (result.code, "ollama: 2 models" in result.out) == (0, True), result
        assert "+ qwen  (not in Interlock's data)" in result.out
        pages.answers["/api/tags"] = listed("qwen", "gemma")
        row = project.run("models", "refresh", "--json").json[0]
        assert (row["new"], row["gone"], row["since"], row["error"]) == (
            ["gemma"],
            ["llama3:latest"],
            "last list",
            None,
        )
        assert "the same as the last list" in project.run("models", "refresh").out
    shown = project.run("models", "list", "--provider", "ollama")
    assert "ollama: its list was fetched just now" in shown.out
    assert "from the vendor's list" in shown.out
    names = [one["name"] for one in project.run("models", "list", "--provider", "ollama", "--json").json]
    assert names == ["gemma", "qwen"]


def test_refreshing_without_a_vendor_and_with_failures_says_so(project: Project) -> None:
    result = project.run("models", "refresh")
    assert (result.code, "no provider is set up: set GEMINI_API_KEY" in result.err) == (1, True), result
    result = project.run("models", "refresh", "--provider", "openai")
    assert (result.code, "there is no key for 'openai'" in result.err) == (1, True), result
    with served() as pages:
        pages.answers["/models"] = Answer(b'{"error": {"message": "bad key"}}', 401)
        project.settings(f'[endpoints]\nopenai = "{pages.url}"\nollama = "http://127.0.0.1:9/v1"\n')
        project.env["OPENAI_API_KEY"] = SECRET
        result = project.run("models", "refresh", "--json")
        assert result.code == 1
        errors = {row["provider"]: row["error"] for row in result.json}
        assert "does not let us in (401)" in errors["openai"]
        assert "cannot be reached" in errors["ollama"]
        assert SECRET not in result.out + result.err
        assert not (Path(project.env["XDG_STATE_HOME"]) / "interlock" / "models.json").exists()
