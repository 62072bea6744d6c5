"""Which widget is meant, and whether something is true of it (SPEC U4). Names in, widgets out; no window needed."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Literal, get_args

from msgspec import Struct

from interlock.errors import BadValue
from interlock.gui.drawing.recorded_widgets import Type, Widget, Widgets

TYPES = get_args(Type)
_TYPED = re.compile(rf"(?:(?P<path>[^:]*)/)?(?P<type>{'|'.join(TYPES)}):(?P<label>.*)", re.DOTALL)
_ANY = ("…", "...", "*", "**")  # as part of a path: whatever lies between
_NEAREST = 5
_MOST_SHOWN = 20_000  # characters of what a window says instead
_TELLING = 3  # letters: a shorter name is in most words, and nobody meant it

Check = Literal["window_visible", "element_visible", "element_enabled", "exists", "value_equals", "text_contains"]
CHECKS: tuple[str, ...] = get_args(Check)
_WITH_VALUE = ("value_equals", "text_contains")


class Target(Struct, frozen=True):
    """A key, or a type and a label, perhaps in a window."""

    key: str = ""
    type: str = ""
    label: str = ""
    path: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.key or "/".join((*self.path, f"{self.type}:{self.label}"))


class Condition(Struct, frozen=True):
    check: str
    target: Target
    value: str = ""

    def __str__(self) -> str:
        return f"{self.check}:{self.target}" + (f":{self.value}" if self.check in _WITH_VALUE else "")


class MatchedWidget(Struct, frozen=True):
    """What was meant, and how many others it could have been."""

    widget: Widget | None
    hidden: str = ""  # a window that lies behind others
    others: int = 0


class Verdict(Struct, frozen=True):
    holds: bool
    expected: str
    actual: str
    widget: Widget | None = None


def read_target(text: str, widget_key: str = "") -> Target:
    """Raises BadValue where nothing is meant."""
    if widget_key.strip():
        return Target(key=widget_key.strip())
    text = text.strip()
    if not text:
        raise BadValue("no target: give button:Label, input:Label, window:Title or a widget's key")
    found = _TYPED.fullmatch(text)
    if found is None:
        return Target(key=text)
    path = tuple(part.strip() for part in (found["path"] or "").split("/") if part.strip())
    if not found["label"].strip():
        raise BadValue(f"{text!r} names no label: write {found['type']}:Label")
    return Target(type=found["type"], label=found["label"].strip(), path=path)


def read_condition(text: str, widget_key: str = "") -> Condition:
    check, _, rest = text.strip().partition(":")
    check = check.strip()
    if check not in CHECKS:
        near = _near(check, CHECKS)
        raise BadValue(
            f"no condition {check!r}{f'; did you mean {near[0]}?' if near else ''}: there are {', '.join(CHECKS)}"
        )
    if check == "window_visible":
        title = widget_key.strip() or rest.strip().removeprefix("window:")
        if not title:
            raise BadValue("window_visible needs a title: window_visible:Inbox")
        return Condition(check, Target(type="window", label=title))
    if check not in _WITH_VALUE:
        return Condition(check, read_target(rest, widget_key))
    if widget_key.strip():
        return Condition(check, Target(key=widget_key.strip()), rest)
    typed = re.match(rf"(?:[^:]*/)?(?:{'|'.join(TYPES)}):", rest)
    start = typed.end() if typed else 0
    colon = rest.find(":", start)
    if colon < 0:
        raise BadValue(f"{check} needs a target and a value: {check}:KEY:VALUE")
    return Condition(check, read_target(rest[:colon]), rest[colon + 1 :])


def find(widgets: Widgets, target: Target) -> MatchedWidget:
    """The first that is meant, what can be seen and used before what cannot."""
    if target.type == "window" or target.key.startswith("window."):
        title = plain(target.label or target.key.removeprefix("window.")).casefold()
        for name in widgets.hidden:
            if plain(name).casefold() == title:
                return MatchedWidget(None, hidden=name)
    if target.key:
        exact = [each for each in widgets.all() if each.name == target.key]
        meant = exact or [each for each in widgets.all() if target.key == each.key or target.key in each.also]
    else:
        placed = [each for each in widgets.all() if each.type == target.type and _inside(each, target.path)]
        wanted = plain(target.label)
        meant = [each for each in placed if plain(each.label) == wanted]
        meant = meant or [each for each in placed if plain(each.label).casefold() == wanted.casefold()]
    meant.sort(key=lambda each: (not each.visible, not each.enabled))
    return MatchedWidget(meant[0], others=len(meant) - 1) if meant else MatchedWidget(None)


def judge(widgets: Widgets, condition: Condition) -> Verdict:
    found = find(widgets, condition.target)
    widget, check = found.widget, condition.check
    if widget is None:
        hidden = bool(found.hidden)
        if check == "exists" and hidden:
            return Verdict(True, "there", "there, behind others")
        expected = _EXPECTED.get(check) or condition.value
        return Verdict(False, expected, "behind others" if hidden else "not there")
    match check:
        case "exists":
            return Verdict(True, "there", "there", widget)
        case "window_visible" | "element_visible":
            return Verdict(widget.visible, "visible", "visible" if widget.visible else "out of sight", widget)
        case "element_enabled":
            return Verdict(widget.enabled, "enabled", "enabled" if widget.enabled else "disabled", widget)
        case "value_equals":
            shown = text_of(widget)
            return Verdict(shown == condition.value, condition.value, shown, widget)
        case _:
            shown = widgets.text_in(widget.window) if widget.type == "window" else text_of(widget)
            return Verdict(condition.value in shown, condition.value, shown[:_MOST_SHOWN], widget)


_EXPECTED = {"exists": "there", "window_visible": "visible", "element_visible": "visible", "element_enabled": "enabled"}


def nearest(widgets: Widgets, target: Target) -> tuple[str, ...]:
    """What may have been meant instead: those of its type first, by likeness."""
    wanted = (target.key or target.label).casefold()
    names: dict[str, float] = {}
    for each in widgets.all():
        name = each.name if target.key else f"{each.type}:{plain(each.label)}"
        likeness = max(_likeness(wanted, word) for word in (each.key, each.name, plain(each.label)))
        bonus = 0.25 if target.type and each.type == target.type else 0.0
        names[name] = max(names.get(name, 0.0), likeness + bonus)
    for window in widgets.hidden:
        names[f"window:{window}"] = _likeness(wanted, window)
    ranked = sorted(names, key=lambda name: (-names[name], name))
    return tuple(ranked[:_NEAREST])


def text_of(widget: Widget) -> str:
    """What it says: an input's or box's value, else its value or its label."""
    return widget.value if widget.type in ("input", "checkbox") else widget.value or plain(widget.label)


def path_of(widget: Widget) -> str:
    """As a target may name it."""
    scope = widget.name.partition("@")[2]
    middle = f"{scope.replace('/', '.')}/" if scope else ""
    return f"{widget.window}/{middle}{widget.type}:{plain(widget.label)}"


def plain(label: str) -> str:
    """Without symbols of the icon font, and with single spaces."""
    return " ".join("".join(letter for letter in label if not 0xE000 <= ord(letter) <= 0xF8FF).split())


def tree(widgets: Widgets) -> str:
    """Everything there is, a line each: what stands in for a picture where none can be taken."""
    lines: list[str] = []
    window = None
    for each in widgets.all():
        if each.window != window:
            window = each.window
            lines.append(window)
        marks = "".join(
            mark for mark, on in ((" (disabled)", not each.enabled), (" (out of sight)", not each.visible)) if on
        )
        value = f" = {each.value[:80]!r}" if each.value and each.value != each.label else ""
        lines.append(f"  {each.type}:{plain(each.label)[:80]} [{each.name}]{value}{marks}")
    lines += [f"{name} (behind others)" for name in widgets.hidden]
    return "\n".join(lines)


def _inside(widget: Widget, path: Sequence[str]) -> bool:
    parts = [part for part in path if part not in _ANY]
    if not parts:
        return True
    scope = widget.name.partition("@")[2].replace("/", ".")
    here = [plain(widget.window).casefold(), scope.casefold()]
    return all(plain(part).casefold() in here for part in parts)


def _likeness(wanted: str, name: str) -> float:
    name = name.casefold()
    if (wanted and wanted in name) or (len(name) >= _TELLING and name in wanted):
        return 0.8 + 0.2 * min(len(wanted), len(name)) / max(len(wanted), len(name), 1)
    return SequenceMatcher(None, wanted[:80], name[:80]).ratio()


def _near(word: str, known: Sequence[str]) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(word, known, n=1, cutoff=0.5)
