"""What approving a script would do to the user's own files."""

from interlock.domain.values.approvals import Approval
from interlock.domain.values.runs.effects import ScriptEffect
from interlock.gui.data.sending import Sender
from interlock.gui.drawing.diffs.hunk_view import DiffOptions, draw_hunks, read_diff
from interlock.gui.drawing.widgets import Ui
from interlock.views.display import one_line, safe


def draw_effect_summary(ui: Ui, approval: Approval, effect: ScriptEffect) -> None:
    tone = ui.look.bad if effect.unknown else ui.look.waiting
    ui.wrapped(safe(effect.summary), tone, key="inbox.effect", scope=approval.id)
    if effect.ended:
        ui.small(f"It ran in a copy of your files: {one_line(effect.ended)}")


def draw_effect_diff(ui: Ui, approval: Approval, effect: ScriptEffect, send: Sender, options: DiffOptions) -> None:
    if effect.diff:
        diff = send.text(effect.diff_blob.sha256) if effect.diff_blob else effect.diff
        draw_hunks(ui, read_diff(diff or effect.diff), None, options, scope=approval.id)
