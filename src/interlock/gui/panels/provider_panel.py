"""Provider: the model provider and the folder of discussions. Changes take effect at once."""

from imgui_bundle import imgui

from interlock.desk.fields import FIELDS
from interlock.gui.data.frame import Frame
from interlock.gui.data.sending import Sender
from interlock.gui.drawing.text_widgets import tooltip
from interlock.gui.drawing.widgets import Ui
from interlock.views.display import one_line

_LABELS = {
    "current_provider": ("Provider", "scripted, gemini_cli, …"),
    "current_model": ("Model", "the provider's default"),
    "gcli_path": ("Command of gemini_cli", "gemini"),
    "files_base_dir": ("Folder of discussions", "the whole project"),
}
_SHOWN = {
    "project_root": "Project",
    "sandbox": "Sandbox",
    "active_track": "Active track",
    "active_tab": "Active panel",
}


class ProviderPanel:
    name = "Provider"
    tabs = ("provider",)

    def draw(self, ui: Ui, frame: Frame, send: Sender) -> None:
        for name, (label, hint) in _LABELS.items():
            ui.small(label)
            written = ui.input(name, frame.view.values[name], label=label, hint=hint)
            if written is not None:
                send.set_value(name, written)
            if imgui.is_item_hovered(imgui.HoveredFlags_.delay_normal.value):
                tooltip(FIELDS[name].about)
        ui.gap(4)
        if ui.button(
            "btn_project_save", "Save to interlock.toml", about="Provider and model, in the project's settings"
        ):
            send.click("btn_project_save")
        ui.gap(8)
        for name, label in _SHOWN.items():
            ui.small(label, ui.look.faint)
            value = frame.values[name] or "none"
            bad = name == "sandbox" and value == "off"
            shown = "OFF: commands run with all your rights" if bad else one_line(value, 200)
            ui.wrapped(shown, ui.look.bad if bad else ui.look.dim)
            ui.note(name, label, "text", value=frame.values[name])
