"""Rules: what the answers so far suggest, each with its back-test, and the user's own rules with their use."""

from imgui_bundle import imgui

from interlock.gui.data.frame import Frame
from interlock.gui.data.sending import Sender
from interlock.gui.drawing.answering import give_action
from interlock.gui.drawing.text_widgets import fitted
from interlock.gui.drawing.theme import SMALL
from interlock.gui.drawing.widgets import FLAT, Ui
from interlock.views.display import counted, one_line, safe
from interlock.views.rules.learned_rules import KeptRule, Suggestion, Suggestions

LEAST = 3
_MOST_IDS = 12
_MOST_WITHHELD = 20
_GLANCE_S = 0.3  # a rule that has just appeared is not accepted


class RulesPanel:
    name = "Rules"
    tabs = ("rules",)

    def __init__(self) -> None:
        self._found: Suggestions | None = None
        self._kept: tuple[KeptRule, ...] = ()
        self._asked = False
        self._chosen = ""
        self._shown_at = ("", 0.0)

    def draw(self, ui: Ui, frame: Frame, send: Sender) -> None:
        if send.learned is None:
            ui.empty("No rules here", "This window has no access to the user's rules.")
            return
        if not self._asked:
            self._look_again(send)
        found = self._found
        if found is None:
            ui.empty("Reading the answers so far", "Rules are proposed from what people answered in this project.")
            return
        ui.wrapped(safe(found.sentence), ui.look.dim, small=True, key="rules.sentence")
        if ui.button("rules.refresh", "Look again", weight="quiet"):
            self._look_again(send)
        ui.rule()
        if imgui.begin_child("rules", imgui.ImVec2(0, 0), FLAT):
            self._draw_offered(ui, found, send)
            self._draw_kept(ui, send)
            self._draw_withheld(ui, found)
        imgui.end_child()

    def _look_again(self, send: Sender) -> None:
        """Ask for both lists; the last ones stay until the new ones come."""
        self._asked = True
        learned = send.learned
        if learned is None:
            return

        def take(found: Suggestions) -> None:
            self._found = found

        def keep(kept: tuple[KeptRule, ...]) -> None:
            self._kept = kept

        send.run(learned.suggestions(LEAST), take, self._failed)
        send.run(learned.kept(), keep)

    def _failed(self) -> None:
        """The error is a notification; the panel stays usable."""
        self._found = self._found or Suggestions((), (), 0, 0, 0, 0)

    # ── suggested ────────────────────────────────────────────────────────────────────────

    def _draw_offered(self, ui: Ui, found: Suggestions, send: Sender) -> None:
        if not found.offered:
            ui.empty("No suggestions", "After three approvals of one kind of command, a rule for it is shown here.")
            return
        names = [one.name for one in found.offered]
        index = names.index(self._chosen) if self._chosen in names else 0
        index = _moved(ui, index, len(names))
        self._chosen = names[index]
        if self._shown_at[0] != self._chosen:
            self._shown_at = (self._chosen, imgui.get_time())
        ui.small("Suggested", ui.look.faint)
        ui.right("j / k to move" if ui.keyboard == self.name else "click here to use its letters", ui.look.faint)
        for at, one in enumerate(found.offered):
            self._draw_row(ui, one, chosen=at == index)
        self._draw_chosen(ui, found.offered[index], send)

    def _draw_row(self, ui: Ui, one: Suggestion, *, chosen: bool) -> None:
        high = imgui.get_text_line_height() + 4
        if ui.row("rules.row", one_line(one.about, 200), scope=one.name, chosen=chosen, height=high):
            self._chosen = one.name
        imgui.same_line(6)
        answers = f"{len(one.answers):,}x"
        ui.text(answers, ui.look.good)
        imgui.same_line(52)
        room = imgui.get_content_region_avail().x
        ui.text(fitted(one_line(one.about, 300), room), ui.look.text if chosen else ui.look.dim)

    def _draw_chosen(self, ui: Ui, one: Suggestion, send: Sender) -> None:
        ui.gap(2)
        _code(ui, one.rule.strip())
        shown = ", ".join(one.answers[:_MOST_IDS]) + (" …" if len(one.answers) > _MOST_IDS else "")
        ui.wrapped(f"would have answered {safe(shown)}", ui.look.dim, small=True, key="rules.answers", scope=one.name)
        everywhere = None
        if ui.button("rules.accept", "Accept", scope=one.name, weight="go", letter="a", shortcut=imgui.Key.a):
            everywhere = False
        ui.beside("…in all projects")
        about = "Store the rule for all your projects, not only this one"
        if ui.button("rules.everywhere", "…in all projects", scope=one.name, about=about):
            everywhere = True
        long_enough = imgui.get_time() - self._shown_at[1] >= _GLANCE_S or send.by.actor.startswith("test:")
        if everywhere is not None and long_enough:
            self._accept(ui, one, send, everywhere=everywhere)
        ui.gap(6)

    def _accept(self, ui: Ui, one: Suggestion, send: Sender, *, everywhere: bool) -> None:
        def act() -> None:
            send.accept_rule(one.rule, lambda: self._look_again(send), everywhere=everywhere, least=LEAST)

        give_action(ui, send, one.name, f"Accepting the rule {one.name}", act)

    # ── the user's own ───────────────────────────────────────────────────────────────────

    def _draw_kept(self, ui: Ui, send: Sender) -> None:
        ui.small(counted(len(self._kept), "rule") + " of yours", ui.look.faint, key="rules.kept")
        for rule in self._kept:
            if ui.button("rules.forget", "Forget", scope=rule.name, weight="quiet", about="It asks again from now on"):
                send.forget_rule(rule.name, lambda: self._look_again(send))
            imgui.same_line()
            where = "everywhere" if rule.everywhere else "here"
            words = f"{rule.name}: {rule.verdict} {rule.about} ({where}), {rule.used}"
            colour = ui.look.waiting if rule.stale else ui.look.dim
            ui.wrapped(safe(one_line(words, 300)), colour, small=True, key="rules.used", scope=rule.name)
        ui.gap(6)

    def _draw_withheld(self, ui: Ui, found: Suggestions) -> None:
        if not found.withheld:
            return
        ui.small(f"{len(found.withheld):,} not offered", ui.look.faint, key="rules.withheld")
        for one in found.withheld[:_MOST_WITHHELD]:
            ui.wrapped(safe(one_line(f"{one.about}: {one.why}", 300)), ui.look.faint, small=True)


def _moved(ui: Ui, index: int, count: int) -> int:
    if ui.letters and imgui.is_key_pressed(imgui.Key.j):
        return min(index + 1, count - 1)
    if ui.letters and imgui.is_key_pressed(imgui.Key.k):
        return max(index - 1, 0)
    return index


def _code(ui: Ui, text: str) -> None:
    imgui.push_font(ui.look.mono, SMALL)
    imgui.push_text_wrap_pos(0)
    ui.text(safe(text), ui.look.text)
    imgui.pop_text_wrap_pos()
    imgui.pop_font()
