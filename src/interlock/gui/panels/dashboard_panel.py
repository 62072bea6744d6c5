"""Dashboard: goal, proposals, tracks, workers and gates, with the buttons that control them."""

from imgui_bundle import imgui

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.values.autonomy import MEANING, Autonomy
from interlock.domain.values.epics import Epic
from interlock.domain.values.tickets import Verifying
from interlock.gui.data.frame import Frame
from interlock.gui.data.sending import Sender
from interlock.gui.drawing import symbols
from interlock.gui.drawing.answering import give_answer
from interlock.gui.drawing.text_widgets import fitted
from interlock.gui.drawing.theme import SMALL
from interlock.gui.drawing.widgets import Ui
from interlock.views.autonomy import offer, project_level
from interlock.views.board import TrackRow, WorkerRow
from interlock.views.display import counted, one_line, safe

_LEVELS: tuple[tuple[Autonomy, str], ...] = (
    ("ask", "Every change"),
    ("review", "Each diff"),
    ("land", "The landing"),
)
_MOST = 60  # rows of tracks and of workers


class DashboardPanel:
    name = "Dashboard"
    tabs = ("dashboard",)

    def __init__(self) -> None:
        self._counted = -1  # approvals that the offer of `review` was counted from
        self._spared = ""

    def draw(self, ui: Ui, frame: Frame, send: Sender) -> None:
        self._draw_goal(ui, frame, send)
        for epic in frame.proposed:
            self._draw_proposal(ui, epic, frame, send)
        self._draw_autonomy(ui, frame, send)
        self._draw_tracks(ui, frame, send)
        self._draw_workers(ui, frame, send)
        self._draw_tiers(ui, frame)
        self._draw_gates(ui, frame)

    # ── the goal ─────────────────────────────────────────────────────────────────────────

    def _draw_goal(self, ui: Ui, frame: Frame, send: Sender) -> None:
        ui.heading("Goal")
        written = ui.input(
            "mma_epic_input",
            frame.view.values["mma_epic_input"],
            label="Goal",
            hint="Describe the result that you want",
            lines=4,
        )
        if written is not None:
            send.set_value("mma_epic_input", written)
        ready = bool((written if written is not None else frame.view.values["mma_epic_input"]).strip())
        chord = imgui.Key.mod_ctrl.value | imgui.Key.enter.value
        by_key = ready and imgui.is_item_focused() and imgui.is_key_chord_pressed(chord)
        if (
            ui.button(
                "btn_mma_plan_epic",
                f"{symbols.MAP}  Plan it",
                weight="go" if ready else "plain",
                enabled=ready,
                about="A planner proposes tracks for this goal; you accept or reject them. Ctrl+Enter",
            )
            or by_key
        ):
            send.click("btn_mma_plan_epic")
            if by_key:
                ui.focus("mma_epic_input")  # ImGui ends the input at Ctrl+Enter
        ui.beside("Reset", 8)
        if ui.button("btn_reset", "Reset", weight="quiet", about="Clear the desk; tracks and history stay."):
            send.click("btn_reset")
        epic = frame.epic()
        if epic is not None and epic.status in ("planning", "failed"):
            role = ui.look.planner if epic.status == "planning" else ui.look.bad
            words = "is being planned…" if epic.status == "planning" else f"could not be planned: {epic.reason}"
            ui.wrapped(f"{epic.id} {safe(words)}", role, small=True)
        ui.gap()

    def _draw_autonomy(self, ui: Ui, frame: Frame, send: Sender) -> None:
        """What asks first, for the project. Without a sandbox there is no choice."""
        level = project_level(frame.state)
        ui.heading("Asks about", level)
        off = frame.place.sandbox == "off"
        for at, (choice, label) in enumerate(_LEVELS):
            if at:
                ui.beside(label, 8)
            if ui.button(
                f"btn_autonomy_{choice}",
                label,
                weight="go" if choice == level else "plain",
                enabled=not off or choice == "ask",
                about=MEANING[choice][:1].upper() + MEANING[choice][1:],
            ):
                send.click(f"btn_autonomy_{choice}")
        if level != "ask":
            ui.wrapped(MEANING[level], ui.look.dim, small=True)
        elif spared := self._offer(frame):
            ui.wrapped(spared, ui.look.waiting, small=True, key="dashboard.offer")
        ui.gap()

    def _offer(self, frame: Frame) -> str:
        """Counted again only after a new approval: there may be many."""
        if self._counted != len(frame.state.approvals):
            self._counted = len(frame.state.approvals)
            spared = offer(frame.state)
            self._spared = spared.sentence if spared else ""
        return self._spared

    def _draw_proposal(self, ui: Ui, epic: Epic, frame: Frame, send: Sender) -> None:
        ui.heading("Proposed", counted(len(epic.proposed), "track"))
        ui.wrapped(one_line(epic.text, 160), ui.look.dim, small=True)
        for plan in epic.proposed:
            ui.text(f"{symbols.MAP} ", ui.look.planner)
            imgui.same_line(0, 4)
            ui.wrapped(one_line(plan.title, 90), key="dashboard.proposed", scope=plan.id)
            if plan.description:
                ui.wrapped(one_line(plan.description, 200), ui.look.faint, small=True)
        approval = next((a for a in frame.pending if getattr(a.payload, "epic", None) == epic.id), None)
        if approval is not None:
            if ui.button("btn_mma_accept_tracks", "Accept", scope=approval.id, weight="go"):
                give_answer(ui, send, AnswerApproval(approval.id, "approve"))
            ui.beside("Reject")
            if ui.button("btn_mma_reject_tracks", "Reject", scope=approval.id):
                give_answer(ui, send, AnswerApproval(approval.id, "reject"))
        ui.gap()

    # ── tracks ───────────────────────────────────────────────────────────────────────────

    def _draw_tracks(self, ui: Ui, frame: Frame, send: Sender) -> None:
        rows = frame.tracks
        ui.heading("Tracks", f"{len(rows):,}" if rows else "")
        if not rows:
            ui.empty(
                "No tracks yet", "Write a goal above and plan it, or run a graph: interlock run --tickets FILE.json"
            )
            if frame.place.hint:
                ui.gap(4)
                ui.wrapped(safe(frame.place.hint[:1].upper() + frame.place.hint[1:]), ui.look.waiting)
        for row in rows[-_MOST:]:
            self._draw_track(ui, row, frame, send)
        if len(rows) > _MOST:
            ui.small(f"and {len(rows) - _MOST:,} older tracks: interlock tracks list", ui.look.faint)
        ui.gap()

    def _draw_track(self, ui: Ui, row: TrackRow, frame: Frame, send: Sender) -> None:
        look = ui.look
        chosen = frame.track is not None and frame.track.id == row.id
        at = imgui.get_cursor_pos()
        done = f"{row.progress.completed:,}/{row.progress.total:,}"
        if ui.row(
            "btn_mma_load_track",
            one_line(row.title, 200),
            scope=row.id,
            chosen=chosen,
            height=38,
            value=f"{row.status} {done}",
        ):
            send.click("btn_mma_load_track", row.id)
        after = imgui.get_cursor_pos()
        imgui.set_cursor_pos(imgui.ImVec2(at.x + 4, at.y + 2))
        role = symbols.OF_TRACK.get(row.status, "dim")
        words = done if row.status in ("running", "done") else f"{row.status}  {done}"
        title = one_line(row.title or row.id, 200)
        ui.bold(ui.fitted(title, keep=imgui.calc_text_size(words).x + 8, small=False))
        imgui.set_cursor_pos_y(at.y + 2)
        ui.right(words, look.by_role[role] if role in ("bad", "waiting") else look.dim)
        imgui.set_cursor_pos(imgui.ImVec2(at.x + 4, at.y + 26))
        part = row.progress.completed / row.progress.total if row.progress.total else 0.0
        ui.bar(part, role if role != "dim" else "faint", width=imgui.get_content_region_avail().x - 4)
        imgui.set_cursor_pos(after)
        if chosen:
            self._draw_track_buttons(ui, row, send)

    def _draw_track_buttons(self, ui: Ui, row: TrackRow, send: Sender) -> None:
        """Buttons for the track in view."""
        imgui.push_font(ui.look.regular, SMALL)
        first = True

        def button(key: str, label: str, about: str) -> None:
            nonlocal first
            if not first:
                ui.beside(label, 4)
            first = False
            if ui.button(key, label, scope=row.id, about=about):
                send.click(key, row.id)

        if row.status in ("ready", "blocked"):
            button("btn_mma_start_track", f"{symbols.PLAY} Start", "Start or continue this track")
        if row.status == "running":
            button("btn_mma_pause_track", f"{symbols.PAUSE} Pause", "Start no further tickets of this track")
        if row.status == "paused":
            button("btn_mma_resume_track", f"{symbols.PLAY} Resume", "Continue this track")
        if row.unlanded:
            button("btn_mma_land_track", f"{symbols.MERGE} Land…", "Request the merge of this track into your branch")
        if row.status in ("ready", "running", "paused", "blocked"):
            button(
                "btn_mma_abort_track",
                f"{symbols.BAN} Abort",
                "Abort this track: stop its workers, cancel its unfinished tickets",
            )
        imgui.pop_font()

    # ── workers ──────────────────────────────────────────────────────────────────────────

    def _draw_workers(self, ui: Ui, frame: Frame, send: Sender) -> None:
        rows = frame.workers
        most = frame.state.conductor.workers
        ui.heading("Workers", f"{frame.state.busy} of {most}" if frame.state.conductor.on else "conductor off")
        if not rows:
            ui.empty("No running workers", "Workers appear here when tickets run.")
        for row in rows[:_MOST]:
            self._draw_worker(ui, row, frame, send)
        if len(rows) > _MOST:
            ui.small(f"and {len(rows) - _MOST:,} more", ui.look.faint)
        ui.gap()

    def _draw_worker(self, ui: Ui, row: WorkerRow, frame: Frame, send: Sender) -> None:
        look = ui.look
        ticket = frame.state.tracks[row.track].tickets.get(row.ticket) if row.track in frame.state.tracks else None
        role, symbol = symbols.of_ticket(ticket) if ticket else ("dim", symbols.CLOCK)
        ui.text(symbol, look.by_role[role])
        imgui.same_line(28)
        ui.bold(one_line(row.ticket, 14))
        imgui.same_line(0, 8)
        end = imgui.get_cursor_pos_x() + imgui.get_content_region_avail().x
        imgui.push_font(look.regular, SMALL)
        ui.text(fitted(one_line(row.doing, 60), imgui.get_content_region_avail().x - 84), look.dim)
        since = frame.elapsed(row.since)
        imgui.same_line(end - 24 - imgui.calc_text_size(since).x)
        ui.text(since, look.faint)
        imgui.pop_font()
        imgui.same_line(end - 18)
        imgui.push_font(look.regular, SMALL)
        imgui.push_style_var(imgui.StyleVar_.frame_padding.value, imgui.ImVec2(4, 0))
        name = f"{row.track}/{row.ticket}"
        if ui.button(
            "btn_worker_kill", symbols.CROSS, scope=name, weight="quiet", about=f"Kill the worker of {row.ticket}"
        ):
            send.click("btn_worker_kill", name)
        imgui.pop_style_var()
        imgui.pop_font()

    def _draw_tiers(self, ui: Ui, frame: Frame) -> None:
        calls = [tier for tier in frame.tiers if not tier.startswith("Awaiting")]
        if calls:
            ui.heading("Active", f"{len(calls)}")
            for tier in calls[:8]:
                role = "planner" if tier.startswith(("Tier 1", "Tier 2")) else "running"
                ui.small(one_line(tier, 40), ui.look.by_role[role], key="active_tier", scope=tier)
            ui.gap()

    # ── gates ────────────────────────────────────────────────────────────────────────────

    def _draw_gates(self, ui: Ui, frame: Frame) -> None:
        """The last gate results, the newest at the right."""
        results = [fact for fact in frame.feed.facts[-400:] if fact.kind == "gate"][-24:]
        running = 0
        if frame.track is not None and frame.track.counts.in_progress:
            names = [row.ticket for row in frame.workers if row.track == frame.track.id]
            running = sum(1 for name in names if isinstance(frame.track.tickets[name].stage, Verifying))
        if not results and not running:
            return
        ui.heading("Gates", f"last {len(results)}" + (f", {running} running" if running else ""))
        at = imgui.get_cursor_screen_pos()
        draw, look = imgui.get_window_draw_list(), ui.look
        step = max(6.0, min(11.0, imgui.get_content_region_avail().x / 24))
        for index, fact in enumerate(results):
            x = at.x + index * step
            colour = look.good if fact.text_role == "good" else look.bad
            top = at.y if fact.text_role == "good" else at.y + 6  # a failure is also shorter: not by colour alone
            draw.add_rect_filled(imgui.ImVec2(x, top), imgui.ImVec2(x + step - 3, at.y + 20), colour, 2)
        imgui.dummy(imgui.ImVec2(1, 22))
        failed = sum(1 for fact in results if fact.text_role != "good")
        ui.small(f"{len(results) - failed} passed, {failed} failed")
