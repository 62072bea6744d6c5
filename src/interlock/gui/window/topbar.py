"""The bar at the top and the line at the bottom: state, approvals, progress, cost."""

import math

from imgui_bundle import imgui

from interlock.domain.values.budgets import dollars
from interlock.gui.data.frame import Frame
from interlock.gui.data.sending import HeldAnswer, Sender
from interlock.gui.drawing import symbols
from interlock.gui.drawing.text_widgets import fitted
from interlock.gui.drawing.theme import NORMAL, SMALL
from interlock.gui.drawing.widgets import Ui
from interlock.views.autonomy import project_level
from interlock.views.display import counted, one_line
from interlock.views.outlook.forecast import forecast_text

HIGH = 44.0
LOW = 28.0
_LONGEST = 300  # characters of a notification
_ROOMY = 900.0  # wide enough for the branch beside everything else


def state_word(frame: Frame) -> tuple[str, str]:
    """The state of the whole workbench in one word, and its colour role."""
    if frame.broken:
        return "STOPPED", "bad"
    if frame.pending and not frame.lights.get("working") and not frame.lights.get("thinking"):
        return "WAITING", "waiting"
    if frame.lights.get("working") or frame.lights.get("thinking"):
        return "RUNNING", "running"
    if frame.track is None:
        return "IDLE", "dim"
    return frame.track.status.upper(), symbols.OF_TRACK.get(frame.track.status, "dim")


def draw_top(ui: Ui, frame: Frame, send: Sender) -> None:
    look = ui.look
    middle = (HIGH - imgui.get_text_line_height()) / 2 + 1
    imgui.set_cursor_pos(imgui.ImVec2(16, middle))
    imgui.push_font(look.bold, NORMAL + 1)
    ui.text("Interlock")
    imgui.pop_font()
    imgui.same_line(0, 28)
    imgui.set_cursor_pos_y(middle)
    wide = imgui.get_window_width()
    ui.text(one_line(frame.place.project, 32 if wide > _ROOMY else 12), look.dim, key="topbar.project")
    if frame.place.branch and wide > _ROOMY:
        imgui.same_line(0, 12)
        ui.text(f"{symbols.BRANCH} {one_line(frame.place.branch, 40)}", look.faint)
    imgui.same_line(0, 28 if wide > _ROOMY else 12)
    _draw_pills(ui, frame)
    _draw_right(ui, frame, middle, imgui.get_item_rect_max().x - imgui.get_window_pos().x + 16)


def _draw_pills(ui: Ui, frame: Frame) -> None:
    at = (HIGH - 19) / 2
    imgui.set_cursor_pos_y(at)
    word, role = state_word(frame)
    ui.pill(word, role, key="topbar.state")
    waiting = len(frame.pending)
    imgui.same_line()
    imgui.set_cursor_pos_y(at)
    if waiting:
        ui.pill(f"{symbols.HAND} {counted(waiting, 'pending approval')}", "waiting", key="topbar.waiting")
    else:
        ui.pill("no pending approvals", "dim", key="topbar.waiting")
    track = frame.track
    if track is not None:
        imgui.same_line()
        imgui.set_cursor_pos_y(at)
        ui.pill(
            f"{frame.verified:,} of {track.total:,} verified",
            "good" if frame.verified else "dim",
            key="topbar.verified",
        )
        if track.counts.blocked:
            imgui.same_line()
            imgui.set_cursor_pos_y(at)
            ui.pill(f"{symbols.CROSS} {track.counts.blocked:,} blocked", "bad", key="topbar.blocked")
    if frame.place.test_policy:
        imgui.same_line()
        imgui.set_cursor_pos_y(at)
        ui.pill(f"{symbols.WARNING} TEST POLICY", "bad", key="topbar.test_policy")


def _draw_right(ui: Ui, frame: Frame, middle: float, free: float) -> None:
    """From right to left: sandbox, cost, workers, forecast; without room the leftmost are omitted."""
    look = ui.look
    imgui.push_font(look.regular, SMALL)
    right = imgui.get_window_width() - 16
    off = frame.place.sandbox == "off"
    words = f"{symbols.UNLOCK} SANDBOX OFF" if off else f"{symbols.LOCK} sandbox"
    right = _put(ui, right, middle, words, look.bad if off else look.good, "topbar.sandbox")
    level = project_level(frame.state)
    if level != "ask":
        right = _put(ui, right, middle, f"{symbols.EYE} autonomy {level}", look.waiting, "topbar.autonomy")
    spent = sum(used.cost for used in frame.state.usage.values())
    cap = frame.state.conductor.caps.epic
    money = f"{dollars(spent // 10_000 * 10_000)}" + (f" of {dollars(cap)}" if cap else " spent")
    room = right - imgui.calc_text_size(money).x - free
    if cap and room > 88:
        right -= 76
        imgui.set_cursor_pos(imgui.ImVec2(right, HIGH / 2 - 2))
        ui.bar(spent / cap, "accent" if spent < cap * 0.8 else "waiting", width=60)
        right -= 12
    if room > 0:
        right = _put(ui, right, middle, money, look.text, "topbar.spent")
    busy = [row.ticket for row in frame.workers]
    if busy:
        rest = f" +{len(busy) - 3}" if len(busy) > 3 else ""
        words = f"{counted(len(busy), 'worker')}: {', '.join(busy[:3])}{rest}"
    else:
        words = one_line(frame.tiers[-1], 36) if frame.tiers else ""
    if words and right - imgui.calc_text_size(words).x > free:
        right = _put(ui, right, middle, words, look.dim, "topbar.workers")
    if (found := frame.outlook.forecast) is not None:
        words = forecast_text(found)
        if right - imgui.calc_text_size(words).x > free:
            _put(ui, right, middle, words, look.dim, "topbar.forecast")
    imgui.pop_font()


