"""The layout of the panels is saved, however the window ends."""

from collections.abc import Callable
from pathlib import Path

import pytest
from imgui_bundle import imgui

from tests.gui.bench import Bench, windowed


def interrupted() -> None:
    raise KeyboardInterrupt


def drag(bench: Bench, start: tuple[float, float], by: float) -> None:
    io = imgui.get_io()
    io.add_mouse_pos_event(*start)
    bench.draw(10)  # a splitter reacts after a delay
    io.add_mouse_button_event(0, True)
    bench.draw(2)
    for step in range(1, 6):
        io.add_mouse_pos_event(start[0] + by * step / 5, start[1])
        bench.draw(1)
    io.add_mouse_button_event(0, False)
    bench.draw(4)


@pytest.mark.parametrize("first", [interrupted, None], ids=["by a signal", "by itself"])
def test_a_splitter_stays_where_it_was_dragged(tmp_path: Path, first: Callable[[], None] | None) -> None:
    file = tmp_path / "state" / "window.ini"
    with windowed(settings=file) as bench:
        before = bench.widget("window.dashboard").rect
        drag(bench, ((before[2] + bench.widget("window.tickets").rect[0]) / 2, 400), 80)
        dragged = {key: bench.widget(key).rect for key in ("window.dashboard", "window.tickets", "window.inbox")}
        assert dragged["window.dashboard"][2] == before[2] + 80
        if first is None:
            bench.window.run(frames=1)
        else:
            with pytest.raises(KeyboardInterrupt):
                bench.window.run(first)
    with windowed(settings=file) as bench:
        bench.draw(4)
        assert {key: bench.widget(key).rect for key in dragged} == dragged


@pytest.mark.parametrize("content", [b"", b"\0\xff" * 500, b"[Docking][data]\nDockSpace ID=0x1 Split=Q\n"])
def test_places_that_cannot_be_read_are_forgotten(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "window.ini"
    file.write_bytes(content)
    with windowed(settings=file) as bench:
        bench.draw(4)
        assert {"window.dashboard", "window.inbox", "window.tickets", "window.streams"} <= bench.reachable()
