"""The details of one ticket, and the welcome page of an empty project."""

from imgui_bundle import imgui

from interlock.domain.state.tracks import Track
from interlock.domain.values.tickets import Ticket
from interlock.gui.data.frame import Frame
from interlock.gui.data.sending import Sender
from interlock.gui.drawing import symbols
from interlock.gui.drawing.theme import NORMAL, SMALL
from interlock.gui.drawing.widgets import Ui
from interlock.views.board import activity_of
from interlock.views.display import exact, one_line, safe
from interlock.views.verification import reused_lines


def draw_ticket(ui: Ui, track: Track, ticket: Ticket, send: Sender) -> None:
    look, spec = ui.look, ticket.spec
    role, symbol = symbols.of_ticket(ticket)
    ui.text(symbol, look.by_role[role])
    imgui.same_line()
    ui.bold(spec.id)
    ui.right(ticket.status.replace("_", " "), look.by_role[role])
    ui.wrapped(safe(spec.description))
    ui.wrapped(safe(activity_of(ticket, track)), look.by_role[role], small=True)
    ui.gap(4)
    facts = {
        "role": spec.assigned_to,
        "file": spec.target_file or "",
        "after": ", ".join(spec.depends_on),
        "gates": exact("\n".join(gate.command for gate in spec.verify)),
        "verified": exact("\n".join(reused_lines(ticket))),
        "attempts": str(ticket.attempts) if ticket.attempts else "",
        "priority": spec.priority if spec.priority != "medium" else "",
        "model": spec.model_override or "",
        "last error": ticket.why or "",
        "result": ticket.result or "",
    }
    for name, value in facts.items():
        if value:
            ui.small(name, look.faint)
            imgui.same_line(74)
            ui.wrapped(safe(value), look.dim, small=True)
    if spec.script:
        imgui.push_font(look.mono, SMALL)
        ui.wrapped(exact(spec.script[:2_000]))
        imgui.pop_font()
        if len(spec.script) > 2_000:
            ui.small(f"and {len(spec.script) - 2_000:,} more characters: interlock tracks show {track.id}", look.faint)
    ui.gap(4)
    for key, label, possible in (
        ("btn_ticket_retry", "Retry", ticket.status == "blocked"),
        ("btn_ticket_skip", "Skip", ticket.status in ("todo", "blocked")),
        ("btn_ticket_cancel", "Cancel", ticket.status not in ("completed", "cancelled")),
    ):
        if ui.button(key, label, scope=ticket.name, enabled=possible):
            send.click(key, ticket.name)
        imgui.same_line(0, 4)
    imgui.new_line()


def draw_welcome(ui: Ui, frame: Frame) -> None:
    """The first steps, with those already done."""
    look = ui.look
    room = imgui.get_content_region_avail()
    wide = min(520.0, room.x)
    left = imgui.get_cursor_pos_x() + (room.x - wide) / 2
    imgui.set_cursor_pos(imgui.ImVec2(left, imgui.get_cursor_pos_y() + max(0.0, room.y * 0.24)))
    imgui.begin_child("welcome", imgui.ImVec2(wide, 0))
    imgui.push_font(look.bold, NORMAL + 6)
    ui.text("From a goal to verified commits")
    imgui.pop_font()
    ui.gap(6)
    model = frame.values["current_provider"]
    steps = (
        (
            bool(model),
            "Choose a model",
            f"{one_line(model, 40)} is chosen" if model else "in the tab Provider, or with --provider",
        ),
        (False, "Write a goal and plan it", "in the Dashboard panel, on the left"),
        (False, "Accept the proposed tracks", "their tickets appear here as a graph"),
        (False, "Answer the approvals in the inbox", "actions that no rule allows wait for your answer"),
        (False, "Land the verified tracks", "as commits on your branch, after your approval"),
    )
    for number, (done, what, how) in enumerate(steps, 1):
        ui.text(symbols.CHECK if done else f"{number}", look.good if done else look.accent)
        imgui.same_line(30)
        ui.text(what)
        imgui.set_cursor_pos_x(30)
        ui.wrapped(how, look.dim, small=True)
        ui.gap(4)
    imgui.end_child()