def _put(ui: Ui, right: float, y: float, words: str, colour: int, key: str) -> float:
    left = right - imgui.calc_text_size(words).x
    imgui.set_cursor_pos(imgui.ImVec2(left, y))
    ui.text(words, colour, key=key)
    return left - 24


def draw_bottom(ui: Ui, frame: Frame, send: Sender, cost: str) -> None:
    look = ui.look
    imgui.push_font(look.regular, SMALL)
    imgui.set_cursor_pos(imgui.ImVec2(16, 6))
    model = frame.values["current_model"] or frame.values["current_provider"] or "no model chosen"
    parts = [f"journal {counted(frame.state.version, 'event')}", one_line(model, 40)]
    if frame.values["ai_status"] != "idle":
        parts.append(one_line(frame.values["ai_status"], 40))
    if frame.place.hooks:
        parts.append("HTTP hooks on")
    ui.text("     ".join(parts), look.faint, key="status.left")
    words, colour = _latest(ui, frame)
    taken = imgui.get_item_rect_max().x - imgui.get_window_pos().x
    words = fitted(words, imgui.get_window_width() - taken - imgui.calc_text_size(f"   {cost}").x - 40)
    wide = imgui.calc_text_size(f"{words}   {cost}").x
    imgui.same_line(imgui.get_window_width() - wide - 16, 0)
    ui.text(f"{words}   ", colour, key="status.right")
    imgui.same_line(0, 0)
    ui.text(cost, look.faint)
    imgui.pop_font()


def _latest(ui: Ui, frame: Frame) -> tuple[str, int]:
    """The latest event, or the reason why nothing can be recorded any more."""
    look = ui.look
    if frame.broken:
        return one_line(frame.broken, 200), look.bad
    if not frame.feed.facts:
        return "", look.faint
    last = frame.feed.facts[-1]
    colour = look.by_role[last.text_role] if last.text_role in ("good", "bad") else look.faint
    return one_line(f"{last.whose} {last.text}".strip(), 90), colour


def draw_notes(ui: Ui, send: Sender, now: float) -> None:
    """Notifications at the bottom right, the latest lowest; a click removes one.

    They cover other widgets, so they are short and fill at most half of the height. An answer that a key gave and that
    is not sent yet stands below them.
    """
    look = ui.look
    size = imgui.get_io().display_size
    y = size.y - LOW - 10
    if send.held is not None:
        y = _draw_held(ui, send, send.held, now, y)
    for index, note in enumerate(tuple(reversed(send.notes))):
        if y < size.y / 2:
            break
        imgui.set_next_window_pos(imgui.ImVec2(size.x - 18, y), 0, imgui.ImVec2(1, 1))
        imgui.set_next_window_size_constraints(imgui.ImVec2(200, 0), imgui.ImVec2(440, 300))
        imgui.push_style_color(imgui.Col_.window_bg.value, look.raised)
        imgui.push_style_color(imgui.Col_.border.value, look.by_role[note.role])
        imgui.begin(f"###note{index}", None, _NOTE)
        imgui.push_text_wrap_pos(410)
        ui.text(_short(note.text), look.text)
        imgui.pop_text_wrap_pos()
        ui.note("notification", note.text[:200], "text", scope=str(index), value=note.text[:2_000])
        if imgui.is_window_hovered() and imgui.is_mouse_clicked(imgui.MouseButton_.left.value):
            send.notes = [other for other in send.notes if other is not note]
        y -= imgui.get_window_height() + 8
        imgui.end()
        imgui.pop_style_color(2)


def _draw_held(ui: Ui, send: Sender, held: HeldAnswer, now: float, y: float) -> float:
    """The answer that a key gave, with the time left to take it back; returns where the next note ends."""
    look = ui.look
    imgui.set_next_window_pos(imgui.ImVec2(imgui.get_io().display_size.x - 18, y), 0, imgui.ImVec2(1, 1))
    imgui.push_style_color(imgui.Col_.window_bg.value, look.raised)
    imgui.push_style_color(imgui.Col_.border.value, look.waiting)
    imgui.begin("###held", None, _NOTE)
    left = max(1, math.ceil(held.until - now))
    ui.text(f"{held.words} in {left} s: Esc or any other key takes it back", look.waiting, key="answer.held")
    imgui.same_line(0, 12)
    if ui.button("answer.take_back", "Take back"):
        send.held = None
    y -= imgui.get_window_height() + 8
    imgui.end()
    imgui.pop_style_color(2)
    return y


_NOTE = (
    imgui.WindowFlags_.no_decoration.value
    | imgui.WindowFlags_.no_docking.value
    | imgui.WindowFlags_.no_saved_settings.value
    | imgui.WindowFlags_.no_focus_on_appearing.value
    | imgui.WindowFlags_.no_nav.value
    | imgui.WindowFlags_.always_auto_resize.value
)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
