"""The program that simulations use: it starts or reports why not, and it leaves no process behind."""

import socket
from pathlib import Path

import pytest

from interlock.client import ApiHookClient, NotServing
from tests.simulation.conftest import MODEL, PROVIDER
from tests.simulation.live import HOST, Live, tree_left


def test_a_taken_port_is_reported_before_anything_starts(tmp_path: Path) -> None:
    live = Live(tmp_path / "live", "serve", logs=tmp_path)
    with socket.create_server((HOST, live.port)), pytest.raises(RuntimeError, match=f"port {live.port} is taken"):
        live.start()
    assert not hasattr(live, "process")


def test_a_program_that_dies_is_not_waited_for(tmp_path: Path) -> None:
    live = Live(tmp_path / "live", "serve", logs=tmp_path)
    with pytest.raises(RuntimeError, match=r"(?s)it ended with 2 before it answered: .*--no-such-flag"):
        live.start("serve", "--no-such-flag")
    (file,) = tmp_path.glob("logs/test/*/live_gui_serve.txt")
    assert "Status: FAIL" in file.read_text()


def test_the_whole_tree_is_gone_afterwards_and_the_port_is_free(tmp_path: Path) -> None:
    live = Live(tmp_path / "live", "serve", logs=tmp_path)
    live.start()
    client = ApiHookClient(live.api_file)
    assert client.get_status()["status"] == "ok"
    live.kill()
    assert tree_left(live.process.pid) == []
    with socket.create_server((HOST, live.port)):
        pass
    with pytest.raises(NotServing):
        client.get_status()
    (file,) = tmp_path.glob("logs/test/*/live_gui_serve.txt")
    assert f"pid        | None   | {live.process.pid}" in file.read_text()


@pytest.mark.parametrize("number", [1, 2])
def test_each_test_finds_a_clean_desk(live: Live, client: ApiHookClient, number: int) -> None:
    assert (client.get_value("current_provider"), client.get_value("current_model")) == (PROVIDER, MODEL)
    assert (client.get_value("ai_input"), client.get_mma_status()["proposed_tracks"]) == ("", [])
    client.set_value("current_provider", "gemini_cli")
    client.set_value("ai_input", f"left behind by {number}")
