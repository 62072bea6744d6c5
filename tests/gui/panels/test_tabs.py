"""The tabs that the desk accepts are the panels of the window."""

import importlib
import pkgutil

from interlock.desk.fields import TABS
from interlock.gui import panels


def test_every_tab_of_the_desk_is_shown_by_a_panel_and_every_panel_has_its_tab() -> None:
    shown: set[str] = set()
    for module in pkgutil.iter_modules(panels.__path__):
        for value in vars(importlib.import_module(f"interlock.gui.panels.{module.name}")).values():
            if isinstance(value, type):
                shown |= set(getattr(value, "tabs", ()))
    assert shown == set(TABS)
