"""The default layout of the panels: dashboard, tickets above streams, inbox."""

from collections.abc import Mapping, Sequence

from imgui_bundle import imgui

PLACES: Mapping[str, Sequence[str]] = {
    "left": ("Dashboard", "Provider"),
    "middle": ("Tickets", "Timeline", "Tests", "Usage", "Diagnostics"),
    "below": ("Streams", "Discussion"),
    "right": ("Inbox", "Rules"),
}
LEFT, RIGHT, BELOW = 0.185, 0.395, 0.32  # each a part of the space left when it is split off
_LEAST = 175.0  # pixels of the left column: two buttons side by side


def build(dock: int, size: imgui.ImVec2) -> None:
    make = imgui.internal
    make.dock_builder_remove_node(dock)
    make.dock_builder_add_node(dock, imgui.internal.DockNodeFlagsPrivate_.dock_space.value)
    make.dock_builder_set_node_size(dock, size)
    left = make.dock_builder_split_node(dock, imgui.Dir.left, max(LEFT, _LEAST / max(size.x, 2 * _LEAST)))
    right = make.dock_builder_split_node(left.id_at_opposite_dir, imgui.Dir.right, RIGHT)
    below = make.dock_builder_split_node(right.id_at_opposite_dir, imgui.Dir.down, BELOW)
    nodes = {
        "left": left.id_at_dir,
        "right": right.id_at_dir,
        "below": below.id_at_dir,
        "middle": below.id_at_opposite_dir,
    }
    for place, names in PLACES.items():
        for name in names:
            make.dock_builder_dock_window(name, nodes[place])
    make.dock_builder_finish(dock)
