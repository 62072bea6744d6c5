"""A provider over HTTP from the command line: the endpoint comes from the environment, and no file keeps the key."""

import asyncio
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from interlock.providers.endpoints import provider_facts
from tests.cli.project import Project
from tests.providers.loopback import Fault, Loopback, Request, serving
from tests.providers.scripts import Called, Scripted
from tests.providers.vendors import VENDORS, Vendor

each = pytest.mark.parametrize("vendor", VENDORS, ids=[vendor.provider for vendor in VENDORS])


@contextmanager
def played(vendor: Vendor) -> Generator[Loopback]:
    """The server runs in a thread, because the program under test is another process."""
    ready: list[Loopback] = []
    begun, loop, stop = threading.Event(), asyncio.new_event_loop(), asyncio.Event()

    async def serve() -> None:
        async with serving(vendor.playing(answer)) as server:
            ready.append(server)
            begun.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    assert begun.wait(30)
    try:
        yield ready[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)
        loop.close()


def answer(asked: Request) -> Scripted:
    if b"print('hello')" in asked.body:
        return Scripted(("It says hello.",))
    return Scripted(("I look.",), ("Hm.",), (Called("c1", "read_file", ('{"path": ', '"greet.py"}')),), "tools")


@each
def test_a_chat_reads_a_file_and_answers(project: Project, vendor: Vendor) -> None:
    (project.root / "greet.py").write_text("print('hello')\n")
    name = vendor.provider.upper()
    with played(vendor) as server:
        project.env |= {f"{name}_API_KEY": vendor.key, f"{name}_BASE_URL": server.url + vendor.path}
        result = project.run("chat", "What does greet.py say?", "--provider", vendor.provider, "--model", vendor.model)
    assert (result.code, "It says hello." in result.out) == (0, True), result
    assert len(vendor.asked(server)) == 2
    assert vendor.provider != "gemini" or [sent.method for sent in server.requests][-1] == "DELETE", "no cache is left"
    shown = project.run("discussions", "show", "D-1", "--json").json["messages"]
    assert [message.get("reasoning", "") for message in shown] == ["", "Hm.", "", ""]
    assert "Hm." in project.run("discussions", "show", "D-1").out
    files = [file for file in project.root.rglob("*") if file.is_file()]
    state = [file for file in Path(project.env["XDG_STATE_HOME"]).rglob("*") if file.is_file()]
    assert len(files) > 3
    assert [file for file in (*files, *state) if vendor.key.encode() in file.read_bytes()] == []
    assert vendor.key not in result.out + result.err


@each
def test_a_key_that_is_not_good_ends_the_turn_with_what_to_do(project: Project, vendor: Vendor) -> None:
    name = vendor.provider.upper()
    with played(vendor) as server:
        project.env |= {f"{name}_API_KEY": "sk-not-the-right-one-000", f"{name}_BASE_URL": server.url + vendor.path}
        result = project.run("chat", "Hello", "--provider", vendor.provider, "--model", vendor.model)
    assert result.code == 1, result
    assert f"set {provider_facts(vendor.provider).key_name} to a key that is good there" in result.out + result.err, (
        result
    )
    assert len(vendor.asked(server)) == 1, "it is not tried again"


def test_stopped_while_a_call_hangs_it_takes_away_what_it_left_at_the_vendors(project: Project) -> None:
    vendor = next(vendor for vendor in VENDORS if vendor.provider == "gemini")

    async def story() -> list[str]:
        async with serving(vendor.playing(answer), Fault("stall", 400)) as server:
            env = {**project.env, "GOOGLE_API_KEY": vendor.key, "GEMINI_BASE_URL": server.url}
            words = project.argv("chat", "Hello", "--provider", "gemini", "--model", vendor.model)
            pipes = dict.fromkeys(("stdin", "stdout", "stderr"), asyncio.subprocess.DEVNULL)
            process = await asyncio.create_subprocess_exec(*words, env=env, cwd=project.root, **pipes)
            await server.stalled.wait()
            process.send_signal(signal.SIGINT)
            await process.wait()
            return [f"{sent.method} {sent.target.partition('?')[0]}" for sent in server.requests]

    assert asyncio.run(story()) == [
        "POST /v1/cachedContents",
        "POST /v1/models/gemini-2.5-flash-lite:streamGenerateContent",
        "DELETE /v1/cachedContents/c0",
    ]


def test_without_a_key_the_variable_to_set_is_named(project: Project) -> None:
    result = project.run("chat", "Hello", "--provider", "anthropic")
    assert (result.code, "set ANTHROPIC_API_KEY" in result.err) == (1, True), result
