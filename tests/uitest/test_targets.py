"""Targets and conditions: how they are parsed, matched and evaluated."""

import pytest
from imgui_bundle import imgui

from interlock.errors import BadValue
from interlock.gui.drawing.recorded_widgets import Widgets
from interlock.uitest.targets import (
    Condition,
    Target,
    Verdict,
    find,
    judge,
    nearest,
    path_of,
    read_condition,
    read_target,
    tree,
)

LOW, HIGH = imgui.ImVec2(0, 0), imgui.ImVec2(10, 10)


def widgets() -> Widgets:
    def of(key: str, label: str, kind: str, window: str, **more: object) -> tuple[object, ...]:
        return (
            key,
            more.get("scope", ""),
            7,
            label,
            kind,
            LOW,
            HIGH,
            more.get("enabled", True),
            more.get("value", ""),
            window,
            more.get("also", ()),
            more.get("visible", True),
        )

    rows = [
        of("window.inbox", "Inbox", "window", "Inbox"),
        of("btn_approve_script", "\uf00c  Approve", "button", "Inbox", scope="A-1", also=("inbox.approve",)),
        of("btn_approve_script", "Approve", "button", "Inbox", scope="A-2", enabled=False),
        of("mma_epic_input", "Goal", "input", "Dashboard", value="a:b"),
        of("follow", "follow", "checkbox", "Streams", value="true"),
        of("topbar.state", "IDLE", "text", "top", value="IDLE", visible=False),
    ]
    return Widgets(rows, ("Usage",))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("btn_reset", Target(key="btn_reset")),
        ("button:Plan it", Target(type="button", label="Plan it")),
        ("button:a/b: c", Target(type="button", label="a/b: c")),
        ("Dashboard/button:Plan it", Target(type="button", label="Plan it", path=("Dashboard",))),
        ("Inbox/…/button:Approve", Target(type="button", label="Approve", path=("Inbox", "…"))),
        ("window:Inbox", Target(type="window", label="Inbox")),
        ("btn_ticket_skip@demo/a", Target(key="btn_ticket_skip@demo/a")),
        ("unknown:Label", Target(key="unknown:Label")),
    ],
)
def test_a_target_is_a_key_or_a_type_with_a_label(text: str, target: Target) -> None:
    assert read_target(text) == target


def test_a_widget_key_counts_more_than_a_target() -> None:
    assert read_target("button:x", "inbox.approve") == Target(key="inbox.approve")


@pytest.mark.parametrize("text", ["", "  ", "button:", "Inbox/button: "])
def test_a_target_that_names_nothing_is_refused(text: str) -> None:
    with pytest.raises(BadValue):
        read_target(text)


@pytest.mark.parametrize(
    ("text", "key", "condition"),
    [
        ("window_visible:Inbox", "", Condition("window_visible", Target(type="window", label="Inbox"))),
        ("window_visible:window:Inbox", "", Condition("window_visible", Target(type="window", label="Inbox"))),
        ("element_visible:button:Go", "", Condition("element_visible", Target(type="button", label="Go"))),
        ("exists:inbox.approve", "", Condition("exists", Target(key="inbox.approve"))),
        ("value_equals:input:Goal:a:b", "", Condition("value_equals", Target(type="input", label="Goal"), "a:b")),
        ("value_equals:mma_epic_input:a:b", "", Condition("value_equals", Target(key="mma_epic_input"), "a:b")),
        ("value_equals:input:Goal:", "", Condition("value_equals", Target(type="input", label="Goal"), "")),
        (
            "text_contains:Dashboard/input:Goal:x",
            "",
            Condition("text_contains", Target(type="input", label="Goal", path=("Dashboard",)), "x"),
        ),
        ("value_equals:a:b", "mma_epic_input", Condition("value_equals", Target(key="mma_epic_input"), "a:b")),
        ("element_enabled", "inbox.approve", Condition("element_enabled", Target(key="inbox.approve"))),
    ],
)
def test_conditions_are_read(text: str, key: str, condition: Condition) -> None:
    assert read_condition(text, key) == condition


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("window_visibel:Inbox", "did you mean window_visible"),
        ("", "there are window_visible"),
        ("value_equals:key", "needs a target and a value"),
        ("window_visible:", "needs a title"),
        ("exists:", "no target"),
    ],
)
def test_conditions_that_cannot_be_read_are_refused(text: str, message: str) -> None:
    with pytest.raises(BadValue, match=message):
        read_condition(text)


