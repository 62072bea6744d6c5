"""Dear ImGui has a bounded number of windows, and names shown together never share an id."""

from hypothesis import given
from hypothesis import strategies as st
from imgui_bundle import imgui

from interlock.gui.drawing.slots import Slots
from tests.gui.bench import Bench, asking_all, windowed


@given(st.lists(st.lists(st.integers(0, 30), max_size=12, unique=True), max_size=60))
def test_names_that_are_shown_together_have_different_numbers_and_keep_them(frames: list[list[int]]) -> None:
    slots = Slots(4)
    before: dict[int, int] = {}
    for shown in frames:
        slots.next_frame()
        now: dict[int, int] = {}
        for name in shown:
            number, new = slots.of(f"{name}")
            assert number not in now.values()
            assert number not in [other for each, other in before.items() if each != name]
            if name in before:
                assert (number, new) == (before[name], False)
            now[name] = number
        before = now
    assert all(number < 4 + 12 + 12 for number, _ in slots._taken.values())
    assert len({number for number, _ in slots._taken.values()}) == len(slots._taken)


def windows() -> int:
    context = imgui.get_current_context()
    return len(list(context.windows))


def choose(bench: Bench, approval: str) -> None:
    inbox = next(panel for panel in bench.window.panels if panel.name == "Inbox")
    inbox._chosen = approval  # pyright: ignore[reportAttributeAccessIssue]
    bench.draw(2)


def test_many_approvals_leave_no_windows_behind() -> None:
    with windowed(asking_all(times=100)) as bench:
        bench.show("inbox")
        counts: list[int] = []
        for number, approval in enumerate(bench.state.approvals):
            choose(bench, approval)
            if number % 300 == 299:
                counts.append(windows())
        # A child of a child has a window for each pair of ids that met; there are few pairs.
        assert counts[-1] <= counts[0] + 4 < 200, counts