def named(text: str) -> str:
    matches = find(widgets(), read_target(text))
    return matches.hidden or (matches.widget.name if matches.widget is not None else "")


def test_labels_are_found_without_their_symbols_and_what_can_be_used_comes_first() -> None:
    assert named("button:Approve") == "btn_approve_script@A-1"
    assert find(widgets(), read_target("button:Approve")).others == 1
    assert named("button:approve") == "btn_approve_script@A-1"
    assert named("inbox.approve") == "btn_approve_script@A-1"
    assert named("btn_approve_script@A-2") == "btn_approve_script@A-2"
    assert named("Inbox/A-2/button:Approve") == "btn_approve_script@A-2"
    assert named("Dashboard/button:Approve") == ""
    assert named("window:usage") == "Usage"
    assert named("window.usage") == "Usage"


def test_a_path_leads_back_to_its_widget() -> None:
    for widget in widgets().all():
        matches = find(widgets(), read_target(path_of(widget)))
        assert matches.widget == widget


@pytest.mark.parametrize(
    ("text", "holds", "actual"),
    [
        ("window_visible:Inbox", True, "visible"),
        ("window_visible:Usage", False, "behind others"),
        ("exists:window:Usage", True, "there, behind others"),
        ("exists:nope", False, "not there"),
        ("element_visible:topbar.state", False, "out of sight"),
        ("element_enabled:btn_approve_script@A-2", False, "disabled"),
        ("value_equals:mma_epic_input:a:b", True, "a:b"),
        ("value_equals:button:Approve:Approve", True, "Approve"),
        ("value_equals:follow:false", False, "true"),
        ("text_contains:topbar.state:DL", True, "IDLE"),
    ],
)
def test_conditions_are_judged(text: str, holds: bool, actual: str) -> None:
    verdict = judge(widgets(), read_condition(text))
    assert (verdict.holds, verdict.actual) == (holds, actual)


def test_a_condition_on_nothing_says_what_was_expected() -> None:
    assert judge(widgets(), read_condition("value_equals:nope:x")) == Verdict(False, "x", "not there")


def test_the_nearest_names_come_first() -> None:
    assert nearest(widgets(), read_target("button:Aprove"))[0] == "button:Approve"
    assert nearest(widgets(), read_target("mma_epic"))[0] == "mma_epic_input"
    assert nearest(widgets(), read_target("window:Usag"))[0] == "window:Usage"
    assert nearest(Widgets(), read_target("x")) == ()


def test_a_name_of_a_letter_or_two_is_not_near_to_every_word_that_has_them() -> None:
    short = [(label, "", 7, label, "text", LOW, HIGH, True, "", "top", (), True) for label in ("p", "o", "T")]
    crowd = Widgets(short, ("Notes",))  # pyright: ignore[reportArgumentType]
    assert nearest(crowd, read_target("window:Nope"))[0] == "window:Notes"
    assert nearest(crowd, read_target("text:p"))[0] == "text:p"


def test_the_tree_names_everything() -> None:
    text = tree(widgets())
    assert "button:Approve [btn_approve_script@A-2] (disabled)" in text
    assert "input:Goal [mma_epic_input] = 'a:b'" in text
    assert "text:IDLE [topbar.state] (out of sight)" in text
    assert text.endswith("Usage (behind others)")
